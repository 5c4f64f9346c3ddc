#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/infer_operator.h"

// The service as a whole: counts, names, strategy and priorities of roles
// (component/infer-operator/pkg/controller/v1/{inferserviceset,inferservice}_controller.go).
namespace mindgate::policies::infer {
namespace {

using json::Value;
using schemas::Kind;

constexpr int64_t kMaxServices = 64;
constexpr size_t kMaxRoles = 32;
// The operator uses 33 for "every role is ready", so a role of that number or more never has its
// turn.
constexpr int64_t kLastPriority = 32;
constexpr int64_t kLastAcceptedPriority = 256;

// Where the InferService's own fields stand: in an InferServiceSet they are a template.
std::string_view ServicePath(const RuleContext& context) {
  return context.view.kind == Kind::kInferServiceSet ? "/spec/template" : "/spec";
}

const Value* ServiceSpec(const RuleContext& context) {
  const Value* spec = json::Find(*context.view.object, "spec");
  return context.view.kind == Kind::kInferServiceSet ? json::Find(spec, "template") : spec;
}

std::optional<std::string_view> StrategyOf(const RuleContext& context) {
  return json::FindString(json::FindPath(ServiceSpec(context), {"schedulingStrategy"}), "type");
}

}  // namespace

std::string Role::Path(std::string_view below) const {
  std::string path(holder);
  if (index) path += "/" + std::to_string(*index);
  return path.append(below);
}

std::string Role::Title() const {
  if (!index) return "the InstanceSet";
  const auto name = json::FindString(*value, "name");
  return "role " + (name ? Quote(*name) : std::to_string(*index));
}

std::vector<Role> Roles(const RuleContext& context) {
  std::vector<Role> roles;
  if (context.view.kind == Kind::kInstanceSet) {
    const Value* spec = json::Find(*context.view.object, "spec");
    if (json::IsObject(spec)) roles.push_back({"/spec", std::nullopt, spec});
    return roles;
  }
  const Value* list = json::Find(ServiceSpec(context), "roles");
  if (!json::IsArray(list)) return roles;
  const bool in_set = context.view.kind == Kind::kInferServiceSet;
  const std::string_view path = in_set ? "/spec/template/roles" : "/spec/roles";
  roles.reserve(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i].is_object()) roles.push_back({path, i, &(*list)[i]});
  }
  return roles;
}

int64_t ServiceCount(const RuleContext& context) {
  if (context.view.kind != Kind::kInferServiceSet) return 1;
  const auto replicas = json::AsInt(json::FindPath(*context.view.object, {"spec", "replicas"}));
  return std::clamp<int64_t>(replicas.value_or(1), 1, kMaxServices);
}

void CheckSetReplicas(const RuleContext& context, Findings& findings) {
  const auto replicas = json::AsInt(json::FindPath(*context.view.object, {"spec", "replicas"}));
  if (!replicas || (*replicas >= 1 && *replicas <= kMaxServices)) return;
  findings.Violate("/spec/replicas",
                   "replicas is " + std::to_string(*replicas) +
                       ", but infer-operator accepts 1 to 64: it creates no InferService at all",
                   "write replicas: 1 to 64; delete the InferServiceSet to stop it");
}

void CheckRoleCount(const RuleContext& context, Findings& findings) {
  const Value* roles = json::Find(ServiceSpec(context), "roles");
  if (!json::IsArray(roles) || roles->size() <= kMaxRoles) return;
  findings.Violate(std::string(ServicePath(context)) + "/roles",
                   std::to_string(roles->size()) +
                       " roles, but infer-operator accepts at most 32: it creates none of them",
                   "split the service into several");
}

void CheckRoleNames(const RuleContext& context, Findings& findings) {
  std::set<std::string_view> seen;
  for (const Role& role : Roles(context)) {
    const Value* raw = json::Find(*role.value, "name");
    if (raw != nullptr && !raw->is_string()) continue;
    const std::string_view name = json::AsString(raw).value_or("");
    const std::string path = role.Path("/name");
    if (name.empty()) {
      findings.Violate(path, "a role has no name: infer-operator creates none of the roles",
                       "write a name, for example `name: prefill`");
    } else if (!IsDns1123Label(name)) {
      findings.Violate(path,
                       "role name " + Quote(name) +
                           " is not a DNS label: infer-operator creates none of the roles",
                       "use at most 63 lower-case letters, digits and '-', such as `prefill-0`");
    } else if (!seen.insert(name).second) {
      findings.Violate(
          path, "two roles are named " + Quote(name) + ": infer-operator creates none of the roles",
          "give each role a unique name");
    }
  }
}

