#include "faults/feed.h"

#include <thread>
#include <utility>

#include "base/threads.h"

namespace mindgate::faults {
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
      machines_(MakeInformer(Writer::kNodes, kNodeNamespace, kNodeSelector)) {}

void Feed::UsePublic(const std::set<std::string>& namespaces) {
  std::vector<std::unique_ptr<Informer>> dropped;
  {
    const MutexLock lock(mutex_);
    for (auto each = public_.begin(); each != public_.end();) {
      if (namespaces.contains(each->first)) {
        ++each;
        continue;
      }
      dropped.push_back(std::move(each->second));
      each = public_.erase(each);
    }
    for (const std::string& ns : namespaces) {
      if (public_.contains(ns)) continue;
      public_.emplace(ns, MakeInformer(Writer::kPublic, ns, kPublicSelector));
    }
  }
  for (const auto& informer : dropped) {
    informer->objects()->ForEach([this](const std::string& key, const ReportSummary& summary) {
      Changed(Writer::kPublic, key, &summary, nullptr);
    });
  }
}

std::unique_ptr<Feed::Informer> Feed::MakeInformer(Writer writer, std::string_view ns,
                                                   std::string_view selector) {
  Informer::Options options;
  options.selection.resource = kube::resources::kConfigMaps;
  options.selection.ns = ns;
  options.selection.label_selector = selector;
  options.selection.fields = {{"data"}};
  options.project = [writer](const json::Value& config_map) {
    return Summarize(config_map, writer);
  };
  options.changed = [this, writer](const std::string& key, const ReportSummary* before,
                                   const ReportSummary* after) {
    Changed(writer, key, before, after);
  };
  options.on_synced = [this] {
    Recount();
    NotifyIfCurrent();
  };
  options.failed = options_.failed;
  options.seed = options_.seed + std::hash<std::string_view>()(selector);
  return std::make_unique<Informer>(client_, sleeper_, clock_, std::move(options));
}

bool Feed::by_clusterd() const {
  const MutexLock lock(mutex_);
  return Counts().clusterd;
}

std::optional<std::vector<ReportVersion>> Feed::ReportsOf(const std::string& node,
                                                          const NodeFaults& known) const {
  const MutexLock lock(mutex_);
  const auto now = known_.faults()->find(node);
  if (now == known_.faults()->end() || now->second != known) return std::nullopt;
  return known_.store().ReportsOf(node, known_.counting());
}

bool Feed::WantsNodes() const {
  const Source source = options_.source();
  if (source == Source::kAuto && !cluster_->synced()) return false;
  const MutexLock lock(mutex_);
  return known_.store().WantsNodes(source, clock_.WallNow());
}

FaultStore::TrustedSources Feed::Counts() const {
  return known_.store().ChooseSources(options_.source(), clock_.WallNow());
}

bool Feed::current() const {
  if (options_.source() == Source::kNodes) return devices_->current() && machines_->current();
  if (!cluster_->current()) return false;
  return !WantsNodes() || (devices_->current() && machines_->current());
}

size_t Feed::left_out() const {
  size_t left_out = cluster_->left_out() + devices_->left_out() + machines_->left_out();
  const MutexLock lock(mutex_);
  for (const auto& [ns, informer] : public_) left_out += informer->left_out();
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
    ForgetReplaced();
    while (FollowNodes(stop) == Ended::kOtherNamespaces) continue;
    if (stop.stop_requested()) return;
    Recount();
    // Without them what ClusterD reports is enough, which no informer will say.
    NotifyIfCurrent();
  }
}

void Feed::NotifyIfCurrent() const {
  if (options_.on_synced && current()) options_.on_synced();
}

// Until they are not needed any more, though they may be again by now, or other namespaces count.
Feed::Ended Feed::FollowNodes(const std::stop_token& stop) {
  const std::set<std::string> namespaces = options_.public_namespaces();
  UsePublic(namespaces);
  std::vector<Informer*> informers = {devices_.get(), machines_.get()};
  {
    const MutexLock lock(mutex_);
    for (const auto& [ns, informer] : public_) informers.push_back(informer.get());
  }
  std::stop_source end;
  const std::stop_callback forward(stop, [&end] { end.request_stop(); });
  std::vector<std::jthread> threads;
  for (Informer* informer : informers) {
    threads.push_back(
        StartThread("faults-nodes", [&end, informer] { informer->Run(end.get_token()); }));
  }
  Ended ended = Ended::kNotNeeded;
  while (WantsNodes()) {
    if (options_.public_namespaces() != namespaces) {
      ended = Ended::kOtherNamespaces;
      break;
    }
    if (!sleeper_.Sleep(kLook, end.get_token())) break;
    Recount();
  }
  end.request_stop();
  return ended;
}

void Feed::Changed(Writer writer, const std::string& config_map, const ReportSummary* before,
                   const ReportSummary* after) {
  if (after != nullptr && options_.misread &&
      (before == nullptr || before->problems != after->problems)) {
    for (const std::string& problem : after->problems) options_.misread(problem);
  }
  std::vector<std::string> nodes;
  bool too_many = false;
  {
    const MutexLock lock(mutex_);
    nodes = Publish(known_.Put(writer, config_map, after));
    const size_t left_out = known_.store().public_faults().left_out();
    too_many = std::exchange(left_out_, left_out) != left_out;
  }
  if (too_many && options_.misread) {
    options_.misread("ConfigMap " + config_map +
                     " has public faults that do not count, as more than 50,000 are known or they "
                     "take more than 16 MiB; send recover for those that are over");
  }
  if (!nodes.empty()) options_.changed(nodes, "ConfigMap " + config_map);
  Recount();
}

KnownFaults::Nodes Feed::Publish(KnownFaults::Nodes nodes) {
  if (!nodes.empty()) faults_.Set(known_.faults());
  return nodes;
}

// While nobody followed them, what ended may have been missed.
void Feed::ForgetReplaced() {
  std::vector<std::string> nodes;
  {
    const MutexLock lock(mutex_);
    nodes = Publish(known_.ForgetReplaced());
  }
  if (!nodes.empty()) options_.changed(nodes, "");
}

void Feed::SerialsChanged(const std::set<std::string>& nodes) {
  std::vector<std::string> changed;
  {
    const MutexLock lock(mutex_);
    changed = Publish(known_.Refresh(nodes));
  }
  if (!changed.empty()) options_.changed(changed, "");
}

void Feed::Recount() {
  std::optional<KnownFaults::Nodes> nodes;
  bool by_clusterd = false;
  {
    const MutexLock lock(mutex_);
    nodes = known_.Recount(options_.source(), clock_.WallNow());
    if (!nodes) return;
    faults_.Set(known_.faults());
    by_clusterd = known_.counting().clusterd;
  }
  if (options_.switched) options_.switched(by_clusterd);
  if (!nodes->empty()) options_.changed(*nodes, "");
}

}  // namespace mindgate::faults
