#include <array>
#include <string>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

// How OME joins a runtime and an InferenceService into workloads, and what it silently leaves out
// (ome: pkg/controller/v1beta1/inferenceservice/utils/{merging,reconciliation,deployment}.go).
namespace mindgate::policies::ome {
namespace {

using json::Value;

// The components that serve the model. The router runs on CPUs.
struct Component {
  std::string_view name;  // as an InferenceService calls it
  std::string_view runtime_key;
};
constexpr std::array<Component, 2> kComponents = {{
    {"engine", "engineConfig"},
    {"decoder", "decoderConfig"},
}};

const Value* ServiceComponent(const RuleContext& context, std::string_view name) {
  return json::FindPath(*context.view.object, {"spec", name});
}

const Value* RuntimeComponent(const RuleContext& context, std::string_view key) {
  if (context.view.runtime == nullptr) return nullptr;
  return json::FindPath(*context.view.runtime->object, {"spec", key});
}

// A component as the object at hand writes it, with what its runtime says about it.
struct ComponentPlace {
  std::string_view name;
  std::string path;
  const Value* value = nullptr;
  const Value* runtime = nullptr;
};

std::vector<ComponentPlace> ComponentsOf(const RuleContext& context) {
  const bool service = context.view.UsesRuntime();
  std::vector<ComponentPlace> places;
  for (const Component& component : kComponents) {
    const std::string_view key = service ? component.name : component.runtime_key;
    const Value* value = json::FindPath(*context.view.object, {"spec", key});
    if (!json::IsObject(value)) continue;
    places.push_back({component.name, json::Child("/spec", key), value,
                      service ? RuntimeComponent(context, component.runtime_key) : nullptr});
  }
  return places;
}

// True when the service's runtime is known; otherwise the rule is recorded as skipped.
bool KnowsRuntime(const RuleContext& context, Findings& findings) {
  if (context.view.runtime != nullptr) return true;
  const auto reference = schemas::RuntimeOf(*context.view.object);
  findings.Skip(reference ? "needs the runtime " + Quote(reference->name) + ", not known here"
                          : "needs the runtime, which OME picks by the model");
  return false;
}

void CheckRuntimeExists(const RuleContext& context, Findings& findings) {
  if (context.view.runtime != nullptr) return;
  const auto reference = schemas::RuntimeOf(*context.view.object);
  if (!reference || reference->name.empty()) return;
  if (context.request.objects == nullptr) return findings.Skip(std::string(kNeedsRuntime));
  const std::string_view group = schemas::InfoOf(reference->kind).group;
  const std::string_view kind = schemas::KindName(reference->kind);
  const bool namespaced = reference->namespaced();
  const std::string_view other_kind = namespaced ? "ClusterServingRuntime" : "ServingRuntime";
  const std::string_view ns = namespaced ? context.ns() : std::string_view();
  const std::string_view name = reference->name;
  const Reference found = LookUp(context, findings, group, kind, ns, name);
  // OME looks for a ServingRuntime too when the kind is not ServingRuntime itself.
  const auto other = FindMeant(context, group, other_kind, context.ns(), name);
  const bool same_name = other && other->name == name;
  if (same_name && !namespaced && (other->ns.empty() || other->ns == context.ns())) return;
  auto meant = FindMeant(context, group, kind, ns, name);
  if (!meant) meant = other;
  if (!meant && !found.IsAbsent()) return;
  std::string message = std::string(kind) + " " + Quote(name) +
                        (ns.empty() ? "" : " of namespace " + Quote(ns)) + " is missing";
  std::string fix;
  if (same_name && namespaced) {
    message += ", but there is a ClusterServingRuntime of that name";
    fix = "write spec.runtime.kind: ClusterServingRuntime";
  } else if (meant && meant->name == name) {
    message += ", but there is one in namespace " + Quote(meant->ns);
    fix = "write the service's namespace in the runtime, or make it a ClusterServingRuntime";
  } else if (meant) {
    message += ", but there is " + Quote(meant->name);
    fix = "write spec.runtime.name: " + std::string(meant->name);
  } else {
    fix = "create the runtime, or name one that exists";
  }
  findings.Violate("/spec/runtime/name",
                   std::move(message) + ": OME makes no pods of this service until it is there",
                   std::move(fix));
}

void CheckDecoderWithoutEngine(const RuleContext& context, Findings& findings) {
  // OME's defaulter makes an engine of a predictor.
  if (ServiceComponent(context, "decoder") == nullptr ||
      ServiceComponent(context, "engine") != nullptr ||
      ServiceComponent(context, "predictor") != nullptr) {
    return;
  }
  findings.Violate("/spec/engine", "spec.decoder is set without spec.engine, which OME refuses",
                   "add spec.engine, at least `engine: {minReplicas: 1}`");
}

void CheckDecoderNamed(const RuleContext& context, Findings& findings) {
  if (ServiceComponent(context, "engine") == nullptr ||
      ServiceComponent(context, "decoder") != nullptr || !KnowsRuntime(context, findings)) {
    return;
  }
  if (!context.view.IsNpuWorkload() || RuntimeComponent(context, "decoderConfig") == nullptr) {
    return;
  }
  findings.Violate("/spec/decoder",
                   "no decoder is deployed: the runtime " + Quote(context.view.runtime->name) +
                       " defines one, but OME makes only components that the service names",
                   "add spec.decoder, at least `decoder: {minReplicas: 1}`");
}

void CheckRouterNamed(const RuleContext& context, Findings& findings) {
  if (ServiceComponent(context, "engine") == nullptr ||
      ServiceComponent(context, "decoder") == nullptr ||
      ServiceComponent(context, "router") != nullptr || !KnowsRuntime(context, findings)) {
    return;
  }
  if (!context.view.IsNpuWorkload() || RuntimeComponent(context, "routerConfig") == nullptr) return;
  findings.Violate("/spec/router",
                   "no router is deployed, so nothing pairs prefill with decode: the service does "
                   "not name the router that its runtime " +
                       Quote(context.view.runtime->name) + " defines",
                   "add spec.router, at least `router: {minReplicas: 1}`");
}

// What a component with a leader does not use: the leader and the worker have their own.
void CheckIgnoredBesideLeader(const ComponentPlace& component, Findings& findings) {
  const bool own = json::Find(component.value, "leader") != nullptr;
  if (!own && json::Find(component.runtime, "leader") == nullptr) return;
  const std::string name(component.name);
  // Asked for a Deployment, OME uses the engine's own and leaves out leader and worker (ome:
  // pkg/controller/v1beta1/inferenceservice/utils/deployment.go).
  const auto mode_of = [](const Value* value) {
    return json::FindString(json::Find(value, "annotations"), schemas::kOmeDeploymentMode);
  };
  const auto mode =
      mode_of(component.value) ? mode_of(component.value) : mode_of(component.runtime);
  if (name == "engine" && mode == "RawDeployment") return;
  for (std::string_view key : {"runner", "containers", "schedulerName"}) {
    if (json::Find(component.value, key) == nullptr) continue;
    const std::string member(key);
    findings.Violate(json::Child(component.path, key),
                     own ? "OME ignores " + member + " beside a leader: the " + name +
                               " takes it from leader and worker"
                         : "OME ignores this " + member + ": the runtime makes the " + name +
                               " a leader with workers, and they have their own",
                     own ? "move " + member + " into leader and worker"
                         : "write " + member +
                               " under leader and worker, or name a runtime whose " + name +
                               " is a single pod");
  }
}

void CheckRuntimeShape(const ComponentPlace& component, Findings& findings) {
  const Value* runtime = component.runtime;
  const bool single_pod =
      json::Find(runtime, "leader") == nullptr && json::Find(runtime, "worker") == nullptr &&
      (json::Find(runtime, "runner") != nullptr || json::Find(runtime, "containers") != nullptr);
  if (!single_pod || json::Find(component.value, "leader") == nullptr) return;
  const std::string name(component.name);
  findings.Violate(
      json::Child(component.path, "leader"),
      "the runtime's " + name + " is a single pod: with a leader OME drops the runtime's runner",
      "remove leader and worker, or name a runtime whose " + name + " has a leader");
}

void CheckShape(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  for (const ComponentPlace& component : ComponentsOf(context)) {
    CheckIgnoredBesideLeader(component, findings);
    if (!context.view.UsesRuntime()) continue;
    CheckRuntimeShape(component, findings);
    // Whether a runner stands beside the runtime's leader only the runtime shows.
    if (json::Find(component.value, "runner") != nullptr) KnowsRuntime(context, findings);
  }
}

void CheckWorkerSize(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  for (const ComponentPlace& component : ComponentsOf(context)) {
    const Value* worker = json::Find(component.value, "worker");
    const Value* runtime_worker = json::Find(component.runtime, "worker");
    if ((worker == nullptr && runtime_worker == nullptr) || json::Find(worker, "size") != nullptr ||
        json::Find(runtime_worker, "size") != nullptr || !KnowsRuntime(context, findings)) {
      continue;
    }
    findings.Violate(json::Child(json::Child(component.path, "worker"), "size"),
                     "the worker of the " + std::string(component.name) +
                         " has no size, so OME makes a leader and no worker pods",
                     "write the number of worker pods, for example `worker: {size: 1}`");
  }
}

void CheckRunnerName(const RuleContext& context, Findings& findings) {
  for (std::string_view name : {"engine", "decoder", "router"}) {
    const Value* runner = json::Find(ServiceComponent(context, name), "runner");
    if (!json::IsObject(runner) || json::Find(*runner, "name") != nullptr) continue;
    if (!context.view.IsNpuWorkload()) continue;
    std::string_view wanted = "ome-container";
    for (const schemas::PodTemplateView& pod : context.view.templates) {
      if (pod.name != name || pod.runtime == nullptr) continue;
      for (const schemas::ContainerView& container : pod.runtime->containers) {
        if (container.role == schemas::ContainerView::Role::kRunner) wanted = container.name;
      }
    }
    findings.Violate(json::Child("/spec", name) + "/runner/name",
                     "the " + std::string(name) +
                         " runner has no name: OME makes a container with an empty name, which "
                         "Kubernetes refuses",
                     "write the name of the runtime's runner: `name: " + std::string(wanted) + "`");
  }
}

void CheckServerless(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  for (const ComponentPlace& component : ComponentsOf(context)) {
    const std::string name(component.name);
    if (context.view.UsesRuntime() &&
        json::AsInt(json::Find(component.value, "minReplicas")) == 0) {
      findings.Violate(json::Child(component.path, "minReplicas"),
                       "minReplicas 0 lets the " + name +
                           " scale to zero through Knative or an autoscaler, where neither gangs "
                           "nor fault rescheduling are defined for NPUs",
                       "write minReplicas: 1 or more");
    }
    const auto mode =
        json::FindString(json::Find(component.value, "annotations"), schemas::kOmeDeploymentMode);
    if (mode != "Serverless" && mode != "MultiNodeRayVLLM") continue;
    findings.Violate(
        json::Child(json::Child(component.path, "annotations"), schemas::kOmeDeploymentMode),
        "deployment mode " + Quote(*mode) + " of the " + name +
            " is not supported with NPUs: MindCluster knows Deployments and LeaderWorkerSets only",
        "remove the annotation, or write RawDeployment or MultiNode");
  }
}

bool LegacyContainersRequestNpus(const Value* spec) {
  const Value* containers = json::Find(spec, "containers");
  if (!json::IsArray(containers)) return false;
  for (const Value& container : *containers) {
    if (schemas::HasNpuRequests(json::Find(container, "resources"))) return true;
  }
  return false;
}

void CheckLegacyFields(const RuleContext& context, Findings& findings) {
  const Value* spec = json::Find(*context.view.object, "spec");
  if (!context.view.IsNpuWorkload() && !LegacyContainersRequestNpus(spec)) return;
  for (std::string_view key : {"schedulerName", "workers"}) {
    if (json::Find(spec, key) == nullptr) continue;
    findings.Violate(
        json::Child("/spec", key),
        "OME ignores " + std::string(key) + " directly under spec: no pod of this runtime gets it",
        "write it in spec.engineConfig and spec.decoderConfig");
  }
}

void CheckVolcanoQueue(const RuleContext& context, Findings& findings) {
  constexpr std::string_view kOmeQueue = "ome.io/volcano-queue";
  for (const schemas::PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus() && (pod.router || !context.view.IsNpuWorkload())) continue;
    if (pod.Annotation("scheduling.volcano.sh/queue-name")) continue;
    for (const schemas::FieldView* place : {&pod.annotations, &context.view.annotations}) {
      const auto queue = place->Text(kOmeQueue);
      if (!queue) continue;
      findings.Violate(place->path.Child(kOmeQueue),
                       "Volcano does not read ome.io/volcano-queue, which only becomes a pod "
                       "label: the pods go to the default queue",
                       "write scheduling.volcano.sh/queue-name: " + Quote(*queue) +
                           " under annotations of engine and decoder");
    }
  }
}

// One amount that the service writes, and the other that is the runtime's.
void CheckMergedAmount(const RuleContext& context, const schemas::NpuRequest& own,
                       const schemas::NpuRequest& of_runtime, Findings& findings) {
  if (own.request != nullptr && own.limit != nullptr) return;
  const bool limited = own.limit != nullptr;
  const Value* rest = limited ? of_runtime.request : of_runtime.limit;
  const auto amount = schemas::WholeQuantity(rest);
  if (!own.count || !amount || *own.count == *amount) return;
  const std::string_view has = limited ? "limits" : "requests";
  const std::string_view takes = limited ? "requests" : "limits";
  const std::string own_number = std::to_string(*own.count);
  findings.Violate(
      json::Child(std::string(own.container) + "/resources/" + std::string(takes), own.resource),
      std::string(takes) + " are those of the runtime " + Quote(context.view.runtime->name) + ", " +
          std::to_string(*amount) + ", beside " + std::string(has) + " of " + own_number +
          " here, since OME merges resources entry by entry: both must be equal, and the API "
          "server refuses every pod",
      "write " + std::string(own.resource) + ": " + own_number);
}

void CheckMergedResources(const RuleContext& context, Findings& findings) {
  if (context.view.runtime == nullptr) return;
  for (const schemas::PodTemplateView& pod : context.view.templates) {
    // Without a pod spec of its own it takes all from the runtime.
    if (pod.runtime == nullptr || !pod.has_pod_spec) continue;
    for (const schemas::ContainerView& container : pod.containers) {
      if (container.npus.empty()) continue;
      const schemas::ContainerView* base = schemas::RuntimeTwin(pod, container);
      if (base == nullptr) continue;
      for (const schemas::NpuRequest& own : container.npus) {
        for (const schemas::NpuRequest& each : base->npus) {
          if (each.resource == own.resource) CheckMergedAmount(context, own, each, findings);
        }
      }
    }
  }
}

void CheckRuntimeReplicas(const RuleContext& context, Findings& findings) {
  if (!context.view.IsNpuWorkload()) return;
  for (const ComponentPlace& component : ComponentsOf(context)) {
    if (json::Find(component.value, "minReplicas") == nullptr) continue;
    findings.Violate(json::Child(component.path, "minReplicas"),
                     "minReplicas of a runtime has no effect: OME writes its default into each "
                     "InferenceService, and that wins",
                     "write minReplicas in the InferenceService");
  }
}

constexpr Rule kComponentRules[] = {
    {.id = "MG110",
     .name = "ome-decoder-without-engine",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferenceServices,
     .summary = "An InferenceService that has a decoder also has an engine.",
     .why = "OME's own admission refuses a decoder without an engine, and its controller cannot "
            "reconcile such a service. Offline, nothing else reports it before the apply.",
     .fix = "Add spec.engine.",
     .source = "ome: pkg/webhook/admission/isvc/inference_service_validation.go "
               "(validateEngineDecoderConfiguration)",
     .check = CheckDecoderWithoutEngine},
    {.id = "MG111",
     .name = "ome-decoder-not-named",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A service whose runtime defines a decoder names the decoder.",
     .why = "OME makes only the components that the InferenceService itself names. With a runtime "
            "for separate prefill and decode, a service without spec.decoder comes up with prefill "
            "instances alone, and no request is ever answered.",
     .fix = "Add spec.decoder, or name a runtime without decoderConfig. A runtime can serve both "
            "shapes on purpose, hence a warning.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go (MergeDecoderSpec)",
     .check = CheckDecoderNamed},
    {.id = "MG112",
     .name = "ome-router-not-named",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A service with engine and decoder names the router that its runtime defines.",
     .why = "The router pairs prefill with decode instances and is the entry of the service. OME "
            "silently leaves it out when the InferenceService does not name it; the instances then "
            "run but cannot be reached as one service.",
     .fix = "Add spec.router. If you run your own router elsewhere, switch the rule off for the "
            "namespace.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go (MergeRouterSpec)",
     .check = CheckRouterNamed},
    {.id = "MG113",
     .name = "ome-component-shape",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeKinds,
     .summary = "A component is either one pod or a leader with workers, and service and runtime "
                "agree on which.",
     .why = "As soon as the service or the runtime has a leader, OME creates a LeaderWorkerSet and "
            "ignores the component's own runner, containers and schedulerName: image, NPU count "
            "and scheduler written there are lost.",
     .fix = "Write runner and schedulerName once, in the shape that the runtime has.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/deployment.go and "
               "components/engine.go; the vendor's deploy tool does not compare the two either",
     .check = CheckShape},
    {.id = "MG114",
     .name = "ome-runner-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A runner in an InferenceService repeats the name of its runtime's runner.",
     .why = "OME serialises a missing name as an empty one, and the merge overwrites the runtime's "
            "name with it. Kubernetes refuses the Deployment with its nameless container, and no "
            "instance appears. The message is only in OME's log.",
     .fix = "Write the runtime's runner name under runner.name.",
     .source =
         "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go (mergeSpec). The CRD does "
         "not require the name here, so a later OME may keep the runtime's; hence a warning",
     .check = CheckRunnerName},
    {.id = "MG115",
     .name = "ome-serverless",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeKinds,
     .summary = "Components with NPUs run as Deployment or LeaderWorkerSet and keep at least one "
                "instance.",
     .why = "minReplicas 0 and the modes Serverless and MultiNodeRayVLLM bring in Knative or Ray, "
            "whose pods MindCluster does not know: neither gang scheduling nor rescheduling after "
            "a fault is defined for them.",
     .fix = "Write minReplicas: 1 or more and leave ome.io/deploymentMode out.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/deployment.go; MindCluster's "
               "documents describe Deployment and LeaderWorkerSet only",
     .check = CheckServerless},
    {.id = "MG116",
     .name = "ome-worker-size",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "A component with a worker says how many worker pods an instance has.",
     .why = "OME counts a missing worker.size as 0 and makes groups of one leader. The engine "
            "waits for ranks that are never started, although its gang looks complete.",
     .fix =
         "Write worker.size in the service or in its runtime: the pods of an instance minus one.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/components/engine.go. A single leader "
               "may be intended, hence a warning",
     .check = CheckWorkerSize},
    {.id = "MG117",
     .name = "ome-legacy-runtime-fields",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeRuntimes,
     .summary = "Scheduler and workers of a runtime are set in its components.",
     .why = "schedulerName and workers directly under spec belong to an older shape of the "
            "runtime. OME still accepts them but uses neither: the pods go to the default "
            "scheduler, and no worker is made.",
     .fix = "Write them in spec.engineConfig and spec.decoderConfig; for several nodes, in leader "
            "and worker.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go (only resources and "
               "nodeSelector of the old shape are read)",
     .check = CheckLegacyFields},
    {.id = "MG118",
     .name = "ome-volcano-queue",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kOmeKinds,
     .summary = "The queue of NPU components is named where Volcano reads it.",
     .why = "ome.io/volcano-queue only becomes a label of the pods. Volcano and the "
            "LeaderWorkerSet controller read the annotation scheduling.volcano.sh/queue-name; "
            "without it everything goes to the default queue and its quota.",
     .fix = "Write scheduling.volcano.sh/queue-name under annotations of engine and decoder.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/components/base.go; volcano: "
               "pkg/controllers/podgroup/pg_controller_handler.go",
     .check = CheckVolcanoQueue},
    {.id = "MG119",
     .name = "ome-runtime-replicas",
     .severity = Severity::kInfo,
     .default_mode = Mode::kAudit,
     .kinds = schemas::kOmeRuntimes,
     .summary = "Replica counts are set in the InferenceService.",
     .why = "OME's defaulter writes minReplicas 1 into every component of an InferenceService that "
            "has none, and the service's value wins over the runtime's. A count in the runtime has "
            "no effect.",
     .fix = "Write minReplicas in the InferenceService.",
     .source = "ome: pkg/webhook/admission/isvc/inference_service_defaults.go; harmless, and "
               "common in samples, hence only recorded",
     .check = CheckRuntimeReplicas},
    {.id = "MG179",
     .name = "ome-merged-resources",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferenceServices,
     .summary = "A service that changes the NPUs of its runtime writes both requests and limits.",
     .why =
         "OME merges requests and limits of the service over those of the runtime, each entry by "
         "itself. A service with limits of 16 over a runtime with 8 and 8 makes pods with "
         "requests of 8 and limits of 16. Kubernetes wants both to be equal and refuses the "
         "pods, while the service itself is accepted.",
     .fix = "Write the same number under requests and limits of the service. mindgate writes the "
            "requests where it injects.",
     .source = "ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go (MergeEngineSpec, "
               "MergeDecoderSpec, mergeSpec); kubernetes: pkg/apis/core/validation "
               "(ValidateResourceRequirements)",
     .check = CheckMergedResources},
    {.id = "MG165",
     .name = "ome-runtime-exists",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary =
         "The runtime that a service names exists under that name and kind, in its namespace.",
     .why = "OME looks for a ServingRuntime in the service's namespace or a ClusterServingRuntime "
            "of exactly that name. Without it the service has no pods, and mindgate cannot see "
            "that it will use NPUs, so it injects nothing.",
     .fix = "Correct spec.runtime, or create the runtime.",
     .source = "ome: pkg/runtimeselector/fetcher.go (GetRuntime). The runtime may be created after "
               "the service: therefore a warning. Offline it is reported only where a runtime that "
               "was probably meant is among the documents",
     .check = CheckRuntimeExists},
};

}  // namespace

Family ComponentRules() { return kComponentRules; }

}  // namespace mindgate::policies::ome
