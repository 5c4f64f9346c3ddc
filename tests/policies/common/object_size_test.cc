#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/admit.h"
#include "schemas/scaling_rule.h"
#include "support/rules.h"
#include "support/workloads.h"

// What no real object reaches is refused by one finding that says which and why; it costs nothing
// else, and nothing is injected.
namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

Json Many(size_t count, const Json& item) { return Json(std::vector<Json>(count, item)); }

Json ObjectWith(Kind kind, const char* pointer, const Json& value) {
  Json object = Workload(kind, {NpuContainer()});
  object[Json::json_pointer(pointer)] = value;
  return object;
}

TEST(ObjectSize, Table) {
  struct Case {
    std::string name;
    Json object;
    std::vector<std::string> want;  // "rule field: message up to the colon"
  };
  const auto more = [](std::string_view field, std::string_view what) {
    return std::vector<std::string>{"MG003 " + std::string(field) + ": there are more than " +
                                    std::string(what)};
  };
  const auto containers = "/spec/template/spec/containers";
  Json npus = NpuContainer();
  for (int i = 0; i < 33; ++i) {
    npus["resources"]["limits"]["huawei.com/a" + std::to_string(i)] = 1;
  }
  Json types = Json::object();
  for (int i = 0; i < 1025; ++i) types["T" + std::to_string(i)] = Json::object();
  Json labels = Json::object();
  for (int i = 0; i < 1025; ++i) labels["l" + std::to_string(i)] = 1;
  const Case cases[] = {
      {"roles of a StormService",
       ObjectWith(Kind::kStormService, "/spec/template/spec/roles", Many(1025, Json::object())),
       more("spec.template.spec.roles", "1024 roles")},
      {"roles of an InferServiceSet",
       ObjectWith(Kind::kInferServiceSet, "/spec/template/roles", Many(1025, Json::object())),
       more("spec.template.roles", "1024 roles")},
      {"tasks", ObjectWith(Kind::kVolcanoJob, "/spec/tasks", Many(1025, Json::object())),
       more("spec.tasks", "1024 tasks")},
      {"replica specs", ObjectWith(Kind::kAscendJob, "/spec/replicaSpecs", types),
       more("spec.replicaSpecs", "1024 replicaSpecs")},
      {"containers", ObjectWith(Kind::kDeployment, containers, Many(257, Json::object())),
       more("spec.template.spec.containers", "256 containers in one pod")},
      {"resources", ObjectWith(Kind::kDeployment, containers, Many(1, npus)),
       more("spec.template.spec.containers[0].resources",
            "32 huawei.com resources in one container")},
      {"members of a wrong type", ObjectWith(Kind::kDeployment, "/metadata/labels", labels),
       more("metadata.labels.l999", "1024 members of a wrong type")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object(c.object);
    schemas::AdmissionRequest request;
    request.object = &object.root();
    const auto verdict = admission::Admit(request, schemas::Config());
    EXPECT_EQ(verdict.outcome, admission::Outcome::kDenied);
    EXPECT_TRUE(verdict.patch.empty());
    std::vector<std::string> got;
    for (const auto& finding : verdict.findings) {
      if (finding.rule->id == "MG001") continue;  // wrong types are named all the same
      got.push_back(std::string(finding.rule->id) + " " + finding.field + ": " +
                    finding.message.substr(0, finding.message.find(':')));
    }
    EXPECT_EQ(got, c.want);
  }
}

TEST(ObjectSize, AsManyAsAllowedAreJudged) {
  const Json role = {{"name", "r"}, {"replicas", 1}};
  for (const Json& object :
       {ObjectWith(Kind::kStormService, "/spec/template/spec/roles", Many(1024, role)),
        ObjectWith(Kind::kDeployment, "/spec/template/spec/containers",
                   Many(256, CpuContainer()))}) {
    const json::Document document(object);
    const auto view = schemas::BuildView(document.root());
    EXPECT_FALSE(view->excess);
    EXPECT_FALSE(view->templates.empty());
  }
}

TEST(ScalingRuleSize, TiersAndGroups) {
  struct Case {
    size_t tiers, groups;
    std::string want;
  };
  for (const Case& c : std::vector<Case>{
           {64, 64, ""},
           {65, 1, "elastic_scaling_list has 65 items, more than the 64 that mindgate reads"},
           {1, 65, "group_list has 65 items, more than the 64 that mindgate reads"},
           {1, 10'000, "group_list has 10000 items, more than the 64 that mindgate reads"},
           {1, 30'000,
            "the rule is larger than mindgate reads: the document has more than 20000 values"},
           {1, 100'000,
            "the rule is larger than mindgate reads: it has 300043 bytes, and 64 tiers of 64 "
            "groups need fewer than 262144"},
       }) {
    SCOPED_TRACE(std::to_string(c.tiers) + " x " + std::to_string(c.groups));
    const Json rule = {
        {"elastic_scaling_list", Many(c.tiers, {{"group_list", Many(c.groups, Json::object())}})}};
    const auto reading = schemas::ReadScalingRule(rule.dump());
    std::string got;
    for (const auto& issue : reading.refused.items()) {
      if (issue.message.find("mindgate reads") != std::string::npos) got = issue.message;
    }
    EXPECT_EQ(got, c.want);
  }
}

}  // namespace
}  // namespace mindgate::testing
