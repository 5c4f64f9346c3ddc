#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "admission/mutators/mutator.h"
#include "cli/manifests/manifests.h"
#include "json/yaml.h"
#include "support/temp_folder.h"

namespace mindgate::cli {
namespace {

struct PrintedMap {
  int exit_code = 0;
  std::string out;
  std::string err;
};

PrintedMap ExportMap(const ExportPolicyOptions& options) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io(in, out, err);
  const int exit_code = RunExportMap(options, io);
  return {exit_code, out.str(), err.str()};
}

TEST(ExportMap, PrintsPoliciesAndBindingsThatAreYaml) {
  const PrintedMap printed = ExportMap({.version = "v1alpha1"});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_EQ(printed.err, "");
  const auto documents = json::DecodeYaml(printed.out);
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 12u);
  for (const auto& document : *documents) {
    EXPECT_EQ(document.value["apiVersion"], "admissionregistration.k8s.io/v1alpha1");
  }
}

TEST(ExportMap, PrintsTheMutatorsThatAreAskedFor) {
  const testing::TempFolder folder;
  folder.Write("mindgate.yaml", "scheduler: volcano-npu\n");
  const PrintedMap printed =
      ExportMap({.mutators = {"scheduler-name"}, .config_file = folder.path() + "/mindgate.yaml"});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_NE(printed.out.find("volcano-npu"), std::string::npos);
  EXPECT_EQ(printed.out.find("ASCEND_VISIBLE_DEVICES"), std::string::npos);
}

TEST(ExportMap, NamesEveryMutatorThatItCannotPrint) {
  const PrintedMap printed = ExportMap({.mutators = {"scaling-gate", "labels", "scheduler-name"}});
  EXPECT_EQ(printed.exit_code, kExitUnusable);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "error: --mutator scaling-gate has no policy: only mindgate's watcher opens the gate\n"
            "hint: leave it to mindgate's webhook, or to `mindgate apply` before objects are "
            "applied\n"
            "error: --mutator \"labels\": there is no such mutator\n"
            "hint: `mindgate export map --list` has all of them\n");
}

TEST(ExportMap, ListsAllMutators) {
  const PrintedMap printed = ExportMap({.list = true, .color = ColorMode::kNever});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_EQ(static_cast<size_t>(std::count(printed.out.begin(), printed.out.end(), '\n')),
            mutators::Mutators().size() + 1);
  EXPECT_NE(printed.out.find("only mindgate's watcher opens the gate"), std::string::npos)
      << printed.out;
}

}  // namespace
}  // namespace mindgate::cli
