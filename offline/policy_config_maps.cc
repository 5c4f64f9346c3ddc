#include "offline/policy_config_maps.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "policies/site/site_policies.h"
#include "schemas/names.h"

namespace mindgate::offline {
namespace {

using json::Value;

constexpr std::string_view kNoPolicyKey =
    "none of its keys ends in .yaml, .yml or .json, so it has no policies: name the keys so, or "
    "remove the label ";

std::string MetadataOf(const Value& object, std::string_view key) {
  return std::string(json::AsString(json::FindPath(object, {"metadata", key})).value_or(""));
}

std::string NamedConfigMap(const Value& object) {
  return "ConfigMap " + MetadataOf(object, "namespace") + "/" + MetadataOf(object, "name");
}

}  // namespace

kube::Selection PolicyConfigMapsIn(const std::string& ns) {
  kube::Selection selection;
  selection.resource = kube::resources::kConfigMaps;
  selection.ns = ns;
  selection.label_selector = std::string(schemas::kPoliciesLabel) + "=enabled";
  selection.fields = {{"data"}, {"binaryData"}};
  return selection;
}

void PolicyConfigMapSet::Put(const Value& object) {
  const std::string name = NamedConfigMap(object);
  ConfigMap made;
  bool has_keys = false;
  for (const std::string_view member : {"data", "binaryData"}) {
    const Value* keys = json::Find(object, member);
    if (keys == nullptr) continue;
    for (const json::Member& each : keys->members()) {
      has_keys = true;
      if (!admission::IsPolicyFile(each.key)) continue;
      const std::string text_name = name + ", key " + std::string(each.key);
      const auto text = json::AsString(&each.value);
      if (member == "binaryData" || !text) {
        made.faults += text_name + ": this is not a text: store it as UTF-8, under data\n";
        continue;
      }
      made.bytes += text->size();
      made.texts.push_back({text_name, std::string(*text)});
    }
  }
  if (has_keys && made.texts.empty() && made.faults.empty()) {
    made.faults =
        name + ": " + std::string(kNoPolicyKey) + std::string(schemas::kPoliciesLabel) + "\n";
  }
  Erase(MetadataOf(object, "name"));
  if (bytes_ + made.bytes > kMostBytes) {
    made = {.faults = name + ": with it the policies have more than 16 MiB; 4 MiB are read\n",
            .crowded = true};
  }
  Insert(MetadataOf(object, "name"), std::move(made));
}

void PolicyConfigMapSet::PutTooLarge(const Value& metadata_only) {
  Insert(MetadataOf(metadata_only, "name"),
         {.faults = NamedConfigMap(metadata_only) + ": it is too large to be read\n"});
}

void PolicyConfigMapSet::Remove(const Value& object) { Erase(MetadataOf(object, "name")); }

void PolicyConfigMapSet::Insert(std::string name, ConfigMap config_map) {
  Erase(name);
  bytes_ += config_map.bytes;
  crowded_ += config_map.crowded ? 1 : 0;
  by_name_.emplace(std::move(name), std::move(config_map));
}

void PolicyConfigMapSet::Erase(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  bytes_ -= found->second.bytes;
  crowded_ -= found->second.crowded ? 1 : 0;
  by_name_.erase(found);
}

Result<admission::PolicyTexts> PolicyConfigMapSet::Texts() const {
  admission::PolicyTexts texts;
  std::string faults;
  for (const auto& [name, config_map] : by_name_) {
    faults += config_map.faults;
    texts.insert(texts.end(), config_map.texts.begin(), config_map.texts.end());
  }
  if (texts.size() > admission::kMostPolicyFiles) {
    faults += "the ConfigMaps with the label " + std::string(schemas::kPoliciesLabel) + " have " +
              std::to_string(texts.size()) + " keys with policies, more than " +
              std::to_string(admission::kMostPolicyFiles) + ": put several policies under one key";
  }
  if (!faults.empty()) {
    return Fail(ErrorCode::kInvalidArgument, std::string(Trim(faults)));
  }
  return texts;
}

kube::Answer<PolicyConfigMapSet> ListPolicyConfigMaps(kube::Client& client, const std::string& ns) {
  const kube::Selection selection = PolicyConfigMapsIn(ns);
  const json::Projection fields = kube::WithIdentity(selection.fields);
  PolicyConfigMapSet set;
  const auto listed = client.ListAll(
      selection.resource, selection.ns, {.label_selector = selection.label_selector}, &fields,
      {.started = [&set] { set = {}; },
       .item = [&set](const Value& object) { set.Put(object); },
       .left_out = [&set](const Value& object, const kube::Fault&) { set.PutTooLarge(object); }});
  if (!listed) return tl::unexpected(listed.error());
  return set;
}

std::string PolicyConfigMapsFault(const std::string& ns, const kube::Fault& fault) {
  std::string text = "policies.configMaps is true, and the ConfigMaps of namespace " + ns +
                     " cannot be listed: " + fault.message;
  if (fault.reason == kube::Reason::kForbidden) {
    text += "; allow get, list and watch of configmaps there, as the chart does";
  }
  return text;
}

}  // namespace mindgate::offline
