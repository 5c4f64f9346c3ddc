#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/threads.h"
#include "base/time.h"
#include "kube/client.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/frame/leader_client.h"
#include "watcher/frame/leadership.h"
#include "watcher/frame/workers.h"

namespace mindgate::watcher {

// Why a destructive call is not sent.
struct Refusal {
  std::string why{};                      // a clause for people; empty: it is sent
  std::optional<Clock::Instant> again{};  // when the answer may be another one, where it is known
  bool unreadable = false;                // it is not known whether it may be sent
  bool is_over = false;                   // this replica no longer leads
  bool brief = false;                     // it passes by itself within seconds

  bool refused() const { return !why.empty(); }
};

// Sends what takes something away from somebody. Only the DisruptionGate makes one, and only while
// it is open; it is not to be kept. Safe from many threads.
class DestructiveClient {
 public:
  DestructiveClient(const DestructiveClient&) = delete;
  DestructiveClient& operator=(const DestructiveClient&) = delete;

  // With grace period 0 or the pod's own one.
  kube::Answer<void> DeletePod(std::string_view ns, std::string_view name,
                               const kube::DeleteOptions& options);
  // Marks it for a platform that acts on the mark.
  kube::Answer<void> MarkPod(std::string_view ns, std::string_view name, const kube::Json& patch);
  // With JSON Patch operations that add or remove a taint.
  kube::Answer<void> PatchNode(std::string_view name, const kube::Json& operations);

 private:
  friend class DisruptionGate;
  DestructiveClient(Writer writer, Term term) : client_(*writer.client_), term_(std::move(term)) {}

  kube::Client& client_;
  const Term term_;
};

// The one gate that all destructive calls of all controllers go through: deletions, evictions,
// give-ups, taints and marks. Under the lock of the send it asks, before each batch of calls:
// whether the term holds, whether the brake is off, whether the watcher is paused on its Lease,
// whether what the controller read again a moment ago is still so, and, once, whether the fault is
// still reported and the budget has something left. Safe from many threads: those that disrupt one
// namespace wait for each other.
class DisruptionGate {
 public:
  // Calls that follow from one answer: with kAtOnce at a time some seconds of a slow API server.
  static constexpr size_t kBatch = 50;
  // Many more than there are workers, so that two namespaces seldom have the same one.
  static constexpr size_t kNamespaceLocks = 64;

  struct Options {
    std::string ns{};  // of the watcher's Lease; empty: nothing is paused
    std::string lease{};
  };
  // Why nothing may be disrupted in the whole cluster now. From any thread.
  using Brake = std::function<Refusal()>;

  // What is taken of how many a minute.
  struct Share {
    std::string_view setting;  // that says how many: "restartsPerMinute"
    int64_t per_minute = 0;
    int64_t count = 1;
    // Somebody gives the budget what a leader before this one took of it. Otherwise nothing is
    // taken in the first minute of a term.
    bool inherited = false;
  };

  struct Request {
    // Whose budget is asked, and what is locked. Empty with something of the cluster, which no
    // budget counts.
    std::string ns{};
    // Nothing: it goes on with what was counted before.
    std::optional<Share> share{};
    // Calls at the same time. With 1 each is answered before the next one is sent.
    size_t at_once = kAtOnce;
    // Reads opt-outs and policy again, which nobody else knows of; null: there are none. It must
    // not call the gate.
    std::function<Refusal(LeaderClient& client)> still_so{};
    // Whether the watches still report the fault that it rests on; null: it rests on none. Asked
    // once, after the brake, which is released by reports that the fault is gone. It must not
    // block.
    std::function<Refusal()> still_reported{};
    // Runs once when the gate opens, before the first call.
    std::function<void()> before_first{};
  };
  using Call = std::function<void(DestructiveClient& client, size_t i)>;

  // All must outlive it.
  DisruptionGate(Writer writer, const Clock& clock, DisruptionBudget& budget, Options options)
      : writer_(writer), clock_(clock), budget_(budget), options_(std::move(options)) {}

  // Before anything is sent; the brake must outlive all that is.
  void SetBrake(Brake brake) { brake_ = std::move(brake); }

  // What brake, budget and pause would answer now. Takes nothing. Of a thousand jobs that wait for
  // brake or budget each one reads what it needs when it may act: the API server is asked last.
  Refusal Ask(const Term& term, const Request& request);
  // Sends `count` calls, by their number; or says why it does not. What was sent before a later
  // batch was refused stays sent.
  Refusal Send(const Term& term, const Request& request, size_t count, const Call& call);
  // What was taken of the budget: nothing was disrupted after all.
  void GiveBack(const Request& request) {
    if (request.share) budget_.GiveBack(request.ns, request.share->count);
  }
  DisruptionBudget& budget() { return budget_; }
  // For the reads that come before, too.
  CallThreads& calls() { return calls_; }
  // Undoes what a taint did, which nothing but the term can forbid.
  kube::Answer<void> ReleaseNode(const Term& term, std::string_view name,
                                 const kube::Json& operations);

 private:
  Refusal Braked() const { return brake_ ? brake_() : Refusal(); }
  Refusal Paused(LeaderClient& client) const;
  // Why nothing of the share may be taken now, but for the budget.
  Refusal NotYet(const Term& term, const Share& share);
  // Under the lock of the request's namespace.
  Refusal May(const Term& term, const Request& request, bool first);

  const Writer writer_;
  const Clock& clock_;
  DisruptionBudget& budget_;
  const Options options_;
  Brake brake_;
  TermClock term_clock_{clock_};
  CallThreads calls_;
  // Each from the questions to the end of the calls, for the namespaces whose hash it has: what
  // controllers may both want to disrupt is in one namespace, and what the whole cluster shares
  // (term, brake, budget) each has a lock of its own.
  std::array<Mutex, kNamespaceLocks> sending_;
};

}  // namespace mindgate::watcher
