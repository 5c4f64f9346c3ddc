{{/*
One webhook for each framework, so that denials, metrics of the API server and patches show which framework they concern. What
it sends, and which owners make such objects, is generated (_kinds.tpl). Here are the conditions of those that have some of
their own; the names are never changed or reused. The argument is "mutate" or "validate".
*/}}
{{- define "mindgate.conditions" -}}
{{- $mutate := eq . "mutate" }}
- name: pods
  conditions:
    - {{ include (ternary "mindgate.cel.newPod" "mindgate.cel.newOrRelabelledPod" $mutate) . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object" | nindent 6 | trim }}
- name: workloads
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.template" | nindent 6 | trim }}
{{- /* A cluster runs by DaemonSets: no one waits for mindgate while it is down. */}}
- name: daemonsets
  failurePolicy: Ignore
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.template" | nindent 6 | trim }}
- name: cronjobs
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.concernsNpus" "object.spec.jobTemplate.spec.template" | nindent 6 | trim }}
{{- /* All objects of the other frameworks are sent: they are few, an InferenceService does not contain the requests of its
       runtime, and custom resources may have fields of unexpected types. */}}
- name: mindcluster
- name: volcano
- name: leaderworkersets
- name: ome
- name: aibrix
{{- if not $mutate }}
{{- /* ConfigMaps are never mutated. */}}
- name: configmaps
  conditions:
    - {{ include "mindgate.cel.concernsMindie" . | nindent 6 | trim }}
{{- /* Rules only warn about them: no Service waits for mindgate. */}}
- name: services
  failurePolicy: Ignore
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.isOfMindie" . | nindent 6 | trim }}
{{- /* Those that users write: none of a controller waits for mindgate. */}}
- name: podgroups
  failurePolicy: Ignore
  conditions:
    - {{ include "mindgate.cel.changed" . | nindent 6 | trim }}
    - {{ include "mindgate.cel.notOfController" . | nindent 6 | trim }}
{{- /* Subresources of pods do not change fields that rules check. Earlier versions registered two of them; an entry without rules
       matches nothing, and remains for upgrades: Helm would remove its own fields only, and the remaining caBundle would make
       the whole object invalid. */}}
- name: pod-subresources
  failurePolicy: Ignore
  conditions: []
{{- end }}
{{- end }}

{{/* The kinds in config.kinds: group, version, kind, plural and makes of each. */}}
{{- define "mindgate.siteKinds" -}}
{{- $shipped := include "mindgate.shippedKinds" . | fromYaml }}
{{- $all := list }}
{{- range (.Values.config).kinds }}
{{- if .use }}
{{- $all = concat $all (get $shipped .use) }}
{{- else }}
{{- $all = append $all (pick . "group" "version" "kind" "plural" "makes") }}
{{- end }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/*
What _kinds.tpl has, and the kinds in config.kinds: their resources, and their owners of what they make. Resources of Kubernetes and
of LeaderWorkerSet are called as their kinds are, in lower case and with an s.
*/}}
{{- define "mindgate.allKinds" -}}
{{- $kinds := include "mindgate.kinds" . | fromYaml }}
{{- $site := include "mindgate.siteKinds" . | fromYamlArray }}
{{- $resources := list }}
{{- range $site }}
{{- $resources = append $resources (dict "group" .group "version" .version "kind" .kind "names" (list .plural)) }}
{{- end }}
{{- /* Without any it matches nothing, and remains for upgrades, as pod-subresources does. */}}
{{- $_ := set $kinds "kinds" (dict "injected" true "resources" $resources) }}
{{- range $owner := $site }}
{{- range default (list "Pod") .makes }}
{{- $parts := splitn "." 2 . }}
{{- $group := default "" $parts._1 }}
{{- $plural := printf "%ss" (lower $parts._0) }}
{{- range $sent := $kinds }}
{{- range .resources }}
{{- if and (eq .group $group) (or (has $plural .names) (eq (default "" .kind) $parts._0)) }}
{{- $makers := default dict $sent.makers }}
{{- $owners := append (default list (get $makers $parts._0)) (printf "%s/%s %s" $owner.group $owner.version $owner.kind) }}
{{- $_ := set $sent "makers" (set $makers $parts._0 $owners) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $kinds }}
{{- end }}

{{/*
The webhooks in order: name, failurePolicy, conditions, resources and makers of each. The arguments are the context, and "mutate" or
"validate" as path.
*/}}
{{- define "mindgate.registrations" -}}
{{- $kinds := include "mindgate.allKinds" .context | fromYaml }}
{{- $changed := list (include "mindgate.cel.changed" .context | fromYaml) }}
{{- $all := list }}
{{- $named := list }}
{{- range include "mindgate.conditions" .path | fromYamlArray }}
{{- $named = append $named .name }}
{{- $all = append $all (merge . (default dict (get $kinds .name))) }}
{{- end }}
{{- range $name, $sent := $kinds }}
{{- if and (not (has $name $named)) (or $sent.injected (eq $.path "validate")) }}
{{- $all = append $all (merge (dict "name" $name) $sent) }}
{{- end }}
{{- end }}
{{- range $all }}
{{- if not (hasKey . "conditions") }}
{{- $_ := set . "conditions" $changed }}
{{- end }}
{{- end }}
{{- toYaml $all }}
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
{{- $failClosed := .failClosed }}
{{- with .context }}
name: {{ include "mindgate.fullname" . }}
labels:
  {{- include "mindgate.labels" . | nindent 2 }}
{{- $observed := ne .Values.rolloutPhase "enforce" }}
{{- $leftOut := ternary (ternary "" "validate" .Values.webhook.validate.enabled) "mutate" .Values.webhook.mutate.enabled }}
{{- if or $observed $leftOut (eq .Values.certs.mode "cert-manager") $failClosed }}
annotations:
  {{- if $observed }}
  mindgate.io/rollout-phase: {{ .Values.rolloutPhase }}
  {{- end }}
  {{- /* For `mindgate doctor`: the other configuration is not missing. */}}
  {{- with $leftOut }}
  mindgate.io/left-out: {{ . }}
  {{- end }}
  {{- /* cert-manager injects its CA where this annotation is set. */}}
  {{- if eq .Values.certs.mode "cert-manager" }}
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "mindgate.webhookName" . }}
  {{- end }}
  {{- with $failClosed }}
  {{- /* These become Fail when the webhook answers (watcher/fail_closed). */}}
  mindgate.io/fail-closed: {{ join "," . }}
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
{{- end }}

