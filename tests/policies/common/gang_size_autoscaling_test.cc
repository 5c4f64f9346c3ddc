#include "policies/common/manifests.h"
#include "support/npu_manifests.h"
#include "support/rules.h"

// Gangs and the autoscalers that are applied with them.
namespace mindgate::testing {
namespace {

std::string Below(const std::string& k, const std::string& title, const std::string& left) {
  return "spec.template.metadata.annotations[huawei.com/schedule_minAvailable]: "
         "huawei.com/schedule_minAvailable is " +
         k + ", but " + title + " \"scaler\" leaves " + left + " at its minimum: with fewer than " +
         k + " the scheduler binds none, and a pod that a fault takes away does not come back";
}

TEST(AutoscalerBelowGang, Table) {
  const std::string chat = ScaledGang("Deployment", "", "4");
  const std::string hpa = "HorizontalPodAutoscaler";
  ExpectFindings(
      "MG195",
      {
          {.name = "an HPA",
           .object = chat,
           .want = {Below("4", hpa, "2 pods")},
           .others = {Hpa("minReplicas: 2, maxReplicas: 8")}},
          {.name = "without a minimum it is 1",
           .object = chat,
           .want = {Below("4", hpa, "1 pod")},
           .others = {Hpa("maxReplicas: 8")}},
          {.name = "of the first version",
           .object = ScaledGang("StatefulSet", "replicas: 4, ", "4"),
           .want = {Below("4", hpa, "3 pods")},
           .others = {ScaledBy("autoscaling/v1", hpa,
                               "apiVersion: apps/v1, kind: StatefulSet, name: chat",
                               "minReplicas: 3, maxReplicas: 8")}},
          {.name = "of a ReplicationController",
           .object = ScaledGang("ReplicationController", "replicas: 4, ", "4"),
           .want = {Below("4", hpa, "3 pods")},
           .others = {Hpa("minReplicas: 3, maxReplicas: 8",
                          "apiVersion: v1, kind: ReplicationController, name: chat")}},
          {.name = "as many as the gang",
           .object = chat,
           .others = {Hpa("minReplicas: 4, maxReplicas: 8")}},
          {.name = "a minimum that cannot be read",
           .object = chat,
           .others = {Hpa("minReplicas: two, maxReplicas: 8")}},
          {.name = "no gang",
           .object = ScaledGang("Deployment", "", "1"),
           .others = {Hpa("maxReplicas: 8")}},
          {.name = "another name",
           .object = chat,
           .others = {Hpa("maxReplicas: 8", "apiVersion: apps/v1, kind: Deployment, name: other")}},
          {.name = "another kind",
           .object = chat,
           .others = {Hpa("maxReplicas: 8", "apiVersion: apps/v1, kind: ReplicaSet, name: chat")}},
          {.name = "KEDA's target is a Deployment, and its minimum none",
           .object = chat,
           .want = {Below("4", "ScaledObject", "1 pod")},
           .others = {ScaledBy("keda.sh/v1alpha1", "ScaledObject", "name: chat", "triggers: []")}},
          {.name = "KEDA with a minimum",
           .object = chat,
           .others = {ScaledBy("keda.sh/v1alpha1", "ScaledObject", "name: chat",
                               "minReplicaCount: 4")}},
          {.name = "AIBrix, whose schedule lowers the minimum",
           .object = chat,
           .want = {Below("4", "PodAutoscaler", "2 pods")},
           .others = {ScaledBy("autoscaling.aibrix.ai/v1alpha1", "PodAutoscaler", kDeploymentChat,
                               "minReplicas: 4, maxReplicas: 8, schedules: [{name: night, "
                               "minReplicas: 2}]")}},
          {.name = "the lowest of two",
           .object = chat,
           .want = {Below("4", "ScaledObject", "1 pod")},
           .others = {Hpa("minReplicas: 2, maxReplicas: 8"),
                      ScaledBy("keda.sh/v1alpha1", "ScaledObject", "name: chat", "triggers: []")}},
      });
}

TEST(AutoscalerBelowGang, ReportsWhatToWrite) {
  const json::Document object = YamlDocument(ScaledGang("Deployment", "", "4"));
  const FakeObjects others({Hpa("minReplicas: 2, maxReplicas: 8")});
  schemas::AdmissionRequest request;
  request.object = &object.root();
  request.objects = &others;
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  std::vector<std::string> fixes;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    if (finding.rule->id == "MG195") fixes.push_back(finding.fix);
  }
  EXPECT_EQ(fixes, std::vector<std::string>{"write huawei.com/schedule_minAvailable: \"2\", or "
                                            "minReplicas: 4 in HorizontalPodAutoscaler "
                                            "\"scaler\""});
}

// Volcano's own gang is the same to an autoscaler.
TEST(AutoscalerBelowGang, OfVolcano) {
  ExpectFindings(
      "MG195",
      {{.name = "group-min-member",
        .object = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat, annotations: "
                  "{scheduling.volcano.sh/group-min-member: '4'}}, spec: {template: " +
                  PodTemplate({.annotations = "huawei.com/schedule_minAvailable: '2'"}) + "}}",
        .want = {"metadata.annotations[scheduling.volcano.sh/group-min-member]: "
                 "scheduling.volcano.sh/group-min-member is 4, but HorizontalPodAutoscaler "
                 "\"scaler\" leaves 2 pods at its minimum: with fewer than 4 the scheduler binds "
                 "none, and a pod that a fault takes away does not come back"},
        .others = {Hpa("minReplicas: 2, maxReplicas: 8")}}});
}

TEST(AutoscalerBelowGang, OfARoleOfAStormService) {
  const auto role = [](const std::string& name) {
    return "{name: " + name + ", replicas: 2, template: " +
           PodTemplate({.annotations = "huawei.com/schedule_minAvailable: '4'"}) + "}";
  };
  const std::string service =
      "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: chat}, "
      "spec: {template: {spec: {roles: [" +
      role("prefill") + ", " + role("decode") + "]}}}}";
  const auto scaler = [](const std::string& selector, const std::string& annotations = "") {
    return "{apiVersion: autoscaling.aibrix.ai/v1alpha1, kind: PodAutoscaler, metadata: {name: "
           "scaler, annotations: {" +
           annotations +
           "}}, spec: {scaleTargetRef: {apiVersion: orchestration.aibrix.ai/v1alpha1, kind: "
           "StormService, name: chat}, " +
           selector + "maxReplicas: 8}}";
  };
  const std::string prefill = "subTargetSelector: {roleName: prefill}, ";
  const auto at = [](const std::string& index) {
    return "spec.template.spec.roles[" + index +
           "].template.metadata.annotations[huawei.com/schedule_minAvailable]: "
           "huawei.com/schedule_minAvailable is 4, but PodAutoscaler \"scaler\" leaves 3 pods of "
           "the roles with podGroupSize 1 at its minimum: with fewer than 4 the scheduler binds "
           "none, and a pod that a fault takes away does not come back";
  };
  ExpectFindings(
      "MG195",
      {
          {.name = "the other role keeps its pods",
           .object = service,
           .want = {at("0"), at("1")},
           .others = {scaler(prefill)}},
          {.name = "more of the whole service", .object = service, .others = {scaler("")}},
          {.name = "likewise, in that mode",
           .object = service,
           .others = {scaler(prefill, "autoscaling.aibrix.ai/storm-service-mode: replica")}},
      });
}

}  // namespace
}  // namespace mindgate::testing
