#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/resource.h"
#include "kube/transport.h"
#include "simulation/scenario.h"

namespace mindgate::simulation {

// Time of a play, which begins at zero and moves when it is set. One thread.
class ManualClock final : public Clock {
 public:
  Instant Now() const override { return Instant(now_.time_since_epoch()); }
  Time WallNow() const override { return now_; }
  void Set(Time now) { now_ = now; }

 private:
  Time now_{};
};

// Pods in memory, and what an API server answers to the calls that the watcher's reconcilers make
// about them: GET, PATCH (RFC 6902, and merge patches of annotations) and DELETE of a pod, POST of
// its eviction. Other objects can be read, patched (RFC 6902) and applied whole. Everything else is
// refused with 405. It is also where a scheduler, kubelets and owners that are simulated make,
// change and remove pods. One thread; time is that of `clock`, which must outlive it.
class ApiServer final : public kube::Transport {
 public:
  struct PodName {
    std::string ns;
    std::string name;
    auto operator<=>(const PodName&) const = default;
  };
  enum class Change : uint8_t { kAdded, kModified, kDeleted };
  // A pod after the change; what was deleted as it was then.
  using Listener =
      std::function<void(Change change, const PodName& name, const json::Json& object)>;
  // Asked before each call: what it gives is the answer, and the call does nothing.
  using Failing =
      std::function<std::optional<kube::Answer<kube::HttpAnswer>>(const kube::HttpCall& call)>;
  // Why a budget does not let a running pod go: "The disruption budget b needs 1 healthy pods and
  // has 1 currently". Nothing: it may.
  using Guarding = std::function<std::optional<std::string>(const json::Json& object)>;

  explicit ApiServer(const Clock& clock) : clock_(clock) {}

  // Called for each change, in its order, before the call that made it is answered. It must not
  // change pods itself.
  void Listen(Listener listener) { listener_ = std::move(listener); }
  // The same for other objects, by their paths; null: it was removed.
  using ObjectListener = std::function<void(const std::string& path, const json::Json* object)>;
  void ListenToObjects(ObjectListener listener) { object_listener_ = std::move(listener); }
  void Fail(Failing failing) { failing_ = std::move(failing); }
  void Guard(Guarding guarding) { guarding_ = std::move(guarding); }

  // As POST: kind, UID, creationTimestamp and resourceVersion are the server's. False when there is
  // a pod of that name.
  bool Create(json::Json object);
  // As whoever owns its status or its node. False when there is no such pod.
  bool Update(const PodName& name, const std::function<void(json::Json& object)>& change);
  // Its kubelet has ended it, or nobody waits for one. False when there is no such pod.
  bool Remove(const PodName& name);
  // As DELETE without preconditions: a pod on a node stays, with a deletionTimestamp, until Remove.
  // False when there is no such pod.
  bool Delete(const PodName& name);

  // An object that is not a pod, with its kind and name. It is found by its path:
  // "/api/v1/nodes/npu-0".
  void PutObject(const kube::Resource& resource, const std::string& ns, const std::string& name,
                 json::Json object);
  void RemoveObject(const std::string& path);
  // Null when there is none.
  json::Json FindObject(const std::string& path) const;

  std::optional<json::Json> Find(const PodName& name) const;
  size_t size() const { return pods_.size(); }

  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override;
  // Refused: whoever follows the pods listens.
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall& call, const Consume& consume,
                                        std::stop_token stop) override;

 private:
  void Put(const std::string& path, json::Json object);
  kube::HttpAnswer OfObject(const kube::HttpCall& call);
  kube::HttpAnswer Patch(const PodName& name, std::string_view body, bool merge);
  kube::HttpAnswer Delete(const PodName& name, const json::Json& options, bool dry_run);
  kube::HttpAnswer Evict(const PodName& name, std::string_view body, bool dry_run);
  json::Json Read(const PodName& name) const;  // of one that is there
  std::string Put(Change change, const PodName& name, json::Json object);

  const Clock& clock_;
  Listener listener_;
  ObjectListener object_listener_;
  Failing failing_;
  Guarding guarding_;
  std::map<PodName, std::string> pods_;        // as text: trees take eight times the memory
  std::map<std::string, json::Json> objects_;  // that are no pods
  uint64_t version_ = 0;
  uint64_t made_ = 0;
};

// What the watcher did to a pod.
struct PodAction {
  enum class Kind : uint8_t { kDeleted, kEvicted, kMarked };
  Kind kind = Kind::kDeleted;
  ApiServer::PodName pod;
  auto operator<=>(const PodAction&) const = default;
};

// The calls of the watcher, from any thread, on their way to the API server: one at a time, since
// watches follow each change while a call is made. Some fail for a while, as `failCalls` asks; of
// several of these the last one counts.
class Calls final : public kube::Transport {
 public:
  // Both must outlive it.
  Calls(const ManualClock& clock, ApiServer& server) : clock_(clock), server_(server) {}

  void Fail(const FailCalls& calls, Time until) { failures_.push_back({calls, until}); }
  // Those since the last call, by kind and pod: threads make calls in any order.
  std::vector<PodAction> TakeActions();

  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override;
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall& call, const Consume& consume,
                                        std::stop_token stop) override;

 private:
  struct Failure {
    FailCalls calls;
    Time until{};
  };

  // Nothing: the call does not fail.
  std::optional<kube::Answer<kube::HttpAnswer>> FailureOf(const kube::HttpCall& call) const;

  const ManualClock& clock_;
  ApiServer& server_;
  std::vector<Failure> failures_;
  Mutex mutex_;
  std::vector<PodAction> actions_;
};

}  // namespace mindgate::simulation
