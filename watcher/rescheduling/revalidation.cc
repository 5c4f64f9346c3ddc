#include <algorithm>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/workers.h"
#include "watcher/rescheduling/decision.h"
#include "watcher/rescheduling/job.h"

namespace mindgate::watcher::rescheduling {
namespace {

namespace resources = kube::resources;

// The pods that the step rests on.
std::vector<size_t> TasksInQuestion(const Job& job, const Decision& decision) {
  std::vector<size_t> tasks;
  for (const size_t i : decision.tasks) {
    if (decision.types[i] != FaultType::kHealthy) tasks.push_back(i);
  }
  if (!tasks.empty() || !decision.counts_against_budget) return tasks;
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].node.empty()) tasks.push_back(i);
  }
  return tasks;
}

// What is reported of the nodes of those of the tasks that are faulty, as it was decided about.
faults::FaultsByNode ReportedOf(const std::vector<size_t>& tasks, const Job& job,
                                const Decision& decision, const Hardware& hardware) {
  faults::FaultsByNode reported;
  for (const size_t i : tasks) {
    const auto found = hardware.nodes.find(job.tasks[i].node);
    if (decision.types[i] != FaultType::kHealthy && found != hardware.nodes.end()) {
      reported.insert(*found);
    }
  }
  return reported;
}

const json::Projection& OfPods() {
  static const json::Projection fields(PodFields());
  return fields;
}

// With its owners, some of which may opt out.
const json::Projection& OfPodGroups() {
  static const json::Projection fields(PodGroupFields());
  return fields;
}

const json::Projection& OfNodes() {
  static const json::Projection fields(
      {{"status", "conditions", "*", "type"}, {"status", "conditions", "*", "status"}});
  return fields;
}

struct PodNow {
  PodPtr pod{};  // null: there is no such pod in the job
  bool failed = false;
};

PodNow ReadPodAgain(LeaderClient& client, const JobKey& key, const std::string& name) {
  const auto answer = client.Read(resources::kPods, key.ns, name, OfPods());
  if (!answer) return {.failed = answer.error().reason != kube::Reason::kNotFound};
  PodPtr pod = PodReader().Read(answer->root());
  if (pod == nullptr || *pod->job != key) return {};
  return {.pod = std::move(pod)};
}

// Pods of the job by name, as far as their metadata says; nothing: they cannot be read.
std::optional<std::map<std::string, PodPtr>> ListPodsAgain(LeaderClient& client,
                                                           const JobKey& key) {
  std::map<std::string, PodPtr> pods;
  PodReader reader;
  kube::Listing listing;
  listing.started = [&] { pods.clear(); };
  listing.item = [&](const json::Value& object) {
    PodPtr pod = reader.Read(object);
    if (pod != nullptr && *pod->job == key) pods[pod->name] = std::move(pod);
  };
  const auto listed = client.ListMetadata(resources::kPods, key.ns, listing);
  if (!listed) return std::nullopt;
  return pods;
}