{{/*
Names of the webhooks of a configuration that have failurePolicy Fail: "now", and "later" for the annotation mindgate.io/fail-closed.
With webhook.failOpenUntilAnswered, one is registered with Ignore unless it is in the cluster and has Fail; the watcher changes it
when the webhook answers. The arguments are the context, the hook of the values, the kind of the configuration and "mutate" or
"validate".
*/}}
{{- define "mindgate.failClosed" -}}
{{- $root := .context }}
{{- $failurePolicy := include "mindgate.failurePolicy" (dict "context" $root "hook" .hook) }}
{{- $wanted := list }}
{{- range include "mindgate.registrations" (dict "context" $root "path" .path) | fromYamlArray }}
{{- if eq (default $failurePolicy .failurePolicy) "Fail" }}
{{- $wanted = append $wanted (printf "%s.%s.mindgate.io" .name $.path) }}
{{- end }}
{{- end }}
{{- if and (eq .path "mutate") (eq $failurePolicy "Fail") }}
{{- $wanted = concat $wanted (list "opted-in.mutate.mindgate.io" "gates.mutate.mindgate.io") }}
{{- end }}
{{- $now := $wanted }}
{{- $later := list }}
{{- if include "mindgate.opensFirst" $root }}
{{- $now = list }}
{{- $later = $wanted }}
{{- range (lookup "admissionregistration.k8s.io/v1" .kind "" (include "mindgate.fullname" $root)).webhooks }}
{{- if and (has .name $wanted) (eq .failurePolicy "Fail") }}
{{- $now = append $now .name }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml (dict "now" $now "later" $later) }}
{{- end }}

{{/*
"true" if webhooks are registered with Ignore until the webhook answers. Without a watcher, nothing would change them to Fail; without
its admission policies, it does not get the right to.
*/}}
{{- define "mindgate.opensFirst" -}}
{{- $closes := false }}
{{- range $hook := list .Values.webhook.mutate .Values.webhook.validate }}
{{- if and $hook.enabled (eq (include "mindgate.failurePolicy" (dict "context" $ "hook" $hook)) "Fail") }}
{{- $closes = true }}
{{- end }}
{{- end }}
{{- $policy := .Values.watcher.admissionPolicy }}
{{- $may := and .Values.watcher.enabled (or $policy.enabled $policy.allowUnrestricted) }}
{{- if and $closes $may .Values.webhook.failOpenUntilAnswered }}true{{ end }}
{{- end }}

{{/* "true" if the watcher changes webhook configurations. */}}
{{- define "mindgate.writesRegistrations" -}}
{{- if or (include "mindgate.managesCerts" .) (include "mindgate.opensFirst" .) }}true{{ end }}
{{- end }}

{{/*
What the watcher asks to learn whether the webhook answers: a dry run that the webhook denies. It is always present, like the
webhooks above. The arguments are the context, the hook of the values and "mutate" or "validate".
*/}}
{{- define "mindgate.probeWebhook" -}}
name: probe.{{ .path }}.mindgate.io
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
failurePolicy: Ignore
timeoutSeconds: {{ .hook.timeoutSeconds }}
clientConfig:
  {{- include "mindgate.clientConfig" (dict "context" .context "hook" "probe") | nindent 2 }}
namespaceSelector:
  matchLabels:
    kubernetes.io/metadata.name: {{ .context.Release.Namespace }}
rules:
  - {{ include "mindgate.rule" (dict "group" "" "version" "v1" "names" (list "configmaps") "operations" "[CREATE]") | nindent 4 | trim }}
matchConditions:
  - name: asked-by-the-watcher
    expression: has(request.dryRun) && request.dryRun && has(object.metadata.name) && object.metadata.name == 'mindgate-probe'
{{- end }}
