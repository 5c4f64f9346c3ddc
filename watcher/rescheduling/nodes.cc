#include "watcher/rescheduling/nodes.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::rescheduling {

void FaultyNodes::Changed(const std::vector<std::string>& nodes, const std::string& report) {
  // Seen under the lock: of two changes at once, the later look counts.
  const MutexLock lock(mutex_);
  const Clock::Instant now = clock_.Now();
  while (!recovered_.empty() && recovered_.front().first + kFlapping < now) {
    flapping_.erase(flapping_.find(recovered_.front().second));
    recovered_.pop_front();
  }
  size_t became_faulty = 0;
  for (const std::string& node : nodes) became_faulty += Count(node, now) ? 1 : 0;
  if (CountsLocked().faulty <= kFew) burst_.reset();
  // Some of them may have been counted one by one meanwhile, by a change of their pods.
  size_t faulty = 0;
  for (const std::string& node : nodes) faulty += faulty_.contains(node) ? 1 : 0;
  if (faulty > kFew && !report.empty()) burst_ = Burst{report, faulty};
  if (became_faulty == 0) return;
  if (!grew_ || grew_->second + options_.settle() < now) grew_.emplace(now, now);
  grew_->second = now;
}

bool FaultyNodes::Count(const std::string& node, Clock::Instant now) {
  const Seen seen = options_.see(node);
  const bool counted = faulty_.contains(node) || vanished_.contains(node);
  ForgetVanished(node);
  faulty_.erase(node);
  const bool recovers = seen.exists ? seen.ready && !seen.reported : seen.jobs.empty();
  // A node that is gone with all its pods takes nothing away, whatever reports of it are left.
  if (seen.exists || recovers) left_.erase(node);
  if (recovers) {
    if (counted) {
      recovered_.emplace_back(now, node);
      flapping_.insert(node);
    }
    return false;
  }
  if (seen.exists) {
    faulty_.insert(node);
  } else {
    vanished_[node] = seen.jobs;
    if (!left_.contains(node)) {
      ++unseen_;
      for (const JobKey& job : seen.jobs) ++jobs_of_unseen_[job];
    }
  }
  return !counted && !flapping_.contains(node);
}

void FaultyNodes::ForgetVanished(const std::string& node) {
  const auto found = vanished_.find(node);
  if (found == vanished_.end()) return;
  if (!left_.contains(node)) {
    --unseen_;
    for (const JobKey& job : found->second) {
      const auto of = jobs_of_unseen_.find(job);
      if (--of->second == 0) jobs_of_unseen_.erase(of);
    }
  }
  vanished_.erase(found);
}

void FaultyNodes::Left(const std::string& node) {
  const MutexLock lock(mutex_);
  ForgetVanished(node);
  left_.insert(node);
}

bool FaultyNodes::HasLeft(const std::string& node) const {
  const MutexLock lock(mutex_);
  return left_.contains(node);
}

bool FaultyNodes::IsLost(const Task& task, bool exists, bool ready) const {
  if (task.node.empty() || ready) return false;
  return exists || task.bound || HasLeft(task.node);
}

FaultyNodes::Counts FaultyNodes::CountsLocked() const {
  const size_t vanished = vanished_.size() - unseen_ + std::min(unseen_, jobs_of_unseen_.size());
  return {faulty_.size() + vanished, vanished};
}

FaultyNodes::Counts FaultyNodes::counts() const {
  const MutexLock lock(mutex_);
  return CountsLocked();
}

std::string FaultyNodes::WhyStoppedLocked(size_t nodes, int64_t max_percent) const {
  const Counts found = CountsLocked();
  const size_t all = nodes + found.vanished;
  if (!TooMany(found.faulty, all, max_percent)) return "";
  std::string why = std::to_string(found.faulty) + " of " + std::to_string(all) +
                    " nodes are faulty, which is more than maxFaultyNodes (" +
                    std::to_string(max_percent) + " %)";
  if (burst_) {
    why += "; " + burst_->report + " called " + std::to_string(burst_->nodes) +
           " of them faulty at once";
  }
  return why;
}

std::string FaultyNodes::WhyStopped(size_t nodes, int64_t max_percent) const {
  const MutexLock lock(mutex_);
  return WhyStoppedLocked(nodes, max_percent);
}

Refusal FaultyNodes::Brake(size_t nodes, int64_t max_percent) const {
  const auto settle = options_.settle();
  const MutexLock lock(mutex_);
  if (std::string why = WhyStoppedLocked(nodes, max_percent); !why.empty()) return {.why = why};
  if (!grew_) return {};
  const Clock::Instant until =
      std::min(grew_->second + settle, grew_->first + std::max(settle, kLongestSettling));
  if (clock_.Now() >= until) return {};
  return {.why = "more faults may follow: it begins when none has for settle (" +
                 std::to_string(settle.count()) + " s)",
          .again = until,
          .brief = true};
}