// The job again, from the PodGroup and the pods that are still there. `tasks`: those that are read
// whole in any case.
void ReadPodsAgain(LeaderClient& client, CallThreads& calls, const JobKey& key,
                   const std::vector<size_t>& tasks, Revalidation& look) {
  const std::vector<Task>& known = look.job.tasks;
  std::vector<size_t> whole = tasks;
  std::map<std::string, PodPtr> pods;
  if (known.size() <= kReadOneByOne) {
    whole.clear();
    for (size_t i = 0; i < known.size(); ++i) whole.push_back(i);
  } else if (auto listed = ListPodsAgain(client, key)) {
    pods = *std::move(listed);
  } else {
    look.failed = true;
    return;
  }
  std::vector<PodNow> read(whole.size());
  calls.Run(whole.size(),
            [&](size_t i) { read[i] = ReadPodAgain(client, key, known[whole[i]].pod); });
  std::set<std::string> read_whole;
  for (size_t i = 0; i < whole.size(); ++i) {
    const std::string& name = known[whole[i]].pod;
    look.failed = look.failed || read[i].failed;
    read_whole.insert(name);
    if (read[i].pod != nullptr) {
      pods[name] = std::move(read[i].pod);
    } else {
      pods.erase(name);
    }
  }
  std::vector<PodPtr> all;
  for (const auto& [name, pod] : pods) all.push_back(pod);
  Job fresh = JobOf(look.group, all);
  // What metadata does not say is as the watch reported it; what it does not know, it will report.
  std::map<std::string_view, const Task*> by_uid;
  for (const Task& task : known) by_uid.emplace(task.uid, &task);
  std::vector<Task> left;
  for (Task& task : fresh.tasks) {
    if (read_whole.contains(task.pod)) {
      left.push_back(std::move(task));
    } else if (const auto before = by_uid.find(task.uid); before != by_uid.end()) {
      left.push_back(*before->second);
    }
  }
  fresh.tasks = std::move(left);
  fresh.restarted_by_other = look.job.restarted_by_other;
  look.job = std::move(fresh);
}

