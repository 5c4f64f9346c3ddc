#include "admission/export/policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "admission/export/cel_text.h"
#include "admission/export/injections.h"
#include "base/text.h"
#include "policies/engine.h"
#include "policies/site/site_policies.h"

namespace mindgate::exported {
namespace {

using nlohmann::ordered_json;
using policies::Rule;
using schemas::Config;
using schemas::KindInfo;
using schemas::KindSet;
using schemas::Mode;

// What a policy does with what it finds.
enum class Reported {
  kAll,       // everything is reported
  kNew,       // what an update leaves as it was is not
  kExisting,  // nothing else is
};

// The rows of a rule's kinds, one a group and version.
ordered_json ResourceRules(KindSet kinds) {
  std::map<std::pair<std::string_view, std::string_view>, ordered_json> resources;
  for (const KindInfo& info : schemas::kKinds) {
    if (kinds.Has(info.kind)) resources[{info.group, info.version}].push_back(info.plural);
  }
  ordered_json rules = ordered_json::array();
  for (const auto& [api, names] : resources) {
    rules.push_back({{"apiGroups", {api.first}},
                     {"apiVersions", {api.second}},
                     {"operations", {"CREATE", "UPDATE"}},
                     {"resources", names}});
  }
  return rules;
}

std::string FoundOf(const ExportedRule& row) {
  return row.shape == Shape::kBroken ? "(" + row.found + ") ? ['broken'] : []" : row.found;
}

// True where the object is admitted.
std::string Validation(Shape shape, Reported reported) {
  const bool nested = shape == Shape::kNested;
  const std::string found = "variables.found";
  const std::string was =
      nested ? "variables.oldFound.exists(old, place in old)" : "place in variables.oldFound";
  const auto all = [&](const std::string& condition) {
    return nested ? found + ".all(places, places.all(place, " + condition + "))"
                  : found + ".all(place, " + condition + ")";
  };
  switch (reported) {
    case Reported::kNew:
      return all(was);
    case Reported::kExisting:
      return all("!(" + was + ")");
    case Reported::kAll:
      break;
  }
  return nested ? found + ".all(places, size(places) == 0)" : "size(" + found + ") == 0";
}

ordered_json VariablesOf(const ExportedRule& row, KindSet kinds, const Config& config,
                         Reported reported) {
  const std::string found = FoundOf(row);
  const bool old = reported != Reported::kAll;
  std::vector<Variable> all = VariablesFor(found, kinds, config, old);
  all.push_back({"found", found});
  if (old) {
    all.push_back({"oldFound", "request.operation != 'UPDATE' ? [] : (" + OfOld(found) + ")"});
  }
  ordered_json variables = ordered_json::array();
  for (const Variable& variable : all) {
    variables.push_back({{"name", variable.name}, {"expression", variable.expression}});
  }
  return variables;
}

ordered_json Metadata(const std::string& name, const Rule& rule) {
  return {
      {"name", name},
      {"labels",
       {{kNameKey, kNameValue}, {kComponentKey, kComponentValue}, {"mindgate.io/rule", rule.id}}}};
}

ordered_json PolicyOf(const std::string& name, const Rule& rule, const ExportedRule& row,
                      const Scope& scope, Reported reported, const Config& config,
                      const ExportOptions& options) {
  const KindSet kinds = rule.kinds - row.without - UnreadKinds();
  auto conditions = ConditionsOf(rule, kinds, scope, config, options);
  if (reported == Reported::kExisting) {
    conditions.push_back({"update", "request.operation == 'UPDATE'"});
  }
  ordered_json constraints = {{"matchPolicy", "Equivalent"},
                              {"resourceRules", ResourceRules(kinds)}};
  ordered_json selector = NamespaceSelector({}, options);
  if (!selector.is_null()) constraints["namespaceSelector"] = std::move(selector);
  std::string message = std::string(rule.id) + ": " + std::string(rule.summary);
  message += reported == Reported::kExisting ? " It was so before this change. " : " ";
  message += rule.fix;
  return {
      {"apiVersion", kPolicyVersion},
      {"kind", "ValidatingAdmissionPolicy"},
      {"metadata", Metadata(name, rule)},
      {"spec",
       {{"failurePolicy", "Fail"},
        {"matchConstraints", std::move(constraints)},
        {"matchConditions", MatchConditions(conditions)},
        {"variables", VariablesOf(row, kinds, config, reported)},
        {"validations",
         {{{"expression", Validation(row.shape, reported)}, {"message", std::move(message)}}}}}}};
}

ordered_json BindingOf(const std::string& name, const Rule& rule, Mode mode) {
  return {{"apiVersion", kPolicyVersion},
          {"kind", "ValidatingAdmissionPolicyBinding"},
          {"metadata", Metadata(name, rule)},
          {"spec", {{"policyName", name}, {"validationActions", {ActionOf(mode)}}}}};
}

bool IsExported(std::string_view id, const Config& config) {
  if (!id.starts_with(policies::kPolicyPrefix)) return WhyNotExported(id).empty();
  return config.policies != nullptr &&
         std::ranges::any_of(config.policies->policies(), [&](const auto& policy) {
           return policy->rule().id == id && WhyNotExported(*policy).empty();
         });
}

}  // namespace

std::vector<ordered_json> PoliciesOf(const Rule& rule, const ExportedRule& row,
                                     const Config& config, const ExportOptions& options) {
  std::vector<ordered_json> documents;
  const auto add = [&](const std::string& suffix, const Scope& scope, Reported reported,
                       Mode mode) {
    const std::string name = "mindgate-" + ToLower(rule.id) + suffix;
    documents.push_back(PolicyOf(name, rule, row, scope, reported, config, options));
    documents.push_back(BindingOf(name, rule, mode));
  };
  const Mode outside = ModeOutside(rule, config);
  for (const Scope& scope : ScopesOf(rule, config)) {
    if (scope.mode == Mode::kOff) continue;
    const bool forgives = scope.mode == Mode::kEnforce && config.existing_violations == Mode::kWarn;
    const std::string suffix = scope.mode == outside ? "" : "-" + std::string(ModeName(scope.mode));
    add(suffix, scope, forgives ? Reported::kNew : Reported::kAll, scope.mode);
    if (forgives) add("-existing", scope, Reported::kExisting, Mode::kWarn);
  }
  return documents;
}

std::vector<size_t> ExportedExceptions(const Config& config, const ExportOptions& options) {
  std::vector<size_t> exported;
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const schemas::Exception& exception = config.exceptions[i];
    const bool any = std::ranges::any_of(
        exception.rules, [&](const std::string& id) { return IsExported(id, config); });
    if (any && exception.expires >= options.now) exported.push_back(i);
  }
  return exported;
}

