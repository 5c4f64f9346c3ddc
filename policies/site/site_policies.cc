#include "policies/site/site_policies.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "schemas/reading.h"

namespace mindgate::policies {

using json::Json;
using site::SitePolicy;
using site::WrittenBinding;

namespace {

// A binding and where it stands.
struct Bound {
  WrittenBinding binding;
  size_t text;
  json::Position at;         // of policyName
  json::Position param_ref;  // of paramRef
};

json::Issue Warning(json::Position at, std::string field, std::string message, std::string hint) {
  return {at, std::move(field), "warning: " + std::move(message), std::move(hint)};
}

// Adds the places that `value` and what it holds have below `pointer` in `all`.
void AddPlaces(const Json& value, const std::string& pointer, const json::Positions& all,
               size_t parent, json::Positions& places) {
  const auto add = [&](const std::string& token, const Json& child) {
    const std::string below = pointer + json::Child("", token);
    AddPlaces(child, below, all, places.Add(parent, token, all.At(below)), places);
  };
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) add(key, member);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) add(std::to_string(i), value[i]);
  }
}

// An item of a List as a document of its own. Its places are those in the text.
json::YamlDocument ItemOf(const json::YamlDocument& list, size_t index) {
  const std::string pointer = "/items/" + std::to_string(index);
  json::YamlDocument item;
  item.value = list.value.at("items").at(index);
  const json::Position at = list.positions.At(pointer);
  item.positions.Set("", at);
  AddPlaces(item.value, pointer, list.positions, json::Positions::kRoot, item.positions);
  item.line = at.line;
  return item;
}

}  // namespace

// Reads texts into a set. One use.
class SiteReader {
 public:
  SiteReader(const std::vector<SitePolicies::Text>& texts, const schemas::SiteKinds& kinds)
      : texts_(texts), kinds_(kinds), faults_(texts.size()), warnings_(texts.size()) {}

  tl::expected<std::shared_ptr<const SitePolicies>, std::vector<SitePolicies::Faults>> Read() {
    size_t bytes = 0;
    for (size_t i = 0; i < texts_.size(); ++i) {
      bytes += texts_[i].text.size();
      if (bytes > SitePolicies::kMostBytes) {
        faults_[i].Add({{}, "", "the policies have more than 4 MiB in all", "remove some of them"});
        break;
      }
      ReadText(i);
    }
    if (HasFaults()) return tl::unexpected(Found(faults_));
    Bind();
    if (HasFaults()) return tl::unexpected(Found(faults_));
    set_->warnings_ = Found(warnings_);
    return std::shared_ptr<const SitePolicies>(std::move(set_));
  }