void CheckStrategy(const RuleContext& context, Findings& findings) {
  constexpr std::array<std::string_view, 2> kTypes = {"Parallel", "Priority"};
  const auto type = StrategyOf(context);
  if (!type || type->empty() || *type == "Sequential" ||
      std::find(kTypes.begin(), kTypes.end(), *type) != kTypes.end()) {
    return;
  }
  const auto near = NearestOf(*type, kTypes);
  findings.Violate(std::string(ServicePath(context)) + "/schedulingStrategy/type",
                   "scheduling strategy " + Quote(*type) +
                       " is unknown to infer-operator, which then starts no instance",
                   near ? "write type: " + std::string(*near) : "write " + OneOf(kTypes));
}

void CheckStrategySequential(const RuleContext& context, Findings& findings) {
  if (StrategyOf(context) != "Sequential") return;
  findings.Violate(
      std::string(ServicePath(context)) + "/schedulingStrategy/type",
      "scheduling strategy Sequential exists only in early releases: others start no instance",
      "write type: Parallel, or leave schedulingStrategy out");
}

void CheckPriority(const RuleContext& context, Findings& findings) {
  if (StrategyOf(context) != "Priority") return;
  for (const Role& role : Roles(context)) {
    const auto priority = json::AsInt(json::Find(*role.value, "priority"));
    if (!priority || (*priority >= 1 && *priority <= kLastPriority)) continue;
    const bool accepted = *priority > kLastPriority && *priority <= kLastAcceptedPriority;
    findings.Violate(role.Path("/priority"),
                     "priority " + std::to_string(*priority) + " of " + role.Title() +
                         (accepted ? " is accepted but never scheduled: the operator stops at 32"
                                   : " is refused by infer-operator, which creates no role at all"),
                     "write a priority from 1 (first) to 32");
  }
}

void CheckInstanceSetLabels(const RuleContext& context, Findings& findings) {
  for (std::string_view label : {kServiceNameLabel, kSetNameLabel}) {
    if (context.view.labels.Find(label) != nullptr) continue;
    findings.Violate(
        json::Child("/metadata/labels", label),
        "label " + std::string(label) + " is missing: infer-operator ignores the InstanceSet",
        "add the label, or let an InferService make the InstanceSet");
  }
}

void CheckDerivedNames(const RuleContext& context, Findings& findings) {
  // The name of a StatefulSet plus a hash of 11 characters is a label value of its pods, at
  // most 63.
  constexpr size_t kMaxStatefulSet = 52;
  constexpr size_t kMaxService = 63;
  std::string service(context.view.name);
  if (context.view.kind == Kind::kInferServiceSet) service += "-0";
  if (context.view.kind == Kind::kInstanceSet) {
    service = context.view.Label(kServiceNameLabel).value_or("");
  }
  if (context.view.name.empty() || service.empty()) return;
  for (const Role& role : Roles(context)) {
    const auto name = context.view.kind == Kind::kInstanceSet
                          ? context.view.Label(kSetNameLabel)
                          : json::FindString(*role.value, "name");
    if (!name || name->empty()) continue;
    const std::string base = service + "-" + std::string(*name);
    const auto report = [&](std::string_view what, const std::string& derived, size_t most) {
      if (derived.size() <= most) return;
      findings.Violate(
          context.view.kind == Kind::kInstanceSet ? "/metadata/labels" : role.Path("/name"),
          "the " + std::string(what) + " of " + role.Title() + " would have a name of " +
              std::to_string(derived.size()) + " characters, but at most " + std::to_string(most) +
              " work: " + Quote(derived),
          "shorten the names of service and role by " + std::to_string(derived.size() - most) +
              " characters");
    };
    const auto kind = json::FindString(json::Find(*role.value, "workload"), "kind");
    const Value* services = json::Find(*role.value, "services");
    const bool own_services = json::IsArray(services) && !services->empty();
    if (kind == "StatefulSet") {
      report("StatefulSet", base + "-0", kMaxStatefulSet);
    } else if (kind == "Deployment" && !own_services) {
      report("Service", "service-" + base + "-0", kMaxService);
    }
    if (!own_services) continue;
    for (const Value& each : *services) {
      const auto own = json::FindString(each, "name");
      if (own) report("Service", std::string(*own) + "-" + base, kMaxService);
    }
  }
}

}  // namespace mindgate::policies::infer
