#include "schemas/children.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/objects.h"

// What the controllers make of an object, kind by kind.
namespace mindgate::schemas {
namespace {

// "1 PodGroup train-<uid>: 3 pods, minMember 3 (ascend-operator)"
std::vector<std::string> RowsOf(const std::string& yaml,
                                const std::vector<std::string>& beside = {}) {
  const json::Document object(mindgate::testing::Yaml(yaml));
  const auto view = BuildView(object.root());
  std::vector<std::string> rows;
  if (!view) return rows;
  const mindgate::testing::FakeObjects others(beside);
  for (const ChildRow& each : ChildRowsOf(*view, &others, view->ns)) {
    std::string row = (each.count.empty() ? "?" : each.count) + " " + each.kind + " " + each.name +
                      ": " + each.facts;
    if (!each.maker.empty()) row += " (" + each.maker + ")";
    rows.push_back(std::move(row));
  }
  return rows;
}

// A pod template with that many NPUs.
std::string Npus(const std::string& resources) {
  return "{spec: {schedulerName: volcano, containers: [{name: ascend, resources: {" + resources +
         "}}]}}";
}
const std::string kEight =
    Npus("requests: {huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: 8}");
const std::string kLimitsAlone = Npus("limits: {huawei.com/Ascend910: 8}");

using Rows = std::vector<std::string>;
constexpr const char* kPod = "8 huawei.com/Ascend910 each, scheduler volcano";

TEST(ChildRows, OfAnAscendJob) {
  const std::string head =
      "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: chat}, spec: {";
  const auto specs = [](const std::string& pod) {
    return "replicaSpecs: {Master: {replicas: 1, template: " + pod +
           "}, Worker: {replicas: 3, template: " + pod + "}}}}";
  };
  const Rows of_all = {"1 Pod Master: " + std::string(kPod), "3 Pod Worker: " + std::string(kPod),
                       "1 Service chat-master-0:  (ascend-operator)",
                       "? ConfigMap rings-config-chat: the rank table, when it is there "
                       "(ascend-operator)"};
  const auto with = [&](const std::string& group) {
    Rows rows = {group};
    rows.insert(rows.end(), of_all.begin(), of_all.end());
    return rows;
  };
  EXPECT_EQ(RowsOf(head + specs(kEight)),
            with("1 PodGroup chat-<uid>: 4 pods, minMember 4, 32 huawei.com/Ascend910 "
                 "(ascend-operator)"));
  EXPECT_EQ(RowsOf(head + specs(kLimitsAlone)),
            with("1 PodGroup chat-<uid>: 4 pods, minMember 4, 32 huawei.com/Ascend910 "
                 "(ascend-operator)"))
      << "without any request the operator counts the limits";
  EXPECT_EQ(
      RowsOf(head + "runPolicy: {schedulingPolicy: {minAvailable: 2, queue: q}}, " + specs(kEight)),
      with("1 PodGroup chat-<uid>: 4 pods, minMember 2, some huawei.com/Ascend910, queue q "
           "(ascend-operator)"));
  EXPECT_EQ(
      RowsOf(head + "runPolicy: {schedulingPolicy: {minResources: {cpu: 4}}}, " + specs(kEight)),
      with("1 PodGroup chat-<uid>: 4 pods, minMember 4, no NPUs in minResources "
           "(ascend-operator)"));
}

TEST(ChildRows, OfAVolcanoJob) {
  const auto job = [](const std::string& pod) {
    return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train}, spec: "
           "{minAvailable: 2, plugins: {svc: []}, tasks: [{name: w, replicas: 2, template: " +
           pod + "}]}}";
  };
  EXPECT_EQ(RowsOf(job(kEight)),
            (Rows{"1 PodGroup train-<uid>: 2 pods, minMember 2, 16 huawei.com/Ascend910 "
                  "(volcano-controllers)",
                  "2 Pod w: " + std::string(kPod), "1 Service train:  (volcano-controllers)"}));
  EXPECT_EQ(RowsOf(job(kLimitsAlone)).front(),
            "1 PodGroup train-<uid>: 2 pods, minMember 2, no NPUs in minResources "
            "(volcano-controllers)");
}

TEST(ChildRows, OfWhatPgControllerGroups) {
  EXPECT_EQ(RowsOf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: "
                   "{ring-controller.atlas: a}}, spec: {replicas: 3, template: " +
                   kLimitsAlone + "}}"),
            (Rows{"1 PodGroup podgroup-<uid of its ReplicaSet>: 3 pods, minMember 1, 8 "
                  "huawei.com/Ascend910 (volcano-controllers)",
                  "3 Pod : " + std::string(kPod),
                  "? ConfigMap rings-config-d: the rank table, when it is there "
                  "(ascend-operator)"}));
}

