#include "export/policy.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "export/cel_text.h"
#include "export/site_policy.h"
#include "export/templates.h"
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
enum class Judged {
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
std::string Validation(Shape shape, Judged judged) {
  const bool nested = shape == Shape::kNested;
  const std::string found = "variables.found";
  const std::string was =
      nested ? "variables.oldFound.exists(old, place in old)" : "place in variables.oldFound";
  const auto all = [&](const std::string& condition) {
    return nested ? found + ".all(places, places.all(place, " + condition + "))"
                  : found + ".all(place, " + condition + ")";
  };
  switch (judged) {
    case Judged::kNew:
      return all(was);
    case Judged::kExisting:
      return all("!(" + was + ")");
    case Judged::kAll:
      break;
  }
  return nested ? found + ".all(places, size(places) == 0)" : "size(" + found + ") == 0";
}

ordered_json VariablesOf(const ExportedRule& row, KindSet kinds, const Config& config,
                         Judged judged) {
  const std::string found = FoundOf(row);
  const bool old = judged != Judged::kAll;
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
                      const Scope& scope, Judged judged, const Config& config,
                      const ExportOptions& options) {
  const KindSet kinds = rule.kinds - row.without;
  auto conditions = ConditionsOf(rule, kinds, scope, config, options);
  if (judged == Judged::kExisting) {
    conditions.push_back({"update", "request.operation == 'UPDATE'"});
  }
  ordered_json constraints = {{"matchPolicy", "Equivalent"},
                              {"resourceRules", ResourceRules(kinds)}};
  ordered_json selector = NamespaceSelector({}, options);
  if (!selector.is_null()) constraints["namespaceSelector"] = std::move(selector);
  std::string message = std::string(rule.id) + ": " + std::string(rule.summary);
  message += judged == Judged::kExisting ? " It was so before this change. " : " ";
  message += rule.fix;
  return {{"apiVersion", kPolicyVersion},
          {"kind", "ValidatingAdmissionPolicy"},
          {"metadata", Metadata(name, rule)},
          {"spec",
           {{"failurePolicy", "Fail"},
            {"matchConstraints", std::move(constraints)},
            {"matchConditions", MatchConditions(conditions)},
            {"variables", VariablesOf(row, kinds, config, judged)},
            {"validations",
             {{{"expression", Validation(row.shape, judged)}, {"message", std::move(message)}}}}}}};
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
  const auto add = [&](const std::string& suffix, const Scope& scope, Judged judged, Mode mode) {
    const std::string name = "mindgate-" + ToLower(rule.id) + suffix;
    documents.push_back(PolicyOf(name, rule, row, scope, judged, config, options));
    documents.push_back(BindingOf(name, rule, mode));
  };
  const Mode outside = ModeOutside(rule, config);
  for (const Scope& scope : ScopesOf(rule, config)) {
    if (scope.mode == Mode::kOff) continue;
    const bool forgives = scope.mode == Mode::kEnforce && config.existing_violations == Mode::kWarn;
    const std::string suffix = scope.mode == outside ? "" : "-" + std::string(ModeName(scope.mode));
    add(suffix, scope, forgives ? Judged::kNew : Judged::kAll, scope.mode);
    if (forgives) add("-existing", scope, Judged::kExisting, Mode::kWarn);
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

}  // namespace mindgate::exported