namespace {

using faults::FaultsByNode;

const faults::DeviceFaults* DevicesOf(const FaultsByNode& faults, const std::string& node) {
  const auto found = faults.find(node);
  return found == faults.end() ? nullptr : &found->second.devices;
}

template <typename Chips>
int64_t Working(const Chips& chips, const faults::DeviceFaults* devices) {
  return std::count_if(chips.begin(), chips.end(), [&](const auto& chip) {
    return devices == nullptr || !devices->unhealthy.contains(chip);
  });
}

}  // namespace

NodeNpus NpusOf(const std::string& node, int64_t allocatable, int64_t capacity, bool usable,
                const FaultsByNode& faults, const JobIndex& jobs) {
  NodeNpus npus{.node = node};
  const auto reported = faults.find(node);
  if (!usable || (reported != faults.end() && reported->second.IsUnhealthy())) return npus;
  const faults::DeviceFaults* devices = DevicesOf(faults, node);
  if (devices == nullptr || devices->unhealthy.empty()) {
    npus.offered = allocatable;
    npus.used = jobs.CountChipsOn(node);
  } else {
    npus.offered = std::min(allocatable, capacity - std::ssize(devices->unhealthy));
    npus.used = Working(jobs.ChipsOn(node), devices);
  }
  return npus;
}

std::string WhyNoRoom(const Job& job, const std::vector<size_t>& going, const FaultsByNode& faults,
                      std::span<const NodeNpus> nodes) {
  int64_t npus = 0;
  for (const Task& task : job.tasks) npus = std::max(npus, std::ssize(task.chips));
  if (npus == 0) return "";
  std::map<std::string, int64_t> freed;
  int64_t pods = std::ssize(going);
  for (const size_t i : going) {
    const Task& task = job.tasks[i];
    if (!task.node.empty()) freed[task.node] += Working(task.chips, DevicesOf(faults, task.node));
  }
  pods += std::count_if(job.tasks.begin(), job.tasks.end(),
                        [](const Task& task) { return task.node.empty() && !task.gated; });
  int64_t places = 0;
  for (const NodeNpus& node : nodes) {
    if (node.offered <= 0) continue;
    const auto own = freed.find(node.node);
    const int64_t used = node.used - (own == freed.end() ? 0 : own->second);
    places += std::max<int64_t>(node.offered - used, 0) / npus;
    if (places >= pods) return "";
  }
  return "there is no room for " + Counted(pods, "pod") + " with " + Counted(npus, "NPU") +
         (pods == 1 ? "" : " each");
}

namespace {

using json::Json;
using json::Value;

constexpr const char* kWhyIsolated = "NodeD or a switch calls it UnHealthy";
// When a look at what holds it comes again.
constexpr std::chrono::seconds kIsolateAgain{30};

std::string TaintText() { return std::string(schemas::kFaultyTaint); }

}  // namespace

std::optional<Json> TaintPatch(const Value& node, bool faulty) {
  const Value* taints = json::FindPath(node, {"spec", "taints"});
  const std::optional<size_t> ours = schemas::PlaceOfFaultyTaint(taints);
  if (faulty == ours.has_value()) return std::nullopt;
  Json patch = Json::array();
  patch.push_back({{"op", "test"},
                   {"path", "/metadata/resourceVersion"},
                   {"value", json::TextAt(node, {"metadata", "resourceVersion"})}});
  if (ours) {
    patch.push_back({{"op", "remove"}, {"path", "/spec/taints/" + std::to_string(*ours)}});
    return patch;
  }
  const Json taint = {{"key", schemas::kFaultyNode}, {"effect", schemas::kFaultyTaintEffect}};
  if (json::IsArray(taints)) {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints/-"}, {"value", taint}});
  } else {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints"}, {"value", Json::array({taint})}});
  }
  return patch;
}

