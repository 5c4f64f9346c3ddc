#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/access.h"
#include "kube/client.h"
#include "kube/fault.h"
#include "kube/transport.h"

// What tests of the client share.
namespace mindgate::kube {

inline void PrintTo(Reason reason, std::ostream* out) { *out << ReasonName(reason); }

}  // namespace mindgate::kube

namespace mindgate::kube::testing {

// The same credential always, until it gets another; counts who asked.
class FixedCredentials final : public CredentialSource {
 public:
  explicit FixedCredentials(Credential credential = {}) : credential_(std::move(credential)) {}

  Answer<Credential> Get() override {
    const std::lock_guard lock(mutex_);
    return credential_;
  }
  void Refused(const Credential& refused) override {
    const std::lock_guard lock(mutex_);
    refused_.push_back(refused.token);
    if (!next_.empty()) credential_.token = std::exchange(next_, "");
  }

  // The token after the next refusal.
  void RenewTo(std::string token) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(token);
  }
  std::vector<std::string> refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  mutable std::mutex mutex_;
  Credential credential_;
  std::string next_;
  std::vector<std::string> refused_;
};

// Lets no time pass and remembers what was requested.
class FakeSleeper final : public Sleeper {
 public:
  bool Sleep(std::chrono::milliseconds time, std::stop_token stop) override {
    std::function<void()> then;
    {
      const std::lock_guard lock(mutex_);
      pauses_.push_back(time);
      then = then_;
    }
    if (then) then();
    return !stop.stop_requested();
  }

  std::vector<std::chrono::milliseconds> pauses() const {
    const std::lock_guard lock(mutex_);
    return pauses_;
  }
  // Called in each pause, in the thread that pauses.
  void Then(std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    then_ = std::move(then);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> pauses_;
  std::function<void()> then_;
};

inline Access AccessTo(const std::string& server, Credential credential = {}) {
  return {.server = server,
          .authority = {},
          .tls_server_name = {},
          .proxy = {},
          .origin = "a test",
          .credentials = std::make_shared<FixedCredentials>(std::move(credential))};
}

// The value of an answer; a fault fails the test and gives an empty value.
template <typename T>
T Value(Answer<T> answer) {
  if (answer) return *std::move(answer);
  ADD_FAILURE() << ReasonName(answer.error().reason) << ": " << answer.error().message;
  return T();
}
inline void Done(const Answer<void>& answer) {
  if (!answer) {
    ADD_FAILURE() << ReasonName(answer.error().reason) << ": " << answer.error().message;
  }
}

// The fault of an answer; a value fails the test.
template <typename T>
Fault FaultIn(const Answer<T>& answer) {
  if (!answer) return answer.error();
  ADD_FAILURE() << "it succeeded";
  return Fault{.reason = Reason::kStopped, .message = "no fault"};
}

inline std::string NameOf(const nlohmann::json& object) { return object.at("metadata").at("name"); }
inline std::string VersionOf(const nlohmann::json& object) {
  return object.at("metadata").at("resourceVersion");
}
inline std::string UidOf(const nlohmann::json& object) { return object.at("metadata").at("uid"); }
inline std::vector<std::string> NamesOf(const std::vector<nlohmann::json>& objects) {
  std::vector<std::string> names;
  for (const nlohmann::json& object : objects) names.push_back(NameOf(object));
  return names;
}

}  // namespace mindgate::kube::testing
