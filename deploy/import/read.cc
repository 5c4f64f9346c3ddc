#include "deploy/import/read.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/import/changes.h"
#include "deploy/render.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

using json::Json;

constexpr std::string_view kVendor = "huawei.com/";

const Json& ListAt(const Json* holder, std::string_view key) {
  static const Json none = Json::array();
  const Json* list = json::Find(holder, key);
  return json::IsArray(list) ? *list : none;
}

// A quantity that is a whole number.
std::optional<int64_t> WholeOf(const Json* value) {
  if (const auto number = json::AsInt(value)) return number;
  const auto text = json::AsString(value);
  return text ? ParseGoInt(*text) : std::nullopt;
}

// Whether an object has no other members than these.
bool HasOnly(const Json& object, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : object.items()) {
    const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!known && !value.is_null()) return false;
  }
  return true;
}

// What `volumes:` says of a volume but its place in the container; null: it says something else.
Block SourceOf(const Json& volume) {
  Block out = Block::object();
  const auto take = [&](const char* source, const char* member, const char* key,
                        std::string_view another, const Json& otherwise) {
    const Json* found = json::Find(volume, source);
    if (!json::IsObject(found)) return;
    const bool plain = HasOnly(*found, {member, another}) &&
                       (!found->contains(another) || found->at(std::string(another)) == otherwise);
    const auto name = json::FindString(*found, member);
    if (plain && name) out[key] = std::string(*name);
  };
  take("persistentVolumeClaim", "claimName", "claim", "readOnly", false);
  take("configMap", "name", "config_map", "defaultMode", 420);
  take("secret", "secretName", "secret", "defaultMode", 420);
  take("hostPath", "path", "host_path", "type", "");
  const Json* folder = json::Find(volume, "emptyDir");
  if (json::IsObject(folder) && HasOnly(*folder, {"medium", "sizeLimit"})) {
    Block empty = Block::object();
    PutText(empty, "medium", folder, "medium");
    PutText(empty, "size_limit", folder, "sizeLimit");
    out["empty_dir"] = std::move(empty);
  }
  return out.size() == 1 && volume.size() == 2 ? out : Block();
}

Block VolumesOf(const Json* pod_spec, const Json* container,
                std::initializer_list<std::string_view> own) {
  Block volumes = Block::array();
  for (const Json& volume : ListAt(pod_spec, "volumes")) {
    const std::string name = json::TextAt(volume, {"name"});
    if (std::find(own.begin(), own.end(), name) != own.end()) continue;
    const Json* place = nullptr;
    size_t places = 0;
    for (const Json& mount : ListAt(container, "volumeMounts")) {
      if (json::FindString(mount, "name") != name) continue;
      place = &mount;
      ++places;
    }
    Block source = SourceOf(volume);
    if (places != 1 || source.is_null() ||
        !HasOnly(*place, {"name", "mountPath", "subPath", "readOnly"})) {
      continue;
    }
    Block out = {{"name", name}};
    PutText(out, "mount_path", place, "mountPath");
    PutText(out, "sub_path", place, "subPath");
    if (json::AsBool(json::Find(*place, "readOnly")).value_or(false)) out["read_only"] = true;
    out.update(source);
    volumes.push_back(std::move(out));
  }
  return volumes;
}

}  // namespace

const Json* RenderedNamed(const std::vector<RenderedObject>& rendered, const std::string& title) {
  const auto found =
      std::find_if(rendered.begin(), rendered.end(),
                   [&title](const RenderedObject& each) { return each.Title() == title; });
  return found == rendered.end() ? nullptr : &found->object;
}

const Json* Named(const Json* list, std::string_view name) {
  if (!json::IsArray(list)) return nullptr;
  const auto found = std::find_if(list->rbegin(), list->rend(), [name](const Json& each) {
    return json::FindString(each, "name") == name;
  });
  return found == list->rend() ? nullptr : &*found;
}

