#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::WrongType;

// One object can hold hundreds of thousands of them; nobody reads more.
constexpr size_t kMaxReported = 50;

constexpr std::array<std::string_view, 2> kInjectValues = {"enabled", "disabled"};

std::string_view Article(std::string_view noun) {
  return noun == "integer" || noun == "object" ? "an" : "a";
}

bool IsScalar(const Value& value) { return value.is_number() || value.is_boolean(); }

// The member's own name, for a list item "tasks[0]".
std::string NameOf(std::string_view path) {
  const auto tokens = json::Tokens(path);
  if (!tokens || tokens->empty()) return std::string(path);
  const std::string& last = tokens->back();
  const bool item = tokens->size() > 1 && ParseGoInt(last).has_value();
  return item ? (*tokens)[tokens->size() - 2] + "[" + last + "]" : last;
}

// What people mean by an unquoted on or off under keys whose values other rules check.
struct MeantValue {
  std::string_view key;
  std::string_view on;
  std::string_view off;
  bool alone = true;  // there is no other way to turn it on
};
constexpr std::array<MeantValue, 6> kMeantValues = {{
    {schemas::kFaultScheduling, "force", "off", false},
    {schemas::kPodRescheduling, "on", "off"},
    {schemas::kProcessRecover, "on", "off"},
    {schemas::kSubHealthyStrategy, "ignore", "ignore", false},
    {schemas::kSkipAscendPlugin, "enabled", "disabled"},
    {schemas::kInject, "enabled", "disabled"},
}};

// Keys that hold a number of at least this, as text.
struct MeantNumber {
  std::string_view key;
  int64_t least;
  std::string_view example;
};
constexpr std::array<MeantNumber, 2> kMeantNumbers = {{
    {schemas::kFaultRetryTimes, 0, "3"},
    {schemas::kMinAvailable, 1, "1"},
}};

struct MeantText {
  std::string_view text;
  bool certain = false;  // else an example, which its user may choose otherwise
};

// What the value of a known key stands for; empty for keys whose values nobody checks.
MeantText MeantBy(const Value& value, const std::string& name) {
  for (const MeantValue& meant : kMeantValues) {
    if (meant.key != name) continue;
    const bool off = value.is_boolean() ? !value.boolean() : value.number() == 0;
    return {off ? meant.off : meant.on, value.is_boolean() && meant.alone};
  }
  for (const MeantNumber& meant : kMeantNumbers) {
    if (meant.key != name) continue;
    const auto number = value.int64();
    if (!number || *number < meant.least) return {meant.example};
  }
  return {};
}

Fix FixFor(const WrongType& wrong, const std::string& name) {
  const Value& value = *wrong.value;
  if (wrong.wanted == "string") {
    if (const auto meant = MeantBy(value, name); !meant.text.empty() && IsScalar(value)) {
      return WriteText(name, meant.text, meant.certain);
    }
    if (IsScalar(value)) return WriteText(name, json::Dump(value));
    return "write one quoted text as the value of " + name;
  }
  if (wrong.wanted == "integer") {
    const auto text = json::AsString(&value);
    const auto number = text ? ParseGoInt(*text) : std::nullopt;
    if (number) {
      const std::string digits = std::to_string(*number);
      return {"write " + name + ": " + digits, RightValue{digits, true}};
    }
    return "write a whole number without quotes as the value of " + name;
  }
  return "write " + std::string(Article(wrong.wanted)) + " " + std::string(wrong.wanted) + " for " +
         name + ", or leave it out";
}

void CheckWrongTypes(const RuleContext& context, Findings& findings) {
  const auto& all = context.view.wrong_types;
  for (size_t i = 0; i < std::min(all.size(), kMaxReported); ++i) {
    const WrongType& wrong = all[i];
    const std::string name = NameOf(wrong.path);
    const std::string_view type = json::TypeName(*wrong.value);
    std::string message =
        name + " is " +
        (type == "null" ? "null" : std::string(Article(type)) + " " + std::string(type)) +
        ", must be " + std::string(Article(wrong.wanted)) + " " + std::string(wrong.wanted);
    if (wrong.wanted == "string" && wrong.value->is_boolean()) {
      message += ": an unquoted on, off, yes or no is a boolean in YAML, and the object is refused";
    } else if (wrong.wanted == "string" && IsScalar(*wrong.value)) {
      message += ": without quotes the object is refused or its controller cannot read it";
    } else {
      message += ": the object is refused or its controller cannot read it";
    }
    findings.Violate(std::string(wrong.path), std::move(message), FixFor(wrong, name));
  }
  if (all.size() > kMaxReported) {
    findings.ViolateElsewhere(
        std::to_string(all.size() - kMaxReported) + " more members have a wrong type",
        "correct the members named first and apply again");
  }
}

