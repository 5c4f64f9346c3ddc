#include "watcher/rescheduling/job.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "faults/node_faults.h"
#include "json/value.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Value;

constexpr std::array<std::string_view, 10> kLabels = {
    schemas::kFaultScheduling,     schemas::kPodRescheduling,    schemas::kFaultRetryTimes,
    schemas::kProcessRecover,      schemas::kSubHealthyStrategy, schemas::kApp,
    schemas::kOmeInferenceService, schemas::kFaultType,          schemas::kReplicaType,
    schemas::kRescheduling};
constexpr std::array<std::string_view, 8> kAnnotations = {
    schemas::kRecoverPolicyPath, schemas::kProcessRecoverStrategy,
    schemas::kMinAvailable,      schemas::kSchedulePolicy,
    schemas::kRaBlock,           schemas::kAffinityConfig,
    schemas::kRescheduling,      schemas::kPodStatus};
// Of one pod.
constexpr std::array<std::string_view, 5> kOwnAnnotations = {
    schemas::kAscendReal, schemas::kRankIndex, schemas::kSuperPodRank, schemas::kNeedVolcanoOpe,
    schemas::kPodGroupAnnotation};

std::vector<json::Projection::Path> MetadataFields() {
  std::vector<json::Projection::Path> fields;
  for (const std::string_view label : kLabels) {
    fields.push_back({"metadata", "labels", std::string(label)});
  }
  for (const std::string_view annotation : kAnnotations) {
    fields.push_back({"metadata", "annotations", std::string(annotation)});
  }
  return fields;
}

// Of a PodGroup's status (volcano.sh/apis, pkg/apis/scheduling/v1beta1/types.go).
constexpr const char* kCountsOfPlaced[] = {"running", "succeeded", "failed"};

}  // namespace

std::vector<json::Projection::Path> PodFields() {
  auto fields = MetadataFields();
  for (const std::string_view annotation : kOwnAnnotations) {
    fields.push_back({"metadata", "annotations", std::string(annotation)});
  }
  for (const char* key : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    fields.push_back({"metadata", key});
  }
  fields.push_back({"spec", "nodeName"});
  fields.push_back({"spec", "schedulingGates"});
  fields.push_back({"status", "phase"});
  fields.push_back({"status", "conditions", "*", "type"});
  fields.push_back({"status", "conditions", "*", "status"});
  fields.push_back({"status", "containerStatuses", "*", "lastState", "terminated", "exitCode"});
  return fields;
}

std::vector<json::Projection::Path> PodGroupFields() {
  auto fields = MetadataFields();
  fields.push_back({"metadata", "ownerReferences"});
  fields.push_back({"spec", "minMember"});
  fields.push_back({"spec", "minResources"});
  fields.push_back({"status", "phase"});
  for (const char* count : kCountsOfPlaced) fields.push_back({"status", count});
  return fields;
}

int64_t CountPlaced(const Value& pod_group) {
  int64_t placed = 0;
  for (const char* count : kCountsOfPlaced) {
    const auto pods = json::AsInt(json::FindPath(pod_group, {"status", count}));
    placed += std::clamp<int64_t>(pods.value_or(0), 0, INT32_MAX);
  }
  return placed;
}

Metadata MetadataOf(const Value* metadata) {
  return {JobMetadata::Choose(json::Find(metadata, "labels"), kLabels),
          JobMetadata::Choose(json::Find(metadata, "annotations"), kAnnotations)};
}

bool IsDisabled(const Metadata& metadata) {
  const auto is_off = [](const JobMetadata::Map& map) {
    const auto found = map.find(schemas::kRescheduling);
    return found != map.end() && found->second == "disabled";
  };
  return is_off(metadata.labels) || is_off(metadata.annotations);
}

bool HasFailedContainer(const Value& pod) {
  const Value* containers = json::FindPath(pod, {"status", "containerStatuses"});
  if (!json::IsArray(containers)) return false;
  return std::any_of(containers->begin(), containers->end(), [](const Value& container) {
    const Value* code = json::FindPath(container, {"lastState", "terminated", "exitCode"});
    return json::AsInt(code).value_or(0) != 0;
  });
}

bool IsBound(const Value& pod) { return schemas::ConditionStatus(pod, "PodScheduled") == "True"; }

