#include "watcher/gang_repair/state.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/value.h"
#include "schemas/accelerator.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"
#include "schemas/replicas.h"

namespace mindgate::watcher::gang_repair {
namespace {

// Values in a marker: more than a rollout has steps between two looks of the scheduler, and far
// fewer than an annotation could hold.
constexpr size_t kMaxValues = 32;

// A marker's values, newest last. Anything else in it is ignored.
std::vector<int64_t> ValuesOf(const std::optional<std::string>& marker) {
  std::vector<int64_t> values;
  if (!marker) return values;
  for (const std::string_view word : Split(*marker, ',')) {
    if (const auto value = ParseGoInt(word)) values.push_back(*value);
  }
  return values;
}

std::string MarkerWith(std::vector<int64_t> values, int64_t newest) {
  std::erase(values, newest);
  values.push_back(newest);
  const size_t skipped = values.size() - std::min(values.size(), kMaxValues);
  std::vector<std::string> words;
  for (size_t i = skipped; i < values.size(); ++i) words.push_back(std::to_string(values[i]));
  return Join(words, ",");
}

bool IsComplete(const Deployment& deployment) {
  // As kubectl rollout status has it (kubernetes: pkg/controller/deployment/util,
  // DeploymentComplete).
  return deployment.updated == deployment.replicas && deployment.all == deployment.replicas &&
         deployment.available == deployment.replicas;
}

Decision Nothing(std::string reason) { return {.reason = std::move(reason)}; }

bool IsOfAPerson(const PodGroup& group, int64_t k_of_template) {
  if (!group.k) return false;
  const auto value = ParseGoInt(*group.k);
  if (!value) return true;
  const std::vector<int64_t> written = ValuesOf(group.marker);
  return *value != k_of_template && std::ranges::find(written, *value) == written.end();
}

Decision LeaveToThePerson(const PodGroup& group) {
  return Nothing(std::string(schemas::kMinAvailable) + " " + Quote(*group.k) +
                 " was written on the PodGroup by hand");
}

Decision RestoreOf(const PodGroup& group, std::string reason) {
  if (!group.marker) return Nothing(std::move(reason));
  return {.act = Act::kRestore, .k = {}, .marker = {}, .reason = std::move(reason)};
}

Decision LowerTo(const PodGroup& group, int64_t k, std::string reason) {
  const std::vector<int64_t> written = ValuesOf(group.marker);
  std::string value = std::to_string(k);
  if (group.k == value && !written.empty() && written.back() == k) {
    return Nothing(std::move(reason));
  }
  return {.act = Act::kLower,
          .k = std::move(value),
          .marker = MarkerWith(written, k),
          .reason = std::move(reason)};
}

class Evaluation {
 public:
  Evaluation(const Deployment& deployment, const Gang& gang)
      : deployment_(deployment), set_(gang.set), group_(*gang.group), pods_(gang.pods) {}

  Decision Run() {
    if (IsOfAPerson(group_, set_.k)) return LeaveToThePerson(group_);
    if (deployment_.observed_generation < deployment_.generation || !deployment_.revision) {
      return Nothing("the deployment controller has not seen the newest change yet");
    }
    if (set_.revision != *deployment_.revision) {
      if (set_.replicas > 0 || pods_ > 0)
        return Nothing("its pods are being replaced by those of a newer template");
      return Restore("the ReplicaSet has no pods left");
    }
    if (!deployment_.rolling) return Restore("with strategy Recreate all pods are created at once");
    if (group_.min_member != 1) {
      return Restore("minMember is " + std::to_string(group_.min_member) +
                     ", which applies instead");
    }
    if (IsComplete(deployment_)) return Restore("the rollout is done");
    // From here on it is the ReplicaSet or the update itself that brings the pods, unless neither
    // makes enough.
    if (set_.replicas >= set_.k) {
      return Restore("the ReplicaSet makes " + Counted(set_.replicas, "pod") +
                     ", and the gang needs " + std::to_string(set_.k));
    }
    if (const int64_t coming = PodsBeforeTheFirstIsAvailable(deployment_); coming >= set_.k) {
      return Restore("the rolling update makes " + Counted(coming, "pod") +
                     " at once, and the gang needs " + std::to_string(set_.k));
    }
    if (pods_ >= set_.k)
      return Restore(Counted(pods_, "pod") + " exist, as many as the gang needs");
    if (set_.block > 0) {
      return Restore(
          "with sp-block " + std::to_string(set_.block) +
          ", more chips than one pod has, fewer pods are refused: only strategy Recreate "
          "helps");
    }
    return Lower(std::max<int64_t>(1, pods_));
  }