TEST(ChildRows, OfADaemonSet) {
  EXPECT_EQ(RowsOf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: " +
                   kEight + "}}"),
            (Rows{"1 PodGroup podgroup-<uid>: minMember 1, 8 huawei.com/Ascend910 "
                  "(volcano-controllers)",
                  "? Pod : " + std::string(kPod)}));
}

TEST(ChildRows, OfGroupsOfALeaderWorkerSet) {
  const auto rows = [](const std::string& fields) {
    return RowsOf(
        "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, "
        "spec: {replicas: 2, " +
        fields + "leaderWorkerTemplate: {size: 4, workerTemplate: " + kEight + "}}}");
  };
  EXPECT_EQ(rows(""), (Rows{"2 PodGroup l-<group>-<revision>: 4 pods each, minMember unknown, some "
                            "huawei.com/Ascend910 (lws)",
                            "8 Pod worker: " + std::string(kPod), "1 Service l:  (lws)"}));
  EXPECT_EQ(rows("networkConfig: {subdomainPolicy: UniquePerReplica}, ").back(),
            "2 Service l-1: one a group; this is the last one's (lws)");
}

TEST(ChildRows, OfAStormService) {
  EXPECT_EQ(RowsOf("{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: "
                   "{name: s}, spec: {replicas: 1, template: {spec: {roles: [{name: prefill, "
                   "replicas: 2, template: " +
                   kEight + "}, {name: decode, replicas: 3, podGroupSize: 2, template: " + kEight +
                   "}]}}}}"),
            (Rows{"3 PodGroup podgroup-<uid of its PodSet>: 2 pods each, minMember 1, 8 "
                  "huawei.com/Ascend910 (volcano-controllers)",
                  "6 Pod decode: " + std::string(kPod),
                  "1 PodGroup podgroup-<uid of its RoleSet>: 2 pods, minMember 1, 8 "
                  "huawei.com/Ascend910 (volcano-controllers)",
                  "2 Pod prefill: " + std::string(kPod), "1 Service s:  (aibrix)"}));
}

TEST(ChildRows, OfAutoscalersBeside) {
  const auto hpa = [](const std::string& name, const std::string& ns, const std::string& target) {
    return "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " + name +
           ", namespace: " + ns + "}, spec: {scaleTargetRef: " + target + ", maxReplicas: 8}}";
  };
  const std::string chat = "{apiVersion: apps/v1, kind: Deployment, name: d}";
  const auto rows = RowsOf(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: a}, spec: {template: "
      "" + kEight +
          "}}",
      {hpa("h", "a", chat), hpa("elsewhere", "b", chat),
       hpa("other", "a", "{apiVersion: apps/v1, kind: Deployment, name: e}"),
       "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k, namespace: a}, "
       "spec: {scaleTargetRef: {name: d}}}",
       "{apiVersion: autoscaling.aibrix.ai/v1alpha1, kind: PodAutoscaler, metadata: {name: p, "
       "namespace: a}, spec: {minReplicas: 2, maxReplicas: x, scaleTargetRef: " +
           chat + "}}"});
  EXPECT_EQ(
      Rows(rows.begin() + 2, rows.end()),
      (Rows{"1 HorizontalPodAutoscaler h: 1 to 8 replicas", "1 ScaledObject k: 0 to 100 replicas",
            "1 PodAutoscaler p: 2 to unknown replicas"}));
}

TEST(ChildRows, OfAutoscalersThatOmeMakes) {
  const auto rows = [](const std::string& annotations, const std::string& bounds) {
    Rows found;
    for (const std::string& row : RowsOf(
             "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: chat}, spec: "
             "{engine: {annotations: {" +
             annotations + "}, " + bounds + "}}}")) {
      if (row.find("Pod") != 2) found.push_back(row);
    }
    return found;
  };
  EXPECT_EQ(rows("", "minReplicas: 2, maxReplicas: 8"),
            Rows{"1 HorizontalPodAutoscaler chat-engine: 2 to 8 replicas (ome)"});
  EXPECT_EQ(rows("", ""), Rows{"1 HorizontalPodAutoscaler chat-engine: 1 to 1 replicas (ome)"});
  EXPECT_EQ(rows("ome.io/autoscalerClass: keda", "minReplicas: 2"),
            Rows{"1 ScaledObject scaledobject-chat-engine: 2 to 2 replicas (ome)"});
  EXPECT_EQ(rows("ome.io/autoscalerClass: external", "minReplicas: 2"), Rows());
}

