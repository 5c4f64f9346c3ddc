#include <algorithm>
#include <optional>

#include "deploy/import/read.h"
#include "deploy/labels.h"
#include "json/value.h"
#include "schemas/names.h"

// The keys of isvc-config.yaml.
namespace mindgate::deploy {
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
  // Its template tells the store port 80 where the file left the port out, and nobody reaches it
  // there.
  PutVariables(out, ContainerOfStore(store), ContainerOfStore(ours_of_store), {"MF_STORE_PORT"});
}

}  // namespace mindgate::deploy
