#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "deploy/import/read.h"
#include "deploy/render.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {

// The keys of isvc-config.yaml.

namespace {

using json::Json;

constexpr const char* kComponents[] = {"engine", "decoder"};
// What mindcluster-deploy writes into a probe without a port.
constexpr int64_t kPortOfPathProbes = 80;

const Json* ComponentIn(const Json& service, const char* name) {
  return json::FindPath(service, {"spec", name});
}

// Where the pod spec of a component stands: the component itself, or its leader.
const Json* PodOf(const Json* component) {
  const Json* leader = json::Find(component, "leader");
  return leader != nullptr ? leader : component;
}

const Json* RunnerIn(const Json* component) { return json::Find(PodOf(component), "runner"); }

Block ReadComponent(const Json* component, const std::string& npu_resource) {
  Block out = Block::object();
  const Json* runner = RunnerIn(component);
  PutInteger(out, "min_replicas", component, "minReplicas");
  const auto most = json::AsInt(json::Find(component, "maxReplicas"));
  if (most && most != json::AsInt(json::Find(component, "minReplicas")).value_or(1)) {
    out["max_replicas"] = *most;
  }
  const auto workers = json::AsInt(json::FindPath(component, {"worker", "size"}));
  out["pod_num"] = workers.value_or(0) + 1;
  PutText(out, "image", runner, "image");
  out["npu_num"] = NpusOf(runner, npu_resource);
  PutSize(out, "dp_size", runner, "DP_SIZE");
  PutSize(out, "tp_size", runner, "TP_SIZE");
  PutSize(out, "pp_size", runner, "PP_SIZE");
  PutAmounts(out, runner);
  PutExtras(out, PodOf(component), runner, {}, kSnakeNames);
  return out;
}

Block ReadRouter(const Json* router) {
  Block out = Block::object();
  const Json* runner = json::Find(router, "runner");
  PutInteger(out, "min_replicas", router, "minReplicas");
  const auto most = json::AsInt(json::Find(router, "maxReplicas"));
  if (most && most != json::AsInt(json::Find(router, "minReplicas")).value_or(1)) {
    out["max_replicas"] = *most;
  }
  PutText(out, "image", runner, "image");
  PutAmounts(out, runner);
  PutExtras(out, router, runner, {}, kSnakeNames);
  return out;
}

const Json* PodSpecOfStore(const Json* deployment) {
  return json::FindPath(deployment, {"spec", "template", "spec"});
}

const Json* ContainerOfStore(const Json* deployment) {
  const Json* containers = json::Find(PodSpecOfStore(deployment), "containers");
  return Named(containers, "ms-store");
}

// A probe of a path is written as one of its port.
void PutProbe(Block& block, const char* key, const Json* probe, int64_t container_port) {
  const Json* tried = json::Find(probe, "tcpSocket");
  const bool has_path = tried == nullptr;
  if (has_path) tried = json::Find(probe, "httpGet");
  if (tried == nullptr) return;
  Block out = Block::object();
  const auto port = json::AsInt(json::Find(*tried, "port"));
  const bool from_template = has_path && port == kPortOfPathProbes;
  if (port && port != container_port && !from_template) out["port"] = *port;
  out["initial_delay_seconds"] = json::AsInt(json::Find(*probe, "initialDelaySeconds")).value_or(0);
  out["period_seconds"] = json::AsInt(json::Find(*probe, "periodSeconds")).value_or(10);
  out["failure_threshold"] = json::AsInt(json::Find(*probe, "failureThreshold")).value_or(3);
  block[key] = std::move(out);
}

Block ReadStore(const Json* deployment) {
  Block out = Block::object();
  const Json* container = ContainerOfStore(deployment);
  PutText(out, "image", container, "image");
  int64_t port = MfStore().container_port;
  const Json* ports = json::Find(container, "ports");
  if (json::IsArray(ports) && !ports->empty()) {
    port = json::AsInt(json::Find(ports->front(), "containerPort")).value_or(port);
  }
  out["container_port"] = port;
  PutAmounts(out, container);
  PutProbe(out, "readiness_probe", json::Find(container, "readinessProbe"), port);
  PutProbe(out, "startup_probe", json::Find(container, "startupProbe"), port);
  PutProbe(out, "liveness_probe", json::Find(container, "livenessProbe"), port);
  PutExtras(out, PodSpecOfStore(deployment), container, {}, kSnakeNames);
  return out;
}

// Of a component, in the objects that run and in those of the document.
void AddMapsOf(const Json* runs, const Json* rendered, Block& block) {
  PutMap(block, "labels", json::Find(runs, "labels"), json::Find(rendered, "labels"));
  // The size of a gang that the template wrote: from min_replicas, also where several pods make an
  // instance, and "" where there was no min_replicas.
  const Json* written = json::FindPath(runs, {"annotations", schemas::kMinAvailable});
  const auto least = json::AsInt(json::Find(runs, "minReplicas")).value_or(1);
  const bool of_template =
      written != nullptr && (*written == "" || *written == std::to_string(least));
  const std::string_view skipped = of_template ? schemas::kMinAvailable : "";
  PutMap(block, "annotations", json::Find(runs, "annotations"), json::Find(rendered, "annotations"),
         {skipped});
  PutMap(block, "node_selector", json::Find(PodOf(runs), "nodeSelector"), nullptr);
  PutVariables(block, RunnerIn(runs), RunnerIn(rendered));
}

}  // namespace