namespace {

using json::Json;
using policies::site::ResourceRule;
using policies::site::SitePolicy;
using policies::site::WrittenBinding;

// Names of match conditions have a prefix, so that none of the policy's own is like them.
constexpr std::string_view kConditionPrefix = "mindgate.io/";
// The whole object before a change by kubectl: nothing of a new one.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Json Written(const json::Document& document, std::string_view member) {
  const json::Value* value = json::Find(document.root(), member);
  return value == nullptr ? Json::object() : json::TreeOf(*value);
}

ordered_json MetadataOf(const json::Document& document, const std::string& name) {
  const Json written = Written(document, "metadata");
  Json labels = written.value("labels", Json());
  if (!labels.is_object()) labels = Json::object();
  labels.emplace(kNameKey, kNameValue);
  labels.emplace(kComponentKey, kComponentValue);
  ordered_json metadata = {{"name", name}, {"labels", labels}};
  Json annotations = written.value("annotations", Json::object());
  annotations.erase(kLastApplied);
  if (!annotations.empty()) metadata["annotations"] = annotations;
  return metadata;
}

std::vector<std::string> EvaluatedOperations(const ResourceRule& rule) {
  std::vector<std::string> operations;
  for (const std::string_view operation : {"CREATE", "UPDATE"}) {
    const auto names = [&](const std::string& each) { return each == "*" || each == operation; };
    if (std::ranges::any_of(rule.operations, names)) operations.emplace_back(operation);
  }
  return operations;
}

