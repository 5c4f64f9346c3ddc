#include "schemas/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/manifests/explain.h"

namespace mindgate::cli {
namespace {

std::string Printed(const char* format) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io(in, out, err);
  EXPECT_EQ(RunKinds({.output = format, .color = ColorMode::kNever}, io), kExitDone);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

TEST(Kinds, EachHasALine) {
  const std::string table = Printed("table");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), schemas::kKindCount + 1);
  EXPECT_NE(table.find("StormService            orchestration.aibrix.ai/v1alpha1   yes        "
                       "aibrix            RoleSet\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("ConfigMap               v1                                 no"),
            std::string::npos)
      << table;
}

// The chart is generated from this: a whole row.
TEST(Kinds, JsonHasWhatTheChartNeeds) {
  const auto kinds = nlohmann::json::parse(Printed("json"))["kinds"];
  ASSERT_EQ(kinds.size(), schemas::kKindCount);
  EXPECT_EQ(kinds[static_cast<size_t>(schemas::Kind::kRoleSet)], nlohmann::json::parse(R"({
              "apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "RoleSet",
              "resource": "rolesets", "scope": "Namespaced", "injected": true, "profile": "aibrix",
              "webhook": "aibrix", "mayDisableRescheduling": true,
              "makes": [{"apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "PodSet"},
                        {"apiVersion": "v1", "kind": "Pod"}]})"));
  EXPECT_EQ(kinds[static_cast<size_t>(schemas::Kind::kService)]["profile"], nullptr);
}

TEST(Kinds, NamesAreThoseOfResources) {
  EXPECT_EQ(Printed("name").substr(0, 45), "ascendjobs.mindxdl.gitee.com\njobs.batch.volca");
}

}  // namespace
}  // namespace mindgate::cli
