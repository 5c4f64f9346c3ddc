#include "schemas/workload.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "schemas/replicas.h"
#include "support/objects.h"
#include "support/rich_objects.h"

namespace mindgate::schemas {
namespace {

using json::Json;
using testing::AllPointers;
using testing::RichObjects;
using testing::Yaml;
using testing::YamlDocument;

std::string OwnerName(PodGroupOwner owner) {
  constexpr std::string_view kNames[] = {"AscendJob", "VolcanoJob",  "ReplicaSet", "StatefulSet",
                                         "DaemonSet", "Replication", "Job",        "LwsGroup",
                                         "RoleSet",   "PodSet",      "Instance",   "Pod"};
  return std::string(kNames[static_cast<size_t>(owner)]);
}

std::string Count(const std::optional<int64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

// "/metadata/labels", with "-" when nothing stands there and "!" when nothing may be written.
std::string Show(const FieldView& place) {
  return place.path.Text() + (place.wrong_type ? "!" : place.value == nullptr ? "-" : "");
}

std::string Show(const PodTemplateView& pod) {
  std::string line = "pod '" + std::string(pod.name) + "' x" + Count(pod.pods) + " at " +
                     std::string(pod.path) + ", labels " + Show(pod.labels) + ", annotations " +
                     Show(pod.annotations) + ", spec " + Show(pod.pod_spec);
  for (const FieldView& place : pod.inherited_labels) line += ", inherits " + Show(place);
  if (!pod.has_pod_spec) line += ", no pod spec of its own";
  if (pod.router) line += ", router";
  if (pod.runtime != nullptr) line += ", runtime '" + std::string(pod.runtime->name) + "'";
  if (!pod.SchedulerName().empty()) line += ", by " + std::string(pod.SchedulerName());
  if (pod.RequestsNpus()) line += ", NPUs";
  return line;
}

std::vector<std::string> Describe(const WorkloadView& view) {
  std::vector<std::string> lines;
  lines.push_back(std::string(InfoOf(view.framework).name) + " '" + std::string(view.name) +
                  "', labels " + Show(view.labels));
  for (const PodTemplateView& pod : view.templates) {
    lines.push_back(Show(pod));
    for (const ContainerView& container : pod.containers) {
      constexpr std::string_view kRoles[] = {"main", "init", "runner"};
      std::string line = "  " + std::string(kRoles[static_cast<size_t>(container.role)]) + " '" +
                         std::string(container.name) + "' at " + std::string(container.path) +
                         ", env " + Show(container.env);
      for (const NpuRequest& npu : container.npus) {
        line += ", " + std::string(npu.resource) + " x" + Count(npu.count);
      }
      lines.push_back(std::move(line));
    }
  }
  for (size_t i = 0; i < view.pod_groups.size(); ++i) {
    const PodGroupView& group = view.pod_groups[i];
    std::string line = "group " + OwnerName(group.owner) + " '" + std::string(group.name) + "' of";
    for (size_t index : group.templates) {
      line += " '" + std::string(view.templates[index].name) + "'";
      EXPECT_EQ(view.templates[index].pod_group, i);
    }
    line += ", minMember " + Count(group.min_member);
    if (group.labels) line += ", labels " + Show(*group.labels);
    if (group.annotations) line += ", annotations " + Show(*group.annotations);
    lines.push_back(std::move(line));
  }
  for (const WrongType& wrong : view.wrong_types) {
    lines.push_back("wrong " + std::string(wrong.path) + ": " +
                    std::string(json::TypeName(*wrong.value)) + " for " +
                    std::string(wrong.wanted));
  }
  return lines;
}

struct Case {
  std::string name;
  std::string object;
  std::vector<std::string> want;  // of Describe
  std::string runtime = {};       // of an InferenceService
};

void ExpectViews(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object = YamlDocument(c.object);
    json::Document runtime_object;
    std::shared_ptr<const WorkloadView> runtime;
    if (!c.runtime.empty()) {
      runtime_object = YamlDocument(c.runtime);
      auto view = BuildView(runtime_object.root());
      ASSERT_TRUE(view);
      runtime = std::make_shared<const WorkloadView>(*std::move(view));
    }
    const auto view = BuildView(object.root(), runtime);
    ASSERT_TRUE(view);
    EXPECT_EQ(Describe(*view), c.want);
  }
}

TEST(View, Deployment) {
  ExpectViews({
      {"as the API server shows it; annotations absent",
       R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: d}}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: d}}
    spec:
      schedulerName: default-scheduler
      containers:
      - {name: sidecar}
      - {name: main, env: [{name: A, value: b}], resources: {limits: {huawei.com/Ascend910: 8}}}
      initContainers:
      - {name: prepare}
)",
       {"deployment 'd', labels /metadata/labels",
        "pod '' x3 at /spec/template, labels /spec/template/metadata/labels, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec, by default-scheduler, "
        "NPUs",
        "  main 'sidecar' at /spec/template/spec/containers/0, env "
        "/spec/template/spec/containers/0/env-",
        "  main 'main' at /spec/template/spec/containers/1, env "
        "/spec/template/spec/containers/1/env, huawei.com/Ascend910 x8",
        "  init 'prepare' at /spec/template/spec/initContainers/0, env "
        "/spec/template/spec/initContainers/0/env-",
        "group ReplicaSet 'Deployment' of '', minMember 1"}},
      {"group-min-member: what minMember becomes depends on Volcano's version",
       R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, annotations: {scheduling.volcano.sh/group-min-member: "2"}}
spec: {template: {spec: {containers: []}}}
)",
       {"deployment 'd', labels /metadata/labels-",
        "pod '' x1 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec",
        "group ReplicaSet 'Deployment' of '', minMember ?"}},
      {"nothing inside",
       "{apiVersion: apps/v1, kind: Deployment}",
       {"deployment '', labels /metadata/labels-",
        "pod '' x1 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec-",
        "group ReplicaSet 'Deployment' of '', minMember 1"}},
  });
}

