#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "schemas/kinds.h"
#include "schemas/names.h"
#include "why/checks.h"

namespace mindgate::why {

// Pods that are missing, and gangs that can therefore not start.

namespace {

// Gangs that do not run and whose pods exist or should.
std::vector<const GroupFacts*> OpenGangs(const Facts& facts) {
  std::vector<const GroupFacts*> open;
  for (const GroupFacts& group : facts.groups) {
    if (group.exists && !group.runs() && !facts.is_over()) open.push_back(&group);
  }
  return open;
}

// How many pods the scheduler waits for: minMember, or K where that is 1.
int64_t NeededBy(const GroupFacts& group) {
  return group.min_member == 1 ? group.k.value_or(1) : group.min_member;
}

bool PodsAreMissing(const Facts& facts) {
  if (facts.suspended || facts.is_over()) return false;
  const int64_t live = PodsThere(facts);
  if (facts.wanted) return live < *facts.wanted;
  const std::vector<const GroupFacts*> gangs = OpenGangs(facts);
  return live == 0 || std::any_of(gangs.begin(), gangs.end(), [](const GroupFacts* group) {
           return group->pods < NeededBy(*group);
         });
}

std::string CountText(const Facts& facts) {
  const std::string live = std::to_string(PodsThere(facts));
  return facts.wanted ? live + " of " + Counted(*facts.wanted, "pod") + " exist"
                      : Counted(PodsThere(facts), "pod") + " exist";
}

constexpr std::string_view kExceeded = "exceeded quota";
// Of a webhook, and of a ValidatingAdmissionPolicy.
constexpr std::string_view kDenied = "denied the request";
constexpr std::string_view kPolicyDenied = "denied request";

// What stands between `before` and the next of `ends` in a text; empty: nothing does.
std::string WordAfter(const std::string& text, std::string_view before, std::string_view ends) {
  const size_t at = text.find(before);
  if (at == text.npos) return "";
  const size_t begin = at + before.size();
  return text.substr(begin, text.find_first_of(ends, begin) - begin);
}

std::string GroupText(const GroupFacts& group) { return "PodGroup " + group.name; }

// Whether NeededBy reads K.
bool IsByK(const GroupFacts& group) { return group.min_member == 1 && group.k; }

// "minMember is 3": what NeededBy reads.
std::string NeededText(const GroupFacts& group) {
  return (IsByK(group) ? std::string(schemas::kMinAvailable) : "minMember") + " is " +
         std::to_string(NeededBy(group));
}

// A StatefulSet makes its next pod once the last one is Ready, which in a gang none becomes before
// the others are there.
bool IsStuckInOrder(const Facts& facts) {
  return facts.makes_in_order && PodsThere(facts) < facts.wanted.value_or(0) &&
         !WaitingPods(facts).empty();
}

// Whether pods of the gang are to come, as far as the workload shows. A Pod, a PodGroup and a kind
// whose controller decides about replicas do not show how many there will be.
bool AreToCome(const Facts& facts) {
  if (!facts.wanted || facts.kind == schemas::KindName(schemas::Kind::kPod)) return true;
  return PodsThere(facts) < *facts.wanted && !IsStuckInOrder(facts);
}

std::string LowerText(const GroupFacts& group, int64_t most) {
  const std::string number = std::to_string(most);
  return IsByK(group) ? "set the annotation " + std::string(schemas::kMinAvailable) + " to \"" +
                            number + "\" or less"
                      : "set minMember (minAvailable of a job, "
                        "scheduling.volcano.sh/group-min-member of pods) to " +
                            number + " or less";
}

// Of a gang that can never start; `why` is empty unless it is the order of pods.
Finding NeverStarts(const Facts& facts, const GroupFacts& group) {
  Finding finding{.what = GroupText(group) + " can never start: " + NeededText(group) +
                          ", and it has only " + Counted(group.pods, "pod")};
  if (!IsStuckInOrder(facts)) {
    finding.fix = LowerText(group, group.pods);
    return finding;
  }
  finding.why =
      "A StatefulSet makes a pod once the one before it is Ready, unless its "
      "podManagementPolicy is Parallel.";
  finding.fix = "create the StatefulSet again with spec.podManagementPolicy: Parallel";
  if (NeededBy(group) > *facts.wanted) finding.fix += ", and " + LowerText(group, *facts.wanted);
  return finding;
}

// How to find what keeps the pods of a gang away.
std::string MissingPodsFix(const Facts& facts) {
  const bool is_maker = facts.kind != schemas::KindName(schemas::Kind::kPod) &&
                        facts.kind != schemas::KindName(schemas::Kind::kPodGroup);
  if (is_maker) {
    return "find out why the controller creates no more pods: " + DescribeText(facts);
  }
  if (facts.owners.empty()) return "create the pods that are missing, or what makes them";
  return "find out why " + facts.owners.back() +
         " creates no more pods: its Events, or those of "
         "what it makes, have the reason";
}

}  // namespace

Findings Suspended(const Facts& facts) {
  if (facts.is_over() || !facts.pods.empty()) return {};
  if (facts.suspended) {
    return {{.what = facts.kind + "/" + facts.name + " is suspended: spec.suspend is true",
             .why = "Its controller creates no pods meanwhile.",
             .fix = "set spec.suspend to false"}};
  }
  if (facts.wanted != 0) return {};
  return {{.what = facts.kind + "/" + facts.name + " asks for 0 pods",
           .why = "Its replicas are 0, so that nothing is to run.",
           .fix = "set spec.replicas, or let its autoscaler do so"}};
}

Findings Refused(const Facts& facts) {
  if (facts.condition.empty() || facts.is_over()) return {};
  return {{.what = facts.kind + "/" + facts.name + " has failed: " + facts.condition,
           .why = "Its controller does not try again by itself.",
           .fix = "correct what the message names and create the object again"}};
}

Findings PodsRefusedByQuota(const Facts& facts) {
  const EventFacts* event = NewestEvent(facts, {}, kExceeded);
  if (event == nullptr || !PodsAreMissing(facts)) return {};
  const std::string quota = WordAfter(event->note, "exceeded quota: ", ",");
  return {{.what = "pods cannot be created, since ResourceQuota " + quota +
                   " is exceeded: " + CountText(facts),
           .why = "requested " + WordAfter(event->note, "requested: ", " ") + " used " +
                  WordAfter(event->note, "used: ", " ") + " limited " +
                  WordAfter(event->note, "limited: ", " "),
           .fix = "raise the quota (kubectl edit resourcequota " + quota + InNamespace(facts) +
                  "), ask for less, or end other pods of the namespace",
           .evidence = {event->about + ": " + EventText(*event)}}};
}

Findings PodsRefusedByWebhook(const Facts& facts) {
  const EventFacts* event = NewestEvent(facts, {}, kDenied);
  if (event == nullptr) event = NewestEvent(facts, {}, kPolicyDenied);
  if (event == nullptr || !PodsAreMissing(facts)) return {};
  const std::string webhook = WordAfter(event->note, "admission webhook \"", "\"");
  const std::string policy = WordAfter(event->note, "ValidatingAdmissionPolicy '", "'");
  const std::string by = !webhook.empty()  ? "admission webhook " + webhook
                         : !policy.empty() ? "ValidatingAdmissionPolicy " + policy
                                           : "admission";
  return {{.what = "pods cannot be created, since " + by + " denies them: " + CountText(facts),
           .why = Cut(event->note, 300),
           .fix = "correct the pod template as the message says; `mindgate explain` has the rules "
                  "of mindgate",
           .evidence = {event->about + ": " + event->reason}}};
}

Findings PodsNotCreated(const Facts& facts) {
  if (!PodsAreMissing(facts)) return {};
  const auto fits = [](const EventFacts& event) {
    return event.warning && event.reason.starts_with("FailedCreate") &&
           event.reason != "FailedCreatePodSandBox" &&
           event.note.find(kExceeded) == event.note.npos &&
           event.note.find(kDenied) == event.note.npos &&
           event.note.find(kPolicyDenied) == event.note.npos;
  };
  const auto found = std::find_if(facts.events.rbegin(), facts.events.rend(), fits);
  if (found == facts.events.rend()) return {};
  return {{.what = "pods cannot be created: " + CountText(facts),
           .why = Cut(found->note, 300),
           .fix = "correct what the API server names",
           .evidence = {found->about + ": " + EventText(*found)}}};
}

Findings GangPodsMissing(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    if (group->pods >= NeededBy(*group) || (group->pods > 0 && !AreToCome(facts))) continue;
    // An AscendJob or vcjob gets its pods once the PodGroup is enqueued.
    if (group->pods == 0 && (group->phase == "Pending" || group->phase.empty())) continue;
    found.push_back({.what = GroupText(*group) + " waits for pods: " + NeededText(*group) +
                             ", and it has " + Counted(group->pods, "pod"),
                     .why = "The scheduler binds a gang together or not at all.",
                     .fix = MissingPodsFix(facts)});
  }
  return found;
}

