#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using schemas::Kind;

void ExpectSchedulerName(std::vector<MutationCase> cases) {
  ExpectMutationsBy("scheduler-name", std::move(cases));
}

schemas::Config NamedScheduler(const std::string& name) {
  schemas::Config config;
  config.scheduler = name;
  return config;
}

TEST(SchedulerName, EveryKind) {
  ExpectSchedulerName(EveryKind([](const Injected& row) {
    return std::vector{row.pod_spec() + "/schedulerName = \"volcano\""};
  }));
}

TEST(SchedulerName, WhatTheUserNamedStays) {
  std::vector<MutationCase> cases;
  for (Kind kind : KindsWithTemplates()) {
    for (const char* scheduler : {"volcano", "my-scheduler"}) {
      const TemplateParts parts{NpuContainer(), {{"schedulerName", scheduler}}};
      cases.push_back({std::string(schemas::KindName(kind)) + " with " + scheduler,
                       Workload(kind, parts).dump(),
                       {}});
    }
  }
  ExpectSchedulerName(std::move(cases));
}

TEST(SchedulerName, DefaultScheduler) {
  // The API server fills it in before any webhook runs, and only for its own kinds.
  const std::string replaced = R"(/spec/template/spec/schedulerName = "volcano")";
  const std::vector<std::pair<Kind, std::vector<std::string>>> rows = {
      {Kind::kDeployment, {replaced}},
      {Kind::kReplicaSet, {replaced}},
      {Kind::kStatefulSet, {replaced}},
      {Kind::kDaemonSet, {replaced}},
      {Kind::kReplicationController, {replaced}},
      {Kind::kJob, {replaced}},
      {Kind::kCronJob, {R"(/spec/jobTemplate/spec/template/spec/schedulerName = "volcano")"}},
      {Kind::kPod, {R"(/spec/schedulerName = "volcano")"}},
      {Kind::kPodSet, {}},
      {Kind::kLeaderWorkerSet, {}},
      {Kind::kStormService, {}},
      {Kind::kInstanceSet, {}},
      {Kind::kInferenceService, {}},
      {Kind::kClusterServingRuntime, {}},
      {Kind::kAscendJob, {}},
      {Kind::kVolcanoJob, {}},
  };
  std::vector<MutationCase> cases;
  for (const auto& [kind, want] : rows) {
    cases.push_back(
        {"default-scheduler on a " + std::string(KindName(kind)),
         Workload(kind, {NpuContainer(), {{"schedulerName", "default-scheduler"}}}).dump(), want});
  }
  ExpectSchedulerName(std::move(cases));
}

TEST(SchedulerName, Table) {
  const std::string ascend_job = R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: train}
)";
  ExpectSchedulerName({
      {"an empty name counts as missing",
       Workload(Kind::kDeployment, {NpuContainer(), {{"schedulerName", ""}}}).dump(),
       {R"(/spec/template/spec/schedulerName = "volcano")"}},
      {"a null counts as missing",
       Workload(Kind::kDeployment, {NpuContainer(), {{"schedulerName", nullptr}}}).dump(),
       {R"(/spec/template/spec/schedulerName = "volcano")"}},
      {"a value of another type is not ours to repair",
       Workload(Kind::kDeployment, {NpuContainer(), {{"schedulerName", 5}}}).dump(),
       {}},
      {"a job's value of another type is not ours to repair",
       ascend_job + "spec: {schedulerName: true, replicaSpecs: {Worker: {template: {spec: "
                    "{containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}",
       {}},
      {"the scheduler of the configuration",
       Workload(Kind::kDeployment, {NpuContainer()}).dump(),
       {R"(/spec/template/spec/schedulerName = "volcano-npu")"},
       "",
       {},
       "",
       NamedScheduler("volcano-npu")},
      {"AscendJob with schedulerName in one replica spec only",
       ascend_job + R"(
spec:
  replicaSpecs:
    Master:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
    Worker:
      template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/replicaSpecs/Worker/template/spec/schedulerName = "volcano")",
        R"(/spec/schedulerName = "volcano")"}},
      {"also when the other one requests no NPUs",
       ascend_job + R"(
spec:
  schedulerName: volcano
  replicaSpecs:
    Scheduler:
      template: {spec: {containers: [{name: ascend}]}}
    Worker:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/replicaSpecs/Scheduler/template/spec/schedulerName = "volcano")"}},
      {"also in a job that is opted in",
       R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: train, labels: {mindgate.io/inject: enabled}}
