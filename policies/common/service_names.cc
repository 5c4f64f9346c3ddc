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

void CheckServiceNames(const RuleContext& context, Findings& findings) {
  for (const schemas::ChildService& service : schemas::ServicesOf(context.view)) {
    const auto fault = FaultOf(service.name);
    if (!fault) continue;
    const size_t added = service.name.size() - context.view.name.size();
    findings.Violate(std::string(service.named_by),
                     std::string(service.maker) + " makes Service " + Quote(service.name) +
                         " of this name, which " + *fault +
                         ": the API server refuses it, and no pod is made",
                     "write a name that begins with a letter, has no dot and at most " +
                         std::to_string(kMaxServiceName - added) + " characters");
  }
}

constexpr Rule kServiceNameRules[] = {
    {.id = "MG176",
     .name = "service-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs | schemas::kVolcanoJobs,
     .summary = "The name of a job can be that of the Service that its controller makes.",
     .why =
         "ascend-operator makes Service JOB-master-0 (scheduler-0, chief-0), and plugin svc of "
         "Volcano one with the name of the job. A name like 7b-chat begins with a digit, and a "
         "long one does not fit: the API server refuses the Service, and the controller makes no "
         "pod.",
     .fix = "Begin the name with a letter, and leave room for what is added to it.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/service.go (genService); "
         "volcano: pkg/controllers/job/plugins/svc/svc.go; Kubernetes documentation: Service. "
         "A warning, because Kubernetes 1.34 lets the name of a Service begin with a digit "
         "(feature RelaxedServiceNameValidation).",
     .check = CheckServiceNames},
};

}  // namespace

Family ServiceNameRules() { return kServiceNameRules; }

}  // namespace mindgate::policies::common