Findings MinMemberTooLarge(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    if (group->pods == 0 || group->pods >= group->min_member || AreToCome(facts)) continue;
    Finding finding = NeverStarts(facts, *group);
    if (finding.why.empty()) {
      finding.why = "The controller created all pods that the workload asks for.";
      finding.fix += ", or ask for more replicas";
    }
    found.push_back(std::move(finding));
  }
  return found;
}

Findings KTooLarge(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    if (!group->k || group->min_member != 1 || group->pods == 0 || *group->k <= group->pods ||
        AreToCome(facts)) {
      continue;
    }
    Finding finding = NeverStarts(facts, *group);
    if (finding.why.empty()) {
      finding.why = "MindCluster's plugin binds that many pods together or none.";
    }
    found.push_back(std::move(finding));
  }
  return found;
}

Findings GangGated(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    const int64_t needed = NeededBy(*group);
    const int64_t free = group->pods - group->gated;
    if (group->gated == 0 || group->pods < needed || free >= needed || free == 0) continue;
    found.push_back({.what = GroupText(*group) + " needs " + Counted(needed, "pod") + ", and " +
                             std::to_string(group->gated) + " of its " +
                             Counted(group->pods, "pod") + " are behind a scheduling gate",
                     .why = "The scheduler waits for the whole gang, also for its gated pods.",
                     .fix = "see what holds the gated pods, or lower what the gang needs"});
  }
  return found;
}