spec:
  schedulerName: volcano
  replicaSpecs:
    Master: {template: {spec: {schedulerName: volcano, containers: [{name: ascend}]}}}
    Worker: {template: {spec: {containers: [{name: ascend}]}}}
)",
       {R"(/spec/replicaSpecs/Worker/template/spec/schedulerName = "volcano")"}},
      {"the others follow the name that one replica spec gives",
       ascend_job + R"(
spec:
  replicaSpecs:
    Master:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
    Worker:
      template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/replicaSpecs/Worker/template/spec/schedulerName = "volcano")",
        R"(/spec/schedulerName = "volcano")"},
       "",
       {},
       "",
       NamedScheduler("volcano-npu")},
      {"an AscendJob whose replica specs all name it needs nothing",
       ascend_job + R"(
spec:
  replicaSpecs:
    Master:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
    Worker:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {}},
      {"replica types that need escaping in a pointer",
       ascend_job + R"(
spec:
  schedulerName: volcano
  replicaSpecs:
    a/b~c:
      template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
    Worker:
      template: {spec: {schedulerName: volcano, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/replicaSpecs/a~1b~0c/template/spec/schedulerName = "volcano")"}},
      {"a vcjob task that names another scheduler keeps it, the job gets volcano for the rest",
       R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
spec:
  tasks:
  - {name: a, template: {spec: {schedulerName: mine, containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}
  - {name: b, template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}
)",
       {R"(/spec/schedulerName = "volcano")"}},
      {"LWS without leaderTemplate stays without it",
       R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/leaderWorkerTemplate/workerTemplate/spec/schedulerName = "volcano")"}},
      {"an LWS leader that only coordinates goes with its workers",
       R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    leaderTemplate: {spec: {containers: [{name: leader}]}}
    workerTemplate: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}
)",
       {R"(/spec/leaderWorkerTemplate/leaderTemplate/spec/schedulerName = "volcano")",
        R"(/spec/leaderWorkerTemplate/workerTemplate/spec/schedulerName = "volcano")"}},
      {"OME MultiNode: leader and worker, not only the component",
       R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
spec:
  engineConfig:
    leader: {runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}}
    worker: {size: 1, runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}}
  routerConfig: {runner: {name: router}}
)",
       {R"(/spec/engineConfig/leader/schedulerName = "volcano")",
        R"(/spec/engineConfig/worker/schedulerName = "volcano")"}},
      {"without a leader the component's own fields make the leader",
       R"(
apiVersion: ome.io/v1beta1
kind: ServingRuntime
spec:
  decoderConfig:
    runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}
    worker: {size: 1, runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}}
)",
       {R"(/spec/decoderConfig/schedulerName = "volcano")",
        R"(/spec/decoderConfig/worker/schedulerName = "volcano")"}},
      {"an AIBrix routing role without NPUs stays with its scheduler",
       R"(
apiVersion: orchestration.aibrix.ai/v1alpha1
kind: StormService
spec:
  template:
    spec:
      roles:
      - {name: routing, replicas: 1, template: {spec: {containers: [{name: r}]}}}
      - {name: prefill, replicas: 1, template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}
)",
       {R"(/spec/template/spec/roles/1/template/spec/schedulerName = "volcano")"}},
      {"NPUs of an init container count",
       Workload(Kind::kDeployment,
                {CpuContainer(),
                 {{"initContainers",
                   Yaml("[{name: check, resources: {limits: {huawei.com/Ascend910: 1}}}]")}}})
           .dump(),
       {R"(/spec/template/spec/schedulerName = "volcano")"}},
      {"a request of zero is none",
       Workload(Kind::kDeployment,
                {Yaml("{name: a, resources: {limits: {huawei.com/Ascend910: 0}}}")})
           .dump(),
       {}},
      {"GPUs are not ours",
       Workload(Kind::kDeployment, {Yaml("{name: a, resources: {limits: {nvidia.com/gpu: 8}}}")})
           .dump(),
       {}},
  });
}

}  // namespace
}  // namespace mindgate::testing