TEST(View, DaemonSetAndReplicationController) {
  const std::string pod =
      " at /spec/template, labels /spec/template/metadata/labels-, annotations "
      "/spec/template/metadata/annotations-, spec /spec/template/spec-";
  const std::string annotated =
      "metadata: {name: a, annotations: {scheduling.volcano.sh/group-min-member: '2'}}";
  ExpectViews({
      {"DaemonSet: its pods are as many as the nodes",
       "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {replicas: 3, template: "
       "{}}}",
       {"statefulset 'd', labels /metadata/labels-", "pod '' x?" + pod,
        "group DaemonSet 'DaemonSet' of '', minMember 1"}},
      {"DaemonSet: Volcano asks it for the size of the group",
       "{apiVersion: apps/v1, kind: DaemonSet, " + annotated + ", spec: {template: {}}}",
       {"statefulset 'a', labels /metadata/labels-", "pod '' x?" + pod,
        "group DaemonSet 'DaemonSet' of '', minMember ?"}},
      {"ReplicationController: not asked for it",
       "{apiVersion: v1, kind: ReplicationController, " + annotated +
           ", spec: {replicas: 3, template: {}}}",
       {"deployment 'a', labels /metadata/labels-", "pod '' x3" + pod,
        "group Replication 'ReplicationController' of '', minMember 1"}},
  });
}

TEST(View, StatefulSetJobCronJobAndPod) {
  ExpectViews({
      {"StatefulSet without replicas",
       "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {}}}",
       {"statefulset 's', labels /metadata/labels-",
        "pod '' x1 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec-",
        "group StatefulSet 'StatefulSet' of '', minMember 1"}},
      {"Job: pods that exist together",
       "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, "
       "spec: {parallelism: 4, completions: 3, template: {}}}",
       {"job 'j', labels /metadata/labels-",
        "pod '' x3 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec-",
        "group Job 'Job' of '', minMember 1"}},
      {"Job: a work queue has no completions",
       "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, "
       "spec: {parallelism: 4, completions: null, template: {}}}",
       {"job 'j', labels /metadata/labels-",
        "pod '' x4 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec-",
        "group Job 'Job' of '', minMember 1"}},
      {"CronJob",
       "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: "
       "{template: {metadata: {labels: {a: b}}}}}}}",
       {"job 'c', labels /metadata/labels-",
        "pod '' x1 at /spec/jobTemplate/spec/template, labels "
        "/spec/jobTemplate/spec/template/metadata/labels, annotations "
        "/spec/jobTemplate/spec/template/metadata/annotations-, spec "
        "/spec/jobTemplate/spec/template/spec-",
        "group Job 'CronJob' of '', minMember 1"}},
      {"Pod: the object is its own template",
       "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: 1}}, "
       "spec: {containers: [{name: main}]}}",
       {"pod 'p', labels /metadata/labels",
        "pod '' x1 at , labels /metadata/labels, annotations /metadata/annotations-, spec /spec",
        "  main 'main' at /spec/containers/0, env /spec/containers/0/env-",
        "group Pod 'pod' of '', minMember 1", "wrong /metadata/labels/a: integer for string"}},
  });
}

TEST(View, AscendJob) {
  ExpectViews({
      {"MindIE by the presence of two labels; minMember is the sum of replicas, which default to 1",
       R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: a, labels: {jobID: "", app: x}}
spec:
  schedulerName: volcano
  replicaSpecs:
    Worker: {replicas: 2, template: {spec: {containers: [{name: ascend, resources: {requests: {huawei.com/npu: "4"}}}]}}}
    Master: {template: {metadata: {labels: {app: x}}}}
    "a/b": null
)",
       {"mindie 'a', labels /metadata/labels",
        "pod 'Master' x1 at /spec/replicaSpecs/Master/template, labels "
        "/spec/replicaSpecs/Master/template/metadata/labels, annotations "
        "/spec/replicaSpecs/Master/template/metadata/annotations-, spec "
        "/spec/replicaSpecs/Master/template/spec-, by volcano",
        "pod 'Worker' x2 at /spec/replicaSpecs/Worker/template, labels "
        "/spec/replicaSpecs/Worker/template/metadata/labels-, annotations "
        "/spec/replicaSpecs/Worker/template/metadata/annotations-, spec "
        "/spec/replicaSpecs/Worker/template/spec, by volcano, NPUs",
        "  main 'ascend' at /spec/replicaSpecs/Worker/template/spec/containers/0, env "
        "/spec/replicaSpecs/Worker/template/spec/containers/0/env-, huawei.com/npu x4",
        "group AscendJob 'the job' of 'Master' 'Worker', minMember 3, labels /metadata/labels, "
        "annotations /metadata/annotations-"}},
      {"one template names a scheduler, so the operator fills in none elsewhere",
       R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: a, labels: {app: x}}
spec:
  schedulerName: volcano
  runPolicy: {schedulingPolicy: {minAvailable: 1}}
  replicaSpecs:
    Chief: {template: {spec: {schedulerName: volcano}}}
    Worker: {template: {spec: {}}}
)",
       {"ascendjob 'a', labels /metadata/labels",
        "pod 'Chief' x1 at /spec/replicaSpecs/Chief/template, labels "
        "/spec/replicaSpecs/Chief/template/metadata/labels-, annotations "
        "/spec/replicaSpecs/Chief/template/metadata/annotations-, spec "
        "/spec/replicaSpecs/Chief/template/spec, by volcano",
        "pod 'Worker' x1 at /spec/replicaSpecs/Worker/template, labels "
        "/spec/replicaSpecs/Worker/template/metadata/labels-, annotations "
        "/spec/replicaSpecs/Worker/template/metadata/annotations-, spec "
        "/spec/replicaSpecs/Worker/template/spec",
        "group AscendJob 'the job' of 'Chief' 'Worker', minMember 1, labels /metadata/labels, "
        "annotations /metadata/annotations-"}},
      {"untyped template labels; counts of the wrong type are unknown, not 1",
       R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: a}