Findings PodGroupMissing(const Facts& facts) {
  Findings found;
  for (const GroupFacts& group : facts.groups) {
    if (group.exists) continue;
    std::vector<std::string> pods;
    for (const PodFacts& pod : facts.pods) {
      if (pod.pod_group == group.name && pod.waits_for_a_node()) pods.push_back(pod.name);
    }
    if (pods.empty()) continue;
    found.push_back({.what = "PodGroup " + group.name + " of " + PodsText(pods) + " does not exist",
                     .why = "Volcano places no pod without its PodGroup.",
                     .fix = "remove the annotation scheduling.k8s.io/group-name, or create the "
                            "PodGroup"});
  }
  return found;
}

// Queues of Volcano and quotas of the namespace.

namespace {

// Groups that have no room yet, with their queue.
std::vector<std::pair<const GroupFacts*, const QueueFacts*>> Queued(const Facts& facts) {
  std::vector<std::pair<const GroupFacts*, const QueueFacts*>> queued;
  std::set<std::string> seen;
  for (const GroupFacts& group : facts.groups) {
    if (!group.exists || group.runs() || facts.is_over()) continue;
    const QueueFacts* queue = facts.FindQueue(group.queue);
    if (queue != nullptr && seen.insert(group.queue).second) queued.emplace_back(&group, queue);
  }
  return queued;
}

// "8 of 8 huawei.com/Ascend910".
std::string UseText(int64_t used, int64_t limit, const std::string& resource) {
  return std::to_string(used) + " of " + std::to_string(limit) + " " + resource;
}

int64_t At(const std::map<std::string, int64_t>& amounts, const std::string& key) {
  const auto found = amounts.find(key);
  return found == amounts.end() ? 0 : found->second;
}

}  // namespace

