#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/plan.h"
#include "deploy/render.h"
#include "json/value.h"
#include "schemas/raw_objects.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

// Where the kinds of each framework come from.
constexpr std::pair<std::string_view, std::string_view> kSources[] = {
    {"ome.io", "install OME (https://github.com/sgl-project/ome)"},
    {"orchestration.aibrix.ai",
     "install AIBrix v0.5.0 or newer (https://github.com/vllm-project/aibrix)"},
    {"mindxdl.gitee.com", "install Ascend Operator of MindCluster"},
};

int64_t AmountIn(const Json* map, const std::string& resource) {
  const auto text = json::FindString(map, resource);
  return text ? ParseWholeQuantity(*text).value_or(0) : 0;
}

bool MatchesSelector(const Json& node, const StringMap& selector) {
  return std::all_of(selector.begin(), selector.end(), [&node](const auto& wanted) {
    return Label(node, wanted.first) == wanted.second;
  });
}

std::string SelectorText(const StringMap& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector) {
    std::string part = key;
    part += "=";
    part += value;
    parts.push_back(std::move(part));
  }
  return parts.empty() ? "" : " with " + Join(parts, ", ");
}

class Scout {
 public:
  Scout(kube::Client& client, const Application& application,
        const std::vector<RenderedObject>& objects, const std::stop_token& stop)
      : client_(client), application_(application), objects_(objects), stop_(stop) {}

  kube::Answer<Preflight> Run() {
    LookAtKinds();
    LookAtNamespace();
    if (const auto* service = std::get_if<OmeService>(&application_.service)) LookAtOme(*service);
    if (const auto* service = std::get_if<StormService>(&application_.service)) {
      if (service->scripts_config_map) LookForConfigMap(*service->scripts_config_map);
    }
    if (const auto* service = std::get_if<MindieService>(&application_.service)) {
      const MindieConfigMaps& names = service->config_maps;
      for (const std::string& name :
           {names.environment, names.boot, names.group_id, names.server_update, names.http_client,
            names.controller, names.coordinator, names.server}) {
        LookForConfigMap(name);
      }
      LookAtRankTable();
    }
    LookAtNodes();
    LookAtQuota();
    if (fault_) return tl::unexpected(*std::move(fault_));
    return std::move(found_);
  }

 private:
  void Block(std::string what, std::string hint) {
    found_.blockers.push_back({std::move(what), std::move(hint)});
  }
  void Note(std::string what, std::string hint = "") {
    found_.notes.push_back({std::move(what), std::move(hint)});
  }

  // Whether the cluster can be asked at all; what the user may not read is no reason to stop.
  void Failed(const kube::Fault& fault, const std::string& what) {
    if (fault.reason == Reason::kForbidden) {
      Note(what + " not checked: " + fault.message);
    } else if (!fault_) {
      fault_ = fault;
    }
  }

  // The object; null when it is not there, or when that cannot be found out.
  Json Find(const kube::Resource& resource, const std::string& ns, const std::string& name,
            bool* known = nullptr) {
    auto found = FindObject(client_, resource, ns, name, stop_);
    if (known != nullptr) *known = found.has_value();
    if (found) return *std::move(found);
    Failed(found.error(), resource.kind + " " + name);
    return nullptr;
  }

  void LookAtKinds() {
    std::set<std::string> asked;
    for (const RenderedObject& each : objects_) {
      const kube::Resource& resource = ResourceOf(each.object);
      if (resource.group.empty() || !asked.insert(resource.kind).second) continue;
      const std::string path = "/apis/" + resource.group + "/" + resource.version;
      const auto served = client_.GetPath(path, stop_);
      if (!served && served.error().reason != Reason::kNotFound) {
        Failed(served.error(), "kind " + resource.kind);
        continue;
      }
      const Json* list = served ? json::Find(*served, "resources") : nullptr;
      const bool is_served =
          json::IsArray(list) && std::any_of(list->begin(), list->end(), [&](const Json& entry) {
            return json::FindString(entry, "name") == resource.plural;
          });
      if (is_served) continue;
      std::string hint;
      for (const auto& [group, source] : kSources) {
        if (group == resource.group) hint = source;
      }
      Block("the cluster does not serve " + resource.kind + " (" + resource.api_version() +
                "): applications of framework " +
                std::string(FrameworkName(application_.framework())) + " cannot run there",
            hint);
    }
  }