PodPtr PodReader::Read(const Value& pod) {
  const Value* metadata = json::Find(pod, "metadata");
  const Value* annotations = json::Find(metadata, "annotations");
  std::string group = json::TextAt(annotations, {schemas::kPodGroupAnnotation});
  if (group.empty()) return nullptr;
  auto state = std::make_shared<PodState>();
  state->name = json::TextAt(metadata, {"name"});
  state->uid = json::TextAt(metadata, {"uid"});
  state->job = jobs_.Get({json::TextAt(metadata, {"namespace"}), std::move(group)});
  state->metadata = metadata_.Get(MetadataOf(metadata));
  std::string node = json::TextAt(pod, {"spec", "nodeName"});
  if (!node.empty()) state->node = nodes_.Get(std::move(node));
  state->chips =
      chips_.Get(faults::PhysicalChips(json::TextAt(annotations, {schemas::kAscendReal})));
  const auto number = [&](std::string_view key) {
    const auto value = ParseGoInt(json::TextAt(annotations, {key}));
    return value && *value >= 0 && *value <= INT32_MAX ? static_cast<int32_t>(*value) : -1;
  };
  state->rank = number(schemas::kRankIndex);
  state->super_pod = number(schemas::kSuperPodRank);
  state->switched = json::TextAt(annotations, {schemas::kNeedVolcanoOpe}) == "delete";
  const auto time = [&](std::string_view key) {
    return ParseTimestamp(json::TextAt(metadata, {key}));
  };
  state->created = time("creationTimestamp").value_or(Time{});
  const auto deletion_time = time("deletionTimestamp");
  state->deletion_time = deletion_time.value_or(Time{});
  const auto grace = json::AsInt(json::Find(metadata, "deletionGracePeriodSeconds"));
  state->forced = deletion_time && grace.value_or(-1) == 0;
  state->ended = json::TextAt(pod, {"status", "phase"}) == "Failed";
  state->failed = state->ended || HasFailedContainer(pod);
  const Value* gates = json::FindPath(pod, {"spec", "schedulingGates"});
  state->gated = json::IsArray(gates) && gates->begin() != gates->end();
  state->bound = IsBound(pod);
  state->ready = schemas::ConditionStatus(pod, "Ready") == "True";
  return state;
}

Task PodState::ToTask() const {
  const auto text = [](const JobMetadata::Map& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? std::string() : found->second;
  };
  Task task{.pod = name,
            .node = node == nullptr ? std::string() : *node,
            .chips = *chips,
            .failed = failed,
            .ended = ended,
            .fault_type = text(metadata->labels, schemas::kFaultType),
            .rank = rank < 0 ? std::string() : std::to_string(rank),
            .is_worker = text(metadata->labels, schemas::kReplicaType) == "worker",
            .may_be_switched = switched,
            .uid = uid,
            .created = created,
            .forced = forced,
            .gated = gated,
            .bound = bound,
            .ready = ready,
            .pod_status = text(metadata->annotations, schemas::kPodStatus)};
  if (deletion_time != Time{}) task.deletion_time = deletion_time;
  if (super_pod >= 0) task.super_pod = super_pod;
  return task;
}

bool AsksForNpus(const Value& pod_group) {
  const Value* resources = json::FindPath(pod_group, {"spec", "minResources"});
  if (!json::IsObject(resources)) return false;
  for (const auto& [name, quantity] : resources->members()) {
    if (name.starts_with(schemas::kResourcePrefix)) return true;
  }
  return false;
}

PodGroupState PodGroupOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  PodGroupState state;
  state.job = {json::TextAt(metadata, {"namespace"}), json::TextAt(metadata, {"name"})};
  state.uid = json::TextAt(metadata, {"uid"});
  state.metadata = MetadataOf(metadata);
  state.min_member = json::AsInt(json::FindPath(object, {"spec", "minMember"})).value_or(1);
  const std::string phase = json::TextAt(object, {"status", "phase"});
  state.started = phase == "Running" || phase == "Unknown";
  state.asks_for_npus = AsksForNpus(object);
  const auto succeeded = json::AsInt(json::FindPath(object, {"status", "succeeded"}));
  state.succeeded = std::max<int64_t>(0, succeeded.value_or(0));
  if (const Value* owner = schemas::ControllerOf(metadata)) {
    state.owner = std::make_shared<const kube::ObjectReference>(kube::ObjectReference{
        json::TextAt(owner, {"apiVersion"}), json::TextAt(owner, {"kind"}), state.job.ns,
        json::TextAt(owner, {"name"}), json::TextAt(owner, {"uid"})});
  }
  return state;
}

