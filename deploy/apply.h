#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "deploy/health.h"
#include "deploy/plan.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/fault.h"

namespace mindgate::deploy {

// Keeps other runs away from an application while one changes it: a Lease in its namespace,
// "mindgate-deploy-chat", whose holder renews it in pauses and before writes. A holder that was
// killed does not renew, and its Lease counts for nothing after `kHoldTime` by our wall clock: the
// clocks of two machines may differ by kHoldTime - kRenewTime. One thread. (hold.cc)
class Hold {
 public:
  inline static constexpr std::chrono::seconds kHoldTime{60};
  inline static constexpr std::chrono::seconds kRenewTime{10};

  // `identity` says who holds, for people: "alice@build-7/4711". All others must outlive this.
  Hold(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, std::string ns,
       const std::string& app, std::string identity);
  ~Hold() { Release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  struct Taken {
    enum class How {
      kHeld,         // by us
      kByAnother,    // `who` and `since` say by whom
      kUnprotected,  // Leases may not be written, or are not served: `why`
      kFailed,       // `why`
      kStopped,
    } how = How::kHeld;
    std::string who = {};
    std::string since = {};
    std::string why = {};
  };
  // Waits at most `limit` for another holder; `waits` is called once when it does.
  Taken Take(std::chrono::seconds limit, const std::function<void(const Taken& other)>& waits,
             const std::stop_token& stop);

  // Renews the Lease when that is due. Why nothing more may be written; empty: all is fine. Without
  // a Lease, which nobody may write, all is fine.
  std::string Keep();
  // Deletes the Lease if it is still ours.
  void Release();

  std::string name() const { return name_; }
  const std::string& identity() const { return identity_; }

 private:
  Taken TakeOnce(const std::stop_token& stop);
  kube::Answer<kube::Json> Renew();
  kube::Json Spec() const;
  void Remember(kube::Json lease);
  // Whether a Lease that was read is the one that we took. A write of ours whose answer was lost
  // leaves it so: with another resourceVersion than we know.
  bool IsTaken(const kube::Json& lease) const;
  // After a write that failed. When it has taken the Lease all the same, that is remembered.
  bool TookAllTheSame(const kube::Fault& fault, const std::stop_token& stop);

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const std::string ns_;
  const std::string name_;
  const std::string identity_;
  kube::Json lease_;  // as we wrote it; null: it is not ours
  Clock::Instant renewed_{};
  std::string acquired_;
  std::string lost_;  // why it is no longer ours
};

struct ApplyOptions {
  bool force = false;                 // as in PlanOptions
  bool prune = true;                  // delete surplus objects at the end
  bool wait = false;                  // until the application is healthy
  bool atomic = false;                // undo everything when something fails; waits as well
  std::chrono::seconds timeout{600};  // of all waiting together
  // The hold on the application, which is kept while it is changed; null pointer: there is none.
  Hold* hold = nullptr;
  // Called once, when nothing more is written and nothing is going to be undone: before waiting, or
  // with `atomic` when the application is healthy.
  std::function<void()> settled = {};
};

// Called while things happen.
struct Progress {
  std::function<void(const std::string& line)> step;  // "Service chat-mf-store created"
  // What is being waited for; called again and again.
  std::function<void(const Health& health)> waiting = {};
};

enum class Outcome { kDone, kFailed, kTimedOut };

struct ApplyResult {
  Outcome outcome = Outcome::kDone;
  bool forbidden = false;    // why it failed: a right is missing
  std::string message;       // why it failed
  bool rolled_back = false;  // with `atomic`, after a failure: everything is as it was before
  std::vector<std::string> not_undone;  // titles of what is not, though it was tried
  size_t written = 0;                   // objects that were created, changed or deleted
  std::vector<std::string> left = {};   // titles of those that were still to be
};

// Carries out a plan without obstacles: phase by phase, with server-side apply. What it has to
// wait for is checked every `kPollTime`. A second run with the same configuration writes nothing,
// and one after an interruption goes on where the first ended.
ApplyResult CarryOut(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                     const Application& application, const Plan& plan, const ApplyOptions& options,
                     const Progress& progress, const std::stop_token& stop);

inline constexpr std::chrono::milliseconds kPollTime{2000};
// What undoing has, whatever deploying has used up.
inline constexpr std::chrono::seconds kUndoTime{300};

// What a manager has applied to an object, as it would be applied again: identity and the fields
// that metadata.managedFields gives it (FieldsV1, k8s.io/apimachinery: pkg/apis/meta/v1). Null when
// the manager has applied nothing.
json::Json AppliedBy(const json::Json& object, std::string_view manager);

// Whether what we applied to the object is still what `stored` has, which the API server answered
// when we did. `seeded`: others write its data.
bool IsAsStored(const json::Json& live, const json::Json& stored, bool seeded);
// Who wrote since: "kubectl-edit", "another mindgate deploy".
std::string WhoChanged(const json::Json& live, const json::Json& stored);

// Why a step did not do what it should.
struct Failure {
  Outcome outcome = Outcome::kFailed;
  std::string message;
};
using Step = std::optional<Failure>;  // nothing: it worked

// Waits within one time limit, and carries calls over the moments in which an API server is away:
// one that restarts is back soon, and giving up would only undo what is fine.
class RetryPolicy {
 public:
  // `hold` is kept in pauses; null pointer: there is none.
  RetryPolicy(kube::Sleeper& sleeper, const Clock& clock, std::chrono::seconds limit,
              const Progress& progress, std::stop_token stop, Hold* hold = nullptr)
      : sleeper_(sleeper),
        clock_(clock),
        limit_(limit),
        progress_(progress),
        stop_(std::move(stop)),
        hold_(hold),
        deadline_(clock.Now() + limit) {}

