#include "watcher/gang_repair/decision.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"

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

class Round {
 public:
  Round(const Deployment& deployment, const Gang& gang)
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
  return Round(deployment, gang).Run();
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

}  // namespace mindgate::watcher::gang_repair
