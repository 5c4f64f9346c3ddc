#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "schemas/names.h"

namespace mindgate::deploy {

// stormservice-config.yaml of mindcluster-deploy.

namespace {

using schemas::Key;
using schemas::Object;
using schemas::Whole;

// Each instance gets Services of its own.
constexpr int64_t kMaxStormInstances = 256;
// aibrix: config/crd/orchestration/orchestration.aibrix.ai_stormservices.yaml
constexpr int64_t kMaxStormPods = 100;

// "true" and "false" in quotes, as the format has them, or without.
Type<bool> Truth() {
  return {{"string", "boolean"},
          {{"enum", {"true", "false", true, false}}},
          [](const Field& field, bool& out) {
            const auto truth = json::AsBool(&field.value);
            const auto text = json::AsString(&field.value);
            if (!truth && text != "true" && text != "false") {
              return field.Fault(Quote(*text) + " is not allowed here",
                                 "write \"true\" or \"false\"");
            }
            out = truth ? *truth : text == "true";
          },
          [](bool truth) { return schemas::OrderedJson(truth ? "true" : "false"); }};
}

void CheckStormRole(StormRole& role, const Field& field) {
  const int64_t ranks = role.dp_size * role.tp_size;
  const int64_t npus = role.npu_num * role.pod_group_size;
  if (ranks == npus) return;
  field.reading.Warn(json::Child(field.path, "dp_size"),
                     "dp_size * tp_size is " + std::to_string(ranks) + ", but an instance has " +
                         std::to_string(npus) + " NPUs (npu_num * podGroupSize)",
                     "start_server.sh starts one process for each of dp_size * tp_size: make both "
                     "numbers equal");
}

Type<StormRole> StormRoleTable() {
  return Object<StormRole>(
      Joined({{"replicas", "Instances.", &StormRole::replicas, Whole(1, kMaxStormInstances)},
              {"podGroupSize", "Pods of one instance.", &StormRole::pod_group_size,
               Whole(1, kMaxStormPods)},
              {"dp_size", "Data parallel size.", &StormRole::dp_size, Whole(1, kMaxSize)},
              {"tp_size", "Tensor parallel size.", &StormRole::tp_size, Whole(1, kMaxSize)},
              {"npu_num", "NPUs of each pod.", &StormRole::npu_num, Whole(1, kMaxNpus)},
              {"image", "Image of the container.", &StormRole::image, Image(), schemas::kRequired},
              ResourcesKey(&StormRole::resources)},
             PodKeys(&StormRole::pods, "nodeSelector", kCamelNames)),
      CheckStormRole, StormRole(), "`mindgate deploy --schema aibrix` has all keys");
}

Type<StormRouting> StormRoutingTable() {
  return Object<StormRouting>(Joined(
      {{"replicas", "Pods of the router.", &StormRouting::replicas, Whole(1, kMaxStormInstances)},
       {"server_port", "Port of the router, which start_proxy.sh chooses.",
        &StormRouting::server_port, Whole(1, 65535)},
       {"image", "Image of the container.", &StormRouting::image, Image(), schemas::kRequired},
       ResourcesKey(&StormRouting::resources)},
      PodKeys(&StormRouting::pods, "nodeSelector", kCamelNames)));
}

Type<StormPaths> StormPathsTable() {
  return Object<StormPaths>({{"models", "Folder of the models; mounted at the same place.",
                              &StormPaths::models, AbsolutePath()},
                             {"scripts", "Folder of start_server.sh and start_proxy.sh.",
                              &StormPaths::scripts, AbsolutePath()},
                             {"hccn", "The file hccn.conf.", &StormPaths::hccn, AbsolutePath()}});
}

// A role of several pods divides its data parallel ranks among them.
void CheckDivision(const StormRole& role, const std::string& path, bool distributed,
                   const Field& field) {
  const std::string place = json::Child(path, "dp_size");
  const std::string group = std::to_string(role.pod_group_size);
  if (distributed && role.dp_size % role.pod_group_size != 0) {
    field.reading.Fault(place,
                        "dp_size " + std::to_string(role.dp_size) +
                            " cannot be divided among the pods of an instance: podGroupSize is " +
                            group,
                        "write a multiple of " + group);
  } else if (distributed && role.dp_size == 1) {
    field.reading.Warn(place, "with dp_size 1 there is nothing to distribute",
                       "write distributed_dp: \"false\"");
  }
}

void CheckStormService(StormService& service, const Field& field) {
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    CheckDivision(*role, json::Child(field.path, name), service.distributed_dp, field);
  }
  if (service.distributed_dp && !field.value.contains("routing")) {
    field.reading.Fault(
        json::Child(field.path, "routing"),
        "distributed_dp is \"true\", also where it is left out: then every instance "
        "serves on several ports and needs a router in front",
        "add routing:, or write distributed_dp: \"false\"");
  }
  if (service.scripts_config_map && json::FindPath(&field.value, {"host_paths", "scripts"})) {
    field.reading.Fault(json::Child(field.path, "scripts_config_map"),
                        "the scripts are in host_paths.scripts already", "write one of the two");
  }
}

Type<StormService> StormServiceTable() {
  return Object<StormService>(
      {{"model_name", "Name under which the model is served.", &StormService::model_name,
        LabelText(), schemas::kRequired},
       {"model_path", "Folder of the model, as the containers see it.", &StormService::model_path,
        AbsolutePath(), schemas::kRequired},
       {"distributed_dp", "Whether each data parallel rank is a server of its own.",
        &StormService::distributed_dp, Truth()},
       {"server_port", "Port of the first server of a pod, which start_server.sh chooses.",
        &StormService::server_port, Whole(1, 65535)},
       {"npu_resource", "Resource of the NPUs; huawei.com/npu for Ascend 950.",
        &StormService::npu_resource, ResourceName()},
       {"host_paths", "What the containers read from their node.", &StormService::host_paths,
        StormPathsTable()},
       {"scripts_config_map",
        "ConfigMap with start_server.sh and start_proxy.sh, instead of a folder of each node.",
        &StormService::scripts_config_map, ObjectName()},
       {"prefill", "The prefill instances.", &StormService::prefill, StormRoleTable(),
        schemas::kRequired},
       {"decode", "The decode instances.", &StormService::decode, StormRoleTable(),
        schemas::kRequired},
       {"routing", "The router. Needed when distributed_dp is \"true\".", &StormService::routing,
        StormRoutingTable()}},
      CheckStormService);
}

StormService& StormServiceIn(Application& application) {
  auto* service = std::get_if<StormService>(&application.service);
  return service != nullptr ? *service : application.service.emplace<StormService>();
}

}  // namespace

