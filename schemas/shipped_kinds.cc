#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "json/yaml.h"
#include "schemas/config_table.h"
#include "schemas/reading.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

// kuberay: ray-operator/apis/ray/v1/{raycluster,rayjob,rayservice}_types.go. A worker group makes
// replicas times numOfHosts pods, one head stands beside them. With the batch scheduler volcano a
// cluster has one PodGroup, ray-NAME-pg, for all that are wanted, or with autoscaling for the least
// (controllers/ray/batchscheduler/volcano/volcano_scheduler.go); without it Volcano makes one with
// minMember 1, since all pods have the RayCluster as their owner. The object does not show which.
constexpr std::string_view kRay = R"(
- group: ray.io
  version: v1
  kind: RayCluster
  plural: rayclusters
  podGroup: object
  templates:
    - {path: spec.headGroupSpec.template, name: head}
    - {path: "spec.workerGroupSpecs[].template", nameFrom: groupName, pods: {replicas: 0, numOfHosts: 1}}
- group: ray.io
  version: v1
  kind: RayJob
  plural: rayjobs
  framework: job
  makes: [RayCluster.ray.io, Job.batch]
  podGroup: object
  templates:
    - {path: spec.rayClusterSpec.headGroupSpec.template, name: head}
    - {path: "spec.rayClusterSpec.workerGroupSpecs[].template", nameFrom: groupName,
       pods: {replicas: 0, numOfHosts: 1}}
- group: ray.io
  version: v1
  kind: RayService
  plural: rayservices
  framework: deployment
  serves: true
  makes: [RayCluster.ray.io]
  podGroup: object
  templates:
    - {path: spec.rayClusterConfig.headGroupSpec.template, name: head}
    - {path: "spec.rayClusterConfig.workerGroupSpecs[].template", nameFrom: groupName,
       pods: {replicas: 0, numOfHosts: 1}}
)";

// training-operator: pkg/apis/kubeflow.org/v1. The restart policy of a replica spec overwrites that
// of its template (ReplicaSpec in common_types.go). With gang scheduling a job has one PodGroup of
// its name, whose minMember is schedulingPolicy.minAvailable, else all pods
// (pkg/controller.v1/control/podgroup_control.go).
constexpr std::string_view kKubeflow = R"(
- group: kubeflow.org
  version: v1
  kind: PyTorchJob
  plural: pytorchjobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.pytorchReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
- group: kubeflow.org
  version: v1
  kind: TFJob
  plural: tfjobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.tfReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
- group: kubeflow.org
  version: v1
  kind: MPIJob
  plural: mpijobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.mpiReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
- group: kubeflow.org
  version: v1
  kind: XGBoostJob
  plural: xgboostjobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.xgbReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
- group: kubeflow.org
  version: v1
  kind: PaddleJob
  plural: paddlejobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.paddleReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
- group: kubeflow.org
  version: v1
  kind: JAXJob
  plural: jaxjobs
  framework: job
  podGroup: object
  minMember: spec.runPolicy.schedulingPolicy.minAvailable
  templates:
    - {path: "spec.jaxReplicaSpecs{}.template", pods: {replicas: 1}, restartPolicy: restartPolicy}
)";

// jobset: api/jobset/v1alpha2/jobset_types.go. A replicated job makes so many Jobs, each of which
// Volcano makes a PodGroup for, as it does for every Job. What is replicated cannot change
// (pkg/webhooks/jobset_webhook.go). A TrainJob has no template of its own: the trainer makes a
// JobSet of it and of its runtime (trainer: pkg/runtime/framework/plugins/jobset).
constexpr std::string_view kJobSet = R"(
- group: jobset.x-k8s.io
  version: v1alpha2
  kind: JobSet
  plural: jobsets
  framework: job
  templateFrozen: true
  makes: [Job.batch]
  podGroup: template
  templates:
    - {path: "spec.replicatedJobs[].template.spec.template", nameFrom: name,
       pods: {template.spec.parallelism: 1}, copies: {replicas: 1}}
)";