TEST(ChildRows, OfAutoscalersThatInferOperatorMakes) {
  const auto rows = [](const std::string& kind, const std::string& spec) {
    Rows found;
    for (const std::string& row : RowsOf("{apiVersion: mindcluster.huawei.com/v1, kind: " + kind +
                                         ", metadata: {name: chat}, spec: " + spec + "}")) {
      if (row.find("Pod") != 2) found.push_back(row);
    }
    return found;
  };
  const std::string roles =
      "roles: [{name: prefill, scalingPolicy: {type: HPA, spec: {minReplicas: 2, maxReplicas: 4}}, "
      "spec: {template: " +
      kEight + "}}, {name: decode, scalingPolicy: {type: VPA}, spec: {template: " + kEight + "}}]";
  EXPECT_EQ(rows("InferService", "{" + roles + "}"),
            Rows{"1 HorizontalPodAutoscaler chat-prefill-scaler: role prefill, 2 to 4 replicas "
                 "(infer-operator)"});
  EXPECT_EQ(rows("InferServiceSet", "{replicas: 2, template: {" + roles + "}}"),
            Rows{"2 HorizontalPodAutoscaler chat-<index>-prefill-scaler: role prefill, 2 to 4 "
                 "replicas (infer-operator)"});
  EXPECT_EQ(rows("InstanceSet",
                 "{scalingPolicy: {type: HPA, spec: {maxReplicas: 4}}, spec: "
                 "{template: " +
                     kEight + "}}"),
            Rows{"1 HorizontalPodAutoscaler chat-scaler: 1 to 4 replicas (infer-operator)"});
}

// AIBrix makes these itself, as they are written.
TEST(ChildRows, OfAStrategyOfAibrix) {
  const auto role_set = [](const std::string& min_resources) {
    return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: r}, "
           "spec: {schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 2, queue: q" +
           min_resources + "}}, roles: [{name: prefill, replicas: 2, template: " + kEight + "}]}}";
  };
  EXPECT_EQ(RowsOf(role_set("")).front(),
            "1 PodGroup r: 2 pods, minMember 2, no NPUs in minResources, queue q (aibrix)");
  EXPECT_EQ(RowsOf(role_set(", minResources: {huawei.com/Ascend910: 16}")).front(),
            "1 PodGroup r: 2 pods, minMember 2, 16 huawei.com/Ascend910, queue q (aibrix)");
}

TEST(ChildRows, OfPodsThatTheRuntimeGivesItsNpus) {
  const json::Document runtime(mindgate::testing::Yaml(
      "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, metadata: {name: r}, spec: "
      "{engineConfig: {schedulerName: volcano, runner: {name: m, resources: {limits: "
      "{huawei.com/Ascend910: 8}}}}}}"));
  const json::Document service(
      mindgate::testing::Yaml("{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: "
                              "{name: chat}, spec: {runtime: "
                              "{name: r, kind: ServingRuntime}, engine: {minReplicas: 2}}}"));
  const auto view =
      BuildView(service.root(), std::make_shared<const WorkloadView>(*BuildView(runtime.root())));
  Rows rows;
  for (const ChildRow& each : ChildRowsOf(*view)) rows.push_back(each.kind + " " + each.facts);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "PodGroup 2 pods, minMember 1, 8 huawei.com/Ascend910");
  EXPECT_EQ(rows[1], std::string("Pod ") + kPod);
}

TEST(ChildRows, OfAComponentWithWorkers) {
  const std::string runner =
      "{schedulerName: volcano, runner: {name: m, resources: {requests: {huawei.com/Ascend910: 8}, "
      "limits: {huawei.com/Ascend910: 8}}}}";
  EXPECT_EQ(RowsOf("{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: chat}, "
                   "spec: {engine: {minReplicas: 3, leader: " +
                   runner + ", worker: {size: 1, " + runner.substr(1) + "}}}"),
            (Rows{"3 PodGroup chat-engine-<group>-<revision>: 2 pods each, minMember unknown, some "
                  "huawei.com/Ascend910 (lws)",
                  "3 Pod engine.leader: " + std::string(kPod),
                  "3 Pod engine.worker: " + std::string(kPod)}));
}

TEST(ChildRows, OfVirtualNpus) {
  const std::string pod = Npus("limits: {huawei.com/Ascend310P-2c: 1}");
  EXPECT_EQ(RowsOf("{apiVersion: v1, kind: Pod, metadata: {name: p}, " + pod.substr(1)).back(),
            "1 Pod : 1 huawei.com/Ascend310P-2c each, scheduler volcano");
}

TEST(ChildRows, OfWhatMakesNoPods) {
  EXPECT_EQ(RowsOf("{apiVersion: v1, kind: Service, metadata: {name: s}}"), Rows());
}

}  // namespace
}  // namespace mindgate::schemas
