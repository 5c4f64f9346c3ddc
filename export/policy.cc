#include "export/policy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "export/cel_text.h"
#include "export/templates.h"
#include "policies/engine.h"

namespace mindgate::exported {
namespace {

using nlohmann::ordered_json;
using policies::Rule;
using schemas::Config;
using schemas::KindInfo;
using schemas::KindSet;
using schemas::Mode;

constexpr std::string_view kApiVersion = "admissionregistration.k8s.io/v1";

struct Condition {
  std::string name;
  std::string expression;
};

// What a policy does with what it finds.
enum class Judged {
  kAll,       // everything is reported
  kNew,       // what an update leaves as it was is not
  kExisting,  // nothing else is
};

// Where a mode is in force.
struct Scope {
  Mode mode = Mode::kOff;
  std::string condition;  // empty: everywhere
};

Mode ModeOutside(const Rule& rule, Config config) {
  config.namespaces.clear();
  return policies::ModeFor(rule, config, "");
}

Mode ModeUnder(const Rule& rule, const schemas::NamespaceOverride& override_, Config config) {
  config.namespaces = {override_};
  std::string name = override_.name;
  if (name.ends_with('*')) name.pop_back();
  return policies::ModeFor(rule, config, name);
}

std::vector<Scope> ScopesOf(const Rule& rule, const Config& config) {
  const Mode outside = ModeOutside(rule, config);
  std::vector<Mode> modes = {outside};
  std::string choice;
  for (const schemas::NamespaceOverride& each : config.namespaces) {
    const Mode mode = ModeUnder(rule, each, config);
    choice += MatchesName("request.namespace", each.name) + " ? " + Quoted(ModeName(mode)) + " : ";
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
  }
  if (modes.size() == 1) return {{outside, ""}};
  choice += Quoted(ModeName(outside));
  std::vector<Scope> scopes;
  for (const Mode mode : modes) {
    scopes.push_back({mode, "(" + choice + ") == " + Quoted(ModeName(mode))});
  }
  return scopes;
}

// Owners whose controllers make objects of the kinds, as texts "apps/Deployment makes
// apps/ReplicaSet".
std::vector<std::string> MakersOf(KindSet kinds) {
  std::vector<std::string> pairs;
  for (const KindInfo& maker : schemas::kKinds) {
    for (const KindInfo& made : schemas::kKinds) {
      if (!kinds.Has(made.kind) || !maker.makes.Has(made.kind)) continue;
      pairs.push_back(KindWord(maker) + " makes " + KindWord(made));
    }
  }
  return pairs;
}

Condition NotMade(const std::vector<std::string>& pairs, const ExportOptions& options) {
  std::vector<std::string> accounts;
  for (const std::string& ns : options.controller_namespaces) {
    accounts.push_back("system:serviceaccount:" + ns + ":");
  }
  const std::string owner_kind =
      "(o.apiVersion.contains('/') ? o.apiVersion.split('/')[0] : '') + '/' + string(o.kind)";
  return {
      "not-made-by-an-admitted-object",
      "!object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && " +
          owner_kind + " + ' makes ' + request.kind.group + '/' + request.kind.kind in " +
          ListOf(pairs) + ") || !(request.userInfo.?username.orValue('') in " +
          ListOf(options.controller_users) + " || " + ListOf(accounts) +
          ".exists(a, request.userInfo.?username.orValue('').startsWith(a)))"};
}

bool Concerns(const schemas::Exception& exception, const Rule& rule) {
  return std::find(exception.rules.begin(), exception.rules.end(), rule.id) !=
         exception.rules.end();
}

std::string IsExcepted(const schemas::Exception& exception) {
  std::string all;
  const auto add = [&](std::string_view text, std::string_view pattern) {
    if (pattern.empty()) return;
    if (!all.empty()) all += " && ";
    all += MatchesName(text, pattern);
  };
  add("request.namespace", exception.ns);
  add("request.kind.kind", exception.kind);
  add("object.?metadata.?name.orValue('')", exception.name);
  return all.empty() ? "true" : all;
}

// What the webhook is not sent, or mindgate leaves alone.
std::vector<Condition> ConditionsOf(const Rule& rule, KindSet kinds, const Config& config,
                                    const ExportOptions& options) {
  std::vector<Condition> conditions = {
      {"not-being-deleted", "!object.?metadata.?deletionTimestamp.hasValue()"}};
  const auto is_of = [](KindSet some) {
    std::string words;
    for (const KindInfo& info : schemas::kKinds) {
      if (!some.Has(info.kind)) continue;
      if (!words.empty()) words += " || ";
      words += "request.kind.kind == " + Quoted(info.name);
    }
    return words;
  };
  const std::string labels =
      "object.?metadata.?labels.orValue({}) != "
      "oldObject.metadata.?labels.orValue({})";
  std::string changed = labels +
                        " || object.?metadata.?annotations.orValue({}) != "
                        "oldObject.metadata.?annotations.orValue({})"
                        " || object.?spec != oldObject.?spec || object.?data != oldObject.?data";
  // The scheduler and the device plugin write annotations of a pod, whose spec does not change.
  if (schemas::kPods.Intersects(kinds)) {
    changed = is_of(schemas::kPods) + " ? " + labels + " : " + changed;
  }
  conditions.push_back({"new-or-changed", "request.operation == 'CREATE' || (" + changed + ")"});
  const auto pairs = MakersOf(kinds);
  if (!pairs.empty()) conditions.push_back(NotMade(pairs, options));
  if (schemas::kPodGroups.Intersects(kinds)) {
    conditions.push_back(
        {"not-of-a-controller",
         "request.kind.kind != 'PodGroup' || "
         "!object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))"});
  }
  if (schemas::kConfigMaps.Intersects(kinds)) {
    conditions.push_back({"scaling-rule-or-rank-table",
                          "request.kind.kind != 'ConfigMap' || "
                          "object.?metadata.?name.orValue('').startsWith('rings-config-') || "
                          "'elastic_scaling.json' in object.?data.orValue({})"});
  }
  if (schemas::kServices.Intersects(kinds)) {
    conditions.push_back({"service-of-mindie",
                          "request.kind.kind != 'Service' || object.?metadata.?name.orValue('') == "
                          "'mindie-ms-coordinator' || object.?spec.?ports.orValue([]).exists(p, "
                          "p.?nodePort.orValue(0) == 31015)"});
  }
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const schemas::Exception& exception = config.exceptions[i];
    if (!Concerns(exception, rule) || exception.expires < options.now) continue;
    conditions.push_back(
        {"not-exception-" + std::to_string(i), "!(" + IsExcepted(exception) + ")"});
  }
  return conditions;
}

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
  return {{"name", name},
          {"labels",
           {{"app.kubernetes.io/name", "mindgate"},
            {"app.kubernetes.io/component", "exported-policy"},
            {"mindgate.io/rule", rule.id}}}};
}

