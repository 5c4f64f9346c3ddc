#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deploy/cluster.h"
#include "support/golden.h"

// What users of mindcluster-deploy's tool change in its templates, or with kubectl edit.
namespace mindgate::deploy {

// One change, as RFC 6902 operations on the object of a kind.
struct Edit {
  const char* name;
  const char* title;  // of the object
  const char* operations;
};

#define STORM_ROLE "/spec/template/spec/roles/"
#define PREFILL_POD STORM_ROLE "0/template/spec"
#define DECODE_POD STORM_ROLE "1/template/spec"
#define ROUTER_POD STORM_ROLE "2/template/spec"

inline const std::vector<Edit>& AibrixEdits() {
  static const std::vector<Edit> edits = {
      {"tolerations", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/tolerations","value":[{"key":"dedicated","value":"llm","effect":"NoSchedule"}]}])"},
      {"pull secret", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD R"(/imagePullSecrets","value":[{"name":"pull"}]}])"},
      {"priority class", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD R"(/priorityClassName","value":"high"}])"},
      {"claim", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/volumes/-","value":{"name":"cache","persistentVolumeClaim":{"claimName":"cache"}}},
           {"op":"add","path":")" PREFILL_POD
       R"(/containers/0/volumeMounts/-","value":{"name":"cache","mountPath":"/cache","readOnly":true}}])"},
      {"claim of the models", "StormService my-test",
       R"([{"op":"replace","path":")" PREFILL_POD
       R"(/volumes/0","value":{"name":"model","persistentVolumeClaim":{"claimName":"models"}}}])"},
      {"projected volume", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/volumes/-","value":{"name":"all","projected":{"sources":[{"secret":{"name":"s"}}]}}},
           {"op":"add","path":")" PREFILL_POD
       R"(/containers/0/volumeMounts/-","value":{"name":"all","mountPath":"/all"}}])"},
      {"folder of the models", "StormService my-test",
       R"([{"op":"replace","path":")" PREFILL_POD R"(/volumes/0/hostPath/path","value":"/data"},
           {"op":"replace","path":")" PREFILL_POD
       R"(/containers/0/volumeMounts/0/mountPath","value":"/data"}])"},
      {"another place in the container", "StormService my-test",
       R"([{"op":"replace","path":")" DECODE_POD
       R"(/containers/0/volumeMounts/0/mountPath","value":"/weights"}])"},
      {"scripts of a ConfigMap", "StormService my-test",
       R"([{"op":"replace","path":")" PREFILL_POD
       R"(/volumes/2","value":{"name":"scripts","configMap":{"name":"own","defaultMode":365}}},
           {"op":"replace","path":")" DECODE_POD
       R"(/volumes/2","value":{"name":"scripts","configMap":{"name":"own","defaultMode":365}}},
           {"op":"replace","path":")" ROUTER_POD
       R"(/volumes/0","value":{"name":"scripts","configMap":{"name":"own","defaultMode":365}}}])"},
      {"without hccn.conf", "StormService my-test",
       R"([{"op":"remove","path":")" PREFILL_POD R"(/volumes/3"},
           {"op":"remove","path":")" PREFILL_POD R"(/containers/0/volumeMounts/3"}])"},
      {"limit of shared memory", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD R"(/volumes/1/emptyDir/sizeLimit","value":"64Gi"}])"},
      {"another command", "StormService my-test",
       R"([{"op":"replace","path":")" DECODE_POD
       R"(/containers/0/args","value":["bash start_server.sh --verbose"]}])"},
      {"sidecar", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD
       R"(/containers/-","value":{"name":"log","image":"log:1","resources":{}}}])"},
      {"init container", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD
       R"(/initContainers","value":[{"name":"wait","image":"wait:1"}]}])"},
      {"variable", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/containers/0/env/-","value":{"name":"VLLM_ARGS","value":"--a 'b' \"c\""}}])"},
      {"variable of a secret", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/containers/0/env/-","value":{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}}])"},
      {"variables that refer to each other", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/containers/0/env/1","value":{"name":"HOST","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}}},
           {"op":"add","path":")" PREFILL_POD
       R"(/containers/0/env/2","value":{"name":"URL","value":"http://$(HOST):1"}},
           {"op":"replace","path":")" PREFILL_POD
       R"(/containers/0/env/7/value","value":"$(HOST)/m"}])"},
      {"variable that is there twice", "StormService my-test",
       R"([{"op":"add","path":")" DECODE_POD
       R"(/containers/0/env/-","value":{"name":"DECODE_TP_SIZE","value":"auto"}}])"},
      {"host network", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD R"(/hostNetwork","value":true}])"},
      {"NPUs of Ascend 950", "StormService my-test",
       R"([{"op":"replace","path":")" PREFILL_POD
       R"(/containers/0/resources","value":{"limits":{"huawei.com/npu":"16"},"requests":{"huawei.com/npu":16}}},
           {"op":"replace","path":")" DECODE_POD
       R"(/containers/0/resources","value":{"limits":{"huawei.com/npu":"16"},"requests":{"huawei.com/npu":"16"}}}])"},
      {"memory and more", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/containers/0/resources/requests/memory","value":"64Gi"},
           {"op":"add","path":")" PREFILL_POD
       R"(/containers/0/resources/limits/ephemeral-storage","value":"1Gi"}])"},
      {"liveness", "StormService my-test",
       R"([{"op":"add","path":")" PREFILL_POD
       R"(/containers/0/livenessProbe","value":{"httpGet":{"path":"/health","port":8080},"periodSeconds":30}}])"},
      {"readiness of the router", "StormService my-test",
       R"([{"op":"add","path":")" ROUTER_POD
       R"(/containers/0/readinessProbe","value":{"httpGet":{"path":"/ready","port":8080}}}])"},
      {"port of the router", "StormService my-test",
       R"([{"op":"add","path":")" ROUTER_POD
       R"(/containers/0/ports","value":[{"name":"web","containerPort":9090}]}])"},
      {"several", "StormService my-test",
       R"([{"op":"replace","path":"/spec/replicas","value":2}])"},
      {"rolling update", "StormService my-test",
       R"([{"op":"replace","path":"/spec/updateStrategy","value":{"type":"RollingUpdate","maxSurge":1}}])"},
      {"labels of the object", "StormService my-test",
       R"([{"op":"add","path":"/metadata/labels","value":{"team":"a","app.kubernetes.io/managed-by":"Helm"}},
           {"op":"add","path":"/metadata/annotations","value":{"owner":"b"}}])"},
      {"without fault scheduling", "StormService my-test",
       R"([{"op":"remove","path":")" STORM_ROLE
       R"(0/template/metadata/labels/fault-scheduling"}])"},
      {"another port on the label", "StormService my-test",
       R"([{"op":"replace","path":")" STORM_ROLE
       R"(0/template/metadata/labels/model.aibrix.ai~1port","value":"9000"},
           {"op":"replace","path":")" STORM_ROLE
       R"(1/template/metadata/labels/model.aibrix.ai~1port","value":"9000"}])"},
      {"node port", "Service my-test-prefill-0",
       R"([{"op":"replace","path":"/spec/type","value":"NodePort"},
           {"op":"add","path":"/spec/ports/0/nodePort","value":30080}])"},
      {"headless", "Service my-test-prefill-0",
       R"([{"op":"add","path":"/spec/clusterIP","value":"None"}])"},
      {"as an API server stores it", "Service my-test-prefill-0",
       R"([{"op":"add","path":"/spec/clusterIP","value":"10.0.0.7"},
           {"op":"add","path":"/spec/clusterIPs","value":["10.0.0.7"]},
           {"op":"add","path":"/spec/ipFamilies","value":["IPv4"]},
           {"op":"add","path":"/spec/ipFamilyPolicy","value":"SingleStack"},
           {"op":"add","path":"/spec/internalTrafficPolicy","value":"Cluster"},
           {"op":"add","path":"/spec/sessionAffinity","value":"None"},
           {"op":"add","path":"/status","value":{"loadBalancer":{}}}])"}};
  return edits;
}