  const std::stop_token& stop() const { return stop_; }

  // For a write that may be sent twice: again, until it is answered.
  template <typename Call>
  auto RetryWrite(Call call) {
    was_open_ = false;
    while (true) {
      auto answer = call();
      if (answer) return Seen(std::move(answer));
      was_open_ = was_open_ || !IsRefusal(answer.error());
      if (!IsUnavailable(answer.error()) || IsOver()) return answer;
      Report(answer.error());
      if (!sleeper_.Sleep(kPollTime, stop_)) return answer;
      if (!Lost().empty()) return answer;
    }
  }

  // Whether nothing came of the last write of RetryWrite, which failed: each of its tries was
  // refused. A 5xx leaves that open: an API server sends it when etcd does not answer in time, and
  // a proxy when the API server does not.
  bool refused() const { return !was_open_; }

  // Calls `look`, a kube::Answer<bool>, until it gives true, a fault that stays, or the time is
  // over: "Deployment chat-mf-store was not ready within 600 s".
  template <typename Look>
  Step Await(const std::string& subject, const std::string& problem, Look look) {
    while (true) {
      const kube::Answer<bool> done = Seen(look());
      if (done && *done) return std::nullopt;
      if (!done && !IsTransient(done.error())) return FailureOf(subject, done.error());
      if (IsOver()) {
        std::string message =
            subject + " " + problem + " within " + std::to_string(limit_.count()) + " s";
        if (!done) message += "; " + done.error().message;
        return Failure{Outcome::kTimedOut, std::move(message)};
      }
      if (!done) Report(done.error());
      if (!sleeper_.Sleep(kPollTime, stop_)) return Interrupted();
      if (const std::string lost = Lost(); !lost.empty()) return Failure{Outcome::kFailed, lost};
    }
  }

  // Why nothing more may be written; empty: all is fine.
  std::string Lost() { return hold_ == nullptr ? "" : hold_->Keep(); }

  static Failure Interrupted() { return {Outcome::kFailed, "interrupted"}; }
  static Failure FailureOf(const std::string& subject, const kube::Fault& fault) {
    if (fault.reason == kube::Reason::kStopped) return Interrupted();
    return {Outcome::kFailed, subject + ": " + fault.message};
  }

 private:
  static bool IsTransient(const kube::Fault& fault) {
    switch (fault.reason) {
      case kube::Reason::kTooManyRequests:
      case kube::Reason::kUnavailable:
      case kube::Reason::kTimeout:
      case kube::Reason::kUnreachable:
        return true;
      default:
        return false;
    }
  }
  static bool IsRefusal(const kube::Fault& fault) { return fault.http >= 400 && fault.http < 500; }
  // A 500 says that the server tried: it is an answer to a write, unless a webhook that it asks
  // before did not answer, as while that one is updated.
  static bool IsUnavailable(const kube::Fault& fault) {
    const bool asked_webhook = fault.message.find("failed calling webhook") != std::string::npos;
    return IsTransient(fault) && (fault.http != 500 || asked_webhook);
  }

  template <typename Answer>
  Answer Seen(Answer answer) {
    if (answer) reported_ = false;
    return answer;
  }
  // Once each time that the server goes away.
  void Report(const kube::Fault& fault) {
    if (!reported_) progress_.step("trying again: " + fault.message);
    reported_ = true;
  }
  bool IsOver() const { return clock_.Now() >= deadline_; }

  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const std::chrono::seconds limit_;
  const Progress& progress_;
  const std::stop_token stop_;
  Hold* const hold_;
  const Clock::Instant deadline_;
  bool reported_ = false;
  bool was_open_ = false;
};

}  // namespace mindgate::deploy
