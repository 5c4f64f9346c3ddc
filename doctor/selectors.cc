#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "kube/label_selector.h"

namespace mindgate::doctor {
namespace {

// What runs a cluster must never wait for a webhook that runs in it.
constexpr std::array<const char*, 2> kSystem = {"kube-system", "kube-node-lease"};

// The hooks of one kind that a namespace with these labels reaches.
size_t Reached(const Context& context, bool mutating, const Json* labels) {
  return static_cast<size_t>(
      std::count_if(context.hooks.begin(), context.hooks.end(), [&](const Hook& hook) {
        return hook.mutating == mutating && kube::Selects(&hook.namespace_selector, labels);
      }));
}

void CheckProbeNamespace(Context& context, const Json* labels) {
  const std::string& ns = context.options.probe_namespace;
  for (const bool mutating : {true, false}) {
    const char* what = mutating ? "injected" : "validated";
    if (std::none_of(context.hooks.begin(), context.hooks.end(),
                     [&](const Hook& hook) { return hook.mutating == mutating; })) {
      continue;
    }
    // The one for objects that ask for injection in a namespace that has it switched off is there,
    // but says nothing about the others.
    const std::string inject(json::FindString(labels, "mindgate.io/inject").value_or(""));
    if (mutating && inject == "disabled") {
      context.report.Warn(
          kSelectorsCheck,
          "namespace " + ns +
              " has the label mindgate.io/inject: disabled: nothing is injected into its objects",
          "kubectl label namespace " + ns + " mindgate.io/inject- to switch it on");
    } else if (Reached(context, mutating, labels) == 0) {
      context.report.Fail(kSelectorsCheck,
                          "objects of namespace " + ns + " are not " + what +
                              ": no namespaceSelector matches its labels",
                          "label the namespace as namespaceSelector requires, or remove it from "
                          "excludedNamespaces of the chart");
    } else {
      context.report.Ok(kSelectorsCheck, "objects of namespace " + ns + " are " + what);
    }
  }
}

}  // namespace

void CheckSelectors(Context& context) {
  if (context.hooks.empty()) return;
  const json::Projection fields({{"metadata", "name"}, {"metadata", "labels"}});
  const auto namespaces =
      context.client.ListObjects(kube::resources::kNamespaces, "", {}, &fields, context.stop);
  if (!namespaces) return SkipFor(context, kSelectorsCheck, "namespaces", namespaces.error());
  bool found = false;
  for (const Json& ns : *namespaces) {
    const std::string name = json::TextAt(ns, {"metadata", "name"});
    const Json* labels = json::FindPath(ns, {"metadata", "labels"});
    if (name == context.options.probe_namespace) {
      found = true;
      CheckProbeNamespace(context, labels);
    }
    const bool is_own = name == context.options.ns;
    const bool is_system = std::find(kSystem.begin(), kSystem.end(), name) != kSystem.end();
    if ((is_own || is_system) &&
        Reached(context, true, labels) + Reached(context, false, labels) > 0) {
      context.report.Fail(
          kSelectorsCheck,
          "namespace " + name +
              " is not excluded, so the webhook can block objects that the cluster " +
              (is_own ? "needs to start mindgate" : "itself depends on"),
          "exclude it by kubernetes.io/metadata.name (excludedNamespaces of the chart); `helm "
          "upgrade` restores the selectors");
    }
  }
  if (!found) {
    context.report.Fail(
        kSelectorsCheck, "there is no namespace " + context.options.probe_namespace,
        "name a namespace of your workloads: mindgate doctor --probe-namespace NAME");
  }
}

}  // namespace mindgate::doctor
