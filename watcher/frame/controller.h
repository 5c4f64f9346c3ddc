#pragma once

#include <prometheus/metric_family.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/fault.h"
#include "kube/transport.h"
#include "watcher/frame/leadership.h"
#include "watcher/frame/workers.h"

namespace mindgate::watcher {

// What came of reconciling a key.
struct ReconcileResult {
  bool failed = false;                                      // again, after a back-off
  std::optional<Clock::Instant::duration> requeue_after{};  // again, although nothing changed
  // Of what failed: not again before, as the server asked (Retry-After of a 429), but for a minute
  // at most: API servers ask for seconds. It bounds the back-off from below, and a change of the
  // key waits as well.
  std::optional<std::chrono::seconds> retry_after{};

  // Of several faults the longest Retry-After counts.
  void Fail(const kube::Fault& fault) {
    failed = true;
    if (fault.retry_after) retry_after = std::max(retry_after, fault.retry_after);
  }
};

// What failed of the calls that several threads make for one key. Safe from many threads.
class SharedFailure {
 public:
  void Fail(const kube::Fault& fault) {
    const MutexLock lock(mutex_);
    result_.Fail(fault);
  }
  std::optional<std::chrono::seconds> retry_after() const {
    const MutexLock lock(mutex_);
    return result_.retry_after;
  }

 private:
  mutable Mutex mutex_;
  ReconcileResult result_ GUARDED_BY(mutex_);
};

// Reconciles keys from a WorkQueue while this replica leads: one worker at a time to a key, a
// back-off for each that failed. Safe from many threads.
template <typename Key>
class ReconcileLoop {
 public:
  struct Options {
    std::string name;  // of its threads
    int workers = 1;
    kube::Backoff::Options backoff{};
    // Whether a change, too, waits until the back-off of its key is over.
    bool changes_wait = false;
    uint64_t seed = 1;
    // The term that this replica leads in; nothing while it does not lead.
    std::function<std::optional<Term>()> term;
    std::function<ReconcileResult(const Key&, const Term&)> reconcile;
    // The replica does not lead: what is remembered of the key may no longer be true.
    std::function<void(const Key&)> forget{};
    // From the change that made the key due until it was reconciled.
    std::function<void(std::chrono::nanoseconds)> observe_latency{};
  };

  // `clock` must outlive it.
  ReconcileLoop(const Clock& clock, Options options)
      : clock_(clock), options_(std::move(options)), queue_(clock) {}

  void Enqueue(const Key& key) { queue_.Add(key); }

  // Until `stop`, in the caller's thread and as many more as there are workers but one.
  void Run(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    for (int i = 1; i < options_.workers; ++i) {
      threads.push_back(StartThread(options_.name + "-" + std::to_string(i), [&] { Work(stop); }));
    }
    Work(stop);
  }

  // Reconciles one key that is due, in the caller's thread; false when none is. For those who move
  // time by hand.
  bool RunOne() {
    const auto work = queue_.TakeDue();
    if (work) Handle(*work);
    return work.has_value();
  }
  std::optional<Clock::Instant> next_due() const { return queue_.next_due(); }

 private:
  using Queue = WorkQueue<Key>;

  // Of a key that failed the last time.
  struct Failed {
    explicit Failed(kube::Backoff of) : backoff(of) {}
    kube::Backoff backoff;
    Clock::Instant until{};
    Clock::Instant changes_from{};
  };

  static constexpr std::chrono::seconds kLongestAsked{60};

  void Work(const std::stop_token& stop) {
    while (const auto work = queue_.Take(stop)) Handle(*work);
  }

  void Handle(const typename Queue::Work& work) {
    const Key& key = work.key;
    const auto term = options_.term();
    if (const auto until = term ? WaitsUntil(key) : std::nullopt) {
      queue_.AddAt(key, *until);
    } else if (term) {
      const ReconcileResult result = options_.reconcile(key, *term);
      if (options_.observe_latency) options_.observe_latency(clock_.Now() - work.due);
      if (const auto again = BackOff(key, result)) queue_.AddAt(key, *again);
      if (result.requeue_after) queue_.AddAfter(key, *result.requeue_after);
    } else {
      BackOff(key, {});
      if (options_.forget) options_.forget(key);
    }
    queue_.Done(key);
  }

