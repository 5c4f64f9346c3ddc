#include <array>
#include <span>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/places.h"
#include "schemas/normalized_key.h"

// Members of roles, replica types and tasks whose names are nearly right: the API server drops what
// a CRD does not know.
namespace mindgate::policies::common {
namespace {

using json::Value;

// What both AIBrix and infer-operator call alike, or only one of them has.
constexpr std::array kOfRole = std::to_array<std::string_view>(
    {"replicas", "podGroupSize", "stateful", "template", "schedulingStrategy", "workload",
     "services", "scalingPolicy", "priority", "metadata"});
// Of a task of a Volcano Job, and of a replica type of an AscendJob.
constexpr std::array kOfTask =
    std::to_array<std::string_view>({"name", "replicas", "minAvailable", "template", "policies",
                                     "maxRetry", "dependsOn", "partitionPolicy"});
constexpr std::array kOfReplicaType =
    std::to_array<std::string_view>({"replicas", "restartPolicy", "template"});
constexpr std::string_view kRoles = "roles";
// Where roles stand in a StormService, an InferServiceSet, and in what these make.
constexpr std::array<std::string_view, 3> kHolders = {"/spec/template/spec", "/spec/template",
                                                      "/spec"};

// Calls visit(member) for each member that is nearly `right`, which the object lacks.
template <typename Visit>
void ForEachNear(const Value& object, std::string_view right, size_t& budget, Visit visit) {
  if (json::Find(object, right) != nullptr) return;
  const schemas::NormalizedKey meant(right);
  for (const auto& [key, value] : object.members()) {
    if (budget == 0) return;
    --budget;
    if (key.size() <= schemas::NormalizedKey::kMax &&
        schemas::NormalizedKey(key).Resembles(meant, 1))
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

void CheckMembers(const Value& part, std::string_view path,
                  std::span<const std::string_view> fields, size_t& budget, Findings& findings) {
  if (!part.is_object()) return;
  for (std::string_view right : fields) {
    ForEachNear(part, right, budget,
                [&](std::string_view key) { Report(path, key, right, findings); });
  }
}

void CheckRolesIn(const Value& roles, std::string_view path, size_t& budget, Findings& findings) {
  if (!roles.is_array()) return;
  for (size_t i = 0; i < roles.size(); ++i) {
    CheckMembers(roles[i], json::Child(path, i), kOfRole, budget, findings);
  }
}

void CheckReplicaTypes(const Value& object, size_t& budget, Findings& findings) {
  const std::string path = "/spec/replicaSpecs";
  const Value* types = json::Resolve(object, path);
  if (!json::IsObject(types)) return;
  for (const auto& [type, value] : types->members()) {
    CheckMembers(value, json::Child(path, type), kOfReplicaType, budget, findings);
  }
}

void CheckFields(const RuleContext& context, Findings& findings) {
  const Value& object = *context.view.object;
  size_t budget = schemas::kMaxComparedKeys * kOfRole.size();
  if (schemas::kAscendJobs.Has(context.view.kind)) {
    return CheckReplicaTypes(object, budget, findings);
  }
  if (schemas::kVolcanoJobs.Has(context.view.kind)) {
    for (const schemas::PartView& task : context.view.parts) {
      CheckMembers(*task.value, task.Path(), kOfTask, budget, findings);
    }
    return;
  }
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
     .kinds = schemas::kAibrixKinds | schemas::kInferOperatorKinds | schemas::kAscendJobs |
              schemas::kVolcanoJobs,
     .summary = "The fields of roles, replica types and tasks are spelled as the CRD has them.",
     .why = "A client that does not ask for strict validation, as many deployment tools do not, "
            "gets no error: the API server drops the field. podgroupSize: 4 makes instances of one "
            "pod, and a service with role instead of roles has no pods at all.",
     .fix = "Write the field as the finding says.",
     .source =
         "Kubernetes documentation: Field validation, CustomResourceDefinition pruning; aibrix: "
         "config/crd/orchestration; mind-cluster: component/infer-operator/config/crd, "
         "component/ascend-operator; volcano: config/crd/volcano/bases. A later version may have "
         "such a field: therefore a warning.",
     .check = CheckFields},
};

}  // namespace

Family FieldRules() { return kFieldRules; }

}  // namespace mindgate::policies::common