// kthena: pkg/apis/workload/v1alpha1/model_serving_types.go. Each of spec.replicas serving groups
// has replicas of every role, and each of these one entry pod and workerReplicas workers
// (pkg/model-serving-controller/utils). It overwrites schedulerName of all pods, and makes a
// PodGroup for a serving group that asks for a gang (podgroupmanager/manager.go).
constexpr std::string_view kKthena = R"(
- group: workload.serving.volcano.sh
  version: v1alpha1
  kind: ModelServing
  plural: modelservings
  framework: deployment
  serves: true
  namesScheduler: true
  podGroup: object
  copies: {spec.replicas: 1}
  templates:
    - {path: "spec.template.roles[].entryTemplate", nameFrom: name, name: entry, pods: {replicas: 1}}
    - {path: "spec.template.roles[].workerTemplate", nameFrom: name, name: worker,
       pods: {replicas: 1, workerReplicas: 0}}
)";

// kserve: pkg/apis/serving/v1beta1/{component,podspec,predictor}.go: a predictor is a pod spec,
// with the model's container beside the others, and labels and annotations for its pods, which also
// get those of the service (pkg/controller/v1beta1/inferenceservice/components/predictor.go).
// pkg/apis/serving/v1alpha1/llm_inference_service_types.go: with a worker there are groups of
// several pods (a LeaderWorkerSet), whose size follows from the parallelism.
constexpr std::string_view kKServe = R"(
- group: serving.kserve.io
  version: v1beta1
  kind: InferenceService
  plural: inferenceservices
  framework: deployment
  serves: true
  passesMetadataOn: true
  makes: [Deployment.apps]
  podGroup: pods
  templates:
    - {path: spec.predictor, podSpec: true, labels: spec.predictor.labels,
       annotations: spec.predictor.annotations, container: model, name: predictor,
       pods: {spec.predictor.minReplicas: 1}}
    - {path: spec.predictor.workerSpec, podSpec: true, labels: spec.predictor.labels,
       annotations: spec.predictor.annotations, name: worker, unknownPods: true}
- group: serving.kserve.io
  version: v1alpha1
  kind: LLMInferenceService
  plural: llminferenceservices
  framework: deployment
  serves: true
  makes: [Deployment.apps, LeaderWorkerSet.leaderworkerset.x-k8s.io]
  podGroup: pods
  templates:
    - {path: spec.template, podSpec: true, labels: spec.labels, annotations: spec.annotations,
       name: main, pods: {spec.replicas: 1}}
    - {path: spec.worker, podSpec: true, labels: spec.labels, annotations: spec.annotations,
       name: worker, unknownPods: true}
    - {path: spec.prefill.template, podSpec: true, labels: spec.prefill.labels,
       annotations: spec.prefill.annotations, name: prefill, pods: {spec.prefill.replicas: 1}}
    - {path: spec.prefill.worker, podSpec: true, labels: spec.prefill.labels,
       annotations: spec.prefill.annotations, name: prefill worker, unknownPods: true}
)";

// kruise: apis/apps/v1alpha1/cloneset_types.go. Its pods have the CloneSet as their owner.
constexpr std::string_view kKruise = R"(
- group: apps.kruise.io
  version: v1alpha1
  kind: CloneSet
  plural: clonesets
  framework: deployment
  serves: true
  podGroup: pods
  templates:
    - {path: spec.template, pods: {spec.replicas: 1}}
)";

constexpr std::array<ShippedKinds, 6> kShipped = {{
    {"ray", "KubeRay", kRay},
    {"kubeflow", "Kubeflow Training Operator v1", kKubeflow},
    {"jobset", "JobSet, and the TrainJobs of Kubeflow Trainer", kJobSet},
    {"kthena", "kthena", kKthena},
    {"kserve", "KServe", kKServe},
    {"kruise", "OpenKruise", kKruise},
}};

}  // namespace

std::span<const ShippedKinds> AllShippedKinds() { return kShipped; }

std::vector<SiteKind> ShippedKindsNamed(std::string_view name) {
  const auto* const shipped = std::ranges::find(kShipped, name, &ShippedKinds::name);
  if (shipped == kShipped.end()) return {};
  const auto documents = json::DecodeYaml(shipped->rows);
  if (!documents) throw std::logic_error("shipped kinds: " + documents.error().message);
  const json::YamlDocument& document = documents->front();
  Reading reading(document.value, document.positions);
  std::vector<SiteKind> kinds;
  if (!Read(List(SiteKindTable()), {document.value, "", reading}, kinds)) {
    throw std::logic_error(json::Render(reading.Faults(), "shipped kinds", shipped->rows));
  }
  return kinds;
}

}  // namespace mindgate::schemas
