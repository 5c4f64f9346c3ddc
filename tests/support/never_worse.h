#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admit.h"
#include "policies/engine.h"
#include "schemas/request.h"

// With mindgate nothing becomes impossible that was possible without it: what is stored can be sent
// again as it was sent, and changed elsewhere, whatever is wrong with it. For tables, samples and
// properties.
namespace mindgate::testing {

// Every rule denies, as strictly as any configuration can ask for.
inline schemas::Config EverythingEnforced(schemas::Config config = {}) {
  for (const policies::Rule* rule : policies::Catalogue()) {
    config.rules[std::string(rule->id)] = schemas::Mode::kEnforce;
  }
  return config;
}

// A small change that its author means.
struct SmallChange {
  enum class Of { kMetadata, kCount, kTemplate };

  std::string_view name;
  json::Json::json_pointer path;
  json::Json value;
  Of of = Of::kMetadata;

  void Apply(json::Json& object) const { object[path] = value; }
};

namespace internal {

// The place of the first member `key` below a value that `fits`; nothing when there is none.
inline std::optional<json::Json::json_pointer> FirstNamed(const json::Json& value,
                                                          std::string_view key,
                                                          bool (*fits)(const json::Json&),
                                                          const json::Json::json_pointer& at) {
  if (!value.is_structured()) return std::nullopt;
  for (const auto& [name, member] : value.items()) {
    const auto place = value.is_array() ? at / std::stoul(name) : at / name;
    if (value.is_object() && name == key && fits(member)) return place;
    if (const auto found = FirstNamed(member, key, fits, place)) return found;
  }
  return std::nullopt;
}

inline bool IsCount(const json::Json& value) {
  return value.is_number_integer() && value > 0 && value < 1000;
}
inline bool IsText(const json::Json& value) { return value.is_string(); }

inline void AddMetadataChanges(const json::Json& object, std::vector<SmallChange>& changes) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return;
  const json::Json::json_pointer at("/metadata");
  for (const char* map : {"labels", "annotations"}) {
    const auto found = metadata->find(map);
    if (found != metadata->end() && !found->is_object()) continue;
    changes.push_back({map, at / map / "example.com~note", "x"});
  }
  if (!metadata->contains("finalizers")) {
    changes.push_back({"finalizers", at / "finalizers", {"example.com/keep"}});
  }
}

}  // namespace internal

// Changes of metadata, of a number of pods and, where it is not frozen, of an image.
inline std::vector<SmallChange> SmallChanges(const json::Json& object, bool frozen) {
  std::vector<SmallChange> changes = {
      {"nothing", json::Json::json_pointer("/kind"), object["kind"]}};
  internal::AddMetadataChanges(object, changes);
  const auto spec = object.find("spec");
  if (spec == object.end()) return changes;
  const json::Json::json_pointer at("/spec");
  for (const char* key : {"replicas", "minReplicas", "parallelism"}) {
    if (const auto place = internal::FirstNamed(*spec, key, internal::IsCount, at)) {
      changes.push_back({key, *place, object[*place].get<int64_t>() + 1, SmallChange::Of::kCount});
    }
  }
  if (frozen) return changes;
  if (const auto place = internal::FirstNamed(*spec, "image", internal::IsText, at)) {
    changes.push_back(
        {"image", *place, object[*place].get<std::string>() + "-next", SmallChange::Of::kTemplate});
  }
  return changes;
}