std::optional<std::string> VariableText(const Json* container, std::string_view name) {
  const Json* variable = Named(json::Find(container, "env"), name);
  if (variable == nullptr || json::Find(*variable, "valueFrom") != nullptr) return std::nullopt;
  // The empty text is left out by some clients.
  return std::string(json::FindString(variable, "value").value_or(""));
}

void PutSize(Block& block, const char* key, const Json* container, std::string_view name) {
  const auto text = VariableText(container, name);
  const auto number = text ? ParseGoInt(*text) : std::nullopt;
  if (number && *number >= 1 && *number <= kMaxSize) block[key] = *number;
}

void PutInteger(Block& block, const char* key, const Json* holder, std::string_view member) {
  if (const auto number = json::AsInt(json::Find(holder, member))) block[key] = *number;
}

void PutText(Block& block, const char* key, const Json* holder, std::string_view member) {
  const auto text = json::FindString(holder, member);
  if (text && !text->empty()) block[key] = std::string(*text);
}

std::string NpuResourceOf(const Json* container) {
  for (const char* which : {"requests", "limits"}) {
    const Json* amounts = json::FindPath(container, {"resources", which});
    if (!json::IsObject(amounts)) continue;
    for (const auto& [name, value] : amounts->items()) {
      if (name.starts_with(kVendor)) return name;
    }
  }
  return "";
}

int64_t NpusOf(const Json* container, const std::string& resource) {
  for (const char* which : {"requests", "limits"}) {
    const Json* amounts = json::FindPath(container, {"resources", which});
    if (const auto number = WholeOf(json::Find(amounts, resource))) return *number;
  }
  return 0;
}

void PutAmounts(Block& block, const Json* container) {
  Block resources = Block::object();
  for (const char* which : {"requests", "limits"}) {
    const Json* amounts = json::FindPath(container, {"resources", which});
    Block out = Block::object();
    for (const char* name : {"memory", "cpu"}) {
      const Json* amount = json::Find(amounts, name);
      if (amount == nullptr) continue;
      const std::string text = amount->is_string() ? amount->get<std::string>() : amount->dump();
      if (IsAmount(text)) out[name] = text;
    }
    if (!out.empty()) resources[which] = std::move(out);
  }
  if (!resources.empty()) block["resources"] = std::move(resources);
}

void PutExtras(Block& block, const Json* pod_spec, const Json* container,
               std::initializer_list<std::string_view> own, const ExtraNames& names) {
  const Json& tolerations = ListAt(pod_spec, "tolerations");
  if (!tolerations.empty()) block["tolerations"] = Block(tolerations);
  Block secrets = Block::array();
  for (const Json& each : ListAt(pod_spec, "imagePullSecrets")) {
    if (const auto name = json::FindString(each, "name")) secrets.push_back(std::string(*name));
  }
  if (!secrets.empty()) block[names.image_pull_secrets] = std::move(secrets);
  PutText(block, names.priority_class, pod_spec, "priorityClassName");
  Block volumes = VolumesOf(pod_spec, container, own);
  if (!volumes.empty()) block["volumes"] = std::move(volumes);
}

void PutMap(Block& block, const char* key, const Json* runs, const Json* rendered,
            std::initializer_list<std::string_view> skipped) {
  if (!json::IsObject(runs)) return;
  Block out = Block::object();
  for (const auto& [name, value] : runs->items()) {
    const bool skip = std::find(skipped.begin(), skipped.end(), name) != skipped.end();
    // What mindgate finds its objects by is not for the user to write.
    if (skip || IsMark(name) || !value.is_string()) continue;
    if (json::FindString(rendered, name) == value.get<std::string>()) continue;
    out[name] = value.get<std::string>();
  }
  if (!out.empty()) block[key] = std::move(out);
}

void PutVariables(Block& block, const Json* runs, const Json* rendered,
                  std::initializer_list<std::string_view> skipped) {
  const Json* env = json::Find(runs, "env");
  if (!json::IsArray(env)) return;
  Block out = Block::object();
  for (const Json& each : *env) {
    const std::string name = json::TextAt(each, {"name"});
    if (std::find(skipped.begin(), skipped.end(), name) != skipped.end()) continue;
    if (Named(env, name) != &each) continue;  // a later one counts
    const auto text = VariableText(runs, name);
    if (!text || VariableText(rendered, name) == text || !IsVariableName(name)) continue;
    out[name] = *text;
  }
  if (!out.empty()) block["env_vars"] = std::move(out);
}

