#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/infer_operator.h"
#include "schemas/names.h"

// Each role's workload and services
// (component/infer-operator/pkg/controller/{v1/instanceset_controller.go,workload}).
namespace mindgate::policies::infer {
namespace {

using json::Value;
using schemas::Kind;

constexpr int64_t kMaxInstances = 256;
// The API server's default --service-node-port-range.
constexpr int64_t kFirstNodePort = 30000;
constexpr int64_t kLastNodePort = 32767;

std::string_view WorkloadKind(const Role& role) {
  return json::FindString(json::Find(*role.value, "workload"), "kind").value_or("");
}

const schemas::PodTemplateView* TemplateOf(const RuleContext& context, const Role& role) {
  return context.view.TemplateOf(role.index.value_or(0));
}

// The operator copies a role's labels to the InstanceSet and reads the gang label there.
bool IsGang(const RuleContext& context, const Role& role) {
  const Value* labels = context.view.kind == Kind::kInstanceSet
                            ? context.view.labels.value
                            : json::FindPath(*role.value, {"metadata", "labels"});
  return json::FindString(labels, kGangLabel) == "true";
}

bool IsEmptyObject(const Value* value) { return !json::IsObject(value) || value->empty(); }

// A label of the selector that the pods will not carry; empty when they carry all.
std::string_view MissingLabel(const Value* selector, const Value* labels) {
  const Value* wanted = json::Find(selector, "matchLabels");
  if (!json::IsObject(wanted)) return {};
  for (const auto& [key, value] : wanted->members()) {
    // The operator adds its own labels to the pods.
    if (key.starts_with("infer.huawei.com/")) continue;
    const Value* carried = json::Find(labels, key);
    if (carried == nullptr || *carried != value) return key;
  }
  return {};
}

void CheckSelector(const Role& role, const Value& spec, Findings& findings) {
  const Value* selector = json::Find(spec, "selector");
  const std::string path = role.Path("/spec/selector");
  const Value* expressions = json::Find(selector, "matchExpressions");
  if (IsEmptyObject(json::Find(selector, "matchLabels")) &&
      (!json::IsArray(expressions) || expressions->empty())) {
    findings.Violate(path,
                     "the workload of " + role.Title() +
                         " has no selector, which Kubernetes requires: it is never created",
                     "write selector.matchLabels with labels of the pod template");
    return;
  }
  const std::string_view missing =
      MissingLabel(selector, json::FindPath(spec, {"template", "metadata", "labels"}));
  if (missing.empty()) return;
  findings.Violate(json::Child(path + "/matchLabels", missing),
                   "the pod template of " + role.Title() + " does not carry the selector's label " +
                       Quote(missing) + ": Kubernetes refuses the workload",
                   "write the same label in spec.template.metadata.labels");
}

struct NodePort {
  std::string protocol;
  int64_t port = 0;
  std::string path;
};

// Calls `visit(service, ports path, port)` for each port of each NodePort service.
template <typename Visit>
void ForEachNodePort(const RuleContext& context, Visit visit) {
  for (const Role& role : Roles(context)) {
    const Value* services = json::Find(*role.value, "services");
    if (!json::IsArray(services)) continue;
    for (size_t i = 0; i < services->size(); ++i) {
      const Value* spec = json::Find((*services)[i], "spec");
      if (json::FindString(spec, "type") != "NodePort") continue;
      const Value* ports = json::Find(spec, "ports");
      if (!json::IsArray(ports)) continue;
      const std::string path = json::Child(role.Path("/services"), i) + "/spec/ports";
      for (size_t j = 0; j < ports->size(); ++j) {
        visit((*services)[i], json::Child(path, j) + "/nodePort", (*ports)[j]);
      }
    }
  }
}

std::vector<NodePort> NodePorts(const RuleContext& context) {
  std::vector<NodePort> ports;
  ForEachNodePort(context, [&](const Value&, std::string path, const Value& port) {
    const auto number = json::AsInt(json::Find(port, "nodePort"));
    // Outside these bounds it is not a port number, and Kubernetes says so.
    if (!number || *number < 1 || *number > 65535) return;
    ports.push_back({std::string(json::FindString(port, "protocol").value_or("TCP")), *number,
                     std::move(path)});
  });
  return ports;
}

}  // namespace

void CheckWorkloadKind(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const Value* workload = json::Find(*role.value, "workload");
    if (workload != nullptr && !workload->is_object()) continue;
    const auto version = json::FindString(workload, "apiVersion");
    const auto kind = json::FindString(workload, "kind");
    if (version == "apps/v1" && (kind == "Deployment" || kind == "StatefulSet")) continue;
    findings.Violate(
        role.Path("/workload"),
        "the workload of " + role.Title() + " is " +
            Quote(std::string(version.value_or("")) + " " + std::string(kind.value_or(""))) +
            ": infer-operator knows Deployment and StatefulSet of apps/v1 only and creates nothing",
        "write workload: {apiVersion: apps/v1, kind: StatefulSet}");
  }
}

