// Our readings against those of the Go libraries that Kubernetes uses; tests/oracle/README.md says
// where the answers come from.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "json/pointer.h"
#include "json/written_patch.h"
#include "json/yaml.h"
#include "support/places.h"

namespace mindgate::json {
namespace {

namespace fs = std::filesystem;

const fs::path kOracle = fs::path(::mindgate::testing::SourceFolder()) / "tests" / "oracle";

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Json ReadJson(const fs::path& path) { return Json::parse(Read(path)); }

// The text of a case of YAML; tests/oracle/README.md says how it is written.
std::string TextOf(const Json& c) {
  if (c.contains("file")) return Read(kOracle / "yaml" / c["file"]);
  std::string text;
  if (c.contains("bytes")) {
    for (const Json& byte : c["bytes"]) text += static_cast<char>(byte.get<uint8_t>());
    return text;
  }
  const Json& lines = c["lines"];
  for (size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "\n") + std::string(lines[i]);
  return text;
}

// What we say where we differ on purpose, and why.
struct Difference {
  std::string_view ours;  // the fault's sentence, or the values
  std::string_view reason;
};

const std::map<std::string, Difference, std::less<>> kYamlDifferences = {
    {"keys-duplicate",
     {"key \"a\" is written twice",
      "kubectl keeps the last one silently; the user meant one of them"}},
    {"keys-duplicate-nested", {"key \"c\" is written twice", "as above"}},
    {"keys-duplicate-as-text",
     {"key \"1\" is written twice", "which one kubectl keeps is left to chance"}},
    {"merge-after-own-key",
     {R"([{"base":{"a":1,"b":2},"one":{"a":9,"b":2}}])",
      "own keys win wherever they stand, as the YAML specification says; go-yaml v2 goes by the "
      "order"}},
    {"merge-twice",
     {"key \"<<\" is written twice", "a duplicate key; a list of maps says which one wins"}},
    {"merge-duplicate-inside", {"key \"x\" is written twice", "a duplicate key"}},
    {"tags-unknown", {"tag \"!Ref\" is not supported", "the tag would be dropped silently"}},
    {"tags-unknown-on-map", {"tag \"!Ref\" is not supported", "as above"}},
    {"tags-timestamp", {"tag \"!!timestamp\" is not supported", "JSON has no times"}},
    {"tags-map-on-text",
     {"tag \"!!map\" does not fit the value after it", "the tag would be dropped silently"}},
    {"flow-colon-at-end",
     {"found unexpected ':' while scanning a plain scalar",
      "libyaml reads no colon before a comma; the text has to be quoted"}},
    {"text-quoted-slash-escape",
     {R"([{"a":"x/y"}])", "YAML 1.2 and JSON have the escape, go-yaml v2 does not know it yet"}},
    {"bytes-utf16", {"the text is UTF-16", "files are UTF-8"}},
};

TEST(YamlOracle, ReadsAsSigsYamlDoes) {
  const Json cases = ReadJson(kOracle / "yaml" / "cases.json");
  const Json answers = ReadJson(kOracle / "yaml" / "cases.want.json");
  ASSERT_GE(cases.size(), 90u);
  ASSERT_EQ(cases.size(), answers.size());
  for (const Json& c : cases) {
    const std::string name = c["name"];
    SCOPED_TRACE(name);
    ASSERT_TRUE(answers.contains(name));
    const Json& theirs = answers[name];
    const auto documents = DecodeYaml(TextOf(c));
    Json values = Json::array();
    if (documents) {
      for (const YamlDocument& document : *documents) values.push_back(document.value);
    }
    const bool same = documents ? theirs.contains("documents") && theirs["documents"] == values
                                : theirs.contains("error");

    const auto difference = kYamlDifferences.find(name);
    if (difference == kYamlDifferences.end()) {
      EXPECT_TRUE(same) << "theirs: " << theirs
                        << "\nours: " << (documents ? values.dump() : documents.error().message);
      continue;
    }
    EXPECT_FALSE(same) << "no difference any more";
    EXPECT_EQ(documents ? values.dump() : documents.error().message, difference->second.ours);
  }
}

// Only what mindgate's own patches hold.
Written OperationOf(const Json& written) {
  const bool adds = written["op"] == "add";
  return {adds ? Operation::Kind::kAdd : Operation::Kind::kReplace, written["path"],
          written["value"]};
}

TEST(PatchOracle, AppliesAsTheApiServerDoes) {
  const Json answers = ReadJson(kOracle / "patch" / "ours.want.json");
  size_t count = 0;
  for (const Json& test : ReadJson(kOracle / "patch" / "ours.json")) {
    const std::string name = test["name"];
    SCOPED_TRACE(name);
    ++count;
    std::vector<Written> operations;
    for (const Json& written : test["patch"]) operations.push_back(OperationOf(written));
    const Document document(test["document"]);
    Arena arena(1024);
    const auto patched = ApplyPatch(document.root(), PatchOf(operations), arena);
    // The one that theirs takes and RFC 6902 does not.
    if (name == "replace of an absent label") {
      EXPECT_TRUE(answers[name].contains("result"));
      EXPECT_FALSE(patched);
      continue;
    }
    ASSERT_EQ(patched.has_value(), answers[name].contains("result"));
    if (patched) {
      EXPECT_EQ(TreeOf(*patched), answers[name]["result"]);
    }
  }
  EXPECT_EQ(count, answers.size());
}

}  // namespace
}  // namespace mindgate::json
