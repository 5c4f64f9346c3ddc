#include "watcher/faults/feed.h"

#include <thread>
#include <utility>

#include "base/thread.h"

namespace mindgate::watcher::faults {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

Feed::Feed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      options_(std::move(options)),
      cluster_(MakeInformer(Writer::kClusterD, kClusterNamespace, kClusterSelector)),
      devices_(MakeInformer(Writer::kNodes, kDeviceNamespace, kNodeSelector)),
      machines_(MakeInformer(Writer::kNodes, kNodeNamespace, kNodeSelector)),
      public_(MakePublicInformers()) {}

// One for each namespace that counts: what tenants write elsewhere is not even read.
std::vector<std::unique_ptr<Feed::Informer>> Feed::MakePublicInformers() {
  std::vector<std::unique_ptr<Informer>> informers;
  for (const std::string_view ns : kPublicNamespaces) {
    informers.push_back(MakeInformer(Writer::kPublic, ns, kPublicSelector));
  }
  return informers;
}

std::unique_ptr<Feed::Informer> Feed::MakeInformer(Writer writer, std::string_view ns,
                                                   std::string_view selector) {
  Informer::Options options;
  options.selection.resource = kube::resources::kConfigMaps;
  options.selection.ns = ns;
  options.selection.label_selector = selector;
  options.selection.fields = {{"data"}};
  options.project = [writer](const json::Value& config_map) { return Worth(config_map, writer); };
  options.changed = [this, writer](const std::string& key, const Told* before, const Told* after) {
    Changed(writer, key, before, after);
  };
  options.became_current = [this] {
    Recount();
    if (options_.became_current && current()) options_.became_current();
  };
  options.failed = options_.failed;
  options.seed = options_.seed + std::hash<std::string_view>()(selector);
  return std::make_unique<Informer>(client_, sleeper_, clock_, std::move(options));
}

bool Feed::by_clusterd() const {
  const MutexLock lock(mutex_);
  return Counts().clusterd;
}

std::vector<ReportVersion> Feed::ReportsOf(const std::string& node) const {
  const MutexLock lock(mutex_);
  return told_.ReportsOf(node, counting_);
}

bool Feed::IsOld(const std::optional<Time>& newest) const {
  return newest && *newest + kOld < clock_.WallNow();
}

bool Feed::WantsNodes() const {
  switch (options_.source()) {
    case Source::kAuto: {
      if (!cluster_->synced()) return false;
      const MutexLock lock(mutex_);
      return !told_.clusterd_speaks() || IsOld(told_.clusterd_newest());
    }
    case Source::kClusterD:
      return false;
    case Source::kNodes:
      return true;
  }
  return false;
}

ToldByAll::Counting Feed::Counts() const {
  constexpr ToldByAll::Counting kClusterD{.clusterd = true, .nodes = false};
  constexpr ToldByAll::Counting kNodes{.clusterd = false, .nodes = true};
  switch (options_.source()) {
    case Source::kClusterD:
      return kClusterD;
    case Source::kNodes:
      return kNodes;
    case Source::kAuto:
      break;
  }
  if (!told_.clusterd_speaks()) return kNodes;
  const auto of_clusterd = told_.clusterd_newest();
  const auto of_nodes = told_.nodes_newest();
  const bool gone = IsOld(of_clusterd) && of_nodes && *of_clusterd + kBehind < *of_nodes;
  return gone ? kNodes : kClusterD;
}

bool Feed::current() const {
  if (options_.source() == Source::kNodes) return devices_->current() && machines_->current();
  if (!cluster_->current()) return false;
  return !WantsNodes() || (devices_->current() && machines_->current());
}

size_t Feed::left_out() const {
  size_t left_out = cluster_->left_out() + devices_->left_out() + machines_->left_out();
  for (const auto& informer : public_) left_out += informer->left_out();
  return left_out;
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
    std::stop_source end;
    const std::stop_callback forward(stop, [&end] { end.request_stop(); });
    {
      const std::jthread devices =
          StartThread("faults-devices", [&] { devices_->Run(end.get_token()); });
      const std::jthread machines =
          StartThread("faults-machines", [&] { machines_->Run(end.get_token()); });
      std::vector<std::jthread> others;
      for (const auto& informer : public_) {
        others.push_back(StartThread("faults-public", [&] { informer->Run(end.get_token()); }));
      }
      while (WantsNodes() && sleeper_.Sleep(kLook, end.get_token())) Recount();
      end.request_stop();
    }
    if (stop.stop_requested()) return;
    Recount();
  }
}

void Feed::Changed(Writer writer, const std::string& config_map, const Told* before,
                   const Told* after) {
  if (after != nullptr && options_.misread &&
      (before == nullptr || before->problems != after->problems)) {
    for (const std::string& problem : after->problems) options_.misread(problem);
  }
  std::vector<std::string> nodes;
  {
    const MutexLock lock(mutex_);
    // A ConfigMap may have the labels of two kinds of reports.
    const std::string key = writer == Writer::kPublic ? config_map + " public" : config_map;
    nodes = Publish(told_.Put(writer, key, after));
  }
  if (!nodes.empty()) options_.changed(nodes);
  Recount();
}

void Feed::Recount() {
  std::vector<std::string> nodes;
  bool by_clusterd = false;
  {
    const MutexLock lock(mutex_);
    const ToldByAll::Counting counting = Counts();
    if (counting == counting_) return;
    counting_ = counting;
    by_clusterd = counting.clusterd;
    nodes = Publish(told_.nodes());
  }
  if (options_.switched) options_.switched(by_clusterd);
  if (!nodes.empty()) options_.changed(nodes);
}

// Returns those of which something else is told now.
std::vector<std::string> Feed::Publish(const std::set<std::string>& nodes) {
  const auto now = faults_.Get();
  std::map<std::string, NodeFaults> changes;
  for (const std::string& node : nodes) {
    NodeFaults merged = told_.Merged(node, counting_);
    const auto before = now->find(node);
    if (merged == (before == now->end() ? NodeFaults() : before->second)) continue;
    changes.emplace(node, std::move(merged));
  }
  std::vector<std::string> changed;
  if (changes.empty()) return changed;
  auto next = std::make_shared<FaultsByNode>(*now);
  for (auto& [node, merged] : changes) {
    changed.push_back(node);
    if (merged == NodeFaults()) {
      next->erase(node);
    } else {
      next->insert_or_assign(node, std::move(merged));
    }
  }
  faults_.Set(std::move(next));
  return changed;
}

}  // namespace mindgate::watcher::faults