// The kinds of the policy that mindgate evaluates.
std::vector<const KindInfo*> EvaluatedKinds(const SitePolicy& policy, const Config& config) {
  std::vector<const KindInfo*> kinds;
  const auto add = [&](const KindInfo& kind) {
    const auto names = [&](const ResourceRule& rule) { return NamesKind(rule, kind); };
    if (std::ranges::any_of(policy.written().constraints.rules, names)) kinds.push_back(&kind);
  };
  for (const KindInfo& kind : schemas::kKinds) add(kind);
  for (size_t i = 0; i < config.kinds.size(); ++i) add(config.kinds.info(i));
  return kinds;
}

// The rule for those of the kinds that it names, one row a group.
void Narrow(const ResourceRule& rule, const std::vector<const KindInfo*>& kinds,
            ordered_json& rows) {
  const std::vector<std::string> operations = EvaluatedOperations(rule);
  if (operations.empty()) return;
  std::map<std::string_view, std::vector<std::string_view>> resources;
  for (const KindInfo* kind : kinds) {
    if (NamesKind(rule, *kind)) resources[kind->group].push_back(kind->plural);
  }
  for (const auto& [group, plurals] : resources) {
    ordered_json row = {{"apiGroups", {group}},
                        {"apiVersions", rule.versions},
                        {"operations", operations},
                        {"resources", plurals}};
    if (!rule.names.empty()) row["resourceNames"] = rule.names;
    if (rule.scope != ResourceRule::Scope::kAny) {
      row["scope"] = rule.scope == ResourceRule::Scope::kCluster ? "Cluster" : "Namespaced";
    }
    rows.push_back(std::move(row));
  }
}

// What the binding is about, and mindgate evaluates; null when that is nothing.
ordered_json ResourcesOf(const WrittenBinding& binding, const std::vector<const KindInfo*>& kinds,
                         const ExportOptions& options) {
  const ResourceRule all{
      .groups = {"*"}, .versions = {"*"}, .resources = {"*"}, .operations = {"*"}};
  ordered_json rows = ordered_json::array();
  if (!binding.resources || binding.resources->rules.empty()) {
    Narrow(all, kinds, rows);
  } else {
    for (const ResourceRule& rule : binding.resources->rules) Narrow(rule, kinds, rows);
  }
  if (rows.empty()) return nullptr;
  const Json spec = Written(*binding.document, "spec");
  ordered_json resources = spec.value("matchResources", Json::object());
  resources["resourceRules"] = std::move(rows);
  ordered_json selector =
      NamespaceSelector(resources.value("namespaceSelector", ordered_json()), options);
  if (!selector.is_null()) resources["namespaceSelector"] = std::move(selector);
  return resources;
}

// What the binding does with findings of a policy in this mode: a milder one stays milder.
Mode ModeOf(const WrittenBinding& binding, const SitePolicy& policy, Mode mode) {
  return binding.mode == policy.rule().default_mode ? mode : std::min(mode, binding.mode);
}

Json ActionsOf(const WrittenBinding& binding, Mode mode) {
  const Json written = Written(*binding.document, "spec").at("validationActions");
  if (mode == binding.mode) return written;
  Json actions = Json::array({ActionOf(mode)});
  if (mode != Mode::kAudit && std::ranges::find(written, "Audit") != written.end()) {
    actions.push_back("Audit");
  }
  return actions;
}

class Exporter {
 public:
  Exporter(const Config& config, const ExportOptions& options)
      : config_(config), options_(options) {
    for (const auto& policy : config.policies->policies()) {
      taken_.insert(policy->name());
      for (const WrittenBinding& binding : policy->bindings()) taken_.insert(binding.name);
    }
  }

  void Add(const SitePolicy& policy) {
    const auto kinds = EvaluatedKinds(policy, config_);
    const Mode outside = ModeOutside(policy.rule(), config_);
    for (const Scope& scope : ScopesOf(policy.rule(), config_)) {
      const auto bindings = BindingsOf(policy, scope, kinds);
      if (bindings.empty()) continue;
      const std::string suffix =
          scope.mode == outside ? "" : "-" + std::string(ModeName(scope.mode));
      const std::string name = NameOf(policy.name(), suffix);
      exported_.policies.push_back(PolicyOf(policy, scope, name));
      for (const auto& [binding, resources] : bindings) {
        exported_.policies.push_back(BindingOf(*binding, ModeOf(*binding, policy, scope.mode), name,
                                               NameOf(binding->name, suffix), resources));
        AddParams(policy, *binding);
      }
    }
  }

