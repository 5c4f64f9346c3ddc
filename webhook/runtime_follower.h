#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/snapshot.h"
#include "json/arena.h"
#include "kube/collection.h"
#include "kube/reflector.h"

namespace mindgate::webhook {

// What decisions about an InferenceService read of its runtime, in one block of memory. Never
// changes.
class Runtime {
 public:
  // `object` holds nothing that Fields does not name; `bytes` is what BytesOf says about it.
  Runtime(const json::Value& object, size_t bytes, const kube::Resource& resource);

  const json::Value& root() const { return root_; }
  const std::string& version() const { return version_; }
  size_t bytes() const { return bytes_; }

  // The members of a runtime that views, rules and mutators read when they look at a service:
  // arguments, volumes, probes and models are none of them, nor are annotations of the runtime,
  // where kubectl keeps a copy of all.
  static std::vector<json::Projection::Path> Fields();
  // What one of it takes.
  static size_t BytesOf(const json::Value& object);

 private:
  const size_t bytes_;
  const std::string version_;
  json::Arena arena_;
  json::Value root_;
};

// What is beyond a bound is not kept. Real runtimes take 2 to 8 KB.
struct RuntimeBounds {
  size_t bytes_of_one = 256 * 1024;
  // So that one tenant does not take the room of all. Cluster scope is no namespace.
  size_t bytes_of_namespace = 2 * 1024 * 1024;
  // Of one kind, of which there are two. While a list comes in, those that changed since the last
  // one are there twice.
  size_t bytes_of_all = 8 * 1024 * 1024;
};

// Follows the runtimes of one kind, and keeps what decisions read of them, within bounds. Of the
// others it knows that they exist.
class RuntimeFollower {
 public:
  struct Options {
    kube::Resource resource;
    RuntimeBounds bounds{};
    // Up to now all were kept, and this one is not. In the thread of Run.
    std::function<void(const std::string& key)> left_out{};
    std::function<void(const kube::Fault& fault, std::chrono::milliseconds pause)> failed{};
    uint64_t seed = 1;
  };
  using RuntimePtr = std::shared_ptr<const Runtime>;  // null: it exists, and is not kept
  using Runtimes = kube::Collection<RuntimePtr>;

  // The rest must outlive it.
  RuntimeFollower(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                  Options options);

  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) { reflector_.Run(stop); }

  // The runtimes of one moment.
  struct State {
    Runtimes runtimes{};
    size_t bytes = 0;     // of those that are kept
    size_t left_out = 0;  // the others
  };

  // From any thread.
  std::shared_ptr<const State> state() const { return state_.Get(); }
  // Whether these are the runtimes that there are, as far as one can know. Ask before `state`: a
  // list that comes in between only adds.
  bool current() const { return listed_ && reflector_.following(); }
  uint64_t lists() const { return reflector_.counts().lists; }

 private:
  // What is kept, by whom.
  struct Room {
    size_t bytes = 0;
    std::map<std::string, size_t, std::less<>> bytes_of_namespace{};
    size_t left_out = 0;
    std::string first_left_out{};
    bool crowded = false;  // one was left out that there will be room for when others go
  };

  kube::Reflector::Handler MakeHandler();
  // Takes the room that it needs, if it is there.
  RuntimePtr Keep(const std::string& key, const json::Value& object, Room& room) const;
  static void LeaveOut(const std::string& key, Room& room);
  static void Free(const std::string& key, const RuntimePtr& runtime, Room& room);
  void Listed(const json::Value& object, bool whole);
  void ListDone();
  void Happened(const kube::WatchEvent& event);
  void Publish(Runtimes runtimes);

  const Options options_;
  Snapshot<State> state_;
  std::atomic<bool> listed_ = false;
  // In the thread of Run.
  Room room_;
  Room listed_room_;  // of the list that is under way
  std::vector<Runtimes::EntryPtr> listed_runtimes_;
  kube::Reflector reflector_;
};

}  // namespace mindgate::webhook
