#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "doctor/context.h"
#include "json/value.h"

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

}  // namespace mindgate::doctor
