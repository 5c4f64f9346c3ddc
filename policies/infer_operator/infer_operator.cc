#include "policies/infer_operator/infer_operator.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"

namespace mindgate::policies::infer_operator {

std::string Title(const schemas::PartView& role) {
  return role.index ? role.Title("role") : "the InstanceSet";
}

int64_t ServiceCount(const RuleContext& context) {
  if (!context.view.is_set) return 1;
  const auto replicas = json::AsInt(json::FindPath(*context.view.object, {"spec", "replicas"}));
  return std::clamp<int64_t>(replicas.value_or(1), 1, kMaxServices);
}

// The service as a whole: counts, names, strategy and priorities of roles
// (component/infer-operator/pkg/controller/v1/{inferserviceset,inferservice}_controller.go).

namespace {

using json::Value;
using schemas::PartView;

constexpr size_t kMaxRoles = 32;
// The operator uses 33 for "every role is ready", so a role of that number or more never has its
// turn.
constexpr int64_t kLastPriority = 32;
constexpr int64_t kLastAcceptedPriority = 256;

std::optional<std::string_view> StrategyOf(const RuleContext& context) {
  return json::FindString(context.view.spec.Find("schedulingStrategy"), "type");
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
  const Value* roles = context.view.spec.Find("roles");
  if (!json::IsArray(roles) || roles->size() <= kMaxRoles) return;
  findings.Violate(context.view.spec.path.Child("roles"),
                   std::to_string(roles->size()) +
                       " roles, but infer-operator accepts at most 32: it creates none of them",
                   "split the service into several");
}

void CheckRoleNames(const RuleContext& context, Findings& findings) {
  std::set<std::string_view> seen;
  for (const PartView& role : context.view.parts) {
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
  findings.Violate(context.view.spec.path.Child("schedulingStrategy") + "/type",
                   "scheduling strategy " + Quote(*type) +
                       " is unknown to infer-operator, which then starts no instance",
                   near ? WriteWord("type", *near, MeansOnly(*type, *near, kTypes))
                        : Fix("write " + OneOf(kTypes)));
}

void CheckStrategySequential(const RuleContext& context, Findings& findings) {
  if (StrategyOf(context) != "Sequential") return;
  findings.Violate(
      context.view.spec.path.Child("schedulingStrategy") + "/type",
      "scheduling strategy Sequential exists only in early releases: others start no instance",
      "write type: Parallel, or leave schedulingStrategy out");
}

void CheckPriority(const RuleContext& context, Findings& findings) {
  if (StrategyOf(context) != "Priority") return;
  for (const PartView& role : context.view.parts) {
    const auto priority = json::AsInt(json::Find(*role.value, "priority"));
    if (!priority || (*priority >= 1 && *priority <= kLastPriority)) continue;
    const bool accepted = *priority > kLastPriority && *priority <= kLastAcceptedPriority;
    findings.Violate(role.Path("/priority"),
                     "priority " + std::to_string(*priority) + " of " + Title(role) +
                         (accepted ? " is accepted but never scheduled: the operator stops at 32"
                                   : " is refused by infer-operator, which creates no role at all"),
                     "write a priority from 1 (first) to 32");
  }
}

// The order of priorities waits for every pod of the roles before, and the watcher for the shape
// that the rule wants next.
void CheckPriorityUnderRule(const RuleContext& context, Findings& findings) {
  if (StrategyOf(context) != "Priority") return;
  for (const PartView& role : context.view.parts) {
    const schemas::PodTemplateView* pod = context.view.TemplateOf(*role.index);
    if (pod == nullptr || !pod->Label(schemas::kScalingRule)) continue;
    findings.Violate(context.view.spec.path.Child("schedulingStrategy") + "/type",
                     "strategy Priority makes a role only when all instances of the roles before "
                     "it run, but the scaling rule of " +
                         Title(role) +
                         " holds instances until the other groups exist: both wait forever",
                     "write type: Parallel; the rule decides in which order instances start");
    return;
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
  if (context.view.name.empty()) return;
  for (const PartView& role : context.view.parts) {
    const auto label = [&](std::string_view key) { return context.view.Label(key).value_or(""); };
    std::string service(role.index ? context.view.name : label(kServiceNameLabel));
    if (context.view.is_set) service += "-0";
    const auto name =
        role.index ? json::FindString(*role.value, "name") : context.view.Label(kSetNameLabel);
    if (service.empty() || !name || name->empty()) continue;
    const std::string base = service + "-" + std::string(*name);
    const auto report = [&](std::string_view what, const std::string& derived, size_t most) {
      if (derived.size() <= most) return;
      findings.Violate(role.index ? role.Path("/name") : "/metadata/labels",
                       "the " + std::string(what) + " of " + Title(role) +
                           " would have a name of " + std::to_string(derived.size()) +
                           " characters, but at most " + std::to_string(most) +
                           " work: " + Quote(derived),
                       "shorten the names of service and role by " +
                           std::to_string(derived.size() - most) + " characters");
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

constexpr Rule kServiceRules[] = {
    {.id = "MG140",
     .name = "infer-set-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferServiceSets,
     .summary = "An InferServiceSet makes 1 to 64 InferServices.",
     .why = "Outside that range the operator's validation fails and is retried forever, and "
            "nothing of the set is created or changed. 0 does not stop a set.",
     .fix = "Write replicas from 1 to 64; delete the set to stop it.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/v1/inferserviceset_controller.go",
     .check = CheckSetReplicas},
    {.id = "MG141",
     .name = "infer-role-count",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferWithRoles,
     .summary = "A service has at most 32 roles.",
     .why = "With more the operator's validation of the InferService fails and none of the roles "
            "is created.",
     .fix = "Split the service.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/v1/inferservice_controller.go",
     .check = CheckRoleCount},
    {.id = "MG142",
     .name = "infer-role-name",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferWithRoles,
     .summary = "Each role has a unique name that is a DNS label.",
     .why = "The name becomes part of InstanceSets, Services and labels. One bad name fails the "
            "validation of the whole InferService, and none of its roles is created.",
     .fix = "Use lower-case letters, digits and '-', at most 63 characters.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/v1/inferservice_controller.go",
     .check = CheckRoleNames},
    {.id = "MG143",
     .name = "infer-scheduling-strategy",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferWithRoles,
     .summary = "schedulingStrategy.type is Parallel, Priority or left out.",
     .why = "Nothing checks the value when the service is created. Every InstanceSet then fails "
            "with \"unknown scheduling strategy\", and no instance is started.",
     .fix = "Write Parallel or Priority.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/schedule/priority_scheduling.go",
     .check = CheckStrategy},
    {.id = "MG144",
     .name = "infer-priority",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferWithRoles,
     .summary = "With strategy Priority each role's priority is 1 to 32.",
     .why = "The documents say 1 to 32, the operator's validation accepts 256. 33 is its internal "
            "mark for \"all roles are ready\": a role of 33 or more never starts, and no error is "
            "reported.",
     .fix = "Write 1 for the role that starts first, up to 32. A role without a priority starts at "
            "once.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/schedule/priority_scheduling.go "
         "(AllReadyPriority); the documents and the validation disagree, and only 1 to 32 works",
     .check = CheckPriority},
    {.id = "MG149",
     .name = "infer-instance-set-labels",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInstanceSets,
     .summary = "An InstanceSet carries the labels of its service and of its role.",
     .why = "The operator names workloads after infer.huawei.com/inferservice-name and "
            "infer.huawei.com/instanceset-name. Without them it writes an Event and does nothing.",
     .fix = "Let an InferService make InstanceSets, or add both labels.",
     .source = "mind-cluster: component/infer-operator/pkg/controller/v1/instanceset_controller.go",
     .check = CheckInstanceSetLabels},
    {.id = "MG158",
     .name = "infer-derived-names",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kInferOperatorKinds,
     .summary = "Names of service and role leave room for the names made from them.",
     .why =
         "The operator makes <service>-<role>-<n> and service-<service>-<role>-<n>. A StatefulSet "
         "of more than 52 characters cannot make pods, a Service of more than 63 is refused.",
     .fix = "Shorten the names.",
     .source = "mind-cluster: component/infer-operator/pkg/common/utils.go; Kubernetes "
               "documentation, object names and label values (issue 64023)",
     .check = CheckDerivedNames},
    {.id = "MG159",
     .name = "infer-strategy-sequential",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferWithRoles,
     .summary = "The strategy that starts all roles at once is called Parallel.",
     .why = "Early development versions called it Sequential. Releases do not know that name and "
            "start no instance.",
     .fix = "Write Parallel, or leave schedulingStrategy out.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/schedule/priority_scheduling.go, "
         "before Parallel replaced Sequential; hence a warning",
     .check = CheckStrategySequential},
    {.id = "MG168",
     .name = "infer-priority-under-rule",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kInferWithRoles,
     .summary = "A service whose pods are under a scaling rule does not use strategy Priority.",
     .why =
         "With Priority infer-operator makes the InstanceSets of a role when all instances of the "
         "roles before it are ready. The scaling rule holds an instance back until the other "
         "groups have what the next shape wants. With two prefill and two decode instances the "
         "second prefill instance waits for the first decode instance, which is never made.",
     .fix = "Write schedulingStrategy.type: Parallel, or remove the scaling labels.",
     .source =
         "mind-cluster: component/infer-operator/pkg/controller/schedule/priority_scheduling.go; "
         "mindgate: watcher/scaling. A rule of one group, or a watcher that only observes, works: "
         "hence a warning",
     .check = CheckPriorityUnderRule},
};

}  // namespace

Family ServiceRules() { return kServiceRules; }

}  // namespace mindgate::policies::infer_operator