  ExportedSitePolicies Take() { return std::move(exported_); }

 private:
  using Bindings = std::vector<std::pair<const WrittenBinding*, ordered_json>>;

  Bindings BindingsOf(const SitePolicy& policy, const Scope& scope,
                      const std::vector<const KindInfo*>& kinds) const {
    Bindings bindings;
    if (scope.mode == Mode::kOff) return bindings;
    for (const WrittenBinding& binding : policy.bindings()) {
      ordered_json resources = ResourcesOf(binding, kinds, options_);
      if (!resources.is_null()) bindings.emplace_back(&binding, std::move(resources));
    }
    return bindings;
  }

  // One that no other policy or binding has.
  std::string NameOf(const std::string& name, const std::string& suffix) {
    if (suffix.empty()) return name;
    std::string free = name + suffix;
    while (!taken_.insert(free).second) free += suffix;
    return free;
  }

  ordered_json PolicyOf(const SitePolicy& policy, const Scope& scope,
                        const std::string& name) const {
    const json::Document& document = *policy.written().document;
    ordered_json spec = Written(document, "spec");
    auto ours = ConditionsOf(policy.rule(), policy.rule().kinds, scope, config_, options_);
    for (Condition& each : ours) each.name.insert(0, kConditionPrefix);
    ordered_json& conditions = spec["matchConditions"];
    conditions = MatchConditions(ours, std::move(conditions));
    return {{"apiVersion", kPolicyVersion},
            {"kind", "ValidatingAdmissionPolicy"},
            {"metadata", MetadataOf(document, name)},
            {"spec", std::move(spec)}};
  }

  static ordered_json BindingOf(const WrittenBinding& binding, Mode mode, const std::string& policy,
                                const std::string& name, const ordered_json& resources) {
    ordered_json spec = Written(*binding.document, "spec");
    spec["policyName"] = policy;
    spec["matchResources"] = resources;
    spec["validationActions"] = ActionsOf(binding, mode);
    return {{"apiVersion", kPolicyVersion},
            {"kind", "ValidatingAdmissionPolicyBinding"},
            {"metadata", MetadataOf(*binding.document, name)},
            {"spec", std::move(spec)}};
  }

  void AddParams(const SitePolicy& policy, const WrittenBinding& binding) {
    for (const json::Value* object : policy.ParamsOf(binding)) {
      ordered_json param = json::TreeOf(*object);
      if (!binding.param_ref->ns.empty()) param["metadata"]["namespace"] = binding.param_ref->ns;
      if (std::ranges::find(exported_.params, param) == exported_.params.end()) {
        exported_.params.push_back(std::move(param));
      }
    }
  }

  const Config& config_;
  const ExportOptions& options_;
  std::set<std::string> taken_;
  ExportedSitePolicies exported_;
};

}  // namespace

std::string_view WhyNotExported(const SitePolicy& policy) {
  if (policy.uses_workload()) return "it reads workload, which only mindgate has";
  if (!policy.uncertain().empty()) {
    return "an API server refuses expressions whose type only shows when they are evaluated: write "
           "bool(...) or string(...) around them";
  }
  if (!policy.is_bound()) return "no binding names it";
  if (!policy.rule().kinds.Intersects(schemas::kEveryKind)) {
    return "it is about no kind that mindgate evaluates: apply it as it is";
  }
  return {};
}

ExportedSitePolicies SitePoliciesOf(std::span<const SitePolicy* const> policies,
                                    const Config& config, const ExportOptions& options) {
  if (policies.empty()) return {};
  Exporter exporter(config, options);
  for (const SitePolicy* policy : policies) {
    if (WhyNotExported(*policy).empty()) exporter.Add(*policy);
  }
  return exporter.Take();
}

}  // namespace mindgate::exported
