{{/* Names, labels and what several objects share. */}}

{{- define "mindgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The beginning of all names; at most 50 characters, so that the longest ending fits. */}}
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

{{/* The same and others: those of commonLabels give way to them, and both to the chart's own. */}}
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

{{/* Of what `helm uninstall` runs at its end. */}}
{{- define "mindgate.uninstallName" -}}
{{ include "mindgate.fullname" . }}-uninstall
{{- end }}

{{/* "true" when there is something for `helm test`: nobody is asked about objects in mindgate's own namespace. */}}
{{- define "mindgate.tests" -}}
{{- if and .Values.tests.enabled (ne .Values.tests.probeNamespace .Release.Namespace) }}true{{ end }}
{{- end }}

{{/* Of what `helm test` runs. */}}
{{- define "mindgate.testName" -}}
{{ include "mindgate.fullname" . }}-test
{{- end }}

{{/* "true" when the watcher makes the certificates. */}}
{{- define "mindgate.managesCerts" -}}
{{- if eq .Values.certs.mode "managed" }}true{{ end }}
{{- end }}

{{/* A word of mindgate.yaml: YAML 1.1, which values are read as, makes booleans of on and off. */}}
{{- define "mindgate.word" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/*
mindgate.yaml: the values' config, with no more in it than the phase of the rollout allows. While it observes, the watcher writes
into nothing either.
*/}}
{{- define "mindgate.config" -}}
{{- $config := deepCopy (default dict .Values.config) }}
{{- if ne .Values.rolloutPhase "enforce" }}
{{- if not (hasKey $config "maxMode") }}
{{- $_ := set $config "maxMode" (ternary "audit" "warn" (eq .Values.rolloutPhase "observe")) }}
{{- end }}
{{- end }}
{{- if eq .Values.rolloutPhase "observe" }}
{{- $_ := set $config "gangRepair" "off" }}
{{- if eq (toString (default dict $config.elasticScaling).mode) "enforce" }}
{{- $_ := set $config.elasticScaling "mode" "observe" }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* The failurePolicy of a hook, which is the context: before enforce, what cannot be asked about passes. */}}
{{- define "mindgate.failurePolicy" -}}
{{- if eq .context.Values.rolloutPhase "enforce" }}{{ .hook.failurePolicy }}{{ else }}Ignore{{ end }}
{{- end }}

{{/* "true" when the mutating webhook is registered. */}}
{{- define "mindgate.mutates" -}}
{{- if and .Values.webhook.mutate.enabled (ne .Values.rolloutPhase "observe") }}true{{ end }}
{{- end }}

{{/*
What the configuration has the watcher do, with the defaults of the program: elasticScaling.mode and elasticScaling.rebalance
(off, observe, enforce), gangRepair (on, off).
*/}}
{{- define "mindgate.scalingMode" -}}
{{- $scaling := default dict (include "mindgate.config" . | fromYaml).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.mode "observe" (hasKey $scaling "mode")) }}
{{- end }}

{{- define "mindgate.rebalanceMode" -}}
{{- $scaling := default dict (include "mindgate.config" . | fromYaml).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.rebalance "observe" (hasKey $scaling "rebalance")) }}
{{- end }}

{{- define "mindgate.gangRepair" -}}
{{- $config := include "mindgate.config" . | fromYaml }}
{{- include "mindgate.word" (ternary $config.gangRepair "on" (hasKey $config "gangRepair")) }}
{{- end }}

{{/*
The image. A registry that is given takes the place of the one that the repository names: as container runtimes read it, that is
what stands before the first slash and is "localhost" or has a dot or a port.
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

{{/* The member imagePullSecrets of a Pod, if there are any. */}}
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

{{/* A probe of a container: what the values say over what the chart has. Both are the argument, as "values" and "chart". */}}
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

{{/* "true" when callers of the webhook must show a certificate. */}}
{{- define "mindgate.verifiesClients" -}}
{{- with .Values.webhook.clientCA }}{{ if or .configMap .secret }}true{{ end }}{{ end }}
{{- end }}

{{/* Values that do not go together are refused here, where the reason can be given. */}}
{{- define "mindgate.checkValues" -}}
{{- $certs := .Values.certs }}
{{- if and (eq $certs.mode "managed") (not .Values.watcher.enabled) }}
{{- fail "certs.mode is managed, but watcher.enabled is false: nobody would make certificates. Enable the watcher, or set certs.mode to cert-manager or files" }}
{{- end }}
{{- if and (eq (include "mindgate.scalingMode" .) "enforce") (not .Values.watcher.enabled) }}
{{- fail "config.elasticScaling.mode is enforce, but watcher.enabled is false: nobody would open the gates of the pods that wait. Enable the watcher, or set the mode to observe or off" }}
{{- end }}
{{- if eq $certs.mode "files" }}
{{- if not $certs.secretName }}
{{- fail "certs.mode is files, but certs.secretName is empty: name the Secret with tls.crt and tls.key" }}
{{- end }}
{{- if not (contains "-----BEGIN CERTIFICATE-----" $certs.caBundle) }}
{{- fail "certs.mode is files, but certs.caBundle holds no certificate in PEM: without it the API server trusts no webhook. Use --set-file certs.caBundle=ca.crt" }}
{{- end }}
{{- else if $certs.caBundle }}
{{- fail (printf "certs.caBundle is set, but certs.mode is %s, which publishes a CA of its own: leave it out, or set certs.mode to files" $certs.mode) }}
{{- end }}
{{- if and .Values.tests.enabled (has .Values.tests.probeNamespace .Values.excludedNamespaces) }}
{{- fail (printf "tests.probeNamespace is %s, about which the webhook is never asked: name a namespace in which jobs run, or set tests.enabled to false" .Values.tests.probeNamespace) }}
{{- end }}
{{- with .Values.webhook.clientCA }}
{{- if and .configMap .secret }}
{{- fail "webhook.clientCA names both a configMap and a secret: the CA of client certificates is in one of them, leave the other empty" }}
{{- end }}
{{- if and (or .allowedNames .optional) (not (or .configMap .secret)) }}
{{- fail "webhook.clientCA has allowedNames or optional, but neither configMap nor secret: without a CA no client certificate is verified. Name the ConfigMap or Secret with the CA that signs the API server's client certificate" }}
{{- end }}
{{- end }}
{{- if ge (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds) }}
{{- fail (printf "drain.timeSeconds is %d, but Kubernetes kills a replica after terminationGracePeriodSeconds, %d: make that longer" (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds)) }}
{{- end }}
{{- if ge (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds) }}
{{- fail (printf "drain.delaySeconds is %d, but all of the drain takes at most drain.timeSeconds, %d: make that longer" (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds)) }}
{{- end }}
{{- end }}