namespace internal {

struct Trial {
  const json::Json& stored;
  const json::Json& sent;
  const json::Json& want;  // null: whatever is written
  std::string title;
};

// Whether the object breaks the rule as it is stored.
inline bool IsBroken(const policies::Rule* rule, schemas::AdmissionRequest request,
                     const schemas::Config& config) {
  request.object = request.old_object;
  const auto findings = admission::Admit(request, config, {.mutate = false}).findings;
  return std::any_of(findings.begin(), findings.end(),
                     [rule](const policies::Finding& finding) { return finding.rule == rule; });
}

// An update may be refused for what it changes itself: a number of pods that breaks a rule which
// the stored object keeps.
inline bool MayDeny(const policies::Finding& finding, const SmallChange& change,
                    const schemas::AdmissionRequest& request, const schemas::Config& config) {
  const std::string place = change.path.to_string();
  if (finding.path == place || place.starts_with(finding.path + "/")) return true;
  return change.of == SmallChange::Of::kCount && !IsBroken(finding.rule, request, config);
}

inline void Try(const Trial& trial, const SmallChange& change, schemas::AdmissionRequest request,
                const schemas::Config& config, std::vector<std::string>& worse) {
  const json::Document stored(trial.stored);
  const json::Document sent(trial.sent);
  request.operation = schemas::Operation::kUpdate;
  request.object = &sent.root();
  request.old_object = &stored.root();
  const admission::Verdict verdict = admission::Admit(request, config);
  for (const policies::Finding& finding : verdict.findings) {
    if (verdict.outcome != admission::Outcome::kDenied) break;
    if (finding.mode != schemas::Mode::kEnforce) continue;
    if (MayDeny(finding, change, request, config)) continue;
    worse.push_back(trial.title + " is denied by " +
                    (finding.rule == nullptr ? "-" : std::string(finding.rule->id)) + " at " +
                    finding.path + ": " + finding.message);
  }
  if (trial.want.is_null()) return;
  const json::Json after = verdict.mutated ? json::TreeOf(verdict.mutated->root()) : trial.sent;
  if (after == trial.want) return;
  worse.push_back(trial.title +
                  " becomes something else: " + json::Json::diff(trial.want, after).dump());
}

// An amount of NPUs under limits, and its twin under requests.
struct NpuAmount {
  json::Json::json_pointer limit;
  json::Json::json_pointer request;
};

inline std::optional<NpuAmount> FirstNpuAmount(const json::Json& object) {
  constexpr auto kHasNpus = [](const json::Json& limits) {
    return limits.is_object() &&
           std::any_of(limits.items().begin(), limits.items().end(), [](const auto& entry) {
             return entry.key() == "huawei.com/Ascend910" && IsCount(entry.value());
           });
  };
  const auto limits = FirstNamed(object, "limits", kHasNpus, json::Json::json_pointer());
  if (!limits) return std::nullopt;
  const auto amount = [&](const char* of) {
    return limits->parent_pointer() / of / std::string("huawei.com/Ascend910");
  };
  return NpuAmount{amount("limits"), amount("requests")};
}

// A client that merges a manifest of which only limits name NPUs, with another amount there now:
// what was injected beside the limits is in the update as it was.
inline void TryMergedAmount(const json::Json& original, const json::Json& created,
                            const schemas::AdmissionRequest& request, const schemas::Config& config,
                            std::vector<std::string>& worse) {
  const auto npus = FirstNpuAmount(original);
  if (!npus || original.contains(npus->request) || !created.contains(npus->request)) return;
  const SmallChange change = {"NPUs", npus->limit, original[npus->limit].get<int64_t>() + 8,
                              SmallChange::Of::kCount};
  json::Json sent = created;
  change.Apply(sent);
  json::Json want = sent;
  want[npus->request] = change.value;
  Try({created, sent, want, "another amount of NPUs, merged"}, change, request, config, worse);
}

}  // namespace internal

// Updates that would be refused, or that come out as something else than what is stored with the
// change in it. `request` has everything but the objects.
inline std::vector<std::string> WorseUpdates(const json::Json& original,
                                             schemas::AdmissionRequest request,
                                             const schemas::Config& config) {
  std::vector<std::string> worse;
  const json::Document document(original);
  const auto kind = schemas::KindOf(document.root());
  if (!kind) return worse;
  request.operation = schemas::Operation::kCreate;
  request.object = &document.root();
  const auto made = admission::Admit(request, config, {.evaluate = false});
  const json::Json created = made.mutated ? json::TreeOf(made.mutated->root()) : original;
  const json::Json any;
  if (!schemas::InfoOf(*kind).template_frozen) {
    internal::TryMergedAmount(original, created, request, config, worse);
  }
  for (const SmallChange& change : SmallChanges(original, schemas::InfoOf(*kind).template_frozen)) {
    const std::string name(change.name);
    const auto with = [&change](json::Json object) {
      change.Apply(object);
      return object;
    };
    const json::Json manifest = with(original);
    const json::Json changed = with(created);
    internal::Try({created, manifest, changed, name + ", sent as the manifest"}, change, request,
                  config, worse);
    internal::Try({created, changed, changed, name + ", by a controller"}, change, request, config,
                  worse);
    const bool injects = change.of == SmallChange::Of::kTemplate;
    internal::Try({original, manifest, injects ? any : manifest,
                   name + ", of what was stored without mindgate"},
                  change, request, config, worse);
  }
  return worse;
}

}  // namespace mindgate::testing
