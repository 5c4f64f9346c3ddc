#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "cli/console/terminal.h"
#include "cli/status/why.h"

namespace mindgate::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMaxGroupsShown = 5;

Color ColorOfState(why::State state) {
  switch (state) {
    case why::State::kRunning:
    case why::State::kDone:
      return Color::kGreen;
    case why::State::kHanging:
      return Color::kRed;
    default:
      return Color::kYellow;
  }
}

std::string PodState(const why::PodFacts& pod) {
  if (pod.gone_by) return "Terminating";
  if (pod.gated() && pod.node.empty()) return "gated";
  return pod.phase == "Running" && !pod.ready ? "Running, not ready" : pod.phase;
}

// "Running 1, Pending 2".
std::map<std::string, size_t> PodCounts(const why::Facts& facts) {
  std::map<std::string, size_t> counts;
  for (const why::PodFacts& pod : facts.pods) ++counts[PodState(pod)];
  return counts;
}

std::string PodsCell(const why::Facts& facts) {
  std::string text = std::to_string(facts.pods.size() + facts.pods_left_out);
  if (facts.wanted) text += " of " + std::to_string(*facts.wanted);
  std::vector<std::string> parts;
  for (const auto& [state, count] : PodCounts(facts)) {
    parts.push_back(std::to_string(count) + " " + state);
  }
  return parts.empty() ? text : text + ": " + Join(parts, ", ");
}

std::string GroupCell(const why::GroupFacts& group) {
  if (!group.exists) return group.name + ": it does not exist";
  return group.name + ": minMember " + std::to_string(group.min_member) + ", K " +
         (group.k ? std::to_string(*group.k) : std::string("<none>")) + ", phase " +
         (group.phase.empty() ? "<none>" : group.phase) + ", " + Counted(group.pods, "pod") +
         ", of these " + std::to_string(group.placed) + " on nodes";
}

std::string QueueCell(const why::QueueFacts& queue) {
  return queue.name + ": " +
         (!queue.exists         ? "it does not exist"
          : queue.state.empty() ? "<unknown>"
                                : queue.state);
}

std::map<std::string, size_t> GateCounts(const why::Facts& facts) {
  std::map<std::string, size_t> counts;
  for (const why::PodFacts& pod : facts.pods) {
    for (const std::string& gate : pod.gates) ++counts[gate];
  }
  return counts;
}

std::string NodesCell(const why::PlacementFacts& placement) {
  std::map<std::string, size_t> counts;
  for (const why::NodeFacts& node : placement.nodes) {
    ++counts[node.why_not.empty() ? "room" : node.why_not];
  }
  std::vector<std::string> parts;
  for (const auto& [why, count] : counts) parts.push_back(why + " on " + std::to_string(count));
  const std::string asks =
      placement.npus > 0 ? std::to_string(placement.npus) + " " + placement.resource : "no NPUs";
  return "for a pod with " + asks + ": " + (parts.empty() ? "there are none" : Join(parts, ", "));
}

void PrintFacts(const why::Facts& facts, const Paint& paint, std::ostream& out) {
  Table table({"FACT", "VALUE"});
  table.Add({"pods", PodsCell(facts)});
  if (!facts.owners.empty()) table.Add({"owner", Join(facts.owners, ", of ")});
  for (size_t i = 0; i < std::min(facts.groups.size(), kMaxGroupsShown); ++i) {
    table.Add({"PodGroup", GroupCell(facts.groups[i])});
  }
  if (facts.groups.size() > kMaxGroupsShown) {
    table.Add(
        {"PodGroup", "and " + std::to_string(facts.groups.size() - kMaxGroupsShown) + " more"});
  }
  for (const why::QueueFacts& queue : facts.queues) table.Add({"queue", QueueCell(queue)});
  for (const auto& [gate, count] : GateCounts(facts)) {
    table.Add({"gate", gate + " on " + Counted(static_cast<int64_t>(count), "pod")});
  }
  for (const why::PlacementFacts& placement : facts.placements) {
    table.Add({"nodes", NodesCell(placement)});
  }
  table.Print(paint, out);
}

