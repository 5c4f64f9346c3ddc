#include <gtest/gtest.h>

#include "support/mutations.h"

// What an UPDATE of a frozen template gets: what was injected at creation and is left out now, as
// it is stored, and nothing else. A client that sends its manifest again must not be refused.
namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

std::string Variable(const std::string& field =
                         "fieldPath: \"metadata.annotations['huawei.com/"
                         "Ascend910']\"") {
  return "{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {" + field + "}}}";
}

// A vcjob of one task: `metadata` beside its name, `spec` beside its tasks, `env` of the container.
std::string VolcanoJob(const std::string& metadata, const std::string& spec, const std::string& env,
                       const std::string& labels = "") {
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a" + metadata +
         "}, spec: {minAvailable: 1" + spec +
         ", tasks: [{name: t, replicas: 1, template: {metadata: {labels: {" + labels +
         "}}, spec: {containers: [{name: m, env: [" + env +
         "], resources: {limits: {huawei.com/Ascend910: 8}}}]}}}]}}";
}

const std::string kForce = ", labels: {fault-scheduling: force}";
const std::string kVolcano = ", schedulerName: volcano";

std::string Line(const std::string& path, const std::string& value, const std::string& mutator) {
  return path + " = " + value + "  (" + mutator + ")";
}

const std::string kVariableText =
    R"({"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['huawei.com/Ascend910']"}}})";

TEST(PutBack, VolcanoJobs) {
  const std::string env = "/spec/tasks/0/template/spec/containers/0/env/-";
  const std::string label = "/metadata/labels/fault-scheduling";
  const std::string as_created = VolcanoJob(kForce, kVolcano, Variable());
  const std::string manifest = VolcanoJob("", "", "");
  const auto withheld = [](const std::string& more = "") {
    return std::vector<std::string>{
        ": the pod template of a Job cannot change after creation: only what was injected before "
        "is "
        "put back" +
        more};
  };
  ExpectMutations({
      {"the manifest applied twice",
       manifest,
       {Line(label, "\"force\"", "fault-scheduling"),
        Line("/spec/schedulerName", "\"volcano\"", "scheduler-name"),
        Line(env, kVariableText, "visible-devices")},
       as_created,
       {},
       "",
       {},
       withheld()},
      {"behind the user's own variables",
       VolcanoJob(kForce, kVolcano, "{name: A, value: b}"),
       {Line(env, kVariableText, "visible-devices")},
       VolcanoJob(kForce, kVolcano, "{name: A, value: b}, " + Variable())},
      {"with what the API server added",
       VolcanoJob(kForce, kVolcano, ""),
       {Line(
           env,
           R"({"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.annotations['huawei.com/Ascend910']"}}})",
           "visible-devices")},
       VolcanoJob(kForce, kVolcano,
                  Variable("apiVersion: v1, fieldPath: \"metadata.annotations['huawei.com/"
                           "Ascend910']\""))},
      {"only the label was lost",
       VolcanoJob("", kVolcano, Variable()),
       {Line(label, "\"force\"", "fault-scheduling")},
       as_created},
      {"nothing is lost", as_created, {}, as_created},
      {"a job from before mindgate gets nothing", manifest, {}, manifest, {}, "", {}, withheld()},
      {"also when it changes where it may",
       VolcanoJob(", labels: {x: y}", ", priorityClassName: high", ""),
       {},
       manifest},
      {"the user's own variable does not come back",
       VolcanoJob(kForce, kVolcano, ""),
       {},
       VolcanoJob(kForce, kVolcano, "{name: ASCEND_VISIBLE_DEVICES, value: '0'}")},
      {"nor a scheduler of the user's own",
       VolcanoJob(kForce, "", Variable()),
       {},
       VolcanoJob(kForce, ", schedulerName: mine", Variable())},
      {"nor a label that we never write",
       VolcanoJob("", kVolcano, Variable()),
       {},
       VolcanoJob(", labels: {fault-scheduling: 'off'}", kVolcano, Variable())},
      {"a new value wins",
       VolcanoJob(", labels: {fault-scheduling: grace}", kVolcano, Variable()),
       {},
       as_created},
  });
}

