#include "watcher/rescheduling/job_index.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mindgate::watcher::rescheduling {
namespace {

auto PlaceOf(std::vector<PodPtr>& pods, const std::string& name) {
  return std::lower_bound(pods.begin(), pods.end(), name,
                          [](const PodPtr& pod, const std::string& of) { return pod->name < of; });
}

int64_t ChipsHeldBy(const PodState& pod) {
  const bool holds = pod.node != nullptr && !pod.ended && pod.going == Time{};
  return holds && pod.chips != nullptr ? std::ssize(*pod.chips) : 0;
}

}  // namespace

Job JobOf(const PodGroupState& group, const std::vector<PodPtr>& pods) {
  Job job{.uid = group.uid,
          .started = group.started,
          .succeeded = group.succeeded,
          .regarding = group.regarding()};
  JobMetadata merged;
  merged.AddLabels(group.metadata.labels);
  merged.AddAnnotations(group.metadata.annotations);
  if (IsDisabled(group.metadata))
    job.disabled = "mindgate.io/rescheduling is disabled on its PodGroup";
  std::set<const Metadata*> seen;  // most pods share theirs
  for (const PodPtr& pod : pods) {
    job.tasks.push_back(pod->ToTask());
    if (!seen.insert(pod->metadata.get()).second) continue;
    merged.AddLabels(pod->metadata->labels);
    merged.AddPodAnnotations(pod->metadata->annotations);
    if (job.disabled.empty() && IsDisabled(*pod->metadata)) {
      job.disabled = "mindgate.io/rescheduling is disabled on pod " + pod->name;
    }
  }
  job.policy = merged.Policy(group.asks_for_npus || AnyHasChips(job.tasks));
  job.min_available = merged.MinAvailable(group.min_member);
  return job;
}

void JobIndex::Remove(const PodState& pod) {
  const auto job = jobs_.find(*pod.job);
  if (job != jobs_.end()) {
    auto& pods = job->second.pods;
    const auto place = PlaceOf(pods, pod.name);
    if (place != pods.end() && (*place)->name == pod.name) pods.erase(place);
    if (pods.empty() && job->second.group == nullptr) jobs_.erase(job);
  }
  if (pod.node == nullptr) return;
  if (const int64_t chips = ChipsHeldBy(pod); chips > 0) {
    const auto held = chips_on_.find(*pod.node);
    if ((held->second -= chips) == 0) chips_on_.erase(held);
  }
  const auto node = on_node_.find(*pod.node);
  if (node == on_node_.end()) return;
  const auto one = std::find(node->second.begin(), node->second.end(), pod.job.get());
  if (one != node->second.end()) node->second.erase(one);
  if (node->second.empty()) on_node_.erase(node);
}

void JobIndex::Insert(const PodPtr& pod) {
  auto& pods = jobs_[*pod->job].pods;
  pods.insert(PlaceOf(pods, pod->name), pod);
  if (pod->node == nullptr) return;
  on_node_[*pod->node].push_back(pod->job.get());
  if (const int64_t chips = ChipsHeldBy(*pod); chips > 0) chips_on_[*pod->node] += chips;
}

std::vector<JobKey> JobIndex::Changed(const PodPtr& before, const PodPtr& after) {
  std::vector<JobKey> concerned;
  const MutexLock lock(mutex_);
  if (before != nullptr) {
    Remove(*before);
    if (after == nullptr || *after->job != *before->job) concerned.push_back(*before->job);
  }
  if (after != nullptr) {
    Insert(after);
    concerned.push_back(*after->job);
  }
  return concerned;
}

std::vector<JobKey> JobIndex::Changed(const PodGroupPtr& before, const PodGroupPtr& after) {
  const PodGroupPtr& either = after != nullptr ? after : before;
  const MutexLock lock(mutex_);
  Entry& entry = jobs_[either->job];
  entry.group = after;
  if (after == nullptr && entry.pods.empty()) jobs_.erase(either->job);
  return {either->job};
}

std::optional<Job> JobIndex::Look(const JobKey& key) const {
  PodGroupPtr group;
  std::vector<PodPtr> pods;
  {
    const MutexLock lock(mutex_);
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || found->second.group == nullptr) return std::nullopt;
    group = found->second.group;
    pods = found->second.pods;
  }
  return JobOf(*group, pods);
}

std::vector<JobKey> JobIndex::jobs() const {
  std::vector<JobKey> keys;
  const MutexLock lock(mutex_);
  keys.reserve(jobs_.size());
  for (const auto& [key, entry] : jobs_) {
    if (entry.group != nullptr) keys.push_back(key);
  }
  return keys;
}

std::vector<JobKey> JobIndex::JobsOn(std::string_view node) const {
  std::set<JobKey> keys;
  const MutexLock lock(mutex_);
  const auto found = on_node_.find(node);
  if (found == on_node_.end()) return {};
  for (const JobKey* job : found->second) keys.insert(*job);
  return {keys.begin(), keys.end()};
}

int64_t JobIndex::CountChipsOn(std::string_view node) const {
  const MutexLock lock(mutex_);
  const auto found = chips_on_.find(node);
  return found == chips_on_.end() ? 0 : found->second;
}

std::set<std::string, std::less<>> JobIndex::ChipsOn(std::string_view node) const {
  const MutexLock lock(mutex_);
  std::set<std::string, std::less<>> chips;
  const auto found = on_node_.find(node);
  if (found == on_node_.end()) return chips;
  const std::set<const JobKey*> jobs(found->second.begin(), found->second.end());
  for (const JobKey* job : jobs) {
    for (const PodPtr& pod : jobs_.at(*job).pods) {
      if (pod->node == nullptr || *pod->node != node || ChipsHeldBy(*pod) == 0) continue;
      chips.insert(pod->chips->begin(), pod->chips->end());
    }
  }
  return chips;
}

std::vector<JobKey> JobIndex::BoundJobsOn(std::string_view node) const {
  const MutexLock lock(mutex_);
  const auto found = on_node_.find(node);
  if (found == on_node_.end()) return {};
  std::set<JobKey> keys;
  for (const JobKey* job : found->second) {
    if (keys.contains(*job)) continue;
    const auto entry = jobs_.find(*job);
    if (entry == jobs_.end() || entry->second.group == nullptr) continue;
    const auto& pods = entry->second.pods;
    if (std::any_of(pods.begin(), pods.end(), [&](const PodPtr& pod) {
          return pod->bound && pod->going == Time{} && pod->node != nullptr && *pod->node == node;
        })) {
      keys.insert(*job);
    }
  }
  return {keys.begin(), keys.end()};
}

}  // namespace mindgate::watcher::rescheduling
