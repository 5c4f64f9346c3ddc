{{/*
The kinds that mindgate registers for: those of schemas/kinds.cc, in groups that are one webhook each, so that denials, the API
server's metrics and a patch that removes one say which framework it is about. The argument is "mutate" or "validate".
*/}}
{{- define "mindgate.registrations" -}}
{{- $mutate := eq . "mutate" }}
- name: pods
  resources:
    - {group: "", version: v1, names: [pods]}
  conditions:
    - {{ include (ternary "mindgate.cel.newPod" "mindgate.cel.newOrRelabelledPod" $mutate) . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object" | nindent 6 | trim }}
- name: workloads
  resources:
    - {group: apps, version: v1, names: [deployments, statefulsets]}
    - {group: batch, version: v1, names: [jobs]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.template" | nindent 6 | trim }}
- name: cronjobs
  resources:
    - {group: batch, version: v1, names: [cronjobs]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.jobTemplate.spec.template" | nindent 6 | trim }}
{{- /* The kinds below are let through whole: they are few, an InferenceService does not say what its runtime asks for, and a
       custom resource need not have the types that its definition ought to give it. */}}
- name: mindcluster
  resources:
    - {group: mindxdl.gitee.com, version: v1, names: [ascendjobs]}
    - {group: mindcluster.huawei.com, version: v1, names: [inferservicesets, inferservices, instancesets]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: volcano
  resources:
    - {group: batch.volcano.sh, version: v1alpha1, names: [jobs, cronjobs]}
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
- name: leaderworkersets
  resources:
    - {group: leaderworkerset.x-k8s.io, version: v1, names: [leaderworkersets]}
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
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
{{- if not $mutate }}
{{- /* Nothing is injected into ConfigMaps. */}}
- name: configmaps
  resources:
    - {group: "", version: v1, names: [configmaps]}
  conditions:
    - {{ include "mindgate.cel.concernsMindie" . | nindent 6 | trim }}
{{- /* Neither can change what rules look at, so that a webhook that is away must not keep anyone from debugging a pod. */}}
- name: pod-subresources
  failurePolicy: Ignore
  resources:
    - {group: "", version: v1, names: [pods/ephemeralcontainers, pods/resize]}
  conditions:
    - {{ include "mindgate.cel.concernsNpus" "object" | nindent 6 | trim }}
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

{{/* Namespaces that are asked about: none of the system's, not our own, and what the values add. */}}
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
      {{- append .context.Values.excludedNamespaces .context.Release.Namespace | uniq | toYaml | nindent 6 }}
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
{{- /* In the other modes the CA belongs to whoever makes it: an upgrade neither writes nor removes it. */}}
{{- if eq .context.Values.certs.mode "files" }}
caBundle: {{ .context.Values.certs.caBundle | b64enc }}
{{- end }}
{{- end }}

{{/* Metadata of both configurations. */}}
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
  {{- /* cert-manager publishes its CA where it is asked to. */}}
  {{- if eq .Values.certs.mode "cert-manager" }}
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "mindgate.webhookName" . }}
  {{- end }}
{{- end }}
{{- /*
Whoever deletes the namespace deletes the webhook, and a configuration that stayed would have the API server refuse what it cannot
ask about. With certs.mode managed the watcher says so, together with the CA; else it is said here, from the first upgrade on
where the first installation made the namespace.
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
