#include <algorithm>
#include <ranges>

#include "export/cel_text.h"
#include "export/templates.h"
#include "schemas/names.h"

namespace mindgate::exported {
namespace {

using schemas::KindSet;

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
