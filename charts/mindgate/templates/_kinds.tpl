{{- /* Written by scripts/chart-kinds from the rows of schemas/kinds.h. */}}
{{/* By registration: its resources, and by kind the owners whose controllers make such objects. */}}
{{- define "mindgate.kinds" -}}
mindcluster:
  injected: true
  resources:
    - {group: mindxdl.gitee.com, version: v1, names: [ascendjobs]}
    - {group: mindcluster.huawei.com, version: v1, names: [inferservicesets, inferservices, instancesets]}
  makers:
    InferService:
      - mindcluster.huawei.com/v1 InferServiceSet
    InstanceSet:
      - mindcluster.huawei.com/v1 InferService
volcano:
  injected: true
  resources:
    - {group: batch.volcano.sh, version: v1alpha1, names: [jobs, cronjobs]}
  makers:
    Job:
      - batch.volcano.sh/v1alpha1 CronJob
workloads:
  injected: true
  resources:
    - {group: batch, version: v1, names: [jobs]}
    - {group: apps, version: v1, names: [deployments, replicasets, statefulsets]}
  makers:
    Job:
      - batch/v1 CronJob
    Deployment:
      - ome.io/v1beta1 InferenceService
      - mindcluster.huawei.com/v1 InstanceSet
    ReplicaSet:
      - apps/v1 Deployment
    StatefulSet:
      - leaderworkerset.x-k8s.io/v1 LeaderWorkerSet
      - mindcluster.huawei.com/v1 InstanceSet
      - v1 Pod
cronjobs:
  injected: true
  resources:
    - {group: batch, version: v1, names: [cronjobs]}
daemonsets:
  injected: true
  resources:
    - {group: apps, version: v1, names: [daemonsets]}
    - {group: "", version: v1, names: [replicationcontrollers]}
leaderworkersets:
  injected: true
  resources:
    - {group: leaderworkerset.x-k8s.io, version: v1, names: [leaderworkersets]}
  makers:
    LeaderWorkerSet:
      - ome.io/v1beta1 InferenceService
ome:
  injected: true
  resources:
    - {group: ome.io, version: v1beta1, names: [servingruntimes, inferenceservices]}
    - {group: ome.io, version: v1beta1, names: [clusterservingruntimes], scope: Cluster}
aibrix:
  injected: true
  resources:
    - {group: orchestration.aibrix.ai, version: v1alpha1, names: [stormservices, rolesets, podsets]}
  makers:
    RoleSet:
      - orchestration.aibrix.ai/v1alpha1 StormService
    PodSet:
      - orchestration.aibrix.ai/v1alpha1 RoleSet
pods:
  injected: true
  resources:
    - {group: "", version: v1, names: [pods]}
  makers:
    Pod:
      - mindxdl.gitee.com/v1 AscendJob
      - batch.volcano.sh/v1alpha1 Job
      - batch/v1 Job
      - apps/v1 ReplicaSet
      - apps/v1 StatefulSet
      - apps/v1 DaemonSet
      - v1 ReplicationController
      - orchestration.aibrix.ai/v1alpha1 RoleSet
      - orchestration.aibrix.ai/v1alpha1 PodSet
configmaps:
  injected: false
  resources:
    - {group: "", version: v1, names: [configmaps]}
  makers:
    ConfigMap:
      - mindxdl.gitee.com/v1 AscendJob
      - batch.volcano.sh/v1alpha1 Job
      - apps/v1 Deployment
      - apps/v1 StatefulSet
services:
  injected: false
  resources:
    - {group: "", version: v1, names: [services]}
podgroups:
  injected: false
  resources:
    - {group: scheduling.volcano.sh, version: v1beta1, names: [podgroups]}
{{- end }}

{{/* The owners of pods that may opt out of rescheduling. */}}
{{- define "mindgate.ownerRules" -}}
- apiGroups: [""]
  resources: [replicationcontrollers]
  verbs: [get]