spec:
  replicaSpecs:
    Worker: {replicas: "2", template: {metadata: {labels: {fault-retry-times: 3, on: true}}}}
)",
       {"ascendjob 'a', labels /metadata/labels-",
        "pod 'Worker' x? at /spec/replicaSpecs/Worker/template, labels "
        "/spec/replicaSpecs/Worker/template/metadata/labels, annotations "
        "/spec/replicaSpecs/Worker/template/metadata/annotations-, spec "
        "/spec/replicaSpecs/Worker/template/spec-",
        "group AscendJob 'the job' of 'Worker', minMember ?, labels /metadata/labels-, "
        "annotations /metadata/annotations-",
        "wrong /spec/replicaSpecs/Worker/replicas: string for integer",
        "wrong /spec/replicaSpecs/Worker/template/metadata/labels/fault-retry-times: integer for "
        "string",
        "wrong /spec/replicaSpecs/Worker/template/metadata/labels/true: boolean for string"}},
  });
}

TEST(View, VolcanoJobAndCronJob) {
  ExpectViews({
      {"tasks without replicas make no pods; pods take the job's scheduler; metadata goes to the "
       "PodGroup",
       R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: v, labels: {fault-scheduling: force}}
spec:
  schedulerName: volcano
  minAvailable: 2
  tasks:
  - {name: first, replicas: 2, template: {spec: {containers: []}}}
  - {template: {spec: {schedulerName: other}}}
  - name: bare
)",
       {"volcano 'v', labels /metadata/labels",
        "pod 'first' x2 at /spec/tasks/0/template, labels /spec/tasks/0/template/metadata/labels-, "
        "annotations /spec/tasks/0/template/metadata/annotations-, spec /spec/tasks/0/template/"
        "spec, by volcano",
        "pod 'task 1' x0 at /spec/tasks/1/template, labels "
        "/spec/tasks/1/template/metadata/labels-, annotations "
        "/spec/tasks/1/template/metadata/annotations-, spec /spec/tasks/1/template/spec, by other",
        "pod 'bare' x0 at /spec/tasks/2/template, labels /spec/tasks/2/template/metadata/labels-, "
        "annotations /spec/tasks/2/template/metadata/annotations-, spec "
        "/spec/tasks/2/template/spec-, by volcano",
        "group VolcanoJob 'the job' of 'first' 'task 1' 'bare', minMember 2, labels "
        "/metadata/labels, annotations /metadata/annotations-"}},
      {"a CronJob's jobs have its jobTemplate's metadata; without minAvailable minMember depends "
       "on Volcano's admission",
       R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: v, labels: {a: b}}
spec: {jobTemplate: {metadata: {annotations: {c: d}}, spec: {tasks: [{name: t, replicas: 1}]}}}
)",
       {"volcano 'v', labels /metadata/labels",
        "pod 't' x1 at /spec/jobTemplate/spec/tasks/0/template, labels "
        "/spec/jobTemplate/spec/tasks/0/template/metadata/labels-, annotations "
        "/spec/jobTemplate/spec/tasks/0/template/metadata/annotations-, spec "
        "/spec/jobTemplate/spec/tasks/0/template/spec-",
        "group VolcanoJob 'the job' of 't', minMember ?, labels "
        "/spec/jobTemplate/metadata/labels-, annotations /spec/jobTemplate/metadata/annotations"}},
      {"tasks of the wrong type",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v}, spec: {tasks: [x, "
       "null]}}",
       {"volcano 'v', labels /metadata/labels-",
        "group VolcanoJob 'the job' of, minMember ?, labels /metadata/labels-, annotations "
        "/metadata/annotations-",
        "wrong /spec/tasks/0: string for object", "wrong /spec/tasks/1: null for object"}},
  });
}

TEST(View, LeaderWorkerSet) {
  ExpectViews({
      {"without leader template the worker's serves all pods, and none is made",
       R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec: {leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {}}}}
)",
       {"leaderworkerset 'l', labels /metadata/labels-",
        "pod 'worker' x4 at /spec/leaderWorkerTemplate/workerTemplate, labels "
        "/spec/leaderWorkerTemplate/workerTemplate/metadata/labels-, annotations "
        "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations-, spec "
        "/spec/leaderWorkerTemplate/workerTemplate/spec",
        "group LwsGroup 'one group' of 'worker', minMember ?"}},
      {"leader and workers",
       R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec: {leaderWorkerTemplate: {size: 4, leaderTemplate: {}, workerTemplate: {}}}
)",
       {"leaderworkerset 'l', labels /metadata/labels-",
        "pod 'leader' x1 at /spec/leaderWorkerTemplate/leaderTemplate, labels "
        "/spec/leaderWorkerTemplate/leaderTemplate/metadata/labels-, annotations "
        "/spec/leaderWorkerTemplate/leaderTemplate/metadata/annotations-, spec "
        "/spec/leaderWorkerTemplate/leaderTemplate/spec-",
        "pod 'worker' x3 at /spec/leaderWorkerTemplate/workerTemplate, labels "
        "/spec/leaderWorkerTemplate/workerTemplate/metadata/labels-, annotations "
        "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations-, spec "
        "/spec/leaderWorkerTemplate/workerTemplate/spec-",
        "group LwsGroup 'one group' of 'leader' 'worker', minMember ?"}},
  });
}

constexpr char kSingleNodeRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: r}
spec:
  engineConfig:
    labels: {fault-scheduling: force}
    minReplicas: 7
    schedulerName: volcano
    runner: {name: ome-container, resources: {limits: {huawei.com/Ascend910: 16}}}
  routerConfig: {containers: [{name: router}]}
)";

