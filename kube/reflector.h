#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "json/projection.h"
#include "kube/client.h"

namespace mindgate::kube {

// Which objects, and what of them.
struct Selection {
  Resource resource;
  std::string ns{};  // empty: all namespaces
  std::string label_selector{};
  std::string field_selector{};
  std::vector<json::Projection::Path>
      fields{};                // what is kept of each object, as WithIdentity does
  bool metadata_only = false;  // `fields` are of the metadata: the server sends nothing else
  int64_t first_page = 0;      // objects; 0: PageSize::kFirst
};

// These members of an object, and metadata.namespace, name, uid and resourceVersion.
json::Projection WithIdentity(std::vector<json::Projection::Path> fields);

// Follows a collection: lists it, then watches from there, over broken connections, server
// restarts and expired versions, without end. Only a 410 makes it list again, and an event that is
// larger than an object may be; whatever fails is tried again after a pause that doubles up to half
// a minute and is spread, so that neither an API server that comes back nor one that is down meets
// a storm.
class Reflector {
 public:
  struct Handler {
    std::function<void()> list_started;               // the whole collection follows again
    std::function<void(const Value& object)> listed;  // one object of it
    // One that is larger than ClientOptions::object_bytes: no more than its metadata is known.
    // Null: lists fail while there is such an object.
    std::function<void(const Value& metadata_only, const Fault& fault)> left_out{};
    std::function<void()> list_done;                  // that was all
    std::function<void()> follows{};                  // following() has become true
    std::function<void(const WatchEvent&)> happened;  // a change; no bookmarks
    // Something failed; it goes on after `pause`.
    std::function<void(const Fault& fault, std::chrono::milliseconds pause)> failed;
    // Asked when a watch has ended: whether to list again instead of going on. Null: no.
    std::function<bool()> wants_list{};
  };

  // `client`, `sleeper` and `clock` must outlive it. `seed` spreads pauses and watch times.
  Reflector(Client& client, Sleeper& sleeper, const Clock& clock, Selection selection,
            Handler handler, uint64_t seed);

  // Until `stop`; in the caller's thread, where the handler is called too.
  void Run(const std::stop_token& stop);

  // Whether what was told is new, as far as one can know: since the newest fault there was a list,
  // a bookmark, an event or a watch that ended in good order. That a watch was opened again says
  // nothing: what happened meanwhile is still to come. From any thread.
  bool following() const { return following_; }

  // How often so far; from any thread.
  struct Counts {
    uint64_t lists = 0;
    uint64_t watches = 0;
    uint64_t faults = 0;
  };
  Counts counts() const { return {lists_, watches_, faults_}; }

 private:
  void SetFollowing(bool following);
  Answer<void> List(const std::stop_token& stop);
  Answer<void> Watch(const std::stop_token& stop);

  Client& client_;
  const Clock& clock_;
  Sleeper& sleeper_;
  const Selection selection_;
  const Handler handler_;
  const json::Projection fields_;
  Backoff backoff_;
  std::minstd_rand random_;
  std::string seen_;  // the newest resourceVersion; empty before the first list
  bool must_list_ = true;
  bool expired_before_ = false;  // a 410 since the last watch that held
  std::atomic<bool> following_ = false;
  std::atomic<uint64_t> lists_ = 0;
  std::atomic<uint64_t> watches_ = 0;
  std::atomic<uint64_t> faults_ = 0;
};

}  // namespace mindgate::kube
