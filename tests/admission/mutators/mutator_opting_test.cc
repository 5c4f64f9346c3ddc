#include "support/mutations.h"

// Who is injected at all: labels, namespaces, configuration, owners.
namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Config;
using schemas::Kind;
using schemas::KindInfo;

std::string With(Json object, const char* label, const char* ns = nullptr) {
  if (label != nullptr) object["metadata"]["labels"]["mindgate.io/inject"] = label;
  if (ns != nullptr) object["metadata"]["namespace"] = ns;
  return object.dump();
}

// The lines that one request gets, for tests that ask only whether there are any.
bool IsInjected(const std::string& object, const std::string& namespace_label = "",
                const Config& config = {}, std::string* why_not = nullptr) {
  const json::Document tree = YamlDocument(object);
  schemas::AdmissionRequest request;
  request.object = &tree.root();
  if (!namespace_label.empty()) request.namespace_labels["mindgate.io/inject"] = namespace_label;
  const auto verdict = MutateOnly(request, config);
  EXPECT_NE(verdict.outcome, admission::Outcome::kError);
  if (why_not != nullptr && verdict.withheld.size() == 1) *why_not = verdict.withheld[0].reason;
  return !verdict.patch.empty();
}

TEST(Opting, LabelOnTheObject) {
  for (Kind kind : KindsWithTemplates()) {
    SCOPED_TRACE(std::string(KindName(kind)) + " of " + std::string(schemas::InfoOf(kind).group));
    const Json npus = Workload(kind, {NpuContainer()});
    const Json none = Workload(kind, {CpuContainer()});
    EXPECT_TRUE(IsInjected(With(npus, nullptr)));
    EXPECT_FALSE(IsInjected(With(npus, "disabled")));
    EXPECT_TRUE(IsInjected(With(npus, "enabled")));
    EXPECT_FALSE(IsInjected(With(none, nullptr)));
    EXPECT_TRUE(IsInjected(With(none, "enabled")));
    EXPECT_FALSE(IsInjected(With(none, "Enabled"))) << "only the exact word";
    EXPECT_TRUE(IsInjected(With(npus, "nonsense"))) << "an unknown word switches nothing off";
  }
}

// MindCluster itself ships an RDMA device: a pod with nothing else runs under any scheduler, and
// under Volcano never, as the NPU plugin has no handler for it.
TEST(Opting, OnlyNpusCountNotOtherDevicesOfTheirDomain) {
  for (Kind kind : KindsWithTemplates()) {
    SCOPED_TRACE(std::string(KindName(kind)) + " of " + std::string(schemas::InfoOf(kind).group));
    for (const char* device : {"huawei.com/ub_rdma", "huawei.com/rdma_dev", "huawei.com/dpu"}) {
      EXPECT_FALSE(IsInjected(Workload(kind, {NpuContainer(device)}).dump())) << device;
    }
    for (const char* npu :
         {"huawei.com/Ascend310P", "huawei.com/Ascend910-4c", "huawei.com/npu-core",
          "huawei.com/npu", "huawei.com/ascend910", "huawei.com/Ascend-910"}) {
      EXPECT_TRUE(IsInjected(Workload(kind, {NpuContainer(npu)}).dump())) << npu;
    }
  }
}

TEST(Opting, Namespaces) {
  Config off;
  off.namespaces = {{"kept", true, {}}, {"ke*", false, {}}, {"other", false, {}}};
  const Json object = Workload(Kind::kDeployment, {NpuContainer()});
  std::string why;
  EXPECT_FALSE(IsInjected(With(object, nullptr), "disabled", {}, &why));
  EXPECT_EQ(why, "its namespace is labelled mindgate.io/inject: disabled");
  EXPECT_TRUE(IsInjected(With(object, "enabled"), "disabled")) << "the object's own word is nearer";
  EXPECT_TRUE(IsInjected(With(object, nullptr), "enabled"));
  EXPECT_FALSE(IsInjected(With(object, "disabled"), "enabled"));
  EXPECT_FALSE(IsInjected(With(Workload(Kind::kDeployment, {CpuContainer()}), nullptr), "enabled"))
      << "a namespace opts nobody in";
  EXPECT_FALSE(IsInjected(With(object, nullptr, "other"), "", off, &why));
  EXPECT_EQ(why, "injection is disabled for its namespace in mindgate.yaml");
  EXPECT_TRUE(IsInjected(With(object, nullptr, "kept"), "", off))
      << "the first that matches counts";
  EXPECT_FALSE(IsInjected(With(object, nullptr, "kept-not"), "", off));
  EXPECT_TRUE(IsInjected(With(object, "enabled", "other"), "", off));
  EXPECT_TRUE(IsInjected(With(object, nullptr, "third"), "", off));
}

