#include "policies/references.h"

#include <vector>

#include "base/text.h"

namespace mindgate::policies {

Reference LookUp(const RuleContext& context, Findings& findings, std::string_view group,
                 std::string_view kind, std::string_view ns, std::string_view name) {
  const schemas::ObjectLookup* objects = context.request.objects;
  Reference reference;
  if (objects != nullptr) {
    reference.object = objects->Find(group, kind, ns, name);
    reference.known = reference.object != nullptr || objects->IsComplete(group, kind);
  }
  if (!reference.known) {
    findings.Skip("needs " + std::string(kind) + " " + Quote(name) +
                  (ns.empty() ? "" : " of namespace " + Quote(ns)) + ", which is not known here");
  }
  return reference;
}

bool IsNumberedLike(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    std::string found;
    for (char c : text) {
      if (IsDigit(c)) found += c;
    }
    return found;
  };
  const auto last = [](std::string_view text) { return text.substr(text.rfind('-') + 1); };
  const bool short_end = last(a).size() <= 2 && last(b).size() <= 2;
  return digits(a) != digits(b) || (short_end && last(a) != last(b));
}

std::optional<Meant> FindMeant(const RuleContext& context, std::string_view group,
                               std::string_view kind, std::string_view ns, std::string_view name) {
  // Enough for one apply; a decision does not read through a whole cluster for a hint.
  constexpr size_t kMaxNames = 256;
  const schemas::ObjectLookup* objects = context.request.objects;
  if (objects == nullptr || name.empty()) return std::nullopt;
  std::optional<Meant> meant;
  objects->ForEachNamed(group, kind, name, [&](const json::Value& object) {
    const json::Value* metadata = json::Find(object, "metadata");
    if (!meant) meant = Meant{name, json::FindString(metadata, "namespace").value_or("")};
  });
  if (meant) return meant;
  std::vector<std::string_view> names;
  objects->ForEach(group, kind, ns, [&](const json::Value& object) {
    const auto own = json::FindString(json::Find(object, "metadata"), "name");
    if (own && names.size() < kMaxNames && !IsNumberedLike(name, *own)) names.push_back(*own);
  });
  const auto nearest = NearestOf(name, names);
  if (nearest) meant = Meant{*nearest, ns};
  return meant;
}

}  // namespace mindgate::policies
