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

{{/* "true" when there is something for the watcher to do. */}}
{{- define "mindgate.runsWatcher" -}}
{{- if and .Values.watcher.enabled (eq .Values.certs.mode "managed") }}true{{ end }}
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
