#include "audit/changes.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "audit/collections.h"
#include "base/thread.h"
#include "json/value.h"
#include "watcher/frame/watch_fault.h"

namespace mindgate::audit {
namespace {

using json::Value;
using schemas::Kind;

// What of the metadata stands for a change that a user made.
std::vector<json::Projection::Path> MetadataFields() {
  return {{"metadata", "generation"},
          {"metadata", "labels"},
          {"metadata", "annotations"},
          {"metadata", "ownerReferences"}};
}

uint64_t HashOf(const Value& object) {
  std::string text = json::TextAt(object, {"metadata", "uid"});
  for (const std::string_view member : {"generation", "labels", "annotations"}) {
    text += '\n';
    const Value* const found = json::FindPath(object, {"metadata", member});
    if (found != nullptr) json::AppendDump(*found, text);
  }
  return std::hash<std::string>()(text);
}

}  // namespace

Changes::Changes(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                 log::Logger& logger, watcher::PodInformer& pods, Options options)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      logger_(logger),
      options_(std::move(options)),
      namespaces_(client, sleeper, clock, NamespaceOptions()) {
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (schemas::kPodMakers.Has(info.kind)) {
      kinds_.emplace_back(client, sleeper, clock, KindOptions(info, {}));
    }
  }
  SubscribeTo(pods);
}

Changes::Informer::Options Changes::NamespaceOptions() const {
  Informer::Options options = Following(kube::resources::kNamespaces);
  if (!options_.ns.empty()) options.selection.field_selector = "metadata.name=" + options_.ns;
  options.project = [](const Value& object) { return std::optional(HashOf(object)); };
  options.seed = options_.seed;
  return options;
}

Changes::Informer::Options Changes::KindOptions(const schemas::KindInfo& info,
                                                const schemas::SiteKinds& kinds) const {
  Informer::Options options = Following(ResourceOf(info));
  options.project = [kinds, &info](const Value& object) {
    return IsMade(info, object, kinds) ? std::nullopt : std::optional(HashOf(object));
  };
  options.seed = options_.seed + static_cast<uint64_t>(info.kind);
  return options;
}

Changes::Informer::Options Changes::Following(const kube::Resource& resource) const {
  Informer::Options options;
  options.selection = {.resource = resource,
                       .ns = resource.namespaced ? options_.ns : std::string(),
                       .fields = MetadataFields(),
                       .metadata_only = true};
  const bool of_namespaces = resource == kube::resources::kNamespaces;
  options.changed = [this, of_namespaces](const std::string& key, const uint64_t* before,
                                          const uint64_t* after) {
    if (before != nullptr && after != nullptr && *before == *after) return;
    const size_t slash = key.find('/');
    options_.changed(of_namespaces ? key.substr(slash + 1) : key.substr(0, slash));
  };
  options.failed = [warn = watcher::WarnOfWatchFaults(logger_, resource.plural)](
                       const kube::Fault& fault, std::chrono::milliseconds pause) {
    // Few clusters have all kinds.
    if (fault.reason != kube::Reason::kNotFound) warn(fault, pause);
  };
  return options;
}

void Changes::SubscribeTo(watcher::PodInformer& pods) const {
  using Namespace = std::string;
  const auto project = [](const Value& pod) {
    return IsMade(schemas::InfoOf(Kind::kPod), pod, {})
               ? nullptr
               : std::make_shared<const Namespace>(json::TextAt(pod, {"metadata", "namespace"}));
  };
  watcher::PodInformer::Subscription<Namespace> subscription;
  subscription.wanted = options_.wanted;
  subscription.fields = {{"metadata", "ownerReferences"}};
  subscription.project = project;
  subscription.left_out = project;  // whose it is stands in its metadata
  subscription.changed = [this](const watcher::PodInformer::Ptr<Namespace>& before,
                                const watcher::PodInformer::Ptr<Namespace>& after) {
    if ((before == nullptr) != (after == nullptr)) {
      options_.changed(before == nullptr ? *after : *before);
    }
  };
  subscription.became_current = [] {};
  pods.Subscribe<Namespace>(std::move(subscription));
}

void Changes::Run(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  for (Informer& kind : kinds_) {
    threads.push_back(StartThread("audit-kind", [&kind, stop] { kind.Run(stop); }));
  }
  threads.push_back(StartThread("audit-namespaces", [this, stop] { namespaces_.Run(stop); }));
  while (!stop.stop_requested()) RunSiteKinds(stop);
}

void Changes::Follow(const schemas::SiteKinds& kinds) {
  const MutexLock lock(mutex_);
  site_ = kinds;
  site_changed_.NotifyAll();
}

void Changes::RunSiteKinds(const std::stop_token& stop) {
  std::stop_source enough;
  const std::stop_callback forward(stop, [&enough] { enough.request_stop(); });
  std::list<Informer> informers;
  std::vector<std::jthread> threads;
  MutexLock lock(mutex_);
  const schemas::SiteKinds kinds = site_;
  for (size_t i = 0; i < kinds.size(); ++i) {
    Informer& kind =
        informers.emplace_back(client_, sleeper_, clock_, KindOptions(kinds.info(i), kinds));
    threads.push_back(
        StartThread("audit-kind", [&kind, until = enough.get_token()] { kind.Run(until); }));
  }
  site_changed_.Wait(lock, stop, [&]() REQUIRES(mutex_) { return site_ != kinds; });
  enough.request_stop();
}

bool Changes::Exists(const std::string& ns) const {
  return namespaces_.objects()->Find("/" + ns) != nullptr;
}

void Changes::ForEachNamespace(const std::function<void(const std::string& ns)>& visit) const {
  namespaces_.objects()->ForEach(
      [&visit](const std::string& key, uint64_t) { visit(key.substr(1)); });
}

}  // namespace mindgate::audit
