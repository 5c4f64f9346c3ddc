#include "watcher/frame/disruption_limits.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher {

using Instant = DisruptionBudget::Instant;

namespace {

constexpr std::chrono::minutes kMinute{1};

// When `count` more are free of `most`; nothing: they are. With fewer allowed than before, older
// ones must run out first.
std::optional<Instant> RunsOut(const std::vector<Instant>& used, int64_t count, int64_t most) {
  const int64_t over = std::ssize(used) + count - most;
  if (over <= 0) return std::nullopt;
  return used[static_cast<size_t>(over - 1)] + kMinute;
}

}  // namespace

std::optional<Instant> DisruptionBudget::Take(const std::string& ns, int64_t per_minute,
                                              Instant now, int64_t count) {
  const MutexLock lock(mutex_);
  const auto free_at = FreeAt(ns, per_minute, now, count);
  if (free_at) return free_at;
  for (int64_t i = 0; i < count; ++i) taken_.push_back({now, ns});
  std::erase_if(served_, [&](const auto& served) { return served.second + kRemembered <= now; });
  served_[ns] = now;
  std::erase_if(waiting_, [&](const Waiting& one) { return one.ns == ns; });
  return std::nullopt;
}

std::optional<Instant> DisruptionBudget::Ask(const std::string& ns, int64_t per_minute, Instant now,
                                             int64_t count) {
  const MutexLock lock(mutex_);
  const auto free_at = FreeAt(ns, per_minute, now, count);
  const auto place = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& one) { return one.ns == ns; });
  if (!free_at && place != waiting_.end()) place->until = now + kPatience;  // it came for it
  return free_at;
}

void DisruptionBudget::GiveBack(const std::string& ns, int64_t count) {
  const MutexLock lock(mutex_);
  for (; count > 0; --count) {
    const auto newest = std::find_if(taken_.rbegin(), taken_.rend(),
                                     [&](const Taken& taken) { return taken.ns == ns; });
    if (newest == taken_.rend()) return;
    taken_.erase(std::next(newest).base());
  }
}

void DisruptionBudget::Inherit(const std::string& ns, const std::vector<Instant>& taken) {
  const MutexLock lock(mutex_);
  std::vector<Instant> known;
  for (const Taken& one : taken_) {
    if (one.ns == ns) known.push_back(one.when);
  }
  // The newest of both may be the same, or one that only one of them knows of.
  std::vector<Instant> all(std::max(known.size(), taken.size()), Instant::min());
  std::copy(known.rbegin(), known.rend(), all.begin());
  std::transform(taken.rbegin(), taken.rend(), all.begin(), all.begin(),
                 [](Instant a, Instant b) { return std::max(a, b); });
  std::erase_if(taken_, [&](const Taken& one) { return one.ns == ns; });
  for (const Instant when : all) taken_.push_back({when, ns});
  std::stable_sort(taken_.begin(), taken_.end(),
                   [](const Taken& a, const Taken& b) { return a.when < b.when; });
}

std::optional<Instant> DisruptionBudget::FreeAt(const std::string& ns, int64_t per_minute,
                                                Instant now, int64_t count) {
  while (!taken_.empty() && taken_.front().when + kMinute <= now) taken_.pop_front();
  std::erase_if(asked_, [&](const auto& asked) { return asked.second + kMinute <= now; });
  std::erase_if(waiting_, [&](const Waiting& one) { return one.until <= now; });
  asked_[ns] = now;
  if (per_minute < count) return now + kMinute;
  const auto sharers = std::max<int64_t>(2, std::ssize(asked_));
  const int64_t share = std::max(count, (per_minute + sharers - 1) / sharers);
  std::vector<Instant> own;
  std::vector<Instant> all;
  for (const Taken& taken : taken_) {
    all.push_back(taken.when);
    if (taken.ns == ns) own.push_back(taken.when);
  }
  const auto own_free = RunsOut(own, count, share);
  const auto all_free = RunsOut(all, count, per_minute);
  if (own_free || all_free) {
    const Instant at = std::max(own_free.value_or(now), all_free.value_or(now));
    Wait(ns, own_free.value_or(now), at + kPatience);
    return at;
  }
  if (std::ssize(taken_) + InFront(ns, now) + count <= per_minute) return std::nullopt;
  Wait(ns, now, now + kYield + kPatience);
  return now + kYield;
}

int64_t DisruptionBudget::InFront(const std::string& ns, Instant now) const {
  const Instant served = ServedLast(ns);
  int64_t count = 0;
  bool behind = false;  // those that asked later
  for (const Waiting& one : waiting_) {
    if (one.ns == ns) {
      behind = true;
    } else if (one.from <= now && (one.served < served || (one.served == served && !behind))) {
      ++count;
    }
  }
  return count;
}

Instant DisruptionBudget::ServedLast(const std::string& ns) const {
  const auto found = served_.find(ns);
  return found == served_.end() ? Instant::min() : found->second;
}

void DisruptionBudget::Wait(const std::string& ns, Instant from, Instant until) {
  const auto place = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& one) { return one.ns == ns; });
  if (place == waiting_.end()) {
    waiting_.push_back({ns, ServedLast(ns), from, until});
  } else {
    place->from = from;
    place->until = std::max(place->until, until);
  }
}