constexpr char kMultiNodeRuntime[] = R"(
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: r}
spec:
  engineConfig:
    labels: {a: b}
    leader: {schedulerName: volcano, runner: {name: main, resources: {limits: {huawei.com/Ascend910: 16}}}}
    worker: {size: 3, schedulerName: volcano, runner: {name: main}}
)";

TEST(View, OmeRuntime) {
  ExpectViews({
      {"a runtime's minReplicas is dead: how many pods a service makes is not known",
       kSingleNodeRuntime,
       {"ome 'r', labels /metadata/labels-",
        "pod 'engine' x? at /spec/engineConfig, labels /spec/engineConfig/labels, annotations "
        "/spec/engineConfig/annotations-, spec /spec/engineConfig, by volcano, NPUs",
        "  runner 'ome-container' at /spec/engineConfig/runner, env /spec/engineConfig/runner/env-"
        ", huawei.com/Ascend910 x16",
        "pod 'router' x? at /spec/routerConfig, labels /spec/routerConfig/labels-, annotations "
        "/spec/routerConfig/annotations-, spec /spec/routerConfig, router",
        "  main 'router' at /spec/routerConfig/containers/0, env "
        "/spec/routerConfig/containers/0/env-",
        "group ReplicaSet 'engine' of 'engine', minMember 1",
        "group ReplicaSet 'router' of 'router', minMember 1"}},
      {"leader and worker share their component's labels",
       kMultiNodeRuntime,
       {"ome 'r', labels /metadata/labels-",
        "pod 'engine.leader' x1 at /spec/engineConfig/leader, labels /spec/engineConfig/labels, "
        "annotations /spec/engineConfig/annotations-, spec /spec/engineConfig/leader, by volcano, "
        "NPUs",
        "  runner 'main' at /spec/engineConfig/leader/runner, env "
        "/spec/engineConfig/leader/runner/env-, huawei.com/Ascend910 x16",
        "pod 'engine.worker' x3 at /spec/engineConfig/worker, labels /spec/engineConfig/labels, "
        "annotations /spec/engineConfig/annotations-, spec /spec/engineConfig/worker, by volcano",
        "  runner 'main' at /spec/engineConfig/worker/runner, env "
        "/spec/engineConfig/worker/runner/env-",
        "group LwsGroup 'engine' of 'engine.leader' 'engine.worker', minMember ?"}},
      {"a worker without leader: the component's own pod fields serve as the leader",
       "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, metadata: {name: r}, spec: "
       "{decoderConfig: {runner: {name: m}, worker: {}}}}",
       {"ome 'r', labels /metadata/labels-",
        "pod 'decoder' x1 at /spec/decoderConfig, labels /spec/decoderConfig/labels-, annotations "
        "/spec/decoderConfig/annotations-, spec /spec/decoderConfig",
        "  runner 'm' at /spec/decoderConfig/runner, env /spec/decoderConfig/runner/env-",
        "pod 'decoder.worker' x0 at /spec/decoderConfig/worker, labels "
        "/spec/decoderConfig/labels-, annotations /spec/decoderConfig/annotations-, spec "
        "/spec/decoderConfig/worker, no pod spec of its own",
        "group LwsGroup 'decoder' of 'decoder' 'decoder.worker', minMember ?"}},
  });
}

TEST(View, OmeInferenceService) {
  ExpectViews({
      {"runtime not known: components that only tune it, minReplicas 1 when absent",
       R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: i, labels: {a: b}}
spec: {engine: {minReplicas: 2}, decoder: {}, router: {runner: {name: x}}}
)",
       {"ome 'i', labels /metadata/labels",
        "pod 'engine' x2 at /spec/engine, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine, inherits /metadata/labels, no pod spec of "
        "its own",
        "pod 'decoder' x1 at /spec/decoder, labels /spec/decoder/labels-, annotations "
        "/spec/decoder/annotations-, spec /spec/decoder, inherits /metadata/labels, no pod spec "
        "of its own",
        "pod 'router' x1 at /spec/router, labels /spec/router/labels-, annotations "
        "/spec/router/annotations-, spec /spec/router, inherits /metadata/labels, router",
        "  runner 'x' at /spec/router/runner, env /spec/router/runner/env-",
        "group ReplicaSet 'engine' of 'engine', minMember 1",
        "group ReplicaSet 'decoder' of 'decoder', minMember 1",
        "group ReplicaSet 'router' of 'router', minMember 1"}},
      {"runtime known: NPUs, scheduler and labels come from its component; a component that the "
       "service does not name deploys nothing",
       "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {engine: "
       "{}}}",
       {"ome 'i', labels /metadata/labels-",
        "pod 'engine' x1 at /spec/engine, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine, inherits /spec/engineConfig/labels, "
        "inherits /metadata/labels-, no pod spec of its own, runtime 'engine', by volcano, NPUs",
        "group ReplicaSet 'engine' of 'engine', minMember 1"},
       kSingleNodeRuntime},
      {"a multi-node runtime shapes the service, which gets no leader or worker",
       "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {engine: "
       "{minReplicas: 2}}}",
       {"ome 'i', labels /metadata/labels-",
        "pod 'engine' x1 at /spec/engine, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine, inherits /spec/engineConfig/labels, "
        "inherits /metadata/labels-, no pod spec of its own, runtime 'engine.leader', by volcano, "
        "NPUs",
        "pod 'engine.worker' x3 at /spec/engine/worker, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine/worker-, inherits /spec/engineConfig/labels, "
        "inherits /metadata/labels-, no pod spec of its own, runtime 'engine.worker', by volcano",
        "group LwsGroup 'engine' of 'engine' 'engine.worker', minMember ?"},
       kMultiNodeRuntime},
      {"an own worker size wins over the runtime's; a scheduler makes a pod spec",
       "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {engine: "
       "{leader: {schedulerName: volcano}, worker: {size: 1}}}}",
       {"ome 'i', labels /metadata/labels-",
        "pod 'engine.leader' x1 at /spec/engine/leader, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine/leader, inherits /spec/engineConfig/labels, "
        "inherits /metadata/labels-, runtime 'engine.leader', by volcano, NPUs",
        "pod 'engine.worker' x1 at /spec/engine/worker, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations-, spec /spec/engine/worker, inherits /spec/engineConfig/labels, "
        "inherits /metadata/labels-, no pod spec of its own, runtime 'engine.worker', by volcano",
        "group LwsGroup 'engine' of 'engine.leader' 'engine.worker', minMember ?"},
       kMultiNodeRuntime},
      {"an engine's annotation decides over its shape",
       "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: {engine: "
       "{annotations: {ome.io/deploymentMode: MultiNode}}, decoder: {annotations: "
       "{ome.io/deploymentMode: MultiNode}}}}",
       {"ome 'i', labels /metadata/labels-",
        "pod 'engine' x1 at /spec/engine, labels /spec/engine/labels-, annotations "
        "/spec/engine/annotations, spec /spec/engine, inherits /metadata/labels-, no pod spec of "
        "its own",
        "pod 'decoder' x1 at /spec/decoder, labels /spec/decoder/labels-, annotations "
        "/spec/decoder/annotations, spec /spec/decoder, inherits /metadata/labels-, no pod spec "
        "of its own",
        "group LwsGroup 'engine' of 'engine', minMember ?",
        "group ReplicaSet 'decoder' of 'decoder', minMember 1"}},
      {"the deprecated predictor counts where neither engine nor model is set",
       "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: i}, spec: "
       "{predictor: {minReplicas: 2, containers: [{name: c}]}}}",
       {"ome 'i', labels /metadata/labels-",
        "pod 'predictor' x2 at /spec/predictor, labels /spec/predictor/labels-, annotations "
        "/spec/predictor/annotations-, spec /spec/predictor, inherits /metadata/labels-",
        "  main 'c' at /spec/predictor/containers/0, env /spec/predictor/containers/0/env-",
        "group ReplicaSet 'predictor' of 'predictor', minMember 1"}},
  });
}

