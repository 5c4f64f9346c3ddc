#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "admission/admit.h"
#include "support/mutations.h"
#include "support/objects.h"
#include "support/places.h"

// One file in tests/admission/traps per documented trap: what a user writes (`object`, on an update
// `old`, `others` in the cluster) and all that admission answers: changes as "+ path = value",
// findings as "RULE mode field", "denied" last. The names say which list a trap is from:
// frameworks, mindcluster or seeds (the documents that users read), and its number there.
namespace mindgate {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Traps() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(::mindgate::testing::SourceFolder()) /
                                                  "tests/admission/traps")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

json::Json Load(const std::string& name) {
  std::ifstream in(fs::path(::mindgate::testing::SourceFolder()) / "tests/admission/traps" /
                   (name + ".yaml"));
  std::ostringstream text;
  text << in.rdbuf();
  return testing::Yaml(text.str());
}

std::vector<std::string> Answer(const json::Json& trap) {
  const json::Document laid(trap);
  const json::Value* object = json::Find(laid.root(), "object");
  const json::Json* others = json::Find(trap, "others");
  const auto objects = testing::FakeObjects::Of(others == nullptr ? json::Json::array() : *others);
  schemas::AdmissionRequest request;
  request.object = object;
  request.trusts_owners = true;
  if (others != nullptr) request.objects = &objects;
  if (const json::Value* old = json::Find(laid.root(), "old")) {
    request.operation = schemas::Operation::kUpdate;
    request.old_object = old;
  }
  const auto verdict = admission::Admit(request, schemas::Config());
  std::vector<std::string> lines;
  for (std::string line : testing::Lines(verdict, *object)) {
    line.resize(line.rfind("  ("));  // the mutator's name adds nothing here
    lines.push_back("+ " + line);
  }
  for (const auto& finding : verdict.findings) {
    lines.push_back(std::string(finding.rule->id) + " " +
                    std::string(schemas::ModeName(finding.mode)) + " " + finding.field);
  }
  if (verdict.outcome != admission::Outcome::kAdmitted) {
    lines.emplace_back(admission::OutcomeName(verdict.outcome));
  }
  return lines;
}

class Trap : public ::testing::TestWithParam<std::string> {};

TEST_P(Trap, IsCaught) {
  const json::Json trap = Load(GetParam());
  ASSERT_TRUE(json::IsObject(json::Find(trap, "object"))) << GetParam();
  std::vector<std::string> want;
  if (const json::Json* list = json::Find(trap, "want")) {
    for (const json::Json& line : *list) want.emplace_back(json::AsString(&line).value_or("?"));
  }
  EXPECT_EQ(Answer(trap), want) << json::FindString(trap, "trap").value_or("");
}

INSTANTIATE_TEST_SUITE_P(Documented, Trap, ::testing::ValuesIn(Traps()), [](const auto& trap) {
  std::string name = trap.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace mindgate
