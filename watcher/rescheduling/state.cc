#include "watcher/rescheduling/state.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
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

void SpentBudget::Add(const std::string& ns, Time now) {
  times_[ns].push_back(now);
  for (auto& [name, times] : times_) {
    std::erase_if(times, [&](Time at) { return at + std::chrono::minutes(1) <= now; });
  }
  std::erase_if(times_, [](const auto& of) { return of.second.empty(); });
}

void SpentBudget::TakeBack(const std::string& ns) {
  const auto found = times_.find(ns);
  if (found == times_.end()) return;
  found->second.pop_back();
  if (found->second.empty()) times_.erase(found);
}

Json SpentBudget::Encode() const {
  Json object = Json::object();
  for (const auto& [ns, times] : times_) {
    for (const Time at : times) object[ns].push_back(FormatTime(at));
  }
  return object;
}

SpentBudget SpentBudget::Decode(const json::Value* object, Time now) {
  SpentBudget spent;
  if (!json::IsObject(object)) return spent;
  size_t count = 0;
  Time newest{};
  for (const auto& [ns, times] : object->members()) {
    if (!json::IsArray(&times)) continue;
    for (const json::Value& each : times) {
      const auto at = ParseTimestamp(json::AsString(&each).value_or(""));
      if (!at || ++count > kMost) continue;
      newest = std::max(newest, *at);
      spent.times_[std::string(ns)].push_back(*at);
    }
  }
  for (auto& [ns, times] : spent.times_) {
    for (Time& at : times) at = now - (newest - at);
    std::sort(times.begin(), times.end());
  }
  return spent;
}

namespace {

constexpr std::string_view kBegin = R"({"jobs":[)";
constexpr std::string_view kEnd = "]";

// Empty: nothing of it would be missed.
std::string TextOf(const JobKey& job, const JobState& state) {
  const Json encoded = Encode({{job, state}}, 1);
  return encoded["jobs"].empty() ? "" : encoded["jobs"][0].dump();
}

std::string BoundedTextOf(const JobKey& job, const JobState& state) {
  std::string text = TextOf(job, state);
  if (text.size() <= StateStore::kMaxJobBytes) return text;
  JobState shorter = state;
  if (shorter.restart) {
    shorter.restart->chosen.pods.clear();
    shorter.restart->racks.clear();
    shorter.restart->super_pods.clear();
  }
  text = TextOf(job, shorter);
  return text.size() <= StateStore::kMaxJobBytes ? text : "";
}

}  // namespace

void StateStore::Put(const JobKey& job, JobState state) {
  const Time restarted = state.restarted.value_or(Time{});
  std::string text = ns_.empty() || state.IsEmpty() ? "" : BoundedTextOf(job, state);
  const auto entry = entries_.find(job);
  if (text != (entry == entries_.end() ? std::string_view() : entry->second.text)) {
    ++version_;
    if (text.empty()) {
      entries_.erase(entry);
    } else {
      entries_.insert_or_assign(job, Entry{restarted, std::move(text)});
    }
  }
  if (state.IsEmpty() && state.seen.empty()) {
    states_.erase(job);
  } else {
    states_.insert_or_assign(job, std::move(state));
  }
}

void StateStore::Drop(const JobKey& job) {
  states_.erase(job);
  if (entries_.erase(job) > 0) ++version_;
}

// By namespace and name, as Encode writes them.
std::string StateStore::Text() const {
  const std::string spent = spent_.empty() ? "}" : R"(,"spent":)" + spent_.Encode().dump() + "}";
  size_t size = kBegin.size() + kEnd.size() + spent.size();
  std::vector<std::pair<Time, const JobKey*>> oldest;
  for (const auto& [job, entry] : entries_) {
    size += entry.text.size() + 1;
    oldest.emplace_back(entry.restarted, &job);
  }
  std::set<const JobKey*> left_out;
  if (size > kMaxBytes) {
    std::sort(oldest.begin(), oldest.end());
    for (const auto& [restarted, job] : oldest) {
      if (size <= kMaxBytes) break;
      size -= entries_.at(*job).text.size() + 1;
      left_out.insert(job);
    }
  }
  // In one piece: this may be written for each restart of a storm, by any worker.
  std::string text;
  text.reserve(size);
  text = kBegin;
  for (const auto& [job, entry] : entries_) {
    if (left_out.contains(&job)) continue;
    if (text.size() > kBegin.size()) text += ',';
    text += entry.text;
  }
  text.append(kEnd).append(spent);
  return text;
}

