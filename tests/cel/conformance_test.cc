// Every conformance case of CEL: those that docs/cel-conformance.md lists fail, and all others
// pass.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cel/conformance_cases.h"
#include "support/golden.h"

namespace mindgate {
namespace {

using testing::ConformanceCase;
using testing::ConformanceRun;

constexpr std::string_view kPage = "docs/cel-conformance.md";

constexpr std::string_view kMessages =
    "They name messages of protobuf, which Kubernetes objects do not hold";
constexpr std::string_view kWrong =
    "The bytes that they expect have a backslash, and their expressions have none";

// Why a case that fails is expected to.
std::string_view ReasonOf(const ConformanceCase& one) {
  if (one.name.ends_with("_quoted_unescaped_punctuation")) return kWrong;
  json::Json copy = one.test;
  copy.erase("description");
  const std::string text = copy.dump();
  for (const std::string_view word :
       {"google.protobuf", "TestAllTypes", "cel.expr.conformance", "enum_value"}) {
    if (text.find(word) != std::string::npos) return kMessages;
  }
  return "";
}

std::string GroupOf(const std::string& name) { return name.substr(0, name.rfind('/')); }

// Names by file and section, by the reason why they are skipped.
using Skipped = std::map<std::string_view, std::map<std::string, std::vector<std::string>>>;

size_t CountOf(const Skipped& skipped) {
  size_t count = 0;
  for (const auto& [reason, groups] : skipped) {
    for (const auto& [group, names] : groups) count += names.size();
  }
  return count;
}

std::string PageOf(size_t total, const Skipped& skipped) {
  std::ostringstream lists;
  const size_t count = CountOf(skipped);
  for (const auto& [reason, groups] : skipped) {
    size_t of_reason = 0;
    std::ostringstream rows;
    for (const auto& [group, names] : groups) {
      of_reason += names.size();
      rows << "| " << group << " | " << names.size() << " | " << Join(names, ", ") << " |\n";
    }
    lists << "\n## " << of_reason << " cases: " << reason
          << "\n\n| file and section | cases | names |\n|---|---|---|\n"
          << rows.str();
  }
  std::ostringstream page;
  page << "# Conformance of CEL\n\nOf the " << total
       << " conformance cases of CEL (`tests/oracle/cel`), " << total - count << " pass and "
       << count << " are skipped, for the reasons below.\n\n"
       << "`tests/cel/conformance_test.cc` runs all of them. It fails when a case that is listed "
          "here passes or is not there,\nand when any other case fails. "
          "`MINDGATE_REWRITE=1 build/dev/tests/cel_test --gtest_filter='CelConformance.*'` "
          "writes\nthis page.\n"
       << lists.str();
  return page.str();
}

TEST(CelConformance, PassesWhatNeedsNoMessage) {
  Skipped skipped;
  const std::vector<ConformanceCase> cases = testing::ReadConformanceCases();
  for (const ConformanceCase& one : cases) {
    const auto why = ConformanceRun::Run(one.test);
    if (!why) continue;
    EXPECT_NE(ReasonOf(one), "") << one.name << ": " << one.test["expr"] << "\n" << *why;
    const std::string group = GroupOf(one.name);
    skipped[ReasonOf(one)][group].push_back(one.name.substr(group.size() + 1));
  }
  EXPECT_EQ(cases.size(), 2456U);
  testing::ExpectGolden(std::string(kPage), PageOf(cases.size(), skipped));
  const std::string count = std::to_string(cases.size() - CountOf(skipped)) + " of the " +
                            std::to_string(cases.size()) + " conformance cases of CEL pass.";
  EXPECT_NE(testing::ReadSource("docs/cel.md").find(count), std::string::npos) << count;
}

}  // namespace
}  // namespace mindgate