TEST(PutBack, LabelsThatWereCopied) {
  const std::string rule = ", labels: {fault-scheduling: force, mind-cluster/scaling-rule: ";
  const std::string label =
      "/spec/tasks/0/template/metadata/labels/mind-cluster~1scaling-rule = \"r\"  (mindie-labels)";
  const std::string old =
      VolcanoJob(rule + "r}", kVolcano, Variable(), "mind-cluster/scaling-rule: r");
  ExpectMutations({
      {"as they are stored", VolcanoJob(rule + "r}", kVolcano, Variable()), {label}, old},
      {"also when the job changes its own",
       VolcanoJob(rule + "s}", kVolcano, Variable()),
       {label},
       old},
      {"a job that had none",
       VolcanoJob(rule + "r}", kVolcano, Variable()),
       {},
       VolcanoJob(kForce, kVolcano, Variable())},
  });
}

// A job that was injected before its owner opted out can still be sent again. What can change is
// its owner's.
TEST(PutBack, OptingOutLater) {
  const std::string env =
      Line("/spec/tasks/0/template/spec/containers/0/env/-", kVariableText, "visible-devices");
  const std::string scheduler = Line("/spec/schedulerName", "\"volcano\"", "scheduler-name");
  const std::string as_created = VolcanoJob(kForce, kVolcano, Variable());
  schemas::Config off;
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    off.disabled_mutators.emplace(mutator.name);
  }
  schemas::Config by_namespace;
  by_namespace.namespaces = {{"default", false, {}}};
  const std::string manifest = VolcanoJob(", namespace: default", "", "");
  ExpectMutations({
      {"by a label of the job",
       VolcanoJob(", labels: {mindgate.io/inject: disabled}", "", ""),
       {scheduler, env},
       as_created},
      {"by a label of its namespace", manifest, {scheduler, env}, as_created, {}, "disabled"},
      {"in mindgate.yaml", manifest, {scheduler, env}, as_created, {}, "", by_namespace},
      {"by mutators that are off", manifest, {scheduler, env}, as_created, {}, "", off},
      {"what has nothing gets nothing", manifest, {}, manifest, {}, "disabled"},
  });
}

TEST(PutBack, OptingInWithoutNpus) {
  const auto job = [](const std::string& labels, const std::string& scheduler) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: a, labels: {" + labels +
           "}}, spec: {template: {metadata: {labels: {fault-scheduling: force}}, spec: "
           "{schedulerName: " +
           scheduler + ", containers: [{name: m}]}}}}";
  };
  const std::string in = "mindgate.io/inject: enabled";
  const std::string line = "/spec/template/spec/schedulerName = \"volcano\"";
  ExpectMutationsBy(
      "scheduler-name",
      {
          {"as at creation", job(in, "default-scheduler"), {line}, job(in, "volcano")},
          {"the label went since", job("", "default-scheduler"), {line}, job(in, "volcano")},
          {"it never opted in", job("", "default-scheduler"), {}, job("", "volcano")},
          {"it opts in now", job(in, "default-scheduler"), {}, job("", "default-scheduler")},
      });
}

// Other defaults in mindgate.yaml change nothing that is frozen.
TEST(PutBack, UnderOtherDefaults) {
  schemas::Config before;
  for (auto& profile : before.profiles) profile.fault_scheduling = "grace";
  for (Kind kind : KindsWithTemplates()) {
    SCOPED_TRACE(KindName(kind));
    const Json original = Workload(kind, {NpuContainer()});
    const json::Document manifest(original);
    schemas::AdmissionRequest request;
    request.object = &manifest.root();
    const auto created = MutateOnly(request, before);
    ASSERT_TRUE(created.mutated);
    request.operation = schemas::Operation::kUpdate;
    request.old_object = &created.mutated->root();
    schemas::Config now;
    now.scheduler = "volcano-2";
    EXPECT_EQ(After(MutateOnly(request, now), manifest.root()), After(created, manifest.root()));
  }
}

TEST(PutBack, WithoutAnOldObjectNothingIsWritten) {
  const json::Document object(Workload(Kind::kVolcanoJob, {NpuContainer()}));
  schemas::AdmissionRequest request;
  request.operation = schemas::Operation::kUpdate;
  request.object = &object.root();
  const auto verdict = MutateOnly(request, {});
  EXPECT_EQ(json::ToJsonPatch(verdict.patch).dump(), "[]");
  ASSERT_EQ(verdict.withheld.size(), 1u);
  EXPECT_EQ(verdict.withheld.front().reason,
            "the pod template of a Job cannot change after creation");
}

}  // namespace
}  // namespace mindgate::testing