TEST(Opting, TheNamespaceOfTheRequestCountsWhenTheObjectNamesNone) {
  Config off;
  off.namespaces = {{"other", false, {}}};
  const json::Document object(Workload(Kind::kDeployment, {NpuContainer()}));
  schemas::AdmissionRequest request;
  request.object = &object.root();
  request.ns = "other";
  EXPECT_TRUE(MutateOnly(request, off).patch.empty());
  request.ns = "another";
  EXPECT_FALSE(MutateOnly(request, off).patch.empty());
}

TEST(Opting, WhatAnOptedInServiceGets) {
  const auto service = [](const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, labels: "
           "{mindgate.io/inject: enabled}}, spec: "
           "{engine: {" +
           engine + "}, router: {minReplicas: 1}}}";
  };
  const std::vector<std::string> labels = {
      "/spec/engine/annotations/huawei.com~1schedule_minAvailable = \"2\"  (min-available)",
      "/spec/engine/labels/fault-scheduling = \"force\"  (fault-scheduling)",
      "/spec/engine/labels/pod-rescheduling = \"on\"  (pod-rescheduling)"};
  std::vector<std::string> with_scheduler = labels;
  with_scheduler.push_back("/spec/engine/schedulerName = \"volcano\"  (scheduler-name)");
  ExpectMutations({
      {"no runner, leader or worker is created", service("minReplicas: 2"), labels},
      {"the scheduler goes into a pod spec that is there",
       service("minReplicas: 2, runner: {name: e}"), with_scheduler},
      {"leader and worker that are there but empty stay so",
       service("minReplicas: 2, leader: {}, worker: {}"),
       {"/spec/engine/labels/fault-retry-times = \"3\"  (fault-retry-times)", labels[1],
        labels[2]}},
  });
}

TEST(Opting, WhatAnOptedInRouterGets) {
  ExpectMutations({
      {"nothing",
       "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {labels: "
       "{mindgate.io/inject: enabled}}, spec: "
       "{routerConfig: {runner: {name: r}}}}",
       {}},
      {"nothing, in AIBrix",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {labels: "
       "{mindgate.io/inject: enabled}}, spec: "
       "{template: {spec: {roles: [{name: routing, replicas: 1, template: {spec: {containers: "
       "[{name: r}]}}}]}}}}",
       {}},
  });
}

Json OwnedBy(Json object, const std::string& api_version, const std::string& kind,
             bool controller = true) {
  object["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "not the controller"}},
                   {{"apiVersion", api_version},
                    {"kind", kind},
                    {"name", "owner"},
                    {"controller", controller}}});
  return object;
}

TEST(Opting, ChildrenOfInjectedControllers) {
  for (Kind owner : KindsWithTemplates()) {
    const KindInfo& info = schemas::InfoOf(owner);
    const std::string version = ApiVersionOf(info);
    for (Kind child : KindsWithTemplates()) {
      if (child == Kind::kReplicaSet) continue;  // see below
      SCOPED_TRACE(std::string(KindName(child)) + " of a " + std::string(info.name));
      const Json object = Workload(child, {NpuContainer()});
      const bool made = schemas::Makes(info, schemas::InfoOf(child));
      std::string why;
      EXPECT_EQ(IsInjected(OwnedBy(object, version, std::string(info.name)).dump(), "", {}, &why),
                !made);
      if (made) {
        EXPECT_EQ(why, "owned by " + std::string(info.name) + " owner, which is injected itself");
      }
      EXPECT_TRUE(IsInjected(OwnedBy(object, version, std::string(info.name), false).dump()))
          << "an owner that is no controller does not make pods";
    }
  }
  EXPECT_TRUE(IsInjected(OwnedBy(Workload(Kind::kDeployment, {NpuContainer()}),
                                 "serving.kserve.io/v1beta1", "InferenceService")
                             .dump()))
      << "a look-alike is not injected at the source";
}

