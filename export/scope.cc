#include "export/scope.h"

#include <algorithm>
#include <utility>

#include "export/cel_text.h"
#include "policies/engine.h"

namespace mindgate::exported {
namespace {

using nlohmann::ordered_json;
using policies::Rule;
using schemas::Config;
using schemas::KindInfo;
using schemas::KindSet;
using schemas::Mode;

Mode ModeUnder(const Rule& rule, const schemas::NamespaceOverride& override_, Config config) {
  config.namespaces = {override_};
  std::string name = override_.name;
  if (name.ends_with('*')) name.pop_back();
  return policies::ModeFor(rule, config, name);
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

}  // namespace

Mode ModeOutside(const Rule& rule, const Config& config) {
  Config without = config;
  without.namespaces.clear();
  return policies::ModeFor(rule, without, "");
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

Condition NotBeingDeleted() {
  return {"not-being-deleted", "!object.?metadata.?deletionTimestamp.hasValue()"};
}

std::optional<Condition> NotMade(KindSet kinds, const ExportOptions& options) {
  const auto pairs = MakersOf(kinds);
  if (pairs.empty()) return std::nullopt;
  std::vector<std::string> accounts;
  for (const std::string& ns : options.controller_namespaces) {
    accounts.push_back("system:serviceaccount:" + ns + ":");
  }
  const std::string owner_kind =
      "(o.apiVersion.contains('/') ? o.apiVersion.split('/')[0] : '') + '/' + string(o.kind)";
  return Condition{
      "not-made-by-an-admitted-object",
      "!object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && " +
          owner_kind + " + ' makes ' + request.kind.group + '/' + request.kind.kind in " +
          ListOf(pairs) + ") || !(request.userInfo.?username.orValue('') in " +
          ListOf(options.controller_users) + " || " + ListOf(accounts) +
          ".exists(a, request.userInfo.?username.orValue('').startsWith(a)))"};
}

std::vector<Condition> ConditionsOf(const Rule& rule, KindSet kinds, const Scope& scope,
                                    const Config& config, const ExportOptions& options) {
  std::vector<Condition> conditions = {NotBeingDeleted()};
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
  if (auto not_made = NotMade(kinds, options)) conditions.push_back(*std::move(not_made));
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
  if (!scope.condition.empty()) conditions.push_back({"mode", scope.condition});
  return conditions;
}

ordered_json MatchConditions(const std::vector<Condition>& conditions) {
  ordered_json all = ordered_json::array();
  for (const Condition& each : conditions) {
    all.push_back({{"name", each.name}, {"expression", each.expression}});
  }
  return all;
}

ordered_json NamespaceSelector(ordered_json selector, const ExportOptions& options) {
  ordered_json& requirements = selector["matchExpressions"];
  const ordered_json& chosen = options.namespace_selector;
  if (chosen.is_object()) {
    for (const auto& each : chosen.at("matchExpressions")) requirements.push_back(each);
  }
  if (!options.excluded_namespaces.empty()) {
    requirements.push_back({{"key", "kubernetes.io/metadata.name"},
                            {"operator", "NotIn"},
                            {"values", options.excluded_namespaces}});
  }
  if (requirements.is_null()) selector.erase("matchExpressions");
  return selector.empty() ? ordered_json() : selector;
}

std::string_view ActionOf(Mode mode) {
  return mode == Mode::kEnforce ? "Deny" : mode == Mode::kWarn ? "Warn" : "Audit";
}

}  // namespace mindgate::exported
