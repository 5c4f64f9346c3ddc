{{/* Names, labels and other shared templates. */}}

{{- define "mindgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Prefix of all names: at most 50 characters, so that the longest suffix fits. */}}
{{- define "mindgate.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "mindgate.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "mindgate.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "mindgate.labels" -}}
{{- include "mindgate.labelsAnd" (dict "context" . "labels" dict) }}
{{- end }}

{{/* The same and additional labels. They take precedence over commonLabels, and the chart's own labels over both. */}}
{{- define "mindgate.labelsAnd" -}}
{{- $others := merge (deepCopy .labels) .context.Values.commonLabels }}
{{- $others = omit $others "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "app.kubernetes.io/component" }}
{{- with $others }}
{{- toYaml . }}
{{ end }}
{{- with .context -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "mindgate.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- end }}

{{- define "mindgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mindgate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mindgate.webhookName" -}}
{{ include "mindgate.fullname" . }}-webhook
{{- end }}

{{- define "mindgate.watcherName" -}}
{{ include "mindgate.fullname" . }}-watcher
{{- end }}

{{- define "mindgate.secretName" -}}
{{- default (printf "%s-tls" (include "mindgate.fullname" .)) .Values.certs.secretName }}
{{- end }}

{{- define "mindgate.webhookServiceAccount" -}}
{{- $made := ternary (include "mindgate.webhookName" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{- define "mindgate.watcherServiceAccount" -}}
{{- $made := ternary (include "mindgate.watcherName" .) "default" .Values.watcher.serviceAccount.create }}
{{- default $made .Values.watcher.serviceAccount.name }}
{{- end }}

{{/* Name of the resources that `helm uninstall` runs last. */}}
{{- define "mindgate.uninstallName" -}}
{{ include "mindgate.fullname" . }}-uninstall
{{- end }}

{{/* "true" if `helm test` has a Pod: objects in the namespace of mindgate are not sent to the webhook. */}}
{{- define "mindgate.tests" -}}
{{- if and .Values.tests.enabled (ne .Values.tests.probeNamespace .Release.Namespace) }}true{{ end }}
{{- end }}

{{/* Name of the resources of `helm test`. */}}
{{- define "mindgate.testName" -}}
{{ include "mindgate.fullname" . }}-test
{{- end }}

{{/* "true" if the watcher manages the certificates. */}}
{{- define "mindgate.managesCerts" -}}
{{- if eq .Values.certs.mode "managed" }}true{{ end }}
{{- end }}

{{/* A value of mindgate.yaml: Helm reads values as YAML 1.1, where on and off are booleans. */}}
{{- define "mindgate.word" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/*
mindgate.yaml: the config value, restricted to what the rollout phase allows, with the policies of the chart. In phase observe,
the watcher changes nothing either.
*/}}
{{- define "mindgate.config" -}}
{{- $config := deepCopy (default dict .Values.config) }}
{{- if ne .Values.rolloutPhase "enforce" }}
{{- if not (hasKey $config "maxMode") }}
{{- $_ := set $config "maxMode" (ternary "audit" "warn" (eq .Values.rolloutPhase "observe")) }}
{{- end }}
{{- end }}
{{- if eq .Values.rolloutPhase "observe" }}
{{- $_ := set $config "gangRepair" false }}
{{- if eq (toString (default dict $config.elasticScaling).mode) "enforce" }}
{{- $_ := set $config.elasticScaling "mode" "observe" }}
{{- end }}
{{- if has (toString (default dict $config.rescheduling).mode) (list "takeover" "enforce") }}
{{- $_ := set $config.rescheduling "mode" "observe" }}
{{- end }}
{{- end }}
{{- with .Values.policies }}
{{- $sources := default dict $config.policies }}
{{- $_ := set $sources "files" (concat (default list $sources.files) (keys . | sortAlpha)) }}
{{- $_ := set $config "policies" $sources }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* The failurePolicy of a hook: Ignore in the phases before enforce. */}}
{{- define "mindgate.failurePolicy" -}}
{{- if eq .context.Values.rolloutPhase "enforce" }}{{ .hook.failurePolicy }}{{ else }}Ignore{{ end }}
{{- end }}

{{/* "true" if the mutating webhook is registered. */}}
{{- define "mindgate.mutates" -}}
{{- if and .Values.webhook.mutate.enabled (ne .Values.rolloutPhase "observe") }}true{{ end }}
{{- end }}

{{/*
Settings of the watcher, with the defaults of the program: elasticScaling.mode and elasticScaling.rebalance
(off, observe, enforce), rescheduling.mode (off, observe, takeover, enforce), gangRepair (on, off, from a boolean) and audit.mode
(off, on).
*/}}
{{- define "mindgate.scalingMode" -}}
{{- $scaling := default dict (include "mindgate.config" . | fromYaml).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.mode "observe" (hasKey $scaling "mode")) }}
{{- end }}

{{- define "mindgate.rebalanceMode" -}}
{{- $scaling := default dict (include "mindgate.config" . | fromYaml).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.rebalance "observe" (hasKey $scaling "rebalance")) }}
{{- end }}

{{- define "mindgate.reschedulingMode" -}}
{{- $rescheduling := default dict (include "mindgate.config" . | fromYaml).rescheduling }}
{{- include "mindgate.word" (ternary $rescheduling.mode "observe" (hasKey $rescheduling "mode")) }}
{{- end }}

{{/* "true" if the switch "name" of rescheduling is on, and the mode is one that acts. */}}
{{- define "mindgate.reschedulingSwitch" -}}
{{- $rescheduling := default dict (include "mindgate.config" .context | fromYaml).rescheduling }}
{{- $acts := has (include "mindgate.reschedulingMode" .context) (list "takeover" "enforce") }}
{{- if and .context.Values.watcher.enabled $acts (eq (include "mindgate.word" (get $rescheduling .name)) "on") }}true{{ end }}
{{- end }}

{{/* Whether the watcher puts taints on nodes, and writes to the ConfigMaps of training jobs. */}}
{{- define "mindgate.isolatesNodes" -}}
{{- include "mindgate.reschedulingSwitch" (dict "context" . "name" "isolateNodes") }}
{{- end }}

{{- define "mindgate.asksToExit" -}}
{{- include "mindgate.reschedulingSwitch" (dict "context" . "name" "gracefulExit") }}
{{- end }}

{{/* "true" if policies are read from ConfigMaps in the namespace of mindgate. */}}
{{- define "mindgate.readsConfigMaps" -}}
{{- $sources := default dict (include "mindgate.config" . | fromYaml).policies }}
{{- if eq (include "mindgate.word" (get $sources "configMaps")) "on" }}true{{ end }}
{{- end }}

{{/* "true" if there are policies: they may select namespaces by labels, which the webhook then reads. */}}
{{- define "mindgate.readsNamespaces" -}}
{{- $sources := default dict (include "mindgate.config" . | fromYaml).policies }}
{{- if or $sources.files (include "mindgate.readsConfigMaps" .) }}true{{ end }}
{{- end }}

{{/* "true" if the webhook calls the API server: then its Pods have a token. */}}
{{- define "mindgate.webhookCalls" -}}
{{- if or .Values.lookups.runtimes (include "mindgate.readsNamespaces" .) }}true{{ end }}
{{- end }}

{{- define "mindgate.auditMode" -}}
{{- $audit := default dict (include "mindgate.config" . | fromYaml).audit }}
{{- include "mindgate.word" (ternary $audit.mode "off" (hasKey $audit "mode")) }}
{{- end }}

{{- define "mindgate.gangRepair" -}}
{{- $config := include "mindgate.config" . | fromYaml }}
{{- include "mindgate.word" (ternary $config.gangRepair "on" (hasKey $config "gangRepair")) }}
{{- end }}

{{/*
The image. A registry value replaces the registry of the repository. As in container runtimes, that is the part before the first
slash if it is "localhost" or has a dot or a port.
*/}}
{{- define "mindgate.image" -}}
{{- $repository := .Values.image.repository }}
{{- with default .Values.image.registry .Values.global.imageRegistry }}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $repository "") }}
{{- end }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* imagePullSecrets of a Pod, if there are any. */}}
{{- define "mindgate.imagePullSecrets" -}}
{{- $secrets := list }}
{{- range concat .Values.imagePullSecrets .Values.global.imagePullSecrets }}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) }}
{{- end }}
{{- with uniq $secrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A probe of a container: "values" override "chart". */}}
{{- define "mindgate.probe" -}}
{{- toYaml (merge (deepCopy .values) (fromYaml .chart)) }}
{{- end }}

