#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/infer_operator/infer_operator.h"

// NodePort services of roles
// (component/infer-operator/pkg/controller/v1/instanceset_controller.go).

namespace mindgate::policies::infer_operator {
namespace {

using json::Value;
using schemas::PartView;

// The API server's default --service-node-port-range.
constexpr int64_t kFirstNodePort = 30000;
constexpr int64_t kLastNodePort = 32767;

struct NodePort {
  std::string protocol;
  int64_t port = 0;
  std::string path;
};

// Calls `visit(service, ports path, port)` for each port of each NodePort service.
template <typename Visit>
void ForEachNodePort(const RuleContext& context, Visit visit) {
  for (const PartView& role : context.view.parts) {
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

// NodePorts that leave room for all services, in ascending order; past the default range, nothing.
class FreePorts {
 public:
  FreePorts(const std::vector<NodePort>& named, int64_t services)
      : services_(std::clamp<int64_t>(services, 1, kLastNodePort)) {
    for (const NodePort& port : named) taken_.insert(port.port);
  }
  std::optional<int64_t> Next() {
    for (auto near = taken_.upper_bound(next_ - services_);
         near != taken_.end() && *near < next_ + services_;
         near = taken_.upper_bound(next_ - services_)) {
      next_ = *near + services_;
    }
    if (next_ + services_ - 1 > kLastNodePort) return std::nullopt;
    return std::exchange(next_, next_ + services_);
  }

 private:
  std::set<int64_t> taken_;
  int64_t services_;
  int64_t next_ = kFirstNodePort;
};

void CheckNodePorts(const RuleContext& context, Findings& findings) {
  FreePorts ports(NodePorts(context), ServiceCount(context));
  ForEachNodePort(context, [&](const Value& service, std::string path, const Value& port) {
    const Value* number = json::Find(port, "nodePort");
    if (number != nullptr && json::AsInt(number) != 0) return;
    const auto next = ports.Next();
    findings.Violate(std::move(path),
                     "a port of NodePort service " +
                         Quote(json::FindString(service, "name").value_or("")) +
                         " has no nodePort: infer-operator refuses the role",
                     next ? "write nodePort, for example nodePort: " + std::to_string(*next)
                          : "write nodePort, and fewer replicas");
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
  const auto parts = context.view.parts;
  const bool instance_set = !parts.empty() && !parts.front().index;
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

constexpr Rule kNodePortRules[] = {
    {.id = "MG150",
     .name = "infer-node-port",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "Each port of a NodePort service names its nodePort.",
     .why = "The operator adds the index of the InferService to the nodePort and therefore cannot "
            "leave the choice to Kubernetes. It refuses the role.",
     .fix = "Write nodePort in every port.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go",
     .check = CheckNodePorts},
    {.id = "MG151",
     .name = "infer-node-port-clash",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "NodePorts of one set are as far apart as the set has replicas.",
     .why = "InferService i of a set uses nodePort + i. With 30000 and 30001 in one set of two, "
            "the second InferService wants a port that the first has, Kubernetes refuses its "
            "Service, and that role never starts.",
     .fix = "Leave room for all replicas between nodePorts.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go "
               "(handleConflictNodePort); Kubernetes documentation, Service type NodePort",
     .check = CheckNodePortClash},
    {.id = "MG152",
     .name = "infer-node-port-range",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "NodePorts, including those of all replicas, stay within the cluster's range.",
     .why = "InferService i of a set uses nodePort + i. Ports outside the API server's "
            "service-node-port-range are refused, and for the last replicas only after the first "
            "ones run.",
     .fix = "Choose nodePorts that leave room for all replicas below 32768.",
     .source = "Kubernetes documentation, Service type NodePort. The range is a flag of the API "
               "server, hence a warning",
     .check = CheckNodePortRange},
    {.id = "MG153",
     .name = "infer-node-port-name",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds - schemas::kInferServiceSets,
     .summary =
         "A standalone InferService with a NodePort service has a name that ends in a number.",
     .why = "The operator takes what follows the last '-' of the name as the index that it adds to "
            "nodePorts. If that is not a number, reconciling fails and no instance is created.",
     .fix = "Name it like chat-0, or use an InferServiceSet.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go "
               "(handleConflictNodePort)",
     .check = CheckNodePortName},
};

}  // namespace

Family NodePortRules() { return kNodePortRules; }

}  // namespace mindgate::policies::infer_operator