Findings QueueMissing(const Facts& facts) {
  Findings found;
  for (const auto& [group, queue] : Queued(facts)) {
    if (queue->exists) continue;
    found.push_back(
        {.what =
             "PodGroup " + group->name + " names Queue " + queue->name + ", which does not exist",
         .why = "Volcano enqueues nothing of a queue that it does not know.",
         .fix = "create the Queue, or name another one: kubectl get queues.scheduling.volcano.sh"});
  }
  return found;
}

Findings QueueClosed(const Facts& facts) {
  Findings found;
  for (const auto& [group, queue] : Queued(facts)) {
    if (queue->state != "Closed" && queue->state != "Closing") continue;
    found.push_back(
        {.what = "Queue " + queue->name + " is " + queue->state + ": it takes no new PodGroups",
         .why = "PodGroup " + group->name +
                " is of this queue. Newer schedulers of Volcano place none of its pods; that of "
                "1.10.0 places them all the same.",
         .fix =
             "open it (vcctl queue operate -a open -n " + queue->name + "), or use another queue"});
  }
  return found;
}

Findings QueueFull(const Facts& facts) {
  Findings found;
  for (const auto& [group, queue] : Queued(facts)) {
    for (const auto& [resource, limit] : queue->capability) {
      const int64_t used = At(queue->allocated, resource);
      const int64_t asked = At(group->min_resources, resource);
      if (asked == 0 || used + asked <= limit) continue;
      found.push_back(
          {.what = "Queue " + queue->name + " has no room: " + UseText(used, limit, resource) +
                   " are allocated, and PodGroup " + group->name + " asks for " +
                   std::to_string(asked),
           .why = "spec.capability of the Queue limits what all of its PodGroups use together.",
           .fix = "raise spec.capability[" + resource +
                  "] of the Queue, ask for less, or end "
                  "other jobs of it"});
      break;
    }
  }
  return found;
}

Findings QuotaExhausted(const Facts& facts) {
  const bool missing =
      !facts.is_over() && !facts.suspended && facts.wanted && PodsThere(facts) < *facts.wanted;
  if (!missing || NewestEvent(facts, {}, "exceeded quota") != nullptr) return {};
  Findings found;
  for (const QuotaFacts& quota : facts.quotas) {
    for (const auto& [resource, limit] : quota.hard) {
      const bool counts = resource.find("huawei.com/") != resource.npos || resource == "pods";
      if (!counts || At(quota.used, resource) < limit) continue;
      found.push_back(
          {.what = "ResourceQuota " + quota.name +
                   " is used up: " + UseText(At(quota.used, resource), limit, resource),
           .why = "Pods beyond it are refused when they are created.",
           .fix = "raise it: kubectl edit resourcequota " + quota.name + InNamespace(facts)});
      break;
    }
  }
  return found;
}

Findings PodGroupNotEnqueued(const Facts& facts) {
  Findings found;
  for (const GroupFacts& group : facts.groups) {
    if (!group.exists || facts.is_over() || !(group.phase == "Pending" || group.phase.empty())) {
      continue;
    }
    const EventFacts* event = NewestEvent(facts, {}, "", "PodGroup/" + group.name);
    std::vector<std::string> evidence;
    if (event != nullptr) evidence.push_back(EventText(*event));
    found.push_back(
        {.what = "PodGroup " + group.name + " is not enqueued: its phase is " +
                 (group.phase.empty() ? "not set" : group.phase),
         .why = group.condition.empty() ? "Volcano enqueues it once it sees room for it."
                                        : group.condition,
         .fix = "free room in Queue " + (group.queue.empty() ? "default" : group.queue) +
                " and on the nodes; kubectl describe podgroups.scheduling.volcano.sh/" +
                group.name + InNamespace(facts),
         .evidence = std::move(evidence)});
  }
  return found;
}

// Scheduling gates: that of elastic scaling, and those of others.

namespace {

std::vector<std::string> PodsBehind(const Facts& facts, std::string_view gate) {
  std::vector<std::string> pods;
  for (const PodFacts& pod : facts.pods) {
    if (pod.is_behind(gate)) pods.push_back(pod.name);
  }
  return pods;
}

std::string HeldText(const HeldFacts& held) {
  return PodsText(held.pods) + (held.pods.size() == 1 ? " is" : " are") +
         " behind the scheduling gate " + std::string(schemas::kScalingGate);
}

}  // namespace

