#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"
#include "why/checks.h"

namespace mindgate::why {

// Volumes of pods, and pods that end or do not want to.

namespace {

std::vector<std::string> PodsWithClaim(const Facts& facts, const std::string& claim) {
  std::vector<std::string> pods;
  for (const PodFacts& pod : facts.pods) {
    const bool has = std::find(pod.claims.begin(), pod.claims.end(), claim) != pod.claims.end();
    if (has && !pod.ended()) pods.push_back(pod.name);
  }
  return pods;
}

// Whether its volumes may still be to mount, or its sandbox to create. The kubelet pulls no image
// and starts no container before; a failure that it reported stays after the next try has worked.
bool HasStartedNothing(const PodFacts& pod) {
  return !pod.node.empty() && pod.phase == "Pending" && !pod.gone_by &&
         std::all_of(pod.containers.begin(), pod.containers.end(),
                     [](const ContainerFacts& container) {
                       const bool waits =
                           container.state == "waiting" &&
                           (container.reason.empty() || container.reason == "ContainerCreating" ||
                            container.reason == "PodInitializing");
                       return (container.state.empty() || waits) && container.restarts == 0;
                     });
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

namespace {

// Of a claim whose StorageClass binds it once its pod has a node (kubernetes:
// pkg/controller/volume/events/event.go).
bool WaitsForItsPod(const EventFacts& event) {
  return event.reason == "WaitForFirstConsumer" || event.reason == "WaitForPodScheduled";
}

}  // namespace

Findings ClaimUnbound(const Facts& facts) {
  Findings found;
  for (const ClaimFacts& claim : facts.claims) {
    const std::vector<std::string> pods = PodsWithClaim(facts, claim.name);
    if (!claim.exists || claim.phase == "Bound" || pods.empty()) continue;
    const EventFacts* event = NewestEvent(facts, {}, "", "PersistentVolumeClaim/" + claim.name);
    if (event != nullptr && WaitsForItsPod(*event)) continue;
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
    if (!HasStartedNothing(pod)) continue;
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
           .fix = "wait; if it stays: " + DescribeText(facts)}};
}

Findings PodFailed(const Facts& facts) {
  if (facts.is_over() || IsWell(facts)) return {};
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

// Containers that wait or end.

namespace {

constexpr size_t kMaxMessage = 300;

using Test = std::function<bool(const PodFacts& pod, const ContainerFacts& container)>;

// The first container of each kind of trouble, with all pods that have it: replicas fail alike.
struct Trouble {
  const PodFacts* pod = nullptr;
  const ContainerFacts* container = nullptr;
  std::vector<std::string> pods{};
};

std::vector<Trouble> TroublesOf(const Facts& facts, const Test& is) {
  std::map<std::pair<std::string, std::string>, Trouble> troubles;  // by container and reason
  const bool is_well = IsWell(facts);
  for (const PodFacts& pod : facts.pods) {
    const bool counts = pod.phase == "Failed" ? !is_well : pod.phase != "Succeeded";
    if (pod.gone_by || !counts) continue;
    for (const ContainerFacts& container : pod.containers) {
      if (!is(pod, container)) continue;
      Trouble& trouble = troubles[{container.name, container.reason}];
      if (trouble.pod == nullptr) {
        trouble.pod = &pod;
        trouble.container = &container;
      }
      trouble.pods.push_back(pod.name);
      break;
    }
  }
  std::vector<Trouble> list;
  for (auto& [key, trouble] : troubles) list.push_back(std::move(trouble));
  return list;
}

std::string ContainerText(const Trouble& trouble) {
  return (trouble.container->init ? "init container " : "container ") + trouble.container->name +
         " of " + PodsText(trouble.pods);
}

std::string LogsText(const Facts& facts, const Trouble& trouble, bool previous) {
  return "kubectl logs " + trouble.pod->name + " -c " + trouble.container->name +
         (previous ? " --previous" : "") + InNamespace(facts);
}

bool IsImageTrouble(const std::string& reason) {
  return reason == "ImagePullBackOff" || reason == "ErrImagePull" || reason == "InvalidImageName" ||
         reason == "ErrImageNeverPull";
}

// configmap "rings-config-x" not found.
bool NamesRankTable(std::string_view text) {
  return text.find(schemas::kRankTablePrefix) != text.npos;
}

bool IsBusy(const ContainerFacts& container) {
  return IsImageTrouble(container.reason) || container.reason == "CrashLoopBackOff" ||
         container.reason == "CreateContainerConfigError" || container.exit_code.value_or(0) != 0;
}

}  // namespace

Findings ImagePull(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts&, const ContainerFacts& container) {
         return container.state == "waiting" && IsImageTrouble(container.reason);
       })) {
    const EventFacts* event = NewestEvent(facts, {"Failed"}, "image", "Pod/" + trouble.pod->name);
    std::vector<std::string> evidence;
    if (event != nullptr) evidence.push_back(Cut(EventText(*event), kMaxMessage));
    found.push_back({.what = ContainerText(trouble) + " has no image: " + trouble.container->reason,
                     .why = Cut(trouble.container->message, kMaxMessage),
                     .fix = "correct the image's name or tag, or give the pod the registry's "
                            "imagePullSecrets; in a cluster without Internet, import the image on "
                            "node " +
                            trouble.pod->node,
                     .evidence = std::move(evidence)});
  }
  return found;
}

