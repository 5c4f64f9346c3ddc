#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "json/projection.h"
#include "kube/informer.h"

namespace mindgate::watcher {

// The pods of the cluster, followed once for all controllers. Each subscribes with the members that
// it reads and what it keeps of a pod; what no controller keeps costs no memory. Pods that have
// ended are not followed: they take part in nothing, and a cluster may keep many of them.
class PodInformer {
 public:
  template <typename T>
  using Ptr = std::shared_ptr<const T>;

  template <typename T>
  struct Subscription {
    // Whether pods are needed for it now; those of nobody are not followed.
    std::function<bool()> wanted;
    std::string label_selector{};  // empty: all pods. Others may need more; `project` chooses
    bool failed = false;           // also pods in phase Failed; those that succeeded never
    std::vector<json::Projection::Path> fields;
    // Null: of no interest.
    std::function<Ptr<T>(const json::Value& pod)> project;
    // Of a pod that is too large to be read; empty: nothing is current while there is one.
    std::function<Ptr<T>(const json::Value& metadata_only)> left_out{};
    // In the thread of Run; null: it did not exist before, or no longer exists.
    std::function<void(const Ptr<T>& before, const Ptr<T>& after)> changed;
    std::function<void()> became_current{};  // likewise
  };

  struct Options {
    std::string ns{};  // empty: all namespaces
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // The arguments must outlive it.
  PodInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Before Run.
  template <typename T>
  void Subscribe(Subscription<T> subscription) {
    const auto typed = [](const ErasedPtr& pod) { return std::static_pointer_cast<const T>(pod); };
    Subscriber erased{std::move(subscription.wanted),
                      std::move(subscription.label_selector),
                      subscription.failed,
                      std::move(subscription.fields),
                      std::move(subscription.project),
                      std::move(subscription.left_out),
                      {},
                      std::move(subscription.became_current)};
    erased.changed = [typed, changed = std::move(subscription.changed)](const ErasedPtr& before,
                                                                        const ErasedPtr& after) {
      changed(typed(before), typed(after));
    };
    subscribers_.push_back(std::move(erased));
  }

  // Until `stop`, in the caller's thread. Waits while nobody wants pods.
  void Run(const std::stop_token& stop);
  // What is wanted may have changed. From any thread.
  void Refresh();

  // As kube::Informer. From any thread; no pod is known before somebody wants pods.
  bool synced() const;
  bool current() const;
  bool WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const;
  size_t left_out() const;

 private:
  using ErasedPtr = std::shared_ptr<const void>;
  // What each subscriber keeps of a pod, in their order.
  using Kept = std::vector<ErasedPtr>;
  using Informer = kube::Informer<Kept>;

  struct Subscriber {
    std::function<bool()> wanted;
    std::string label_selector;
    bool failed;
    std::vector<json::Projection::Path> fields;
    std::function<ErasedPtr(const json::Value&)> project;
    std::function<ErasedPtr(const json::Value&)> left_out;
    std::function<void(const ErasedPtr&, const ErasedPtr&)> changed;
    std::function<void()> became_current;
  };

  struct Selectors {
    std::string label{};
    bool failed = false;
    std::vector<bool> subscribers{};  // which want pods
    bool operator==(const Selectors&) const = default;
  };

  // What serves all who want pods; nothing: nobody does.
  std::optional<Selectors> Wanted() const;
  void Reselect();  // ends the run of `informer_`
  std::optional<Kept> Project(const json::Value& pod, bool metadata_only,
                              const std::vector<bool>& wanted) const;
  void Changed(const Kept* before, const Kept* after) const;
  std::shared_ptr<Informer> MakeInformer(const Selectors& selectors);
  std::shared_ptr<const Informer> informer() const;

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Options options_;
  std::vector<Subscriber> subscribers_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::shared_ptr<Informer> informer_ GUARDED_BY(mutex_);
  std::optional<Selectors> selector_ GUARDED_BY(mutex_);  // of `informer_`
  std::stop_source reselect_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher
