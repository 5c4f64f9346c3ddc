#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "why/facts.h"
#include "why/reasons.h"

// Facts about a Deployment with two pods, for tests of what reasons are found in them.
namespace mindgate::why::testing {

inline constexpr Time kNow{std::chrono::seconds(1'772'352'000)};  // 2026-03-01T08:00:00Z

inline PodFacts Waiting(const std::string& name) {
  return {.name = name,
          .phase = "Pending",
          .scheduler = "volcano",
          .pod_group = "pg",
          .created = kNow - std::chrono::minutes(5),
          .resource = "huawei.com/Ascend910",
          .npus = 8,
          .scheduler_reported = true};
}

inline PodFacts Running(const std::string& name) {
  PodFacts pod = Waiting(name);
  pod.phase = "Running";
  pod.node = "npu-0";
  pod.ready = true;
  pod.containers = {{.name = "main", .ready = true, .state = "running"}};
  return pod;
}

// Two pods that wait, of a gang that is enqueued; no reason is known.
inline Facts Chat() {
  Facts facts{.kind = "Deployment",
              .resource = "deployment",
              .name = "chat",
              .ns = "infer",
              .now = kNow,
              .wanted = 2};
  facts.pods = {Waiting("chat-0"), Waiting("chat-1")};
  facts.groups = {
      {.name = "pg", .min_member = 2, .phase = "Inqueue", .queue = "default", .pods = 2}};
  facts.queues = {{.name = "default", .state = "Open"}};
  return facts;
}

inline Facts RunningChat() {
  Facts facts = Chat();
  facts.pods = {Running("chat-0"), Running("chat-1")};
  facts.groups[0].phase = "Running";
  facts.groups[0].placed = 2;
  return facts;
}

inline EventFacts Event(const std::string& about, const std::string& reason,
                        const std::string& note, const std::string& reporter = "") {
  return {.about = about,
          .reason = reason,
          .note = note,
          .reporter = reporter,
          .time = "2026-03-01T07:59:00Z",
          .warning = true};
}

inline PlacementFacts Placement(std::vector<NodeFacts> nodes) {
  return {.pods = {"chat-0", "chat-1"},
          .resource = "huawei.com/Ascend910",
          .npus = 8,
          .nodes = std::move(nodes)};
}

inline NodeFacts Node(const std::string& name, const std::string& why_not, int64_t free = 8) {
  return {.name = name, .why_not = why_not, .offers = true, .free = free, .all = 8};
}

// The one waiting container of a placed pod.
inline Facts WithContainer(ContainerFacts container) {
  Facts facts = RunningChat();
  facts.pods[0].phase = container.state == "waiting" ? "Pending" : "Running";
  facts.pods[0].ready = false;
  facts.pods[0].containers = {std::move(container)};
  return facts;
}

inline std::vector<std::string> IdsOf(const Facts& facts) {
  std::vector<std::string> ids;
  for (const Reason& reason : WhyIsIt(facts).reasons) ids.push_back(reason.id);
  return ids;
}

}  // namespace mindgate::why::testing