void CheckWorkloadSpec(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const Value* spec = json::Find(*role.value, "spec");
    if (spec != nullptr && !spec->is_object()) continue;
    if (spec == nullptr) {
      findings.Violate(role.Path("/spec"),
                       role.Title() + " has no spec: infer-operator cannot create a workload",
                       "write the spec of a Deployment or StatefulSet, with selector and template");
      continue;
    }
    const Value* pod_template = json::Find(*spec, "template");
    if (pod_template == nullptr) {
      findings.Violate(
          role.Path("/spec/template"),
          "the workload of " + role.Title() + " has no pod template: Kubernetes refuses it",
          "write template with metadata.labels and spec.containers");
    } else if (pod_template->is_object()) {
      CheckSelector(role, *spec, findings);
    }
  }
}

void CheckRoleReplicas(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const Value* raw = json::Find(*role.value, "replicas");
    const auto replicas = json::AsInt(raw);
    if (raw == nullptr) {
      findings.Violate(
          role.Path("/replicas"),
          role.Title() + " has no replicas: infer-operator refuses it and creates no instance",
          "write replicas: 1, or the number of instances");
    } else if (replicas && *replicas < 0) {
      findings.Violate(role.Path("/replicas"),
                       "replicas of " + role.Title() + " is " + std::to_string(*replicas) +
                           ": infer-operator refuses it and creates no instance",
                       "write replicas: 0 or more");
    }
  }
}

void CheckRoleReplicasLimit(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const auto replicas = json::AsInt(json::Find(*role.value, "replicas"));
    if (!replicas || *replicas <= kMaxInstances) continue;
    findings.Violate(role.Path("/replicas"),
                     role.Title() + " has " + std::to_string(*replicas) +
                         " instances, more than the 256 that infer-operator is specified for",
                     "write replicas: 256 or less, or split the role");
  }
}

void CheckWorkloadReplicas(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const bool gang = IsGang(context, role);
    if (!gang && WorkloadKind(role) != "StatefulSet") continue;
    const Value* spec = json::Find(*role.value, "spec");
    if (!json::IsObject(spec) || json::Find(*spec, "replicas") != nullptr) continue;
    findings.Violate(role.Path("/spec/replicas"),
                     "the workload of " + role.Title() +
                         " has no replicas: infer-operator cannot " +
                         (gang ? "size the gang" : "make the StatefulSet") + " and retries forever",
                     "write the number of pods of one instance, for example replicas: 1");
  }
}

void CheckGangOrder(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    if (!IsGang(context, role) || WorkloadKind(role) != "StatefulSet") continue;
    const Value* spec = json::Find(*role.value, "spec");
    const schemas::PodTemplateView* pod = TemplateOf(context, role);
    const auto pods = json::AsInt(json::Find(spec, "replicas"));
    if (pod == nullptr || pod->SchedulerName() != context.config.scheduler || !pods || *pods <= 1 ||
        json::FindString(spec, "podManagementPolicy") == "Parallel") {
      continue;
    }
    findings.Violate(role.Path("/spec/podManagementPolicy"),
                     "the gang of " + role.Title() + " needs all " + std::to_string(*pods) +
                         " pods at once, but an ordered StatefulSet creates the second only when "
                         "the first is ready: none starts",
                     "write podManagementPolicy: Parallel");
  }
}

