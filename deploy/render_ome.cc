#include <algorithm>

#include "deploy/labels.h"
#include "deploy/objects.h"
#include "schemas/names.h"

// mindcluster-deploy: k8s-deploy-tool/src/templates/{ome,kv_cache}.
namespace mindgate::deploy {
namespace {

using json::Json;

constexpr const char* kEngineContainer = "ome-container";
constexpr const char* kRouterContainer = "sglang-router";
// The runtimes of mindcluster-deploy connect to this port of the store's Service.
constexpr int64_t kStoreServicePort = 9000;
// The module of memfabric_hybrid that serves as the store, after the variables of CANN and ATB.
constexpr const char* kStoreCommand =
    "source /usr/local/Ascend/ascend-toolkit/set_env.sh; "
    "source /usr/local/Ascend/nnal/atb/set_env.sh; "
    "python -m memfabric_hybrid.launch_ascend_mf_store";

std::string StoreName(const Application& application) { return application.name + "-mf-store"; }

Json RunnerOf(const Application& application, const OmeService& service,
              const OmeComponent& component) {
  Json runner = {{"name", kEngineContainer},
                 {"env",
                  {Variable("DP_SIZE", component.dp_size), Variable("TP_SIZE", component.tp_size),
                   Variable("PP_SIZE", component.pp_size),
                   Variable("ASCEND_MF_STORE_ADDRESS", StoreName(application))}}};
  if (component.image) runner["image"] = *component.image;
  Append(runner["env"], component.variables);
  if (Json npus = NpuResources(service.npu_resource, component.npu_num); !npus.is_null()) {
    runner["resources"] = std::move(npus);
  }
  AddAmounts(runner, component.resources);
  return runner;
}

// The origins of a pod spec and its runner, whose variables have another order than the file.
void AddOrigins(RenderedObject& rendered, const std::string& pod, const std::string& written) {
  const std::string runner = pod + "/runner";
  rendered.origins.insert(rendered.origins.end(), {{runner + "/image", written + "/image"},
                                                   {runner + "/env", written + "/env_vars"},
                                                   {runner + "/resources", written + "/npu_num"}});
}

void AddComponent(RenderedObject& rendered, const Application& application,
                  const OmeService& service, const std::string& name,
                  const OmeComponent& component) {
  const std::string at = "/spec/" + name;
  const std::string written = "/inference_service/" + name;
  rendered.origins.push_back({at, written});
  Json& out = rendered.object["spec"][name];
  out = {{"minReplicas", component.min_replicas},
         {"maxReplicas", component.Max()},
         {"labels", {{schemas::kFaultScheduling, "force"}, {schemas::kPodRescheduling, "on"}}}};
  const Json runner = RunnerOf(application, service, component);
  const bool several = component.pod_num > 1;
  // Of a LeaderWorkerSet every group is a gang, and its controller says so.
  if (!several) {
    out["annotations"] = {{schemas::kMinAvailable, std::to_string(component.min_replicas)}};
  }
  MergeMap(rendered, at + "/labels", component.pods.labels, written + "/labels");
  MergeMap(rendered, at + "/annotations", component.pods.annotations, written + "/annotations");
  for (const std::string& pod :
       several ? std::vector<std::string>{"/leader", "/worker"} : std::vector<std::string>{""}) {
    Json& spec = rendered.object[Json::json_pointer(at + pod)];
    spec["schedulerName"] = schemas::kVolcanoScheduler;
    spec["runner"] = runner;
    if (pod == "/worker") spec["size"] = component.pod_num - 1;
    MergeMap(rendered, at + pod + "/nodeSelector", component.pods.node_selector,
             written + "/node_selector");
    AddExtras(rendered, at + pod, at + pod + "/runner", component.pods.extras, written,
              kSnakeNames);
    AddOrigins(rendered, at + pod, written);
  }
}

void AddRouter(RenderedObject& rendered, const OmeRouter& router) {
  const std::string at = "/spec/router";
  const std::string written = "/inference_service/router";
  rendered.origins.push_back({at, written});
  Json runner = {{"name", kRouterContainer}};
  if (router.image) runner["image"] = *router.image;
  if (!router.variables.empty()) {
    runner["env"] = Json::array();
    Append(runner["env"], router.variables);
  }
  AddAmounts(runner, router.resources);
  rendered.object["spec"]["router"] = {{"minReplicas", router.min_replicas},
                                       {"maxReplicas", router.Max()},
                                       {"runner", std::move(runner)}};
  MergeMap(rendered, at + "/labels", router.pods.labels, written + "/labels");
  MergeMap(rendered, at + "/annotations", router.pods.annotations, written + "/annotations");
  MergeMap(rendered, at + "/nodeSelector", router.pods.node_selector, written + "/node_selector");
  AddExtras(rendered, at, at + "/runner", router.pods.extras, written, kSnakeNames);
  AddOrigins(rendered, at, written);
}

RenderedObject InferenceServiceOf(const Application& application, const OmeService& service) {
  RenderedObject rendered = NewObject(application, "ome.io/v1beta1", "InferenceService",
                                      application.name, Phase::kServers);
  rendered.is_root = true;
  Json& spec = rendered.object["spec"];
  spec = {{"model", {{"name", service.model_name}}}};
  rendered.origins.push_back({"/spec/model", "/inference_service/model_name"});
  if (service.runtime_name) {
    spec["runtime"] = {{"name", *service.runtime_name}};
    rendered.origins.push_back({"/spec/runtime", "/inference_service/runtime_name"});
  }
  AddComponent(rendered, application, service, "engine", service.engine);
  if (service.decoder) {
    AddComponent(rendered, application, service, "decoder", *service.decoder);
  }
  if (service.router) AddRouter(rendered, *service.router);
  return rendered;
}

// The store listens on a port and speaks no HTTP.
Json ProbeOf(const ProbeSettings& settings, int64_t port) {
  return {{"tcpSocket", {{"port", settings.port.value_or(port)}}},
          {"initialDelaySeconds", settings.initial_delay_seconds},
          {"periodSeconds", settings.period_seconds},
          {"failureThreshold", settings.failure_threshold}};
}

Json StoreResources(const ResourceSettings& settings) {
  return {{"requests",
           {{"memory", settings.requests.memory.value_or("64Mi")},
            {"cpu", settings.requests.cpu.value_or("50m")}}},
          {"limits",
           {{"memory", settings.limits.memory.value_or("256Mi")},
            {"cpu", settings.limits.cpu.value_or("500m")}}}};
}

Json StoreContainer(const MfStore& store) {
  Variables variables = store.variables;
  std::sort(variables.begin(), variables.end());
  Json container = {
      {"name", "ms-store"},
      {"image", store.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"command", {"/bin/bash", "-c", kStoreCommand}},
      {"ports", {{{"name", "http"}, {"protocol", "TCP"}, {"containerPort", store.container_port}}}},
      {"env",
       {FieldVariable("POD_IP", "status.podIP"), Variable("MF_STORE_PORT", store.container_port),
        Variable("ASCEND_MF_STORE_URL", "tcp://$(POD_IP):$(MF_STORE_PORT)")}}};
  Append(container["env"], variables);
  if (store.resources) container["resources"] = StoreResources(*store.resources);
  container["readinessProbe"] =
      ProbeOf(store.readiness.value_or(ProbeSettings{{}, 5, 5, 3}), store.container_port);
  if (store.startup) container["startupProbe"] = ProbeOf(*store.startup, store.container_port);
  if (store.liveness) container["livenessProbe"] = ProbeOf(*store.liveness, store.container_port);
  return container;
}

RenderedObject StoreDeployment(const Application& application, const MfStore& store) {
  RenderedObject rendered =
      NewObject(application, "apps/v1", "Deployment", StoreName(application), Phase::kFirst);
  rendered.of_root = true;
  rendered.wait_ready = true;
  const Json selector = {{kMemfabricName, application.name},
                         {schemas::kOmeInferenceService, application.name}};
  rendered.object["metadata"]["labels"].update(selector);
  Json labels = selector;
  labels[kComponent] = kStoreComponent;
  rendered.object["spec"] = {{"replicas", 1},
                             {"selector", {{"matchLabels", selector}}},
                             {"template",
                              {{"metadata", {{"labels", std::move(labels)}}},
                               {"spec", {{"containers", {StoreContainer(store)}}}}}}};
  rendered.origins.push_back({"/spec", "/mf_store"});
  MergeMap(rendered, "/spec/template/spec/nodeSelector", store.node_selector,
           "/mf_store/node_selector");
  AddExtras(rendered, "/spec/template/spec", "/spec/template/spec/containers/0", store.extras,
            "/mf_store", kSnakeNames);
  return rendered;
}

}  // namespace

std::vector<RenderedObject> RenderOme(const Application& application, const OmeService& service) {
  std::vector<RenderedObject> objects;
  if (service.decoder && service.store) {
    objects.push_back(StoreDeployment(application, *service.store));
    RenderedObject entry =
        NewService(application, StoreName(application), {{kMemfabricName, application.name}},
                   Json::array({Port("http", kStoreServicePort, service.store->container_port)}));
    entry.of_root = true;
    objects.push_back(std::move(entry));
  }
  objects.push_back(InferenceServiceOf(application, service));
  return objects;
}

}  // namespace mindgate::deploy
