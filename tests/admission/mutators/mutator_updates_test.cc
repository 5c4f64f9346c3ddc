#include "support/mutations.h"

// What an UPDATE may change: a template that the user did not touch stays byte for byte, or the
// update would start a rollout.
namespace mindgate::testing {
namespace {

using json::Json;
using schemas::AdmissionRequest;
using schemas::Config;
using schemas::Kind;
using schemas::Operation;

Json Mutated(const Json& tree, const Json* old_tree = nullptr) {
  const json::Document object(tree);
  const json::Document old_object(old_tree == nullptr ? Json() : *old_tree);
  AdmissionRequest request;
  request.object = &object.root();
  if (old_tree != nullptr) request.old_object = &old_object.root();
  if (old_tree != nullptr) request.operation = Operation::kUpdate;
  const auto verdict = MutateOnly(request, Config());
  return After(verdict, object.root());
}

Json WithNpus(Kind kind) { return Workload(kind, {NpuContainer()}); }

std::string NameOf(Kind kind) {
  return std::string(KindName(kind)) + " of " + std::string(schemas::InfoOf(kind).group);
}

TEST(Updates, FrozenTemplatesAreNeverTouched) {
  std::vector<Kind> frozen;
  for (Kind kind : KindsWithTemplates()) {
    if (!schemas::InfoOf(kind).template_frozen) continue;
    frozen.push_back(kind);
    SCOPED_TRACE(NameOf(kind));
    const Json stored = WithNpus(kind);
    Json changed = stored;
    changed["metadata"]["labels"]["x"] = "y";
    changed["spec"]["schedulerName"] = "";
    EXPECT_EQ(Mutated(changed, &stored), changed);
    EXPECT_NE(Mutated(stored), stored) << "it would have been injected on CREATE";
  }
  EXPECT_EQ(frozen, (std::vector<Kind>{Kind::kVolcanoJob, Kind::kJob, Kind::kPod}));
}

// A workload from before mindgate: only its owner decides when it rolls.
TEST(Updates, MetadataOfAnOldObject) {
  for (Kind kind : KindsWithTemplates()) {
    SCOPED_TRACE(NameOf(kind));
    const Json stored = WithNpus(kind);
    Json changed = stored;
    changed["metadata"]["annotations"]["note"] = "x";
    changed["metadata"]["finalizers"] = {"a/b"};
    changed["status"]["phase"] = "Running";
    EXPECT_EQ(Mutated(changed, &stored), changed);
  }
}

TEST(Updates, OptingInLaterWaitsForAChangeOfTheTemplate) {
  const Json stored = Workload(Kind::kDeployment, {CpuContainer()});
  Json changed = stored;
  changed["metadata"]["labels"]["mindgate.io/inject"] = "enabled";
  EXPECT_EQ(Mutated(changed, &stored), changed);
  changed["spec"]["template"]["spec"]["containers"][0]["image"] = "infer:2";
  EXPECT_NE(Mutated(changed, &stored), changed);
}

// The template differs, so it rolls anyhow: then it is injected like a new one.
TEST(Updates, AChangedTemplateIsInjected) {
  for (Kind kind : KindsWithTemplates()) {
    if (schemas::InfoOf(kind).template_frozen) continue;
    SCOPED_TRACE(NameOf(kind));
    const Json stored = WithNpus(kind);
    Json container = NpuContainer();
    container["image"] = "infer:2";
    const Json changed = Workload(kind, {container});
    EXPECT_EQ(Mutated(changed, &stored), Mutated(changed));
    EXPECT_NE(Mutated(changed), changed);
  }
}

// The stored object has the injected values, the client puts its own manifest with a new image.
TEST(Updates, CarriesForwardUnderAChange) {
  for (Kind kind : KindsWithTemplates()) {
    if (schemas::InfoOf(kind).template_frozen) continue;
    SCOPED_TRACE(NameOf(kind));
    const Json stored = Mutated(WithNpus(kind));
    Json container = NpuContainer();
    container["image"] = "infer:2";
    const Json changed = Workload(kind, {container});
    EXPECT_EQ(Mutated(changed, &stored), Mutated(changed));
  }
}

// A new default in mindgate.yaml must not roll what runs.
TEST(Updates, CarriesForwardOldDefaults) {
  Config before;
  for (auto& profile : before.profiles) profile.fault_scheduling = "grace";
  for (Kind kind : KindsWithTemplates()) {
    if (schemas::InfoOf(kind).template_frozen) continue;
    SCOPED_TRACE(NameOf(kind));
    const Json original = WithNpus(kind);
    AdmissionRequest request;
    const json::Document laid(original);
    request.object = &laid.root();
    const auto verdict = MutateOnly(request, before);
    ASSERT_TRUE(verdict.mutated);
    const Json stored = After(verdict, laid.root());
    EXPECT_EQ(Mutated(original, &stored), stored);
  }
}

std::string Deployment(const std::string& labels, const std::string& image = "1") {
  return "{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: {labels: {" + labels +
         "}}, spec: {containers: [{name: e, image: '" + image +
         "', resources: {limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: "
         "8}}}]}}}}";
}

TEST(Updates, WhatTheUserTookAwayForAReasonStaysAway) {
  const auto label = [](const std::string& value) {
    return "/spec/template/metadata/labels/fault-scheduling = \"" + value + "\"";
  };
  ExpectMutationsBy("fault-scheduling", {
                                            {"a value of ours is carried on",
                                             Deployment("", "2"),
                                             {label("grace")},
                                             Deployment("fault-scheduling: grace")},
                                            {"`off` taken away switches it on",
                                             Deployment("", "2"),
                                             {label("force")},
                                             Deployment("fault-scheduling: 'off'")},
                                            {"a typo taken away does not come back",
                                             Deployment("", "2"),
                                             {label("force")},
                                             Deployment("fault-scheduling: Forced")},
                                            {"a number taken away does not come back",
                                             Deployment("", "2"),
                                             {label("force")},
                                             Deployment("fault-scheduling: 3")},
                                            {"a new value wins",
                                             Deployment("fault-scheduling: force", "2"),
                                             {},
                                             Deployment("fault-scheduling: grace")},
                                        });
}

TEST(Updates, AnAscendJobKeepsWhatItsOperatorReads) {
  // The operator reads these from the job's metadata and its spec; no template differs.
  const std::string job =
      "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a}, spec: "
      "{replicaSpecs: {Worker: {template: "
      "{spec: {containers: [{name: ascend, env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], "
      "resources: {limits: "
      "{huawei.com/Ascend910: 8}}}]}}}}}}";
  const std::string stored =
      "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, labels: "
      "{fault-scheduling: grace}}, spec: "
      "{schedulerName: volcano, replicaSpecs: {Worker: {template: {spec: {containers: [{name: "
      "ascend, env: [{name: "
      "ASCEND_VISIBLE_DEVICES, value: '0'}], resources: {limits: {huawei.com/Ascend910: "
      "8}}}]}}}}}}";
  ExpectMutations({
      {"put back",
       job,
       {"/metadata/labels/fault-scheduling = \"grace\"  (fault-scheduling)",
        "/spec/schedulerName = \"volcano\"  (scheduler-name)"},
       stored},
      {"put back when its templates carry it as well",
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a}, spec: "
       "{schedulerName: volcano, "
       "replicaSpecs: {Worker: {template: {metadata: {labels: {fault-scheduling: grace}}, spec: "
       "{containers: [{name: ascend, env: [{name: "
       "ASCEND_VISIBLE_DEVICES, value: '0'}], resources: {limits: {huawei.com/Ascend910: "
       "8}}}]}}}}}}",
       {"/metadata/labels/fault-scheduling = \"grace\"  (fault-scheduling)"},
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, labels: "
       "{fault-scheduling: grace}}, spec: {schedulerName: volcano, "
       "replicaSpecs: {Worker: {template: {metadata: {labels: {fault-scheduling: grace}}, spec: "
       "{containers: [{name: ascend, env: [{name: "
       "ASCEND_VISIBLE_DEVICES, value: '0'}], resources: {limits: {huawei.com/Ascend910: "
       "8}}}]}}}}}}"},
      {"a job from before mindgate is left alone", job, {}, job},
      {"a scheduler of the user's own is not carried on",
       job,
       {},
       "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a}, spec: "
       "{schedulerName: mine, replicaSpecs: "
       "{Worker: {template: {spec: {containers: [{name: ascend, env: [{name: "
       "ASCEND_VISIBLE_DEVICES, value: '0'}], "
       "resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}}"},
  });
}

std::string StormWithRoles(const std::string& prefill_replicas, const std::string& decode_replicas,
                           const std::string& annotations = "", const std::string& image = "1",
                           const std::string& more = "") {
  const auto role = [&](const std::string& name, const std::string& replicas) {
    return "{name: " + name + ", replicas: " + replicas + ", template: {metadata: {annotations: {" +
           annotations +
           "}, labels: {fault-scheduling: force, pod-rescheduling: 'on', fault-retry-times: "
           "'10'}}, spec: {schedulerName: volcano, "
           "restartPolicy: Never, containers: [{name: e, image: '" +
           image +
           "', env: [{name: ASCEND_VISIBLE_DEVICES, value: '0'}], "
           "resources: {limits: {huawei.com/Ascend910: 8}, requests: {huawei.com/Ascend910: "
           "8}}}]}}}";
  };
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: "
         "{spec: {roles: [" +
         role("prefill", prefill_replicas) + ", " + role("decode", decode_replicas) + more +
         "]}}}}";
}

TEST(Updates, StormServiceScaling) {
  const std::string k2 =
      "huawei.com/recover_policy_path: pod, huawei.com/schedule_minAvailable: '2'";
  const std::string path = "huawei.com/recover_policy_path: pod";
  const auto k = [](int role, const std::string& value) {
    return "/spec/template/spec/roles/" + std::to_string(role) +
           "/template/metadata/annotations/huawei.com~1schedule_minAvailable = \"" + value +
           "\"  (min-available)";
  };
  ExpectMutations({
      {"only a role's replicas change: byte-identical templates",
       StormWithRoles("1", "5", k2),
       {},
       StormWithRoles("1", "1", k2)},
      {"also when the stored templates were never injected",
       StormWithRoles("1", "5", path),
       {},
       StormWithRoles("1", "1", path)},
      {"replicas and template change: the size that the group has is kept",
       StormWithRoles("1", "5", k2, "2"),
       {},
       StormWithRoles("1", "1", k2)},
      {"a replace without it gets it back as it was",
       StormWithRoles("1", "5", path, "2"),
       {k(0, "2"), k(1, "2")},
       StormWithRoles("1", "1", k2)},
      {"a size that was never valid is recreated",
       StormWithRoles("1", "5", path, "2"),
       {k(0, "6"), k(1, "6")},
       StormWithRoles("1", "1", path + ", huawei.com/schedule_minAvailable: '0'")},
      {"an old object whose templates change gets the present sum",
       StormWithRoles("1", "5", path, "2"),
       {k(0, "6"), k(1, "6")},
       StormWithRoles("1", "1", path)},
  });
}

TEST(Updates, StormServiceGainsARole) {
  const std::string path = "huawei.com/recover_policy_path: pod, ";
  const std::string k2 = path + "huawei.com/schedule_minAvailable: '2'";
  const std::string third =
      ", {name: third, replicas: 1, template: {spec: {containers: [{name: e, resources: {limits: "
      "{huawei.com/Ascend910: 8}}}]}}}";
  ExpectMutationsBy("min-available",
                    {
                        {"the new role takes its siblings' size, which stay untouched",
                         StormWithRoles("1", "1", k2, "1", third),
                         {"/spec/template/spec/roles/2/template/metadata/annotations/"
                          "huawei.com~1schedule_minAvailable = \"2\""},
                         StormWithRoles("1", "1", k2)},
                    });
  ExpectMutationsBy(
      "fault-scheduling",
      {
          {"and their label",
           StormWithRoles("1", "1", k2, "1", third),
           {"/spec/template/spec/roles/2/template/metadata/labels/fault-scheduling = \"force\""},
           StormWithRoles("1", "1", k2)},
      });
}

TEST(Updates, InferenceServiceScaling) {
  const auto service = [](const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s}, spec: "
           "{engine: {" +
           engine + ", runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}}}}";
  };
  const auto line = [](const std::string& value) {
    return "/spec/engine/annotations/huawei.com~1schedule_minAvailable = \"" + value + "\"";
  };
  const std::string k2 = "annotations: {huawei.com/schedule_minAvailable: '2'}, ";
  ExpectMutationsBy(
      "min-available",
      {
          {"only minReplicas change",
           service(k2 + "minReplicas: 4"),
           {},
           service(k2 + "minReplicas: 2")},
          {"only minReplicas of a service that was never injected",
           service("minReplicas: 4"),
           {},
           service("minReplicas: 2")},
          {"all members that scale",
           service("minReplicas: 4, maxReplicas: 8, scaleTarget: 3, scaleMetric: cpu"),
           {},
           service("minReplicas: 2")},
          {"OME's defaulter wrote the stored minReplicas; the client's manifest has none",
           service("labels: {}"),
           {},
           service("minReplicas: 1, maxReplicas: 3, labels: {}")},
          {"minReplicas and more: the old size is kept",
           service("minReplicas: 4, hostNetwork: true"),
           {line("2")},
           service(k2 + "minReplicas: 2")},
          {"more changes in a service that was never injected",
           service("minReplicas: 4, hostNetwork: true"),
           {line("4")},
           service("minReplicas: 2")},
      });
}

