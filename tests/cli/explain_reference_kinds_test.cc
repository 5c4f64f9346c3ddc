#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/manifests/manifests.h"
#include "schemas/kinds.h"
#include "support/cli.h"

namespace mindgate::cli {
namespace {

std::string KindsPrinted(const char* format, const std::string& config_file = "") {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io(in, out, err);
  EXPECT_EQ(
      RunKinds({.config_file = config_file, .output = format, .color = ColorMode::kNever}, io),
      kExitDone);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

TEST(Kinds, EachHasALine) {
  const std::string table = KindsPrinted("table");
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
  const auto kinds = nlohmann::json::parse(KindsPrinted("json"))["kinds"];
  ASSERT_EQ(kinds.size(), schemas::kKindCount);
  EXPECT_EQ(kinds[static_cast<size_t>(schemas::Kind::kRoleSet)], nlohmann::json::parse(R"({
              "apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "RoleSet",
              "resource": "rolesets", "scope": "Namespaced", "injected": true, "profile": "aibrix",
              "webhook": "aibrix", "mayDisableRescheduling": true,
              "makes": [{"apiVersion": "orchestration.aibrix.ai/v1alpha1", "kind": "PodSet"},
                        {"apiVersion": "v1", "kind": "Pod"}]})"));
  EXPECT_EQ(kinds[static_cast<size_t>(schemas::Kind::kService)]["profile"], nullptr);
}

TEST(Kinds, ThoseOfAConfigurationFollow) {
  const ::mindgate::testing::Workspace folder;
  folder.Write("mindgate.yaml", "kinds: [{use: ray}]\n");
  const auto kinds = nlohmann::json::parse(KindsPrinted("json", "mindgate.yaml"))["kinds"];
  ASSERT_EQ(kinds.size(), schemas::kKindCount + 3);
  EXPECT_EQ(kinds[schemas::kKindCount + 1], nlohmann::json::parse(R"({
              "apiVersion": "ray.io/v1", "kind": "RayJob", "resource": "rayjobs",
              "scope": "Namespaced", "injected": true, "profile": "job", "webhook": "kinds",
              "mayDisableRescheduling": false,
              "makes": [{"apiVersion": "batch/v1", "kind": "Job"},
                        {"apiVersion": "ray.io/v1", "kind": "RayCluster"}]})"));
  const std::string names = KindsPrinted("name", "mindgate.yaml");
  EXPECT_EQ(names.substr(names.size() - 53),
            "rayclusters.ray.io\nrayjobs.ray.io\nrayservices.ray.io\n");
}

TEST(Kinds, AConfigurationWithAFaultListsNothing) {
  const auto refused = ::mindgate::testing::Cli({"kinds", "--config", "none.yaml"});
  EXPECT_EQ(refused.code, kExitUnusable);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "error: configuration none.yaml: no such file\n"
            "hint: create one with `mindgate config defaults > none.yaml`\n");
}

TEST(Kinds, NamesAreThoseOfResources) {
  EXPECT_EQ(KindsPrinted("name").substr(0, 45), "ascendjobs.mindxdl.gitee.com\njobs.batch.volca");
}

}  // namespace
}  // namespace mindgate::cli
