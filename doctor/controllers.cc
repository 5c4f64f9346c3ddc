#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "schemas/all_kinds.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kControllersCheck = "controllers";
// The controllers of Kubernetes itself, whose ClusterRoleBindings may be of users.
constexpr const char* kKubernetesNamespace = "kube-system";

bool Names(const Json& rule, std::string_view key, std::initializer_list<std::string_view> wanted) {
  const Json* list = json::Find(rule, key);
  return json::IsArray(list) && std::ranges::any_of(*list, [&](const Json& each) {
           const auto text = json::AsString(&each);
           return text && std::ranges::find(wanted, *text) != wanted.end();
         });
}

// The rules of all ClusterRoles that one account has.
using Rules = std::vector<const Json*>;

// Whether the account works like the controller of a kind: it writes the status of its objects and
// creates what their controller makes. Who may do so in all groups is an administrator.
bool Controls(const Rules& rules, const schemas::KindInfo& kind,
              const std::vector<const schemas::KindInfo*>& all) {
  const std::string status = std::string(kind.plural) + "/status";
  const bool writes_status = std::ranges::any_of(rules, [&](const Json* rule) {
    return Names(*rule, "apiGroups", {kind.group}) &&
           Names(*rule, "resources", {status, "*/status", "*"}) &&
           Names(*rule, "verbs", {"update", "patch", "*"});
  });
  if (!writes_status) return false;
  for (const schemas::KindInfo* made : all) {
    if (!schemas::Makes(kind, *made)) continue;
    const bool creates = std::ranges::any_of(rules, [&](const Json* rule) {
      return Names(*rule, "apiGroups", {made->group, "*"}) &&
             Names(*rule, "resources", {made->plural, "*"}) &&
             Names(*rule, "verbs", {"create", "*"});
    });
    if (creates) return true;
  }
  return false;
}

// "leaderworkersets.leaderworkerset.x-k8s.io, ..."; empty: it is not a controller. The controllers
// of built-in kinds are those of Kubernetes.
std::string ControlledBy(const Rules& rules, const std::vector<const schemas::KindInfo*>& all) {
  std::string kinds;
  for (const schemas::KindInfo* kind : all) {
    if (kind->built_in || !Controls(rules, *kind, all)) continue;
    kinds +=
        (kinds.empty() ? "" : ", ") + std::string(kind->plural) + "." + std::string(kind->group);
  }
  return kinds;
}

// By namespace and name. The rules live as long as `roles`.
std::map<std::pair<std::string, std::string>, Rules> RulesOfAccounts(
    const std::vector<Json>& roles, const std::vector<Json>& bindings) {
  std::map<std::string, Rules> of_role;
  for (const Json& role : roles) {
    const Json* rules = json::Find(role, "rules");
    if (!json::IsArray(rules)) continue;
    Rules& known = of_role[json::TextAt(role, {"metadata", "name"})];
    for (const Json& rule : *rules) known.push_back(&rule);
  }
  std::map<std::pair<std::string, std::string>, Rules> accounts;
  for (const Json& binding : bindings) {
    const Rules& rules = of_role[json::TextAt(binding, {"roleRef", "name"})];
    const Json* subjects = json::Find(binding, "subjects");
    if (!json::IsArray(subjects)) continue;
    for (const Json& subject : *subjects) {
      if (json::TextAt(subject, {"kind"}) != "ServiceAccount") continue;
      Rules& all =
          accounts[{json::TextAt(subject, {"namespace"}), json::TextAt(subject, {"name"})}];
      all.insert(all.end(), rules.begin(), rules.end());
    }
  }
  return accounts;
}

}  // namespace

void CheckControllers(Context& context) {
  if (context.hooks.empty()) return;
  const auto trusted = WhoIsTrusted(context);
  if (!trusted) {
    return context.report.Skip(kControllersCheck,
                               "the webhooks do not say who counts as a controller",
                               "`helm upgrade` to a chart with the value controllers");
  }
  const json::Projection role_fields({{"metadata", "name"}, {"rules"}});
  const auto roles = context.client.ListObjects(kube::resources::kClusterRoles, "", {},
                                                &role_fields, context.stop);
  if (!roles) return SkipFor(context, kControllersCheck, "ClusterRoles", roles.error());
  const json::Projection binding_fields({{"metadata", "name"}, {"roleRef"}, {"subjects"}});
  const auto bindings = context.client.ListObjects(kube::resources::kClusterRoleBindings, "", {},
                                                   &binding_fields, context.stop);
  if (!bindings) {
    return SkipFor(context, kControllersCheck, "ClusterRoleBindings", bindings.error());
  }
  bool good = true;
  // Namespaces that may have no operator.
  std::set<std::string> empty = trusted->namespaces;
  const std::vector<const schemas::KindInfo*> all = AllKinds(context.kinds);
  for (const auto& [account, rules] : RulesOfAccounts(*roles, *bindings)) {
    const auto& [ns, name] = account;
    empty.erase(ns);
    const std::string user = "system:serviceaccount:" + ns + ":" + name;
    if (trusted->namespaces.contains(ns) || trusted->users.contains(user)) continue;
    const std::string kinds = ControlledBy(rules, all);
    if (kinds.empty()) continue;
    good = false;
    context.report.Warn(
        kControllersCheck,
        "ServiceAccount " + ns + "/" + name + " has the permissions of the operator of " + kinds +
            ", but does not count as a controller: what it makes is sent to the webhook, denied if "
            "it breaks an enforced rule, and refused while the webhook is down",
        "if the operator runs as this account, add " + user +
            " to controllers.users of the chart, or " + ns +
            " to controllers.namespaces if nobody else can run Pods or request tokens there");
  }
  empty.erase(kKubernetesNamespace);
  if (!empty.empty()) {
    good = false;
    context.report.Warn(
        kControllersCheck,
        "no ServiceAccount of these namespaces has a ClusterRole, so no operator is installed "
        "there, but all of their ServiceAccounts count as controllers: " +
            JoinFirst(empty, empty.size()),
        "take them out of controllers.namespaces of the chart. `helm upgrade` leaves out those of "
        "MindCluster and of frameworks by itself, `helm template` cannot");
  }
  if (good) {
    context.report.Ok(kControllersCheck,
                      "every operator that makes Pods or workloads counts as a controller");
  }
}

}  // namespace mindgate::doctor