Block ReadOme(const FoundApplication& found) {
  const Json& service = found.root();
  std::string npu_resource = NpuResourceOf(RunnerIn(ComponentIn(service, "engine")));
  if (npu_resource.empty()) npu_resource = NpuResourceOf(RunnerIn(ComponentIn(service, "decoder")));
  if (npu_resource.empty()) npu_resource = kDefaultNpuResource;
  Block block = Block::object();
  PutText(block, "model_name", json::FindPath(service, {"spec", "model"}), "name");
  PutText(block, "runtime_name", json::FindPath(service, {"spec", "runtime"}), "name");
  if (npu_resource != kDefaultNpuResource) block["npu_resource"] = npu_resource;
  for (const char* name : kComponents) {
    const Json* component = ComponentIn(service, name);
    if (component != nullptr) block[name] = ReadComponent(component, npu_resource);
  }
  const bool decoder = block.contains("decoder");
  if (const Json* router = ComponentIn(service, "router")) {
    block["router"] = ReadRouter(router);
  } else if (decoder) {
    block["router"] = "none";
  }
  Block document = {{"framework", "ome"}, {"app_name", found.app}, {"app_namespace", found.ns}};
  document["inference_service"] = std::move(block);
  const Json* store = found.Object("Deployment " + found.app + "-mf-store");
  if (decoder && store != nullptr) document["mf_store"] = ReadStore(store);
  return document;
}

void AddOmeMaps(const FoundApplication& found, const std::vector<RenderedObject>& rendered,
                Block& document) {
  const Json* ours = RenderedNamed(rendered, "InferenceService " + found.app);
  if (ours == nullptr) return;
  Block& block = document["inference_service"];
  for (const char* name : kComponents) {
    const Json* runs = ComponentIn(found.root(), name);
    if (runs != nullptr) AddMapsOf(runs, ComponentIn(*ours, name), block[name]);
  }
  if (const Json* router = ComponentIn(found.root(), "router")) {
    AddMapsOf(router, ComponentIn(*ours, "router"), block["router"]);
  }
  const std::string title = "Deployment " + found.app + "-mf-store";
  const Json* store = found.Object(title);
  const Json* ours_of_store = RenderedNamed(rendered, title);
  if (!document.contains("mf_store") || store == nullptr || ours_of_store == nullptr) return;
  Block& out = document["mf_store"];
  PutMap(out, "node_selector", json::Find(PodSpecOfStore(store), "nodeSelector"), nullptr);
  // Its template gives the store port 80 where the file left the port out, and nobody reaches it
  // there.
  PutVariables(out, ContainerOfStore(store), ContainerOfStore(ours_of_store), {"MF_STORE_PORT"});
}

// The keys of stormservice-config.yaml.

