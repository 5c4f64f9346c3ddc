#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "deploy/import/read.h"
#include "deploy/labels.h"
#include "json/value.h"
#include "schemas/names.h"

// The keys of stormservice-config.yaml.
namespace mindgate::deploy {
namespace {

using json::Json;

constexpr const char* kServerRoles[] = {"prefill", "decode"};

const Json* RoleIn(const Json& storm, std::string_view name) {
  return Named(json::FindPath(storm, {"spec", "template", "spec", "roles"}), name);
}

const Json* RolePod(const Json* role) { return json::FindPath(role, {"template", "spec"}); }

const Json* RoleContainer(const Json* role) {
  const Json* containers = json::Find(RolePod(role), "containers");
  return json::IsArray(containers) && !containers->empty() ? &containers->front() : nullptr;
}

// The port at which requests arrive, else the one of which AIBrix is told.
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
