#include "policies/site/matching.h"

#include <algorithm>

#include "schemas/raw_objects.h"

namespace mindgate::policies::site {
namespace {

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return each == "*" || each == name; });
}

bool NamesResource(const ResourceRule& rule, const schemas::KindInfo& kind) {
  return Has(rule.groups, kind.group) &&
         std::any_of(rule.resources.begin(), rule.resources.end(), [&](const std::string& each) {
           return each == "*" || each == "*/*" || each == kind.plural;
         });
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

// A selector of namespaces does not restrict what is in none.
bool IsInNamespace(const LabelSelector& selector, const Matched& asked) {
  return selector.empty() || asked.kind.cluster_scoped ||
         selector.Matches(Labels::OfNamespace(asked.request, asked.ns));
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

bool LabelSelector::Matches(const Labels& labels) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return IsMet(requirement, labels); });
}

bool Matches(const MatchResources& resources, const Matched& asked) {
  const auto matches = [&](const ResourceRule& rule) {
    return IsAbout(rule, asked, resources.exact);
  };
  if (!resources.rules.empty() &&
      std::none_of(resources.rules.begin(), resources.rules.end(), matches)) {
    return false;
  }
  return std::none_of(resources.excluded.begin(), resources.excluded.end(), matches) &&
         IsInNamespace(resources.namespaces, asked) && HasLabels(resources.objects, asked);
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

}  // namespace mindgate::policies::site