 private:
  Decision Restore(std::string reason) const { return RestoreOf(group_, std::move(reason)); }

  Decision Lower(int64_t k) const {
    const auto& rolling = *deployment_.rolling;
    std::string reason =
        Counted(pods_, "pod") + (pods_ == 1 ? " exists" : " exist") + ", the gang needs " +
        std::to_string(set_.k) + ", and no more are created until they are available (replicas " +
        std::to_string(deployment_.replicas) + ", maxSurge " + std::to_string(rolling.max_surge) +
        ", maxUnavailable " + std::to_string(rolling.max_unavailable) + ")";
    return LowerTo(group_, k, std::move(reason));
  }

  const Deployment& deployment_;
  const ReplicaSet& set_;
  const PodGroup& group_;
  const int64_t pods_;
};

}  // namespace

int64_t PodsBeforeTheFirstIsAvailable(const Deployment& deployment) {
  if (!deployment.rolling) return deployment.replicas;
  // kubernetes: pkg/controller/deployment/rolling.go. New pods fill what replicas + maxSurge
  // leaves, and old ones go until replicas - maxUnavailable are left.
  const int64_t gone = std::min(deployment.rolling->max_unavailable, deployment.replicas);
  return std::min(deployment.replicas, deployment.rolling->max_surge + gone);
}

Decision Decide(const Deployment& deployment, const Gang& gang) {
  if (!gang.group) return {.reason = "its PodGroup does not exist yet"};
  return Evaluation(deployment, gang).Run();
}

Decision Decide(const RoleSet& roles, const std::optional<PodGroup>& group) {
  if (!group) return {.reason = "its PodGroup does not exist yet"};
  if (IsOfAPerson(*group, roles.k)) return LeaveToThePerson(*group);
  if (group->min_member != 1) {
    return RestoreOf(
        *group, "minMember is " + std::to_string(group->min_member) + ", which applies instead");
  }
  const std::string asked = "its roles ask for " + Counted(roles.pods, "pod") +
                            ", and the gang needs " + std::to_string(roles.k);
  if (roles.pods >= roles.k) return RestoreOf(*group, asked);
  if (roles.pods == 0) return Nothing(asked);
  return LowerTo(*group, roles.pods, asked);
}

namespace {

using json::Value;

constexpr int64_t kMaxPods = 1'000'000;   // of one role: larger figures are cut
constexpr int64_t kMaxChips = 1'000'000;  // of one container: larger figures are cut
// On Deployments and ReplicaSets (kubernetes: pkg/controller/deployment/util).
constexpr const char* kRevision = "deployment.kubernetes.io/revision";

int64_t NumberAt(const Value& object, std::initializer_list<std::string_view> path,
                 int64_t otherwise = 0) {
  return json::AsInt(json::FindPath(object, path)).value_or(otherwise);
}
std::optional<int64_t> RevisionOf(const Value& object) {
  return ParseGoInt(json::TextAt(object, {"metadata", "annotations", kRevision}));
}

// The uid of the controller, when it is of that kind.
std::optional<std::string> ControllerOf(const Value& object, std::string_view kind) {
  const Value* owner = schemas::ControllerOf(json::Find(object, "metadata"));
  if (owner == nullptr || json::FindString(owner, "kind") != kind) return std::nullopt;
  return json::TextAt(owner, {"uid"});
}

std::optional<std::string> AnnotationOf(const Value& object, std::string_view key) {
  const auto value = json::AsString(json::FindPath(object, {"metadata", "annotations", key}));
  if (!value) return std::nullopt;
  return std::string(*value);
}

// The NPUs that one pod of a template asks for.
int64_t ChipsOf(const Value& pod_template) {
  int64_t sum = 0;
  const Value* containers = json::FindPath(pod_template, {"spec", "containers"});
  if (!json::IsArray(containers)) return 0;
  for (const Value& container : *containers) {
    const Value* limits = json::FindPath(container, {"resources", "limits"});
    if (!json::IsObject(limits)) continue;
    for (const json::Member& entry : limits->MembersFrom(schemas::kResourcePrefix)) {
      if (!entry.key.starts_with(schemas::kResourcePrefix)) break;
      if (schemas::ClassifyResource(entry.key) != schemas::NpuResource::kWholeCard) continue;
      sum += std::clamp<int64_t>(schemas::WholeQuantity(&entry.value).value_or(0), 0, kMaxChips);
    }
  }
  return sum;
}

// sp-block where the scheduler reads it and it is larger than one pod; else 0.
int64_t BlockOf(const Value& pod_template) {
  const Value* annotations = json::FindPath(pod_template, {"metadata", "annotations"});
  const auto policy = json::FindString(annotations, schemas::kSchedulePolicy);
  const auto* handler = policy ? schemas::HandlerOfPolicy(*policy) : nullptr;
  if (handler != nullptr && !handler->super_pod) return 0;
  const auto text = json::FindString(annotations, schemas::kSpBlock);
  const int64_t block = text ? ParseGoInt(*text).value_or(0) : 0;
  return block > ChipsOf(pod_template) ? block : 0;
}

// Versions are numbers that grow (Kubernetes KEP 5504); others are not compared.
bool IsOlder(const std::string& version, const std::string& than) {
  const auto a = ParseGoInt(version);
  const auto b = ParseGoInt(than);
  return a && b && *a < *b;
}

}  // namespace

Fields DeploymentFields() {
  return {
      {"metadata", "generation"},    {"metadata", "annotations", kRevision}, {"spec", "replicas"},
      {"spec", "strategy"},          {"status", "observedGeneration"},       {"status", "replicas"},
      {"status", "updatedReplicas"}, {"status", "availableReplicas"}};
}

Fields ReplicaSetFields() {
  return {{"metadata", "ownerReferences"},
          {"metadata", "annotations", kRevision},
          {"spec", "replicas"},
          {"spec", "template", "metadata", "annotations", std::string(schemas::kMinAvailable)},
          {"spec", "template", "metadata", "annotations", std::string(schemas::kSchedulePolicy)},
          {"spec", "template", "metadata", "annotations", std::string(schemas::kSpBlock)},
          {"spec", "template", "spec", "containers", "*", "resources", "limits"}};
}

Fields RoleSetFields() {
  return {{"spec", "roles", "*", "replicas"},
          {"spec", "roles", "*", "podGroupSize"},
          {"spec", "roles", "*", "template", "metadata", "annotations",
           std::string(schemas::kMinAvailable)}};
}

Fields PodGroupFields() {
  return {{"metadata", "ownerReferences"},
          {"metadata", "annotations", std::string(schemas::kMinAvailable)},
          {"metadata", "annotations", std::string(schemas::kGangRepair)},
          {"spec", "minMember"}};
}

Fields PodFields() {
  return {{"metadata", "ownerReferences"},
          {"metadata", "annotations", std::string(schemas::kPodGroupAnnotation)},
          {"metadata", "deletionTimestamp"},
          {"spec", "schedulingGates"},
          {"status", "phase"}};
}

Deployment DeploymentOf(const Value& object) {
  Deployment deployment;
  deployment.ns = json::TextAt(object, {"metadata", "namespace"});
  deployment.name = json::TextAt(object, {"metadata", "name"});
  deployment.uid = json::TextAt(object, {"metadata", "uid"});
  deployment.replicas = NumberAt(object, {"spec", "replicas"}, 1);
  deployment.rolling = schemas::RollingUpdateOfDeployment(object, deployment.replicas);
  deployment.generation = NumberAt(object, {"metadata", "generation"});
  deployment.observed_generation = NumberAt(object, {"status", "observedGeneration"});
  deployment.revision = RevisionOf(object);
  deployment.all = NumberAt(object, {"status", "replicas"});
  deployment.updated = NumberAt(object, {"status", "updatedReplicas"});
  deployment.available = NumberAt(object, {"status", "availableReplicas"});
  return deployment;
}

std::optional<ReplicaSet> ReplicaSetOf(const Value& object) {
  auto owner = ControllerOf(object, "Deployment");
  const auto k = ParseGoInt(json::TextAt(
      object, {"spec", "template", "metadata", "annotations", schemas::kMinAvailable}));
  if (!owner || !k || *k <= 1) return std::nullopt;
  return ReplicaSet{.ns = json::TextAt(object, {"metadata", "namespace"}),
                    .name = json::TextAt(object, {"metadata", "name"}),
                    .uid = json::TextAt(object, {"metadata", "uid"}),
                    .owner = *std::move(owner),
                    .revision = RevisionOf(object).value_or(0),
                    .replicas = NumberAt(object, {"spec", "replicas"}, 1),
                    .k = *k,
                    .block = BlockOf(*json::FindPath(object, {"spec", "template"}))};
}

std::optional<RoleSet> RoleSetOf(const Value& object) {
  const Value* roles = json::FindPath(object, {"spec", "roles"});
  if (!json::IsArray(roles)) return std::nullopt;
  RoleSet set{.ns = json::TextAt(object, {"metadata", "namespace"}),
              .name = json::TextAt(object, {"metadata", "name"}),
              .uid = json::TextAt(object, {"metadata", "uid"})};
  for (const Value& role : *roles) {
    const auto k = ParseGoInt(
        json::TextAt(role, {"template", "metadata", "annotations", schemas::kMinAvailable}));
    if (!k || NumberAt(role, {"podGroupSize"}, 1) > 1) continue;
    // Where they differ, the scheduler may take any of them.
    set.k = std::max(set.k, *k);
    set.pods += std::clamp<int64_t>(NumberAt(role, {"replicas"}), 0, kMaxPods);
  }
  if (set.k <= 1) return std::nullopt;
  return set;
}

std::optional<PodGroup> PodGroupOf(const Value& object) {
  auto owner = ControllerOf(object, "ReplicaSet");
  if (!owner) owner = ControllerOf(object, "RoleSet");
  if (!owner) return std::nullopt;
  return PodGroup{.ns = json::TextAt(object, {"metadata", "namespace"}),
                  .name = json::TextAt(object, {"metadata", "name"}),
                  .uid = json::TextAt(object, {"metadata", "uid"}),
                  .owner = *std::move(owner),
                  .version = json::TextAt(object, {"metadata", "resourceVersion"}),
                  .min_member = NumberAt(object, {"spec", "minMember"}),
                  .k = AnnotationOf(object, schemas::kMinAvailable),
                  .marker = AnnotationOf(object, schemas::kGangRepair)};
}

std::optional<Pod> PodOf(const Value& object) {
  auto owner = ControllerOf(object, "ReplicaSet");
  if (!owner || !AnnotationOf(object, schemas::kPodGroupAnnotation)) return std::nullopt;
  if (json::FindPath(object, {"metadata", "deletionTimestamp"}) != nullptr) return std::nullopt;
  const std::string phase = json::TextAt(object, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return std::nullopt;
  if (schemas::IndexOfScalingGate(json::FindPath(object, {"spec", "schedulingGates"}))) {
    return std::nullopt;
  }
  return Pod{json::TextAt(object, {"metadata", "namespace"}), *std::move(owner)};
}

State::Affected State::OwnerOf(const OwnerKey& key) const {
  if (role_sets_.contains(key)) return {key};
  const auto set = sets_.find(key);
  if (set == sets_.end()) return {};
  return {set->second.owner_key()};
}

State::Affected State::Change(const Deployment* before, const Deployment* after) {
  if (before != nullptr && (after == nullptr || after->uid != before->uid)) {
    deployments_.erase(before->key());
  }
  Affected affected;
  if (before != nullptr && !deployments_.contains(before->key())) affected.insert(before->key());
  if (after != nullptr) {
    deployments_[after->key()] = *after;
    // Without a gang there is nothing to reconcile, now or before.
    if (sets_of_.contains(after->key())) affected.insert(after->key());
  }
  return affected;
}

State::Affected State::Change(const ReplicaSet* before, const ReplicaSet* after) {
  Affected affected;
  if (before != nullptr && (after == nullptr || *after != *before)) {
    affected.insert(before->owner_key());
    sets_.erase(before->key());
    const auto siblings = sets_of_.find(before->owner_key());
    if (siblings != sets_of_.end()) {
      siblings->second.erase(before->key());
      if (siblings->second.empty()) sets_of_.erase(siblings);
    }
  }
  if (after != nullptr) {
    affected.insert(after->owner_key());
    sets_[after->key()] = *after;
    sets_of_[after->owner_key()].insert(after->key());
  }
  return affected;
}

State::Affected State::Change(const RoleSet* before, const RoleSet* after) {
  Affected affected;
  if (before != nullptr) {
    affected.insert(before->key());
    role_sets_.erase(before->key());
  }
  if (after != nullptr) {
    affected.insert(after->key());
    role_sets_[after->key()] = *after;
  }
  return affected;
}

State::Affected State::Change(const PodGroup* before, const PodGroup* after) {
  Affected affected;
  if (before != nullptr) affected.merge(OwnerOf(before->owner_key()));
  if (after != nullptr) affected.merge(OwnerOf(after->owner_key()));
  if (before != nullptr && (after == nullptr || after->uid != before->uid ||
                            after->owner_key() != before->owner_key())) {
    Remove(*before);
  }
  if (after != nullptr) Put(*after, false);
  return affected;
}

State::Affected State::Change(const Pod* before, const Pod* after) {
  // Most changes of a pod, above all of its status, do not concern us.
  if (before != nullptr && after != nullptr && *before == *after) return {};
  Affected affected;
  if (before != nullptr) {
    affected.merge(OwnerOf(before->owner_key()));
    const auto count = pods_.find(before->owner_key());
    if (count != pods_.end() && --count->second == 0) pods_.erase(count);
  }
  if (after != nullptr) {
    affected.merge(OwnerOf(after->owner_key()));
    ++pods_[after->owner_key()];
  }
  return affected;
}

void State::Wrote(const PodGroup& group) {
  const auto held = groups_.find(group.owner_key());
  // Deleted or replaced in the meantime, or reported by the watch already.
  if (held == groups_.end() || held->second.group.uid != group.uid) return;
  if (IsOlder(held->second.group.version, group.version)) Put(group, true);
}

void State::Put(const PodGroup& group, bool answered) {
  HeldGroup& held = groups_[group.owner_key()];
  const bool same = held.group.uid == group.uid;
  if (same && held.answered && !answered && IsOlder(group.version, held.group.version)) return;
  if (held.group.marker) --marked_;
  if (group.marker) ++marked_;
  held = {group, answered};
}

void State::Remove(const PodGroup& group) {
  const auto held = groups_.find(group.owner_key());
  if (held == groups_.end() || held->second.group.uid != group.uid) return;
  if (held->second.group.marker) --marked_;
  groups_.erase(held);
}

std::optional<State::Rollout> State::Of(const OwnerKey& key) const {
  const auto deployment = deployments_.find(key);
  if (deployment == deployments_.end()) return std::nullopt;
  Rollout rollout{deployment->second, {}};
  const auto sets = sets_of_.find(key);
  if (sets == sets_of_.end()) return rollout;
  for (const OwnerKey& set : sets->second) {
    Gang gang{sets_.at(set), std::nullopt, 0};
    if (const auto group = groups_.find(set); group != groups_.end()) {
      gang.group = group->second.group;
    }
    if (const auto pods = pods_.find(set); pods != pods_.end()) gang.pods = pods->second;
    rollout.gangs.push_back(std::move(gang));
  }
  std::ranges::sort(rollout.gangs, [](const Gang& a, const Gang& b) {
    return std::pair(a.set.revision, a.set.uid) < std::pair(b.set.revision, b.set.uid);
  });
  return rollout;
}

std::optional<State::Roles> State::RolesOf(const OwnerKey& key) const {
  const auto set = role_sets_.find(key);
  if (set == role_sets_.end()) return std::nullopt;
  Roles roles{set->second, std::nullopt};
  if (const auto group = groups_.find(key); group != groups_.end()) {
    roles.group = group->second.group;
  }
  return roles;
}

std::vector<OwnerKey> State::Owners() const {
  std::vector<OwnerKey> owners;
  owners.reserve(sets_of_.size() + role_sets_.size());
  for (const auto& [owner, _] : sets_of_) owners.push_back(owner);
  for (const auto& [owner, _] : role_sets_) owners.push_back(owner);
  return owners;
}

}  // namespace mindgate::watcher::gang_repair
