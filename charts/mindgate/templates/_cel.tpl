{{/*
matchConditions: CEL expressions that the API server evaluates before it calls the webhook. An object is sent if all are true.
Under failurePolicy Fail an evaluation error rejects the request, so no expression may fail on any object: fields are tested
before they are read, types are checked where the API does not check them, and CREATE (no oldObject) is handled first.
*/}}

{{/* Objects that are being deleted are not sent: removing their finalizers must always work. */}}
{{- define "mindgate.cel.alive" -}}
name: not-being-deleted
expression: "!('deletionTimestamp' in object.metadata)"
{{- end }}

{{/*
What controllers make of admitted objects is not sent. A controller would retry a rejected request forever and nobody would see
the message, and running workloads must be rescheduled even while mindgate is unavailable. Anybody can write an owner reference,
so it counts only if a controller sends the object and the owner's kind makes objects of its kind. The arguments are the context
and the registrations of the webhook.
*/}}
{{- define "mindgate.cel.source" -}}
{{- $pairs := list }}
{{- range $registration := .registrations }}
{{- range $kind, $owners := $registration.makers }}
{{- range $owners }}
{{- $pairs = append $pairs (printf "'%s makes %s'" . $kind) }}
{{- end }}
{{- end }}
{{- end }}
{{- $controllers := .context.Values.controllers }}
{{- $namespaces := include "mindgate.trustedNamespaces" (dict "context" .context "listed" $controllers.namespaces) | fromJsonArray -}}
name: not-made-by-an-admitted-object
expression: |-
  !('ownerReferences' in object.metadata) || !has(request.userInfo.username) ||
  !(request.userInfo.username in {{ toJson (default list $controllers.users) }} ||
    {{ toJson $namespaces }}.exists(trusted,
      request.userInfo.username.startsWith('system:serviceaccount:' + trusted + ':'))) ||
  !object.metadata.ownerReferences.exists(owner, 'controller' in owner && owner.controller == true &&
    owner.apiVersion + ' ' + owner.kind + ' makes ' + request.kind.kind in [
      {{ uniq $pairs | join ",\n      " }}])
{{- end }}

{{/* Updates of status, finalizers, owners and the like do not affect any rule. */}}
{{- define "mindgate.cel.changed" -}}
name: new-or-changed
expression: |-
  request.operation == 'CREATE' ||
  ('spec' in object ? object.spec : {}) != ('spec' in oldObject ? oldObject.spec : {}) ||
  ['labels', 'annotations'].exists(field, (field in object.metadata ? object.metadata[field] : {}) !=
                                          (field in oldObject.metadata ? oldObject.metadata[field] : {}))
{{- end }}

{{/* The spec of a pod is immutable, and its annotations are updated by the scheduler and the device plugin. */}}
{{- define "mindgate.cel.newPod" -}}
name: new
expression: request.operation == 'CREATE'
{{- end }}

{{- define "mindgate.cel.newOrRelabelledPod" -}}
name: new-or-relabelled
expression: |-
  request.operation == 'CREATE' || ('labels' in object.metadata ? object.metadata.labels : {}) !=
                                   ('labels' in oldObject.metadata ? oldObject.metadata.labels : {})
{{- end }}

{{/*
For common kinds: a container requests a resource of huawei.com, or the object or its pods have a label or annotation that
MindCluster or mindgate reads. The argument is the CEL path of the pod template.
*/}}
{{- define "mindgate.cel.concernsNpus" -}}
name: concerns-npus
expression: |-
  [{{ . }}].exists(pod,
    'spec' in pod && type(pod.spec) == map &&
    ['containers', 'initContainers'].exists(field,
      field in pod.spec && type(pod.spec[field]) == list && pod.spec[field].exists(container,
        'resources' in container && type(container.resources) == map &&
        ['limits', 'requests'].exists(amounts,
          amounts in container.resources && type(container.resources[amounts]) == map &&
          container.resources[amounts].exists(resource, resource.startsWith('huawei.com/'))))))
  || [object.metadata, 'metadata' in {{ . }} ? {{ . }}.metadata : {}].exists(metadata,
    ['labels', 'annotations'].exists(field,
      field in metadata && type(metadata[field]) == map && metadata[field].exists(key,
        key.startsWith('huawei.com/') || key.startsWith('mind-cluster/') || key.startsWith('mindgate.io/') ||
        key in ['fault-scheduling', 'pod-rescheduling', 'fault-retry-times', 'process-recover-enable',
                'subHealthyStrategy', 'wait-reschedule-timeout', 'tor-affinity', 'sp-block', 'sp-fit', 'ra-block'])))
{{- end }}

{{/*
Only some ConfigMaps are relevant: scaling rules, which are validated by content, and rank tables, which are validated by labels
alone once ascend-operator fills them in.
*/}}
{{- define "mindgate.cel.concernsMindie" -}}
name: scaling-rule-or-rank-table
expression: |-
  'data' in object && 'elastic_scaling.json' in object.data &&
    (request.operation == 'CREATE' || !('data' in oldObject) || !('elastic_scaling.json' in oldObject.data) ||
     object.data['elastic_scaling.json'] != oldObject.data['elastic_scaling.json']) ||
  'name' in object.metadata && object.metadata.name.startsWith('rings-config-') &&
    (request.operation == 'CREATE' || ('labels' in object.metadata ? object.metadata.labels : {}) !=
                                      ('labels' in oldObject.metadata ? oldObject.metadata.labels : {}))
{{- end }}

{{/* The Services with the name or the NodePort that MindIE's samples fix. */}}
{{- define "mindgate.cel.isOfMindie" -}}
name: service-of-mindie
expression: |-
  'name' in object.metadata && object.metadata.name == 'mindie-ms-coordinator' ||
  'spec' in object && 'ports' in object.spec &&
    object.spec.ports.exists(port, 'nodePort' in port && port.nodePort == 31015)
{{- end }}

{{/* PodGroups that a controller makes copy what was admitted. */}}
{{- define "mindgate.cel.notOfController" -}}
name: not-of-a-controller
expression: |-
  !('ownerReferences' in object.metadata) ||
  !object.metadata.ownerReferences.exists(owner, 'controller' in owner && owner.controller == true)
{{- end }}
