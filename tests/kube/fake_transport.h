#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kube/fault.h"
#include "kube/transport.h"

namespace mindgate::kube::testing {

// Answers calls by a function, and notes them as "POST /path body". Safe from many threads.
class FakeTransport final : public Transport {
 public:
  using Answering = std::function<Answer<HttpAnswer>(const HttpCall& call, std::stop_token stop)>;

  explicit FakeTransport(Answering answering) : answering_(std::move(answering)) {}

  Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(call);
    }
    return answering_(call, std::move(stop));
  }
  Answer<HttpAnswer> Stream(const HttpCall& call, const Consume&, std::stop_token) override {
    return Failed(Reason::kUnreachable, "no stream of " + call.path);
  }

  std::vector<HttpCall> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  const Answering answering_;
  mutable std::mutex mutex_;
  std::vector<HttpCall> calls_;
};

// Pauses by a function; returns whether it was not stopped.
class TimedPauser final : public Sleeper {
 public:
  using Pausing = std::function<void(std::chrono::milliseconds time)>;

  explicit TimedPauser(Pausing pausing) : pausing_(std::move(pausing)) {}

  bool Sleep(std::chrono::milliseconds time, std::stop_token stop) override {
    if (!stop.stop_requested()) pausing_(time);
    return !stop.stop_requested();
  }

 private:
  const Pausing pausing_;
};

// A Status as an API server sends it.
inline HttpAnswer Status(int code, const std::string& reason) {
  return {.status = code,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
                  R"(","message":")" + reason + R"(","code":)" + std::to_string(code) + "}",
          .retry_after = {},
          .warnings = {}};
}

inline HttpAnswer Ok(const std::string& body, int code = 200) {
  return {.status = code, .body = body, .retry_after = {}, .warnings = {}};
}

}  // namespace mindgate::kube::testing
