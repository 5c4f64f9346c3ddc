#include "policies/lookups.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "policies/text_entries.h"

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

namespace {

// The first template that asks for whole cards decides who counts them.
std::optional<schemas::GroupChips> CountedByVolcano(const RuleContext& context,
                                                    const schemas::PodGroupView& group) {
  const auto& templates = context.view.templates;
  const auto first =
      std::find_if(group.templates.begin(), group.templates.end(),
                   [&](size_t index) { return !templates[index].chips.resource.empty(); });
  if (first == group.templates.end() || !IsPlacedByVolcano(context, templates[*first])) {
    return std::nullopt;
  }
  return schemas::ReadGroupChips(context.view, group, context.config);
}

}  // namespace

const schemas::GroupChips* ChipTable::Of(const schemas::PodGroupView& group) const {
  if (groups_.empty()) {
    groups_.reserve(context_.view.pod_groups.size());
    for (const schemas::PodGroupView& each : context_.view.pod_groups) {
      groups_.push_back(CountedByVolcano(context_, each));
    }
  }
  const auto& chips = groups_[static_cast<size_t>(&group - context_.view.pod_groups.data())];
  return chips ? &*chips : nullptr;
}

}  // namespace mindgate::policies
