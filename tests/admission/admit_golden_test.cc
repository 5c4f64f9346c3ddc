#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "admission/admit.h"
#include "support/mutations.h"
#include "support/objects.h"
#include "support/places.h"
#include "support/promises.h"
#include "support/samples.h"

// Admission over the samples of tests/fixtures, as their users would apply them. What it answers is
// recorded in tests/golden/<project>/<file>.want; MINDGATE_REWRITE=1 records it again, and
// the difference is reviewed like code.
namespace mindgate {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(::mindgate::testing::SourceFolder()) / "tests";
const fs::path kGoldens = kTests / "golden";

using testing::Cases;
using testing::ReadSample;
using testing::ReadText;
using testing::Sample;
using testing::Samples;

fs::path GoldenOf(const Sample& sample) { return kGoldens / (sample.name + ".want"); }

std::string NameOf(const json::Value& object) {
  return std::string(json::FindString(object, "kind").value_or("?")) + "/" +
         std::string(json::FindString(json::Find(object, "metadata"), "name").value_or("?"));
}

// One document's answer, every line of it stable from run to run.
std::string Describe(const json::Value& object, const admission::Verdict& verdict) {
  std::string text =
      "== " + NameOf(object) + ": " + std::string(admission::OutcomeName(verdict.outcome));
  if (!verdict.ignored_because.empty()) text += " (" + verdict.ignored_because + ")";
  text += "\n";
  for (const std::string& line : testing::Lines(verdict, object)) text += "+ " + line + "\n";
  for (const policies::Finding& finding : verdict.findings) {
    text += std::string(finding.rule != nullptr ? finding.rule->id : "-") + " " +
            std::string(schemas::ModeName(finding.mode)) + " " +
            (finding.error ? "error" : finding.field) + ": " + finding.message + "\n";
  }
  for (const std::string& warning : verdict.warnings) text += "Warning: " + warning + "\n";
  return text;
}

class Admitted : public ::testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    auto documents = json::DecodeYaml(ReadSample(GetParam()));
    ASSERT_TRUE(documents) << documents.error().message << " at line " << documents.error().at.line;
    // Known are the documents of the file; the cluster may have more.
    objects_ = std::make_unique<testing::FakeObjects>(*documents, false);
    for (const json::YamlDocument& document : *documents) documents_.emplace_back(document.value);
  }

  schemas::AdmissionRequest RequestFor(const json::Value& object) const {
    schemas::AdmissionRequest request;
    request.object = &object;
    request.trusts_owners = true;
    request.objects = objects_.get();
    request.ns = json::FindString(json::Find(object, "metadata"), "namespace").value_or("");
    return request;
  }
  admission::Verdict Admit(const json::Value& object) const {
    return admission::Admit(RequestFor(object), schemas::Config());
  }

  std::vector<json::Document> documents_;
  std::unique_ptr<testing::FakeObjects> objects_;
};

class Golden : public Admitted {};

TEST_P(Golden, SameAnswer) {
  std::string got;
  for (const json::Document& document : documents_) {
    got += Describe(document.root(), Admit(document.root()));
  }
  const fs::path golden = GoldenOf(GetParam());
  if (std::getenv("MINDGATE_REWRITE") != nullptr) {
    fs::create_directories(golden.parent_path());
    std::ofstream(golden, std::ios::binary) << got;
    return;
  }
  if (!fs::exists(kGoldens)) GTEST_SKIP() << "no answers are recorded yet";
  ASSERT_TRUE(fs::exists(golden)) << "no recorded answer; run with MINDGATE_REWRITE=1";
  EXPECT_EQ(got, ReadText(golden));
}

// What we write ourselves needs no second round, whatever the sample.
TEST_P(Admitted, OwnOutputYieldsAnEmptyPatch) {
  for (const json::Document& document : documents_) {
    const admission::Verdict first = Admit(document.root());
    if (!first.mutated) continue;
    const admission::Verdict second = Admit(first.mutated->root());
    EXPECT_EQ(json::ToJsonPatch(second.patch).dump(), "[]") << NameOf(document.root());
    EXPECT_EQ(second.findings.size(), first.findings.size()) << NameOf(document.root());
  }
}

TEST_P(Admitted, KeepsThePromises) {
  for (const json::Document& document : documents_) {
    EXPECT_THAT(testing::BrokenPromises(RequestFor(document.root()), schemas::Config()),
                ::testing::IsEmpty())
        << NameOf(document.root());
  }
}

std::vector<Sample> ReadableSamples() {
  std::vector<Sample> readable = Samples();
  for (const Sample& sample : Cases()) {
    if (json::DecodeYaml(ReadSample(sample))) readable.push_back(sample);
  }
  return readable;
}

std::string TestNameOf(const ::testing::TestParamInfo<Sample>& sample) {
  std::string name = sample.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Samples, Golden, ::testing::ValuesIn(Samples()), TestNameOf);
INSTANTIATE_TEST_SUITE_P(Samples, Admitted, ::testing::ValuesIn(ReadableSamples()), TestNameOf);

TEST(Goldens, EachHasItsSample) {
  std::set<fs::path> wanted;
  for (const Sample& sample : Samples()) wanted.insert(GoldenOf(sample));
  EXPECT_FALSE(wanted.empty());
  if (!fs::exists(kGoldens)) GTEST_SKIP() << "no answers are recorded yet";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kGoldens)) {
    if (entry.path().extension() != ".want") continue;  // of other tests
    EXPECT_TRUE(wanted.contains(entry.path())) << entry.path() << " has no sample";
  }
}

}  // namespace
}  // namespace mindgate
