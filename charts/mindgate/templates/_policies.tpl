{{/*
RBAC cannot restrict a write to some fields. These policies do, each for one ServiceAccount of the chart, so that its token is of
no use for anything else. dyn() keeps the API server from checking types: members are compared by name.
*/}}

{{/*
A ValidatingAdmissionPolicy up to its validations, and its binding. The arguments are the context, the name of both, the
component, the ServiceAccount as "account", what the policy is about as "group", "version", "resources" and "operations", and
"hook" for objects of a Helm hook. With "ownNamespace" the validations see the Namespace of mindgate as params.
*/}}
{{- define "mindgate.policy" -}}
{{- $user := printf "system:serviceaccount:%s:%s" .context.Release.Namespace .account -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
{{ include "mindgate.policyMetadata" . }}
spec:
  policyName: {{ .name }}
  {{- if .ownNamespace }}
  paramRef:
    name: {{ .context.Release.Namespace }}
    parameterNotFoundAction: Deny
  {{- end }}
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
{{ include "mindgate.policyMetadata" . }}
spec:
  failurePolicy: Fail
  {{- if .ownNamespace }}
  paramKind: {apiVersion: v1, kind: Namespace}
  {{- end }}
  matchConditions:
    - name: by-the-{{ .component }}
      expression: has(request.userInfo.username) && request.userInfo.username == {{ squote $user }}
  matchConstraints:
    resourceRules:
      - apiGroups: [{{ .group | quote }}]
        apiVersions: [{{ .version }}]
        operations: {{ toJson .operations }}
        resources: {{ toJson .resources }}
{{- end }}

{{- define "mindgate.policyMetadata" -}}
metadata:
  name: {{ .name }}
  labels:
    {{- include "mindgate.labels" .context | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with .hook }}
  annotations:
    helm.sh/hook: {{ . }}
    helm.sh/hook-weight: "0"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
  {{- end }}
{{- end }}

{{/* A policy for the watcher: its "name" follows that of the watcher. */}}
{{- define "mindgate.watcherPolicy" -}}
{{- $name := printf "%s-%s" (include "mindgate.watcherName" .context) .name }}
{{- include "mindgate.policy" (merge (dict "name" $name "component" "watcher" "account" (include "mindgate.watcherServiceAccount" .context)) .) }}
{{- end }}

{{/* Two objects, "now" and "before", differ at most in the members of "except". */}}
{{- define "mindgate.cel.same" -}}
{{ .now }}.all(key, key in {{ toJson .except }} || key in {{ .before }} && {{ .now }}[key] == {{ .before }}[key]) && {{ .before }}.all(key, key in {{ toJson .except }} || key in {{ .now }})
{{- end }}

{{/* What the API server sets by itself among the metadata, and more members: "mindgate.cel.same" leaves them out. */}}
{{- define "mindgate.cel.sameMetadata" -}}
{{- $except := concat (list "managedFields" "resourceVersion" "generation") (default list .except) }}
{{- include "mindgate.cel.same" (dict "now" "dyn(object).metadata" "before" "dyn(oldObject).metadata" "except" $except) }}
{{- end }}

{{/* Variables and validation about the scheduling gates of a Pod that is updated: at most that of mindgate is removed. */}}
{{- define "mindgate.cel.gateVariables" -}}
- {name: gates, expression: "'schedulingGates' in dyn(object).spec ? dyn(object).spec.schedulingGates : []"}
- {name: gatesBefore, expression: "'schedulingGates' in dyn(oldObject).spec ? dyn(oldObject).spec.schedulingGates : []"}
{{- end }}

{{- define "mindgate.cel.onlyItsGate" -}}
variables.gates == variables.gatesBefore ||
variables.gates == variables.gatesBefore.filter(gate, gate.name != 'mindgate.io/elastic-scaling')
{{- end }}

{{/*
The same about the taints of a Node. A taint of mindgate has no value, and no effect that makes running Pods end. One that people
set by hand with a value may be removed.
*/}}
{{- define "mindgate.cel.taintVariables" -}}
- {name: taints, expression: "'taints' in dyn(object).spec ? dyn(object).spec.taints : []"}
- {name: taintsBefore, expression: "'taints' in dyn(oldObject).spec ? dyn(oldObject).spec.taints : []"}
{{- end }}

{{- define "mindgate.cel.onlyItsTaint" -}}
{{- $its := "taint.key == 'mindgate.io/faulty' && taint.effect == 'NoSchedule'" -}}
variables.taints.filter(taint, !({{ $its }})) == variables.taintsBefore.filter(taint, !({{ $its }})) &&
variables.taints.filter(taint, {{ $its }}).size() <= 1 &&
variables.taints.all(taint, taint in variables.taintsBefore || taint.all(key, key in ["key", "effect"])) &&
{{ include "mindgate.cel.sameMetadata" dict }} &&
{{ include "mindgate.cel.same" (dict "now" "dyn(object).spec" "before" "dyn(oldObject).spec" "except" (list "taints")) }}
{{- end }}