TEST(View, Aibrix) {
  ExpectViews({
      {"roles of size 1 share a PodGroup, larger ones have their own, a CPU "
       "role none; the sidecar at index 0 has no NPUs",
       R"(
apiVersion: orchestration.aibrix.ai/v1alpha1
kind: StormService
metadata: {name: s}
spec:
  template:
    metadata: {labels: {a: true}}
    spec:
      roles:
      - {name: prefill, replicas: 2, template: {spec: {containers: [{name: aibrix-runtime}, {name: m, resources: {limits: {huawei.com/Ascend910: "1"}}}]}}}
      - {name: decode, replicas: 3, podGroupSize: 2, template: {spec: {schedulerName: volcano, containers: [{name: m, resources: {limits: {huawei.com/Ascend910: "1"}}}]}}}
      - {name: kv, replicas: 1, podGroupSize: 1, template: {spec: {schedulerName: volcano, containers: []}}}
      - {name: routing, replicas: 1, template: {spec: {containers: [{name: proxy}]}}}
)",
       {"aibrix 's', labels /metadata/labels-",
        "pod 'prefill' x2 at /spec/template/spec/roles/0/template, labels "
        "/spec/template/spec/roles/0/template/metadata/labels-, annotations "
        "/spec/template/spec/roles/0/template/metadata/annotations-, spec "
        "/spec/template/spec/roles/0/template/spec, NPUs",
        "  main 'aibrix-runtime' at /spec/template/spec/roles/0/template/spec/containers/0, env "
        "/spec/template/spec/roles/0/template/spec/containers/0/env-",
        "  main 'm' at /spec/template/spec/roles/0/template/spec/containers/1, env "
        "/spec/template/spec/roles/0/template/spec/containers/1/env-, huawei.com/Ascend910 x1",
        "pod 'decode' x2 at /spec/template/spec/roles/1/template, labels "
        "/spec/template/spec/roles/1/template/metadata/labels-, annotations "
        "/spec/template/spec/roles/1/template/metadata/annotations-, spec "
        "/spec/template/spec/roles/1/template/spec, by volcano, NPUs",
        "  main 'm' at /spec/template/spec/roles/1/template/spec/containers/0, env "
        "/spec/template/spec/roles/1/template/spec/containers/0/env-, huawei.com/Ascend910 x1",
        "pod 'kv' x1 at /spec/template/spec/roles/2/template, labels "
        "/spec/template/spec/roles/2/template/metadata/labels-, annotations "
        "/spec/template/spec/roles/2/template/metadata/annotations-, spec "
        "/spec/template/spec/roles/2/template/spec, router, by volcano",
        "pod 'routing' x1 at /spec/template/spec/roles/3/template, labels "
        "/spec/template/spec/roles/3/template/metadata/labels-, annotations "
        "/spec/template/spec/roles/3/template/metadata/annotations-, spec "
        "/spec/template/spec/roles/3/template/spec, router",
        "  main 'proxy' at /spec/template/spec/roles/3/template/spec/containers/0, env "
        "/spec/template/spec/roles/3/template/spec/containers/0/env-",
        "group PodSet 'one PodSet of role decode' of 'decode', minMember 1",
        "group RoleSet 'the roles with podGroupSize 1' of 'prefill' 'kv', minMember 1",
        "wrong /spec/template/metadata/labels/a: boolean for string"}},
      {"spec.template.spec null",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: s}, "
       "spec: {template: {spec: null}}}",
       {"aibrix 's', labels /metadata/labels-"}},
      {"a role without template; replicas left out are unknown; a strategy "
       "sets minMember",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: s}, spec: "
       "{schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 5}}, roles: [{}, {name: big, "
       "podGroupSize: 4, template: {}}, 7]}}",
       {"aibrix 's', labels /metadata/labels-",
        "pod 'role 0' x? at /spec/roles/0/template, labels /spec/roles/0/template/metadata/labels-"
        ", annotations /spec/roles/0/template/metadata/annotations-, spec "
        "/spec/roles/0/template/spec-",
        "pod 'big' x4 at /spec/roles/1/template, labels /spec/roles/1/template/metadata/labels-, "
        "annotations /spec/roles/1/template/metadata/annotations-, spec "
        "/spec/roles/1/template/spec-",
        "group PodSet 'one PodSet of role big' of 'big', minMember 1",
        "group RoleSet 'the roles with podGroupSize 1' of 'role 0', minMember 5",
        "wrong /spec/roles/2: integer for object"}},
      {"PodSet: its pods inherit its labels",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, metadata: {name: p, labels: "
       "{a: b}}, spec: {podGroupSize: 4, template: {}}}",
       {"aibrix 'p', labels /metadata/labels",
        "pod '' x4 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec-, inherits "
        "/metadata/labels",
        "group PodSet 'the PodSet' of '', minMember 1"}},
      {"a PodSet of another scheduler is no group",
       "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, metadata: {name: p}, spec: "
       "{podGroupSize: 4, template: {spec: {schedulerName: default-scheduler}}}}",
       {"aibrix 'p', labels /metadata/labels-",
        "pod '' x4 at /spec/template, labels /spec/template/metadata/labels-, annotations "
        "/spec/template/metadata/annotations-, spec /spec/template/spec, inherits "
        "/metadata/labels-, by default-scheduler"}},
  });
}