TEST(Updates, OneComponentChangesTheOtherStays) {
  const auto service = [](const std::string& image) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, labels: "
           "{mindgate.io/inject: enabled}}, spec: "
           "{engine: {runner: {name: e, image: '" +
           image + "'}}, decoder: {minReplicas: 1}}}";
  };
  ExpectMutationsBy("fault-scheduling", {{"engine",
                                          service("2"),
                                          {"/spec/engine/labels/fault-scheduling = \"force\""},
                                          service("1")}});
}

// Scale, status, eviction and finalizers are other people's business.
TEST(Updates, OtherRequestsAreIgnored) {
  struct Row {
    std::string name;
    Operation operation;
    std::string subresource;
    bool deleting;
    std::string because;
  };
  const std::vector<Row> rows = {
      {"status", Operation::kUpdate, "status", false, "subresource status"},
      {"scale", Operation::kUpdate, "scale", false, "subresource scale"},
      {"eviction", Operation::kCreate, "eviction", false, "subresource eviction"},
      {"a finalizer is removed", Operation::kUpdate, "", true, "being deleted"},
      {"DELETE", Operation::kDelete, "", false, "operation DELETE"},
      {"CONNECT", Operation::kConnect, "", false, "operation CONNECT"},
  };
  for (const Row& row : rows) {
    for (Kind kind : KindsWithTemplates()) {
      SCOPED_TRACE(row.name + " on " + NameOf(kind));
      Json object = WithNpus(kind);
      if (row.deleting) object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      const json::Document laid(object);
      const json::Document stored(Workload(kind, {CpuContainer()}));
      AdmissionRequest request;
      request.operation = row.operation;
      request.subresource = row.subresource;
      request.object = &laid.root();
      request.old_object = &stored.root();
      const auto verdict = admission::Admit(request, Config());
      EXPECT_EQ(verdict.outcome, admission::Outcome::kIgnored);
      EXPECT_EQ(verdict.ignored_because, row.because);
      EXPECT_TRUE(verdict.patch.empty());
      EXPECT_TRUE(verdict.findings.empty());
    }
  }
}

TEST(Updates, WithoutAnOldObject) {
  // A recorded review may lack it: then nothing says that the template was not changed.
  const json::Document object(WithNpus(Kind::kDeployment));
  AdmissionRequest request;
  request.operation = Operation::kUpdate;
  request.object = &object.root();
  EXPECT_FALSE(MutateOnly(request, Config()).patch.empty());
  const json::Value null{};
  request.old_object = &null;
  EXPECT_FALSE(MutateOnly(request, Config()).patch.empty());
  request.object = nullptr;
  EXPECT_EQ(MutateOnly(request, Config()).outcome, admission::Outcome::kIgnored);
}

}  // namespace
}  // namespace mindgate::testing
