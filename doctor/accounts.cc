#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "schemas/site_kinds.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kBoundsCheck = "watcher-bounds";
constexpr const char* kProbe = "mindgate-doctor-dry-run";
constexpr const char* kProbeKey = "mindgate.io/doctor";

// A write that the watcher never needs, and what it would do with it.
struct Attempt {
  std::string what;
  std::string consequence;
  std::function<std::optional<kube::Fault>(kube::Client&)> write;  // nothing: it was let through
};

template <typename Done>
std::optional<kube::Fault> FaultOf(const Done& done) {
  if (done) return std::nullopt;
  return done.error();
}

Attempt Annotates(const kube::Resource& resource, std::string ns, std::string name,
                  std::string consequence, const std::stop_token& stop) {
  std::string what = "change " + resource.kind + " " + (ns.empty() ? "" : ns + "/") + name;
  return {
      std::move(what), std::move(consequence),
      [&resource, ns = std::move(ns), name = std::move(name), stop](kube::Client& client) {
        const Json patch = {{"metadata", {{"annotations", {{kProbeKey, "dry-run"}}}}}};
        return FaultOf(client.MergePatch(resource, ns, name, patch, {.dry_run = true}, {}, stop));
      }};
}

Attempt CreatesToken(const Context& context) {
  return {"create a Secret for the token of any ServiceAccount of its namespace",
          "whoever has its token gets the rights of those", [&context](kube::Client& client) {
            const Json secret = {
                {"apiVersion", "v1"},
                {"kind", "Secret"},
                {"type", "kubernetes.io/service-account-token"},
                {"metadata",
                 {{"name", kProbe},
                  {"namespace", context.options.ns},
                  {"annotations", {{"kubernetes.io/service-account.name", "default"}}}}}};
            return FaultOf(client.Create(kube::resources::kSecrets, context.options.ns, secret,
                                         {.dry_run = true}, context.stop));
          }};
}

Attempt Deletes(const Context& context, const std::string& ns, const std::string& pod) {
  return {"delete Pods that are under no scaling rule",
          "any workload can be stopped with its token", [&context, ns, pod](kube::Client& client) {
            kube::DeleteOptions options;
            options.dry_run = true;
            return FaultOf(client.Delete(kube::resources::kPods, ns, pod, options, context.stop));
          }};
}

// On objects that are there anyway: a write to nothing would be refused as not found.
std::vector<Attempt> Attempts(Context& context) {
  std::vector<Attempt> attempts = {CreatesToken(context)};
  for (const bool mutating : {true, false}) {
    if (std::none_of(context.hooks.begin(), context.hooks.end(),
                     [&](const Hook& hook) { return hook.mutating == mutating; })) {
      continue;
    }
    attempts.push_back(Annotates(
        mutating ? kube::resources::kMutatingWebhooks : kube::resources::kValidatingWebhooks, "",
        context.options.name, "its token can send every object of the cluster elsewhere",
        context.stop));
  }
  if (!context.pods.empty()) {
    const std::string ns = json::TextAt(context.pods.front(), {"metadata", "namespace"});
    const std::string name = json::TextAt(context.pods.front(), {"metadata", "name"});
    attempts.push_back(Annotates(kube::resources::kPods, ns, name,
                                 "any Pod can be changed with its token", context.stop));
    attempts.push_back(Deletes(context, ns, name));
  }
  return attempts;
}

// True when the attempts could be made.
bool Try(Context& context, const std::string& account, kube::Client& as_watcher) {
  bool bounded = true;
  for (const Attempt& attempt : Attempts(context)) {
    const auto fault = attempt.write(as_watcher);
    if (!fault) {
      bounded = false;
      context.report.Warn(
          kBoundsCheck,
          "ServiceAccount " + account + " may " + attempt.what + ": " + attempt.consequence,
          "set watcher.admissionPolicy.enabled of the chart to true; the API server needs "
          "ValidatingAdmissionPolicy (Kubernetes 1.30 and later)");
      continue;
    }
    const bool tried = fault->message.find("cannot impersonate") == std::string::npos;
    if (tried && fault->reason == kube::Reason::kForbidden) continue;
    context.report.Skip(kBoundsCheck,
                        "whether ServiceAccount " + account +
                            " may do more than it needs could not be checked: " + fault->message,
                        tried ? "try again"
                              : "run it as a user who may impersonate this ServiceAccount, such as "
                                "a cluster administrator");
    return false;
  }
  if (bounded) {
    context.report.Ok(kBoundsCheck,
                      "ServiceAccount " + account + " may write no more than the watcher needs");
  }
  return true;
}

}  // namespace

void CheckBounds(Context& context) {
  for (const std::string& account : context.watcher_accounts) {
    const std::string user = "system:serviceaccount:" + context.options.ns + ":" + account;
    const auto client = context.options.impersonate ? context.options.impersonate(user) : nullptr;
    if (client == nullptr) continue;
    if (!Try(context, account, *client)) return;
  }
}

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