void CheckSize(const RuleContext& context, Findings& findings) {
  const auto& excess = context.view.excess;
  if (!excess) return;
  findings.Violate(
      std::string(excess->path),
      "there are more than " + std::to_string(excess->max) + " " + std::string(excess->what) +
          ": mindgate does not read an object of that size, so nothing is injected and nothing "
          "else is checked",
      "write at most " + std::to_string(excess->max) + ", in several objects if needed");
}

void CheckInjectLabel(const RuleContext& context, Findings& findings) {
  const auto& view = context.view;
  if (const auto value = view.Label(schemas::kInject)) {
    if (std::find(kInjectValues.begin(), kInjectValues.end(), *value) == kInjectValues.end()) {
      const auto nearest = NearestOf(*value, kInjectValues);
      findings.Violate(
          view.labels.path.Child(schemas::kInject),
          std::string(schemas::kInject) + " is " + Quote(*value) +
              ", which counts as absent: only \"enabled\" and \"disabled\" have an effect" +
              (nearest ? ", did you mean " + Quote(*nearest) + "?" : ""),
          R"(write mindgate.io/inject: "enabled" to inject without a visible NPU request, "disabled" to inject nothing)");
    }
  }
  if (view.annotations.Find(schemas::kInject) != nullptr) {
    findings.Violate(view.annotations.path.Child(schemas::kInject),
                     std::string(schemas::kInject) +
                         " is an annotation here and has no effect: mindgate reads the label",
                     "move it to metadata.labels");
  }
}

constexpr Rule kStructureRules[] = {
    {.id = "MG001",
     .name = "wrong-type",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kEveryKind,
     .summary = "Every member has the type that its API gives it; label and annotation values are "
                "strings.",
     .why = "Kubernetes refuses the object with a message that names a Go type but no line. Where "
            "a kind keeps its templates untyped (AscendJob metadata, infer-operator roles) the "
            "object is stored, and its controller then fails to decode it: no pod is ever created, "
            "or a label such as pod-rescheduling: on silently becomes the text \"true\", which "
            "matches nothing.",
     .fix = "Quote label and annotation values, especially numbers and on, off, yes, no, true and "
            "false. Write counts without quotes.",
     .source = "Kubernetes: apimachinery typed decoding, and CustomResourceDefinition structural "
               "schemas. mindcluster-deploy: k8s-deploy-tool/src/core/config_parser.py shows what "
               "an unquoted on turns into.",
     .check = CheckWrongTypes,
     .of_any_size = true,
     .of_object = true},
    {.id = "MG002",
     .name = "inject-label",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kEveryKind,
     .summary = "The label mindgate.io/inject is \"enabled\" or \"disabled\".",
     .why = "Any other value counts as absent. Injection that was meant to be off stays on, or a "
            "service whose NPUs cannot be seen in its own manifest gets no fault labels and is not "
            "rescheduled when a card fails.",
     .fix = "Write mindgate.io/inject: \"enabled\" or \"disabled\" in metadata.labels of the "
            "object, or remove the label.",
     .source = "mindgate: this is its own label.",
     .check = CheckInjectLabel,
     .of_object = true},
    {.id = "MG003",
     .name = "object-size",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kEveryKind,
     .summary = "An object has at most 1,024 roles, tasks or replica specs, 4,096 containers (256 "
                "in one pod) and 32 huawei.com resources in one container.",
     .why = "A decision may not cost more than its text, or one object could keep a replica of the "
            "webhook busy for all others. No real object comes near these numbers.",
     .fix = "Divide the object into several.",
     .source = "mindgate: these are its own limits.",
     .check = CheckSize,
     .of_any_size = true,
     .of_object = true},
};

}  // namespace

Family StructureRules() { return kStructureRules; }

// Members of roles, replica types and tasks whose names are nearly right: the API server drops what
// a CRD does not know.

namespace {

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