TEST(View, InferOperator) {
  ExpectViews({
      {"with the gang label an instance's PodGroup has the role's metadata; a "
       "role without spec",
       R"(
apiVersion: mindcluster.huawei.com/v1
kind: InferServiceSet
metadata: {name: i}
spec:
  template:
    roles:
    - name: prefill
      replicas: 2
      workload: {kind: StatefulSet}
      metadata: {labels: {infer.huawei.com/gang-schedule: "true"}}
      spec: {replicas: 4, template: {metadata: {labels: {a: b}}}}
    - {name: empty}
    - {workload: {kind: Deployment}, spec: {template: {}}}
)",
       {"infer-operator 'i', labels /metadata/labels-",
        "pod 'prefill' x4 at /spec/template/roles/0/spec/template, labels "
        "/spec/template/roles/0/spec/template/metadata/labels, annotations "
        "/spec/template/roles/0/spec/template/metadata/annotations-, spec "
        "/spec/template/roles/0/spec/template/spec-",
        "pod 'role 2' x1 at /spec/template/roles/2/spec/template, labels "
        "/spec/template/roles/2/spec/template/metadata/labels-, annotations "
        "/spec/template/roles/2/spec/template/metadata/annotations-, spec "
        "/spec/template/roles/2/spec/template/spec-",
        "group Instance 'one instance of role prefill' of 'prefill', minMember 4, labels "
        "/spec/template/roles/0/metadata/labels, annotations "
        "/spec/template/roles/0/metadata/annotations-",
        "group ReplicaSet 'one instance of role role 2' of 'role 2', minMember 1"}},
      {"InferService",
       "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: i}, spec: "
       "{roles: [{name: r, workload: {kind: StatefulSet}, spec: {template: {}}}]}}",
       {"infer-operator 'i', labels /metadata/labels-",
        "pod 'r' x1 at /spec/roles/0/spec/template, labels "
        "/spec/roles/0/spec/template/metadata/labels-, annotations "
        "/spec/roles/0/spec/template/metadata/annotations-, spec "
        "/spec/roles/0/spec/template/spec-",
        "group StatefulSet 'one instance of role r' of 'r', minMember 1"}},
      {"an InstanceSet itself carries the gang label, and its own metadata goes to the PodGroup",
       "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: i, labels: "
       "{infer.huawei.com/gang-schedule: 'true'}}, spec: {name: r, metadata: {labels: {a: b}}, "
       "spec: {replicas: 2, template: {}}}}",
       {"infer-operator 'i', labels /metadata/labels",
        "pod 'r' x2 at /spec/spec/template, labels /spec/spec/template/metadata/labels-, "
        "annotations /spec/spec/template/metadata/annotations-, spec /spec/spec/template/spec-",
        "group Instance 'one instance of role r' of 'r', minMember 2, labels /metadata/labels, "
        "annotations /metadata/annotations-"}},
  });
}

TEST(View, ConfigMapsThatAreOurs) {
  ExpectViews({
      {"a rank table by its name",
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-a}}",
       {"pod 'rings-config-a', labels /metadata/labels-"}},
      {"a scaling rule by its key, which is text",
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: r}, data: {elastic_scaling.json: {a: "
       "1}}}",
       {"pod 'r', labels /metadata/labels-",
        "wrong /data/elastic_scaling.json: object for string"}},
  });
  EXPECT_FALSE(
      BuildView(YamlDocument("{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}").root()));
}

TEST(View, Trap19LookAlikesAreIgnored) {
  for (const char* text :
       {"{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService}",
        "{apiVersion: serving.kserve.io/v1alpha1, kind: ServingRuntime}",
        "{apiVersion: apps/v1, kind: Job}", "{apiVersion: v1, kind: Deployment}",
        "{apiVersion: 1, kind: Deployment}", "{kind: Deployment}", "[]", "7", "null"}) {
    EXPECT_FALSE(BuildView(YamlDocument(text).root())) << text;
  }
  EXPECT_EQ(BuildView(YamlDocument("{apiVersion: batch/v1, kind: Job}").root())->kind, Kind::kJob);
  EXPECT_EQ(
      BuildView(YamlDocument("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job}").root())->kind,
      Kind::kVolcanoJob);
}