Findings RuleMissing(const Facts& facts) {
  Findings found;
  std::set<std::string> seen;
  for (const HeldFacts& held : facts.held) {
    if (held.rule_exists || !seen.insert(held.rule).second) continue;
    if (held.rule.empty()) {
      found.push_back({.what = HeldText(held) + ", and name no scaling rule",
                       .why = "The watcher groups gated pods by the labels " +
                              std::string(schemas::kScalingRule) + " and " +
                              std::string(schemas::kJobId) + ".",
                       .fix = "set both labels on the pod template, or remove the gate"});
      continue;
    }
    found.push_back(
        {.what = HeldText(held) + ", and their scaling rule does not exist: ConfigMap " + held.rule,
         .why = "Without its rule no instance of the service may start.",
         .fix = "create ConfigMap " + held.rule + " with the key " +
                std::string(schemas::kScalingRuleKey) + InNamespace(facts) +
                ", or correct the label " + std::string(schemas::kScalingRule)});
  }
  return found;
}

Findings RuleInvalid(const Facts& facts) {
  Findings found;
  std::set<std::string> seen;
  for (const HeldFacts& held : facts.held) {
    if (!held.rule_exists || held.problem.empty() || !seen.insert(held.rule).second) continue;
    found.push_back(
        {.what = HeldText(held) + ", and their scaling rule cannot be used: ConfigMap " + held.rule,
         .why = held.problem,
         .fix = "correct the key " + std::string(schemas::kScalingRuleKey) +
                "; `mindgate apply -f FILE -o table` shows each mistake with its line"});
  }
  return found;
}

Findings HeldByRule(const Facts& facts) {
  Findings found;
  for (const HeldFacts& held : facts.held) {
    if (!held.rule_exists || !held.problem.empty() || held.granted) continue;
    found.push_back(
        {.what = HeldText(held) + ": scaling rule " + held.rule + " holds " + held.instance +
                 (held.group.empty() ? "" : " of group " + held.group),
         .why = held.waits,
         .fix = "wait for the other groups of the service, or change the rule: mindgate "
                "status" +
                InNamespace(facts) + " shows what it waits for"});
  }
  return found;
}

Findings GateWithoutWatcher(const Facts& facts) {
  const std::vector<std::string> pods = PodsBehind(facts, schemas::kScalingGate);
  if (pods.empty() || !facts.watcher.known) return {};
  const HeldFacts held{.pods = pods};
  if (!facts.watcher.leads) {
    return {{.what = HeldText(held) + ", and no watcher of mindgate runs to open it",
             .why = "The Lease of the watcher has no current holder.",
             .fix = "start the watcher (mindgate doctor names what keeps it), or open the gates "
                    "with `mindgate release-gates" +
                    InNamespace(facts) + "`"}};
  }
  const bool granted = std::any_of(facts.held.begin(), facts.held.end(),
                                   [](const HeldFacts& one) { return one.granted; });
  if (facts.watcher.acts || !granted) return {};
  return {{.what = HeldText(held) + ", and the watcher only observes: elasticScaling.mode is " +
                   facts.watcher.mode,
           .why = "The rule lets them start, but the watcher opens no gate in this mode.",
           .fix = "set elasticScaling.mode to enforce, or open the gates with `mindgate "
                  "release-gates" +
                  InNamespace(facts) + "`"}};
}

Findings OtherGate(const Facts& facts) {
  std::map<std::string, std::vector<std::string>> pods_of;
  for (const PodFacts& pod : facts.pods) {
    for (const std::string& gate : pod.gates) {
      if (gate != schemas::kScalingGate && pod.node.empty()) pods_of[gate].push_back(pod.name);
    }
  }
  Findings found;
  for (const auto& [gate, pods] : pods_of) {
    found.push_back({.what = PodsText(pods) + (pods.size() == 1 ? " is" : " are") +
                             " behind the scheduling gate " + gate,
                     .why = "It is not mindgate's: whoever set it must remove it.",
                     .fix = "ask the component that owns " + gate +
                            ", or remove the gate from spec.schedulingGates"});
  }
  return found;
}

}  // namespace mindgate::why
