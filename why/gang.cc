#include <algorithm>

#include "base/text.h"
#include "why/checks.h"

// Pods that are missing, and gangs that can therefore not start.
namespace mindgate::why {
namespace {

int64_t LivePods(const Facts& facts) {
  return std::count_if(facts.pods.begin(), facts.pods.end(),
                       [](const PodFacts& pod) { return pod.phase != "Failed" && !pod.gone_by; });
}

bool PodsAreMissing(const Facts& facts) {
  if (facts.suspended || facts.is_over()) return false;
  const int64_t live = LivePods(facts);
  return facts.wanted ? live < *facts.wanted : live == 0;
}

std::string CountText(const Facts& facts) {
  const std::string live = std::to_string(LivePods(facts));
  return facts.wanted ? live + " of " + Counted(*facts.wanted, "pod") + " exist"
                      : Counted(LivePods(facts), "pod") + " exist";
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

std::string GroupText(const GroupFacts& group) { return "PodGroup " + group.name; }

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
    const bool to_come = facts.wanted && LivePods(facts) < *facts.wanted;
    if (group->pods >= group->min_member || (group->pods > 0 && !to_come)) continue;
    // An AscendJob or vcjob gets its pods once the PodGroup is enqueued.
    if (group->pods == 0 && (group->phase == "Pending" || group->phase.empty())) continue;
    found.push_back({.what = GroupText(*group) + " waits for pods: minMember is " +
                             std::to_string(group->min_member) + ", and it has " +
                             Counted(group->pods, "pod"),
                     .why = "The scheduler binds a gang together or not at all.",
                     .fix = "find out why the controller creates no more pods: kubectl describe " +
                            ToLower(facts.kind) + " " + facts.name + InNamespace(facts)});
  }
  return found;
}

Findings MinMemberTooLarge(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    const bool to_come = facts.wanted && LivePods(facts) < *facts.wanted;
    if (group->pods == 0 || group->pods >= group->min_member || to_come) continue;
    found.push_back({.what = GroupText(*group) + " can never start: minMember is " +
                             std::to_string(group->min_member) + ", and it has only " +
                             Counted(group->pods, "pod"),
                     .why = "The controller created all pods that the workload asks for.",
                     .fix = "set minMember (minAvailable of a job, "
                            "scheduling.volcano.sh/group-min-member of pods) to " +
                            std::to_string(group->pods) + " or less, or ask for more replicas"});
  }
  return found;
}

Findings KTooLarge(const Facts& facts) {
  Findings found;
  for (const GroupFacts* group : OpenGangs(facts)) {
    if (!group->k || group->min_member != 1 || group->pods == 0 || *group->k <= group->pods) {
      continue;
    }
    found.push_back({.what = GroupText(*group) + " can never start: huawei.com/" +
                             "schedule_minAvailable is " + std::to_string(*group->k) +
                             ", and it has only " + Counted(group->pods, "pod"),
                     .why = "MindCluster's plugin binds that many pods together or none.",
                     .fix = "set the annotation huawei.com/schedule_minAvailable to \"" +
                            std::to_string(group->pods) + "\" or less"});
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

}  // namespace mindgate::why
