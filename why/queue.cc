#include <algorithm>
#include <set>

#include "base/text.h"
#include "why/checks.h"

// Queues of Volcano and quotas of the namespace.
namespace mindgate::why {
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
    found.push_back({.what = "PodGroup " + group->name + " names Queue " + queue->name +
                             ", which does not exist",
                     .why = "Volcano enqueues nothing of a queue that it does not know.",
                     .fix = "create the Queue, or name another one: kubectl get queues"});
  }
  return found;
}

Findings QueueClosed(const Facts& facts) {
  Findings found;
  for (const auto& [group, queue] : Queued(facts)) {
    if (queue->state != "Closed" && queue->state != "Closing") continue;
    found.push_back(
        {.what = "Queue " + queue->name + " is " + queue->state + ": it takes no new PodGroups",
         .why = "PodGroup " + group->name + " is of this queue.",
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
  const bool missing = !facts.is_over() && !facts.suspended && facts.wanted &&
                       static_cast<int64_t>(facts.pods.size()) < *facts.wanted;
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
                " and on the nodes; kubectl describe podgroup " + group.name + InNamespace(facts),
         .evidence = std::move(evidence)});
  }
  return found;
}

}  // namespace mindgate::why
