#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace mindgate::kube {

// Why a call did not do what it should. The first group is what an API server says (the `reason` of
// its Status, k8s.io/apimachinery pkg/apis/meta/v1/types.go), the second what happened on the way.
enum class Reason {
  kUnauthorized,   // 401: the credentials are not accepted, or no longer
  kForbidden,      // 403: they are, and RBAC or admission says no
  kNotFound,       // 404
  kAlreadyExists,  // 409 on create
  kConflict,       // 409: resourceVersion, uid, or another owner of a field
  kExpired,        // 410: a resourceVersion or a continue token that is too old
  kInvalid,  // 400, 405, 406, 413, 415, 422: the request itself; sending it again will not help
  kTooManyRequests,  // 429: flow control, or an eviction that a budget does not allow
  kUnavailable,      // 5xx: the server, or what it asked (etcd, a webhook), cannot now
  kTimeout,          // 504, or no answer within the time given

  kUnreachable,  // the name does not resolve, nobody listens, the connection broke
  kTls,          // the server's certificate is not that of the CA, or ours was refused
  kGarbage,      // an answer that no API server gives
  kTooLarge,     // an answer beyond a limit; the message names it
  kCredentials,  // the credentials could not be had: a file, an exec plugin
  kStopped,      // the caller asked to stop
};

std::string_view ReasonName(Reason reason);  // "Unauthorized", ...

struct Fault {
  Reason reason;
  std::string message;  // what was asked of whom, what came of it, and what helps where we know
  int http = 0;         // the status code; 0: there was no answer
  std::optional<std::chrono::seconds> retry_after{};  // as the server asked
  std::vector<std::string> causes{};                  // "field: message" of a Status' details

  // Whether the same call may succeed later without anybody doing anything.
  bool transient() const;
};

template <typename T>
using Answer = tl::expected<T, Fault>;

inline tl::unexpected<Fault> Failed(Reason reason, std::string message) {
  return tl::unexpected<Fault>(Fault{.reason = reason, .message = std::move(message)});
}

// The fault that an answer of status >= 400 reports: its body is a Status, or else some text that a
// proxy wrote. `doing` begins the message: "GET /api/v1/pods".
Fault FaultOf(const std::string& doing, int http, std::string_view body,
              std::optional<std::chrono::seconds> retry_after);

// Pauses, behind an interface so that tests let no time pass. Safe from many threads.
class Sleeper {
 public:
  virtual ~Sleeper() = default;
  // False when `stop` was asked to before the time was over.
  virtual bool Sleep(std::chrono::milliseconds time, std::stop_token stop) = 0;
};

class RealSleeper final : public Sleeper {
 public:
  bool Sleep(std::chrono::milliseconds time, std::stop_token stop) override;
};

// How long to wait before the next try: doubling from `first` to `max_wait`, each spread evenly
// over half to one and a half times itself, so that many clients do not come back at once. One
// thread.
class Backoff {
 public:
  struct Options {
    std::chrono::milliseconds first{500};
    std::chrono::milliseconds max_wait{30'000};
  };
  explicit Backoff(uint64_t seed) : Backoff(Options{}, seed) {}
  Backoff(Options options, uint64_t seed) : options_(options), random_(seed) {}

  std::chrono::milliseconds Next();
  void Reset() { failures_ = 0; }  // something worked
  int failures() const { return failures_; }

 private:
  Options options_;
  std::minstd_rand random_;
  int failures_ = 0;
};

}  // namespace mindgate::kube