inline const std::vector<Edit>& OmeEdits() {
  static const std::vector<Edit> edits = {
      {"command", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/engine/runner/command","value":["python","-m","x"]}])"},
      {"volume", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/engine/volumes","value":[{"name":"cache","emptyDir":{"medium":"Memory"}}]},
           {"op":"add","path":"/spec/engine/runner/volumeMounts","value":[{"name":"cache","mountPath":"/c","subPath":"s"}]}])"},
      {"volume that is mounted twice", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/engine/volumes","value":[{"name":"cache","hostPath":{"path":"/c"}}]},
           {"op":"add","path":"/spec/engine/runner/volumeMounts","value":[
             {"name":"cache","mountPath":"/c"},{"name":"cache","mountPath":"/d"}]}])"},
      {"tolerations", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/decoder/tolerations","value":[{"operator":"Exists"}]}])"},
      {"without scheduler", "InferenceService my-test",
       R"([{"op":"remove","path":"/spec/decoder/schedulerName"}])"},
      {"sizes as texts", "InferenceService my-test",
       R"([{"op":"replace","path":"/spec/engine/runner/env/1/value","value":"$(TP)0"}])"},
      {"memory", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/engine/runner/resources/limits/memory","value":"500Gi"}])"},
      {"router", "InferenceService my-test",
       R"([{"op":"add","path":"/spec/router/runner/args","value":["--policy","x"]},
           {"op":"add","path":"/spec/router/runner/env","value":[{"name":"A","value":"b"}]}])"},
      {"as OME stores it", "InferenceService my-test",
       R"([{"op":"add","path":"/metadata/annotations","value":{"ome.io/deploymentMode":"PDDisaggregated"}},
           {"op":"add","path":"/metadata/finalizers","value":["inferenceservice.finalizers"]},
           {"op":"add","path":"/metadata/uid","value":"u"},
           {"op":"add","path":"/spec/engine/runner/resources/claims","value":null},
           {"op":"add","path":"/status","value":{"url":"x"}}])"},
      {"store as an API server stores it", "Deployment my-test-mf-store",
       R"([{"op":"add","path":"/spec/progressDeadlineSeconds","value":600},
           {"op":"add","path":"/spec/revisionHistoryLimit","value":10},
           {"op":"add","path":"/spec/strategy","value":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}},
           {"op":"add","path":"/spec/template/metadata/creationTimestamp","value":null},
           {"op":"add","path":"/spec/template/spec/restartPolicy","value":"Always"},
           {"op":"add","path":"/spec/template/spec/dnsPolicy","value":"ClusterFirst"},
           {"op":"add","path":"/spec/template/spec/schedulerName","value":"default-scheduler"},
           {"op":"add","path":"/spec/template/spec/securityContext","value":{}},
           {"op":"add","path":"/spec/template/spec/terminationGracePeriodSeconds","value":30},
           {"op":"add","path":"/spec/template/spec/containers/0/terminationMessagePath","value":"/dev/termination-log"},
           {"op":"add","path":"/spec/template/spec/containers/0/terminationMessagePolicy","value":"File"},
           {"op":"add","path":"/spec/template/spec/containers/0/env/0/valueFrom/fieldRef/apiVersion","value":"v1"},
           {"op":"add","path":"/metadata/annotations","value":{"deployment.kubernetes.io/revision":"3"}}])"},
      {"recreate", "Deployment my-test-mf-store",
       R"([{"op":"add","path":"/spec/strategy","value":{"type":"Recreate"}}])"},
      {"other resources of the store", "Deployment my-test-mf-store",
       R"([{"op":"replace","path":"/spec/template/spec/containers/0/resources","value":{"requests":{"cpu":"1"}}}])"},
      {"probe of the store", "Deployment my-test-mf-store",
       R"([{"op":"add","path":"/spec/template/spec/containers/0/livenessProbe","value":{"exec":{"command":["true"]}}}])"},
      {"port of the store's Service", "Service my-test-mf-store",
       R"([{"op":"replace","path":"/spec/ports/0/port","value":50089}])"}};
  return edits;
}

#undef STORM_ROLE
#undef PREFILL_POD
#undef DECODE_POD
#undef ROUTER_POD

// The objects that the old tool makes of a file of tests/oracle/deploy; none where it makes none.
inline std::vector<Json> OldObjects(const std::string& name) {
  const Json want =
      Json::parse(mindgate::testing::ReadSource("tests/oracle/deploy/want/" + name + ".json"));
  return want.is_array() ? want.get<std::vector<Json>>() : std::vector<Json>();
}

inline void ApplyEdit(std::vector<Json>& objects, const Edit& edit) {
  for (Json& each : objects) {
    if (TitleOf(each) == edit.title) each.patch_inplace(Json::parse(edit.operations));
  }
}

}  // namespace mindgate::deploy
