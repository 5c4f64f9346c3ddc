#include <gtest/gtest.h>

#include "support/rules.h"

namespace mindgate::testing {
namespace {

// A runtime for separate prefill and decode, one pod an instance.
constexpr char kPdRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: pd}
spec:
  engineConfig:
    runner: {name: sglang-engine, image: a, resources: {limits: {huawei.com/Ascend910: 8}}}
  decoderConfig:
    runner: {name: sglang-decoder, image: a, resources: {limits: {huawei.com/Ascend910: 8}}}
  routerConfig:
    runner: {name: router, image: a}
)";

// Its decoder spans several nodes.
constexpr char kDistributedRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: wide}
spec:
  engineConfig:
    runner: {name: sglang-engine, image: a, resources: {limits: {huawei.com/Ascend910: 8}}}
  decoderConfig:
    leader:
      runner: {name: d, image: a, resources: {limits: {huawei.com/Ascend910: 8}}}
    worker:
      runner: {name: d, image: a, resources: {limits: {huawei.com/Ascend910: 8}}}
)";

constexpr char kGpuRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: pd}
spec:
  engineConfig:
    minReplicas: 1
    runner: {name: e, resources: {limits: {nvidia.com/gpu: 1}}}
  decoderConfig:
    runner: {name: d, resources: {limits: {nvidia.com/gpu: 1}}}
  routerConfig: {}
)";

std::string Isvc(const std::string& spec) {
  return "apiVersion: ome.io/v1beta1\nkind: InferenceService\n"
         "metadata: {name: chat, namespace: llm}\nspec: " +
         spec;
}

std::string Runtime(const std::string& spec) {
  return "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\n"
         "metadata: {name: rt, namespace: llm}\nspec: " +
         spec;
}

constexpr char kChips[] = "resources: {limits: {huawei.com/Ascend910: 8}}";

TEST(OmeDecoderWithoutEngine, Table) {
  ExpectFindings("MG110",
                 {
                     {"decoder alone",
                      Isvc("{model: {name: m}, decoder: {minReplicas: 1}}"),
                      {"spec.engine: spec.decoder is set without spec.engine, which OME refuses"}},
                     {"both", Isvc("{engine: {}, decoder: {}}"), {}},
                     {"a predictor becomes the engine", Isvc("{predictor: {}, decoder: {}}"), {}},
                     {"engine alone", Isvc("{engine: {}}"), {}},
                     {"null decoder is none", Isvc("{decoder: null}"), {}},
                     {"no spec", Isvc("null"), {}},
                     {"spec of the wrong type", Isvc("[1]"), {}},
                 });
}

TEST(OmeDecoderNotNamed, Table) {
  const std::string engine_only = Isvc("{runtime: {name: pd}, engine: {minReplicas: 1}}");
  ExpectFindings(
      "MG111",
      {
          {"the runtime has a decoder",
           engine_only,
           {"spec.decoder: no decoder is deployed: the runtime \"pd\" defines one, but OME makes "
            "only components that the service names"},
           "",
           {kPdRuntime}},
          {"named", Isvc("{runtime: {name: pd}, engine: {}, decoder: {}}"), {}, "", {kPdRuntime}},
          {"runtime without decoder",
           Isvc("{runtime: {name: pd}, engine: {}}"),
           {},
           "",
           {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: pd}, spec: "
            "{engineConfig: {runner: {name: e, " +
            std::string(kChips) + "}}}}"}},
          {"GPUs", engine_only, {}, "", {kGpuRuntime}},
          {"unknown runtime", engine_only, {}, "", {}, true, true},
          {"no lookup at all", engine_only, {}, "", {}, false, true},
          {"OME picks the runtime", Isvc("{engine: {}}"), {}, "", {kPdRuntime}, true, true},
      });
}

TEST(OmeRouterNotNamed, Table) {
  const std::string without = Isvc("{runtime: {name: pd}, engine: {}, decoder: {}}");
  ExpectFindings(
      "MG112",
      {
          {"prefill and decode without router",
           without,
           {"spec.router: no router is deployed, so nothing pairs prefill with decode: the service "
            "does not name the router that its runtime \"pd\" defines"},
           "",
           {kPdRuntime}},
          {"named",
           Isvc("{runtime: {name: pd}, engine: {}, decoder: {}, router: {}}"),
           {},
           "",
           {kPdRuntime}},
          {"an engine alone needs none",
           Isvc("{runtime: {name: pd}, engine: {}}"),
           {},
           "",
           {kPdRuntime}},
          {"the runtime has no router",
           Isvc("{runtime: {name: wide}, engine: {}, decoder: {}}"),
           {},
           "",
           {kDistributedRuntime}},
          {"GPUs", without, {}, "", {kGpuRuntime}},
          {"unknown runtime", without, {}, "", {}, true, true},
      });
}