 private:
  static std::vector<SitePolicies::Faults> Found(std::vector<json::Issues>& all) {
    std::vector<SitePolicies::Faults> found;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].empty()) found.push_back({i, std::move(all[i])});
    }
    return found;
  }

  bool HasFaults() const {
    return std::any_of(faults_.begin(), faults_.end(),
                       [](const json::Issues& issues) { return !issues.empty(); });
  }

  void ReadText(size_t index) {
    const auto documents = json::DecodeYaml(texts_[index].text);
    if (!documents) {
      faults_[index].Add(documents.error());
      return;
    }
    for (const json::YamlDocument& document : *documents) ReadDocument(index, document);
  }

  void ReadDocument(size_t index, const json::YamlDocument& document) {
    switch (site::PurposeOf(document.value)) {
      case site::Purpose::kPolicy:
        return ReadPolicy(index, document);
      case site::Purpose::kBinding:
        return ReadBinding(index, document);
      case site::Purpose::kList:
        return ReadList(index, document);
      case site::Purpose::kElsewhere:
        warnings_[index].Add(Warning(document.positions.At("/kind"), "kind",
                                     std::string(*json::FindString(document.value, "kind")) +
                                         " has no effect here: mindgate evaluates "
                                         "ValidatingAdmissionPolicies alone",
                                     "apply it to the cluster"));
        return;
      case site::Purpose::kMistaken:
        return faults_[index].Add(site::MistakenKind(document.value, document.positions));
      case site::Purpose::kParameter:
        return ReadParameter(index, document);
    }
  }

  // What `kubectl get -o yaml` prints of several objects.
  void ReadList(size_t index, const json::YamlDocument& list) {
    const Json* items = json::Find(list.value, "items");
    if (items == nullptr || items->is_null()) return;
    if (!items->is_array()) {
      return faults_[index].Add({list.positions.At("/items"), "items",
                                 "the items of a List must be a list", "write items: [...]"});
    }
    for (size_t i = 0; i < items->size(); ++i) {
      const json::YamlDocument item = ItemOf(list, i);
      if (site::PurposeOf(item.value) == site::Purpose::kList) {
        faults_[index].Add({{item.line, 1},
                            "items[" + std::to_string(i) + "]",
                            "a List inside of a List is not read",
                            "put its items into the outer List"});
      } else {
        ReadDocument(index, item);
      }
    }
  }

  void ReadPolicy(size_t index, const json::YamlDocument& document) {
    schemas::ReadContext reading(document.value, document.positions);
    auto written = site::ReadPolicy(document.value, reading);
    faults_[index].Append(reading.Faults());
    if (written) AddPolicy(index, *std::move(written), {texts_[index], document});
  }

  void ReadBinding(size_t index, const json::YamlDocument& document) {
    schemas::ReadContext reading(document.value, document.positions);
    auto binding = site::ReadBinding(document.value, reading);
    faults_[index].Append(reading.Faults());
    if (!binding) return;
    if (bindings_.size() == SitePolicies::kMostBindings) {
      faults_[index].Add(
          {{document.line, 1},
           "",
           "there are more than " + std::to_string(SitePolicies::kMostBindings) + " bindings",
           "bind a policy once for several namespaces, with a namespaceSelector"});
      return;
    }
    bindings_.push_back({*std::move(binding), index, document.positions.At("/spec/policyName"),
                         document.positions.At("/spec/paramRef")});
  }

  void ReadParameter(size_t index, const json::YamlDocument& document) {
    if (json::FindString(document.value, "apiVersion") &&
        json::FindString(document.value, "kind")) {
      set_->params_.emplace_back(document.value);
    } else if (!texts_[index].found_in_folder) {
      faults_[index].Add({{document.line, 1},
                          "",
                          "this is not an object of Kubernetes",
                          "a file of policies has ValidatingAdmissionPolicies, their bindings and "
                          "parameters"});
    }
  }

  void AddPolicy(size_t index, site::WrittenPolicy written, const site::WrittenIn& in) {
    const json::Position name_at = in.document.positions.At("/metadata/name");
    const auto [first, fresh] =
        named_.emplace(written.name, texts_[index].name + ":" + std::to_string(name_at.line));
    if (!fresh) {
      faults_[index].Add({name_at, "metadata.name",
                          "policy " + Quote(written.name) + " is also in " + first->second,
                          "rename one of them, or remove it"});
      return;
    }
    if (set_->policies_.size() == SitePolicies::kMostPolicies) {
      faults_[index].Add(
          {name_at, "metadata.name",
           "there are more than " + std::to_string(SitePolicies::kMostPolicies) + " policies",
           "put what belongs together into one, as several validations"});
      return;
    }
    auto policy = SitePolicy::Make(std::move(written), in, kinds_, faults_[index]);
    if (policy == nullptr) return;
    places_[policy->name()] = {index, name_at};
    if (!policy->rule().kinds.Intersects(schemas::kEveryKind)) {
      warnings_[index].Add(Warning(in.document.positions.At("/spec/matchConstraints"),
                                   "spec.matchConstraints",
                                   "the policy matches no kind that mindgate evaluates",
                                   "`mindgate kinds` lists them; a cluster evaluates every kind"));
    }
    for (const json::Issue& issue : policy->uncertain().items()) {
      warnings_[index].Add(Warning(issue.at, issue.field, issue.message, issue.hint));
    }
    set_->policies_.push_back(std::move(policy));
  }

  void Bind() {
    std::map<std::string, std::vector<WrittenBinding>, std::less<>> by_policy;
    std::set<std::string> names;
    for (Bound& each : bindings_) {
      if (!names.insert(each.binding.name).second) {
        faults_[each.text].Add({each.at, "metadata.name",
                                "a binding " + Quote(each.binding.name) + " is there twice",
                                "rename one of them, or remove it"});
      }
      CheckBinding(each);
      by_policy[each.binding.policy].push_back(std::move(each.binding));
    }
    auto& policies = set_->policies_;
    std::sort(policies.begin(), policies.end(),
              [](const auto& a, const auto& b) { return a->name() < b->name(); });
    for (const auto& policy : policies) {
      policy->Bind(std::move(by_policy[policy->name()]), set_->params_);
      if (policy->is_bound()) {
        set_->rules_.push_back(&policy->rule());
        continue;
      }
      const auto& [text, at] = places_[policy->name()];
      warnings_[text].Add(
          Warning(at, "metadata.name",
                  "policy " + Quote(policy->name()) + " has no effect: no binding names it",
                  "write a ValidatingAdmissionPolicyBinding with policyName: " + policy->name()));
    }
  }

  void CheckBinding(const Bound& each) {
    const auto found =
        std::find_if(set_->policies_.begin(), set_->policies_.end(),
                     [&](const auto& policy) { return policy->name() == each.binding.policy; });
    if (found == set_->policies_.end()) {
      std::vector<std::string_view> names;
      for (const auto& policy : set_->policies_) names.push_back(policy->name());
      const auto near = NearestOf(each.binding.policy, names);
      warnings_[each.text].Add(Warning(
          each.at, "spec.policyName",
          "the binding has no effect: there is no policy " + Quote(each.binding.policy) + " here",
          near ? "did you mean " + Quote(*near) + "?" : ""));
      return;
    }
    const bool takes_params = (*found)->written().param_kind.has_value();
    if (takes_params == each.binding.param_ref.has_value()) return;
    if (takes_params) {
      warnings_[each.text].Add(
          Warning(each.at, "spec",
                  "policy " + Quote(each.binding.policy) +
                      " takes parameters, and the binding names none: params is null",
                  "write paramRef"));
    } else {
      warnings_[each.text].Add(Warning(
          each.param_ref, "spec.paramRef",
          "policy " + Quote(each.binding.policy) + " takes no parameters: paramRef has no effect",
          "remove paramRef, or give the policy a paramKind"));
    }
  }

  const std::vector<SitePolicies::Text>& texts_;
  const schemas::SiteKinds& kinds_;
  std::vector<json::Issues> faults_;
  std::vector<json::Issues> warnings_;
  std::unique_ptr<SitePolicies> set_{new SitePolicies()};
  std::vector<Bound> bindings_;
  std::map<std::string, std::string> named_;  // policies, also faulty ones, and where
  std::map<std::string, std::pair<size_t, json::Position>> places_;
};

SitePolicies::SitePolicies() = default;
SitePolicies::~SitePolicies() = default;

tl::expected<std::shared_ptr<const SitePolicies>, std::vector<SitePolicies::Faults>>
SitePolicies::Make(const std::vector<Text>& texts, const schemas::SiteKinds& kinds) {
  return SiteReader(texts, kinds).Read();
}

const Rule* SitePolicies::Find(std::string_view id) const {
  const auto found =
      std::find_if(rules_.begin(), rules_.end(), [&](const Rule* rule) { return rule->id == id; });
  return found == rules_.end() ? nullptr : *found;
}

std::string RenderFaults(const std::vector<SitePolicies::Faults>& faults,
                         const std::vector<SitePolicies::Text>& texts) {
  std::string out;
  for (const SitePolicies::Faults& each : faults) {
    out += json::Render(each.issues, texts[each.text].name, texts[each.text].text);
  }
  return out;
}

}  // namespace mindgate::policies