void PrintReason(size_t number, const why::Reason& reason, const Paint& paint, size_t width,
                 std::ostream& out) {
  const std::string margin = "   ";
  const std::string what = Wrapped(reason.what + " [" + reason.id + "]", width, margin);
  const std::string numbered = std::to_string(number) + ". ";
  out << "\n"
      << paint(Color::kBold, numbered) << what.substr(std::min(numbered.size(), what.size()));
  if (!reason.why.empty()) out << Wrapped(reason.why, width, margin);
  for (const std::string& line : reason.evidence) out << Wrapped("- " + line, width, margin);
  if (!reason.fix.empty()) out << Wrapped("fix: " + reason.fix, width, margin);
}

}  // namespace

void PrintWhy(const why::Facts& facts, const why::Answer& answer, const Paint& paint, size_t width,
              std::ostream& out) {
  out << facts.kind << "/" << facts.name << (facts.ns.empty() ? "" : " in namespace " + facts.ns)
      << ": " << paint(ColorOfState(answer.state), std::string(why::StateName(answer.state)))
      << "\n\n";
  PrintFacts(facts, paint, out);
  size_t number = 0;
  for (const why::Reason& reason : answer.reasons) {
    PrintReason(++number, reason, paint, width, out);
  }
  if (!facts.unread.empty()) out << "\nNot read:\n";
  for (const why::UnreadFacts& unread : facts.unread) {
    out << Wrapped("- " + unread.what + ": " + unread.why, width);
  }
}

ordered_json WhyJson(const why::Facts& facts, const why::Answer& answer) {
  auto groups = ordered_json::array();
  for (const why::GroupFacts& group : facts.groups) {
    groups.push_back({{"name", group.name},
                      {"exists", group.exists},
                      {"minMember", group.min_member},
                      {"k", group.k ? ordered_json(*group.k) : ordered_json(nullptr)},
                      {"phase", group.phase},
                      {"queue", group.queue},
                      {"pods", group.pods},
                      {"gated", group.gated},
                      {"placed", group.placed}});
  }
  auto queues = ordered_json::array();
  for (const why::QueueFacts& queue : facts.queues) {
    queues.push_back({{"name", queue.name}, {"exists", queue.exists}, {"state", queue.state}});
  }
  auto nodes = ordered_json::array();
  for (const why::PlacementFacts& placement : facts.placements) {
    std::map<std::string, size_t> counts;
    for (const why::NodeFacts& node : placement.nodes) ++counts[node.why_not];
    nodes.push_back({{"pods", placement.pods},
                     {"resource", placement.resource},
                     {"npus", placement.npus},
                     {"room", counts[""]},
                     {"why", ordered_json::object()}});
    for (const auto& [why, count] : counts) {
      if (!why.empty()) nodes.back()["why"][why] = count;
    }
  }
  auto reasons = ordered_json::array();
  for (const why::Reason& reason : answer.reasons) {
    reasons.push_back({{"id", reason.id},
                       {"state", why::StateName(reason.state)},
                       {"what", reason.what},
                       {"why", reason.why},
                       {"fix", reason.fix},
                       {"evidence", reason.evidence}});
  }
  auto unread = ordered_json::array();
  for (const why::UnreadFacts& one : facts.unread) {
    unread.push_back({{"what", one.what}, {"why", one.why}});
  }
  return {{"kind", facts.kind},
          {"namespace", facts.ns},
          {"name", facts.name},
          {"state", why::StateName(answer.state)},
          {"owners", facts.owners},
          {"wanted", facts.wanted ? ordered_json(*facts.wanted) : ordered_json(nullptr)},
          {"pods", PodCounts(facts)},
          {"podGroups", std::move(groups)},
          {"queues", std::move(queues)},
          {"gates", GateCounts(facts)},
          {"nodes", std::move(nodes)},
          {"reasons", std::move(reasons)},
          {"unread", std::move(unread)}};
}

}  // namespace mindgate::cli