TEST(OmeComponentShape, Table) {
  const std::string runner = "runner: {name: e, " + std::string(kChips) + "}";
  ExpectFindings(
      "MG113",
      {
          {"runner and scheduler beside a leader in a runtime",
           Runtime("{engineConfig: {schedulerName: volcano, " + runner + ", leader: {" + runner +
                   "}, worker: {" + runner + "}}}"),
           {"spec.engineConfig.runner: OME ignores runner beside a leader: the engine takes it "
            "from leader and worker",
            "spec.engineConfig.schedulerName: OME ignores schedulerName beside a leader: the "
            "engine takes it from leader and worker"}},
          {"leader and worker alone",
           Runtime("{decoderConfig: {leader: {" + runner + "}, worker: {" + runner + "}}}"),
           {}},
          {"worker without leader: the component itself is the leader",
           Runtime("{engineConfig: {schedulerName: volcano, " + runner + ", worker: {" + runner +
                   "}}}"),
           {}},
          {"deploy tool D20: one pod over a distributed runtime",
           Isvc("{runtime: {name: wide}, engine: {}, decoder: {schedulerName: volcano, " + runner +
                ", worker: {size: 1}}}"),
           {"spec.decoder.runner: OME ignores this runner: the runtime makes the decoder a leader "
            "with workers, and they have their own",
            "spec.decoder.schedulerName: OME ignores this schedulerName: the runtime makes the "
            "decoder a leader with workers, and they have their own"},
           "",
           {kDistributedRuntime}},
          {"deploy tool D20: several pods over a standalone runtime",
           Isvc("{runtime: {name: pd}, engine: {}, decoder: {leader: {" + runner +
                "}, worker: {size: 1, " + runner + "}}}"),
           {"spec.decoder.leader: the runtime's decoder is a single pod: with a leader OME drops "
            "the runtime's runner"},
           "",
           {kPdRuntime}},
          {"unknown runtime",
           Isvc("{runtime: {name: x}, engine: {" + runner + "}}"),
           {},
           "",
           {},
           true,
           true},
          {"matching shapes",
           Isvc("{runtime: {name: pd}, engine: {" + runner + "}}"),
           {},
           "",
           {kPdRuntime}},
          {"GPUs",
           Runtime("{engineConfig: {schedulerName: volcano, leader: {runner: {name: e}}}}"),
           {}},
      });
}

TEST(OmeRunnerName, Table) {
  ExpectFindings(
      "MG114",
      {
          {"runner without name",
           Isvc("{runtime: {name: pd}, engine: {runner: {image: b}}}"),
           {"spec.engine.runner.name: the engine runner has no name: OME makes a container with an "
            "empty name, which Kubernetes refuses"},
           "",
           {kPdRuntime}},
          {"the router's too",
           Isvc("{engine: {runner: {name: e, " + std::string(kChips) +
                "}}, router: {runner: {image: b}}}"),
           {"spec.router.runner.name: the router runner has no name: OME makes a container with an "
            "empty name, which Kubernetes refuses"}},
          {"named", Isvc("{engine: {runner: {name: e, " + std::string(kChips) + "}}}"), {}},
          {"no runner", Isvc("{runtime: {name: pd}, engine: {}}"), {}, "", {kPdRuntime}},
          {"GPUs", Isvc("{runtime: {name: pd}, engine: {runner: {}}}"), {}, "", {kGpuRuntime}},
          {"runner of the wrong type", Isvc("{engine: {runner: [1]}}"), {}},
      });
}

TEST(OmeServerless, Table) {
  const std::string runner = "runner: {name: e, " + std::string(kChips) + "}";
  ExpectFindings(
      "MG115",
      {
          {"scale to zero",
           Isvc("{engine: {minReplicas: 0, " + runner + "}, decoder: {minReplicas: 1}}"),
           {"spec.engine.minReplicas: minReplicas 0 lets the engine scale to zero through Knative "
            "or an autoscaler, where neither gangs nor fault rescheduling are defined for NPUs"}},
          {"modes of the runtime",
           Runtime("{engineConfig: {annotations: {ome.io/deploymentMode: MultiNodeRayVLLM}, " +
                   runner + "}}"),
           {"spec.engineConfig.annotations[ome.io/deploymentMode]: deployment mode "
            "\"MultiNodeRayVLLM\" of the engine is not supported with NPUs: MindCluster knows "
            "Deployments and LeaderWorkerSets only"}},
          {"supported mode",
           Isvc("{engine: {annotations: {ome.io/deploymentMode: RawDeployment}, " + runner + "}}"),
           {}},
          {"minReplicas absent is 1", Isvc("{engine: {" + runner + "}}"), {}},
          {"the router may go", Isvc("{engine: {" + runner + "}, router: {minReplicas: 0}}"), {}},
          {"GPUs", Isvc("{engine: {minReplicas: 0}}"), {}},
          {"opted in",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: c, labels: "
           "{mindgate.io/inject: enabled}}, spec: {engine: {minReplicas: 0}}}",
           {"spec.engine.minReplicas: minReplicas 0 lets the engine scale to zero through Knative "
            "or an autoscaler, where neither gangs nor fault rescheduling are defined for NPUs"}},
      });
}