TEST(View, NothingIsWritableBelowAWrongType) {
  struct Row {
    const char* object;
    bool labels, spec;
  };
  const std::string start = "{apiVersion: apps/v1, kind: Deployment, spec: ";
  for (const Row& row : std::vector<Row>{
           {"{template: {metadata: {labels: []}}}", true, false},
           {"{template: {metadata: 3}}", true, false},
           {"{template: {spec: []}}", false, true},
           {"{template: text}", true, true},
           {"text", true, true},
           {"{template: {metadata: {labels: {a: 1}}}}", false, false},
           {"{template: {metadata: null, spec: null}}", false, false},
       }) {
    const json::Document object = YamlDocument(start + row.object + "}");
    const auto view = BuildView(object.root());
    EXPECT_EQ(view->templates[0].labels.wrong_type, row.labels) << row.object;
    EXPECT_EQ(view->templates[0].pod_spec.wrong_type, row.spec) << row.object;
  }
}

TEST(View, EnvAndNodeSelectorHoldText) {
  const json::Document object = YamlDocument(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {ownerReferences: x}
spec:
  template:
    spec:
      restartPolicy: false
      nodeSelector: {a: 1, b: "2", c: null}
      containers:
      - name: 3
        env: [{name: A, value: 8}, {name: B, value: null}, {name: C, value: "8"}, text]
        resources: {limits: []}
      - text
)");
  std::vector<std::string> wrong;
  const auto view = BuildView(object.root());
  for (const WrongType& type : view->wrong_types) wrong.emplace_back(type.path);
  EXPECT_EQ(
      wrong,
      (std::vector<std::string>{
          "/metadata/ownerReferences", "/spec/template/spec/restartPolicy",
          "/spec/template/spec/nodeSelector/a", "/spec/template/spec/containers/0/name",
          "/spec/template/spec/containers/0/env/0/value", "/spec/template/spec/containers/0/env/3",
          "/spec/template/spec/containers/0/resources/limits",
          "/spec/template/spec/containers/1"}));
}

TEST(View, Owners) {
  struct Row {
    const char* owner;  // of a Pod
    const char* want;   // "group/kind name injected"
  };
  for (const Row& row : std::vector<Row>{
           {"{apiVersion: apps/v1, kind: ReplicaSet, name: r, controller: true}",
            "apps/ReplicaSet r 1"},
           {"{apiVersion: ome.io/v1beta1, kind: InferenceService, name: i, controller: true}",
            "ome.io/InferenceService i 0"},
           {"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, name: s, controller: "
            "true}",
            "orchestration.aibrix.ai/RoleSet s 1"},
           {"{apiVersion: v1, kind: ReplicaSet, name: r, controller: true}", "/ReplicaSet r 0"},
           {"{apiVersion: apps/v1, kind: DaemonSet, name: d, controller: true}",
            "apps/DaemonSet d 1"},
           {"{apiVersion: v1, kind: ReplicationController, name: r, controller: true}",
            "/ReplicationController r 1"},
           {"{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: c, controller: true}",
            "apps.kruise.io/CloneSet c 0"},
           {"{apiVersion: serving.kserve.io/v1, kind: InferenceService, name: i, controller: true}",
            "serving.kserve.io/InferenceService i 0"},
           {"{apiVersion: apps/v1, kind: ReplicaSet, name: r}", "none"},
           {"{apiVersion: 1, kind: 2, controller: true}", "/  0"},
           {"text", "none"},
       }) {
    const json::Document object = YamlDocument(std::string("{apiVersion: v1, kind: Pod, metadata: "
                                                           "{ownerReferences: [") +
                                               row.owner + "]}}");
    const auto view = BuildView(object.root());
    const std::string got = view->controller ? std::string(view->controller->group) + "/" +
                                                   std::string(view->controller->kind) + " " +
                                                   std::string(view->controller->name) + " " +
                                                   (view->controller_injected ? "1" : "0")
                                             : "none";
    EXPECT_EQ(got, row.want) << row.owner;
  }
}

// Whatever stands at any place of any kind, a view is
// made, its pointers are real, and nothing that cannot be written is offered for writing.
TEST(View, AnyValueAtAnyPlaceOfAnyKind) {
  size_t kinds = 0;
  for (const std::string& text : RichObjects()) {
    const Json object = Yaml(text);
    ++kinds;
    for (const std::string& pointer : AllPointers(object)) {
      for (const Json& value : {Json(nullptr), Json(3), Json(true), Json("text"), Json(1.5),
                                Json::array(), Json::array({nullptr, 1, "x", Json::object()}),
                                Json::object(), Json{{"a", nullptr}}, Json(UINT64_MAX)}) {
        Json changed = object;
        changed[Json::json_pointer(pointer)] = value;
        const json::Document document(changed);
        const json::Value& laid = document.root();
        const auto view = BuildView(laid);
        if (!view) continue;  // apiVersion, kind or the name of a ConfigMap was replaced
        SCOPED_TRACE(pointer + " = " + value.dump() + " in " + text);
        for (const WrongType& wrong : view->wrong_types) {
          EXPECT_EQ(json::Resolve(laid, wrong.path), wrong.value);
        }
        for (const PodTemplateView& pod : view->templates) {
          for (const FieldView* place : {&pod.labels, &pod.annotations, &pod.pod_spec}) {
            if (place->value != nullptr) {
              EXPECT_EQ(json::Resolve(laid, place->path.Text()), place->value);
            }
            if (place->wrong_type) continue;
            // Every ancestor that exists is a map or list, so that a patch can be applied.
            const std::string path = place->path;
            for (size_t end = 0; end != std::string::npos;) {
              end = path.find('/', end + 1);
              const json::Value* at = json::Resolve(laid, path.substr(0, end));
              if (at == nullptr || at->is_null()) break;
              EXPECT_TRUE(at->is_object() || at->is_array()) << path;
            }
          }
          RolloutBlocked(*view, pod, 2);
        }
      }
    }
  }
  EXPECT_EQ(kinds, RichObjects().size());
}

