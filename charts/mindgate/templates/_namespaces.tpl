{{/*
Namespaces that are trusted by their names. Whoever may create namespaces can create one of a name that is listed and does not
exist, so where Helm has a cluster, the namespace of a component counts only if the component is installed: if the namespace exists
and a ClusterRoleBinding is about a ServiceAccount of it, which only an administrator of the cluster can create. Other namespaces
count as they are listed.
*/}}

{{/* The namespaces that MindCluster and the frameworks propose: those of the defaults, without Kubernetes' own. */}}
{{- define "mindgate.componentNamespaces" -}}
[mindx-dl, cluster-system, npu-exporter, volcano-system, volcano-monitoring, lws-system, ome, aibrix-system, cert-manager]
{{- end }}

{{/*
What is known of the cluster, in JSON: "known", whether Helm has one; "existing" and "installed", its namespaces and those that have
a component. The API server is asked once.
*/}}
{{- define "mindgate.cluster" -}}
{{- if not (hasKey .Values "_cluster") }}
{{- $existing := list }}
{{- $bound := list }}
{{- if .Values.onlyInstalledNamespaces }}
{{- range (lookup "v1" "Namespace" "" "").items }}
{{- $existing = append $existing .metadata.name }}
{{- end }}
{{- end }}
{{- if $existing }}
{{- range (lookup "rbac.authorization.k8s.io/v1" "ClusterRoleBinding" "" "").items }}
{{- range .subjects }}
{{- if eq .kind "ServiceAccount" }}
{{- $bound = append $bound .namespace }}
{{- else if hasPrefix "system:serviceaccounts:" .name }}
{{- $bound = append $bound (trimPrefix "system:serviceaccounts:" .name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- $installed := list }}
{{- range $existing }}
{{- if has . $bound }}
{{- $installed = append $installed . }}
{{- end }}
{{- end }}
{{- $_ := set .Values "_cluster" (dict "known" (gt (len $existing) 0) "existing" $existing "installed" $installed) }}
{{- end }}
{{- toJson .Values._cluster }}
{{- end }}

{{/* Those of a list that count, in JSON. The arguments are the context and the list as "listed". */}}
{{- define "mindgate.trustedNamespaces" -}}
{{- $cluster := include "mindgate.cluster" .context | fromJson }}
{{- $components := include "mindgate.componentNamespaces" .context | fromYamlArray }}
{{- $trusted := list }}
{{- range default list .listed }}
{{- if or (not $cluster.known) (not (has . $components)) (has . $cluster.installed) }}
{{- $trusted = append $trusted . }}
{{- end }}
{{- end }}
{{- toJson $trusted }}
{{- end }}

{{/* Namespaces whose public faults count, in JSON. */}}
{{- define "mindgate.publicFaultNamespaces" -}}
{{- $faults := default dict (default dict (include "mindgate.config" . | fromYaml).rescheduling).publicFaults }}
{{- toJson (ternary $faults.namespaces (list "kube-system" "mindx-dl") (hasKey (default dict $faults) "namespaces")) }}
{{- end }}
