#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/clock.h"
#include "deploy/apply.h"
#include "deploy/hold.h"
#include "kube/fault.h"
#include "kube/wait.h"

namespace mindgate::deploy {

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
    while (true) {
      auto answer = call();
      if (answer) return Seen(std::move(answer));
      if (!IsUnavailable(answer.error()) || IsOver()) return answer;
      Tell(answer.error());
      if (!sleeper_.Sleep(kPollTime, stop_)) return answer;
      if (!Lost().empty()) return answer;
    }
  }

  // Calls `look`, a kube::Answer<bool>, until it gives true, a fault that stays, or the time is
  // over: "Deployment chat-mf-store was not ready within 600 s".
  template <typename Look>
  Step Await(const std::string& subject, const std::string& complaint, Look look) {
    while (true) {
      const kube::Answer<bool> done = Seen(look());
      if (done && *done) return std::nullopt;
      if (!done && !IsTransient(done.error())) return FailureOf(subject, done.error());
      if (IsOver()) {
        std::string message =
            subject + " " + complaint + " within " + std::to_string(limit_.count()) + " s";
        if (!done) message += "; " + done.error().message;
        return Failure{Outcome::kTimedOut, std::move(message)};
      }
      if (!done) Tell(done.error());
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
  // A 500 says that the server tried: it is an answer to a write, unless a webhook that it asks
  // before did not answer, as while that one is updated.
  static bool IsUnavailable(const kube::Fault& fault) {
    const bool asked_webhook = fault.message.find("failed calling webhook") != std::string::npos;
    return IsTransient(fault) && (fault.http != 500 || asked_webhook);
  }

  template <typename Answer>
  Answer Seen(Answer answer) {
    if (answer) told_ = false;
    return answer;
  }
  // Once each time that the server goes away.
  void Tell(const kube::Fault& fault) {
    if (!told_) progress_.step("trying again: " + fault.message);
    told_ = true;
  }
  bool IsOver() const { return clock_.Now() >= deadline_; }

  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const std::chrono::seconds limit_;
  const Progress& progress_;
  const std::stop_token stop_;
  Hold* const hold_;
  const Clock::Instant deadline_;
  bool told_ = false;
};

}  // namespace mindgate::deploy
