#include "policies/common/manifests.h"
#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(MinAvailableDeadlock, Table) {
  const std::string ordered =
      " is 2, but a StatefulSet makes its second pod only when the first is ready, and the first "
      "waits for the second: no pod ever starts";
  const std::string leader_ready =
      " is 4, but with startupPolicy LeaderReady workers appear only when the leader is ready, and "
      "the leader waits for them: no pod ever starts";
  const std::string ready = "startupPolicy: LeaderReady, ";
  const auto role = [](const std::string& spec) {
    return "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: i}, spec: "
           "{roles: [{name: r, workload: {kind: StatefulSet}, spec: {replicas: 2, " +
           spec + "template: {metadata: {" + K("2") + "}, spec: {" + kNpuContainers + "}}}}]}}";
  };
  ExpectFindings(
      "MG071",
      {
          {"OrderedReady is the default",
           Native("StatefulSet", "replicas: 4, ", "2"),
           {"spec.template.metadata.annotations" + kAt + kName + ordered}},
          {"Parallel", Native("StatefulSet", "podManagementPolicy: Parallel, ", "2"), {}},
          {"a gang of 1", Native("StatefulSet", "podManagementPolicy: OrderedReady, ", "1"), {}},
          {"another scheduler reads no gang",
           "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: d}, spec: {template: "
           "{metadata: {" +
               K("2") + "}, spec: {schedulerName: default-scheduler, " + kNpuContainers + "}}}}",
           {}},
          {"no NPUs, no gang",
           "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: d}, spec: {template: "
           "{metadata: {" +
               K("2") + "}, spec: {containers: [{name: m}]}}}}",
           {}},
          {"a role's StatefulSet",
           role(""),
           {"spec.roles[0].spec.template.metadata.annotations" + kAt + kName + ordered}},
          {"a role's parallel StatefulSet", role("podManagementPolicy: Parallel, "), {}},
          {"LeaderReady: fails with and without gang scheduling",
           Lws(ready, K("4"), ""),
           {"spec.leaderWorkerTemplate.leaderTemplate.metadata.annotations" + kAt + kName +
            leader_ready}},
          {"LeaderReady with as many groups: without gang scheduling the leaders fill it",
           Lws(ready + "replicas: 4, ", K("4"), ""),
           {}},
          {"LeaderReady, on the workers alone", Lws(ready, "", K("4")), {}},
          {"LeaderCreated", Lws("", K("4"), ""), {}},
      });
}