- apiGroups: [apps]
  resources: [daemonsets, deployments, replicasets, statefulsets]
  verbs: [get]
- apiGroups: [batch.volcano.sh]
  resources: [jobs]
  verbs: [get]
- apiGroups: [leaderworkerset.x-k8s.io]
  resources: [leaderworkersets]
  verbs: [get]
- apiGroups: [mindxdl.gitee.com]
  resources: [ascendjobs]
  verbs: [get]
- apiGroups: [orchestration.aibrix.ai]
  resources: [podsets, rolesets, stormservices]
  verbs: [get]
{{- end }}

{{/* All kinds: what the audit in the watcher evaluates. */}}
{{- define "mindgate.auditRules" -}}
- apiGroups: [""]
  resources: [configmaps, pods, replicationcontrollers, services]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [daemonsets, deployments, replicasets, statefulsets]
  verbs: [list, watch]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [list, watch]
- apiGroups: [batch.volcano.sh]
  resources: [cronjobs, jobs]
  verbs: [list, watch]
- apiGroups: [leaderworkerset.x-k8s.io]
  resources: [leaderworkersets]
  verbs: [list, watch]
- apiGroups: [mindcluster.huawei.com]
  resources: [inferservices, inferservicesets, instancesets]
  verbs: [list, watch]
- apiGroups: [mindxdl.gitee.com]
  resources: [ascendjobs]
  verbs: [list, watch]
- apiGroups: [ome.io]
  resources: [clusterservingruntimes, inferenceservices, servingruntimes]
  verbs: [list, watch]
- apiGroups: [orchestration.aibrix.ai]
  resources: [podsets, rolesets, stormservices]
  verbs: [list, watch]
- apiGroups: [scheduling.volcano.sh]
  resources: [podgroups]
  verbs: [list, watch]
{{- end }}

{{/* By the name that it has in config.kinds: the kinds of an operator that mindgate describes itself. */}}
{{- define "mindgate.shippedKinds" -}}
ray:
  - {group: ray.io, version: v1, kind: RayCluster, plural: rayclusters, makes: [Pod]}
  - {group: ray.io, version: v1, kind: RayJob, plural: rayjobs, makes: [RayCluster.ray.io, Job.batch]}
  - {group: ray.io, version: v1, kind: RayService, plural: rayservices, makes: [RayCluster.ray.io]}
kubeflow:
  - {group: kubeflow.org, version: v1, kind: PyTorchJob, plural: pytorchjobs, makes: [Pod]}
  - {group: kubeflow.org, version: v1, kind: TFJob, plural: tfjobs, makes: [Pod]}
  - {group: kubeflow.org, version: v1, kind: MPIJob, plural: mpijobs, makes: [Pod]}
  - {group: kubeflow.org, version: v1, kind: XGBoostJob, plural: xgboostjobs, makes: [Pod]}
  - {group: kubeflow.org, version: v1, kind: PaddleJob, plural: paddlejobs, makes: [Pod]}
  - {group: kubeflow.org, version: v1, kind: JAXJob, plural: jaxjobs, makes: [Pod]}
jobset:
  - {group: jobset.x-k8s.io, version: v1alpha2, kind: JobSet, plural: jobsets, makes: [Job.batch]}
kthena:
  - {group: workload.serving.volcano.sh, version: v1alpha1, kind: ModelServing, plural: modelservings, makes: [Pod]}
kserve:
  - {group: serving.kserve.io, version: v1beta1, kind: InferenceService, plural: inferenceservices, makes: [Deployment.apps]}
  - {group: serving.kserve.io, version: v1alpha1, kind: LLMInferenceService, plural: llminferenceservices, makes: [Deployment.apps, LeaderWorkerSet.leaderworkerset.x-k8s.io]}
kruise:
  - {group: apps.kruise.io, version: v1alpha1, kind: CloneSet, plural: clonesets, makes: [Pod]}
{{- end }}
