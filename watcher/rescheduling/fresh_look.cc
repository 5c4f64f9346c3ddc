#include "watcher/rescheduling/fresh_look.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "watcher/frame/nodes.h"
#include "watcher/rescheduling/brakes.h"
#include "watcher/rescheduling/in_parallel.h"
#include "watcher/rescheduling/pod.h"

namespace mindgate::watcher::rescheduling {
namespace {

namespace resources = kube::resources;

// The pods that the step rests on.
std::vector<size_t> TasksInQuestion(const Job& job, const Decision& decision) {
  std::vector<size_t> tasks;
  for (const size_t i : decision.tasks) {
    if (decision.types[i] != FaultType::kHealthy) tasks.push_back(i);
  }
  if (!tasks.empty() || !decision.begins) return tasks;
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].node.empty()) tasks.push_back(i);
  }
  return tasks;
}

struct PodNow {
  std::optional<Task> task{};  // nothing: there is no such pod
  bool disabled = false;
  bool failed = false;
};

PodNow ReadPodAgain(LeaderClient& client, const JobKey& key, const std::string& name) {
  const auto answer = client.Get(resources::kPods, key.ns, name);
  if (!answer) return {.failed = answer.error().reason != kube::Reason::kNotFound};
  const json::Document document(*answer);
  const PodPtr pod = PodReader().Read(document.root());
  if (pod == nullptr || *pod->job != key) return {};
  return {.task = pod->ToTask(), .disabled = IsDisabled(*pod->metadata)};
}

void ReadPodsAgain(LeaderClient& client, const JobKey& key, const std::vector<size_t>& tasks,
                   FreshLook& look) {
  std::vector<PodNow> pods(tasks.size());
  InParallel(tasks.size(),
             [&](size_t i) { pods[i] = ReadPodAgain(client, key, look.job.tasks[tasks[i]].pod); });
  std::vector<bool> gone(look.job.tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    Task& task = look.job.tasks[tasks[i]];
    look.failed = look.failed || pods[i].failed;
    if (pods[i].failed) continue;
    if (pods[i].disabled) {
      look.job.disabled = "mindgate.io/rescheduling is disabled on pod " + task.pod;
    }
    if (pods[i].task) {
      task = *std::move(pods[i].task);
    } else {
      gone[tasks[i]] = true;
    }
  }
  std::vector<Task> left;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) left.push_back(std::move(look.job.tasks[i]));
  }
  look.job.tasks = std::move(left);
}

// Of the nodes that are called not Ready, those of pods that the decision takes for faulty.
void ReadNodesAgain(LeaderClient& client, const std::set<std::string, std::less<>>& names,
                    FreshLook& look) {
  const std::vector<std::string> nodes(names.begin(), names.end());
  std::vector<char> lost(nodes.size());
  std::atomic<bool> failed = false;
  InParallel(nodes.size(), [&](size_t i) {
    const auto answer = client.Get(resources::kNodes, "", nodes[i]);
    if (answer) {
      lost[i] = IsReady(json::Document(*answer).root()) ? 0 : 1;
    } else if (answer.error().reason == kube::Reason::kNotFound) {
      lost[i] = 1;
    } else {
      failed = true;
    }
  });
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (lost[i] == 0) look.not_ready.erase(nodes[i]);
  }
  look.failed = look.failed || failed;
}

// Of the nodes of faulty pods. A report that is another one by now may say that the hardware is
// healthy again; what it says comes by its watch, in a moment.
void CompareReports(LeaderClient& client, const faults::FaultsByNode& nodes,
                    const ReportsOf& reports_of, FreshLook& look) {
  std::set<faults::ReportVersion> unique;
  for (const auto& [node, known] : nodes) {
    auto reports = reports_of(node, known);
    if (!reports) {
      look.late = true;
      look.changed = "something else is reported of node " + node + " by now";
      return;
    }
    for (faults::ReportVersion& report : *reports) unique.insert(std::move(report));
  }
  const std::vector<faults::ReportVersion> reports(unique.begin(), unique.end());
  std::vector<char> changed(reports.size());
  std::atomic<bool> failed = false;
  InParallel(reports.size(), [&](size_t i) {
    const auto now = client.VersionNow(resources::kConfigMaps, reports[i].ns, reports[i].name);
    if (!now) {
      failed = true;
    } else if (*now != reports[i].version) {
      changed[i] = 1;
    }
  });
  for (size_t i = 0; i < reports.size(); ++i) {
    if (changed[i] == 0) continue;
    look.late = true;
    look.changed = "ConfigMap " + reports[i].ns + "/" + reports[i].name +
                   ", which reports the fault, is another one than the watch has told";
  }
  look.failed = look.failed || failed;
}

// As the scheduler counts them, in case the watch of pods is late.
bool IsComplete(const json::Value& group, const Job& job) {
  const auto running = json::AsInt(json::FindPath(group, {"status", "running"}));
  return running.value_or(0) >= std::max<int64_t>(1, job.min_available);
}

}  // namespace

FreshLook LookAgain(LeaderClient& client, const JobKey& key, const Job& job,
                    const Decision& decision, const Hardware& hardware,
                    const ReportsOf& reports_of) {
  FreshLook look{.job = job, .not_ready = hardware.not_ready};
  const auto answer = client.Get(resources::kPodGroups, key.ns, key.pod_group);
  if (!answer) {
    look.failed = answer.error().reason != kube::Reason::kNotFound;
    look.changed = "its PodGroup cannot be read: " + answer.error().message;
    return look;
  }
  const json::Document group(*answer);
  const PodGroupState state = PodGroupOf(group.root());
  if (state.uid != job.uid) {
    look.changed = "its PodGroup is another one";
    return look;
  }
  if (IsDisabled(state.metadata)) {
    look.changed = "mindgate.io/rescheduling is disabled on its PodGroup";
    return look;
  }
  if (Brake owner = DisabledByOwner(client, group.root(), key.ns); !owner.why.empty()) {
    look.held = std::move(owner.why);
    look.failed = owner.unreadable;
    return look;
  }
  const std::vector<size_t> tasks = TasksInQuestion(job, decision);
  const bool widens = decision.begins && std::none_of(tasks.begin(), tasks.end(), [&](size_t i) {
                        return decision.types[i] != FaultType::kHealthy;
                      });
  if (widens && IsComplete(group.root(), job)) {
    look.changed = "its PodGroup runs with all the pods that it needs";
    return look;
  }
  if (reports_of) {
    faults::FaultsByNode reported;
    for (const size_t i : tasks) {
      const auto found = hardware.nodes.find(job.tasks[i].node);
      if (decision.types[i] != FaultType::kHealthy && found != hardware.nodes.end()) {
        reported.insert(*found);
      }
    }
    CompareReports(client, reported, reports_of, look);
    if (look.late) return look;
  }
  ReadPodsAgain(client, key, tasks, look);
  std::set<std::string, std::less<>> nodes;
  for (const Task& task : look.job.tasks) {
    if (look.not_ready.contains(task.node)) nodes.insert(task.node);
  }
  ReadNodesAgain(client, nodes, look);
  if (look.failed) look.changed = "what is faulty of it cannot be read";
  return look;
}

}  // namespace mindgate::watcher::rescheduling
