#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/value.h"

// Objects with as many of the members as we read, for what must hold whatever stands in them.
namespace mindgate::testing {

// One rich object of each kind, for what must hold of all.
inline const std::vector<std::string>& RichObjects() {
  static const std::vector<std::string> objects = {
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {a: b}, annotations: "
      "{c: d}, ownerReferences: [{apiVersion: v1, kind: Pod, controller: true}]}, spec: {replicas: "
      "1, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 25%}}, "
      "template: {metadata: {labels: {a: b}, annotations: {c: d}}, spec: {schedulerName: volcano, "
      "nodeSelector: {a: b}, containers: [{name: m, env: [{name: A, value: b}], resources: "
      "{requests: {huawei.com/Ascend910: 1}, limits: {huawei.com/Ascend910: 1}}}], "
      "initContainers: [{name: i}]}}}}",
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 2, "
      "template: {spec: {containers: [{name: m}]}}}}",
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {replicas: 2, "
      "template: {spec: {containers: [{name: m}]}}}}",
      "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {parallelism: 1, completions: "
      "1, template: {spec: {containers: [{name: m}]}}}}",
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {metadata: "
      "{}, spec: {parallelism: 1, template: {spec: {containers: [{name: m}]}}}}}}",
      "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: b}}, spec: {containers: [{name: "
      "m, env: [{name: a}]}]}}",
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: "
      "{schedulerName: volcano, queue: q, minAvailable: 1, tasks: [{name: t, replicas: 1, "
      "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m}]}}}]}}",
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, metadata: {name: a}, spec: "
      "{jobTemplate: {metadata: {labels: {a: b}}, spec: {minAvailable: 1, tasks: [{name: t, "
      "template: {spec: {}}}]}}}}",
      "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: a, labels: {jobID: x, "
      "app: y}}, spec: {schedulerName: volcano, runPolicy: {backoffLimit: 1, schedulingPolicy: "
      "{queue: q, minAvailable: 1}}, replicaSpecs: {Master: {replicas: 1, restartPolicy: Never, "
      "template: {spec: {containers: [{name: ascend}]}}}}}}",
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}, spec: "
      "{replicas: 1, startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 2, leaderTemplate: "
      "{spec: {}}, workerTemplate: {spec: {}}}}}",
      "{apiVersion: ome.io/v1beta1, kind: ServingRuntime, metadata: {name: a}, spec: "
      "{engineConfig: {labels: {a: b}, annotations: {ome.io/deploymentMode: MultiNode}, leader: "
      "{runner: {name: r}}, worker: {size: 1, runner: {name: r}}}, routerConfig: {runner: {name: "
      "r}}}}",
      "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: a}, spec: "
      "{decoderConfig: {minReplicas: 1, runner: {name: r, env: [{name: a}]}}}}",
      "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: a, labels: {a: b}}, "
      "spec: {runtime: {name: r, kind: ServingRuntime}, engine: {minReplicas: 1, labels: {a: b}, "
      "deploymentStrategy: {rollingUpdate: {maxSurge: 1}}}, decoder: {leader: {}, worker: {size: "
      "2}}}}",
      "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {predictor: "
      "{minReplicas: 1, containers: [{name: c}]}}}",
      "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a}, "
      "spec: {replicas: 1, template: {metadata: {labels: {a: b}}, spec: {schedulingStrategy: "
      "{volcanoSchedulingStrategy: {minMember: 1}}, roles: [{name: r, replicas: 1, podGroupSize: "
      "2, schedulingStrategy: {volcanoSchedulingStrategy: {minMember: 1}}, template: {spec: "
      "{schedulerName: volcano, containers: [{name: m}]}}}]}}}}",
      "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, metadata: {name: a}, spec: "
      "{roles: [{name: r, replicas: 1, template: {spec: {containers: [{name: m}]}}}]}}",
      "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: PodSet, metadata: {name: a}, spec: "
      "{podGroupSize: 2, template: {spec: {containers: [{name: m}]}}}}",
      "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: a}, spec: "
      "{replicas: 1, template: {roles: [{name: r, replicas: 1, workload: {kind: StatefulSet}, "
      "metadata: {labels: {infer.huawei.com/gang-schedule: 'true'}}, spec: {replicas: 2, template: "
      "{spec: {containers: [{name: m}]}}}}]}}}",
      "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: a}, spec: "
      "{roles: [{name: r, spec: {template: {}}}]}}",
      "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: a, labels: "
      "{infer.huawei.com/gang-schedule: 'true'}}, spec: {name: r, spec: {template: {}}}}",
      "{apiVersion: v1, kind: Service, metadata: {name: mindie-ms-coordinator}, spec: {type: "
      "NodePort, ports: [{port: 1, nodePort: 31015}]}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-a}, data: {hccl.json: "
      "'{}'}}",
  };
  return objects;
}

// Every pointer into the object, of leaves and of what holds them.
inline std::vector<std::string> AllPointers(const json::Json& root) {
  std::vector<std::string> pointers;
  const json::Json flat = root.flatten();
  for (const auto& [leaf, value] : flat.items()) {
    for (size_t end = 0; end != std::string::npos;) {
      end = leaf.find('/', end + 1);
      pointers.push_back(leaf.substr(0, end));
    }
  }
  std::sort(pointers.begin(), pointers.end());
  pointers.erase(std::unique(pointers.begin(), pointers.end()), pointers.end());
  return pointers;
}

}  // namespace mindgate::testing