{{/* "true" where the Prometheus operator's objects are wanted: always, never, or where the cluster has its CRD. */}}
{{- define "mindgate.monitored" -}}
{{- $wanted := .Values.metrics.serviceMonitor.enabled }}
{{- if eq (toString $wanted) "auto" }}
{{- if .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor" }}true{{ end }}
{{- else if $wanted }}true{{ end }}
{{- end }}

{{/* Alerts say that nothing answers where nothing is scraped: so auto makes them only with ServiceMonitors. */}}
{{- define "mindgate.alerts" -}}
{{- $wanted := .Values.metrics.prometheusRule.enabled }}
{{- if eq (toString $wanted) "auto" }}
{{- if and (include "mindgate.monitored" .) (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PrometheusRule") }}true{{ end }}
{{- else if $wanted }}true{{ end }}
{{- end }}

{{/*
"true" if admission policies restrict the watcher. Capabilities are not asked: Chart.yaml requires a Kubernetes that has the API,
and `helm template` knows nothing of the cluster.
*/}}
{{- define "mindgate.bindsWatcher" -}}
{{- if and .Values.watcher.enabled .Values.watcher.admissionPolicy.enabled }}true{{ end }}
{{- end }}

{{/* Without the policies, what can be done with the watcher's token: refused unless the values accept it. */}}
{{- define "mindgate.checkPolicies" -}}
{{- $policy := .Values.watcher.admissionPolicy }}
{{- if and .Values.watcher.enabled (not $policy.enabled) (not $policy.allowUnrestricted) }}
{{- $end := "set watcher.admissionPolicy.enabled to true, or watcher.admissionPolicy.allowUnrestricted to true if you accept this" }}
{{- if include "mindgate.managesCerts" . }}
{{- fail (printf "certs.mode is managed, but watcher.admissionPolicy.enabled is false, so with the watcher's token the webhook configurations can be changed to send all objects of the cluster elsewhere, and a Secret with the token of any ServiceAccount of namespace %s can be made. Set certs.mode to cert-manager or files, %s" .Release.Namespace $end) }}
{{- end }}
{{- if include "mindgate.isolatesNodes" . }}
{{- fail (printf "config.rescheduling.isolateNodes is on, but watcher.admissionPolicy.enabled is false, so with the watcher's token every node can be cordoned, relabelled, and emptied by a taint NoExecute. Set isolateNodes to false, %s" $end) }}
{{- end }}
{{- if include "mindgate.asksToExit" . }}
{{- fail (printf "config.rescheduling.gracefulExit is on, but watcher.admissionPolicy.enabled is false, so with the watcher's token every ConfigMap of the cluster can be changed. Set gracefulExit to false, %s" $end) }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" when callers of the webhook must show a certificate. */}}
{{- define "mindgate.verifiesClients" -}}
{{- with .Values.webhook.clientCA }}{{ if or .configMap .secret }}true{{ end }}{{ end }}
{{- end }}

{{/* Values that do not go together are refused here, where the reason can be given. */}}
{{- define "mindgate.checkValues" -}}
{{- include "mindgate.checkPolicies" . }}
{{- $certs := .Values.certs }}
{{- if and (eq $certs.mode "managed") (not .Values.watcher.enabled) }}
{{- fail "certs.mode is managed, but watcher.enabled is false, so no certificate would be created. Enable the watcher, or set certs.mode to cert-manager or files" }}
{{- end }}
{{- if and (eq (include "mindgate.scalingMode" .) "enforce") (not .Values.watcher.enabled) }}
{{- fail "config.elasticScaling.mode is enforce, but watcher.enabled is false, so the gates of waiting pods would never open. Enable the watcher, or set the mode to observe or off" }}
{{- end }}
{{- if eq $certs.mode "files" }}
{{- if not $certs.secretName }}
{{- fail "certs.mode is files, but certs.secretName is empty: set it to the Secret with tls.crt and tls.key" }}
{{- end }}
{{- if not (contains "-----BEGIN CERTIFICATE-----" $certs.caBundle) }}
{{- fail "certs.mode is files, but certs.caBundle is not a PEM certificate: the API server needs it to trust the webhook. Use --set-file certs.caBundle=ca.crt" }}
{{- end }}
{{- else if $certs.caBundle }}
{{- fail (printf "certs.caBundle is set, but certs.mode is %s, which publishes its own CA: remove certs.caBundle, or set certs.mode to files" $certs.mode) }}
{{- end }}
{{- if and .Values.tests.enabled (has .Values.tests.probeNamespace .Values.excludedNamespaces) }}
{{- fail (printf "tests.probeNamespace is %s, whose objects are never sent to the webhook: use a namespace with jobs, or set tests.enabled to false" .Values.tests.probeNamespace) }}
{{- end }}
{{- with .Values.webhook.clientCA }}
{{- if and .configMap .secret }}
{{- fail "webhook.clientCA has both configMap and secret: set only the one with the CA of client certificates" }}
{{- end }}
{{- if and (or .allowedNames .optional) (not (or .configMap .secret)) }}
{{- fail "webhook.clientCA has allowedNames or optional, but neither configMap nor secret: client certificates cannot be verified without a CA. Set the ConfigMap or Secret with the CA that signs the API server's client certificate" }}
{{- end }}
{{- end }}
{{- if ge (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds) }}
{{- fail (printf "drain.timeSeconds is %d, but Kubernetes kills a replica after terminationGracePeriodSeconds, %d: increase terminationGracePeriodSeconds" (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds)) }}
{{- end }}
{{- if ge (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds) }}
{{- fail (printf "drain.delaySeconds is %d, but drain.timeSeconds, which includes it, is %d: increase drain.timeSeconds" (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds)) }}
{{- end }}
{{- end }}