// Volcano's own gang plugin wants that many pods, whatever MindCluster's plugin wants.
TEST(GroupMinMember, IsAGangOfItsOwn) {
  const std::string key = "scheduling.volcano.sh/group-min-member";
  const std::string path = "metadata.annotations[" + key + "]: ";
  const auto annotated = [&](const std::string& members) {
    return "annotations: {" + key + ": '" + members + "'}";
  };
  ExpectFindings(
      "MG077",
      {{"a rolling update",
        Native("Deployment", "replicas: 2, ", "", annotated("2")),
        {path + key +
         " is 2: every rolling update would hang, as maxSurge 1 and maxUnavailable 0 both stay "
         "below it; gangRepair cannot unblock it, as it lowers the other gang size alone"}},
       {"with the same K, which is repaired",
        Native("Deployment", "replicas: 2, ", "2", annotated("2")),
        {path + key +
         " is 2: every rolling update would hang, as maxSurge 1 and maxUnavailable 0 both stay "
         "below it; gangRepair cannot unblock it, as it lowers the other gang size alone"}},
       {"Recreate",
        Native("Deployment", "replicas: 2, strategy: {type: Recreate}, ", "2", annotated("2")),
        {}}});
  ExpectFindings("MG076", {{"more than replicas",
                            Native("Deployment", "replicas: 2, ", "1", annotated("3")),
                            {path + key +
                             " is 3 but replicas make 2 pods: none starts until the rest are "
                             "added"}}});
  // Before Volcano 1.12 nobody reads it.
  const auto volcano = [](schemas::Version version) {
    schemas::Versions versions;
    versions.Set(schemas::Component::kVolcano, version);
    return versions;
  };
  const std::string in_order = Native("StatefulSet", "replicas: 2, ", "", annotated("2"));
  const std::string never =
      path + key +
      " is 2, but a StatefulSet makes its second pod only when the first is ready, and the first "
      "waits for the second: no pod ever starts";
  const std::string few = Native("Job", "parallelism: 2, completions: 2, ", "", annotated("4"));
  const std::string never_fills =
      path + key + " is 4 but Job has only 2 pods: the gang never fills and no pod starts";
  ExpectFindings(
      "MG075",
      {{.name = "of an unknown Volcano", .object = few, .want = {never_fills}, .warned = true},
       {.name = "of Volcano 1.12",
        .object = few,
        .want = {never_fills},
        .versions = volcano({1, 12})},
       {.name = "of Volcano 1.11", .object = few, .versions = volcano({1, 11})}});
  ExpectFindings(
      "MG071",
      {{.name = "a StatefulSet in order", .object = in_order, .want = {never}, .warned = true},
       {.name = "of Volcano 1.12",
        .object = in_order,
        .want = {never},
        .versions = volcano({1, 12})},
       {"at once",
        Native("StatefulSet", "replicas: 2, podManagementPolicy: Parallel, ", "", annotated("2")),
        {}},
       {"no gang", Native("StatefulSet", "replicas: 2, ", "", annotated("1")), {}},
       {"unreadable", Native("StatefulSet", "replicas: 2, ", "", annotated("two")), {}}});
}

TEST(MinAvailableNeverFills, Table) {
  const auto few = [](const std::string& k, const std::string& group, const std::string& pods) {
    return " is " + k + " but " + group + " has only " + pods +
           ": the gang never fills and no pod starts";
  };
  const auto role = [](const std::string& workload) {
    return "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: i}, spec: "
           "{roles: [{name: r, workload: {kind: " +
           workload +
           "}, spec: {replicas: 2, podManagementPolicy: Parallel, template: {metadata: "
           "{" +
           K("3") + "}, spec: {" + kNpuContainers + "}}}}]}}";
  };
  ExpectFindings(
      "MG075",
      {
          {"a Job runs as many as it completes",
           Native("Job", "parallelism: 4, completions: 2, ", "4"),
           {"spec.template.metadata.annotations" + kAt + kName + few("4", "Job", "2 pods")}},
          {"a Job with enough", Native("Job", "parallelism: 4, completions: 8, ", "4"), {}},
          {"a Volcano Job",
           TwoTasks("minAvailable: 1, ", "5"),
           {"spec.tasks[0].template.metadata.annotations" + kAt + kName +
            few("5", "the job", "4 pods")}},
          {"a Volcano Job with a gang of its own: ignored", TwoTasks("minAvailable: 4, ", "5"), {}},
          {"a PodSet",
           TwoRoles("replicas: 3, podGroupSize: 2", "3", "replicas: 1", ""),
           {"spec.roles[0].template.metadata.annotations" + kAt + kName +
            few("3", "one PodSet of role prefill", "2 pods")}},
          {"an instance",
           role("StatefulSet"),
           {"spec.roles[0].spec.template.metadata.annotations" + kAt + kName +
            few("3", "one instance of role r", "2 pods")}},
          {"an instance of a Deployment",
           role("Deployment"),
           {"spec.roles[0].spec.template.metadata.annotations" + kAt + kName +
            few("3", "one instance of role r", "2 pods")}},
          {"roles that share a PodGroup can be scaled: another rule",
           TwoRoles("replicas: 1", "3", "replicas: 1", "3"),
           {}},
      });
}

