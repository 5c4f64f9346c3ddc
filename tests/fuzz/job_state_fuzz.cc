// A byte that says how often, then any bytes as state.json, which the leader before left: no crash,
// no job that the text does not name, nothing longer than a job may take, and what is written of it
// is read again as it was, also through the store, whose text stays within a ConfigMap.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "fuzz/require.h"
#include "json/decode.h"
#include "json/value.h"
#include "watcher/rescheduling/state.h"

namespace {

using namespace mindgate;
using namespace mindgate::watcher::rescheduling;
using json::Json;
using testing::Require;

constexpr const char* kNs = "mindgate-system";
constexpr const char* kName = "mindgate-rescheduling";
constexpr size_t kMaxUid = 13;

// Of a job, without the texts that name it.
constexpr size_t kMaxOfJob = 1000;

// An API server with one object.
class OneObject final : public kube::Transport {
 public:
  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token) override {
    if (call.method == "PATCH") object = call.body;
    return kube::HttpAnswer{.status = 200, .body = object};
  }
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall&, const Consume&,
                                        std::stop_token) override {
    return kube::HttpAnswer{.status = 404};
  }

  std::string object;
};

struct NoSleeper final : kube::Sleeper {
  bool Sleep(std::chrono::milliseconds, std::stop_token) override { return true; }
};

struct Leading {
  explicit Leading(const std::string& text) {
    const Json object = {{"metadata", {{"namespace", kNs}, {"name", kName}}},
                         {"data", {{std::string(StateStore::kKey), text}}}};
    server.object = object.dump();
  }
  watcher::LeaderClient Leader(int since) {
    return {client, watcher::Term(Time(std::chrono::seconds(since)), [] { return true; }, {})};
  }
  std::string Text() const {
    const auto object = json::Decode(server.object);
    return object ? json::TextAt(*object, {"data", StateStore::kKey}) : "";
  }

  OneObject server;
  NoSleeper sleeper;
  kube::Client client{server, sleeper, watcher::LeaderClient::kOptions};
};

JobStates Read(const std::string& text) {
  const auto document = json::Document::Decode(text);
  return document ? Decode(document->root(), Time::max()) : JobStates();
}

bool Names(const Json& jobs, const JobKey& job, const std::string& uid) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const Json& each) {
    return json::TextAt(each, {"namespace"}) == job.ns &&
           json::TextAt(each, {"podGroup"}) == job.pod_group && json::TextAt(each, {"uid"}) == uid;
  });
}

void CheckState(const JobKey& job, const JobState& state) {
  Require(!job.ns.empty() && !job.pod_group.empty() && !state.uid.empty());
  Require(state.retries_used >= 0 && state.futile_restarts >= 0);
  Require(state.retried_for.size() <= kMaxUid);
  for (const auto& [pod, since] : state.seen.faulty) Require(pod.size() <= kMaxUid);
  if (!state.restart) return;
  Require(state.restart->inherited && state.restart->targets.empty());
  for (const auto& pod : state.restart->chosen.pods) Require(!pod.empty() && pod.size() <= kMaxUid);
}

// What is kept of those that are worth it.
JobStates WorthKeeping(JobStates states) {
  std::erase_if(states, [](const auto& entry) { return entry.second.IsEmpty(); });
  return states;
}

void CheckStore(const std::string& text, const JobStates& states, size_t copies) {
  Leading leading(text);
  auto leader = leading.Leader(1);
  StateStore store(kNs, kName);
  Require(store.Load(leader, Time::max()).has_value());
  for (const auto& [job, state] : states) {
    Require(store.Get(job) == (state.IsEmpty() ? JobState() : state));
  }
  for (size_t i = 0; i < copies; ++i) {
    for (const auto& [job, state] : states) {
      store.Set({job.ns, job.pod_group + "." + std::to_string(i)}, state);
    }
  }
  const JobKey last{"last", "job"};
  Require(store.Save(leader, last, JobState{.uid = "u", .retries_used = 1}).has_value());
  const std::string written = leading.Text();
  Require(!written.empty() && written.size() <= StateStore::kMaxBytes);
  StateStore next(kNs, kName);
  auto successor = leading.Leader(2);
  Require(next.Load(successor, Time::max()).has_value());
  const JobStates kept = Read(written);
  for (const auto& [job, state] : kept) {
    Require(store.Get(job) == state && next.Get(job) == state);
  }
  // Only one that is full leaves anything out; the limit of a job is more than an input has.
  if (written.size() + StateStore::kMaxJobBytes > StateStore::kMaxBytes) return;
  for (const auto& [job, state] : states) Require(next.Get(job) == store.Get(job));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto tree = json::Decode(text);
  const JobStates states = Read(text);
  if (!tree) {
    Require(states.empty());
    return 0;  // an API server's answer is UTF-8
  }
  for (const auto& [job, state] : states) {
    Require(Names((*tree)["jobs"], job, state.uid));
    CheckState(job, state);
    const std::string alone = Encode({{job, state}}, 1).dump();
    const std::string names = Json({job.ns, job.pod_group, state.uid}).dump();
    Require(alone.size() <= names.size() + kMaxOfJob);
  }
  const Json encoded = Encode(states, states.size());
  Require(Read(encoded.dump()) == WorthKeeping(states));
  const size_t most = data[0] % 4;
  const JobStates some = Read(Encode(states, most).dump());
  Require(some.size() == std::min(most, WorthKeeping(states).size()));
  for (const auto& [job, state] : some) Require(states.at(job) == state);
  CheckStore(text, states, data[0] < 255 ? data[0] % 4 : 2000);
  return 0;
}
