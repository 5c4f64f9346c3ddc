#include "watcher/rescheduling/job_state.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "json/text_at.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using json::Value;

constexpr std::array<std::string_view, 3> kEscalations = {"faultyPods", "superPods", "wholeJob"};

std::optional<Time> TimeAt(const Value& object, std::string_view key) {
  return ParseTimestamp(json::TextAt(object, {key}));
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

Json EncodeRestart(const Restart& restart) {
  Json object = {{"since", FormatTime(restart.since)},
                 {"reason", FaultTypeName(restart.reason)},
                 {"scope", kEscalations[static_cast<size_t>(restart.escalation)]}};
  if (restart.by_force) object["force"] = true;
  if (!restart.super_pods.empty()) object["superPods"] = restart.super_pods;
  return object;
}

std::optional<Restart> DecodeRestart(const Value* object) {
  if (object == nullptr) return std::nullopt;
  const auto since = TimeAt(*object, "since");
  if (!since) return std::nullopt;
  Restart restart{.since = *since, .reason = FaultTypeOf(json::TextAt(*object, {"reason"}))};
  const auto scope =
      std::find(kEscalations.begin(), kEscalations.end(), json::TextAt(*object, {"scope"}));
  if (scope != kEscalations.end()) {
    restart.escalation = static_cast<Escalation>(scope - kEscalations.begin());
  }
  restart.by_force = json::AsBool(json::Find(*object, "force")).value_or(false);
  const Value* super_pods = json::Find(*object, "superPods");
  if (json::IsArray(super_pods)) {
    for (const Value& each : *super_pods) {
      if (const auto id = json::AsInt(&each)) restart.super_pods.insert(*id);
    }
  }
  return restart;
}

Json EncodeJob(const JobKey& job, const JobState& state) {
  Json object = {{"namespace", job.ns}, {"podGroup", job.pod_group}, {"uid", state.uid}};
  if (state.retries_used > 0) object["retriesUsed"] = state.retries_used;
  if (!state.retried_for.empty()) object["retriedFor"] = state.retried_for;
  if (state.in_vain > 0) object["inVain"] = state.in_vain;
  if (state.restarted) object["restarted"] = FormatTime(*state.restarted);
  if (state.restart) object["restart"] = EncodeRestart(*state.restart);
  return object;
}

}  // namespace

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

JobStates Decode(const Value& text) {
  JobStates states;
  const Value* jobs = json::Find(text, "jobs");
  if (!json::IsArray(jobs)) return states;
  for (const Value& object : *jobs) {
    const JobKey job{json::TextAt(object, {"namespace"}), json::TextAt(object, {"podGroup"})};
    JobState state{.uid = json::TextAt(object, {"uid"}),
                   .retries_used = CountAt(object, "retriesUsed"),
                   .retried_for = json::TextAt(object, {"retriedFor"}),
                   .in_vain = CountAt(object, "inVain"),
                   .restarted = TimeAt(object, "restarted"),
                   .restart = DecodeRestart(json::Find(object, "restart"))};
    if (job.ns.empty() || job.pod_group.empty() || state.uid.empty()) continue;
    states.insert_or_assign(job, std::move(state));
  }
  return states;
}

}  // namespace mindgate::watcher::rescheduling
