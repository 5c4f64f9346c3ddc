#include "admission/export/exported_rules.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/yaml.h"
#include "support/exported.h"
#include "support/objects.h"
#include "support/samples.h"
#include "support/workloads.h"

namespace mindgate {
namespace {

using testing::PolicyOutcome;

// Every exported rule with its policy, made once for all objects.
class ExportedRulesTest : public ::testing::Test {
 protected:
  ExportedRulesTest() {
    for (const exported::ExportedRule& row : exported::ExportedRules({})) {
      const policies::Rule* rule = policies::FindRule(row.id);
      if (rule == nullptr) {
        ADD_FAILURE() << "there is no rule " << row.id;
        continue;
      }
      policies_.emplace_back(rule, testing::PolicyThatWarns(*rule, row, {}));
    }
  }

  // Whether rules and policies find something in the same objects.
  void Compare(const std::string& name, const json::Json& tree) {
    const json::Document object(tree);
    if (!object.root().is_object()) return;
    const auto view = schemas::BuildView(object.root());
    if (!view || view->excess || !view->wrong_types.empty() || testing::HasNull(tree)) return;
    schemas::AdmissionRequest request;
    request.object = &object.root();
    request.ns = "default";
    schemas::Config config;
    for (const auto& [rule, policy] : policies_)
      config.rules[std::string(rule->id)] = schemas::Mode::kWarn;
    const auto evaluation = policies::Evaluate({*view, nullptr, request, config});
    std::set<const policies::Rule*> broken;
    for (const policies::Finding& finding : evaluation.findings) broken.insert(finding.rule);
    for (const auto& [rule, policy] : policies_) {
      if (!rule->kinds.Has(view->kind)) continue;
      const PolicyOutcome outcome = policy.Evaluate({.object = object.root(), .ns = "default"});
      if (outcome.result == PolicyOutcome::Result::kNotMatched) continue;
      ++compared_;
      kinds_.insert(view->kind);
      if (broken.contains(rule)) ++broken_;
      EXPECT_EQ(outcome.error, "") << rule->id << " of " << name;
      EXPECT_EQ(outcome.result == PolicyOutcome::Result::kBroken, broken.contains(rule))
          << rule->id << " of " << name;
    }
  }

  std::vector<std::pair<const policies::Rule*, testing::ExportedPolicy>> policies_;
  std::set<schemas::Kind> kinds_;  // of compared objects
  size_t compared_ = 0;
  size_t broken_ = 0;
};

TEST(WhyNotExported, NamesAReasonForEveryOtherRule) {
  std::set<std::string_view> exported;
  for (const exported::ExportedRule& row : exported::ExportedRules({})) exported.insert(row.id);
  EXPECT_GE(exported.size(), 100u);
  for (const policies::Rule* rule : policies::Catalogue()) {
    EXPECT_EQ(exported::WhyNotExported(rule->id).empty(), exported.contains(rule->id)) << rule->id;
  }
}

TEST_F(ExportedRulesTest, Compile) {
  for (const auto& [rule, policy] : policies_) EXPECT_EQ(policy.faults(), "") << rule->id;
}

TEST_F(ExportedRulesTest, AgreeWithTheRulesAboutWhatUsersWrite) {
  for (const auto& samples : {testing::Samples(), testing::Cases()}) {
    for (const testing::Sample& sample : samples) {
      const auto documents = json::DecodeYaml(testing::ReadSample(sample));
      if (!documents) continue;
      for (const auto& document : *documents) Compare(sample.name, document.value);
    }
  }
  EXPECT_GT(compared_, 4000u);
  EXPECT_GT(broken_, 30u);
}

TEST_F(ExportedRulesTest, AgreeWithTheRulesAboutEveryKind) {
  const json::Json labels = {
      {"fault-scheduling", "Force"}, {"pod-rescheduling", "on"}, {"fault-retry-times", "3"}};
  for (const schemas::KindInfo& info : schemas::kKinds) {
    for (const json::Json& container :
         {testing::NpuContainer(), testing::NpuContainer("huawei.com/Ascend910-4c"),
          testing::NpuContainer("huawei.com/Ascend910B"), testing::CpuContainer()}) {
      for (const std::string scheduler :
           {"", "volcano", "Volcano", "default-scheduler", "hami-scheduler", "own"}) {
        json::Json fields = {{"nodeSelector", {{"host-arch", "arm"}}}};
        if (!scheduler.empty()) fields["schedulerName"] = scheduler;
        Compare(std::string(info.name) + " under " + scheduler,
                testing::Workload(
                    info.kind,
                    {container, fields, labels, {{"huawei.com/schedule_minAvailable", "2"}}}));
      }
    }
  }
  // All kinds; a new one counts when it has its texts.
  EXPECT_GE(kinds_.size(), 24u);
}

}  // namespace
}  // namespace mindgate
