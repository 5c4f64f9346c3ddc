{{/*
The kinds of schemas/kinds.h, grouped into one webhook per framework, so that denials, metrics of the API server and patches
show which framework they concern. `makers` are the owners whose controllers make objects of a kind (schemas/makers.cc). The
argument is "mutate" or "validate".
*/}}
{{- define "mindgate.registrations" -}}
{{- $mutate := eq . "mutate" }}
- name: pods
  resources:
    - {group: "", version: v1, names: [pods]}
  makers:
    Pod:
      - apps/v1 ReplicaSet
      - apps/v1 StatefulSet
      - apps/v1 DaemonSet
      - v1 ReplicationController
      - batch/v1 Job
      - batch.volcano.sh/v1alpha1 Job
      - mindxdl.gitee.com/v1 AscendJob
      - orchestration.aibrix.ai/v1alpha1 RoleSet
      - orchestration.aibrix.ai/v1alpha1 PodSet
  conditions:
    - {{ include (ternary "mindgate.cel.newPod" "mindgate.cel.newOrRelabelledPod" $mutate) . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object" | nindent 6 | trim }}
- name: workloads
  resources:
    - {group: apps, version: v1, names: [deployments, replicasets, statefulsets]}
    - {group: batch, version: v1, names: [jobs]}
  makers:
    Deployment: [ome.io/v1beta1 InferenceService, mindcluster.huawei.com/v1 InstanceSet]
    ReplicaSet: [apps/v1 Deployment]
    # The leader pods of LeaderWorkerSets own StatefulSets of workers.
    StatefulSet: [leaderworkerset.x-k8s.io/v1 LeaderWorkerSet, v1 Pod, mindcluster.huawei.com/v1 InstanceSet]
    Job: [batch/v1 CronJob]
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.template" | nindent 6 | trim }}
{{- /* A cluster runs by DaemonSets: no one waits for mindgate while it is down. */}}
- name: daemonsets
  failurePolicy: Ignore
  resources:
    - {group: apps, version: v1, names: [daemonsets]}
    - {group: "", version: v1, names: [replicationcontrollers]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.template" | nindent 6 | trim }}
- name: cronjobs
  resources:
    - {group: batch, version: v1, names: [cronjobs]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.jobTemplate.spec.template" | nindent 6 | trim }}
{{- /* All objects of the kinds below are sent: they are few, an InferenceService does not contain the requests of its
       runtime, and custom resources may have fields of unexpected types. */}}
- name: mindcluster
  resources:
    - {group: mindxdl.gitee.com, version: v1, names: [ascendjobs]}
    - {group: mindcluster.huawei.com, version: v1, names: [inferservicesets, inferservices, instancesets]}
  makers:
    InferService: [mindcluster.huawei.com/v1 InferServiceSet]
    InstanceSet: [mindcluster.huawei.com/v1 InferService]
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: volcano
  resources:
    - {group: batch.volcano.sh, version: v1alpha1, names: [jobs, cronjobs]}
  makers:
    Job: [batch.volcano.sh/v1alpha1 CronJob]
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: leaderworkersets
  resources:
    - {group: leaderworkerset.x-k8s.io, version: v1, names: [leaderworkersets]}
  makers:
    LeaderWorkerSet: [ome.io/v1beta1 InferenceService]
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: ome
  resources:
    - {group: ome.io, version: v1beta1, names: [servingruntimes, inferenceservices]}
    - {group: ome.io, version: v1beta1, names: [clusterservingruntimes], scope: Cluster}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: aibrix
  resources:
    - {group: orchestration.aibrix.ai, version: v1alpha1, names: [stormservices, rolesets, podsets]}
  makers:
    RoleSet: [orchestration.aibrix.ai/v1alpha1 StormService]
    PodSet: [orchestration.aibrix.ai/v1alpha1 RoleSet]
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
{{- if not $mutate }}
{{- /* ConfigMaps are never mutated. */}}
- name: configmaps
  resources:
    - {group: "", version: v1, names: [configmaps]}
  makers:
    # Ascend Operator writes rank tables for all of them.
    ConfigMap:
      - mindxdl.gitee.com/v1 AscendJob
      - batch.volcano.sh/v1alpha1 Job
      - apps/v1 Deployment
      - apps/v1 StatefulSet
  conditions:
    - {{ include "mindgate.cel.concernsMindie" . | nindent 6 | trim }}
{{- /* Rules only warn about them: no Service waits for mindgate. */}}
- name: services
  failurePolicy: Ignore
  resources:
    - {group: "", version: v1, names: [services]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.isOfMindie" . | nindent 6 | trim }}
{{- /* Those that users write: none of a controller waits for mindgate. */}}
- name: podgroups
  failurePolicy: Ignore
  resources:
    - {group: scheduling.volcano.sh, version: v1beta1, names: [podgroups]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.notOfController" . | nindent 6 | trim }}
{{- /* Subresources of pods do not change fields that rules check. Earlier versions registered two of them; an entry without rules
       matches nothing, and remains for upgrades: Helm would remove its own fields only, and the remaining caBundle would make
       the whole object invalid. */}}
- name: pod-subresources
  failurePolicy: Ignore
{{- end }}
{{- end }}

{{- define "mindgate.rule" -}}
apiGroups: [{{ .group | quote }}]
apiVersions: [{{ .version }}]
operations: {{ default "[CREATE, UPDATE]" .operations }}
resources:
  {{- toYaml .names | nindent 2 }}
scope: {{ default "Namespaced" .scope }}
{{- end }}

{{/* Selector of namespaces: excludes system namespaces and our own, and adds the selector of the values. */}}
{{- define "mindgate.namespaceSelector" -}}
{{- $selector := .context.Values.namespaceSelector }}
{{- with $selector.matchLabels }}
matchLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values:
      {{- $excluded := include "mindgate.trustedNamespaces" (dict "context" .context "listed" .context.Values.excludedNamespaces) | fromJsonArray }}
      {{- append $excluded .context.Release.Namespace | uniq | toYaml | nindent 6 }}
  {{- with .injection }}
  - key: mindgate.io/inject
    operator: {{ . }}
    values: [disabled]
  {{- end }}
  {{- with $selector.matchExpressions }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "mindgate.clientConfig" -}}
service:
  name: {{ include "mindgate.webhookName" .context }}
  namespace: {{ .context.Release.Namespace }}
  path: /{{ .hook }}
  port: {{ .context.Values.service.port }}
{{- /* In other modes the CA belongs to its issuer: an upgrade neither sets nor removes it. */}}
{{- if eq .context.Values.certs.mode "files" }}
caBundle: {{ .context.Values.certs.caBundle | b64enc }}
{{- end }}
{{- end }}

{{/* Metadata of both webhook configurations. */}}
{{- define "mindgate.registrationMetadata" -}}
name: {{ include "mindgate.fullname" . }}
labels:
  {{- include "mindgate.labels" . | nindent 2 }}
{{- $observed := ne .Values.rolloutPhase "enforce" }}
{{- if or $observed (eq .Values.certs.mode "cert-manager") }}
annotations:
  {{- if $observed }}
  mindgate.io/rollout-phase: {{ .Values.rolloutPhase }}
  {{- end }}
  {{- /* cert-manager injects its CA where this annotation is set. */}}
  {{- if eq .Values.certs.mode "cert-manager" }}
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "mindgate.webhookName" . }}
  {{- end }}
{{- end }}
{{- /*
Deleting the namespace deletes the webhook. A configuration that remained would make the API server reject everything it
validates, so the namespace owns the configuration. With certs.mode managed the watcher sets the owner, together with the CA;
otherwise it is set here, starting with the first upgrade if the installation created the namespace.
*/}}
{{- if not (include "mindgate.managesCerts" .) }}
{{- with lookup "v1" "Namespace" "" .Release.Namespace }}
ownerReferences:
  - apiVersion: v1
    kind: Namespace
    name: {{ .metadata.name }}
    uid: {{ .metadata.uid }}
    blockOwnerDeletion: false
{{- end }}
{{- end }}
{{- end }}