  void LookAtNamespace() {
    bool known = false;
    const Json ns = Find(kube::resources::kNamespaces, "", application_.ns, &known);
    if (!known) return;
    if (ns.is_null()) {
      Block("namespace " + application_.ns + " does not exist",
            "create it: kubectl create namespace " + application_.ns);
      return;
    }
    if (IsLeaving(ns)) {
      Block("namespace " + application_.ns + " is being deleted: nothing can be created in it",
            "wait until it is gone, and create it again, or choose another app_namespace");
      return;
    }
    if (const Json* labels = json::FindPath(ns, {"metadata", "labels"})) {
      for (const auto& [key, value] : labels->items()) {
        if (value.is_string()) found_.cluster_context.namespace_labels[key] = value;
      }
    }
  }

  // Without it a server does not find its group, and its boot.sh goes on waiting.
  void LookAtRankTable() {
    const std::string name = application_.name + kGlobalTableSuffix;
    bool known = false;
    const Json table = Find(kube::resources::kConfigMaps, application_.ns, name, &known);
    const auto text = json::AsString(json::FindPath(table, {"data", kGlobalTableFile}));
    if (!known || (text && text->find("completed") != std::string_view::npos)) return;
    Note("no pod of MindIE Motor becomes ready before ConfigMap " + name +
             " holds the rank tables of all instances, which neither mindgate nor ClusterD writes",
         "docs/deploy.md says who can, and what they look like");
  }

  void LookAtOme(const OmeService& service) {
    bool known = false;
    bool known_of_cluster = false;
    if (Find(resources::kBaseModels, application_.ns, service.model_name, &known).is_null() &&
        Find(resources::kClusterBaseModels, "", service.model_name, &known_of_cluster).is_null() &&
        known && known_of_cluster) {
      Block("there is no BaseModel " + service.model_name + " in namespace " + application_.ns +
                " and no ClusterBaseModel of that name",
            "create the model, or correct model_name");
    }
    if (service.runtime_name) LookAtRuntime(service, *service.runtime_name);
  }

  void LookAtRuntime(const OmeService& service, const std::string& name) {
    bool known = false;
    bool known_of_cluster = true;
    Json runtime = Find(kube::resources::kServingRuntimes, application_.ns, name, &known);
    if (runtime.is_null()) {
      runtime = Find(kube::resources::kClusterServingRuntimes, "", name, &known_of_cluster);
    }
    if (runtime.is_null()) {
      if (!known || !known_of_cluster) return;
      Block(
          "there is no ServingRuntime " + name + " in namespace " + application_.ns +
              " and no ClusterServingRuntime of that name",
          "create the runtime, or correct runtime_name; without it OME chooses one for the model");
      return;
    }
    CompareShape(name, runtime, "engine", "engineConfig", service.engine);
    if (service.decoder) {
      CompareShape(name, runtime, "decoder", "decoderConfig", *service.decoder);
    }
    if (service.router && json::FindPath(runtime, {"spec", "routerConfig"}) == nullptr) {
      Note("runtime " + name + " has no routerConfig: the router has no command but the image's");
    }
    found_.cluster_context.objects.push_back(std::move(runtime));
  }

  // OME merges the two: a runner beside leader and worker is lost.
  void CompareShape(const std::string& name, const Json& runtime, const std::string& role,
                    const char* config, const OmeComponent& component) {
    const Json* written = json::FindPath(runtime, {"spec", config});
    if (written == nullptr) {
      Block("runtime " + name + " has no " + config + ", but the application has a " + role,
            "choose a runtime for separate prefill and decode");
      return;
    }
    const bool several = written->contains("leader") || written->contains("worker");
    if (several == (component.pod_num > 1)) return;
    Block("runtime " + name + " makes the " + role + " of " +
              (several ? "a leader and workers" : "one pod") + ", but pod_num is " +
              std::to_string(component.pod_num),
          several
              ? "write pod_num: 2 or more, or choose a runtime whose " + role + " is one pod"
              : "write pod_num: 1, or choose a runtime whose " + role + " has leader and worker");
  }

  void LookForConfigMap(const std::string& name) {
    bool known = false;
    const Json found = Find(kube::resources::kConfigMaps, application_.ns, name, &known);
    if (!known || !found.is_null()) return;
    Block("there is no ConfigMap " + name + " in namespace " + application_.ns +
              ", which the containers read",
          "create it from the files that come with the framework, or write its name");
  }

