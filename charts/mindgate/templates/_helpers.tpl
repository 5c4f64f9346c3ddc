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

{{- define "mindgate.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "mindgate.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
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

{{/* "true" when the watcher makes the certificates. */}}
{{- define "mindgate.managesCerts" -}}
{{- if eq .Values.certs.mode "managed" }}true{{ end }}
{{- end }}

{{/* A word of mindgate.yaml: YAML 1.1, which values are read as, makes booleans of on and off. */}}
{{- define "mindgate.word" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/*
What the configuration has the watcher do, with the defaults of the program: elasticScaling.mode and elasticScaling.rebalance
(off, observe, enforce), gangRepair (on, off).
*/}}
{{- define "mindgate.scalingMode" -}}
{{- $scaling := default dict (default dict .Values.config).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.mode "observe" (hasKey $scaling "mode")) }}
{{- end }}

{{- define "mindgate.rebalanceMode" -}}
{{- $scaling := default dict (default dict .Values.config).elasticScaling }}
{{- include "mindgate.word" (ternary $scaling.rebalance "observe" (hasKey $scaling "rebalance")) }}
{{- end }}

{{- define "mindgate.gangRepair" -}}
{{- $config := default dict .Values.config }}
{{- include "mindgate.word" (ternary $config.gangRepair "on" (hasKey $config "gangRepair")) }}
{{- end }}

{{- define "mindgate.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
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
{{- if ge (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds) }}
{{- fail (printf "drain.timeSeconds is %d, but Kubernetes kills a replica after terminationGracePeriodSeconds, %d: make that longer" (int .Values.drain.timeSeconds) (int .Values.terminationGracePeriodSeconds)) }}
{{- end }}
{{- if ge (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds) }}
{{- fail (printf "drain.delaySeconds is %d, but all of the drain takes at most drain.timeSeconds, %d: make that longer" (int .Values.drain.delaySeconds) (int .Values.drain.timeSeconds)) }}
{{- end }}
{{- end }}
