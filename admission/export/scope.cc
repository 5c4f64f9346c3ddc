#include <algorithm>
#include <ranges>
#include <utility>

#include "admission/export/cel_text.h"
#include "admission/export/injections.h"
#include "policies/engine.h"
#include "schemas/names.h"

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

ordered_json MatchConditions(const std::vector<Condition>& conditions, ordered_json written) {
  ordered_json all = written.is_array() ? std::move(written) : ordered_json::array();
  std::string joined;
  for (const Condition& each : conditions) {
    if (all.size() < kMostConditions) {
      all.push_back({{"name", each.name}, {"expression", each.expression}});
    } else {
      joined += " && (" + each.expression + ")";
    }
  }
  if (!joined.empty()) {
    ordered_json& last = all.back()["expression"];
    last = "(" + last.get<std::string>() + ")" + joined;
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

namespace {

constexpr std::string_view kPrefix = "variables.";
// These do not depend on what the object holds.
constexpr std::string_view kKind = "kind";
constexpr std::string_view kDeclined = "declined";

std::string OldName(std::string_view name) {
  std::string old = "old" + std::string(name);
  old[3] = static_cast<char>(old[3] - 'a' + 'A');
  return old;
}

bool Names(std::string_view text, std::string_view name) {
  return HasWord(text, std::string(kPrefix) + std::string(name));
}

// The variables of that name, the last of which has it. `reader`: all that may name members of it.
std::vector<Variable> Named(std::string_view name, KindSet kinds, const schemas::Config& config,
                            const std::string& reader) {
  const std::string of(name);
  if (name == kKind) return {{of, "request.kind.group + '/' + request.kind.kind"}};
  if (name == kDeclined) return {{of, IsDeclined(config)}};
  if (name == "labels") return {{of, "object.?metadata.?labels.orValue({})"}};
  if (name == "annotations") return {{of, "object.?metadata.?annotations.orValue({})"}};
  if (name == "holder") return {{of, Holder(kinds)}};
  if (name == "parts") return {{of, Parts(kinds)}};
  if (name == "labelMaps") return {{of, ReachingMaps(kinds, Maps::kLabels)}};
  if (name == "annotationMaps") return {{of, ReachingMaps(kinds, Maps::kAnnotations)}};
  if (name == "rawTemplates") return RawTemplates(kinds);
  if (name == "podTemplates") return {{of, PodTemplates(reader)}};
  if (name == "countedTemplates") return {{of, CountedTemplates(config, reader)}};
  if (name == "anyNpus") return {{of, "variables.countedTemplates.exists(t, t.npus)"}};
  if (name == "templates") return {{of, Templates(kinds, config, reader)}};
  if (name == "npuTemplates") return {{of, "variables.templates.filter(t, t.npus)"}};
  return {{of, "variables.anyNpus || variables.labels[?" + Quoted(schemas::kInject) +
                   "].orValue('') == 'enabled'"}};
}

// Each names earlier ones alone.
constexpr std::string_view kNames[] = {
    kKind,       kDeclined,        "labels",       "annotations",  "holder",           "parts",
    "labelMaps", "annotationMaps", "rawTemplates", "podTemplates", "countedTemplates", "anyNpus",
    "templates", "npuTemplates",   "isNpuWorkload"};

}  // namespace

// WhyInjectionIsDeclined of schemas/placement.h.
std::string IsDeclined(const schemas::Config& config) {
  const std::string label =
      "object.?metadata.?labels[?" + Quoted(schemas::kInject) + "].orValue('')";
  std::string by_namespace = "(namespaceObject != null && namespaceObject.metadata.?labels[?" +
                             Quoted(schemas::kInject) + "].orValue('') == 'disabled')";
  // The first entry that matches counts.
  std::string by_file;
  for (const schemas::NamespaceOverride& each : config.namespaces) {
    by_file += MatchesName("request.namespace", each.name) + " ? " +
               (each.inject ? "false" : "true") + " : ";
  }
  if (!by_file.empty()) by_namespace += " || (" + by_file + "false)";
  return label + " == 'disabled' || " + label + " != 'enabled' && (" + by_namespace + ")";
}

std::string OfOld(std::string_view expression) {
  std::string old;
  bool quoted = false;
  for (size_t i = 0; i < expression.size();) {
    const char c = expression[i];
    const bool begins = i == 0 || (!IsOfName(expression[i - 1]) && expression[i - 1] != '.');
    if (quoted || !begins || !IsOfName(c)) {
      if (c == '\\' && quoted && i + 1 < expression.size()) old += expression[i++];
      if (expression[i] == '\'' && (i == 0 || !quoted || expression[i - 1] != '\\'))
        quoted = !quoted;
      old += expression[i++];
      continue;
    }
    size_t end = i;
    while (end < expression.size() && IsOfName(expression[end])) ++end;
    const std::string_view word = expression.substr(i, end - i);
    old += word == "object" ? "oldObject" : std::string(word);
    i = end;
    if (word != "variables" || i == expression.size() || expression[i] != '.') continue;
    old += expression[i++];
    end = i;
    while (end < expression.size() && IsOfName(expression[end])) ++end;
    const std::string_view name = expression.substr(i, end - i);
    old += name == kKind || name == kDeclined ? std::string(name) : OldName(name);
    i = end;
  }
  return old;
}

std::vector<Variable> VariablesFor(std::string_view expression, KindSet kinds,
                                   const schemas::Config& config, bool old) {
  std::string reader(expression);
  std::vector<Variable> named;
  for (const std::string_view name : std::views::reverse(kNames)) {
    if (!Names(reader, name)) continue;
    std::vector<Variable> group = Named(name, kinds, config, reader);
    for (Variable& each : std::views::reverse(group)) {
      reader += ' ' + each.expression;
      if (old && name != kKind && name != kDeclined) {
        named.push_back({OldName(each.name), OfOld(each.expression)});
      }
      named.push_back(std::move(each));
    }
  }
  std::ranges::reverse(named);
  return named;
}

}  // namespace mindgate::exported
