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

#include "admission/config_files.h"
#include "base/files.h"
#include "base/log.h"
#include "base/snapshot.h"
#include "base/time.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"
#include "json/arena.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "schemas/config.h"
#include "schemas/request.h"

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

// The ServingRuntimes and ClusterServingRuntimes of a cluster: an InferenceService seldom says
// itself that it wants NPUs, the runtime that it names does. Two watches feed what is known, so
// that a review never waits for the API server; before they have, or without the CRDs, nothing is
// known, and decisions rest on what the object says. They hold 16 MiB at most (RuntimeBounds): a
// runtime that is beyond is not found, and its kind not complete. That is logged once and reported
// by Status.
//
// Safe from many threads.
class RuntimeLookup {
 public:
  // Follows from threads of its own until it ends. The arguments must outlive it.
  RuntimeLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                log::Logger& logger, const RuntimeBounds& bounds = {});
  ~RuntimeLookup();

  // What is known at this moment; stays as it is. It claims to be complete only while the API
  // server is heard of: else what is missing may have come in the meantime.
  std::shared_ptr<const schemas::ObjectLookup> Get() const;

  std::string Status() const;  // "2 ServingRuntimes (lists 1), ..."
  size_t left_out() const;     // runtimes that are not kept, as they are too large or too many
  size_t bytes() const;        // of those kept

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Where what a server reads comes from.
struct LiveFiles {
  std::string config_file;  // mindgate.yaml; empty: the defaults, which never change
  certs::TlsSources tls;
  // For a configuration with policies in ConfigMaps; null: it is refused. Must outlive the inputs.
  admission::PolicyConfigMaps* config_maps = nullptr;
};

// Configuration and certificates of a server, kept up to date with their files from a thread of its
// own. Each is reloaded independently: what is bad is logged and counted, and the last good one
// stays. A snapshot is null before its first good load, which may come later: a server that starts
// before its Secret is there becomes ready when it is.
//
// Safe from many threads.
class LiveInputs {
 public:
  // Loads once and then follows the files, and what `watch.others` reports; `watch.folders` is
  // filled in. `clock` and `logger` must
  // outlive it.
  LiveInputs(const LiveFiles& files, const Clock& clock, log::Logger& logger,
             DirectoryWatch::Options watch = {});
  ~LiveInputs();

  const Snapshot<schemas::Config>& config() const { return config_; }
  const Snapshot<certs::TlsMaterial>& tls() const { return tls_; }

  // Without a file the configuration counts as loaded once.
  ReloadStatus config_status() const;
  // Serving pair and client CA together: failures of both, the faults of both.
  ReloadStatus certificate_status() const;

  // Looks at all files now, as the thread does on its own.
  void Reload();

 private:
  Snapshot<schemas::Config> config_;
  Snapshot<certs::TlsMaterial> tls_;
  std::unique_ptr<admission::ConfigReloader> config_reloader_;  // null: there is no file
  certs::TlsReloader tls_reloader_;
  std::unique_ptr<DirectoryWatchThread> thread_;  // last: ends before what it reloads
};

}  // namespace mindgate::webhook
