#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "base/time.h"
#include "kube/events.h"

namespace mindgate::watcher {

// Controllers that decide something, as logs, metrics and /decisions name them.
namespace controllers {
inline constexpr std::string_view kScaling = "scaling";
inline constexpr std::string_view kGangRepair = "gang-repair";
inline constexpr std::string_view kEndedServers = "ended-servers";
inline constexpr std::string_view kRescheduling = "rescheduling";
}  // namespace controllers

// What a controller did, or would do.
enum class DecisionKind : uint8_t {
  kGranted,
  kHeld,
  kNotEnqueued,
  kWithdrawn,
  kGivenUp,
  kRuleUnusable,
  kWouldGrant,
  kWouldHold,
  kWouldWithdraw,
  kWouldGiveUp,

  kGangLowered,
  kGangRestored,
  kWouldLowerGang,
  kWouldRestoreGang,

  kServerSucceeded,

  kRestarted,
  kPodsMarked,
  kWouldRestart,
  kWouldMarkPods,
  kRestartWaits,
  kNotRestarted,
  kPluginDiffers,

  kNodeIsolated,
  kNodeReleased,
  kWouldIsolate,
  kIsolationWaits,
};

// How it is reported: a row of one table, which metrics, logs, Events and scenarios take it from.
struct DecisionWords {
  DecisionKind kind;
  std::string_view controller;
  std::string_view word;  // "granted", "would be granted", ...
  std::string_view event_reason;
  std::string_view event_action;
  kube::EventRecord::Type event_type;
};
const DecisionWords& WordsOf(DecisionKind kind);

// A decision, after the API server said yes; or, where nothing is done, what would be.
struct DecisionRecord {
  DecisionKind kind;
  std::string ns;
  // What it is about, by the names that /decisions and the log give it: {"instance",
  // "AscendJob/p0"}, {"rule", "..."}.
  std::vector<std::pair<std::string, std::string>> about{};
  std::string reason{};               // a sentence for people
  bool enforced = false;              // it was done, and not only decided
  kube::ObjectReference regarding{};  // of the Event; without a name none is written
};

// To whom a controller reports its decisions. Safe from many threads.
class DecisionListener {
 public:
  virtual ~DecisionListener() = default;
  virtual void Report(DecisionRecord record) = 0;
};

// The one place that reports decisions to people: as an Event, a line of the log, an entry that
// /decisions shows, and a count for the metrics. Bounded: when it is full, the oldest entry of the
// namespace with the most entries goes, so that one tenant's decisions do not drive out the
// others'. In the log, a namespace has kLogged lines a minute and then every kEvery-th of its
// decisions; the next line of the namespace says in not_logged how many went without one. Safe from
// many threads.
class DecisionLog final : public DecisionListener {
 public:
  static constexpr size_t kMaxEntries = 1000;
  static constexpr size_t kMaxReason = 1024;  // bytes; what is longer is cut
  static constexpr size_t kMaxAbout = 253;    // likewise, of each value: the longest name
  static constexpr uint64_t kLogged = 100;
  static constexpr uint64_t kEvery = 100;

  struct Entry {
    Time time{};
    DecisionRecord record;
  };
  // By controller and what was done, as words.
  using Counts = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;

  // All must outlive it.
  DecisionLog(const Clock& clock, log::Logger& logger, kube::Recorder& recorder)
      : clock_(clock), logger_(logger), recorder_(recorder) {}

  void Report(DecisionRecord record) override;

  std::vector<Entry> entries() const;  // oldest first
  Counts counts() const;

 private:
  // The lines of a namespace within the minute that began at `since`.
  struct Lines {
    Clock::Instant since{};
    uint64_t decisions = 0;
    int64_t not_logged = 0;  // since the last line
  };
  static constexpr size_t kMaxNamespaces = 1000;  // those beyond share one count

  // What the line has to say of those before it that were not logged; nothing: there is no line.
  std::optional<int64_t> TakeLine(const std::string& ns) REQUIRES(mutex_);
  void Log(const DecisionRecord& record, int64_t not_logged);
  void MakeRoom() REQUIRES(mutex_);

  const Clock& clock_;
  log::Logger& logger_;
  kube::Recorder& recorder_;
  mutable Mutex mutex_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);
  std::map<std::string, size_t> of_namespace_ GUARDED_BY(mutex_);  // how many entries each has
  std::map<std::string, Lines> lines_ GUARDED_BY(mutex_);          // by namespace
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::watcher