namespace {

using json::Value;
namespace resources = kube::resources;

// Pod, PodSet, RoleSet, StormService: no chain of owners that is known is longer.
constexpr int kMostOwners = 4;

struct OwnerRef {
  kube::Resource resource;
  std::string name;
  std::string uid;
};

// The controller of the object, where it may be read.
std::optional<OwnerRef> OwnerOf(const Value& object) {
  const Value* owner = schemas::ControllerOf(json::Find(object, "metadata"));
  if (owner == nullptr) return std::nullopt;
  const std::string api = json::TextAt(owner, {"apiVersion"});
  const std::string group(schemas::GroupOf(api));
  std::string version = api.substr(api.find('/') + 1);
  // The API server takes any text as the version of an owner.
  if (!kube::IsVersion(version)) return std::nullopt;
  const std::string kind = json::TextAt(owner, {"kind"});
  const schemas::KindInfo* known = schemas::FindKind(group, kind);
  if (known == nullptr || !known->may_disable_rescheduling) return std::nullopt;
  return OwnerRef{{group, std::move(version), std::string(known->plural), kind, true},
                  json::TextAt(owner, {"name"}),
                  json::TextAt(owner, {"uid"})};
}

OptOut Unreadable(const kube::Resource& resource, const std::string& name,
                  const kube::Fault& fault) {
  return {.why = resource.kind + " " + name + " cannot be read: " + fault.message,
          .unreadable = true};
}

const json::Projection& Fields() {
  static const json::Projection fields(OptOutFields());
  return fields;
}

}  // namespace

bool OptsOut(const Value& object) {
  for (const char* map : {"labels", "annotations"}) {
    if (json::TextAt(object, {"metadata", map, schemas::kRescheduling}) == "disabled") return true;
  }
  return false;
}

std::vector<json::Projection::Path> OptOutFields() {
  return {{"metadata", "labels", std::string(schemas::kRescheduling)},
          {"metadata", "annotations", std::string(schemas::kRescheduling)},
          {"metadata", "annotations", std::string(schemas::kPodGroupAnnotation)},
          {"metadata", "ownerReferences"}};
}

OptOut PauseOf(LeaderClient& client, const std::string& ns, const std::string& lease) {
  if (ns.empty() || lease.empty()) return {};
  static const json::Projection fields(
      {{"metadata", "annotations", std::string(schemas::kPauseRescheduling)}});
  const auto answer = client.Read(resources::kLeases, ns, lease, fields);
  if (!answer) {
    if (answer.error().reason == kube::Reason::kNotFound) return {};
    return Unreadable(resources::kLeases, ns + "/" + lease, answer.error());
  }
  if (json::TextAt(answer->root(), {"metadata", "annotations", schemas::kPauseRescheduling}) !=
      "true") {
    return {};
  }
  return {.why = "Lease " + ns + "/" + lease + " has the annotation " +
                 std::string(schemas::kPauseRescheduling)};
}

OptOut NamespaceOptOut(LeaderClient& client, const std::string& ns) {
  const auto answer = client.Read(resources::kNamespaces, "", ns, Fields());
  if (!answer) {
    if (answer.error().reason == kube::Reason::kNotFound) return {};
    return Unreadable(resources::kNamespaces, ns, answer.error());
  }
  if (!OptsOut(answer->root())) return {};
  return {.why = "mindgate.io/rescheduling is disabled on namespace " + ns};
}

OptOut DisabledByOwner(LeaderClient& client, const Value& object, const std::string& ns) {
  auto owner = OwnerOf(object);
  for (int i = 0; owner && i < kMostOwners; ++i) {
    const auto answer = client.Read(owner->resource, ns, owner->name, Fields());
    if (!answer) {
      const kube::Reason reason = answer.error().reason;
      if (reason == kube::Reason::kNotFound || reason == kube::Reason::kForbidden) return {};
      return Unreadable(owner->resource, ns + "/" + owner->name, answer.error());
    }
    const json::Document& document = *answer;
    // Another one of its name is not the owner.
    if (json::TextAt(document.root(), {"metadata", "uid"}) != owner->uid) return {};
    if (OptsOut(document.root())) {
      return {.why = "mindgate.io/rescheduling is disabled on " + owner->resource.kind + " " +
                     owner->name};
    }
    owner = OwnerOf(document.root());
  }
  return {};
}

OptOut DisabledFor(LeaderClient& client, const Value& pod, const std::string& ns) {
  if (OptsOut(pod)) {
    return {.why = "mindgate.io/rescheduling is disabled on pod " +
                   json::TextAt(pod, {"metadata", "name"})};
  }
  if (OptOut excluded = NamespaceOptOut(client, ns); !excluded.why.empty()) return excluded;
  const std::string group =
      json::TextAt(pod, {"metadata", "annotations", schemas::kPodGroupAnnotation});
  if (!group.empty()) {
    const auto answer = client.Read(resources::kPodGroups, ns, group, Fields());
    if (!answer && answer.error().reason != kube::Reason::kNotFound) {
      return Unreadable(resources::kPodGroups, ns + "/" + group, answer.error());
    }
    if (answer && OptsOut(answer->root())) {
      return {.why = "mindgate.io/rescheduling is disabled on PodGroup " + group};
    }
  }
  return DisabledByOwner(client, pod, ns);
}

}  // namespace mindgate::watcher
