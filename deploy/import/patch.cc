#include "deploy/import/patch.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "deploy/cluster.h"
#include "deploy/import/changes.h"
#include "deploy/import/read.h"
#include "deploy/labels.h"
#include "deploy/patches.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

using json::Json;

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
constexpr std::string_view kMarks[] = {kManagedBy, kInstance, kFrameworkLabel, kApplication};

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
    if ((holder == "labels" || holder == "annotations") && Holds(kMarks, key)) return true;
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
