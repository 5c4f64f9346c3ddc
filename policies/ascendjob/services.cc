#include <algorithm>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"

// Services beside MindIE Motor: the few of which its samples fix name or port.
namespace mindgate::policies::ascendjob {
namespace {

using json::Value;

bool HasMindiePort(const Value& service) {
  const Value* ports = json::FindPath(service, {"spec", "ports"});
  return json::IsArray(ports) && std::any_of(ports->begin(), ports->end(), [](const Value& port) {
           return json::AsInt(json::Find(port, "nodePort")) == schemas::kMindieNodePort;
         });
}

// "namespace/name" of another Service with MindIE's NodePort; empty when none is known: one of the
// same name elsewhere, as when a sample is deployed twice, or another one of the namespace.
std::string OtherWithPort(const RuleContext& context) {
  std::string other;
  const schemas::ObjectLookup* objects = context.request.objects;
  if (objects == nullptr) return other;
  const auto look = [&](const Value& service) {
    const Value* metadata = json::Find(service, "metadata");
    const std::string_view name = json::FindString(metadata, "name").value_or("");
    const std::string_view ns = json::FindString(metadata, "namespace").value_or("");
    const bool itself = name == context.view.name && ns == context.view.ns;
    if (itself || !other.empty() || !HasMindiePort(service)) return;
    other = (ns.empty() ? "" : std::string(ns) + "/") + std::string(name);
  };
  objects->ForEachNamed("", "Service", context.view.name, look);
  objects->ForEach("", "Service", context.ns(), look);
  return other;
}

void CheckNodePort(const RuleContext& context, Findings& findings) {
  const Value* ports = json::FindPath(*context.view.object, {"spec", "ports"});
  if (!json::IsArray(ports)) return;
  for (size_t i = 0; i < ports->size(); ++i) {
    if (json::AsInt(json::Find((*ports)[i], "nodePort")) != schemas::kMindieNodePort) continue;
    const std::string other = OtherWithPort(context);
    findings.Violate(json::Child("/spec/ports", i) + "/nodePort",
                     other.empty() ? "nodePort 31015 is that of every sample of MindIE Motor: only "
                                     "one Service of the cluster can have it"
                                   : "nodePort 31015 belongs to Service " + other +
                                         " already: Kubernetes refuses the second",
                     "write a nodePort of this service's own, or leave it out");
  }
}

void CheckServiceName(const RuleContext& context, Findings& findings) {
  if (context.view.name != schemas::kMindieCoordinator) return;
  findings.Violate(
      "/metadata/name",
      "Kubernetes gives every pod of the namespace variables that begin with MINDIE_MS_COORDINATOR "
      "for this Service, and MindIE's controller reads its own setting under such a name",
      "write another name, such as mindie-ms-coordinator-infer");
}

constexpr Rule kServiceRules[] = {
    {.id = "MG169",
     .name = "mindie-node-port",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kServices,
     .summary = "A Service does not take NodePort 31015 from the samples of MindIE Motor.",
     .why = "A NodePort belongs to one Service of the whole cluster. The second MindIE service "
            "that is deployed from the sample gets no Service for its coordinator, and no request "
            "reaches it.",
     .fix = "Give each service a nodePort of its own, or leave it out and let Kubernetes choose.",
     .source =
         "MindIE Motor: deployment samples (mindie-ms-coordinator-infer); Kubernetes "
         "documentation, Service type NodePort. The first such Service works: therefore a warning",
     .check = CheckNodePort},
    {.id = "MG170",
     .name = "mindie-service-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kServices,
     .summary = "No Service is named mindie-ms-coordinator.",
     .why = "For each Service Kubernetes sets variables in the pods of its namespace, named after "
            "it. Those of this name clash with a variable that MindIE's controller reads as its "
            "own setting, and the controller does not find its coordinator.",
     .fix = "Write another name; the samples use mindie-ms-coordinator-infer.",
     .source = "Kubernetes documentation: environment variables of Services; MindIE Motor, its "
               "deploy scripts. Pods with enableServiceLinks: false do not get the variables: "
               "therefore a warning",
     .check = CheckServiceName},
};

}  // namespace

Family ServiceRules() { return kServiceRules; }

}  // namespace mindgate::policies::ascendjob
