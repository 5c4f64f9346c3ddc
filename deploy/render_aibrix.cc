#include <utility>

#include "deploy/labels.h"
#include "deploy/objects.h"
#include "schemas/names.h"

// mindcluster-deploy: k8s-deploy-tool/src/templates/aibrix. Its start scripts read the variables
// and build their list of servers from the names of the Services: both must stay as they are.
namespace mindgate::deploy {
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
