#include <algorithm>
#include <optional>

#include "base/text.h"
#include "policies/families.h"
#include "schemas/children.h"

// Services that controllers make of an object have a name that is made of the object's, and a
// Service may have fewer names than most objects.
namespace mindgate::policies::common {
namespace {

// Of a Service, which is a label of DNS (RFC 1035).
constexpr size_t kMaxServiceName = 63;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// What of the name a Service may not have, as the end of a sentence.
std::optional<std::string> FaultOf(std::string_view name) {
  if (name.size() > kMaxServiceName) {
    return "has " + std::to_string(name.size()) + " characters, and a Service at most 63";
  }
  if (!IsLower(name.front())) {
    return "begins with " + Quote(name.substr(0, 1)) +
           ", and a Service begins with a letter before Kubernetes 1.34";
  }
  if (name.find('.') != std::string_view::npos) return "has a dot, and a Service has none";
  return std::nullopt;
}

// What comes of it, as the end of a sentence. The webhook of LeaderWorkerSet judges the name of the
// object itself, as Kubernetes before 1.34 judges that of a Service.
std::string_view OutcomeOf(const schemas::WorkloadView& view) {
  if (view.kind == schemas::Kind::kLeaderWorkerSet && FaultOf(view.name)) {
    return "the webhook of LeaderWorkerSet 0.5 and later refuses the object, whatever the "
           "Kubernetes";
  }
  return "the API server refuses it, and no pod is made";
}

void CheckServiceNames(const RuleContext& context, Findings& findings) {
  schemas::ForEachService(context.view, [&](const schemas::ChildService& service) {
    const auto fault = FaultOf(service.name);
    if (!fault) return;
    const size_t added = service.name.size() - context.view.name.size();
    findings.Violate(std::string(service.named_by),
                     std::string(service.maker) + " makes Service " + Quote(service.name) +
                         " of this name, which " + *fault + ": " +
                         std::string(OutcomeOf(context.view)),
                     "write a name that begins with a letter, has no dot and at most " +
                         std::to_string(kMaxServiceName - added) + " characters");
  });
}

constexpr Rule kServiceNameRules[] = {
    {.id = "MG176",
     .name = "service-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs | schemas::kVolcanoJobs | schemas::kLeaderWorkerSets |
              schemas::kStormServices,
     .summary = "The name of an object can be that of the Service that its controller makes.",
     .why =
         "ascend-operator makes Service JOB-master-0 (scheduler-0, chief-0). Plugin svc of "
         "Volcano, AIBrix and LeaderWorkerSet make one with the name of the job, StormService or "
         "LeaderWorkerSet; under subdomainPolicy UniquePerReplica the number of the group follows. "
         "A name like 7b-chat begins with a digit, and a long one does not fit: the API server "
         "refuses the Service, and the controller makes no pod. LeaderWorkerSet's own webhook "
         "refuses such an object at once.",
     .fix = "Begin the name with a letter, and leave room for what is added to it.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/service.go (genService); "
         "volcano: pkg/controllers/job/plugins/svc/svc.go; aibrix: "
         "pkg/controller/stormservice/sync.go (syncHeadlessService); lws: "
         "pkg/controllers/leaderworkerset_controller.go and pod_controller.go (headless Services), "
         "pkg/webhooks/leaderworkerset_webhook.go (generalValidate); Kubernetes documentation: "
         "Service. A warning, because Kubernetes 1.34 lets the name of a Service begin with a "
         "digit (feature RelaxedServiceNameValidation).",
     .check = CheckServiceNames},
};

}  // namespace

Family ServiceNameRules() { return kServiceNameRules; }

}  // namespace mindgate::policies::common
