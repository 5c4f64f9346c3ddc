#include "schemas/site_kinds.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "json/yaml.h"
#include "schemas/config_table.h"
#include "schemas/reading.h"

namespace mindgate::schemas {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Names of fields in Kubernetes' API conventions, and the longest of them is far shorter.
bool IsFieldName(std::string_view text) {
  constexpr size_t kMaxName = 63;
  return !text.empty() && text.size() <= kMaxName && IsLetter(text.front()) &&
         std::ranges::all_of(
             text, [](char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '-'; });
}

}  // namespace

tl::expected<FieldRoute, std::string> FieldRoute::Read(std::string_view text, bool may_branch) {
  FieldRoute route;
  size_t branches = 0;
  for (std::string_view part : Split(text, '.')) {
    Step step;
    if (part.ends_with("[]") || part.ends_with("{}")) {
      step.each = part.ends_with("[]") ? Each::kItems : Each::kValues;
      part.remove_suffix(2);
      ++branches;
    }
    if (!IsFieldName(part)) {
      return tl::unexpected(Quote(part) + " in " + Quote(text) + " is not the name of a field");
    }
    step.member = part;
    route.steps_.push_back(std::move(step));
  }
  if (route.steps_.size() > kMaxSteps) {
    return tl::unexpected("the path has more than " + std::to_string(kMaxSteps) + " members");
  }
  if (!may_branch && branches > 0) {
    return tl::unexpected<std::string>("[] and {} are only for the path of a template");
  }
  if (branches > kMaxEach)
    return tl::unexpected<std::string>("the path has more than one [] or {}");
  return route;
}

std::string FieldRoute::Text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (!text.empty()) text += '.';
    text += step.member;
    if (step.each == Each::kItems) text += "[]";
    if (step.each == Each::kValues) text += "{}";
  }
  return text;
}

namespace {

// "spec.headGroupSpec.template.metadata.* or spec.workerGroupSpecs[].template.metadata.*".
std::string PodMetadataOf(const SiteKind& kind) {
  std::vector<std::string> places;
  for (const SiteTemplate& each : kind.templates) {
    std::string place = each.path.Text() + ".metadata.*";
    if (each.pod_spec) {
      // Up to the holder, which the routes of the labels start from.
      const std::string path = each.path.Text();
      const size_t holder = path.find_last_of("]}");
      place = holder == std::string::npos ? "" : path.substr(0, holder + 1) + ".";
      place += each.labels.Text();
    }
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return Join(places, " or ");
}

KindInfo InfoOf(const SiteKind& kind, std::string_view pod_metadata) {
  KindInfo info = kAnySiteKind;
  info.group = kind.group;
  info.version = kind.version;
  info.name = kind.kind;
  info.plural = kind.plural;
  info.framework = kind.framework;
  info.template_frozen = kind.template_frozen;
  info.serves = kind.serves;
  info.pod_metadata = pod_metadata;
  if (!kind.passes_metadata_on) info.unread_metadata = {"/metadata"};
  for (const std::string& made : kind.makes) {
    const auto [group, name] = GroupAndKind(made);
    if (const KindInfo* built_in = FindKind(group, name)) {
      info.makes = info.makes | KindSet{built_in->kind};
    }
  }
  info.site = &kind;
  return info;
}

}  // namespace

SiteKinds::SiteKinds(std::vector<SiteKind> kinds) {
  if (kinds.empty()) return;
  auto rows = std::make_shared<std::vector<Row>>();
  rows->reserve(kinds.size());
  for (SiteKind& kind : kinds) {
    std::string pod_metadata = PodMetadataOf(kind);
    Row& row = rows->emplace_back(Row{std::move(kind), std::move(pod_metadata)});
    row.info = InfoOf(row.kind, row.pod_metadata);
  }
  rows_ = std::move(rows);
}

const KindInfo* SiteKinds::Find(std::string_view group, std::string_view kind) const {
  if (empty()) return nullptr;
  const auto found = std::ranges::find_if(
      *rows_, [&](const Row& row) { return row.kind.kind == kind && row.kind.group == group; });
  return found == rows_->end() ? nullptr : &found->info;
}

bool SiteKinds::operator==(const SiteKinds& other) const {
  if (rows_ == other.rows_) return true;
  if (size() != other.size()) return false;
  return std::ranges::equal(*rows_, *other.rows_, {}, &Row::kind, &Row::kind);
}

const KindInfo* FindKind(std::string_view group, std::string_view kind, const SiteKinds& site) {
  const KindInfo* const built_in = FindKind(group, kind);
  return built_in != nullptr ? built_in : site.Find(group, kind);
}

const KindInfo* FindKind(const json::Value& object, const SiteKinds& site) {
  const auto api_version = json::FindString(object, "apiVersion");
  const auto kind = json::FindString(object, "kind");
  return api_version && kind ? FindKind(GroupOf(*api_version), *kind, site) : nullptr;
}

bool Makes(const KindInfo& owner, const KindInfo& made) {
  if (made.site == nullptr) return owner.makes.Has(made.kind);
  return owner.site != nullptr &&
         std::ranges::find(owner.site->makes, made.site->TypeName()) != owner.site->makes.end();
}

bool Makes(std::string_view owner_group, std::string_view owner_kind, const KindInfo& made,
           const SiteKinds& site) {
  const KindInfo* const owner = FindKind(owner_group, owner_kind, site);
  return owner != nullptr && Makes(*owner, made);
}

std::pair<std::string_view, std::string_view> GroupAndKind(std::string_view type_name) {
  const size_t dot = type_name.find('.');
  if (dot == std::string_view::npos) return {"", type_name};
  return {type_name.substr(dot + 1), type_name.substr(0, dot)};
}

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
  ReadContext reading(document.value, document.positions);
  std::vector<SiteKind> kinds;
  if (!Read(List(SiteKindTable()), {document.value, "", reading}, kinds)) {
    throw std::logic_error(json::Render(reading.Faults(), "shipped kinds", shipped->rows));
  }
  return kinds;
}

}  // namespace mindgate::schemas