Findings CrashLoop(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts&, const ContainerFacts& container) {
         const bool loops = container.reason == "CrashLoopBackOff" ||
                            (container.restarts > 0 && container.exit_code.value_or(0) != 0);
         return loops && !container.ready && container.ended_because != "OOMKilled";
       })) {
    const ContainerFacts& container = *trouble.container;
    found.push_back({.what = ContainerText(trouble) + " ends again and again: exit code " +
                             (container.exit_code ? std::to_string(*container.exit_code)
                                                  : std::string("unknown")) +
                             ", " + Counted(container.restarts, "restart"),
                     .why = Cut(container.message, kMaxMessage),
                     .fix = LogsText(facts, trouble, true)});
  }
  return found;
}

Findings OutOfMemory(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts&, const ContainerFacts& container) {
         return container.ended_because == "OOMKilled" && !container.ready;
       })) {
    found.push_back({.what = ContainerText(trouble) +
                             " used more memory than its limit and was "
                             "killed (OOMKilled), " +
                             Counted(trouble.container->restarts, "restart"),
                     .why = "The kernel ends a container that reaches resources.limits.memory.",
                     .fix = "raise resources.limits.memory, or load less"});
  }
  return found;
}

Findings RankTableMissing(const Facts& facts) {
  const EventFacts* event = NewestEvent(facts, {"FailedMount"}, schemas::kRankTablePrefix);
  const auto troubles = TroublesOf(facts, [](const PodFacts&, const ContainerFacts& container) {
    return container.state == "waiting" && NamesRankTable(container.message);
  });
  const bool waits = std::any_of(facts.pods.begin(), facts.pods.end(), HasStartedNothing);
  if (troubles.empty() && (event == nullptr || !waits)) return {};
  const std::string text = troubles.empty() ? event->note : troubles.front().container->message;
  const std::string about = troubles.empty() ? event->about : PodsText(troubles.front().pods);
  return {{.what = about + " waits for its rank table: " + Cut(text, kMaxMessage),
           .why = "Ascend Operator writes ConfigMap rings-config-<job> for jobs with the label "
                  "ring-controller.atlas, or the mount names another one.",
           .fix = "see that ascend-operator runs, and that the volume names rings-config-<name of "
                  "the job>"}};
}

Findings ConfigMissing(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts&, const ContainerFacts& container) {
         return container.reason == "CreateContainerConfigError" &&
                !NamesRankTable(container.message);
       })) {
    found.push_back({.what = ContainerText(trouble) +
                             " cannot be created: " + Cut(trouble.container->message, kMaxMessage),
                     .why = "A ConfigMap, a Secret or a key that its environment names is missing.",
                     .fix = "create it" + InNamespace(facts) + ", or mark the reference optional"});
  }
  return found;
}

Findings InitContainerRuns(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts& pod, const ContainerFacts& container) {
         return container.init && container.state == "running" && !container.ready &&
                pod.phase == "Pending";
       })) {
    found.push_back({.what = ContainerText(trouble) + " has not ended yet",
                     .why = "Other containers start after all init containers have ended.",
                     .fix = LogsText(facts, trouble, false) + " shows what it waits for"});
  }
  return found;
}

Findings ContainerCreating(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts& pod, const ContainerFacts& container) {
         return container.state == "waiting" && !pod.node.empty() && !IsBusy(container) &&
                container.reason != "PodInitializing";
       })) {
    std::vector<std::string_view> reasons = {"Failed"};
    if (HasStartedNothing(*trouble.pod)) {
      reasons = {"FailedCreatePodSandBox",   "FailedMount",     "FailedAttachVolume",
                 "UnexpectedAdmissionError", "NetworkNotReady", "Failed"};
    }
    const EventFacts* event = NewestEvent(facts, reasons, "", "Pod/" + trouble.pod->name);
    const bool of_volume = event != nullptr && (event->reason == "FailedMount" ||
                                                event->reason == "FailedAttachVolume");
    if (of_volume) continue;  // VolumeNotMounted
    std::vector<std::string> evidence;
    if (event != nullptr) evidence.push_back(Cut(EventText(*event), kMaxMessage));
    found.push_back({.what = ContainerText(trouble) + " waits: " +
                             (trouble.container->reason.empty() ? "the kubelet has not started it"
                                                                : trouble.container->reason),
                     .why = Cut(trouble.container->message, kMaxMessage),
                     .fix = "kubectl describe pod " + trouble.pod->name + InNamespace(facts) +
                            "; the kubelet of node " + trouble.pod->node + " creates it",
                     .evidence = std::move(evidence)});
  }
  return found;
}

Findings NotReady(const Facts& facts) {
  Findings found;
  for (const Trouble& trouble :
       TroublesOf(facts, [](const PodFacts& pod, const ContainerFacts& container) {
         return pod.phase == "Running" && !container.init && container.state == "running" &&
                !container.ready;
       })) {
    const EventFacts* event = NewestEvent(facts, {"Unhealthy"}, "", "Pod/" + trouble.pod->name);
    std::vector<std::string> evidence;
    if (event != nullptr) evidence.push_back(Cut(EventText(*event), kMaxMessage));
    found.push_back(
        {.what = ContainerText(trouble) + " runs and is not ready",
         .why = "Its readiness probe or startup probe does not succeed.",
         .fix = "wait while it loads its model, or see " + LogsText(facts, trouble, false),
         .evidence = std::move(evidence)});
  }
  return found;
}

}  // namespace mindgate::why
