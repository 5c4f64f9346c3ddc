#pragma once

#include <nlohmann/json.hpp>
#include <string>

// Objects of the size and texture that an API server sends: environment, probes, mounts, volumes,
// the start script and managed fields around the few members that a decision reads.
namespace mindgate::bench {

using Json = nlohmann::json;

inline Json Container(const std::string& name, int npus, int env) {
  Json container = {
      {"name", name},
      {"image", "registry.example.com/ai/vllm-ascend:v0.11.0rc1-a3"},
      {"imagePullPolicy", "IfNotPresent"},
      {"command", {"/bin/bash", "-c"}},
      {"args",
       {"source /usr/local/Ascend/ascend-toolkit/set_env.sh\nexport HCCL_IF_IP=${POD_IP}\n"
        "vllm serve /models/qwen3-235b-a22b --host 0.0.0.0 --port 8000 --tensor-parallel-size 8 "
        "--served-model-name qwen3 --trust-remote-code --max-model-len 32768 "
        "--gpu-memory-utilization 0.92 --kv-transfer-config '{\"kv_connector\": "
        "\"LLMDataDist\"}'\n"}},
      {"ports", {{{"containerPort", 8000}, {"name", "http"}, {"protocol", "TCP"}}}},
      {"env",
       {{{"name", "POD_IP"},
         {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "status.podIP"}}}}}},
        {{"name", "HCCL_CONNECT_TIMEOUT"}, {"value", "1200"}}}},
      {"readinessProbe",
       {{"httpGet", {{"path", "/health"}, {"port", 8000}, {"scheme", "HTTP"}}},
        {"initialDelaySeconds", 30},
        {"periodSeconds", 5},
        {"failureThreshold", 3}}},
      {"livenessProbe",
       {{"exec", {{"command", {"bash", "-c", "curl -sf http://127.0.0.1:8000/health"}}}},
        {"initialDelaySeconds", 600},
        {"periodSeconds", 10},
        {"timeoutSeconds", 5}}},
      {"securityContext", {{"privileged", false}, {"capabilities", {{"drop", {"ALL"}}}}}},
      {"terminationMessagePath", "/dev/termination-log"},
      {"terminationMessagePolicy", "File"},
      {"volumeMounts",
       {{{"name", "driver"}, {"mountPath", "/usr/local/Ascend/driver"}, {"readOnly", true}},
        {{"name", "models"}, {"mountPath", "/models"}},
        {{"name", "shm"}, {"mountPath", "/dev/shm"}}}}};
  for (int i = 0; i < env; ++i) {
    container["env"].push_back({{"name", "VLLM_OPTION_" + std::to_string(i)},
                                {"value", "/opt/conf/option-" + std::to_string(i)}});
  }
  Json& resources = container["resources"];
  for (const char* side : {"limits", "requests"}) {
    resources[side] = {{"cpu", "32"}, {"memory", "256Gi"}};
    if (npus > 0) resources[side]["huawei.com/Ascend910"] = std::to_string(npus);
  }
  return container;
}

inline Json PodSpec(const std::string& name, int npus, int env) {
  return {
      {"containers", {Container(name, npus, env)}},
      {"nodeSelector", {{"accelerator-type", "module-a3-16"}, {"host-arch", "huawei-arm"}}},
      {"terminationGracePeriodSeconds", 60},
      {"volumes",
       {{{"name", "driver"}, {"hostPath", {{"path", "/usr/local/Ascend/driver"}, {"type", ""}}}},
        {{"name", "models"}, {"persistentVolumeClaim", {{"claimName", "models"}}}},
        {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "64Gi"}}}}}}};
}

inline Json Metadata(const std::string& name) {
  return {{"name", name},
          {"namespace", "inference"},
          {"uid", "5b4c2f1e-7a5e-4a0e-9d55-0f6b1f6f6a01"},
          {"creationTimestamp", "2026-01-01T00:00:00Z"},
          {"generation", 1},
          {"labels", {{"app", name}, {"team", "search"}}},
          {"managedFields",
           {{{"manager", "kubectl-client-side-apply"},
             {"operation", "Update"},
             {"time", "2026-01-01T00:00:00Z"},
             {"fieldsType", "FieldsV1"},
             {"fieldsV1",
              {{"f:metadata", {{"f:labels", {{".", Json::object()}, {"f:app", Json::object()}}}}},
               {"f:spec", {{"f:replicas", Json::object()}, {"f:template", Json::object()}}}}}}}}};
}

inline Json StormService(int env) {
  Json roles = Json::array();
  for (const char* role : {"prefill", "decode"}) {
    roles.push_back(
        {{"name", role},
         {"replicas", 2},
         {"stateful", true},
         {"podGroupSize", 1},
         {"template",
          {{"metadata",
            {{"labels", {{"model.aibrix.ai/name", "qwen3"}, {"model.aibrix.ai/port", "8000"}}}}},
           {"spec", PodSpec(role, 16, env)}}}});
  }
  roles.push_back(
      {{"name", "routing"}, {"replicas", 1}, {"template", {{"spec", PodSpec("router", 0, 2)}}}});
  return {{"apiVersion", "orchestration.aibrix.ai/v1alpha1"},
          {"kind", "StormService"},
          {"metadata", Metadata("vllm-1p1d")},
          {"spec",
           {{"replicas", 1},
            {"stateful", true},
            {"updateStrategy", {{"type", "InPlaceUpdate"}}},
            {"selector", {{"matchLabels", {{"app", "vllm-1p1d"}}}}},
            {"template",
             {{"metadata", {{"labels", {{"app", "vllm-1p1d"}}}}}, {"spec", {{"roles", roles}}}}}}}};
}

inline Json LeaderWorkerSet(int env) {
  const auto pods = [&](const char* name) {
    return Json{{"metadata", {{"labels", {{"app", "vllm"}}}}}, {"spec", PodSpec(name, 16, env)}};
  };
  return {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
          {"kind", "LeaderWorkerSet"},
          {"metadata", Metadata("vllm")},
          {"spec",
           {{"replicas", 2},
            {"startupPolicy", "LeaderCreated"},
            {"leaderWorkerTemplate",
             {{"size", 2},
              {"restartPolicy", "RecreateGroupOnPodRestart"},
              {"leaderTemplate", pods("leader")},
              {"workerTemplate", pods("worker")}}}}}};
}

inline Json InferenceService(int env) {
  Json spec = {{"model", {{"name", "deepseek-v3"}}}, {"runtime", {{"name", "sglang-pd"}}}};
  for (const char* name : {"engine", "decoder", "router"}) {
    const bool router = std::string_view(name) == "router";
    Json component = PodSpec(name, router ? 0 : 16, router ? 4 : env);
    component["runner"] = component["containers"][0];
    component.erase("containers");
    component["minReplicas"] = 2;
    component["maxReplicas"] = 4;
    spec[name] = std::move(component);
  }
  return {{"apiVersion", "ome.io/v1beta1"},
          {"kind", "InferenceService"},
          {"metadata", Metadata("deepseek-v3")},
          {"spec", std::move(spec)}};
}

inline Json Pod(int env) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", Metadata("infer-0")},
          {"spec", PodSpec("infer", 8, env)}};
}

// The text of `make(env)` for the first number of variables at which it has `bytes`.
inline std::string Padded(Json (*make)(int env), size_t bytes) {
  int env = 0;
  std::string text = make(env).dump();
  while (text.size() < bytes) text = make(++env).dump();
  return text;
}

}  // namespace mindgate::bench
