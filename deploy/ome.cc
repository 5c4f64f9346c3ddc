#include <algorithm>
#include <nlohmann/json.hpp>

#include "deploy/config.h"
#include "deploy/render.h"
#include "schemas/names.h"

namespace mindgate::deploy {

// isvc-config.yaml of mindcluster-deploy.

namespace {

using schemas::Key;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Whole;

// OME makes a Deployment or LeaderWorkerSet of so many instances; mindcluster-deploy accepts no
// more.
constexpr int64_t kMaxOmeReplicas = 64;
constexpr int64_t kMaxOmePods = 128;
constexpr int64_t kMaxProbeSeconds = 3600;
constexpr int64_t kStorePort = 9000;
constexpr const char* kKeysHint = "`mindgate deploy --schema ome` has all keys";

template <typename S>
std::vector<Key<S>> OmeReplicaKeys() {
  return {{"min_replicas", "Instances at least.", &S::min_replicas, Whole(1, kMaxOmeReplicas)},
          {"max_replicas", "Instances at most; by default as many as min_replicas.",
           &S::max_replicas, Whole(1, kMaxOmeReplicas)},
          {"image", "Image of the container; by default the runtime's.", &S::image, Image()}};
}

// SGLang starts tp_size * pp_size processes, one on each NPU of an instance.
void CheckNpus(const OmeComponent& component, const Field& field) {
  const int64_t ranks = component.tp_size * component.pp_size;
  const int64_t npus = component.npu_num * component.pod_num;
  const std::string parallel = "tp_size * pp_size is " + std::to_string(ranks);
  if (!field.value.contains("npu_num")) {
    field.reading.Warn(
        field.path,
        "npu_num is left out: mindgate requests 1 NPU for each pod, where mindcluster-deploy "
        "requests 8" +
            (ranks > npus ? ", and " + parallel : std::string()),
        "write npu_num: 8, or npu_num: 1 when that is meant");
  } else if (component.npu_num > 0 && ranks > npus) {
    field.reading.Warn(
        json::Child(field.path, "npu_num"),
        parallel + ", but an instance has " + std::to_string(npus) + " NPUs (npu_num * pod_num)",
        "SGLang needs one NPU for each: correct npu_num, pod_num or the sizes");
  }
}

Type<OmeComponent> ComponentTable() {
  return Object<OmeComponent>(
      Joined(
          Joined(
              OmeReplicaKeys<OmeComponent>(),
              {{"pod_num",
                "Pods of one instance. With several, OME makes a LeaderWorkerSet; the runtime "
                "must have that shape.",
                &OmeComponent::pod_num, Whole(1, kMaxOmePods)},
               {"npu_num", "NPUs of each pod.", &OmeComponent::npu_num, Whole(0, kMaxNpus)},
               {"dp_size", "Data parallel size.", &OmeComponent::dp_size, Whole(1, kMaxSize)},
               {"tp_size", "Tensor parallel size.", &OmeComponent::tp_size, Whole(1, kMaxSize)},
               {"pp_size", "Pipeline parallel size.", &OmeComponent::pp_size, Whole(1, kMaxSize)},
               {"env_vars", "Variables of the container.", &OmeComponent::variables,
                VariableList()},
               ResourcesKey(&OmeComponent::resources)}),
          PodKeys(&OmeComponent::pods, "node_selector")),
      [](OmeComponent& component, const Field& field) {
        CheckReplicas(component.min_replicas, component.max_replicas, field);
        CheckNpus(component, field);
      },
      OmeComponent(), kKeysHint);
}

Type<OmeRouter> RouterTable() {
  return Object<OmeRouter>(
      Joined(Joined(OmeReplicaKeys<OmeRouter>(), {{"env_vars", "Variables of the container.",
                                                   &OmeRouter::variables, VariableList()},
                                                  ResourcesKey(&OmeRouter::resources)}),
             PodKeys(&OmeRouter::pods, "node_selector")),
      [](OmeRouter& router, const Field& field) {
        CheckReplicas(router.min_replicas, router.max_replicas, field);
      },
      OmeRouter(), kKeysHint);
}

// "none", or the settings.
Type<OmeService> RouterOrNone() {
  return schemas::Either(
      Type<OmeService>({"string"}, {{"enum", {"none"}}},
                       [](const Field& field, OmeService&) {
                         std::string word;
                         schemas::Word({"none"}).read(field, word);
                       }),
      Type<OmeService>({"object"}, RouterTable().keywords, [](const Field& field, OmeService& out) {
        RouterTable().read(field, out.router.emplace());
      }));
}

Type<ProbeSettings> ProbeTable(const ProbeSettings& defaults) {
  Type<ProbeSettings> table = Object<ProbeSettings>(
      {{"port", "Port that is tried; by default container_port.", &ProbeSettings::port,
        Whole(1, 65535)},
       {"initial_delay_seconds", "Seconds before the first try.",
        &ProbeSettings::initial_delay_seconds, Whole(0, kMaxProbeSeconds)},
       {"period_seconds", "Seconds between two tries.", &ProbeSettings::period_seconds,
        Whole(1, kMaxProbeSeconds)},
       {"failure_threshold", "Failures in a row that count.", &ProbeSettings::failure_threshold,
        Whole(1, kMaxProbeSeconds)},
       Key<ProbeSettings>::Calling(
           "path", "Not used: the store does not serve HTTP.", NonEmptyText(),
           [](ProbeSettings&, const std::string&, const Field& field) {
             field.reading.Warn(
                 field.path,
                 "the store does not serve HTTP, so that a probe of a path never succeeds: "
                 "the port is tried instead",
                 "remove path");
           })},
      {}, defaults);
  table.read = [read = table.read, defaults](const Field& field, ProbeSettings& out) {
    out = defaults;
    read(field, out);
  };
  return std::move(table).OrNull();
}

Type<MfStore> StoreTable() {
  return Object<MfStore>(
      Joined<MfStore>(
          {{"image", "Image with memfabric_hybrid newer than 1.0.7.", &MfStore::image, Image(),
            schemas::kRequired},
           Key<MfStore>::Calling(
               "replicas", "Always 1: engine and decoder must meet in the same store.", Whole(1, 1),
               [](MfStore&, int64_t, const Field&) {}, 1),
           {"container_port", "Port of the store.", &MfStore::container_port, Whole(1, 65535)},
           {"env_vars", "Variables of the container.", &MfStore::variables, VariableList()},
           {"node_selector", "Labels that a node must have.", &MfStore::node_selector, LabelMap()},
           {"resources",
            "Resources of the container; requests are 64Mi and 50m, limits 256Mi and 500m where "
            "the block leaves them out.",
            &MfStore::resources, ResourcesTable()},
           {"readiness_probe", "When the store is ready.", &MfStore::readiness,
            ProbeTable({{}, 5, 5, 3})},
           {"startup_probe", "When the store has started.", &MfStore::startup,
            ProbeTable({{}, 10, 5, 10})},
           {"liveness_probe", "When the store is started again.", &MfStore::liveness,
            ProbeTable({{}, 30, 10, 3})}},
          ExtraKeys<MfStore>([](MfStore& store) -> PodExtras& { return store.extras; },
                             kSnakeNames)),
      [](MfStore& store, const Field& field) {
        if (store.container_port == kStorePort) return;
        field.reading.Warn(json::Child(field.path, "container_port"),
                           "the runtimes of mindcluster-deploy connect to port 9000 of the store's "
                           "Service, which leads to container_port: only a runtime with a port of "
                           "its own needs another one",
                           "write 9000, or leave container_port out");
      });
}

void CheckOmeService(OmeService& service, const Field& field) {
  if (!service.decoder || field.value.contains("router")) return;
  field.reading.Fault(
      json::Child(field.path, "router"),
      "an application with engine and decoder needs a router: without the block OME "
      "makes none, and nothing leads requests from the one to the other",
      "add router:, or write router: none when the router runs elsewhere");
}

Type<OmeService> OmeServiceTable() {
  return Object<OmeService>(
      {{"model_name", "Name of a BaseModel or ClusterBaseModel.", &OmeService::model_name,
        ObjectName(), schemas::kRequired},
       {"runtime_name",
        "Name of a ServingRuntime or ClusterServingRuntime; by default OME chooses one that fits "
        "the "
        "model.",
        &OmeService::runtime_name, ObjectName()},
       {"npu_resource", "Resource of the NPUs; huawei.com/npu for Ascend 950.",
        &OmeService::npu_resource, ResourceName()},
       {"engine", "The prefill instances.", &OmeService::engine, ComponentTable(),
        schemas::kRequired},
       {"decoder", "The decode instances; absent: the engine does both.", &OmeService::decoder,
        ComponentTable()},
       {"router", "The router in front of engine and decoder, or none.",
        [](OmeService& service) -> auto& { return service; }, RouterOrNone()}},
      CheckOmeService);
}

OmeService& OmeServiceIn(Application& application) {
  auto* service = std::get_if<OmeService>(&application.service);
  return service != nullptr ? *service : application.service.emplace<OmeService>();
}

void CheckStoreBlock(Application& application, const Field& field) {
  const bool decoder = OmeServiceIn(application).decoder.has_value();
  if (decoder && !field.value.contains("mf_store")) {
    field.reading.Fault("/mf_store",
                        "an application with engine and decoder needs a store, through which they "
                        "find each other",
                        "add mf_store: with an image");
  } else if (!decoder && field.value.contains("mf_store")) {
    field.reading.Warn("/mf_store", "without a decoder there is no store", "remove mf_store");
    OmeServiceIn(application).store.reset();
  }
}

}  // namespace

const Type<Application>& OmeTable() {
  static const Type<Application> table = Object<Application>(
      Joined(CommonKeys(),
             {{"inference_service", "The service.",
               [](Application& application) -> auto& { return OmeServiceIn(application); },
               OmeServiceTable(), schemas::kRequired},
              {"mf_store", "The MemFabric store. Needed with a decoder.",
               [](Application& application) -> auto& { return OmeServiceIn(application).store; },
               StoreTable()}}),
      CheckStoreBlock);
  return table;
}

// mindcluster-deploy: k8s-deploy-tool/src/templates/{ome,kv_cache}.

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

// The store listens on a port and serves no HTTP.
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
