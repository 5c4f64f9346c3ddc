#include "watcher/faults/feed.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace mindgate::watcher::faults {
namespace {

constexpr std::chrono::seconds kLook{1};

// Without what changes although nothing happens.
void Trim(NodeReport& node) {
  if (!node.devices) return;
  node.devices->updated.reset();
  if (*node.devices == DeviceFaults()) node.devices.reset();
}

// Only what is worth keeping.
std::optional<Report> FaultyPart(const json::Value& config_map) {
  auto report = ReadReport(config_map);
  if (!report) return std::nullopt;
  std::erase_if(report->nodes, [](NodeReport& node) {
    Trim(node);
    if (node.machine && *node.machine == HardwareFaults()) node.machine.reset();
    if (node.switches && *node.switches == HardwareFaults()) node.switches.reset();
    return !node.devices && !node.machine && !node.switches;
  });
  report->nodes.shrink_to_fit();
  return report;
}

}  // namespace

Feed::Feed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      options_(std::move(options)),
      cluster_(MakeInformer(kClusterNamespace, kClusterSelector)),
      devices_(MakeInformer(kDeviceNamespace, kNodeSelector)),
      machines_(MakeInformer(kNodeNamespace, kNodeSelector)) {}

std::unique_ptr<Feed::Informer> Feed::MakeInformer(std::string_view ns, std::string_view selector) {
  Informer::Options options;
  options.selection.resource = kube::resources::kConfigMaps;
  options.selection.ns = ns;
  options.selection.label_selector = selector;
  options.selection.fields = {{"data"}};
  options.project = FaultyPart;
  options.changed = [this](const std::string& key, const Report* before, const Report* after) {
    Changed(key, before, after);
  };
  options.became_current = [this] {
    if (options_.became_current && current()) options_.became_current();
  };
  options.failed = options_.failed;
  options.seed = options_.seed + std::hash<std::string_view>()(selector);
  return std::make_unique<Informer>(client_, sleeper_, clock_, std::move(options));
}

bool Feed::by_clusterd() const {
  bool any = false;
  cluster_->objects()->ForEach([&](const std::string&, const Report&) { any = true; });
  return any;
}

bool Feed::WantsNodes() const {
  switch (options_.source()) {
    case Source::kAuto:
      return cluster_->synced() && !by_clusterd();
    case Source::kClusterD:
      return false;
    case Source::kNodes:
      return true;
  }
  return false;
}

bool Feed::current() const {
  if (options_.source() == Source::kNodes) return devices_->current() && machines_->current();
  if (!cluster_->current()) return false;
  return !WantsNodes() || (devices_->current() && machines_->current());
}

size_t Feed::left_out() const {
  return cluster_->left_out() + devices_->left_out() + machines_->left_out();
}

void Feed::Run(const std::stop_token& stop) {
  const std::jthread nodes = StartThread("faults-nodes", [&] { RunOfNodes(stop); });
  while (options_.source() == Source::kNodes) {
    if (!sleeper_.Sleep(kLook, stop)) return;
  }
  cluster_->Run(stop);
}

// Follows what the nodes report while nobody reports for them.
void Feed::RunOfNodes(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    while (!WantsNodes()) {
      if (!sleeper_.Sleep(kLook, stop)) return;
    }
    // What they told when they were followed before is known to them and to nobody else.
    ForEachReport(
        [&](const std::string& key, const Report& report) { Changed(key, nullptr, &report); });
    std::stop_source end;
    const std::stop_callback forward(stop, [&end] { end.request_stop(); });
    {
      const std::jthread devices =
          StartThread("faults-devices", [&] { devices_->Run(end.get_token()); });
      const std::jthread machines =
          StartThread("faults-machines", [&] { machines_->Run(end.get_token()); });
      while (WantsNodes() && sleeper_.Sleep(kLook, end.get_token())) {
      }
      end.request_stop();
    }
    if (stop.stop_requested()) return;
    ForEachReport(
        [&](const std::string& key, const Report& report) { Changed(key, &report, nullptr); });
  }
}

void Feed::ForEachReport(
    const std::function<void(const std::string& key, const Report& report)>& visit) const {
  for (const auto* informer : {devices_.get(), machines_.get()})
    informer->objects()->ForEach(visit);
}

void Feed::Changed(const std::string& config_map, const Report* before, const Report* after) {
  if (after != nullptr && options_.misread &&
      (before == nullptr || before->problems != after->problems)) {
    for (const std::string& problem : after->problems) options_.misread(problem);
  }
  std::map<std::string_view, const NodeReport*> old;
  if (before != nullptr) {
    for (const NodeReport& node : before->nodes) old[node.node] = &node;
  }
  std::vector<std::string> nodes;
  {
    const MutexLock lock(mutex_);
    if (after != nullptr) {
      for (const NodeReport& node : after->nodes) {
        const auto same = old.find(node.node);
        const bool is_same = same != old.end() && *same->second == node;
        if (same != old.end()) old.erase(same);
        if (is_same) continue;
        told_[node.node][config_map] = node;
        nodes.push_back(node.node);
      }
    }
    for (const auto& [name, report] : old) {
      const auto found = told_.find(name);
      if (found == told_.end()) continue;
      found->second.erase(config_map);
      if (found->second.empty()) told_.erase(found);
      nodes.emplace_back(name);
    }
    if (nodes.empty()) return;
    auto next = std::make_shared<FaultsByNode>(*faults_.Get());
    for (const std::string& name : nodes) {
      next->erase(name);
      const auto found = told_.find(name);
      if (found == told_.end()) continue;
      for (const auto& [key, report] : found->second) Merge({.nodes = {report}}, *next);
    }
    faults_.Set(std::move(next));
  }
  options_.changed(nodes);
}

}  // namespace mindgate::watcher::faults