namespace {

constexpr const char* kServerRoles[] = {"prefill", "decode"};

const Json* RoleIn(const Json& storm, std::string_view name) {
  return Named(json::FindPath(storm, {"spec", "template", "spec", "roles"}), name);
}

const Json* RolePod(const Json* role) { return json::FindPath(role, {"template", "spec"}); }

const Json* RoleContainer(const Json* role) {
  const Json* containers = json::Find(RolePod(role), "containers");
  return json::IsArray(containers) && !containers->empty() ? &containers->front() : nullptr;
}

// The port at which requests arrive, else the one that AIBrix gets.
std::optional<int64_t> ServerPort(const FoundApplication& found, const Json* prefill) {
  for (const char* end : {"-prefill-0", "-prefill-0-0"}) {
    const Json* service = found.Object("Service " + found.app + end);
    const Json* ports = service == nullptr ? nullptr : json::FindPath(*service, {"spec", "ports"});
    if (!json::IsArray(ports) || ports->empty()) continue;
    if (const auto port = json::AsInt(json::Find(ports->front(), "port"))) return port;
  }
  return ParseGoInt(
      json::TextAt(prefill, {"template", "metadata", "labels", "model.aibrix.ai/port"}));
}

Block ReadServers(const Json* role, const std::string& name, const std::string& npu_resource) {
  Block out = Block::object();
  const Json* container = RoleContainer(role);
  PutInteger(out, "replicas", role, "replicas");
  PutInteger(out, "podGroupSize", role, "podGroupSize");
  const std::string prefix = name == "prefill" ? "PREFILL" : "DECODE";
  PutSize(out, "dp_size", container, prefix + "_DP_SIZE");
  PutSize(out, "tp_size", container, prefix + "_TP_SIZE");
  if (const int64_t npus = NpusOf(container, npu_resource); npus > 0) out["npu_num"] = npus;
  PutText(out, "image", container, "image");
  PutAmounts(out, container);
  PutExtras(out, RolePod(role), container, {"model", "shared-mem", "scripts", "hccn"}, kCamelNames);
  return out;
}

Block ReadRouting(const Json* role) {
  Block out = Block::object();
  const Json* container = RoleContainer(role);
  PutInteger(out, "replicas", role, "replicas");
  const Json* ports = json::Find(container, "ports");
  if (json::IsArray(ports) && !ports->empty()) {
    PutInteger(out, "server_port", &ports->front(), "containerPort");
  }
  PutText(out, "image", container, "image");
  PutAmounts(out, container);
  PutExtras(out, RolePod(role), container, {"scripts"}, kCamelNames);
  return out;
}

// Where the servers read models, scripts and hccn.conf, as far as it is not where the templates
// have it.
void PutPaths(Block& block, const Json* pod) {
  const Json* volumes = json::Find(pod, "volumes");
  const auto path = [&](const char* volume) {
    const Json* found = Named(volumes, volume);
    return found == nullptr ? "" : json::TextAt(*found, {"hostPath", "path"});
  };
  const StormPaths usual;
  Block paths = Block::object();
  const auto put = [&](const char* key, const std::string& found, const std::string& otherwise) {
    if (found.starts_with('/') && found != otherwise) paths[key] = found;
  };
  put("models", path("model"), usual.models);
  put("scripts", path("scripts"), usual.scripts);
  put("hccn", path("hccn"), usual.hccn);
  if (!paths.empty()) block["host_paths"] = std::move(paths);
  if (const Json* scripts = Named(volumes, "scripts")) {
    PutText(block, "scripts_config_map", json::Find(*scripts, "configMap"), "name");
  }
}

}  // namespace

Block ReadAibrix(const FoundApplication& found) {
  const Json& storm = found.root();
  const Json* prefill = RoleIn(storm, "prefill");
  const Json* server = RoleContainer(prefill);
  std::string npu_resource = NpuResourceOf(server);
  if (npu_resource.empty()) npu_resource = kDefaultNpuResource;
  Block block = Block::object();
  if (const auto model = VariableText(server, "MODEL_NAME")) block["model_name"] = *model;
  if (const auto path = VariableText(server, "MODEL_PATH")) block["model_path"] = *path;
  const auto distributed = VariableText(server, "DISTRIBUTED_DP");
  if (distributed == "true" || distributed == "false") block["distributed_dp"] = *distributed;
  const auto port = ServerPort(found, prefill);
  if (port && *port != StormService().server_port) block["server_port"] = *port;
  if (npu_resource != kDefaultNpuResource) block["npu_resource"] = npu_resource;
  PutPaths(block, RolePod(prefill));
  for (const char* name : kServerRoles) {
    block[name] = ReadServers(RoleIn(storm, name), name, npu_resource);
  }
  if (const Json* routing = RoleIn(storm, "routing")) block["routing"] = ReadRouting(routing);
  Block document = {{"framework", "aibrix"}, {"app_name", found.app}, {"app_namespace", found.ns}};
  document["storm_service"] = std::move(block);
  return document;
}

void AddAibrixMaps(const FoundApplication& found, const std::vector<RenderedObject>& rendered,
                   Block& document) {
  const Json* ours = RenderedNamed(rendered, "StormService " + found.app);
  if (ours == nullptr) return;
  for (const char* name : {"prefill", "decode", "routing"}) {
    const Json* runs = json::Find(RoleIn(found.root(), name), "template");
    if (runs == nullptr) continue;
    const Json* other = json::Find(RoleIn(*ours, name), "template");
    Block& out = document["storm_service"][name];
    PutMap(out, "labels", json::FindPath(runs, {"metadata", "labels"}),
           json::FindPath(other, {"metadata", "labels"}));
    PutMap(out, "annotations", json::FindPath(runs, {"metadata", "annotations"}),
           json::FindPath(other, {"metadata", "annotations"}));
    PutMap(out, "nodeSelector", json::FindPath(runs, {"spec", "nodeSelector"}), nullptr);
  }
}

}  // namespace mindgate::deploy
