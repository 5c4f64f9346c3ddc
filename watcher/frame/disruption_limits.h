#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/threads.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "watcher/frame/leader_client.h"

namespace mindgate::watcher {

// How much of the whole cluster may be disrupted within a minute, whichever controller asks: what
// looks like many faults at once may be one mistake. Of that a namespace gets an equal share of
// all that asked within the minute, and half at most, so that one tenant's faults leave some to the
// others. What is free goes to the namespace that was served longest ago, or never, and of those to
// the one that has asked for longest, whatever its name: one that is in front may come for it until
// kPatience after the time that it was given. Safe from many threads.
class DisruptionBudget {
 public:
  using Instant = Clock::Instant;

  // Takes `count` of `per_minute`, all or none; when there are not enough for the namespace, the
  // time to ask again.
  std::optional<Instant> Take(const std::string& ns, int64_t per_minute, Instant now,
                              int64_t count = 1);
  // What Take would answer. Takes nothing, so that a look which is not worth it need not begin.
  std::optional<Instant> Ask(const std::string& ns, int64_t per_minute, Instant now,
                             int64_t count = 1);
  // The newest ones of the namespace: nothing was disrupted after all.
  void GiveBack(const std::string& ns, int64_t count = 1);
  // What an earlier leader, or this one in an earlier term, took for the namespace, in order of
  // time. What is known already is not counted twice.
  void Inherit(const std::string& ns, const std::vector<Instant>& taken);

 private:
  // How long what is free is kept for a namespace that was asked to come for it: more than a
  // reconciler needs to look at a job on a slow API server.
  static constexpr std::chrono::seconds kPatience{15};
  // When a namespace that others are in front of asks again.
  static constexpr std::chrono::seconds kYield{1};

  struct Taken {
    Instant when{};
    std::string ns;
  };
  // How long it is known when a namespace was served: more than a full line takes.
  static constexpr std::chrono::minutes kRemembered{60};
  // A namespace in the line.
  struct Waiting {
    std::string ns;
    Instant served{};  // the last time; the beginning of time: not within kRemembered
    Instant from{};    // when it may be served: its share is used up until then
    Instant until{};   // when nobody waits for it any more
  };

  std::optional<Instant> FreeAt(const std::string& ns, int64_t per_minute, Instant now,
                                int64_t count) REQUIRES(mutex_);
  // The namespaces in front of `ns` that may be served now.
  int64_t InFront(const std::string& ns, Instant now) const REQUIRES(mutex_);
  Instant ServedLast(const std::string& ns) const REQUIRES(mutex_);
  // Keeps its place in the line, or takes the last one.
  void Wait(const std::string& ns, Instant from, Instant until) REQUIRES(mutex_);

  Mutex mutex_;
  std::deque<Taken> taken_ GUARDED_BY(mutex_);                // of the last minute, oldest first
  std::map<std::string, Instant> asked_ GUARDED_BY(mutex_);   // of the last minute, by namespace
  std::list<Waiting> waiting_ GUARDED_BY(mutex_);             // whoever asked first is first
  std::map<std::string, Instant> served_ GUARDED_BY(mutex_);  // the last time, by namespace
};

// What people write on objects so that nothing is taken away from them. It is read again before
// each step that cannot be undone, not only before the first one.

struct OptOut {
  std::string why{};        // a clause for people; empty: nobody opts out
  bool unreadable = false;  // it is not known whether somebody does, and so nothing is done
};

// What the functions below read of an object.
std::vector<json::Projection::Path> OptOutFields();

// Label or annotation mindgate.io/rescheduling: disabled in the metadata of the object.
bool OptsOut(const json::Value& object);

// mindgate.io/pause-rescheduling on the watcher's Lease. Without a namespace or name there is none.
OptOut PauseOf(LeaderClient& client, const std::string& ns, const std::string& lease);
// mindgate.io/rescheduling: disabled on the namespace.
OptOut NamespaceOptOut(LeaderClient& client, const std::string& ns);
// The same on the controller of the object, or on the controller of that one: the PodGroup's
// ReplicaSet and its Deployment. Owners of kinds that the chart does not let the watcher read, and
// such as may not be read, opt nothing out.
OptOut DisabledByOwner(LeaderClient& client, const json::Value& object, const std::string& ns);
// The same on the pod, which was just read, its PodGroup, its namespace or its owners.
OptOut DisabledFor(LeaderClient& client, const json::Value& pod, const std::string& ns);

}  // namespace mindgate::watcher