// Of the nodes that are called not Ready, those of pods that the decision takes for faulty.
void ReadNodesAgain(LeaderClient& client, CallThreads& calls,
                    const std::set<std::string, std::less<>>& names, Revalidation& look) {
  const std::vector<std::string> nodes(names.begin(), names.end());
  std::vector<char> lost(nodes.size());
  std::atomic<bool> failed = false;
  calls.Run(nodes.size(), [&](size_t i) {
    const auto answer = client.Read(resources::kNodes, "", nodes[i], OfNodes());
    if (answer) {
      lost[i] = IsReady(answer->root()) ? 0 : 1;
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
void CompareReports(LeaderClient& client, CallThreads& calls, const faults::FaultsByNode& nodes,
                    const ReportsOf& reports_of, Revalidation& look) {
  std::set<faults::ReportVersion> unique;
  for (const auto& [node, known] : nodes) {
    auto reports = reports_of(node, known);
    if (!reports) {
      look.watch_lags = true;
      look.changed = "something else is reported of node " + node + " by now";
      return;
    }
    for (faults::ReportVersion& report : *reports) unique.insert(std::move(report));
  }
  const std::vector<faults::ReportVersion> reports(unique.begin(), unique.end());
  std::vector<char> changed(reports.size());
  std::atomic<bool> failed = false;
  calls.Run(reports.size(), [&](size_t i) {
    const auto now = client.VersionNow(resources::kConfigMaps, reports[i].ns, reports[i].name);
    if (!now) {
      failed = true;
    } else if (*now != reports[i].version) {
      changed[i] = 1;
    }
  });
  for (size_t i = 0; i < reports.size(); ++i) {
    if (changed[i] == 0) continue;
    look.watch_lags = true;
    look.changed = "ConfigMap " + reports[i].ns + "/" + reports[i].name +
                   ", which reports the fault, is another one than the watch has seen";
  }
  look.failed = look.failed || failed;
}

// As the scheduler counts them, in case the watch of pods is late. It counts no pods that are being
// deleted; those are counted as the watch reported them.
bool IsComplete(const json::Value& group, const Job& job) {
  const int64_t on_nodes = std::count_if(job.tasks.begin(), job.tasks.end(), [](const Task& task) {
    return task.deletion_time && !task.node.empty();
  });
  return HasAllPods(job, on_nodes + CountPlaced(group));
}

}  // namespace

Revalidation Revalidate(LeaderClient& client, CallThreads& calls, const JobKey& key, const Job& job,
                        const Decision& decision, const Hardware& hardware,
                        const ReportsOf& reports_of) {
  Revalidation look{.job = job, .not_ready = hardware.not_ready};
  const auto answer = client.Read(resources::kPodGroups, key.ns, key.pod_group, OfPodGroups());
  if (!answer) {
    look.failed = answer.error().reason != kube::Reason::kNotFound;
    look.changed = "its PodGroup cannot be read: " + answer.error().message;
    return look;
  }
  const json::Document& group = *answer;
  look.group = PodGroupOf(group.root());
  if (look.group.uid != job.uid) {
    look.changed = "its PodGroup is another one";
    return look;
  }
  if (IsDisabled(look.group.metadata)) {
    look.changed = "mindgate.io/rescheduling is disabled on its PodGroup";
    return look;
  }
  if (OptOut owner = DisabledByOwner(client, group.root(), key.ns); !owner.why.empty()) {
    look.disabled_by_owner = std::move(owner.why);
    look.failed = owner.unreadable;
    return look;
  }
  const std::vector<size_t> tasks = TasksInQuestion(job, decision);
  const bool widens =
      decision.counts_against_budget && std::none_of(tasks.begin(), tasks.end(), [&](size_t i) {
        return decision.types[i] != FaultType::kHealthy;
      });
  if (widens && IsComplete(group.root(), job)) {
    look.changed = "its PodGroup runs with all the pods that it needs";
    return look;
  }
  if (reports_of) {
    CompareReports(client, calls, ReportedOf(tasks, job, decision, hardware), reports_of, look);
    if (look.watch_lags) return look;
  }
  ReadPodsAgain(client, calls, key, tasks, look);
  std::set<std::string, std::less<>> nodes;
  for (const Task& task : look.job.tasks) {
    if (look.not_ready.contains(task.node)) nodes.insert(task.node);
  }
  ReadNodesAgain(client, calls, nodes, look);
  if (look.failed) look.changed = "what is faulty of it cannot be read";
  return look;
}

bool IsStillReported(const Job& job, const Decision& decision, const Hardware& hardware,
                     const ReportsOf& reports_of, const IsLost& is_lost) {
  const std::vector<size_t> tasks = TasksInQuestion(job, decision);
  if (reports_of) {
    for (const auto& [node, known] : ReportedOf(tasks, job, decision, hardware)) {
      if (!reports_of(node, known)) return false;
    }
  }
  return std::ranges::all_of(tasks, [&](size_t i) {
    return !is_lost || !hardware.not_ready.contains(job.tasks[i].node) || is_lost(job.tasks[i]);
  });
}

Refusal IsStillSo(LeaderClient& client, CallThreads& calls, const JobKey& key,
                  const PodGroupState& seen, const Job& job, bool pods) {
  const auto unreadable = [](std::string why) {
    return Refusal{.why = std::move(why), .unreadable = true};
  };
  if (OptOut excluded = NamespaceOptOut(client, key.ns); !excluded.why.empty()) {
    return {.why = std::move(excluded.why), .unreadable = excluded.unreadable};
  }
  const auto answer = client.Read(resources::kPodGroups, key.ns, key.pod_group, OfPodGroups());
  if (!answer) return unreadable("its PodGroup cannot be read: " + answer.error().message);
  const json::Document& group = *answer;
  const PodGroupState now = PodGroupOf(group.root());
  if (IsDisabled(now.metadata)) {
    return {.why = "mindgate.io/rescheduling is disabled on its PodGroup"};
  }
  if (now.uid != seen.uid || now.metadata != seen.metadata || now.min_member != seen.min_member) {
    return {.why = "its PodGroup has changed meanwhile", .brief = true};
  }
  if (OptOut owner = DisabledByOwner(client, group.root(), key.ns); !owner.why.empty()) {
    return {.why = std::move(owner.why), .unreadable = owner.unreadable};
  }
  if (!pods) return {};
  Revalidation look{.job = job, .group = now};
  ReadPodsAgain(client, calls, key, {}, look);
  if (look.failed) return unreadable("its pods cannot be read");
  if (!look.job.disabled.empty()) return {.why = look.job.disabled};
  if (look.job.policy != job.policy) {
    return {.why = "the labels of its pods have changed meanwhile", .brief = true};
  }
  return {};
}

}  // namespace mindgate::watcher::rescheduling
