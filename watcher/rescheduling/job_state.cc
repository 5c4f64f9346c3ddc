#include "watcher/rescheduling/job_state.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using json::Value;

constexpr std::array<std::string_view, 4> kEscalations = {"faultyPods", "racks", "superPods",
                                                          "wholeJob"};

// What the next leader knows. A job of hundreds of pods mostly goes as a whole or in blocks, which
// takes one word; of single pods that hang after their fault went away, more than these are left to
// their kubelets. Of blocks fewer than there were means that less goes, and the whole job later.
constexpr size_t kMostPods = 6;
constexpr size_t kMostBlocks = 8;
// The pod that was seen first decides when the time of others is over.
constexpr size_t kMostSeen = 1;

std::optional<Time> TimeAt(const Value& object, std::string_view key, Time now = Time::max()) {
  const auto time = ParseTimestamp(json::TextAt(object, {key}));
  return time ? std::optional(std::min(*time, now)) : std::nullopt;
}

int64_t CountAt(const Value& object, std::string_view key) {
  return std::max<int64_t>(0, json::AsInt(json::Find(object, key)).value_or(0));
}

FaultType FaultTypeOf(const std::string& name) {
  for (const FaultType type :
       {FaultType::kNodeUnhealthy, FaultType::kCardUnhealthy, FaultType::kPodFailed,
        FaultType::kRelationFault, FaultType::kSubHealthFault}) {
    if (FaultTypeName(type) == name) return type;
  }
  return FaultType::kHealthy;
}

std::string_view NameOf(Escalation scope) { return kEscalations[static_cast<size_t>(scope)]; }

std::optional<Escalation> EscalationAt(const Value& object, std::string_view key) {
  const auto found =
      std::find(kEscalations.begin(), kEscalations.end(), json::TextAt(object, {key}));
  if (found == kEscalations.end()) return std::nullopt;
  return static_cast<Escalation>(found - kEscalations.begin());
}

template <typename Set>
void PutSome(const Set& all, size_t most, const char* key, Json& object) {
  if (all.empty()) return;
  Json some = Json::array();
  for (const auto& each : all) {
    if (some.size() == most) break;
    some.push_back(each);
  }
  object[key] = std::move(some);
}

std::set<int64_t> BlocksAt(const Value& object, std::string_view key) {
  std::set<int64_t> blocks;
  const Value* list = json::Find(object, key);
  if (!json::IsArray(list)) return blocks;
  for (const Value& each : *list) {
    if (blocks.size() == kMostBlocks) break;
    if (const auto id = json::AsInt(&each)) blocks.insert(*id);
  }
  return blocks;
}

Json EncodeSeen(const std::map<std::string, Time>& seen) {
  std::vector<std::pair<Time, std::string>> first;
  for (const auto& [pod, since] : seen) first.emplace_back(since, pod);
  std::sort(first.begin(), first.end());
  Json object = Json::object();
  for (const auto& [since, pod] : first) {
    if (object.size() == kMostSeen) break;
    object[pod] = FormatTime(since);
  }
  return object;
}

Seen DecodeSeen(const Value* object, Time now) {
  Seen seen;
  if (!json::IsObject(object)) return seen;
  for (const auto& [pod, since] : object->members()) {
    const auto time = ParseTimestamp(json::AsString(&since).value_or(""));
    if (time && seen.faulty.size() < kMostSeen) {
      seen.faulty.emplace(ShortUid(pod), std::min(*time, now));
    }
  }
  return seen;
}

Json EncodeRestart(const Restart& restart) {
  Json object = {{"since", FormatTime(restart.since)},
                 {"reason", FaultTypeName(restart.reason)},
                 {"scope", NameOf(restart.escalation)}};
  if (restart.by_force) object["force"] = true;
  if (restart.finished) object["finished"] = FormatTime(*restart.finished);
  if (restart.chosen.all) object["all"] = NameOf(*restart.chosen.all);
  PutSome(restart.chosen.pods, kMostPods, "pods", object);
  PutSome(restart.racks, kMostBlocks, "racks", object);
  PutSome(restart.super_pods, kMostBlocks, "superPods", object);
  return object;
}

