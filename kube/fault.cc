#include "kube/fault.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "json/decode.h"

namespace mindgate::kube {
namespace {

// A Status holds a message and a few causes; what is longer is some proxy's page.
constexpr size_t kMaxText = 300;

Reason ReasonOf(int http, std::string_view status_reason) {
  if (http == 401) return Reason::kUnauthorized;
  if (http == 403) return Reason::kForbidden;
  if (http == 404) return Reason::kNotFound;
  if (http == 409) {
    return status_reason == "AlreadyExists" ? Reason::kAlreadyExists : Reason::kConflict;
  }
  if (http == 410) return Reason::kExpired;
  if (http == 429) return Reason::kTooManyRequests;
  if (http == 504 || status_reason == "Timeout") return Reason::kTimeout;
  if (http >= 500) return Reason::kUnavailable;
  return Reason::kInvalid;
}

// What forbids, by the words of whoever does, and what helps against it. An API server answers 403
// for RBAC and for every admission plugin (k8s.io/apiserver:
// pkg/endpoints/handlers/responsewriters, k8s.io/kubernetes: plugin/pkg/admission).
constexpr std::pair<std::string_view, std::string_view> kForbidding[] = {
    {"because it is being terminated", "; wait until the namespace is gone, and create it again"},
    {"exceeded quota", "; raise the ResourceQuota, or delete what uses it up"},
    {"violates PodSecurity",
     "; the namespace's label pod-security.kubernetes.io/enforce forbids it: change the pods, or "
     "the label"},
    {"admission webhook", "; the webhook forbids it, and no right helps against that"},
    {"ValidatingAdmissionPolicy", "; the policy forbids it, and no right helps against that"},
    // RBAC itself says what it misses; the words before may be anybody's.
    {" cannot ", "; grant it with a Role or ClusterRole"},
};

// What helps against it, where that is known.
std::string_view Help(Reason reason, std::string_view message) {
  if (reason == Reason::kUnauthorized) return "; the credentials are not accepted: renew them";
  if (reason != Reason::kForbidden) return "";
  for (const auto& [words, help] : kForbidding) {
    if (message.find(words) != std::string_view::npos) return help;
  }
  return "";
}

std::string OneLine(std::string_view text) {
  std::string line = Quote(text.substr(0, std::min(text.size(), kMaxText)));
  return line;
}

}  // namespace

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kUnauthorized:
      return "Unauthorized";
    case Reason::kForbidden:
      return "Forbidden";
    case Reason::kNotFound:
      return "NotFound";
    case Reason::kAlreadyExists:
      return "AlreadyExists";
    case Reason::kConflict:
      return "Conflict";
    case Reason::kExpired:
      return "Expired";
    case Reason::kInvalid:
      return "Invalid";
    case Reason::kTooManyRequests:
      return "TooManyRequests";
    case Reason::kUnavailable:
      return "Unavailable";
    case Reason::kTimeout:
      return "Timeout";
    case Reason::kUnreachable:
      return "Unreachable";
    case Reason::kTls:
      return "TLS";
    case Reason::kGarbage:
      return "Garbage";
    case Reason::kTooLarge:
      return "TooLarge";
    case Reason::kCredentials:
      return "Credentials";
    case Reason::kStopped:
      return "Stopped";
  }
  return "Unknown";
}

bool Fault::transient() const {
  switch (reason) {
    case Reason::kExpired:
    case Reason::kTooManyRequests:
    case Reason::kUnavailable:
    case Reason::kTimeout:
    case Reason::kUnreachable:
    case Reason::kGarbage:
    case Reason::kConflict:
      return true;
    default:
      return false;
  }
}

Fault FaultOf(const std::string& doing, int http, std::string_view body,
              std::optional<std::chrono::seconds> retry_after) {
  Fault fault{.reason = ReasonOf(http, ""),
              .message = doing + ": ",
              .http = http,
              .retry_after = retry_after};
  const auto status = json::Decode(body, {.bytes = 1024 * 1024, .depth = 16, .elements = 10'000});
  if (!status || json::FindString(*status, "kind") != "Status") {
    fault.message += "status " + std::to_string(http);
    if (!body.empty()) {
      fault.message += " with a body that is not from a Kubernetes API server: " + OneLine(body);
    }
    return fault;
  }
  fault.reason = ReasonOf(http, json::FindString(*status, "reason").value_or(""));
  const auto message = json::FindString(*status, "message");
  fault.message +=
      message && !message->empty() ? std::string(*message) : "status " + std::to_string(http);
  fault.message += Help(fault.reason, message.value_or(""));
  const json::Json* details = json::Find(*status, "details");
  if (!fault.retry_after) {
    if (const auto seconds = json::AsInt(json::Find(details, "retryAfterSeconds"));
        seconds && *seconds > 0) {
      fault.retry_after = std::chrono::seconds(std::min<int64_t>(*seconds, 3600));
    }
  }
  const json::Json* causes = json::Find(details, "causes");
  if (json::IsArray(causes)) {
    for (const json::Json& cause : *causes) {
      const auto field = json::FindString(cause, "field").value_or("");
      const auto why = json::FindString(cause, "message").value_or("");
      fault.causes.push_back(field.empty() ? std::string(why)
                                           : std::string(field) + ": " + std::string(why));
    }
  }
  return fault;
}

bool RealSleeper::Sleep(std::chrono::milliseconds time, std::stop_token stop) {
  Mutex mutex;
  ConditionVariable woken;
  MutexLock lock(mutex);
  woken.WaitFor(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

std::chrono::milliseconds Backoff::Next() {
  std::chrono::milliseconds wait = options_.first;
  for (int i = 0; i < failures_ && wait < options_.max_wait; ++i) wait *= 2;
  wait = std::min(wait, options_.max_wait);
  ++failures_;
  std::uniform_int_distribution<int64_t> spread(wait.count() / 2, wait.count() * 3 / 2);
  return std::chrono::milliseconds(spread(random_));
}

}  // namespace mindgate::kube