ReconcileResult Isolation::Reconcile(const NodeKey& key, const Term& term) {
  const bool faulty = options_.enabled() && options_.is_unhealthy(key.name);
  if (!options_.writes()) {
    // Not even what a leader before left is taken away.
    if (!faulty) {
      IsNew(key.name, "");
    } else if (IsNew(key.name, "would")) {
      Report(key.name, "", DecisionKind::kWouldIsolate,
             key.name + " would get the taint " + TaintText() + ", as " + kWhyIsolated, false);
    }
    return {};
  }
  LeaderClient client(writer_, term);
  const auto answer = client.Get(kube::resources::kNodes, "", key.name);
  if (!answer) {
    if (answer.error().reason != kube::Reason::kNotFound) return NotChanged(key, answer.error());
    IsNew(key.name, "");
    return {};
  }
  const json::Document node(*answer);
  const auto patch = TaintPatch(node.root(), faulty);
  if (!patch) {
    IsNew(key.name, "");
    return {};
  }
  const std::string uid = json::TextAt(node.root(), {"metadata", "uid"});
  kube::Answer<void> patched;
  if (faulty) {
    const Refusal refusal =
        gate_.Send(term, {.still_reported = [&] { return StillUnhealthy(key.name); }}, 1,
                   [&](DestructiveClient& destructive, size_t) {
                     patched = destructive.PatchNode(key.name, *patch);
                   });
    if (refusal.refused()) return Waits(key.name, uid, refusal);
  } else {
    patched = gate_.ReleaseNode(term, key.name, *patch);
  }
  if (!patched) {
    const std::string version = json::TextAt(node.root(), {"metadata", "resourceVersion"});
    if (IsStale(client, key.name, version, patched.error())) return {.failed = true};
    return NotChanged(key, patched.error());
  }
  {
    const MutexLock lock(mutex_);
    ++(faulty ? counts_.added : counts_.removed);
    reported_.erase(key.name);
  }
  if (faulty) {
    Report(key.name, uid, DecisionKind::kNodeIsolated,
           key.name + " got the taint " + TaintText() + ", as " + kWhyIsolated, true);
  } else {
    Report(key.name, uid, DecisionKind::kNodeReleased,
           key.name + " has no longer the taint " + TaintText() + ", as " +
               (options_.enabled() ? "it is healthy again" : "isolateNodes is off"),
           true);
  }
  return {};
}

Refusal Isolation::StillUnhealthy(const std::string& node) const {
  if (options_.writes() && options_.enabled() && options_.is_unhealthy(node)) return {};
  return {.why = "it is no longer to be isolated", .brief = true};
}

ReconcileResult Isolation::Waits(const std::string& node, const std::string& uid,
                                 const Refusal& refusal) {
  if (refusal.is_over) return {.failed = true};
  if (!refusal.brief && IsNew(node, refusal.why)) {
    Report(node, uid, DecisionKind::kIsolationWaits,
           std::string(kWhyIsolated) + "; it waits, because " + refusal.why, false);
  }
  const Clock::Instant now = clock_.Now();
  return {.requeue_after = std::max(refusal.again.value_or(now + kIsolateAgain) - now,
                                    Clock::Instant::duration(0))};
}

// Whether the patch was refused because the node has another version by now: again. The answer is
// the same when somebody's webhook or policy refuses it.
bool Isolation::IsStale(LeaderClient& client, const std::string& node, const std::string& version,
                        const kube::Fault& fault) {
  if (fault.reason != kube::Reason::kInvalid && fault.reason != kube::Reason::kConflict) {
    return false;
  }
  const auto now = client.VersionNow(kube::resources::kNodes, "", node);
  return now && *now != version;
}

// A permission that is missing comes with the next chart or never: asking again is of no use, and a
// person can do the same.
ReconcileResult Isolation::NotChanged(const NodeKey& key, const kube::Fault& fault) {
  if (fault.reason == kube::Reason::kStopped) return {.failed = true};
  {
    const MutexLock lock(mutex_);
    ++counts_.failed;
  }
  if (IsNew(key.name, "failed " + std::string(kube::ReasonName(fault.reason)))) {
    logger_.Warning(
        "the taint of a node cannot be changed now",
        {{"node", std::string_view(key.name)},
         {"fault", fault.message},
         {"to_remove_it_run", "kubectl taint nodes " + key.name + " " + TaintText() + "-"}});
  }
  ReconcileResult result;
  if (fault.reason != kube::Reason::kForbidden) result.Fail(fault);
  return result;
}

// Whether it was not reported the last time; empty: there is nothing to report of the node.
bool Isolation::IsNew(const std::string& node, const std::string& report) {
  const MutexLock lock(mutex_);
  if (report.empty()) {
    reported_.erase(node);
    return false;
  }
  std::string& last = reported_[node];
  if (last == report) return false;
  last = report;
  return true;
}

void Isolation::Report(const std::string& node, const std::string& uid, DecisionKind kind,
                       const std::string& reason, bool done) {
  decisions_.Report({.kind = kind,
                     .ns = {},
                     .about = {{"node", node}},
                     .reason = reason,
                     .enforced = done,
                     .regarding = {"v1", "Node", "", node, uid}});
}

Isolation::Counts Isolation::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace mindgate::watcher::rescheduling
