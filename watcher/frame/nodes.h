#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/informer.h"

namespace mindgate::watcher {

// The condition Ready of a node; one that has not told anything yet is ready. Reads
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
    std::function<void()> became_current{};
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