ordered_json PolicyOf(const std::string& name, const Rule& rule, const ExportedRule& row,
                      const Scope& scope, Judged judged, const Config& config,
                      const ExportOptions& options) {
  const KindSet kinds = rule.kinds - row.without;
  auto conditions = ConditionsOf(rule, kinds, config, options);
  if (!scope.condition.empty()) conditions.push_back({"mode", scope.condition});
  if (judged == Judged::kExisting) {
    conditions.push_back({"update", "request.operation == 'UPDATE'"});
  }
  ordered_json match_conditions = ordered_json::array();
  for (const Condition& each : conditions) {
    match_conditions.push_back({{"name", each.name}, {"expression", each.expression}});
  }
  ordered_json constraints = {{"matchPolicy", "Equivalent"},
                              {"resourceRules", ResourceRules(kinds)}};
  ordered_json selector = options.namespace_selector;
  if (!options.excluded_namespaces.empty()) {
    selector["matchExpressions"].push_back({{"key", "kubernetes.io/metadata.name"},
                                            {"operator", "NotIn"},
                                            {"values", options.excluded_namespaces}});
  }
  if (!selector.is_null()) constraints["namespaceSelector"] = std::move(selector);
  std::string message = std::string(rule.id) + ": " + std::string(rule.summary);
  message += judged == Judged::kExisting ? " It was so before this change. " : " ";
  message += rule.fix;
  return {{"apiVersion", kApiVersion},
          {"kind", "ValidatingAdmissionPolicy"},
          {"metadata", Metadata(name, rule)},
          {"spec",
           {{"failurePolicy", "Fail"},
            {"matchConstraints", std::move(constraints)},
            {"matchConditions", std::move(match_conditions)},
            {"variables", VariablesOf(row, kinds, config, judged)},
            {"validations",
             {{{"expression", Validation(row.shape, judged)}, {"message", std::move(message)}}}}}}};
}

ordered_json BindingOf(const std::string& name, const Rule& rule, Mode mode) {
  const std::string_view action = mode == Mode::kEnforce ? "Deny"
                                  : mode == Mode::kWarn  ? "Warn"
                                                         : "Audit";
  return {{"apiVersion", kApiVersion},
          {"kind", "ValidatingAdmissionPolicyBinding"},
          {"metadata", Metadata(name, rule)},
          {"spec", {{"policyName", name}, {"validationActions", {action}}}}};
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
        exception.rules, [](const std::string& id) { return WhyNotExported(id).empty(); });
    if (any && exception.expires >= options.now) exported.push_back(i);
  }
  return exported;
}

}  // namespace mindgate::exported