kube::Answer<void> StateStore::Load(LeaderClient& client, Time now, const Exists& exists) {
  const Time term = client.term().since();
  {
    const MutexLock lock(mutex_);
    if (loaded_ == term) return {};
  }
  const MutexLock one_at_a_time(writing_);
  {
    const MutexLock lock(mutex_);
    if (loaded_ == term) return {};
  }
  JobStates states;
  SpentBudget spent;
  if (!ns_.empty()) {
    const auto answer = client.Get(kube::resources::kConfigMaps, ns_, name_);
    if (!answer && answer.error().reason != kube::Reason::kNotFound) {
      return tl::make_unexpected(answer.error());
    }
    const std::string text = answer ? json::TextAt(*answer, {"data", kKey}) : "";
    // What is broken begins again: budgets are refilled, as they are when Volcano restarts.
    if (const auto document = json::Document::Decode(text)) {
      states = Decode(document->root(), now);
      spent = SpentBudget::Decode(json::Find(document->root(), "spent"), now);
    }
  }
  std::vector<JobKey> gone;
  for (const auto& [job, state] : states) {
    if (exists && !exists(job)) gone.push_back(job);
  }
  const MutexLock lock(mutex_);
  states_.clear();
  entries_.clear();
  spent_ = std::move(spent);
  for (auto& [job, state] : states) Put(job, std::move(state));
  written_ = version_;
  for (const JobKey& job : gone) Drop(job);
  loaded_ = term;
  return {};
}

JobState StateStore::Get(const JobKey& job) const {
  const MutexLock lock(mutex_);
  const auto found = states_.find(job);
  return found == states_.end() ? JobState() : found->second;
}

SpentBudget StateStore::spent() const {
  const MutexLock lock(mutex_);
  return spent_;
}

void StateStore::Set(const JobKey& job, JobState state) {
  const MutexLock lock(mutex_);
  Put(job, std::move(state));
}

void StateStore::TakeBack(const JobKey& job, JobState before, bool spent) {
  const MutexLock lock(mutex_);
  Put(job, std::move(before));
  if (!spent) return;
  spent_.TakeBack(job.ns);
  ++version_;
}

kube::Answer<void> StateStore::Save(LeaderClient& client, const JobKey& job, JobState state,
                                    std::optional<Time> spends) {
  {
    const MutexLock lock(mutex_);
    if (spends) {
      spent_.Add(job.ns, *spends);
      ++version_;
    }
    Put(job, std::move(state));
    if (written_ == version_ || ns_.empty()) return {};
  }
  const MutexLock one_at_a_time(writing_);
  std::string text;
  uint64_t version = 0;
  {
    const MutexLock lock(mutex_);
    if (written_ == version_) return {};  // somebody else's write had it
    text = Text();
    version = version_;
  }
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", name_}, {"namespace", ns_}}},
                       {"data", {{std::string(kKey), std::move(text)}}}};
  const auto answer = client.Apply(kube::resources::kConfigMaps, ns_, name_, object, true,
                                   {.field_manager = "mindgate-rescheduling"});
  if (!answer) return tl::make_unexpected(answer.error());
  const MutexLock lock(mutex_);
  written_ = std::max(written_, version);
  return {};
}

void StateStore::Keep(const Exists& exists) {
  const MutexLock lock(mutex_);
  std::vector<JobKey> gone;
  for (const auto& [job, state] : states_) {
    if (!exists(job)) gone.push_back(job);
  }
  for (const JobKey& job : gone) Drop(job);
}

}  // namespace mindgate::watcher::rescheduling
