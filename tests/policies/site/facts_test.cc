#include "policies/site/facts.h"

#include "policies/site/evaluating.h"

namespace mindgate::policies::site {
namespace {

using testing::Asked;
using testing::EvaluateBySite;

// Of every kind, whatever it is about.
std::string OfAll(std::string_view expression) {
  return R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]
  validations:
  - expression: |-
      )" +
         std::string(expression) +
         R"(
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
)";
}

constexpr std::string_view kStormService = R"(
apiVersion: orchestration.aibrix.ai/v1alpha1
kind: StormService
metadata: {name: pd, namespace: team-a}
spec:
  replicas: 2
  template:
    spec:
      roles:
      - name: prefill
        replicas: 2
        podGroupSize: 4
        template:
          metadata: {labels: {fault-scheduling: force}}
          spec:
            schedulerName: volcano
            containers:
            - {name: main, image: reg.io/a:1, resources: {limits: {huawei.com/Ascend910: 8}}}
      - name: decode
        replicas: 1
        template:
          spec:
            containers:
            - {name: main, image: reg.io/b:1, resources: {limits: {huawei.com/Ascend910: 6}}}
)";

constexpr std::string_view kVolcanoJob = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  minAvailable: 3
  queue: gold
  schedulerName: volcano
  tasks:
  - name: worker
    replicas: 3
    template:
      spec:
        nodeSelector: {accelerator-type: module-910b-8}
        initContainers: [{name: prepare, image: reg.io/p:1}]
        containers:
        - {name: main, image: reg.io/t:1, resources: {limits: {huawei.com/Ascend910: 8}}}
)";

TEST(WorkloadValue, Members) {
  struct Case {
    std::string_view object;
    std::string expression;
  };
  const std::vector<Case> cases = {
      {testing::kEvaluatedDeployment,
       "workload.kind == 'Deployment' && workload.framework == 'deployment'"},
      {testing::kEvaluatedDeployment, "workload.name == 'llm' && workload.namespace == 'team-a'"},
      {testing::kEvaluatedDeployment,
       "workload.templates.size() == 1 && workload.templates[0].role == ''"},
      {testing::kEvaluatedDeployment,
       "workload.templates[0].npus == 4 && workload.templates[0].resource == "
       "'huawei.com/Ascend910'"},
      {testing::kEvaluatedDeployment, "workload.templates[0].labels == {'app': 'llm'}"},
      {testing::kEvaluatedDeployment, "workload.templates[0].annotations == {}"},
      {testing::kEvaluatedDeployment, "workload.templates[0].scheduler == 'volcano'"},
      {testing::kEvaluatedDeployment, "workload.templates[0].field == 'spec.template'"},
      {testing::kEvaluatedDeployment,
       "workload.templates[0].containers[0].field == "
       "'spec.template.spec.containers[0]'"},
      {testing::kEvaluatedDeployment,
       "workload.templates[0].containers[0].image == 'other.io/llm:1'"},
      {testing::kEvaluatedDeployment, "workload.templates[0].containers[0].npus == 4"},
      {testing::kEvaluatedDeployment, "workload.templates[0].spec == object.spec.template.spec"},
      {testing::kEvaluatedDeployment,
       "workload.templates[0].containers[0].spec == object.spec.template.spec.containers[0]"},
      {kStormService, "workload.templates.map(t, t.role) == ['prefill', 'decode']"},
      {kStormService, "workload.templates.map(t, t.npus) == [8, 6]"},
      {kStormService, "workload.templates[0].pods == 4 && workload.templates[0].instances == 4"},
      {kStormService, "workload.templates[0].labels['fault-scheduling'] == 'force'"},
      {kStormService,
       "workload.podGroups.exists(g, 'prefill' in g.roles && g.pods == 4 && g.count == 4)"},
      {kVolcanoJob, "workload.podGroups.map(g, g.queue) == ['gold']"},
      {kVolcanoJob, "workload.podGroups[0].minMember == 3 && workload.podGroups[0].pods == 3"},
      {kVolcanoJob, "workload.templates[0].nodeSelector['accelerator-type'] == 'module-910b-8'"},
      {kVolcanoJob, "workload.templates[0].containers.filter(c, c.init).map(c, c.npus) == [0]"},
      {kVolcanoJob, "workload.services.size() >= 0 && workload.autoscalers == []"},
  };
  for (const Case& c : cases) {
    Asked asked;
    asked.object = std::string(c.object);
    const auto evaluated = EvaluateBySite({OfAll(c.expression)}, asked);
    EXPECT_EQ(evaluated.traces, std::vector<std::string>{"policy/p passed"}) << c.expression;
    const auto negated = EvaluateBySite({OfAll("!(" + c.expression + ")")}, asked);
    EXPECT_EQ(negated.traces, std::vector<std::string>{"policy/p violated"}) << c.expression;
  }
}

// One rule for all kinds.
TEST(WorkloadValue, WholeMachinesOnly) {
  const std::string policy = OfAll("workload.templates.all(t, t.npus == 0 || t.npus % 8 == 0)");
  const auto denied = [&](std::string_view object) {
    Asked asked;
    asked.object = std::string(object);
    return EvaluateBySite({policy}, asked).denied;
  };
  EXPECT_TRUE(denied(testing::kEvaluatedDeployment));
  EXPECT_TRUE(denied(kStormService));
  EXPECT_FALSE(denied(kVolcanoJob));
}

// A count that is not written is left out, and what reads it is an error, never a pass.
TEST(WorkloadValue, LeavesOutWhatTheObjectDoesNotShow) {
  Asked asked;
  asked.object = std::string(testing::kEvaluatedDeployment);
  const size_t count = asked.object.find("Ascend910: 4");
  asked.object.replace(count, 12, "Ascend910: x");
  EXPECT_EQ(EvaluateBySite({OfAll("has(workload.templates[0].npus)")}, asked).traces,
            std::vector<std::string>{"policy/p violated"});
  EXPECT_EQ(EvaluateBySite({OfAll("workload.templates[0].npus < 100")}, asked).traces,
            std::vector<std::string>{"policy/p error"});
}

}  // namespace
}  // namespace mindgate::policies::site
