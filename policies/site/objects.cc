#include "policies/site/objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "schemas/field_types.h"
#include "schemas/raw_objects.h"

namespace mindgate::policies::site {
namespace {

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return each == "*" || each == name; });
}

// Whether "RESOURCE" or "RESOURCE/SUBRESOURCE" means objects of the kind themselves (k8s.io/
// apiserver: pkg/admission/plugin/webhook/predicates/rules/rules.go).
bool MeansKind(std::string_view written, const schemas::KindInfo& kind) {
  const size_t slash = std::min(written.find('/'), written.size());
  const std::string_view resource = written.substr(0, slash);
  const std::string_view subresource = written.substr(std::min(slash + 1, written.size()));
  return (resource == "*" || resource == kind.plural) &&
         (subresource == "*" || subresource.empty());
}

bool NamesResource(const ResourceRule& rule, const schemas::KindInfo& kind) {
  return Has(rule.groups, kind.group) &&
         std::any_of(rule.resources.begin(), rule.resources.end(),
                     [&](const std::string& each) { return MeansKind(each, kind); });
}

bool IsInScope(const ResourceRule& rule, const schemas::KindInfo& kind) {
  return rule.scope == ResourceRule::Scope::kAny ||
         (rule.scope == ResourceRule::Scope::kCluster) == kind.cluster_scoped;
}

bool IsAbout(const ResourceRule& rule, const Matched& asked, bool exact) {
  if (!NamesKind(rule, asked.kind)) return false;
  if (!Has(rule.operations, schemas::OperationName(asked.request.operation))) return false;
  if (!rule.names.empty() &&
      std::find(rule.names.begin(), rule.names.end(), asked.name) == rule.names.end()) {
    return false;
  }
  if (!exact) return true;
  const std::string_view version = json::FindString(asked.object, "apiVersion").value_or("");
  return Has(rule.versions, version.substr(version.find('/') + 1));
}

bool IsMet(const LabelRequirement& requirement, const Labels& labels) {
  using Operator = LabelRequirement::Operator;
  const auto value = labels.Find(requirement.key);
  const bool listed = value && std::find(requirement.values.begin(), requirement.values.end(),
                                         *value) != requirement.values.end();
  switch (requirement.op) {
    case Operator::kIn:
      return listed;
    case Operator::kNotIn:
      return !listed;
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value;
  }
  return false;
}

// A selector of namespaces does not restrict what is in none. A requirement that is not met
// decides, whatever else is not known.
Match MatchNamespace(const LabelSelector& selector, const Matched& asked) {
  Match match = Match::kYes;
  if (asked.kind.cluster_scoped) return match;
  const Labels labels = Labels::OfNamespace(asked.request, asked.ns);
  for (const LabelRequirement& requirement : selector.requirements) {
    if (!labels.Knows(requirement.key)) {
      match = Match::kUnknown;
    } else if (!IsMet(requirement, labels)) {
      return Match::kNo;
    }
  }
  return match;
}

bool HasLabels(const LabelSelector& selector, const Matched& asked) {
  return selector.empty() || selector.Matches(Labels::OfObject(&asked.object)) ||
         (asked.request.old_object != nullptr &&
          selector.Matches(Labels::OfObject(asked.request.old_object)));
}

}  // namespace

Labels Labels::OfObject(const json::Value* object) {
  Labels made;
  made.map_ = json::FindPath(object, {"metadata", "labels"});
  return made;
}

Labels Labels::OfNamespace(const schemas::AdmissionRequest& request, std::string_view ns) {
  Labels made;
  made.request_ = &request;
  made.ns_ = ns;
  return made;
}

std::optional<std::string_view> Labels::Find(std::string_view key) const {
  if (request_ == nullptr) return json::FindString(map_, key);
  const auto found = request_->namespace_labels.find(key);
  if (found != request_->namespace_labels.end()) return found->second;
  return key == kNameLabel ? std::optional(ns_) : std::nullopt;
}

bool Labels::Knows(std::string_view key) const {
  return request_ == nullptr || request_->knows_namespace_labels || Find(key).has_value();
}

bool LabelSelector::Matches(const Labels& labels) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return IsMet(requirement, labels); });
}

Match Matches(const MatchResources& resources, const Matched& asked) {
  const auto matches = [&](const ResourceRule& rule) {
    return IsAbout(rule, asked, resources.exact);
  };
  if (!resources.rules.empty() &&
      std::none_of(resources.rules.begin(), resources.rules.end(), matches)) {
    return Match::kNo;
  }
  if (std::any_of(resources.excluded.begin(), resources.excluded.end(), matches) ||
      !HasLabels(resources.objects, asked)) {
    return Match::kNo;
  }
  return MatchNamespace(resources.namespaces, asked);
}

bool NamesKind(const ResourceRule& rule, const schemas::KindInfo& kind) {
  return NamesResource(rule, kind) && IsInScope(rule, kind);
}

schemas::KindSet KindsOf(const MatchResources& resources, const schemas::SiteKinds& site) {
  schemas::KindSet kinds;
  const auto add = [&](const schemas::KindInfo& kind) {
    for (const ResourceRule& rule : resources.rules) {
      if (NamesKind(rule, kind)) kinds = kinds | schemas::KindSet{kind.kind};
    }
  };
  for (const schemas::KindInfo& kind : schemas::kKinds) add(kind);
  for (size_t i = 0; i < site.size(); ++i) add(site.info(i));
  return kinds;
}

namespace {

using json::Json;
using schemas::Choice;
using schemas::Field;
using schemas::Key;
using schemas::kRequired;
using schemas::List;
using schemas::Mode;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Parsed;
using schemas::Raw;
using schemas::Text;
using schemas::Type;

constexpr std::string_view kGroup = "admissionregistration.k8s.io/";
constexpr size_t kLongestName = 253;  // of an object, in Kubernetes

bool IsObjectName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  const auto parts = Split(name, '.');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return IsDns1123Label(part); });
}

Type<std::string> ObjectNameText() {
  return Parsed<std::string>(NonEmptyText(), [](std::string name, const Field& field) {
    if (!IsObjectName(name)) {
      field.Fault(Quote(name) + " is not the name of an object",
                  "write lower-case letters, digits, - and ., at most 253");
    }
    return name;
  });
}

Type<WrittenExpression> ExpressionText() {
  return Parsed<WrittenExpression>(NonEmptyText(), [](std::string text, const Field& field) {
    if (Trim(text).empty()) {
      field.Fault("the expression is empty",
                  "write an expression of CEL, such as object.spec.replicas > 1");
    }
    return WrittenExpression{std::move(text), field.path};
  });
}

template <typename T>
Type<std::vector<T>> AtMost(size_t most, const Type<std::vector<T>>& list) {
  return Parsed<std::vector<T>>(list, [most](std::vector<T> items, const Field& field) {
    if (items.size() > most) {
      field.Fault("there are " + std::to_string(items.size()) + " entries, and at most " +
                      std::to_string(most) + " are read",
                  "split the policy into several");
    }
    return items;
  });
}

bool IsIdentifier(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !name.empty() && !IsDigit(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return IsDigit(c) || kLetters.find(c) != std::string_view::npos;
         });
}

Type<std::string> VariableName() {
  return Parsed<std::string>(NonEmptyText(), [](std::string name, const Field& field) {
    if (!IsIdentifier(name)) {
      field.Fault(Quote(name) + " cannot be the name of a variable",
                  "write letters, digits and _, beginning with a letter");
    }
    return name;
  });
}

// --- what is matched ---------------------------------------------------------------------------

Type<LabelRequirement> RequirementTable() {
  using Operator = LabelRequirement::Operator;
  return Object<LabelRequirement>(
      {{"key", "", &LabelRequirement::key, NonEmptyText(), kRequired},
       {"operator", "", &LabelRequirement::op,
        Choice<Operator>({{"In", Operator::kIn},
                          {"NotIn", Operator::kNotIn},
                          {"Exists", Operator::kExists},
                          {"DoesNotExist", Operator::kDoesNotExist}}),
        kRequired},
       {"values", "", &LabelRequirement::values, List(Text())}},
      [](LabelRequirement& requirement, const Field& field) {
        const bool takes_values =
            requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
        if (takes_values && requirement.values.empty()) {
          field.Fault("this operator needs values", "write values: [a, b]");
        } else if (!takes_values && !requirement.values.empty()) {
          field.Fault("this operator takes no values", "remove values, or write operator: In");
        }
      });
}

Type<LabelSelector> SelectorTable() {
  const auto add_labels = [](LabelSelector& selector,
                             std::map<std::string, std::string, std::less<>> labels, const Field&) {
    for (auto& [key, value] : labels) {
      selector.requirements.push_back({key, LabelRequirement::Operator::kIn, {std::move(value)}});
    }
  };
  const auto add_all = [](LabelSelector& selector, std::vector<LabelRequirement> all,
                          const Field&) {
    for (LabelRequirement& each : all) selector.requirements.push_back(std::move(each));
  };
  return Object<LabelSelector>(
             {Key<LabelSelector>::Calling("matchLabels", "", schemas::Map(Text()), add_labels),
              Key<LabelSelector>::Calling("matchExpressions", "", List(RequirementTable()),
                                          add_all)})
      .OrNull();
}

Type<ResourceRule> ResourceRuleTable() {
  using Scope = ResourceRule::Scope;
  return Object<ResourceRule>(
      {{"apiGroups", "", &ResourceRule::groups, List(Text(), 1), kRequired},
       {"apiVersions", "", &ResourceRule::versions, List(NonEmptyText(), 1), kRequired},
       {"resources", "", &ResourceRule::resources, List(NonEmptyText(), 1), kRequired},
       {"operations", "", &ResourceRule::operations,
        List(schemas::Word({"*", "CREATE", "UPDATE", "DELETE", "CONNECT"}), 1), kRequired},
       {"resourceNames", "", &ResourceRule::names, List(NonEmptyText())},
       {"scope", "", &ResourceRule::scope,
        Choice<Scope>({{"*", Scope::kAny},
                       {"Cluster", Scope::kCluster},
                       {"Namespaced", Scope::kNamespaced}})}});
}

Type<MatchResources> MatchResourcesTable() {
  return Object<MatchResources>(
      {{"resourceRules", "", &MatchResources::rules, List(ResourceRuleTable())},
       {"excludeResourceRules", "", &MatchResources::excluded, List(ResourceRuleTable())},
       {"namespaceSelector", "", &MatchResources::namespaces, SelectorTable()},
       {"objectSelector", "", &MatchResources::objects, SelectorTable()},
       {"matchPolicy", "", &MatchResources::exact,
        Choice<bool>({{"Equivalent", false}, {"Exact", true}})}});
}

// --- the objects -------------------------------------------------------------------------------

struct Metadata {
  std::string name;
  std::map<std::string, std::string, std::less<>> annotations;
};

// Of metadata only these matter; whatever else the API server writes there is left.
Type<Metadata> MetadataOf() {
  return Parsed<Metadata>(Raw({"object"}), [](const Json* value, const Field& field) {
    Metadata metadata;
    const Json* name = json::Find(value, "name");
    if (name == nullptr) {
      field.Fault("the object has no name", "write metadata.name");
    } else {
      Read(ObjectNameText(), {*name, json::Child(field.path, "name"), field.reading},
           metadata.name);
    }
    if (const Json* annotations = json::Find(value, "annotations")) {
      Read(schemas::Map(Text()),
           {*annotations, json::Child(field.path, "annotations"), field.reading},
           metadata.annotations);
    }
    return metadata;
  });
}

Type<NamedExpression> NamedTable(std::string name_key, std::string key,
                                 const Type<std::string>& name) {
  return Object<NamedExpression>(
      {{std::move(name_key), "", &NamedExpression::name, name, kRequired},
       {std::move(key), "", &NamedExpression::expression, ExpressionText(), kRequired}});
}

Type<WrittenValidation> ValidationTable() {
  return Object<WrittenValidation>(
      {{"expression", "", &WrittenValidation::expression, ExpressionText(), kRequired},
       {"message", "", &WrittenValidation::message, Text()},
       {"messageExpression", "", &WrittenValidation::message_expression, ExpressionText()},
       {"reason", "", &WrittenValidation::reason,
        schemas::Word({"Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"})}},
      [](WrittenValidation& validation, const Field& field) {
        if (validation.message.find('\n') == std::string::npos) return;
        field.reading.Fault(json::Child(field.path, "message"), "a message is one line",
                            "write it without line breaks");
      });
}

Type<ParamKind> ParamKindTable() {
  return Object<ParamKind>({{"apiVersion", "", &ParamKind::api_version, NonEmptyText(), kRequired},
                            {"kind", "", &ParamKind::kind, NonEmptyText(), kRequired}});
}

// A name that is there twice hides an entry.
void CheckNames(const std::vector<NamedExpression>& all, std::string_view list,
                std::string_view key, const Field& field) {
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (all[i].name.empty() || all[i].name != all[j].name) continue;
      field.reading.Fault(json::Child(json::Child(json::Child(field.path, list), i), key),
                          Quote(all[i].name) + " is there twice", "rename one of them");
      break;
    }
  }
}

Type<WrittenPolicy> PolicySpecTable() {
  return Object<WrittenPolicy>(
      {{"failurePolicy", "", &WrittenPolicy::ignores_failures,
        Choice<bool>({{"Fail", false}, {"Ignore", true}})},
       {"paramKind", "", &WrittenPolicy::param_kind, ParamKindTable()},
       {"matchConstraints", "", &WrittenPolicy::constraints, MatchResourcesTable(), kRequired},
       {"matchConditions", "", &WrittenPolicy::conditions,
        AtMost(kMostConditions, List(NamedTable("name", "expression", NonEmptyText())))},
       {"variables", "", &WrittenPolicy::variables,
        AtMost(kMostExpressions, List(NamedTable("name", "expression", VariableName())))},
       {"validations", "", &WrittenPolicy::validations,
        AtMost(kMostExpressions, List(ValidationTable()))},
       {"auditAnnotations", "", &WrittenPolicy::audit_annotations,
        AtMost(kMostAnnotations, List(NamedTable("key", "valueExpression", NonEmptyText())))}},
      [](WrittenPolicy& policy, const Field& field) {
        CheckNames(policy.variables, "variables", "name", field);
        CheckNames(policy.conditions, "matchConditions", "name", field);
        CheckNames(policy.audit_annotations, "auditAnnotations", "key", field);
        if (json::Find(field.value, "validations") == nullptr &&
            json::Find(field.value, "auditAnnotations") == nullptr) {
          field.Fault("the policy checks nothing", "write validations, auditAnnotations or both");
        }
        if (json::Find(field.value, "matchConstraints") != nullptr &&
            policy.constraints.rules.empty()) {
          field.reading.Fault(
              json::Child(field.path, "matchConstraints"),
              "a policy needs to know which objects it is about",
              "write resourceRules with apiGroups, apiVersions, operations and resources");
        }
      });
}

Type<ParamRef> ParamRefTable() {
  return Object<ParamRef>({{"name", "", &ParamRef::name, NonEmptyText()},
                           {"namespace", "", &ParamRef::ns, NonEmptyText()},
                           {"selector", "", &ParamRef::selector, SelectorTable()},
                           {"parameterNotFoundAction", "", &ParamRef::allows_missing,
                            Choice<bool>({{"Allow", true}, {"Deny", false}}), kRequired}},
                          [](ParamRef& ref, const Field& field) {
                            if (ref.name.empty() == !ref.selector.has_value()) {
                              field.Fault("paramRef needs either a name or a selector",
                                          "write one of them");
                            }
                          });
}

Type<Mode> ActionsList() {
  const auto actions = List(
      Choice<Mode>({{"Deny", Mode::kEnforce}, {"Warn", Mode::kWarn}, {"Audit", Mode::kAudit}}), 1);
  return Parsed<Mode>(actions, [](const std::vector<Mode>& modes, const Field& field) {
    const auto count = [&](Mode mode) { return std::count(modes.begin(), modes.end(), mode); };
    if (count(Mode::kEnforce) > 0 && count(Mode::kWarn) > 0) {
      field.Fault("Deny and Warn exclude each other: what is denied needs no warning",
                  "keep one of them");
    }
    for (const Mode mode : {Mode::kEnforce, Mode::kWarn, Mode::kAudit}) {
      if (count(mode) > 1) field.Fault("an action is there twice", "write it once");
    }
    return modes.empty() ? Mode::kOff : *std::max_element(modes.begin(), modes.end());
  });
}

Type<WrittenBinding> BindingSpecTable() {
  return Object<WrittenBinding>(
      {{"policyName", "", &WrittenBinding::policy, ObjectNameText(), kRequired},
       {"paramRef", "", &WrittenBinding::param_ref, ParamRefTable()},
       {"matchResources", "", &WrittenBinding::resources, MatchResourcesTable()},
       {"validationActions", "", &WrittenBinding::mode, ActionsList(), kRequired}});
}

// The keys that all objects have, around a spec of their own.
template <typename T>
Type<T> ObjectTable(const Type<T>& spec) {
  struct Whole {
    T read;
    Metadata metadata;
    std::string api_version;
    std::string kind;
    const Json* status = nullptr;
  };
  auto whole = Object<Whole>(
      {{"apiVersion", "", &Whole::api_version,
        schemas::Word({"admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"}),
        kRequired},
       {"kind", "", &Whole::kind, Text(), kRequired},
       {"metadata", "", &Whole::metadata, MetadataOf(), kRequired},
       {"spec", "", &Whole::read, spec, kRequired},
       {"status", "", &Whole::status, Raw({"object", "null"})}});
  return Parsed<T>(whole, [](Whole read, const Field&) {
    read.read.name = std::move(read.metadata.name);
    if constexpr (requires { read.read.annotations; }) {
      read.read.annotations = std::move(read.metadata.annotations);
    }
    return std::move(read.read);
  });
}

constexpr std::string_view kPolicyKind = "ValidatingAdmissionPolicy";
constexpr std::string_view kBindingKind = "ValidatingAdmissionPolicyBinding";
constexpr std::string_view kKindsHere[] = {kPolicyKind, kBindingKind};
constexpr std::string_view kKindsElsewhere[] = {
    "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration"};

template <typename T>
std::optional<T> ReadObject(const Type<T>& table, const Json& document,
                            schemas::ReadContext& reading) {
  T read;
  if (!schemas::ReadDocument(table, document, reading, read)) return std::nullopt;
  read.document = std::make_shared<const json::Document>(document);
  return read;
}

}  // namespace

Purpose PurposeOf(const Json& document) {
  const std::string_view api_version = json::FindString(document, "apiVersion").value_or("");
  const std::string_view kind = json::FindString(document, "kind").value_or("");
  const bool ours = kind == kPolicyKind || kind == kBindingKind;
  if (api_version.starts_with(kGroup)) {
    if (ours) return kind == kPolicyKind ? Purpose::kPolicy : Purpose::kBinding;
    const bool known = std::find(std::begin(kKindsElsewhere), std::end(kKindsElsewhere), kind) !=
                       std::end(kKindsElsewhere);
    return known ? Purpose::kElsewhere : Purpose::kMistaken;
  }
  if (ours) return Purpose::kMistaken;
  return api_version == "v1" && kind == "List" ? Purpose::kList : Purpose::kParameter;
}

json::Issue MistakenKind(const Json& document, const json::Positions& positions) {
  const std::string_view api_version = json::FindString(document, "apiVersion").value_or("");
  const std::string_view kind = json::FindString(document, "kind").value_or("");
  if (!api_version.starts_with(kGroup)) {
    const std::string where =
        api_version.empty() ? " without apiVersion" : " in " + Quote(api_version);
    return {positions.At("/apiVersion"), "apiVersion",
            "there is no " + std::string(kind) + where + ": the object has no effect",
            "write apiVersion: " + std::string(kGroup) + "v1"};
  }
  const auto near = NearestOf(kind, kKindsHere);
  return {
      positions.At("/kind"), "kind",
      Quote(kind) + " is not a kind of " + std::string(api_version) + ": the object has no effect",
      near ? "did you mean " + Quote(*near) + "?"
           : "write ValidatingAdmissionPolicy or ValidatingAdmissionPolicyBinding, one object "
             "each"};
}

std::optional<WrittenPolicy> ReadPolicy(const Json& document, schemas::ReadContext& reading) {
  static const auto table = ObjectTable(PolicySpecTable());
  return ReadObject(table, document, reading);
}

std::optional<WrittenBinding> ReadBinding(const Json& document, schemas::ReadContext& reading) {
  static const auto table = ObjectTable(BindingSpecTable());
  return ReadObject(table, document, reading);
}

}  // namespace mindgate::policies::site