  // When a key that failed is due again.
  std::optional<Clock::Instant> BackOff(const Key& key, const ReconcileResult& result) {
    const MutexLock lock(mutex_);
    if (!result.failed) {
      failed_.erase(key);
      return std::nullopt;
    }
    Failed& entry =
        failed_.try_emplace(key, kube::Backoff(options_.backoff, options_.seed + ++seeds_))
            .first->second;
    const Clock::Instant now = clock_.Now();
    const Clock::Instant asked =
        now + std::min(result.retry_after.value_or(std::chrono::seconds(0)), kLongestAsked);
    entry.until = std::max(now + Clock::Instant::duration(entry.backoff.Next()), asked);
    entry.changes_from = options_.changes_wait ? entry.until : asked;
    return entry.until;
  }

  std::optional<Clock::Instant> WaitsUntil(const Key& key) {
    const MutexLock lock(mutex_);
    const auto found = failed_.find(key);
    if (found == failed_.end() || found->second.changes_from <= clock_.Now()) return std::nullopt;
    return found->second.changes_from;
  }

  const Clock& clock_;
  const Options options_;
  Queue queue_;
  Mutex mutex_;
  std::map<Key, Failed> failed_ GUARDED_BY(mutex_);
  uint64_t seeds_ GUARDED_BY(mutex_) = 0;
};

// The loop of a controller that has one thing to reconcile: at once, then as its result asks, and
// after a fault with a back-off of one second up to a minute. Safe from many threads.
class SingleLoop {
 public:
  struct Options {
    std::string name;  // of its thread
    uint64_t seed = 1;
    std::function<std::optional<Term>()> term;
    std::function<ReconcileResult(const Term&)> reconcile;
    // The replica does not lead: what is remembered may no longer be true.
    std::function<void()> forget;
  };

  // `clock` must outlive it.
  SingleLoop(const Clock& clock, Options options)
      : loop_(clock,
              {.name = std::move(options.name),
               .backoff = {.first = std::chrono::seconds(1), .max_wait = std::chrono::seconds(60)},
               .seed = options.seed,
               .term = std::move(options.term),
               .reconcile = [reconcile = std::move(options.reconcile)](
                                const Key&, const Term& term) { return reconcile(term); },
               .forget = [forget = std::move(options.forget)](const Key&) { forget(); }}) {}

  void Enqueue() { loop_.Enqueue(Key()); }
  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) {
    Enqueue();
    loop_.Run(stop);
  }

 private:
  // There is one.
  struct Key {
    friend auto operator<=>(const Key&, const Key&) = default;
    friend std::string NamespaceOf(const Key&) { return ""; }
  };

  ReconcileLoop<Key> loop_;
};

// For the option `failed` of informers: a warning that `what` cannot be watched now. `logger` must
// outlive it; safe from any thread.
inline std::function<void(const kube::Fault&, std::chrono::milliseconds)> WarnOfWatchFaults(
    log::Logger& logger, std::string what) {
  return [&logger, what = std::move(what)](const kube::Fault& fault,
                                           std::chrono::milliseconds pause) {
    logger.Warning("cannot be watched now", {{"what", std::string_view(what)},
                                             {"reason", kube::ReasonName(fault.reason)},
                                             {"fault", fault.message},
                                             {"retry_ms", static_cast<int64_t>(pause.count())}});
  };
}

// One of the watcher's controllers, as the program that runs them sees it. A new one is a folder
// with a class of this kind, a line in watcher/watcher.cc and its permissions in the chart
// (watcher-rbac.yaml). All but Run may be called from any thread.
class Controller {
 public:
  virtual ~Controller() = default;

  virtual std::string_view name() const = 0;  // "scaling"
  // Whether the configuration asks for it now. Run is not called before, so that what is off needs
  // no permissions.
  virtual bool enabled() const = 0;
  // Until `stop`, once.
  virtual void Run(const std::stop_token& stop) = 0;
  // The replica has begun or ceased to lead, or the configuration is another one.
  virtual void EnqueueAll() = 0;
  // Why the replica is not ready because of it; empty: it is.
  virtual std::string unready() const = 0;
  virtual void AddMetrics(std::vector<prometheus::MetricFamily>& families) const = 0;
  // Objects that are too large to be read, at the moment.
  virtual size_t left_out() const { return 0; }
};

}  // namespace mindgate::watcher