std::optional<Restart> DecodeRestart(const Value* object, Time now) {
  if (object == nullptr) return std::nullopt;
  const auto since = TimeAt(*object, "since", now);
  if (!since) return std::nullopt;
  Restart restart{.since = *since,
                  .reason = FaultTypeOf(json::TextAt(*object, {"reason"})),
                  .by_force = json::AsBool(json::Find(*object, "force")).value_or(false),
                  .escalation = EscalationAt(*object, "scope").value_or(Escalation::kFaultyPods),
                  .racks = BlocksAt(*object, "racks"),
                  .super_pods = BlocksAt(*object, "superPods"),
                  .finished = TimeAt(*object, "finished", now),
                  .chosen = {.all = EscalationAt(*object, "all")},
                  .inherited = true};
  const Value* pods = json::Find(*object, "pods");
  if (json::IsArray(pods)) {
    for (const Value& each : *pods) {
      const auto pod = json::AsString(&each);
      if (!pod || pod->empty() || restart.chosen.pods.size() == kMostPods) continue;
      restart.chosen.pods.insert(ShortUid(*pod));
    }
  }
  return restart;
}

Json EncodeJob(const JobKey& job, const JobState& state) {
  Json object = {{"namespace", job.ns}, {"podGroup", job.pod_group}, {"uid", state.uid}};
  if (state.retries_used > 0) object["retriesUsed"] = state.retries_used;
  if (!state.retried_for.empty()) object["retriedFor"] = state.retried_for;
  if (state.futile_restarts > 0) object["inVain"] = state.futile_restarts;
  if (state.restarted) object["restarted"] = FormatTime(*state.restarted);
  if (state.youngest) object["youngest"] = FormatTime(*state.youngest);
  if (state.restart) object["restart"] = EncodeRestart(*state.restart);
  if (!state.seen.empty()) object["seen"] = EncodeSeen(state.seen.faulty);
  return object;
}

}  // namespace

// UIDs are ASCII, but what a person wrote into the ConfigMap need not be, and half a character
// could not be written again.
std::string ShortUid(std::string_view uid) { return Cut(std::string(uid.substr(0, 14)), 13); }

Json Encode(const JobStates& states, size_t max) {
  std::vector<const JobStates::value_type*> kept;
  for (const auto& entry : states) {
    if (!entry.second.IsEmpty()) kept.push_back(&entry);
  }
  if (kept.size() > max) {
    const auto newer = [](const auto* a, const auto* b) {
      return a->second.restarted.value_or(Time{}) > b->second.restarted.value_or(Time{});
    };
    std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(max), kept.end(),
                     newer);
    kept.resize(max);
    std::sort(kept.begin(), kept.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
  }
  Json jobs = Json::array();
  for (const auto* entry : kept) jobs.push_back(EncodeJob(entry->first, entry->second));
  return {{"jobs", std::move(jobs)}};
}

JobStates Decode(const Value& text, Time now) {
  JobStates states;
  const Value* jobs = json::Find(text, "jobs");
  if (!json::IsArray(jobs)) return states;
  for (const Value& object : *jobs) {
    const JobKey job{json::TextAt(object, {"namespace"}), json::TextAt(object, {"podGroup"})};
    JobState state{.uid = json::TextAt(object, {"uid"}),
                   .retries_used = CountAt(object, "retriesUsed"),
                   .retried_for = ShortUid(json::TextAt(object, {"retriedFor"})),
                   .futile_restarts = CountAt(object, "inVain"),
                   .restarted = TimeAt(object, "restarted", now),
                   .youngest = TimeAt(object, "youngest"),
                   .restart = DecodeRestart(json::Find(object, "restart"), now),
                   .seen = DecodeSeen(json::Find(object, "seen"), now)};
    if (job.ns.empty() || job.pod_group.empty() || state.uid.empty()) continue;
    states.insert_or_assign(job, std::move(state));
  }
  return states;
}

}  // namespace mindgate::watcher::rescheduling