TEST(OmeWorkerSize, Table) {
  const std::string worker =
      "worker: {runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}";
  const std::string message =
      "spec.decoder.worker.size: the worker of the decoder has no size, so OME makes a leader and "
      "no worker pods";
  ExpectFindings(
      "MG116",
      {
          {"neither runtime nor service",
           Isvc("{runtime: {name: wide}, engine: {}, decoder: {}}"),
           {message},
           "",
           {kDistributedRuntime}},
          {"a worker of the service",
           Isvc("{runtime: {name: pd}, decoder: {" + worker + "}}}"),
           {message},
           "",
           {kPdRuntime}},
          {"the service gives the size",
           Isvc("{runtime: {name: wide}, engine: {}, decoder: {worker: {size: 3}}}"),
           {},
           "",
           {kDistributedRuntime}},
          {"unknown runtime",
           Isvc("{runtime: {name: x}, decoder: {" + worker + "}}}"),
           {},
           "",
           {},
           true,
           true},
          {"no worker", Isvc("{runtime: {name: pd}, engine: {}}"), {}, "", {kPdRuntime}},
          {"GPUs", Isvc("{runtime: {name: pd}, engine: {worker: {}}}"), {}, "", {kGpuRuntime}},
      });
}

TEST(OmeLegacyRuntimeFields, Table) {
  const std::string containers = "containers: [{name: c, " + std::string(kChips) + "}]";
  const std::string message = " directly under spec: no pod of this runtime gets it";
  ExpectFindings("MG117",
                 {
                     {"beside the old containers",
                      Runtime("{schedulerName: volcano, workers: {size: 1}, " + containers + "}"),
                      {"spec.schedulerName: OME ignores schedulerName" + message,
                       "spec.workers: OME ignores workers" + message}},
                     {"beside a component",
                      Runtime("{schedulerName: volcano, engineConfig: {runner: {name: e, " +
                              std::string(kChips) + "}}}"),
                      {"spec.schedulerName: OME ignores schedulerName" + message}},
                     {"in the component",
                      Runtime("{engineConfig: {schedulerName: volcano, runner: {name: e, " +
                              std::string(kChips) + "}}}"),
                      {}},
                     {"GPUs", Runtime("{schedulerName: volcano, containers: [{name: c}]}"), {}},
                     {"wrong types", Runtime("{schedulerName: 3, containers: {}}"), {}},
                 });
}

TEST(OmeVolcanoQueue, Table) {
  const std::string runner = "runner: {name: e, " + std::string(kChips) + "}";
  ExpectFindings(
      "MG118",
      {
          {"on the component",
           Isvc("{engine: {annotations: {ome.io/volcano-queue: gold}, " + runner + "}}"),
           {"spec.engine.annotations[ome.io/volcano-queue]: Volcano does not read "
            "ome.io/volcano-queue, which only becomes a pod label: the pods go to the default "
            "queue"}},
          {"on the service",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: c, annotations: "
           "{ome.io/volcano-queue: gold}}, spec: {engine: {" +
               runner + "}}}",
           {"metadata.annotations[ome.io/volcano-queue]: Volcano does not read "
            "ome.io/volcano-queue, which only becomes a pod label: the pods go to the default "
            "queue"}},
          {"the real annotation as well",
           Isvc("{engine: {annotations: {ome.io/volcano-queue: gold, "
                "scheduling.volcano.sh/queue-name: gold}, " +
                runner + "}}"),
           {}},
          {"GPUs", Isvc("{engine: {annotations: {ome.io/volcano-queue: gold}}}"), {}},
      });
}

TEST(OmeRuntimeReplicas, Table) {
  ExpectFindings("MG119", {
                              {"a count in the runtime",
                               Runtime("{engineConfig: {minReplicas: 2, runner: {name: e, " +
                                       std::string(kChips) + "}}}"),
                               {"spec.engineConfig.minReplicas: minReplicas of a runtime has no "
                                "effect: OME writes its default into each InferenceService, and "
                                "that wins"}},
                              {"none", kPdRuntime, {}},
                              {"GPUs", kGpuRuntime, {}},
                          });
}