TEST(GroupLabels, EveryPlaceOnceNearestFirst) {
  const json::Document runtime_object = YamlDocument(kSingleNodeRuntime);
  const auto runtime = std::make_shared<const WorkloadView>(*BuildView(runtime_object.root()));
  struct Row {
    const char* name;
    std::string object;
    std::vector<std::string> want;
  };
  for (const Row& row : std::vector<Row>{
           {"a vcjob's own metadata first, then its tasks",
            "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {labels: "
            "{fault-scheduling: a}}, spec: {tasks: [{template: {metadata: {labels: "
            "{fault-scheduling: b}}}}, {template: {}}]}}",
            {"/metadata/labels/fault-scheduling",
             "/spec/tasks/0/template/metadata/labels/fault-scheduling"}},
           {"leader and worker of OME share one map",
            "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {labels: "
            "{fault-scheduling: c}}, spec: {engine: {labels: {fault-scheduling: a}, leader: {}, "
            "worker: {}}}}",
            {"/spec/engine/labels/fault-scheduling"}},
           {"what only the runtime says stands in another object",
            "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {labels: "
            "{fault-scheduling: c}}, spec: {engine: {}}}",
            {"/spec/engineConfig/labels/fault-scheduling of the runtime"}},
           {"service metadata is the last resort",
            "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {labels: "
            "{fault-scheduling: c}}, spec: {decoder: {}}}",
            {"/metadata/labels/fault-scheduling"}},
       }) {
    const json::Document object = YamlDocument(row.object);
    const auto view = BuildView(object.root(), runtime);
    std::vector<std::string> got;
    for (const LabelOccurrence& carried :
         view->GroupLabels(view->pod_groups[0], "fault-scheduling")) {
      got.push_back(carried.Path() + (carried.in_runtime ? " of the runtime" : ""));
    }
    EXPECT_EQ(got, row.want) << row.name;
  }
}

TEST(Rollout, Limits) {
  struct Row {
    const char* name;
    std::string object;
    int64_t k;
    const char* want;  // "surge+unavailable blocked?"
    std::string runtime = {};
  };
  const auto deployment = [](std::string spec) {
    return "{apiVersion: apps/v1, kind: Deployment, spec: {" + spec + "}}";
  };
  const auto service = [](std::string engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, spec: {engine: {" + engine + "}}}";
  };
  for (const Row& row : std::vector<Row>{
           {"Kubernetes' default: surge rounds up, unavailable down", deployment("replicas: 6"), 4,
            "2+1 blocked"},
           {"each is evaluated alone (design: maxSurge < K and maxUnavailable < K)",
            deployment("replicas: 6"), 3, "2+1 blocked"},
           {"a gang of 1 always proceeds", deployment("replicas: 6"), 1, "2+1 proceeds"},
           {"percentages", deployment("replicas: 4, strategy: {rollingUpdate: {maxSurge: 100%}}"),
            4, "4+1 proceeds"},
           {"whole numbers",
            deployment("replicas: 4, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 3}}"),
            4, "0+3 blocked"},
           {"when both round to nothing one may be unavailable",
            deployment("replicas: 3, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: "
                       "25%}}"),
            2, "0+1 blocked"},
           {"Recreate", deployment("replicas: 4, strategy: {type: Recreate}"), 4, "none proceeds"},
           {"nonsense counts as absent",
            deployment("replicas: 4, strategy: {rollingUpdate: {maxSurge: many, maxUnavailable: "
                       "{}}}"),
            4, "1+1 blocked"},
           {"huge figures stay in range",
            deployment("replicas: 9223372036854775807, strategy: {rollingUpdate: {maxSurge: "
                       "9223372036854775807%}}"),
            2, "10000000000000000+250000000 proceeds"},
           {"OME's default, where Kubernetes' would be 2+2", service("minReplicas: 8"), 2,
            "1+0 blocked"},
           {"OME: what is missing beside a given member is Kubernetes' default",
            service("minReplicas: 8, deploymentStrategy: {rollingUpdate: {maxUnavailable: 50%}}"),
            6, "2+4 blocked"},
           {"OME: the runtime's strategy holds where the service has none",
            service("minReplicas: 2"), 2, "none proceeds",
            "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: "
            "{deploymentStrategy: {type: Recreate}}}}"},
           {"a runtime alone: the smallest service that the gang suits",
            "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: "
            "{deploymentStrategy: {rollingUpdate: {maxSurge: 50%}}}}}",
            4, "2+1 blocked"},
           {"multi-node has no rolling Deployment", service("leader: {}"), 2, "none proceeds"},
           {"a StatefulSet keeps one PodGroup", "{apiVersion: apps/v1, kind: StatefulSet}", 2,
            "none proceeds"},
       }) {
    SCOPED_TRACE(row.name);
    const json::Document object = YamlDocument(row.object);
    const json::Document runtime_object =
        row.runtime.empty() ? json::Document() : YamlDocument(row.runtime);
    auto runtime = BuildView(runtime_object.root());
    const auto view =
        BuildView(object.root(),
                  runtime ? std::make_shared<const WorkloadView>(*std::move(runtime)) : nullptr);
    const PodTemplateView& pod = view->templates[0];
    const auto update = RollingUpdateOf(*view, pod, row.k);
    const std::string got =
        (update ? std::to_string(update->max_surge) + "+" + std::to_string(update->max_unavailable)
                : "none") +
        (RolloutBlocked(*view, pod, row.k) ? " blocked" : " proceeds");
    EXPECT_EQ(got, row.want);
  }
}

}  // namespace
}  // namespace mindgate::schemas
