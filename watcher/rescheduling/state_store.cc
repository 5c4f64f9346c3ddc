#include "watcher/rescheduling/state_store.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "json/decode.h"
#include "json/text_at.h"

namespace mindgate::watcher::rescheduling {

using json::Json;

kube::Answer<void> StateStore::Load(LeaderClient& client) {
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
  std::string text;
  if (!ns_.empty()) {
    const auto answer = client.Get(kube::resources::kConfigMaps, ns_, name_);
    if (!answer && answer.error().reason != kube::Reason::kNotFound) {
      return tl::make_unexpected(answer.error());
    }
    if (answer) text = json::TextAt(*answer, {"data", kKey});
    // What is broken is begun anew: budgets are refilled, as they are when Volcano restarts.
    if (const auto document = json::Document::Decode(text)) states = Decode(document->root());
  }
  const MutexLock lock(mutex_);
  states_ = std::move(states);
  written_ = std::move(text);
  loaded_ = term;
  return {};
}

JobState StateStore::Get(const JobKey& job) const {
  const MutexLock lock(mutex_);
  const auto found = states_.find(job);
  return found == states_.end() ? JobState() : found->second;
}

void StateStore::Set(const JobKey& job, JobState state) {
  const MutexLock lock(mutex_);
  if (state.IsEmpty() && state.seen.empty()) {
    states_.erase(job);
  } else {
    states_[job] = std::move(state);
  }
}

kube::Answer<void> StateStore::Save(LeaderClient& client, const JobKey& job, JobState state) {
  Set(job, std::move(state));
  if (ns_.empty()) return {};
  const MutexLock one_at_a_time(writing_);
  std::string text;
  {
    const MutexLock lock(mutex_);
    const Json encoded = Encode(states_, kMaxJobs);
    text = encoded.dump();
    if (text == written_ || (written_.empty() && encoded["jobs"].empty())) return {};
  }
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", name_}, {"namespace", ns_}}},
                       {"data", {{std::string(kKey), text}}}};
  const auto answer = client.Apply(kube::resources::kConfigMaps, ns_, name_, object, true,
                                   {.field_manager = "mindgate-rescheduling"});
  if (!answer) return tl::make_unexpected(answer.error());
  const MutexLock lock(mutex_);
  written_ = std::move(text);
  return {};
}

void StateStore::Keep(const std::function<bool(const JobKey&)>& exists) {
  const MutexLock lock(mutex_);
  std::erase_if(states_, [&](const auto& entry) { return !exists(entry.first); });
}

}  // namespace mindgate::watcher::rescheduling
