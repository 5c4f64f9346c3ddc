#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "schemas/children.h"
#include "schemas/config.h"
#include "schemas/site_kinds.h"
#include "schemas/workload.h"
#include "support/objects.h"

// Views of objects of kinds of mindgate.yaml.
namespace mindgate::schemas {
namespace {

using testing::YamlDocument;

SiteKinds KindsIn(const std::string& text) {
  const auto config = LoadConfig(text, {});
  if (!config) ADD_FAILURE() << json::Render(config.error(), "mindgate.yaml", text);
  return config ? config->kinds : SiteKinds();
}

std::string Number(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "?";
}

std::string At(const FieldView& place) {
  return place.path.Text() + (place.wrong_type ? "!" : place.value == nullptr ? "-" : "");
}

// What the adapter decides: templates with where their parts are, groups, faults of types.
std::vector<std::string> LinesOf(const WorkloadView& view) {
  std::vector<std::string> lines;
  for (const PodTemplateView& pod : view.templates) {
    std::string line = "pod '" + std::string(pod.name) + "' x" + Number(pod.pods) + " labels " +
                       At(pod.labels) + " spec " + At(pod.pod_spec);
    if (pod.annotations.path.Text().empty()) line += " without annotations";
    if (!pod.inherited_labels.empty()) line += " inherits " + At(pod.inherited_labels.front());
    if (!pod.job_scheduler.empty()) line += " by " + std::string(pod.job_scheduler);
    line += " restart " + std::string(pod.restart_policy.value.value_or("?"));
    for (const ContainerView& container : pod.containers) {
      line += " [" + std::string(container.path) + (container.RequestsNpus() ? " NPUs]" : "]");
    }
    lines.push_back(std::move(line));
  }
  for (const PodGroupView& group : view.pod_groups) {
    std::string line = group.owner == PodGroupOwner::kSiteGang   ? "gang"
                       : group.owner == PodGroupOwner::kSitePods ? "pods"
                                                                 : "other";
    line += " '" + std::string(group.name) + "' of";
    for (const size_t index : group.templates) line += " " + std::to_string(index);
    line += " x" + std::to_string(CountOf(view, group)) + " minMember " + Number(group.min_member);
    lines.push_back(std::move(line));
  }
  for (const WrongType& wrong : view.wrong_types) {
    lines.push_back("wrong " + std::string(wrong.path) + " for " + std::string(wrong.wanted));
  }
  if (view.excess) lines.push_back("excess " + std::string(view.excess->path));
  return lines;
}

struct SiteCase {
  std::string name;
  SiteKinds kinds;
  std::string object;
  std::vector<std::string> want;
};

void ExpectLines(const std::vector<SiteCase>& cases) {
  for (const SiteCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object = YamlDocument(c.object);
    const auto view = BuildView(object.root(), nullptr, {.kinds = c.kinds});
    ASSERT_TRUE(view);
    EXPECT_EQ(view->kind, Kind::kSite);
    EXPECT_EQ(LinesOf(*view), c.want);
  }
}

SiteKinds Shipped(std::string_view name) { return SiteKinds(ShippedKindsNamed(name)); }

TEST(SiteView, TemplatesAreWhereTheRowStates) {
  const std::string pod =
      "{spec: {containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 8}}}]}}";
  ExpectLines({
      {"one place and a list",
       Shipped("ray"),
       "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, spec: {headGroupSpec: "
       "{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: h}]}}}, "
       "workerGroupSpecs: [{groupName: w, replicas: 2, numOfHosts: 4, template: " +
           pod + "}, {replicas: 1, template: " + pod + "}, {groupName: none, template: " + pod +
           "}]}}",
       {"pod 'head' x1 labels /spec/headGroupSpec/template/metadata/labels spec "
        "/spec/headGroupSpec/template/spec restart ? "
        "[/spec/headGroupSpec/template/spec/containers/0]",
        "pod 'w' x8 labels /spec/workerGroupSpecs/0/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/0/template/spec restart ? "
        "[/spec/workerGroupSpecs/0/template/spec/containers/0 NPUs]",
        "pod 'groupName 1' x1 labels /spec/workerGroupSpecs/1/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/1/template/spec restart ? "
        "[/spec/workerGroupSpecs/1/template/spec/containers/0 NPUs]",
        "pod 'none' x0 labels /spec/workerGroupSpecs/2/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/2/template/spec restart ? "
        "[/spec/workerGroupSpecs/2/template/spec/containers/0 NPUs]",
        "gang 'the RayCluster' of 0 1 2 3 x1 minMember ?"}},
      {"a map",
       Shipped("kubeflow"),
       "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p}, spec: {runPolicy: "
       "{schedulingPolicy: {minAvailable: 3}}, pytorchReplicaSpecs: {Master: {restartPolicy: "
       "OnFailure, template: " +
           pod + "}, Worker: {replicas: 3, template: " + pod + "}}}}",
       {"pod 'Master' x1 labels /spec/pytorchReplicaSpecs/Master/template/metadata/labels- spec "
        "/spec/pytorchReplicaSpecs/Master/template/spec restart OnFailure "
        "[/spec/pytorchReplicaSpecs/Master/template/spec/containers/0 NPUs]",
        "pod 'Worker' x3 labels /spec/pytorchReplicaSpecs/Worker/template/metadata/labels- spec "
        "/spec/pytorchReplicaSpecs/Worker/template/spec restart ? "
        "[/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0 NPUs]",
        "gang 'the PyTorchJob' of 0 1 x1 minMember 3"}},
      {"a list, with a PodGroup for each Job",
       Shipped("jobset"),
       "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: j}, spec: "
       "{replicatedJobs: [{name: w, replicas: 3, template: {spec: {parallelism: 2, template: " +
           pod + "}}}]}}",
       {"pod 'w' x2 labels /spec/replicatedJobs/0/template/spec/template/metadata/labels- spec "
        "/spec/replicatedJobs/0/template/spec/template/spec restart ? "
        "[/spec/replicatedJobs/0/template/spec/template/spec/containers/0 NPUs]",
        "gang 'the pods of w' of 0 x3 minMember ?"}},
      {"several templates of one item",
       Shipped("kthena"),
       "{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, metadata: {name: "
       "m}, spec: {replicas: 2, schedulerName: volcano, template: {roles: [{name: decode, "
       "replicas: 2, "
       "workerReplicas: 3, entryTemplate: " +
           pod + ", workerTemplate: " + pod + "}]}}}",
       {"pod 'decode.entry' x2 labels /spec/template/roles/0/entryTemplate/metadata/labels- spec "
        "/spec/template/roles/0/entryTemplate/spec by volcano restart ? "
        "[/spec/template/roles/0/entryTemplate/spec/containers/0 NPUs]",
        "pod 'decode.worker' x6 labels /spec/template/roles/0/workerTemplate/metadata/labels- spec "
        "/spec/template/roles/0/workerTemplate/spec by volcano restart ? "
        "[/spec/template/roles/0/workerTemplate/spec/containers/0 NPUs]",
        "gang 'the ModelServing' of 0 1 x2 minMember ?"}},
      {"a pod spec with a container of its own",
       Shipped("kserve"),
       "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: i, "
       "labels: {a: b}}, spec: {predictor: {minReplicas: 2, model: {modelFormat: {name: x}, "
       "resources: "
       "{limits: {huawei.com/Ascend910: 1}}}}}}",
       {"pod 'predictor' x2 labels /spec/predictor/labels- spec /spec/predictor inherits "
        "/metadata/labels restart ? [/spec/predictor/model NPUs]",
        "pods 'the pods of predictor' of 0 x1 minMember 1"}},
      {"pod specs and how many pods nobody knows",
       Shipped("kserve"),
       "{apiVersion: serving.kserve.io/v1alpha1, kind: LLMInferenceService, metadata: {name: l}, "
       "spec: {replicas: 2, labels: {a: b}, template: {containers: [{name: main}]}, worker: "
       "{containers: [{name: main}]}, prefill: {template: {}}}}",
       {"pod 'main' x2 labels /spec/labels spec /spec/template restart ? "
        "[/spec/template/containers/0]",
        "pod 'worker' x? labels /spec/labels spec /spec/worker restart ? "
        "[/spec/worker/containers/0]",
        "pod 'prefill' x1 labels /spec/prefill/labels- spec /spec/prefill/template restart ?",
        "pods 'the pods of main' of 0 x1 minMember 1",
        "pods 'the pods of worker' of 1 x1 minMember 1",
        "pods 'the pods of prefill' of 2 x1 minMember 1"}},
      {"a template of the object",
       Shipped("kruise"),
       "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: c}, spec: "
       "{replicas: 4, template: " +
           pod + "}}",
       {"pod '' x4 labels /spec/template/metadata/labels- spec /spec/template/spec restart ? "
        "[/spec/template/spec/containers/0 NPUs]",
        "pods 'the CloneSet' of 0 x1 minMember 1"}},
  });
}

TEST(SiteView, OddObjectsHaveViewsToo) {
  const std::string ray = "{apiVersion: ray.io/v1, kind: RayCluster, ";
  std::string many = ray + "spec: {workerGroupSpecs: [";
  for (int i = 0; i < 1025; ++i) many += "{},";
  ExpectLines({
      {"nothing inside", Shipped("ray"), "{apiVersion: ray.io/v1, kind: RayCluster}", {}},
      {"wrong types on the way",
       Shipped("ray"),
       ray + "spec: {headGroupSpec: 1, workerGroupSpecs: {a: b}}}",
       {"wrong /spec/headGroupSpec for object", "wrong /spec/workerGroupSpecs for list"}},
      {"wrong types of items and counts",
       Shipped("ray"),
       ray + "spec: {workerGroupSpecs: [1, null, {groupName: 2, replicas: x, template: {}}, "
             "{groupName: neg, replicas: -1, template: {}}, {groupName: m, replicas: "
             "9223372036854775807, numOfHosts: 2, template: {spec: 1}}]}}",
       {"pod 'groupName 2' x? labels /spec/workerGroupSpecs/2/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/2/template/spec- restart ?",
        "pod 'neg' x? labels /spec/workerGroupSpecs/3/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/3/template/spec- restart ?",
        "pod 'm' x? labels /spec/workerGroupSpecs/4/template/metadata/labels- spec "
        "/spec/workerGroupSpecs/4/template/spec! restart ?",
        "gang 'the RayCluster' of 0 1 2 x1 minMember ?",
        "wrong /spec/workerGroupSpecs/0 for object",
        "wrong /spec/workerGroupSpecs/2/groupName for string",
        "wrong /spec/workerGroupSpecs/2/replicas for integer",
        "wrong /spec/workerGroupSpecs/4/template/spec for object"}},
      {"more than is read", Shipped("ray"), many + "]}}", {"excess /spec/workerGroupSpecs"}},
      {"wrong types in a map",
       Shipped("kubeflow"),
       "{apiVersion: kubeflow.org/v1, kind: TFJob, spec: {tfReplicaSpecs: {PS: 1, Worker: "
       "{template: {}, restartPolicy: 3}}, runPolicy: {schedulingPolicy: {minAvailable: x}}}}",
       {"pod 'Worker' x1 labels /spec/tfReplicaSpecs/Worker/template/metadata/labels- spec "
        "/spec/tfReplicaSpecs/Worker/template/spec- restart ?",
        "gang 'the TFJob' of 0 x1 minMember ?", "wrong /spec/tfReplicaSpecs/PS for object",
        "wrong /spec/tfReplicaSpecs/Worker/restartPolicy for string",
        "wrong /spec/runPolicy/schedulingPolicy/minAvailable for integer"}},
      {"a wrong type of a pod spec",
       Shipped("kserve"),
       "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, spec: {predictor: {model: "
       "[], labels: 1}}}",
       {"pod 'predictor' x1 labels /spec/predictor/labels! spec /spec/predictor inherits "
        "/metadata/labels- restart ?",
        "pods 'the pods of predictor' of 0 x1 minMember 1",
        "wrong /spec/predictor/labels for object", "wrong /spec/predictor/model for object"}},
  });
}

// Whatever is not in the row stays unknown: no group, pods of one, no scheduler.
TEST(SiteView, AShortRowStatesLittle) {
  const SiteKinds kinds = KindsIn(
      "kinds: [{group: a.io, version: v1, kind: A, plural: as, templates: [{path: "
      "spec.template}]}]");
  ExpectLines({{"ungrouped",
                kinds,
                "{apiVersion: a.io/v1, kind: A, spec: {schedulerName: x, replicas: 3, template: "
                "{spec: {restartPolicy: Never}}}}",
                {"pod '' x1 labels /spec/template/metadata/labels- spec /spec/template/spec "
                 "restart Never"}}});
}

TEST(SiteView, KnowsWhatItsOwnerMakes) {
  const json::Document pod = YamlDocument(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: ray.io/v1, "
      "kind: RayCluster, name: r, controller: true}]}, spec: {containers: []}}");
  const auto with = BuildView(pod.root(), nullptr, {.kinds = Shipped("ray")});
  const auto without = BuildView(pod.root());
  ASSERT_TRUE(with && without);
  EXPECT_TRUE(with->controller_injected);
  EXPECT_FALSE(without->controller_injected);
}

}  // namespace
}  // namespace mindgate::schemas
