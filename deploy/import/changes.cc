#include "deploy/import/changes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using json::Json;

// What a member has when nobody wrote it.
struct DefaultOf {
  std::string_view holder;  // empty: any
  std::string_view key;
  const char* value;  // JSON
};
constexpr DefaultOf kDefaults[] = {
    // A pod.
    {"spec", "restartPolicy", R"("Always")"},
    {"spec", "dnsPolicy", R"("ClusterFirst")"},
    {"spec", "schedulerName", R"("default-scheduler")"},
    {"spec", "terminationGracePeriodSeconds", "30"},
    {"spec", "enableServiceLinks", "true"},
    // A container.
    {"", "terminationMessagePath", R"("/dev/termination-log")"},
    {"", "terminationMessagePolicy", R"("File")"},
    {"ports", "protocol", R"("TCP")"},
    {"fieldRef", "apiVersion", R"("v1")"},
    {"livenessProbe", "timeoutSeconds", "1"},
    {"livenessProbe", "periodSeconds", "10"},
    {"livenessProbe", "successThreshold", "1"},
    {"livenessProbe", "failureThreshold", "3"},
    {"readinessProbe", "timeoutSeconds", "1"},
    {"readinessProbe", "periodSeconds", "10"},
    {"readinessProbe", "successThreshold", "1"},
    {"readinessProbe", "failureThreshold", "3"},
    {"startupProbe", "timeoutSeconds", "1"},
    {"startupProbe", "periodSeconds", "10"},
    {"startupProbe", "successThreshold", "1"},
    {"startupProbe", "failureThreshold", "3"},
    {"", "initialDelaySeconds", "0"},
    {"httpGet", "scheme", R"("HTTP")"},
    // A volume.
    {"hostPath", "type", R"("")"},
    {"configMap", "defaultMode", "420"},
    {"secret", "defaultMode", "420"},
    {"volumeMounts", "readOnly", "false"},
    {"tolerations", "operator", R"("Equal")"},
    // A Deployment.
    {"spec", "progressDeadlineSeconds", "600"},
    {"spec", "revisionHistoryLimit", "10"},
    {"spec", "strategy",
     R"({"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"})"},
    // A Service.
    {"spec", "ipFamilyPolicy", R"("SingleStack")"},
    {"spec", "internalTrafficPolicy", R"("Cluster")"},
    {"spec", "externalTrafficPolicy", R"("Cluster")"},
    {"spec", "sessionAffinity", R"("None")"},
    {"spec", "type", R"("ClusterIP")"},
};

constexpr std::string_view kOfOthers[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                          "deployment.kubernetes.io/revision",
                                          "ome.io/deploymentMode", "ome.io/deprecation-warning"};

bool IsResourceList(std::string_view holder) { return holder == "requests" || holder == "limits"; }

Json WithoutNulls(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& each : value) out.push_back(WithoutNulls(each));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, member] : value.items()) {
    if (!member.is_null()) out[key] = WithoutNulls(member);
  }
  return out;
}

// "latest" is pulled each time.
const char* PullPolicyOf(const Json& container) {
  const std::string image = json::TextAt(container, {"image"});
  const std::string_view name = std::string_view(image).substr(image.rfind('/') + 1);
  const size_t mark = name.find_first_of(":@");
  const bool latest = mark == std::string_view::npos || name.substr(mark) == ":latest";
  return latest ? "Always" : "IfNotPresent";
}