// Argo CD and others advise to leave replicas out beside an autoscaler.
TEST(MinAvailableExceedsReplicas, BesideAnAutoscaler) {
  const std::string few =
      "spec.template.metadata.annotations[huawei.com/schedule_minAvailable]: "
      "huawei.com/schedule_minAvailable is 4 but replicas make ";
  const std::string wait = ": none starts until the rest are added";
  ExpectFindings(
      "MG076",
      {
          {"alone they are 1", ScaledGang("Deployment", "", "4"), {few + "1 pod" + wait}},
          {.name = "left out beside an autoscaler",
           .object = ScaledGang("Deployment", "", "4"),
           .others = {Hpa("minReplicas: 2, maxReplicas: 8")}},
          {.name = "too few, which it raises",
           .object = ScaledGang("Deployment", "replicas: 1, ", "4"),
           .others = {Hpa("minReplicas: 4, maxReplicas: 8")}},
          {.name = "too few, which it does not",
           .object = ScaledGang("Deployment", "replicas: 2, ", "4"),
           .want = {few + "2 pods" + wait},
           .others = {Hpa("minReplicas: 2, maxReplicas: 8")}},
          {.name = "beside one of another workload",
           .object = ScaledGang("Deployment", "", "4"),
           .want = {few + "1 pod" + wait},
           .others = {Hpa("maxReplicas: 8", "apiVersion: apps/v1, kind: Deployment, name: x")}},
      });
}

TEST(MinAvailableExceedsReplicas, Table) {
  const auto few = [](const std::string& k, const std::string& count, const std::string& pods) {
    return " is " + k + " but " + count + " make " + pods +
           ": none starts until the rest are added";
  };
  ExpectFindings(
      "MG076",
      {
          {"a Deployment",
           Native("Deployment", "replicas: 2, ", "3"),
           {"spec.template.metadata.annotations" + kAt + kName + few("3", "replicas", "2 pods")}},
          {"replicas default to 1",
           Native("StatefulSet", "podManagementPolicy: Parallel, ", "3"),
           {"spec.template.metadata.annotations" + kAt + kName + few("3", "replicas", "1 pod")}},
          {"scaled to zero waits for nothing", Native("Deployment", "replicas: 0, ", "3"), {}},
          {"replicas that cannot be read", Native("Deployment", "replicas: two, ", "3"), {}},
          {"OME goes by minReplicas, whatever the maximum",
           OmeService("minReplicas: 2, maxReplicas: 8, " + K("3")),
           {"spec.engine.annotations" + kAt + kName + few("3", "minReplicas", "2 pods")}},
          {"OME, from the service's metadata; the router has no gang",
           OmeService("minReplicas: 3, ", K("3"), ", decoder: {minReplicas: 2}, router: {}"),
           {"metadata.annotations" + kAt + kName + few("3", "minReplicas", "2 pods")}},
          {"OME's own Deployment starts with one replica",
           Native("Deployment", "replicas: 1, ", "3",
                  "ownerReferences: [{apiVersion: ome.io/v1beta1, kind: InferenceService, name: i, "
                  "controller: true}]"),
           {}},
          {"the sum of the roles", TwoRoles("replicas: 1", "3", "replicas: 2", "3"), {}},
          {"more than the sum of the roles",
           TwoRoles("replicas: 1", "4", "replicas: 2", "4"),
           {"spec.roles[0].template.metadata.annotations" + kAt + kName +
                few("4", "replicas", "3 pods"),
            "spec.roles[1].template.metadata.annotations" + kAt + kName +
                few("4", "replicas", "3 pods")}},
          {"a role without replicas", TwoRoles("stateful: true", "4", "replicas: 2", "4"), {}},
      });
}

TEST(MinAvailableBlocksRollout, Table) {
  const auto hangs = [](const std::string& k, const std::string& limits) {
    return " is " + k + ": every rolling update would hang, as " + limits +
           " both stay below it; the watcher's gangRepair unblocks it";
  };
  const std::string at = "spec.template.metadata.annotations" + kAt + kName;
  ExpectFindings(
      "MG077",
      {
          {"Kubernetes' default of 25%",
           Native("Deployment", "replicas: 4, ", "4"),
           {at + hangs("4", "maxSurge 1 and maxUnavailable 1")}},
          {"maxSurge 100%",
           Native("Deployment", "replicas: 4, strategy: {rollingUpdate: {maxSurge: 100%}}, ", "4"),
           {}},
          {"Recreate", Native("Deployment", "replicas: 4, strategy: {type: Recreate}, ", "4"), {}},
          {"what the user wrote, not what Kubernetes makes of it",
           Native("Deployment",
                  "replicas: 4, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}, ",
                  "4"),
           {at + hangs("4", "maxSurge 0 and maxUnavailable 0, which Kubernetes takes for 1,")}},
          {"a gang of 1", Native("Deployment", "replicas: 4, ", "1"), {}},
          {"no gang", Native("Deployment", "replicas: 4, ", ""), {}},
          {"an sp-block of two pods",
           Deployment({.chips = "16", .annotations = "sp-block: \"32\""}, 2),
           {"spec.template.metadata.annotations[sp-block]: sp-block 32 needs 2 pods at once: every "
            "rolling update would hang, as maxSurge 1 and maxUnavailable 0 allow fewer new pods, "
            "and the scheduler refuses those"}},
          {"an update that makes a whole block at once",
           Deployment({.chips = "16", .annotations = "sp-block: \"32\""}, 4),
           {}},
          {"an sp-block of one pod",
           Deployment({.chips = "16", .annotations = "sp-block: \"16\""}, 4),
           {}},
          {"OME's default, where the runtime may still say otherwise",
           OmeService("minReplicas: 2, " + K("2")),
           {"spec.engine.annotations" + kAt + kName +
            hangs("2", "OME's default of maxSurge 1 and maxUnavailable 0")}},
          {"the runtime says otherwise",
           OmeService("minReplicas: 2, " + K("2")),
           {},
           "",
           {OmeRuntime(
               "deploymentStrategy: {type: Recreate}, runner: {name: m, resources: {limits: "
               "{huawei.com/Ascend910: 8}}}")}},
          {"the runtime says nothing",
           OmeService("minReplicas: 2, " + K("2")),
           {"spec.engine.annotations" + kAt + kName +
            hangs("2", "maxSurge 1 and maxUnavailable 0")},
           "",
           {OmeRuntime("runner: {name: m, resources: {limits: {huawei.com/Ascend910: 8}}}")}},
          {"a block of two pods: a lower K would leave a pod that is refused alone",
           OmeService("minReplicas: 2, annotations: {huawei.com/schedule_minAvailable: '2', "
                      "sp-block: '32', huawei.com/schedule_policy: chip2-node16-sp}"),
           {"spec.engine.annotations" + kAt + kName +
            " is 2: every rolling update would hang, as maxSurge 1 and maxUnavailable 0 both stay "
            "below it; gangRepair cannot unblock it, as sp-block 32 is more than the 16 chips of "
            "one pod"},
           "",
           {OmeRuntime("runner: {name: m, resources: {limits: {huawei.com/Ascend910: 16}}}")}},
          {"both components of a service, once",
           OmeService("minReplicas: 2, " + K("2"), "",
                      ", decoder: {minReplicas: 2, " + K("2") + "}"),
           {"spec.engine.annotations" + kAt + kName +
            hangs("2", "OME's default of maxSurge 1 and maxUnavailable 0") +
            "; the same is true of the decoder"}},
          {"a block of one pod",
           OmeService("minReplicas: 2, annotations: {huawei.com/schedule_minAvailable: '2', "
                      "sp-block: '16', huawei.com/schedule_policy: chip2-node16-sp}"),
           {"spec.engine.annotations" + kAt + kName +
            hangs("2", "maxSurge 1 and maxUnavailable 0")},
           "",
           {OmeRuntime("runner: {name: m, resources: {limits: {huawei.com/Ascend910: 16}}}")}},
          {"the runtime's K, reported where the service would overrule it",
           OmeService("minReplicas: 2, "),
           {"spec.engine.annotations" + kAt + kName +
            hangs("2", "maxSurge 1 and maxUnavailable 0")},
           "",
           {OmeRuntime(K("2") +
                       ", runner: {name: m, resources: {limits: {huawei.com/Ascend910: 8}}}")}},
      });
}