// It would not know its own ReplicaSet again, and make one more, forever.
TEST(Opting, AReplicaSetOfAnyController) {
  const Json object = Workload(Kind::kReplicaSet, {NpuContainer()});
  for (const auto& [version, kind] : std::vector<std::pair<std::string, std::string>>{
           {"apps/v1", "Deployment"}, {"argoproj.io/v1alpha1", "Rollout"}}) {
    std::string why;
    EXPECT_FALSE(IsInjected(OwnedBy(object, version, kind).dump(), "", {}, &why)) << kind;
    EXPECT_EQ(why, "owned by " + kind + " owner, which compares the template with its own");
  }
  EXPECT_TRUE(IsInjected(OwnedBy(object, "apps/v1", "Deployment", false).dump()));
}

// The child of an injected controller is not opted in by itself either: its controller would undo
// it.
TEST(Opting, AnOptedInChildIsStillLeftAlone) {
  EXPECT_FALSE(IsInjected(With(
      OwnedBy(Workload(Kind::kDeployment, {CpuContainer()}), "ome.io/v1beta1", "InferenceService"),
      "enabled")));
}

TEST(Opting, Pods) {
  const std::string env =
      R"(/spec/containers/0/env/- = {"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['huawei.com/Ascend910']"}}}  (visible-devices))";
  const std::string scheduler = "/spec/schedulerName = \"volcano\"  (scheduler-name)";
  const std::string force = "/metadata/labels/fault-scheduling = \"force\"  (fault-scheduling)";
  const std::string on = "/metadata/labels/pod-rescheduling = \"on\"  (pod-rescheduling)";
  const std::string limit =
      "/metadata/annotations/huawei.com~1recover_policy_path = \"pod\"  (recover-policy)";
  const Json pod = Workload(Kind::kPod, {NpuContainer()});
  const Json labelled = Workload(Kind::kPod, {NpuContainer(), Json::object(), {{"a", "b"}}});
  Config retries;
  retries.profiles[static_cast<size_t>(schemas::Framework::kPod)] = {"grace", "", "3"};
  ExpectMutations({
      {"a bare pod", pod.dump(), {env, scheduler}},
      {"a bare pod, whatever its profile says", pod.dump(), {env, scheduler}, "", {}, "", retries},
      {"a bare pod with an owner that is no controller",
       OwnedBy(pod, "v1", "Node", false).dump(),
       {env, scheduler}},
      {"of a controller that nobody knows: like a template",
       OwnedBy(labelled, "kubeflow.org/v1", "PyTorchJob").dump(),
       {limit, force, on, env, scheduler}},
      {"of a DaemonSet: injected with its template",
       OwnedBy(labelled, "apps/v1", "DaemonSet").dump(),
       {}},
      {"of a controller that nobody knows, by its profile",
       OwnedBy(labelled, "kubeflow.org/v1", "PyTorchJob").dump(),
       {"/metadata/labels/fault-retry-times = \"3\"  (fault-retry-times)",
        "/metadata/labels/fault-scheduling = \"grace\"  (fault-scheduling)", env, scheduler},
       "",
       {},
       "",
       retries},
  });
}

TEST(Opting, LookAlikes) {
  for (const char* api_version :
       {"serving.kserve.io/v1beta1", "serving.kserve.io/v1alpha1", "v1", "", "ome.io.example/v1"}) {
    for (const char* kind : {"InferenceService", "ServingRuntime", "ClusterServingRuntime"}) {
      SCOPED_TRACE(std::string(api_version) + " " + kind);
      Json object = Workload(Kind::kClusterServingRuntime, {NpuContainer()});
      object["apiVersion"] = api_version;
      object["kind"] = kind;
      const json::Document laid(object);
      schemas::AdmissionRequest request;
      request.object = &laid.root();
      EXPECT_EQ(MutateOnly(request, Config()).outcome, admission::Outcome::kIgnored);
    }
  }
}

TEST(Opting, MutatorsSwitchedOff) {
  Config none;
  for (const auto& mutator : mutators::Mutators()) none.disabled_mutators.emplace(mutator.name);
  for (Kind kind : KindsWithTemplates()) {
    EXPECT_FALSE(IsInjected(Workload(kind, {NpuContainer()}).dump(), "", none));
  }
}

}  // namespace
}  // namespace mindgate::testing
