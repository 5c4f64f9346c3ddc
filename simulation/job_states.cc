#include "simulation/job_states.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "json/value.h"
#include "kube/resource.h"
#include "simulation/replica.h"
#include "watcher/rescheduling/job_state.h"

namespace mindgate::simulation {

void JobStates::Note(const PodAction& action) {
  const auto job = world_.JobOf(action.pod);
  if (!job) return;
  auto& pods = states_[*job].done[action.kind][clock_.WallNow().time_since_epoch()];
  pods.insert(std::upper_bound(pods.begin(), pods.end(), action.pod.name), action.pod.name);
}

void JobStates::Note(size_t job, const std::string& what, const std::string& reason) {
  states_[job].last = what;
  states_[job].reason = reason;
}

JobNow JobStates::NowOf(size_t job) const {
  JobNow now = states_[job];
  now.untouched = world_.Untouched(job);
  now.running = world_.Running(job);
  for (size_t node = 0; node < scenario_.nodes.size(); ++node) {
    if (world_.cluster().IsIsolated(node)) now.isolated.push_back(scenario_.nodes[node].name);
  }
  std::sort(now.isolated.begin(), now.isolated.end());
  const json::Json kept = server_.FindObject(
      kube::PathOf(kube::resources::kConfigMaps, Replica::kNamespace, Replica::kState));
  const auto text = json::Document::Decode(json::TextAt(kept, {"data", "state.json"}));
  if (!text) return now;
  const auto written = watcher::rescheduling::Decode(text->root(), clock_.WallNow());
  const auto state = written.find({scenario_.jobs[job].ns, scenario_.jobs[job].name});
  if (state != written.end()) now.retries_used = state->second.retries_used;
  return now;
}

std::vector<JobEnd> JobStates::Ends() const {
  std::vector<JobEnd> ends;
  for (size_t i = 0; i < states_.size(); ++i) {
    const JobNow now = NowOf(i);
    JobEnd end{.job = scenario_.jobs[i].name,
               .pods = scenario_.jobs[i].pods,
               .running = std::ssize(now.running),
               .retries_used = now.retries_used};
    for (const auto& [kind, by_time] : now.done) {
      for (const auto& [time, pods] : by_time) {
        (kind == PodAction::Kind::kMarked ? end.marked : end.restarted) += std::ssize(pods);
      }
    }
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace mindgate::simulation
