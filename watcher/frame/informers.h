#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "json/decode.h"
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
    std::function<bool()> enabled;
    std::string label_selector{};  // empty: all pods. Others may need more; `project` chooses
    bool failed = false;           // also pods in phase Failed; those that succeeded never
    std::vector<json::Projection::Path> fields;
    // Null: of no interest.
    std::function<Ptr<T>(const json::Value& pod)> project;
    // Of a pod that is too large to be read; empty: nothing is current while there is one.
    std::function<Ptr<T>(const json::Value& metadata_only)> oversized{};
    // In the thread of Run; null: it did not exist before, or no longer exists. Pods are also gone
    // when they are not wanted any more.
    std::function<void(const Ptr<T>& before, const Ptr<T>& after)> changed;
    std::function<void()> on_synced{};  // likewise
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
    Subscriber erased{std::move(subscription.enabled),
                      std::move(subscription.label_selector),
                      subscription.failed,
                      std::move(subscription.fields),
                      std::move(subscription.project),
                      std::move(subscription.oversized),
                      {},
                      std::move(subscription.on_synced)};
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
    std::function<bool()> enabled;
    std::string label_selector;
    bool failed;
    std::vector<json::Projection::Path> fields;
    std::function<ErasedPtr(const json::Value&)> project;
    std::function<ErasedPtr(const json::Value&)> oversized;
    std::function<void(const ErasedPtr&, const ErasedPtr&)> changed;
    std::function<void()> on_synced;
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
  void Forget(const Informer& informer) const;
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

// The condition Ready of a node; one that has not reported anything yet is ready. Reads
// status.conditions.
bool IsReady(const json::Value& node);

// The serial number of the server, as NodeD writes it: the label
// huawei.com/npu.server.serial-number, else the annotation product-serial-number (mind-cluster:
// component/clusterd/pkg/domain/node). Empty when there is none, or when it is longer than any.
std::string SerialNumberOf(const json::Value& node);
inline constexpr size_t kMaxSerialNumber = 128;

// The nodes of the cluster: which are there and ready, and which can take pods. Without permission
// to read nodes none is known.
class NodeInformer {
 public:
  using Names = std::set<std::string, std::less<>>;

  struct Options {
    std::function<void()> changed{};  // the unusable ones are others; in the thread of Run
    // One has become ready, or is no longer so; it came or went. In the thread of Run.
    std::function<void(const std::string& node)> readiness_changed{};
    // Whether serial numbers are kept: about 250 bytes of memory for each node that has one.
    bool serials = false;
    // Whether the numbers of NPUs are kept, for ForEach.
    bool npus = false;
    // What SerialOf says of these nodes is something else. In the thread of Run.
    std::function<void(const std::set<std::string>& nodes)> serials_changed{};
    std::function<void()> on_synced{};
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };

  // Of a node, with Options::npus: those of all resources of NPUs together.
  struct Npus {
    int32_t allocatable = 0;
    int32_t capacity = 0;
    bool operator==(const Npus&) const = default;
  };

  struct Counts {
    size_t nodes = 0;
    size_t not_ready = 0;
  };

  // All must outlive it.
  NodeInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, Options options);

  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) { informer_.Run(stop); }

  // From any thread.
  // Not Ready, cordoned or being deleted: nothing can be placed there now.
  Names unusable() const;
  bool Exists(std::string_view node) const;
  // Whether it is there and Ready.
  bool IsReady(std::string_view node) const;
  Counts counts() const;
  // Each node: whether new pods may go there, as far as `unusable` and our taint say, and its NPUs.
  void ForEach(const std::function<void(const std::string& node, bool usable, const Npus& npus)>&
                   visit) const;
  Names not_ready() const;
  Names isolated() const;  // that have our taint
  // The serial number of a node, and the node that has it, with Options::serials.
  // Empty when there is none, or when several nodes have the same one.
  std::string SerialOf(const std::string& node) const;
  std::string NodeOf(const std::string& serial) const;
  bool synced() const { return informer_.synced(); }
  bool current() const { return informer_.current(); }

 private:
  struct State {
    bool ready = true;
    bool usable = true;
    bool isolated = false;
    std::string serial{};
    Npus npus{};
    bool operator==(const State&) const = default;
  };

  kube::Informer<State>::Options InformerOptions();
  void Note(const std::string& key, const State* before, const State* after);
  std::set<std::string> NoteSerial(const std::string& node, const std::string& before,
                                   const std::string& after) REQUIRES(mutex_);
  // Those that have it, two at most.
  std::set<std::string> Having(const std::string& serial) const REQUIRES(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  Names unusable_ GUARDED_BY(mutex_);
  Names not_ready_ GUARDED_BY(mutex_);
  Names isolated_ GUARDED_BY(mutex_);
  std::set<std::pair<std::string, std::string>> serials_ GUARDED_BY(mutex_);  // and their nodes
  size_t nodes_ GUARDED_BY(mutex_) = 0;
  kube::Informer<State> informer_;
};

}  // namespace mindgate::watcher