TEST(MinAvailableBlocksRollout, WithoutGangRepairNobodyHelps) {
  const json::Document object = YamlDocument(Native("Deployment", "replicas: 4, ", "4"));
  schemas::AdmissionRequest request;
  request.object = &object.root();
  const auto view = schemas::BuildView(object.root());
  schemas::Config config;
  config.gang_repair = false;
  std::vector<std::string> messages;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    if (finding.rule->id == "MG077") messages.push_back(finding.message);
  }
  EXPECT_EQ(
      messages,
      (std::vector<std::string>{kName + " is 4: every rolling update would hang, as maxSurge 1 and "
                                        "maxUnavailable 1 both stay below it"}));
}

TEST(GroupMinMemberAlone, Table) {
  const std::string metadata = "annotations: {scheduling.volcano.sh/group-min-member: '2'}";
  ExpectFindings(
      "MG078",
      {
          {"without K",
           Native("Deployment", "replicas: 2, ", "", metadata),
           {"spec.template.metadata.annotations" + kAt +
            "group-min-member without huawei.com/schedule_minAvailable makes the scheduler "
            "multiply the NPUs twice: the job waits for many times the cards it needs"}},
          {"with K", Native("Deployment", "replicas: 2, ", "2", metadata), {}},
          {"1 multiplies nothing",
           Native("Deployment", "replicas: 2, ", "",
                  "annotations: {scheduling.volcano.sh/group-min-member: '1'}"),
           {}},
          {"absent", Native("Deployment", "replicas: 2, ", ""), {}},
      });
}

TEST(MinAvailableBelowRoles, Table) {
  const std::string path = "spec.roles[0].template.metadata.annotations" + kAt;
  const std::string roles = "spec.roles: ";
  ExpectFindings(
      "MG177",
      {{"below the sum",
        TwoRoles("replicas: 2", "2", "replicas: 3", "2"),
        {roles + kName +
         " is 2, less than the 5 pods with NPUs of the roles with podGroupSize 1: the scheduler "
         "binds the first 2 pods without the others, which may find no room"}},
       {"the sum", TwoRoles("replicas: 2", "5", "replicas: 3", "5"), {}},
       {"more is for another rule", TwoRoles("replicas: 2", "6", "replicas: 3", "6"), {}},
       {"no gang", TwoRoles("replicas: 2", "1", "replicas: 3", "1"), {}},
       {"no number", TwoRoles("replicas: 2", "", "replicas: 3", ""), {}},
       {"half a PodSet",
        TwoRoles("replicas: 1, podGroupSize: 4", "2", "replicas: 1", "1"),
        {path + kName +
         " is 2, less than the 4 pods with NPUs of one PodSet of role prefill: the scheduler binds "
         "the first 2 pods without the others, which may find no room"}}});
}

TEST(MinAvailableExternalAutoscaler, Table) {
  const std::string effect =
      " is 2 with ome.io/autoscalerClass external: the Deployment starts with one pod, which waits "
      "for the others, and OME adds none";
  const std::string both =
      "annotations: {huawei.com/schedule_minAvailable: '2', ome.io/autoscalerClass: external}";
  ExpectFindings(
      "MG079",
      {
          {"on the component",
           OmeService("minReplicas: 2, " + both),
           {"spec.engine.annotations" + kAt + kName + effect}},
          {"on the service",
           OmeService("minReplicas: 2, " + K("2"),
                      "annotations: {ome.io/autoscalerClass: external}"),
           {"spec.engine.annotations" + kAt + kName + effect}},
          {"another autoscaler",
           OmeService("minReplicas: 2, " + K("2"), "annotations: {ome.io/autoscalerClass: keda}"),
           {}},
          {"a gang of 1",
           OmeService("minReplicas: 2, " + K("1"),
                      "annotations: {ome.io/autoscalerClass: external}"),
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