void CheckScalingPolicy(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const Value* policy = json::Find(*role.value, "scalingPolicy");
    const Value* type = json::Find(policy, "type");
    if (!json::IsObject(policy) || (type != nullptr && !type->is_string()) ||
        json::AsString(type) == "HPA") {
      continue;
    }
    findings.Violate(role.Path("/scalingPolicy/type"),
                     "scaling policy " + Quote(json::AsString(type).value_or("")) + " of " +
                         role.Title() +
                         " does nothing in released versions of infer-operator, and the role "
                         "never becomes ready",
                     "write type: HPA, or remove scalingPolicy");
  }
}

void CheckFaultScheduling(const RuleContext& context, Findings& findings) {
  for (const Role& role : Roles(context)) {
    const schemas::PodTemplateView* pod = TemplateOf(context, role);
    if (pod == nullptr || !pod->RequestsNpus()) continue;
    const auto value = pod->Label(schemas::kFaultScheduling);
    const std::string path = pod->labels.path.Child(schemas::kFaultScheduling);
    if (value == "force" || value == "grace") {
      findings.Violate(path,
                       "fault-scheduling " + std::string(*value) + " of " + role.Title() +
                           " lets Volcano replace pods; infer-operator's own recovery of whole "
                           "instances stays off",
                       "write fault-scheduling: \"external-" + std::string(*value) +
                           "\" for recovery by instance");
    }
  }
}

void CheckNodePorts(const RuleContext& context, Findings& findings) {
  ForEachNodePort(context, [&](const Value& service, std::string path, const Value& port) {
    const Value* number = json::Find(port, "nodePort");
    if (number != nullptr && json::AsInt(number) != 0) return;
    findings.Violate(std::move(path),
                     "a port of NodePort service " +
                         Quote(json::FindString(service, "name").value_or("")) +
                         " has no nodePort: infer-operator refuses the role",
                     "write nodePort, for example nodePort: 30000");
  });
}

void CheckNodePortClash(const RuleContext& context, Findings& findings) {
  const int64_t services = ServiceCount(context);
  std::vector<NodePort> ports = NodePorts(context);
  std::stable_sort(ports.begin(), ports.end(), [](const NodePort& a, const NodePort& b) {
    return std::tie(a.protocol, a.port) < std::tie(b.protocol, b.port);
  });
  for (size_t i = 1; i < ports.size(); ++i) {
    const NodePort& before = ports[i - 1];
    const NodePort& port = ports[i];
    if (before.protocol != port.protocol || port.port - before.port >= services) continue;
    findings.Violate(
        port.path,
        "nodePort " + std::to_string(port.port) + " collides with " + std::to_string(before.port) +
            " of another service" +
            (services > 1 ? ": service i of the " + std::to_string(services) + " uses nodePort + i"
                          : "") +
            ", and Kubernetes refuses the second",
        "keep the nodePorts " + std::to_string(services) + " apart");
  }
}

void CheckNodePortRange(const RuleContext& context, Findings& findings) {
  const int64_t services = ServiceCount(context);
  for (const NodePort& port : NodePorts(context)) {
    const int64_t last = port.port + services - 1;
    if (port.port >= kFirstNodePort && last <= kLastNodePort) continue;
    findings.Violate(
        port.path,
        "the service uses nodePorts " + std::to_string(port.port) + " to " + std::to_string(last) +
            ", outside Kubernetes' default range 30000 to 32767",
        "write a nodePort from 30000 to " + std::to_string(kLastNodePort - services + 1));
  }
}

void CheckNodePortName(const RuleContext& context, Findings& findings) {
  const bool instance_set = context.view.kind == Kind::kInstanceSet;
  const std::string_view name =
      instance_set ? context.view.Label(kServiceNameLabel).value_or("") : context.view.name;
  if (name.empty() || NodePorts(context).empty()) return;
  const size_t dash = name.rfind('-');
  if (dash != std::string_view::npos && ParseGoInt(name.substr(dash + 1))) return;
  findings.Violate(
      instance_set ? json::Child("/metadata/labels", kServiceNameLabel) : "/metadata/name",
      Quote(name) +
          " does not end in a number, which infer-operator adds to each nodePort: it creates no "
          "instance",
      "name it like " + Quote(std::string(name) + "-0") + ", or use an InferServiceSet");
}

}  // namespace mindgate::policies::infer
