#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "support/places.h"

// The manifests of tests/fixtures, as their users would apply them.
namespace mindgate::testing {

struct Sample {
  std::string name;  // "ome/doc-inferenceservice-187.yaml"
  std::filesystem::path path;
};

inline std::ostream& operator<<(std::ostream& out, const Sample& sample) {
  return out << sample.name;
}

// Files below folders of tests/fixtures, in order.
inline std::vector<Sample> SamplesIn(const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  const fs::path fixtures = fs::path(SourceFolder()) / "tests" / "fixtures";
  std::vector<Sample> samples;
  for (const std::string& folder : folders) {
    const fs::path root = fixtures / folder;
    const fs::path names_from = folder == "manifests" ? root : fixtures;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".yaml") continue;
      samples.push_back({entry.path().lexically_relative(names_from).string(), entry.path()});
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.name < b.name; });
  return samples;
}

inline std::vector<Sample> Samples() { return SamplesIn({"manifests", "seeds"}); }

// What users wrote, right and wrong. Two of them are not YAML.
inline std::vector<Sample> Cases() { return SamplesIn({"real", "seeds-by-row"}); }

inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string ReadSample(const Sample& sample) { return ReadText(sample.path); }

}  // namespace mindgate::testing
