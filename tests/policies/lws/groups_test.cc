#include <gtest/gtest.h>

#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(GroupScheduler, Table) {
  const auto lws = [](const std::string& leader, const std::string& worker) {
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: "
           "{leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: {" +
           leader + "containers: [{name: l}]}}, workerTemplate: {spec: {" + worker +
           "containers: [{name: w, resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}";
  };
  const std::string volcano = "schedulerName: volcano, ";
  const std::string npus = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}";
  ExpectFindings(
      "MG136",
      {
          {"the worker only",
           lws("", volcano),
           {"spec.leaderWorkerTemplate.leaderTemplate.spec.schedulerName: scheduler "
            "\"default-scheduler\" places the leader, but Volcano places the rest of its gang, "
            "which waits for pods that Volcano does not see"}},
          {"a leader of its own scheduler",
           lws("schedulerName: other, ", volcano),
           {"spec.leaderWorkerTemplate.leaderTemplate.spec.schedulerName: scheduler \"other\" "
            "places the leader, but Volcano places the rest of its gang, which waits for pods that "
            "Volcano does not see"}},
          {"both", lws(volcano, volcano), {}},
          {"neither", lws("", "schedulerName: default-scheduler, "), {}},
          {"without leader template",
           "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: "
           "{leaderWorkerTemplate: {workerTemplate: {" +
               std::string(kNpuSpec) + "}}}}",
           {}},
          {"an OME leader without scheduler",
           "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: {leader: {" +
               npus + "}, worker: {" + volcano + npus + "}}}}",
           {"spec.engineConfig.leader.schedulerName: scheduler \"default-scheduler\" places the "
            "engine.leader, but Volcano places the rest of its gang, which waits for pods that "
            "Volcano does not see"}},
          {"MG105 reports NPU pods of another scheduler",
           "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: {leader: {" +
               volcano + npus + "}, worker: {schedulerName: other, " + npus + "}}}}",
           {}},
          {"the leader is the unknown runtime's",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, spec: {runtime: {name: x}, "
           "engine: "
           "{worker: {" +
               volcano + npus + "}}}}",
           {},
           "",
           {},
           false,
           true},
          {"Deployments have no leader",
           "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, spec: {engineConfig: {" + npus +
               "}}}",
           {}},
      });
}

TEST(LwsRestartPolicy, Table) {
  const auto lws = [](const std::string& group, const std::string& label) {
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: "
           "{leaderWorkerTemplate: {" +
           group + ", workerTemplate: {metadata: {labels: {" + label + "}}, " + kNpuSpec + "}}}}";
  };
  const std::string force = "fault-scheduling: force";
  ExpectFindings(
      "MG137",
      {
          {"None with fault rescheduling",
           lws("size: 4, restartPolicy: None", force),
           {"spec.leaderWorkerTemplate.restartPolicy: restartPolicy None keeps the rest of a group "
            "running when one of its pods is replaced after a fault, and the new pod cannot join "
            "it"}},
          {"Default is the old name of None",
           lws("size: 4, restartPolicy: Default", force),
           {"spec.leaderWorkerTemplate.restartPolicy: restartPolicy Default keeps the rest of a "
            "group running when one of its pods is replaced after a fault, and the new pod cannot "
            "join it"}},
          {"recreated as a whole",
           lws("size: 4, restartPolicy: RecreateGroupOnPodRestart", force),
           {}},
          {"left out", lws("size: 4", force), {}},
          {"groups of one pod", lws("size: 1, restartPolicy: None", force), {}},
          {"rescheduling is off",
           lws("size: 4, restartPolicy: None", "fault-scheduling: 'off'"),
           {}},
          {"no fault label", lws("size: 4, restartPolicy: None", ""), {}},
      });
}

TEST(LwsQueue, Table) {
  const auto lws = [](const std::string& own, const std::string& leader,
                      const std::string& worker) {
    const auto pod = [](const std::string& annotations) {
      return "{metadata: {annotations: {" + annotations + "}}, " + std::string(kNpuSpec) + "}";
    };
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l, "
           "annotations: {" +
           own + "}}, spec: {leaderWorkerTemplate: {size: 2, leaderTemplate: " + pod(leader) +
           ", workerTemplate: " + pod(worker) + "}}}";
  };
  const std::string a = "scheduling.volcano.sh/queue-name: a";
  const std::string b = "scheduling.volcano.sh/queue-name: b";
  const auto finding = [](const std::string& pod, const std::string& end) {
    return std::vector<std::string>{
        "metadata.annotations[scheduling.volcano.sh/queue-name]: the pods of the " + pod +
        " name queue \"a\", but under gang scheduling the queue is that of the LeaderWorkerSet, " +
        end};
  };
  const std::string none = "here the default one with its quota";
  schemas::Versions before_gangs;
  before_gangs.Set(schemas::Component::kLeaderWorkerSet, {0, 6});
  ExpectFindings(
      "MG194",
      {
          {"on both templates", lws("", a, a), finding("leader", none)},
          {"on the workers", lws("", "", a), finding("worker", none)},
          {"another one", lws(b, a, ""), finding("leader", "\"b\"")},
          {"on both", lws(a, a, a), {}},
          {"on its own metadata alone", lws(a, "", ""), {}},
          {"none", lws("", "", ""), {}},
          {.name = "a release without gangs", .object = lws("", a, a), .versions = before_gangs},
      });
}

}  // namespace
}  // namespace mindgate::testing