TEST(OmeMergedResources, Table) {
  const std::string runtime = Runtime(
      "{engineConfig: {runner: {name: e, resources: {requests: {huawei.com/Ascend910: 8}, limits: "
      "{huawei.com/Ascend910: 8}}}}, decoderConfig: {leader: {runner: {name: d, resources: "
      "{requests: {huawei.com/Ascend910: 8}}}}, worker: {size: 1}}}");
  const auto service = [](const std::string& component, const std::string& resources) {
    return Isvc("{runtime: {name: rt, kind: ServingRuntime}, " + component +
                "{runner: {name: e, resources: {" + resources + "}}" +
                (component.starts_with("decoder") ? "}}, engine: {}}" : "}}"));
  };
  const std::string end =
      " here, since OME merges resources entry by entry: both must be equal, and the API server "
      "refuses every pod";
  const std::string entry = "[huawei.com/Ascend910]: ";
  ExpectFindings(
      "MG179",
      {
          {.name = "limits over requests of the runtime",
           .object = service("engine: ", "limits: {huawei.com/Ascend910: 16}"),
           .want = {"spec.engine.runner.resources.requests" + entry +
                    "requests are those of the runtime \"rt\", 8, beside limits of 16" + end},
           .others = {runtime}},
          {.name = "requests over limits of the runtime",
           .object = service("engine: ", "requests: {huawei.com/Ascend910: 16}"),
           .want = {"spec.engine.runner.resources.limits" + entry +
                    "limits are those of the runtime \"rt\", 8, beside requests of 16" + end},
           .others = {runtime}},
          {.name = "of a leader",
           .object = service("decoder: {leader: ", "limits: {huawei.com/Ascend910: 16}"),
           .want = {"spec.decoder.leader.runner.resources.requests" + entry +
                    "requests are those of the runtime \"rt\", 8, beside limits of 16" + end},
           .others = {runtime}},
          {.name = "both",
           .object = service("engine: ",
                             "requests: {huawei.com/Ascend910: 16}, limits: "
                             "{huawei.com/Ascend910: 16}"),
           .others = {runtime}},
          {.name = "the same number",
           .object = service("engine: ", "limits: {huawei.com/Ascend910: '8'}"),
           .others = {runtime}},
          {.name = "another resource",
           .object = service("engine: ", "limits: {huawei.com/npu: 16}"),
           .others = {runtime}},
          {.name = "a runtime that is not known",
           .object = service("engine: ", "limits: {huawei.com/Ascend910: 16}")},
          {.name = "a runner that OME leaves out",
           .object = Isvc("{runtime: {name: rt, kind: ServingRuntime}, engine: {}, decoder: "
                          "{runner: {name: d, resources: {limits: {huawei.com/Ascend910: 16}}}}}"),
           .others = {runtime}},
      });
}

TEST(OmeRuntimeExists, Table) {
  const auto named = [](const std::string& runtime) {
    return Isvc("{runtime: {" + runtime + "}, engine: {}}");
  };
  const auto runtime = [](const std::string& kind, const std::string& metadata) {
    return "{apiVersion: ome.io/v1beta1, kind: " + kind + ", metadata: {" + metadata +
           "}, spec: {}}";
  };
  const std::string effect = ": OME makes no pods of this service until it is there";
  const std::string cluster = "spec.runtime.name: ClusterServingRuntime \"llama-rt\" is missing";
  const std::string of_ns =
      "spec.runtime.name: ServingRuntime \"llama-rt\" of namespace \"llm\" is missing";
  ExpectFindings(
      "MG165",
      {
          {"absent", named("name: llama-rt"), {cluster + effect}, "", {}, true},
          {"there",
           named("name: llama-rt"),
           {},
           "",
           {runtime("ClusterServingRuntime", "name: llama-rt")}},
          {"OME falls back to one of the namespace",
           named("name: llama-rt"),
           {},
           "",
           {runtime("ServingRuntime", "name: llama-rt, namespace: llm")}},
          {.name = "but not to one of another, known or not",
           .object = named("name: llama-rt"),
           .want = {cluster + ", but there is one in namespace \"other\"" + effect},
           .others = {runtime("ServingRuntime", "name: llama-rt, namespace: other")},
           .incomplete = true},
          {.name = "nor from the namespace to the cluster",
           .object = named("name: llama-rt, kind: ServingRuntime"),
           .want = {of_ns + ", but there is a ClusterServingRuntime of that name" + effect},
           .others = {runtime("ClusterServingRuntime", "name: llama-rt")},
           .incomplete = true},
          {.name = "a near name",
           .object = named("name: llama-rt"),
           .want = {cluster + ", but there is \"lama-rt\"" + effect},
           .others = {runtime("ClusterServingRuntime", "name: lama-rt")},
           .incomplete = true},
          {.name = "another size of the model is not a misspelling",
           .object = named("name: llama-70b-rt"),
           .others = {runtime("ClusterServingRuntime", "name: llama-7b-rt")},
           .want_skipped = true,
           .incomplete = true},
          {"OME picks it by the model", Isvc("{model: {name: m}, engine: {}}"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
