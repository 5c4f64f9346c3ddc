#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/places.h"
#include "schemas/key_words.h"

// Members of roles whose names are nearly right: the API server drops what a CRD does not know.
namespace mindgate::policies::common {
namespace {

using json::Value;

// What both AIBrix and infer-operator call alike, or only one of them has.
constexpr std::array kOfRole = std::to_array<std::string_view>(
    {"replicas", "podGroupSize", "stateful", "template", "schedulingStrategy", "workload",
     "services", "scalingPolicy", "priority", "metadata"});
constexpr std::string_view kRoles = "roles";
// Where roles stand in a StormService, an InferServiceSet, and in what these make.
constexpr std::array<std::string_view, 3> kHolders = {"/spec/template/spec", "/spec/template",
                                                      "/spec"};

// Calls visit(member) for each member that is nearly `right`, which the object lacks.
template <typename Visit>
void ForEachNear(const Value& object, std::string_view right, size_t& budget, Visit visit) {
  if (json::Find(object, right) != nullptr) return;
  const schemas::KeyWord meant(right);
  for (const auto& [key, value] : object.members()) {
    if (budget == 0) return;
    --budget;
    if (key.size() <= schemas::KeyWord::kMax && schemas::KeyWord(key).Resembles(meant, 1))
      visit(key);
  }
}

void Report(std::string_view path, std::string_view key, std::string_view right,
            Findings& findings) {
  findings.Violate(json::Child(path, key),
                   "there is no field " + Quote(key) + ", did you mean " + Quote(right) +
                       "? The API server drops it, and the object is as if it were not written",
                   "write " + std::string(right) + " instead of " + std::string(key));
}

void CheckRolesIn(const Value& roles, std::string_view path, size_t& budget, Findings& findings) {
  if (!roles.is_array()) return;
  for (size_t i = 0; i < roles.size(); ++i) {
    if (!roles[i].is_object()) continue;
    for (std::string_view right : kOfRole) {
      ForEachNear(roles[i], right, budget, [&](std::string_view key) {
        Report(json::Child(path, i), key, right, findings);
      });
    }
  }
}

void CheckFields(const RuleContext& context, Findings& findings) {
  const Value& object = *context.view.object;
  size_t budget = schemas::kMaxComparedKeys * kOfRole.size();
  for (std::string_view path : kHolders) {
    const Value* holder = json::Resolve(object, path);
    if (!json::IsObject(holder)) continue;
    if (const Value* roles = json::Find(*holder, kRoles)) {
      return CheckRolesIn(*roles, json::Child(path, kRoles), budget, findings);
    }
  }
  for (std::string_view path : kHolders) {
    const Value* holder = json::Resolve(object, path);
    if (!json::IsObject(holder)) continue;
    ForEachNear(*holder, kRoles, budget,
                [&](std::string_view key) { Report(path, key, kRoles, findings); });
  }
}

constexpr Rule kFieldRules[] = {
    {.id = "MG128",
     .name = "misspelled-field",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kAibrixKinds | schemas::kInferOperatorKinds,
     .summary = "The fields that make roles, and their gangs, are spelled as the CRD has them.",
     .why = "A client that does not ask for strict validation, as many deployment tools do not, "
            "gets no error: the API server drops the field. podgroupSize: 4 makes instances of one "
            "pod, and a service with role instead of roles has no pods at all.",
     .fix = "Write the field as the finding says.",
     .source =
         "Kubernetes documentation: Field validation, CustomResourceDefinition pruning; aibrix: "
         "config/crd/orchestration; mind-cluster: component/infer-operator/config/crd. A later "
         "version may have such a field: therefore a warning.",
     .check = CheckFields},
};

}  // namespace

Family FieldRules() { return kFieldRules; }

}  // namespace mindgate::policies::common