  void LookAtNodes() {
    const auto needs = NeedsOf(objects_);
    if (needs.empty()) return;
    const auto nodes = client_.ListObjects(kube::resources::kNodes, "", {}, nullptr, stop_);
    if (!nodes) return Failed(nodes.error(), "NPUs of the nodes");
    const size_t blockers = found_.blockers.size();
    for (const RoleNeeds& need : needs) {
      int64_t largest = 0;  // NPUs of one node that may be chosen
      bool selected = false;
      for (const Json& node : *nodes) {
        if (!MatchesSelector(node, need.node_selector)) continue;
        selected = true;
        if (IsOpen(node)) {
          largest = std::max(largest, AmountIn(json::FindPath(node, {"status", "allocatable"}),
                                               need.npu_resource));
        }
      }
      Report(need, selected, largest);
    }
    if (found_.blockers.size() == blockers) ReportRoom(needs, *nodes);
  }

  static bool IsOpen(const Json& node) {
    const Json* unschedulable = json::FindPath(node, {"spec", "unschedulable"});
    return schemas::ConditionStatus(node, "Ready") == "True" &&
           (unschedulable == nullptr || *unschedulable != true);
  }

  // The pods of all roles on empty nodes: the largest first, and of those with a choice last.
  void ReportRoom(std::vector<RoleNeeds> needs, const std::vector<Json>& nodes) {
    std::stable_sort(needs.begin(), needs.end(), [](const RoleNeeds& a, const RoleNeeds& b) {
      return std::pair(a.node_selector.size(), a.npus_per_pod) >
             std::pair(b.node_selector.size(), b.npus_per_pod);
    });
    std::map<std::pair<size_t, std::string>, int64_t> taken;  // of a node and a resource
    std::vector<std::string> wanted;
    int64_t pods = 0;
    int64_t placed = 0;
    for (const RoleNeeds& need : needs) {
      int64_t left = need.pods;
      for (size_t i = 0; i < nodes.size() && left > 0; ++i) {
        if (!IsOpen(nodes[i]) || !MatchesSelector(nodes[i], need.node_selector)) continue;
        int64_t& used = taken[{i, need.npu_resource}];
        const int64_t npus =
            AmountIn(json::FindPath(nodes[i], {"status", "allocatable"}), need.npu_resource);
        const int64_t here = std::min(left, (npus - used) / need.npus_per_pod);
        used += here * need.npus_per_pod;
        left -= here;
      }
      pods += need.pods;
      placed += need.pods - left;
      wanted.push_back(need.role + " " + Counted(need.pods, "pod") + " of " +
                       std::to_string(need.npus_per_pod) + " NPUs");
    }
    if (placed == pods) return;
    found_.outgrows_cluster = true;
    Note("the application has " + Join(wanted, " and ") + ", and the ready nodes have room for " +
             std::to_string(placed) + " of " + std::to_string(pods) + " even when they are empty",
         "the others stay Pending until there are more nodes");
  }

  void Report(const RoleNeeds& need, bool selected, int64_t largest) {
    const std::string where = "node" + SelectorText(need.node_selector);
    if (!selected) {
      Block("no " + where + " exists, which " + need.role + " asks for",
            "correct the node selector; kubectl get nodes --show-labels lists the labels");
    } else if (largest < need.npus_per_pod) {
      Block("no ready " + where + " has " + std::to_string(need.npus_per_pod) + " " +
                need.npu_resource + ", which a pod of " + need.role +
                " asks for; the largest has " + std::to_string(largest),
            largest == 0 ? "check the device plugin, or write another npu_resource"
                         : "write npu_num: " + std::to_string(largest) + " or less");
    }
  }

  void LookAtQuota() {
    const auto quotas =
        client_.ListObjects(resources::kResourceQuotas, application_.ns, {}, nullptr, stop_);
    if (!quotas) {
      if (quotas.error().reason == Reason::kNotFound) return;
      return Failed(quotas.error(), "quota");
    }
    if (quotas->empty()) return;
    std::vector<Json> objects;
    for (const RenderedObject& each : objects_) objects.push_back(each.object);
    // An application that exists has its part already.
    const auto existing =
        FindObjects(client_, application_.ns, application_.name, stop_, application_.framework());
    QuotaFindings findings = CompareWithQuotas(*quotas, application_.ns, DemandOf(objects),
                                               existing ? DemandOf(existing->objects) : Demand());
    for (Problem& each : findings.blockers) found_.blockers.push_back(std::move(each));
    for (Problem& each : findings.notes) found_.notes.push_back(std::move(each));
  }

  kube::Client& client_;
  const Application& application_;
  const std::vector<RenderedObject>& objects_;
  const std::stop_token& stop_;
  Preflight found_;
  std::optional<kube::Fault> fault_;
};

}  // namespace

kube::Answer<Preflight> RunPreflight(kube::Client& client, const Application& application,
                                     const std::vector<RenderedObject>& objects,
                                     const std::stop_token& stop) {
  return Scout(client, application, objects, stop).Run();
}

}  // namespace mindgate::deploy