namespace {

constexpr const char* kPatchDirective = "$patch";

template <typename List>
bool Holds(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Objects of which one member excludes the others.
constexpr std::string_view kOneMemberOnly[] = {
    "livenessProbe",  "readinessProbe", "startupProbe", "lifecycle", "strategy",
    "updateStrategy", "volumes",        "env",          "envFrom"};
// What mindgate may add to what runs.
constexpr std::string_view kMayBeAdded[] = {"labels",        "annotations", "minReplicas",
                                            "maxReplicas",   "replicas",    "podGroupSize",
                                            "readinessProbe"};

class PatchWriter {
 public:
  explicit PatchWriter(std::string kind) : kind_(std::move(kind)) {}

  // What to merge into `ours`; empty: nothing.
  Json Objects(std::string_view holder, const Json& ours, const Json& runs) const {
    Json patch = Json::object();
    for (const auto& [key, value] : runs.items()) {
      const auto other = ours.find(key);
      if (other == ours.end()) {
        if (!MeansAbsent(holder, key, value, runs) && !IsOnPurpose(holder, key, value)) {
          patch[key] = value;
        }
      } else if (!IsOnPurpose(holder, key, value) && !IsSameAmount(holder, *other, value) &&
                 !MeansTheSame(key, *other, value)) {
        Json change = Values(key, *other, value);
        if (!change.empty()) patch[key] = std::move(change);
      }
    }
    for (const auto& [key, value] : ours.items()) {
      if (runs.contains(key) || MeansAbsent(holder, key, value, ours)) continue;
      if (IsRemovable(holder, key)) patch[key] = nullptr;
    }
    return patch;
  }

 private:
  static bool IsSameAmount(std::string_view holder, const Json& ours, const Json& runs) {
    return (holder == "requests" || holder == "limits") &&
           MeansTheSame("resources", {{"limits", {{"x", ours}}}}, {{"limits", {{"x", runs}}}});
  }

  // An empty list or object when nothing is to be kept. Scalars are never empty.
  Json Values(const std::string& key, const Json& ours, const Json& runs) const {
    if (ours.is_object() && runs.is_object()) {
      return Holds(kOneMemberOnly, key) ? Replaced(runs) : Objects(key, ours, runs);
    }
    if (!ours.is_array() || !runs.is_array()) return runs;
    const std::string name(MergeKeyOf(key, ours, runs));
    if (name.empty()) return runs;
    Json patch = Lists(key, name, ours, runs);
    if (key == "env") KeepOrder(ours, runs, patch);
    return patch;
  }

  static Json Replaced(Json value) {
    value[kPatchDirective] = "replace";
    return value;
  }

  Json Lists(const std::string& list, const std::string& key, const Json& ours,
             const Json& runs) const {
    Json patch = Json::array();
    for (const Json& item : runs) {
      const Json* same = WithKey(ours, key, item.at(key));
      // Where two variables have a name, the later one counts.
      if (WithKey(runs, key, item.at(key)) != &item || IsItemOnPurpose(list, item)) continue;
      if (same == nullptr) {
        patch.push_back(item);
      } else if (!MeansTheSame(list, *same, item)) {
        if (Holds(kOneMemberOnly, list)) {
          patch.push_back(Replaced(item));
          continue;
        }
        Json change = Objects(list, *same, item);
        if (change.empty()) continue;
        change[key] = item.at(key);
        patch.push_back(std::move(change));
      }
    }
    for (const Json& item : ours) {
      if (WithKey(runs, key, item.at(key)) != nullptr || IsItemOnPurpose(list, item)) continue;
      patch.push_back({{key, item.at(key)}, {kPatchDirective, "delete"}});
    }
    return patch;
  }

  static const Json* WithKey(const Json& list, const std::string& key, const Json& value) {
    const auto found = std::find_if(list.rbegin(), list.rend(),
                                    [&](const Json& item) { return item.at(key) == value; });
    return found == list.rend() ? nullptr : &*found;
  }

  // Items that a patch adds stand last, and a variable sees those before it only: from the first
  // one on that refers to a later one, all are added again, in the order in which they run.
  static void KeepOrder(const Json& ours, const Json& runs, Json& patch) {
    std::set<std::string> added;
    for (const Json& item : patch) {
      const std::string name = json::TextAt(item, {"name"});
      if (WithKey(ours, "name", name) == nullptr) added.insert(name);
    }
    bool moves = false;
    for (const Json& item : runs) {
      const std::string name = json::TextAt(item, {"name"});
      if (WithKey(runs, "name", name) != &item) continue;
      const std::string text = json::TextAt(item, {"value"});
      moves = moves || (!added.contains(name) &&
                        std::any_of(added.begin(), added.end(), [&text](const std::string& each) {
                          return text.find("$(" + each + ")") != std::string::npos;
                        }));
      if (!moves || added.contains(name)) continue;
      patch.erase(std::remove_if(patch.begin(), patch.end(),
                                 [&name](const Json& each) { return each.at("name") == name; }),
                  patch.end());
      patch.push_back({{"name", name}, {kPatchDirective, "delete"}});
      patch.push_back(item);
    }
  }

  bool IsStore() const { return kind_ == "Deployment"; }

  bool IsOnPurpose(std::string_view holder, std::string_view key, const Json& value) const {
    if ((holder == "labels" || holder == "annotations") && IsMark(key)) return true;
    if (holder == "annotations" && key == schemas::kMinAvailable) return true;
    if (!IsStore()) return false;
    if (holder == "spec" && key == "replicas") return true;
    return key.ends_with("Probe") && value.is_object() && value.contains("httpGet");
  }

  bool IsItemOnPurpose(std::string_view list, const Json& item) const {
    return IsStore() && list == "env" && json::FindString(item, "name") == "MF_STORE_PORT";
  }

  bool IsRemovable(std::string_view holder, std::string_view key) const {
    if (holder == "labels" || holder == "annotations" || Holds(kMayBeAdded, key)) return false;
    // The router of AIBrix has a readiness probe, and a port for it.
    return !(kind_ == "StormService" && key == "ports");
  }

  std::string kind_;
};

// Whether all objects of the kind that are rendered have this very patch.
bool IsOfWholeKind(const Json& patches, const Json& patch,
                   const std::vector<RenderedObject>& rendered) {
  const auto objects = std::count_if(
      rendered.begin(), rendered.end(),
      [&patch](const RenderedObject& each) { return patch.at("kind") == each.Kind(); });
  const auto same = std::count_if(patches.begin(), patches.end(), [&patch](const Json& each) {
    return each.at("kind") == patch.at("kind") && each.at("patch") == patch.at("patch");
  });
  return objects > 1 && same == objects;
}

}  // namespace

Json PatchesToward(const FoundApplication& found, const std::vector<RenderedObject>& rendered) {
  Json patches = Json::array();
  for (const RenderedObject& each : rendered) {
    const Json* runs = found.Object(each.Title());
    if (runs == nullptr) continue;
    Json body = PatchWriter(each.Kind()).Objects("", Essence(each.object), Essence(*runs));
    if (body.empty()) continue;
    patches.push_back({{"kind", each.Kind()}, {"name", each.Name()}, {"patch", std::move(body)}});
  }
  Json short_list = Json::array();
  std::set<std::string> whole_kinds;
  for (const Json& patch : patches) {
    if (!IsOfWholeKind(patches, patch, rendered)) {
      short_list.push_back(patch);
    } else if (whole_kinds.insert(patch.at("kind")).second) {
      short_list.push_back({{"kind", patch.at("kind")}, {"patch", patch.at("patch")}});
    }
  }
  return short_list;
}

}  // namespace mindgate::deploy
