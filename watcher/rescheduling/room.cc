#include "watcher/rescheduling/room.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace mindgate::watcher::rescheduling {
namespace {

using faults::FaultsByNode;

const faults::DeviceFaults* DevicesOf(const FaultsByNode& faults, const std::string& node) {
  const auto found = faults.find(node);
  return found == faults.end() ? nullptr : &found->second.devices;
}

template <typename Chips>
int64_t Working(const Chips& chips, const faults::DeviceFaults* devices) {
  return std::count_if(chips.begin(), chips.end(), [&](const auto& chip) {
    return devices == nullptr || !devices->unhealthy.contains(chip);
  });
}

}  // namespace

NodeNpus NpusOf(const std::string& node, int64_t allocatable, int64_t capacity, bool usable,
                const FaultsByNode& faults, const JobIndex& jobs) {
  NodeNpus npus{.node = node};
  const auto reported = faults.find(node);
  if (!usable || (reported != faults.end() && reported->second.IsUnhealthy())) return npus;
  const faults::DeviceFaults* devices = DevicesOf(faults, node);
  if (devices == nullptr || devices->unhealthy.empty()) {
    npus.offered = allocatable;
    npus.used = jobs.CountChipsOn(node);
  } else {
    npus.offered = std::min(allocatable, capacity - std::ssize(devices->unhealthy));
    npus.used = Working(jobs.ChipsOn(node), devices);
  }
  return npus;
}

std::string WhyNoRoom(const Job& job, const std::vector<size_t>& going, const FaultsByNode& faults,
                      std::span<const NodeNpus> nodes) {
  int64_t npus = 0;
  for (const Task& task : job.tasks) npus = std::max(npus, std::ssize(task.chips));
  if (npus == 0) return "";
  std::map<std::string, int64_t> freed;
  int64_t pods = std::ssize(going);
  for (const size_t i : going) {
    const Task& task = job.tasks[i];
    if (!task.node.empty()) freed[task.node] += Working(task.chips, DevicesOf(faults, task.node));
  }
  pods += std::count_if(job.tasks.begin(), job.tasks.end(),
                        [](const Task& task) { return task.node.empty() && !task.gated; });
  int64_t places = 0;
  for (const NodeNpus& node : nodes) {
    if (node.offered <= 0) continue;
    const auto own = freed.find(node.node);
    const int64_t used = node.used - (own == freed.end() ? 0 : own->second);
    places += std::max<int64_t>(node.offered - used, 0) / npus;
    if (places >= pods) return "";
  }
  return "there is no room for " + Counted(pods, "pod") + " with " + Counted(npus, "NPU") +
         (pods == 1 ? "" : " each");
}

}  // namespace mindgate::watcher::rescheduling