const Type<Application>& AibrixTable() {
  static const Type<Application> table = Object<Application>(Joined(
      CommonKeys(), {{"storm_service", "The service.",
                      [](Application& application) -> auto& { return StormServiceIn(application); },
                      StormServiceTable(), schemas::kRequired}}));
  return table;
}

// mindcluster-deploy: k8s-deploy-tool/src/templates/aibrix. Its start scripts read the variables
// and build their list of servers from the names of the Services: both must stay as they are.

namespace {

using json::Json;

constexpr const char* kScriptsFolder = "/scripts";
constexpr const char* kHccnFile = "/etc/hccn.conf";
constexpr const char* kStormBlock = "/storm_service/";
// The scripts come from a ConfigMap, or from a folder of the node.
constexpr int64_t kExecutable = 0555;

std::string Number(int64_t number) { return std::to_string(number); }

// Volcano's controller puts all instances of one pod into one PodGroup, and each larger instance
// into one of its own (documents of MindCluster, vLLM best practice).
int64_t GangSize(const StormRole& role, const StormRole& other) {
  if (role.pod_group_size > 1) return role.pod_group_size;
  return role.replicas + (other.pod_group_size > 1 ? 0 : other.replicas);
}

Json ScriptsVolume(const StormService& service) {
  if (!service.scripts_config_map) return HostPath("scripts", service.host_paths.scripts);
  return {{"name", "scripts"},
          {"configMap", {{"name", *service.scripts_config_map}, {"defaultMode", kExecutable}}}};
}

Json ServerContainer(const std::string& name, const StormRole& role, const StormService& service) {
  return {
      {"name", name},
      {"image", role.image},
      {"workingDir", kScriptsFolder},
      {"command", {"/bin/bash", "-c"}},
      {"args", {"bash start_server.sh"}},
      {"env",
       {FieldVariable("POD_IP", "status.podIP"),
        Variable("DISTRIBUTED_DP", service.distributed_dp ? "true" : "false"),
        Variable("PREFILL_DP_SIZE", service.prefill.dp_size),
        Variable("PREFILL_TP_SIZE", service.prefill.tp_size),
        Variable("DECODE_DP_SIZE", service.decode.dp_size),
        Variable("DECODE_TP_SIZE", service.decode.tp_size),
        Variable("PREFILL_NUM", service.prefill.replicas),
        Variable("DECODE_NUM", service.decode.replicas), Variable("MODEL_NAME", service.model_name),
        Variable("MODEL_PATH", service.model_path)}},
      {"volumeMounts",
       {Mount("model", service.host_paths.models), Mount("shared-mem", "/dev/shm"),
        Mount("scripts", kScriptsFolder), Mount("hccn", kHccnFile)}},
      {"resources", NpuResources(service.npu_resource, role.npu_num)}};
}

// A role, and where it stands in the object.
void AddRole(RenderedObject& rendered, const std::string& name, Json role, const PodSettings& pods,
             const ResourceSettings& resources) {
  Json& roles = rendered.object["spec"]["template"]["spec"]["roles"];
  const std::string at = "/spec/template/spec/roles/" + Number(static_cast<int64_t>(roles.size()));
  const std::string written = kStormBlock + name;
  roles.push_back(std::move(role));
  rendered.origins.push_back({at, written});
  MergeMap(rendered, at + "/template/metadata/labels", pods.labels, written + "/labels");
  MergeMap(rendered, at + "/template/metadata/annotations", pods.annotations,
           written + "/annotations");
  MergeMap(rendered, at + "/template/spec/nodeSelector", pods.node_selector,
           written + "/nodeSelector");
  const std::string container = at + "/template/spec/containers/0";
  AddAmounts(rendered.object[Json::json_pointer(container)], resources);
  AddExtras(rendered, at + "/template/spec", container, pods.extras, written, kCamelNames);
  rendered.origins.insert(rendered.origins.end(),
                          {{container + "/image", written + "/image"},
                           {container + "/resources", written + "/npu_num"},
                           {at + "/podGroupSize", written + "/podGroupSize"},
                           {at + "/replicas", written + "/replicas"}});
  for (const auto& [volume, key] :
       {std::pair("model", "models"), std::pair("scripts", "scripts"), std::pair("hccn", "hccn")}) {
    AddPathOrigin(rendered, at + "/template/spec", volume,
                  std::string(kStormBlock) + "host_paths/" + key);
  }
}

void AddServers(RenderedObject& rendered, const std::string& name, const StormRole& role,
                const StormRole& other, const StormService& service) {
  Json annotations = {{schemas::kMinAvailable, Number(GangSize(role, other))}};
  Json labels = {{"model.aibrix.ai/name", service.model_name},
                 {"model.aibrix.ai/port", Number(service.server_port)},
                 {"model.aibrix.ai/engine", "vllm"},
                 {schemas::kFaultScheduling, "force"}};
  if (role.pod_group_size == 1) {
    annotations[schemas::kRecoverPolicyPath] = "pod";
    labels[schemas::kPodRescheduling] = "on";
  }
  AddRole(rendered, name,
          {{"name", name},
           {"replicas", role.replicas},
           {"podGroupSize", role.pod_group_size},
           {"stateful", true},
           {"template",
            {{"metadata", {{"labels", std::move(labels)}, {"annotations", std::move(annotations)}}},
             {"spec",
              {{"schedulerName", schemas::kVolcanoScheduler},
               {"containers", {ServerContainer(name, role, service)}},
               {"volumes",
                {HostPath("model", service.host_paths.models, "Directory"),
                 {{"name", "shared-mem"}, {"emptyDir", {{"medium", "Memory"}}}},
                 ScriptsVolume(service),
                 HostPath("hccn", service.host_paths.hccn)}}}}}}},
          role.pods, role.resources);
}

void AddRouting(RenderedObject& rendered, const StormRouting& routing,
                const StormService& service) {
  Json container = {
      {"name", "router"},
      {"image", routing.image},
      {"workingDir", kScriptsFolder},
      {"command", {"/bin/bash", "-c"}},
      {"args", {"bash start_proxy.sh"}},
      {"ports", {{{"name", "http"}, {"protocol", "TCP"}, {"containerPort", routing.server_port}}}},
      {"readinessProbe", {{"tcpSocket", {{"port", routing.server_port}}}, {"periodSeconds", 5}}},
      {"env",
       {FieldVariable("POD_IP", "status.podIP"),
        Variable("DISTRIBUTED_DP", service.distributed_dp ? "true" : "false"),
        Variable("PREFILL_NUM", service.prefill.replicas),
        Variable("PREFILL_POD", service.prefill.pod_group_size),
        Variable("PREFILL_DP_SIZE", service.prefill.dp_size),
        Variable("DECODE_NUM", service.decode.replicas),
        Variable("DECODE_POD", service.decode.pod_group_size),
        Variable("DECODE_DP_SIZE", service.decode.dp_size)}},
      {"volumeMounts", {Mount("scripts", kScriptsFolder)}}};
  AddRole(rendered, "routing",
          {{"name", "routing"},
           {"replicas", routing.replicas},
           {"stateful", true},
           {"template",
            {{"metadata", Json::object()},
             {"spec",
              {{"containers", {std::move(container)}}, {"volumes", {ScriptsVolume(service)}}}}}}},
          routing.pods, routing.resources);
}

RenderedObject StormServiceOf(const Application& application, const StormService& service) {
  RenderedObject rendered = NewObject(application, "orchestration.aibrix.ai/v1alpha1",
                                      "StormService", application.name, Phase::kServers);
  rendered.is_root = true;
  const Json labels = {{schemas::kApp, application.name}};
  rendered.object["spec"] = {
      {"replicas", 1},
      {"updateStrategy", {{"type", "InPlaceUpdate"}}},
      {"stateful", true},
      {"selector", {{"matchLabels", labels}}},
      {"template", {{"metadata", {{"labels", labels}}}, {"spec", {{"roles", Json::array()}}}}}};
  rendered.origins.push_back({"/spec", "/storm_service"});
  AddServers(rendered, "prefill", service.prefill, service.decode, service);
  AddServers(rendered, "decode", service.decode, service.prefill, service);
  if (service.routing) AddRouting(rendered, *service.routing, service);
  return rendered;
}

// One Service for each pod that requests are sent to.
void AddServices(const Application& application, const StormService& service,
                 const std::string& name, const StormRole& role,
                 std::vector<RenderedObject>& objects) {
  Json ports = Json::array();
  if (service.distributed_dp) {
    for (int64_t i = 0; i < role.dp_size / role.pod_group_size; ++i) {
      ports.push_back(Port("http-" + Number(i), service.server_port + i, service.server_port + i));
    }
  } else {
    ports.push_back(Port("http", service.server_port, service.server_port));
  }
  const bool group = role.pod_group_size > 1;
  const int64_t pods = service.distributed_dp ? role.pod_group_size : 1;
  for (int64_t i = 0; i < role.replicas; ++i) {
    for (int64_t j = 0; j < pods; ++j) {
      Json selector = {
          {kStormName, application.name}, {kRoleName, name}, {kReplicaIndex, Number(i)}};
      std::string service_name = application.name + "-" + name + "-" + Number(i);
      if (group) {
        selector[kGroupIndex] = Number(j);
        service_name += "-" + Number(j);
      }
      RenderedObject rendered = NewService(application, service_name, selector, ports);
      rendered.of_root = true;
      rendered.origins.push_back({"/spec", kStormBlock + name});
      objects.push_back(std::move(rendered));
    }
  }
}

}  // namespace

std::vector<RenderedObject> RenderAibrix(const Application& application,
                                         const StormService& service) {
  std::vector<RenderedObject> objects;
  AddServices(application, service, "prefill", service.prefill, objects);
  AddServices(application, service, "decode", service.decode, objects);
  if (service.routing) {
    const int64_t port = service.routing->server_port;
    RenderedObject router = NewService(application, application.name + "-router",
                                       {{kStormName, application.name}, {kRoleName, "routing"}},
                                       Json::array({Port("http", port, port)}));
    router.of_root = true;
    objects.push_back(std::move(router));
  }
  objects.push_back(StormServiceOf(application, service));
  return objects;
}

}  // namespace mindgate::deploy
