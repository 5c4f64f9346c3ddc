#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using schemas::Config;
using schemas::Kind;

void ExpectMinAvailable(std::vector<MutationCase> cases) {
  ExpectMutationsBy("min-available", std::move(cases));
}

std::string K(const std::string& annotations, const std::string& value) {
  return annotations + "/huawei.com~1schedule_minAvailable = \"" + value + "\"";
}

TEST(MinAvailable, EveryKind) {
  ExpectMinAvailable(EveryKind([](const Injected& row) {
    return row.counts_pods ? std::vector{K(row.annotations(), "2")} : std::vector<std::string>();
  }));
}

constexpr const char* kRunner = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}";
const std::string kWay = "/huawei.com~1schedule_minAvailable: ";

std::string Service(const std::string& spec, const std::string& annotations = "") {
  return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, annotations: {" +
         annotations + "}}, spec: {runtime: {name: rt}, " + spec + "}}";
}

std::string Engine(const std::string& fields) {
  return Service("engine: {" + std::string(kRunner) + ", " + fields + "}");
}

TEST(MinAvailable, InferenceServiceTable) {
  const std::string engine = "/spec/engine/annotations";
  const std::string decoder = "/spec/decoder/annotations";
  Config no_repair;
  no_repair.gang_repair = false;
  ExpectMinAvailable({
      {"absent minReplicas are one", Engine(""), {K(engine, "1")}},
      {"engine and decoder by their own, never the router",
       Service("engine: {minReplicas: 3, " + std::string(kRunner) +
               "}, decoder: {minReplicas: 2, " + kRunner +
               "}, router: {minReplicas: 4, runner: {name: r}}"),
       {K(decoder, "2"), K(engine, "3")}},
      {"scaled to zero",
       Engine("minReplicas: 0"),
       {},
       "",
       {},
       "",
       {},
       {{engine + kWay + "minReplicas 0 scales to zero"}}},
      {"negative",
       Engine("minReplicas: -1"),
       {},
       "",
       {},
       "",
       {},
       {{engine + kWay + "the number of pods is out of range"}}},
      {"larger than Kubernetes counts",
       Engine("minReplicas: 2147483648"),
       {},
       "",
       {},
       "",
       {},
       {{engine + kWay + "the number of pods is out of range"}}},
      {"the largest", Engine("minReplicas: 2147483647"), {K(engine, "2147483647")}},
      {"minReplicas as text", Engine("minReplicas: '2'"), {}},
      {"an external autoscaler starts with one pod",
       Engine("minReplicas: 2, annotations: {ome.io/autoscalerClass: external}"),
       {},
       "",
       {},
       "",
       {},
       {{engine + kWay + "with an external autoscaler the Deployment starts with one pod"}}},
      {"an external autoscaler for the whole service",
       Service("engine: {minReplicas: 2, " + std::string(kRunner) + "}",
               "ome.io/autoscalerClass: external"),
       {}},
      {"another autoscaler",
       Engine("minReplicas: 2, annotations: {ome.io/autoscalerClass: keda}"),
       {K(engine, "2")}},
      {"LeaderWorkerSet shape", Engine("leader: {}, worker: {size: 1}"), {}},
      {"LeaderWorkerSet shape from the runtime",
       Service("engine: {minReplicas: 2}"),
       {},
       "",
       {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
        "{engineConfig: {leader: {" +
        std::string(kRunner) + "}, worker: {size: 1, " + kRunner + "}}}}"}},
      {"Deployment shape of a known runtime",
       Service("engine: {minReplicas: 2}, decoder: {minReplicas: 3}"),
       {K(engine, "2")},
       "",
       {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
        "{engineConfig: {" +
        std::string(kRunner) + "}, decoderConfig: {runner: {name: e}}}}"}},
      {"set by the user on the component",
       Engine("minReplicas: 2, annotations: {huawei.com/schedule_minAvailable: '1'}"),
       {}},
      {"set by the user on the service",
       Service("engine: {minReplicas: 2, " + std::string(kRunner) + "}",
               "huawei.com/schedule_minAvailable: '1'"),
       {}},
      {"a rolling update that could not proceed, with the watcher's repair",
       Engine("minReplicas: 2"),
       {K(engine, "2")}},
      {"a rolling update that could not proceed, without it",
       Engine("minReplicas: 2"),
       {},
       "",
       {},
       "",
       no_repair,
       {{engine + kWay + "a rolling update could not proceed with it, and gangRepair is off"}}},
      {"without it, but one pod makes no gang",
       Engine("minReplicas: 1"),
       {K(engine, "1")},
       "",
       {},
       "",
       no_repair},
      {"without it, but pods are recreated",
       Engine("minReplicas: 2, deploymentStrategy: {type: Recreate}"),
       {K(engine, "2")},
       "",
       {},
       "",
       no_repair},
      {"without it, but the surge makes a whole gang",
       Engine("minReplicas: 2, deploymentStrategy: {rollingUpdate: {maxSurge: '100%'}}"),
       {K(engine, "2")},
       "",
       {},
       "",
       no_repair},
      {"another scheduler reads no K", Engine("minReplicas: 2, schedulerName: mine"), {}},
  });
}

// OME decides the shape of the engine by the annotation on the component; what its defaulter writes
// on the service's metadata (PDDisaggregated, MultiNode) says nothing about one component (ome:
// pkg/controller/v1beta1/inferenceservice/utils/deployment.go).
TEST(MinAvailable, OmeDeploymentMode) {
  const std::string engine = "/spec/engine/annotations";
  const std::string other =
      engine + kWay + "ome.io/deploymentMode asks for something other than a Deployment";
  const auto on_engine = [](const std::string& mode) {
    return Engine("minReplicas: 2, annotations: {ome.io/deploymentMode: " + mode + "}");
  };
  const auto on_service = [](const std::string& mode) {
    return Service("engine: {minReplicas: 2, " + std::string(kRunner) + "}",
                   "ome.io/deploymentMode: " + mode);
  };
  ExpectMinAvailable({
      {"RawDeployment", on_engine("RawDeployment"), {K(engine, "2")}},
      {"Serverless", on_engine("Serverless"), {}, "", {}, "", {}, {{other}}},
      {"MultiNode", on_engine("MultiNode"), {}},
      {"MultiNodeRayVLLM", on_engine("MultiNodeRayVLLM"), {}, "", {}, "", {}, {{other}}},
      {"VirtualDeployment", on_engine("VirtualDeployment"), {}, "", {}, "", {}, {{other}}},
      {"PDDisaggregated is not accepted there", on_engine("PDDisaggregated"), {K(engine, "2")}},
      {"PDDisaggregated on the service, by OME's defaulter",
       on_service("PDDisaggregated"),
       {K(engine, "2")}},
      {"MultiNode on the service, because another component is",
       on_service("MultiNode"),
       {K(engine, "2")}},
      {"VirtualDeployment on the service makes no pods",
       on_service("VirtualDeployment"),
       {},
       "",
       {},
       "",
       {},
       {{other}}},
      {"a decoder has no such annotation",
       Service("decoder: {minReplicas: 2, annotations: {ome.io/deploymentMode: Serverless}, " +
               std::string(kRunner) + "}"),
       {K("/spec/decoder/annotations", "2")}},
      {"the runtime's annotation counts",
       Service("engine: {minReplicas: 2}"),
       {},
       "",
       {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
        "{engineConfig: {annotations: "
        "{ome.io/deploymentMode: Serverless}, " +
        std::string(kRunner) + "}}}"}},
  });
}

// What the service does not pin follows when the runtime changes.
TEST(MinAvailable, AGangSizeInTheRuntimeReachesItsServices) {
  ExpectMinAvailable({
      {"another one than minReplicas",
       Service("engine: {minReplicas: 2, " + std::string(kRunner) +
               "}, decoder: {minReplicas: 3, " + kRunner + "}"),
       {K("/spec/decoder/annotations", "3")},
       "",
       {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
        "{engineConfig: {annotations: {huawei.com/schedule_minAvailable: '1'}, " +
        std::string(kRunner) + "}, decoderConfig: {" + kRunner + "}}}"},
       "",
       {},
       {{"/spec/engine/annotations/huawei.com~1schedule_minAvailable: the runtime sets it"}}},
  });
}

TEST(MinAvailable, NeverOnRuntimes) {
  ExpectMinAvailable({
      {"a runtime is shared by services with different minReplicas",
       "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
       "{engineConfig: {minReplicas: 2, " +
           std::string(kRunner) + "}, decoderConfig: {minReplicas: 3, " + kRunner + "}}}",
       {}},
      {"the same, namespaced",
       "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, metadata: {name: rt}, spec: "
       "{engineConfig: {minReplicas: 2, " +
           std::string(kRunner) + "}}}",
       {}},
      {"an LWS that waits for its leader gets none",
       "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {startupPolicy: "
       "LeaderReady, leaderWorkerTemplate: "
       "{size: 4, workerTemplate: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: "
       "8}}}]}}}}}",
       {}},
  });
}

std::string Role(const std::string& fields, const std::string& annotations = "",
                 const std::string& resource = "huawei.com/Ascend910: 8",
                 const std::string& pod = "") {
  return "{" + fields + ", template: {metadata: {annotations: {" + annotations + "}}, spec: {" +
         pod + "containers: [{name: e, resources: {limits: {" + resource + "}}}]}}}";
}

std::string Storm(const std::string& roles, const std::string& spec = "") {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {replicas: 3, "
         "template: {spec: {" +
         spec + "roles: [" + roles + "]}}}}";
}

TEST(MinAvailable, AibrixTable) {
  const auto role = [](int i) {
    return "/spec/template/spec/roles/" + std::to_string(i) + "/template/metadata/annotations";
  };
  ExpectMinAvailable({
      {"equal over the roles that share the PodGroup; spec.replicas does not "
       "multiply",
       Storm(Role("name: prefill, replicas: 2") + ", " +
             Role("name: decode, replicas: 3, podGroupSize: 1")),
       {K(role(0), "5"), K(role(1), "5")}},
      {"a routing role without NPUs is not counted and not touched",
       Storm(Role("name: routing, replicas: 4", "", "cpu: 1") + ", " +
             Role("name: prefill, replicas: 2")),
       {K(role(1), "2")}},
      {"not even when it names volcano",
       Storm(Role("name: routing, replicas: 4", "", "cpu: 1", "schedulerName: volcano, ") + ", " +
             Role("name: prefill, replicas: 2")),
       {K(role(1), "2")}},
      {"podGroupSize makes groups of its own",
       Storm(Role("name: prefill, replicas: 2, podGroupSize: 4") + ", " +
             Role("name: decode, replicas: 3") + ", " + Role("name: other, replicas: 1")),
       {K(role(0), "4"), K(role(1), "4"), K(role(2), "4")}},
      {"a role of another scheduler is not in the group",
       Storm(Role("name: prefill, replicas: 2", "", "huawei.com/Ascend910: 8",
                  "schedulerName: mine, ") +
             ", " + Role("name: decode, replicas: 3")),
       {K(role(1), "3")}},
      {"a role without replicas",
       Storm(Role("name: prefill") + ", " + Role("name: decode, replicas: 3")),
       {},
       "",
       {},
       "",
       {},
       {{role(0) + kWay + "role prefill has no replicas",
         role(1) + kWay + "role prefill has no replicas"}}},
      {"no pods at all",
       Storm(Role("name: prefill, replicas: 0")),
       {},
       "",
       {},
       "",
       {},
       {{role(0) + kWay + "the roles that share the PodGroup make no pods"}}},
      {"negative replicas",
       Storm(Role("name: prefill, replicas: -1") + ", " + Role("name: decode, replicas: 3")),
       {}},
      {"more pods than int64 holds",
       Storm(Role("name: prefill, replicas: 9223372036854775807") + ", " +
             Role("name: decode, replicas: 9223372036854775807")),
       {}},
      {"more pods than the plugin counts",
       Storm(Role("name: prefill, replicas: 2147483647") + ", " +
             Role("name: decode, replicas: 1")),
       {}},
      {"a strategy of the RoleSet makes the PodGroup itself",
       Storm(Role("name: prefill, replicas: 2"),
             "schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 2}}, "),
       {},
       "",
       {},
       "",
       {},
       {{role(0) + kWay + "schedulingStrategy sets the gang size of this PodGroup"}}},
      {"a strategy of a role",
       Storm(Role("name: prefill, replicas: 2, schedulingStrategy: {volcanoSchedulingStrategy: "
                  "{minMember: 2}}")),
       {}},
      {"an empty strategy is none",
       Storm(Role("name: prefill, replicas: 2, schedulingStrategy: {}")),
       {K(role(0), "2")}},
      {"a sibling's value",
       Storm(Role("name: prefill, replicas: 2", "huawei.com/schedule_minAvailable: '1'") + ", " +
             Role("name: decode, replicas: 3")),
       {K(role(1), "1")}},
      {"siblings that differ: which one is meant is not known",
       Storm(Role("name: a, replicas: 2", "huawei.com/schedule_minAvailable: '1'") + ", " +
             Role("name: b, replicas: 3", "huawei.com/schedule_minAvailable: '5'") + ", " +
             Role("name: c, replicas: 1")),
       {},
       "",
       {},
       "",
       {},
       {{role(2) + kWay +
         "the PodGroup already carries different values, and it is unknown which one is "
         "intended"}}},
      {"a sibling's value of another type",
       Storm(Role("name: a, replicas: 2", "huawei.com/schedule_minAvailable: 5") + ", " +
             Role("name: b, replicas: 3")),
       {},
       "",
       {},
       "",
       {},
       {{role(1) + kWay + "the annotation at " + role(0) +
         "/huawei.com~1schedule_minAvailable is not a string"}}},
  });
}

}  // namespace
}  // namespace mindgate::testing
