#include "watcher/rescheduling/state_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;

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
    // What is broken is begun anew: budgets are refilled, as they are when Volcano restarts.
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
