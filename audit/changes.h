#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/informer.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"
#include "watcher/frame/pods.h"

// Which namespaces have something new to audit.
namespace mindgate::audit {

// Follows the metadata of namespaces and of all kinds that make pods, and which pods have no
// controller that mindgate knows. Of each object a hash of what users write in its metadata is
// kept, so that a status that changes is no change. ConfigMaps, Services, PodGroups and autoscalers
// are not followed: controllers write many of them every few seconds.
class Changes {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    std::function<bool()> wanted;
    // A namespace, or what is in none (empty), has changed; from any thread.
    std::function<void(const std::string& ns)> changed;
    uint64_t seed = 1;
  };

  // `pods` must not run yet. All must outlive it.
  Changes(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
          watcher::PodInformer& pods, Options options);

  // Until `stop`, in the caller's thread and one for each kind. Called once.
  void Run(const std::stop_token& stop);
  // From now on these kinds of the site are followed like the others, and those of the last call
  // are not. Their pods are taken for those of an unknown controller. From any thread, also before
  // Run.
  void Follow(const schemas::SiteKinds& kinds);

  bool Exists(const std::string& ns) const;
  void ForEachNamespace(const std::function<void(const std::string& ns)>& visit) const;
  // Whether all namespaces are known.
  bool synced() const { return namespaces_.synced(); }

 private:
  using Informer = kube::Informer<uint64_t>;  // a hash

  // Without what is kept of an object, and the seed.
  Informer::Options Following(const kube::Resource& resource) const;
  Informer::Options NamespaceOptions() const;
  Informer::Options KindOptions(const schemas::KindInfo& info,
                                const schemas::SiteKinds& kinds) const;
  void SubscribeTo(watcher::PodInformer& pods) const;
  // Until the site has other kinds, or `stop`.
  void RunSiteKinds(const std::stop_token& stop);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  log::Logger& logger_;
  const Options options_;
  Informer namespaces_;
  std::list<Informer> kinds_;  // built in
  Mutex mutex_;
  ConditionVariable site_changed_;
  schemas::SiteKinds site_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::audit