kube::ObjectReference PodGroupState::regarding() const {
  return owner == nullptr ? kube::ObjectReference{"scheduling.volcano.sh/v1beta1", "PodGroup",
                                                  job.ns, job.pod_group, uid}
                          : *owner;
}

namespace {

auto FindByName(std::vector<PodPtr>& pods, const std::string& name) {
  return std::lower_bound(pods.begin(), pods.end(), name,
                          [](const PodPtr& pod, const std::string& of) { return pod->name < of; });
}

int64_t ChipsHeldBy(const PodState& pod) {
  const bool holds = pod.node != nullptr && !pod.ended && pod.deletion_time == Time{};
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
    const auto place = FindByName(pods, pod.name);
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
  pods.insert(FindByName(pods, pod->name), pod);
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

std::optional<Job> JobIndex::Find(const JobKey& key) const {
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
          return pod->bound && pod->deletion_time == Time{} && pod->node != nullptr &&
                 *pod->node == node;
        })) {
      keys.insert(*job);
    }
  }
  return {keys.begin(), keys.end()};
}

namespace {

template <typename Is>
size_t CountOf(const Job& job, Is is) {
  return static_cast<size_t>(std::count_if(job.tasks.begin(), job.tasks.end(), is));
}

bool StaysUp(const Task& task) { return !task.deletion_time && !task.ended; }

}  // namespace

std::string_view RecoveryStepName(RecoveryStep step) {
  switch (step) {
    case RecoveryStep::kDecided:
      return "decided";
    case RecoveryStep::kDeleted:
      return "deleted";
    case RecoveryStep::kRecreated:
      return "recreated";
    case RecoveryStep::kPlaced:
      return "placed";
    case RecoveryStep::kRunning:
      return "running";
  }
  return "running";
}

bool Recoveries::IsReached(RecoveryStep step, const Recovery& recovery, const Job& job,
                           bool restarts) {
  const auto is_faulty = [&](const Task& task) { return recovery.faulty.contains(task.uid); };
  switch (step) {
    case RecoveryStep::kDecided:
      return restarts || CountOf(job, [&](const Task& task) {
                           return is_faulty(task) && !task.deletion_time;
                         }) < recovery.faulty.size();
    case RecoveryStep::kDeleted:
      return CountOf(job, is_faulty) == 0;
    case RecoveryStep::kRecreated:
      return CountOf(job, StaysUp) >= recovery.pods;
    case RecoveryStep::kPlaced:
      return CountOf(job, [](const Task& task) { return StaysUp(task) && !task.node.empty(); }) >=
             recovery.pods;
    case RecoveryStep::kRunning:
      return CountOf(job, [](const Task& task) { return StaysUp(task) && task.ready; }) >=
             recovery.pods;
  }
  return false;
}

void Recoveries::See(const JobKey& key, const Job& job, const std::vector<FaultType>& types,
                     bool restarts, Time now) {
  const MutexLock lock(mutex_);
  auto found = recoveries_.find(key);
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == FaultType::kHealthy) continue;
    if (found == recoveries_.end()) {
      found = recoveries_.emplace(key, Recovery{.since = now, .faulty = {}}).first;
    }
    found->second.faulty.insert(job.tasks[i].uid);
  }
  if (found == recoveries_.end()) return;
  const bool heals = found->second.reached == 0 && ReasonOf(types) == FaultType::kHealthy &&
                     !IsReached(RecoveryStep::kDecided, found->second, job, restarts);
  if (heals) {
    recoveries_.erase(found);
    return;
  }
  Recovery& recovery = found->second;
  if (recovery.reached == 0) recovery.pods = std::max(recovery.pods, job.tasks.size());
  while (recovery.reached < kRecoveryStepCount) {
    const auto step = static_cast<RecoveryStep>(recovery.reached);
    if (!IsReached(step, recovery, job, restarts)) return;
    if (observe_) observe_(step, now - recovery.since);
    recovery.since = now;
    ++recovery.reached;
  }
  recoveries_.erase(found);
}

void Recoveries::Forget(const JobKey& key) {
  const MutexLock lock(mutex_);
  recoveries_.erase(key);
}

void Recoveries::Keep(const std::function<bool(const JobKey&)>& exists) {
  const MutexLock lock(mutex_);
  std::erase_if(recoveries_, [&](const auto& recovery) { return !exists(recovery.first); });
}

}  // namespace mindgate::watcher::rescheduling
