#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "schemas/names.h"
#include "why/checks.h"

// Volumes of pods, and pods that end or do not want to.
namespace mindgate::why {
namespace {

std::vector<std::string> PodsWithClaim(const Facts& facts, const std::string& claim) {
  std::vector<std::string> pods;
  for (const PodFacts& pod : facts.pods) {
    const bool has = std::find(pod.claims.begin(), pod.claims.end(), claim) != pod.claims.end();
    if (has && !pod.ended()) pods.push_back(pod.name);
  }
  return pods;
}

bool IsOverdue(const Facts& facts, const PodFacts& pod) {
  constexpr std::chrono::seconds kPatience(30);
  return pod.gone_by && facts.now - *pod.gone_by >= kPatience;
}

}  // namespace

Findings ClaimMissing(const Facts& facts) {
  Findings found;
  for (const ClaimFacts& claim : facts.claims) {
    const std::vector<std::string> pods = PodsWithClaim(facts, claim.name);
    if (claim.exists || pods.empty()) continue;
    found.push_back({.what = "PersistentVolumeClaim " + claim.name + " of " + PodsText(pods) +
                             " does not exist",
                     .why = "A pod is not placed before its claims exist.",
                     .fix = "create the claim" + InNamespace(facts) + ", or correct claimName"});
  }
  return found;
}

Findings ClaimUnbound(const Facts& facts) {
  Findings found;
  for (const ClaimFacts& claim : facts.claims) {
    const std::vector<std::string> pods = PodsWithClaim(facts, claim.name);
    if (!claim.exists || claim.phase == "Bound" || pods.empty()) continue;
    const EventFacts* event = NewestEvent(facts, {}, "", "PersistentVolumeClaim/" + claim.name);
    std::vector<std::string> evidence;
    if (event != nullptr) evidence.push_back(EventText(*event));
    found.push_back(
        {.what = "PersistentVolumeClaim " + claim.name + " of " + PodsText(pods) +
                 " is not bound: its phase is " + claim.phase,
         .why = claim.storage_class.empty()
                    ? "It names no StorageClass, so that a PersistentVolume must fit it."
                    : "StorageClass " + claim.storage_class + " has provisioned no volume for it.",
         .fix = "create a PersistentVolume that fits, or correct storageClassName: kubectl "
                "describe pvc " +
                claim.name + InNamespace(facts),
         .evidence = std::move(evidence)});
  }
  return found;
}

Findings VolumeNotMounted(const Facts& facts) {
  for (const PodFacts& pod : facts.pods) {
    if (pod.node.empty() || pod.phase != "Pending" || pod.gone_by) continue;
    const EventFacts* event =
        NewestEvent(facts, {"FailedMount", "FailedAttachVolume"}, "", "Pod/" + pod.name);
    if (event == nullptr || event->note.find(schemas::kRankTablePrefix) != event->note.npos) {
      continue;
    }
    return {{.what = "Pod " + pod.name + " waits for a volume: " + Cut(event->note, 300),
             .why = "The kubelet starts no container before all volumes are mounted.",
             .fix = "create the ConfigMap, Secret or volume that the message names" +
                    InNamespace(facts),
             .evidence = {event->about + ": " + EventText(*event)}}};
  }
  return {};
}

Findings TerminatingOnLostNode(const Facts& facts) {
  Findings found;
  for (const PodFacts& pod : facts.pods) {
    if (!pod.gone_by || !facts.lost_nodes.contains(pod.node)) continue;
    found.push_back(
        {.what = "Pod " + pod.name + " cannot end: its node " + pod.node + " is not Ready",
         .why = "Only the kubelet of the node can confirm that the pod has ended, and "
                "it does not answer; its place stays taken.",
         .fix = "when the node is off for sure: kubectl delete pod " + pod.name +
                " --force --grace-period=0" + InNamespace(facts)});
  }
  return found;
}

Findings TerminatingForLong(const Facts& facts) {
  Findings found;
  for (const PodFacts& pod : facts.pods) {
    if (!IsOverdue(facts, pod) || facts.lost_nodes.contains(pod.node)) continue;
    found.push_back(
        {.what = "Pod " + pod.name + " should have been gone by " + FormatTime(*pod.gone_by),
         .why = pod.finalizers.empty() ? "Its containers have not ended, or the kubelet is slow."
                                       : "It has finalizers: " + JoinFirst(pod.finalizers, 3) + ".",
         .fix = pod.finalizers.empty() ? "kubectl describe pod " + pod.name + InNamespace(facts)
                                       : "see that the owner of the finalizer runs"});
  }
  return found;
}

Findings BeingDeleted(const Facts& facts) {
  if (!facts.deleting) return {};
  return {{.what = facts.kind + "/" + facts.name +
                   " is being deleted: " + Counted(static_cast<int64_t>(facts.pods.size()), "pod") +
                   " of it " + (facts.pods.size() == 1 ? "is" : "are") + " left",
           .why = "Pods have terminationGracePeriodSeconds to end, and finalizers hold objects.",
           .fix = "wait; if it stays: kubectl describe " + ToLower(facts.kind) + " " + facts.name +
                  InNamespace(facts)}};
}

Findings PodFailed(const Facts& facts) {
  if (facts.is_over()) return {};
  std::vector<std::string> pods;
  const PodFacts* first = nullptr;
  for (const PodFacts& pod : facts.pods) {
    if (pod.phase != "Failed") continue;
    if (first == nullptr) first = &pod;
    pods.push_back(pod.name);
  }
  if (first == nullptr) return {};
  std::string code;
  for (const ContainerFacts& container : first->containers) {
    if (container.exit_code.value_or(0) != 0) {
      code = ": container " + container.name + " ended with exit code " +
             std::to_string(*container.exit_code);
      break;
    }
  }
  return {{.what = PodsText(pods) + " failed" +
                   (first->reason.empty() ? "" : " (" + first->reason + ")") + code,
           .why = Cut(first->message, 300),
           .fix = "kubectl logs " + first->name + InNamespace(facts)}};
}

}  // namespace mindgate::why