class Comparison {
 public:
  void Compare(std::string_view holder, const Json& before, const Json& after,
               const std::string& path) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) return CompareObjects(holder, before, after, path);
    if (before.is_array() && after.is_array()) return CompareLists(holder, before, after, path);
    changes_.push_back({path, before, after});
  }

  std::vector<FieldChange> Take() { return std::move(changes_); }

 private:
  void CompareObjects(std::string_view holder, const Json& before, const Json& after,
                      const std::string& path) {
    std::set<std::string> keys;
    for (const Json* each : {&before, &after}) {
      for (const auto& [key, value] : each->items()) keys.insert(key);
    }
    for (const std::string& key : keys) {
      const std::string below = Below(path, key);
      const auto was = before.find(key);
      const auto is = after.find(key);
      if (was == before.end() || is == after.end()) {
        const bool added = was == before.end();
        const Json& value = added ? *is : *was;
        if (MeansAbsent(holder, key, value, added ? after : before)) continue;
        // Each label is a change of its own, and so is each item of a list with keys.
        const bool divides = value.is_object() && !IsOneThing(key);
        if (divides) {
          Compare(key, added ? Json::object() : value, added ? value : Json::object(), below);
        } else {
          changes_.push_back({below, added ? Json() : value, added ? value : Json()});
        }
        continue;
      }
      const bool same_amount = IsResourceList(holder) && TextOfAmount(*was) == TextOfAmount(*is);
      if (!same_amount) Compare(key, *was, *is, below);
    }
  }

  // A volume or probe that comes or goes is read as a whole.
  static bool IsOneThing(std::string_view key) {
    return key != "labels" && key != "annotations" && key != "nodeSelector" && key != "metadata" &&
           key != "requests" && key != "limits" && key != "resources";
  }

  static std::string TextOfAmount(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  void CompareLists(std::string_view holder, const Json& before, const Json& after,
                    const std::string& path) {
    const std::string key(MergeKeyOf(holder, before, after));
    if (key.empty()) {
      Comparison items;
      for (size_t i = 0; before.size() == after.size() && i < before.size(); ++i) {
        items.Compare(holder, before[i], after[i], path);
      }
      if (before.size() != after.size() || !items.changes_.empty()) {
        changes_.push_back({path, before, after});
      }
      return;
    }
    for (const Json& item : before) {
      if (ItemOf(before, key, item.at(key)) != &item) continue;
      const Json* same = ItemOf(after, key, item.at(key));
      const std::string below = BelowItem(path, item.at(key));
      if (same == nullptr) {
        changes_.push_back({below, item, Json()});
      } else {
        Compare(holder, item, *same, below);
      }
    }
    for (const Json& item : after) {
      if (ItemOf(before, key, item.at(key)) != nullptr) continue;
      changes_.push_back({BelowItem(path, item.at(key)), Json(), item});
    }
    if (holder == "env") CompareOrder(before, after, path);
  }

  // The last one counts where there are two.
  static const Json* ItemOf(const Json& list, const std::string& key, const Json& value) {
    const auto found = std::find_if(list.rbegin(), list.rend(),
                                    [&](const Json& item) { return item.at(key) == value; });
    return found == list.rend() ? nullptr : &*found;
  }

  // A kubelet fills $(NAME) in with variables that stand before.
  void CompareOrder(const Json& before, const Json& after, const std::string& path) {
    const auto stands = [](const Json& list, const Json& name) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].at("name") == name) return static_cast<std::ptrdiff_t>(i);
      }
      return std::ptrdiff_t{-1};
    };
    for (const Json& item : before) {
      const std::string text = json::TextAt(item, {"value"});
      for (const Json& other : before) {
        const Json& name = other.at("name");
        if (!name.is_string() || item.at("name") == name) continue;
        if (text.find("$(" + name.get<std::string>() + ")") == std::string::npos) continue;
        const auto a = stands(after, item.at("name"));
        const auto b = stands(after, name);
        if (a < 0 || b < 0) continue;
        const bool was_first = stands(before, name) < stands(before, item.at("name"));
        if (was_first == (b < a)) continue;
        const std::string words = name.get<std::string>() + ", to which it refers";
        changes_.push_back({BelowItem(path, item.at("name")),
                            (was_first ? "stands after " : "stands before ") + words,
                            (was_first ? "stands before " : "stands after ") + words});
      }
    }
  }

  std::vector<FieldChange> changes_;
};

}  // namespace

bool MeansAbsent(std::string_view holder, std::string_view key, const Json& value,
                 const Json& siblings) {
  if (value.is_null()) return true;
  // Of a volume the empty object is its source.
  if (value.is_structured() && value.empty()) return key != "emptyDir";
  if (key == "imagePullPolicy") return value == PullPolicyOf(siblings);
  if (key == "targetPort") return holder == "ports" && value == siblings.value("port", Json());
  if (IsResourceList(holder)) return value == 0 || value == "0";
  // All amounts of it are none.
  if (value.is_object() && (key == "resources" || IsResourceList(key))) {
    for (const auto& [name, amount] : value.items()) {
      if (!MeansAbsent(key, name, amount, value)) return false;
    }
    return true;
  }
  return std::any_of(std::begin(kDefaults), std::end(kDefaults), [&](const DefaultOf& each) {
    return (each.holder.empty() || each.holder == holder) && each.key == key &&
           Json::parse(each.value) == value;
  });
}

bool MeansTheSame(std::string_view holder, const Json& before, const Json& after) {
  Comparison comparison;
  comparison.Compare(holder, before, after, "");
  return comparison.Take().empty();
}

std::string Below(const std::string& path, std::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  if (!plain) return path + "[" + std::string(key) + "]";
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string BelowItem(const std::string& path, const Json& key) {
  return path + "[" + (key.is_string() ? key.get<std::string>() : key.dump()) + "]";
}

Json Essence(const Json& object) {
  Json essence = WithoutNulls(object);
  Json metadata = Json::object();
  for (const char* map : {"labels", "annotations"}) {
    const Json* written = json::FindPath(essence, {"metadata", map});
    if (json::IsObject(written)) metadata[map] = *written;
  }
  if (metadata.contains("annotations")) {
    for (const std::string_view key : kOfOthers) metadata["annotations"].erase(std::string(key));
  }
  for (const char* member : {"apiVersion", "kind", "status"}) essence.erase(member);
  essence["metadata"] = std::move(metadata);
  if (json::TextAt(object, {"kind"}) == "Service" && json::IsObject(json::Find(essence, "spec"))) {
    Json& spec = essence["spec"];
    if (spec.value("clusterIP", Json()) != "None") {
      spec.erase("clusterIP");
      spec.erase("clusterIPs");
    }
    spec.erase("ipFamilies");
  }
  return essence;
}

std::vector<FieldChange> ChangesBetween(const Json& before, const Json& after) {
  Comparison comparison;
  comparison.Compare("", Essence(before), Essence(after), "");
  return comparison.Take();
}

}  // namespace mindgate::deploy
