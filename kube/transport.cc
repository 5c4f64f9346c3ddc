#include "kube/transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "kube/access.h"
#include "kube/curl_handles.h"
#include "kube/resource.h"

namespace mindgate::kube {
namespace {

using Instant = std::chrono::steady_clock::time_point;

// An API server sends under 2 KB; what goes on beyond this is not one.
constexpr size_t kMaxHead = 256 * 1024;
// Of an error's body: a Status with its causes.
constexpr size_t kMaxErrorBody = 1024 * 1024;

// A handle for one call at a time, with the connection that the last one left open.
struct Lane {
  MultiPtr multi{curl_multi_init()};
  EasyPtr easy{curl_easy_init()};
};

// What arrives of one answer.
struct Exchange {
  CURL* easy = nullptr;
  const Transport::Consume* consume = nullptr;  // null: the body is collected
  size_t limit = 0;
  HttpAnswer answer{};
  size_t head_bytes = 0;
  bool head_done = false;
  bool head_too_large = false;
  bool body_too_large = false;
  bool ended_by_us = false;

  long status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  bool streams() const { return consume != nullptr && status() == 200; }
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == (y >= 'A' && y <= 'Z' ? y - 'A' + 'a' : y);
  });
}

// `299 - "text"`, the text with \" and \\ inside.
std::string WarningText(std::string_view value) {
  const size_t open = value.find('"');
  if (open == std::string_view::npos) return std::string(value);
  std::string text;
  for (size_t i = open + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

size_t OnHeader(char* data, size_t size, size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view line(data, size * count);
  exchange.head_bytes += line.size();
  if (exchange.head_bytes > kMaxHead) {
    exchange.head_too_large = true;
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // a 100 Continue may come before the real one
    exchange.answer.retry_after.reset();
    exchange.answer.warnings.clear();
    exchange.head_done = false;
  }
  if (line == "\r\n" || line == "\n") {
    exchange.head_done = exchange.status() >= 200;
    if (exchange.streams() && !(*exchange.consume)({})) exchange.ended_by_us = true;
    if (exchange.ended_by_us) return 0;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (EqualsIgnoringCase(name, "Retry-After")) {
    uint32_t seconds = 0;
    const auto end = value.data() + value.size();
    // A date, which API servers do not send, counts as none.
    if (std::from_chars(value.data(), end, seconds).ptr == end && !value.empty()) {
      exchange.answer.retry_after = std::chrono::seconds(std::min<uint32_t>(seconds, 3600));
    }
  } else if (EqualsIgnoringCase(name, "Warning") && exchange.answer.warnings.size() < 16) {
    exchange.answer.warnings.push_back(WarningText(value));
  }
  return line.size();
}

size_t OnBody(char* data, size_t size, size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view piece(data, size * count);
  if (exchange.streams()) {
    if ((*exchange.consume)(piece)) return piece.size();
    exchange.ended_by_us = true;
    return 0;
  }
  const size_t limit = exchange.consume != nullptr || exchange.status() >= 400
                           ? std::min(exchange.limit, kMaxErrorBody)
                           : exchange.limit;
  std::string& body = exchange.answer.body;
  const size_t needed = body.size() + piece.size();
  if (needed > limit) {
    exchange.limit = limit;
    exchange.body_too_large = true;
    return 0;
  }
  // A string that grows by itself would pass the limit, twice over.
  if (needed > body.capacity())
    body.reserve(std::min(limit, std::max(needed, 2 * body.capacity())));
  body += piece;
  return piece.size();
}

// "https://host:6443/prefix" in its parts; a path prefix stays with `rest`.
struct ServerParts {
  std::string scheme, host, port, rest;
};

ServerParts PartsOf(const std::string& server) {
  ServerParts parts;
  const size_t scheme = server.find("://");
  parts.scheme = server.substr(0, scheme);
  std::string rest = scheme == std::string::npos ? server : server.substr(scheme + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  parts.rest = rest.substr(slash);
  std::string authority = rest.substr(0, slash);
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    parts.port = authority.substr(colon + 1);
    authority.resize(colon);
  } else {
    parts.port = parts.scheme == "http" ? "80" : "443";
  }
  parts.host = authority;
  return parts;
}

class CurlTransport final : public Transport {
 public:
  CurlTransport(Access access, std::string user_agent, const TransportLimits& limits)
      : access_(std::move(access)),
        user_agent_("User-Agent: " + std::move(user_agent)),
        limits_(limits) {
    if (access_.tls_server_name.empty()) return;
    // The name goes where certificate checks, SNI and Host look for it; the address stays.
    const ServerParts parts = PartsOf(access_.server);
    connect_to_.reset(curl_slist_append(
        nullptr, (access_.tls_server_name + ":" + parts.port + ":" + parts.host + ":" + parts.port)
                     .c_str()));
    access_.server = parts.scheme + "://" + access_.tls_server_name + ":" + parts.port + parts.rest;
  }

  Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token stop) override {
    return WithCredentials(call, nullptr, stop);
  }

  Answer<HttpAnswer> Stream(const HttpCall& call, const Consume& consume,
                            std::stop_token stop) override {
    return WithCredentials(call, &consume, stop);
  }

 private:
  // A 401 may be a token that has just expired: once more with a new one.
  Answer<HttpAnswer> WithCredentials(const HttpCall& call, const Consume* consume,
                                     const std::stop_token& stop) {
    Answer<HttpAnswer> answer;
    for (int tries = 0; tries < 2; ++tries) {
      const auto credential = access_.credentials->Get();
      if (!credential) return tl::unexpected(credential.error());
      answer = Once(call, *credential, consume, stop);
      if (!answer || answer->status != 401) return answer;
      access_.credentials->Refused(*credential);
    }
    return answer;
  }

  Answer<HttpAnswer> Once(const HttpCall& call, const Credential& credential,
                          const Consume* consume, const std::stop_token& stop) {
    const std::string doing = call.method + " " + access_.server +
                              call.path.substr(0, call.path.find('?')) + " (" + access_.origin +
                              ")";
    if (stop.stop_requested()) return Failed(Reason::kStopped, doing + ": stopped");
    std::unique_ptr<Lane> lane = TakeLane();
    if (lane->easy == nullptr || lane->multi == nullptr) {
      return Failed(Reason::kUnreachable, doing + ": libcurl has no memory for a call");
    }
    Exchange exchange{.easy = lane->easy.get(),
                      .consume = consume,
                      .limit = call.answer_bytes > 0 ? call.answer_bytes : limits_.answer_bytes,
                      .answer = {}};
    ListPtr headers;
    char reason[CURL_ERROR_SIZE] = "";
    SetOptions(lane->easy.get(), call, credential, exchange, headers, reason);
    const Outcome outcome = Perform(*lane, call, exchange, stop);
    exchange.answer.status = static_cast<int>(exchange.status());
    // A connection whose transfer was cut short does not survive it, so the lane is clean.
    curl_easy_reset(lane->easy.get());
    ReturnLane(std::move(lane));
    if (outcome.stopped) return Failed(Reason::kStopped, doing + ": stopped");
    if (outcome.code == CURLE_OK || exchange.ended_by_us) return std::move(exchange.answer);
    return tl::unexpected(FaultOfOutcome(doing, outcome, reason, call, exchange));
  }

  struct Outcome {
    CURLcode code = CURLE_OK;
    bool stopped = false;
    bool connected = false;
  };

  static Outcome Perform(Lane& lane, const HttpCall& call, const Exchange& exchange,
                         const std::stop_token& stop) {
    CURLM* multi = lane.multi.get();
    const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
    const Instant deadline = std::chrono::steady_clock::now() + call.timeout;
    Outcome outcome;
    curl_multi_add_handle(multi, lane.easy.get());
    for (int running = 1; running > 0;) {
      curl_multi_perform(multi, &running);
      int left = 0;
      if (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        outcome.code = message->data.result;
        break;
      }
      outcome.stopped = stop.stop_requested();
      if (outcome.stopped) break;
      // libcurl has no time limit for the head of a stream alone.
      if (exchange.consume != nullptr && !exchange.head_done &&
          std::chrono::steady_clock::now() >= deadline) {
        outcome.code = CURLE_OPERATION_TIMEDOUT;
        break;
      }
      // Sockets and the wake-up end the wait; a second bounds what the head of a stream is late.
      curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
    curl_multi_remove_handle(multi, lane.easy.get());
    curl_off_t connected_after = 0;
    curl_easy_getinfo(lane.easy.get(), CURLINFO_PRETRANSFER_TIME_T, &connected_after);
    outcome.connected = connected_after > 0;
    return outcome;
  }

  void SetOptions(CURL* easy, const HttpCall& call, const Credential& credential,
                  Exchange& exchange, ListPtr& headers, char* reason) const {
    const auto set = [easy](CURLoption option, auto value) {
      curl_easy_setopt(easy, option, value);
    };
    set(CURLOPT_ERRORBUFFER, reason);
    set(CURLOPT_URL, (access_.server + call.path).c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_PROTOCOLS_STR, "https,http");
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, 30L);
    set(CURLOPT_TCP_KEEPINTVL, 10L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits_.connect_timeout.count()));
    if (exchange.consume == nullptr) {
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
    } else {
      set(CURLOPT_LOW_SPEED_LIMIT, 1L);
      set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits_.stream_silence.count()));
    }
    if (connect_to_ != nullptr) set(CURLOPT_CONNECT_TO, connect_to_.get());
    if (!access_.proxy.empty()) set(CURLOPT_PROXY, access_.proxy.c_str());
    SetTrust(easy, credential);

    const auto add = [&headers](const std::string& line) {
      headers.reset(curl_slist_append(headers.release(), line.c_str()));
    };
    add("Accept: " + call.accept);
    add(user_agent_);
    add("Expect:");  // libcurl asks before it sends a large body, and waits a second for the answer
    if (!credential.token.empty()) add("Authorization: Bearer " + credential.token);
    AddImpersonation(add);
    if (!call.body.empty()) {
      add("Content-Type: " + call.content_type);
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
      set(CURLOPT_POSTFIELDS, call.body.data());
    }
    set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_HEADERFUNCTION, &OnHeader);
    set(CURLOPT_HEADERDATA, &exchange);
    set(CURLOPT_WRITEFUNCTION, &OnBody);
    set(CURLOPT_WRITEDATA, &exchange);
  }

  void AddImpersonation(const auto& add) const {
    const Impersonation& as = access_.impersonation;
    if (!as.user.empty()) add("Impersonate-User: " + as.user);
    if (!as.uid.empty()) add("Impersonate-Uid: " + as.uid);
    for (const std::string& group : as.groups) add("Impersonate-Group: " + group);
    for (const auto& [key, values] : as.extra) {
      for (const std::string& value : values) {
        add("Impersonate-Extra-" + PercentEncoded(ToLower(key)) + ": " + value);
      }
    }
  }

  void SetTrust(CURL* easy, const Credential& credential) const {
    const auto blob = [easy](CURLoption option, const std::string& text) {
      // Not copied: both outlive the call.
      curl_blob data{
          .data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
      curl_easy_setopt(easy, option, &data);
    };
    const std::string& authority =
        credential.authority.empty() ? access_.authority : credential.authority;
    if (!authority.empty()) {
      // The CA of the cluster and no other: the folder would add those of the system.
      curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
      curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
      blob(CURLOPT_CAINFO_BLOB, authority);
    } else if (!SystemAuthorities().empty()) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, SystemAuthorities().c_str());
    }
    if (access_.insecure) {
      curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
      curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (!credential.certificate.empty()) {
      blob(CURLOPT_SSLCERT_BLOB, credential.certificate);
      blob(CURLOPT_SSLKEY_BLOB, credential.key);
    }
  }

  Fault FaultOfOutcome(const std::string& doing, const Outcome& outcome, const char* reason,
                       const HttpCall& call, const Exchange& exchange) const {
    const std::string why = *reason == '\0' ? curl_easy_strerror(outcome.code) : reason;
    const auto fault = [&doing](Reason kind, const std::string& text) {
      return Fault{.reason = kind, .message = doing + ": " + text};
    };
    if (exchange.body_too_large) {
      return fault(Reason::kTooLarge, "the answer is larger than the limit of " +
                                          std::to_string(exchange.limit) + " bytes");
    }
    if (exchange.head_too_large) {
      return fault(Reason::kGarbage, "the head of the answer is larger than " +
                                         std::to_string(kMaxHead) +
                                         " bytes; this is not an API server");
    }
    switch (outcome.code) {
      case CURLE_OPERATION_TIMEDOUT:
        if (!outcome.connected) {
          const auto limit = std::min(call.timeout, limits_.connect_timeout);
          return fault(Reason::kTimeout, "not connected within " + std::to_string(limit.count()) +
                                             " ms; check `server` in the kubeconfig, and that no " +
                                             "firewall is in between");
        }
        if (exchange.consume != nullptr && exchange.head_done) {
          return fault(Reason::kTimeout, "nothing arrived for " +
                                             std::to_string(limits_.stream_silence.count()) + " s");
        }
        return fault(Reason::kTimeout,
                     "no answer within " + std::to_string(call.timeout.count()) + " ms");
      case CURLE_PEER_FAILED_VERIFICATION:
        return fault(Reason::kTls, "the server's certificate is not accepted: " + why +
                                       "; check the CA in the kubeconfig and the name in `server`");
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_SSL_CERTPROBLEM:
      case CURLE_SSL_CIPHER:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_SSL_ENGINE_NOTFOUND:
        return fault(Reason::kTls, why);
      case CURLE_WEIRD_SERVER_REPLY:
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_URL_MALFORMAT:
      case CURLE_BAD_CONTENT_ENCODING:
        return fault(Reason::kGarbage, why);
      default:
        return fault(Reason::kUnreachable, why);
    }
  }

  std::unique_ptr<Lane> TakeLane() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return std::make_unique<Lane>();
    auto lane = std::move(idle_.back());
    idle_.pop_back();
    return lane;
  }

  void ReturnLane(std::unique_ptr<Lane> lane) {
    const MutexLock lock(mutex_);
    if (idle_.size() < limits_.idle_connections) idle_.push_back(std::move(lane));
  }

  Access access_;
  const std::string user_agent_;
  const TransportLimits limits_;
  ListPtr connect_to_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Transport> MakeTransport(Access access, const std::string& user_agent,
                                         const TransportLimits& limits) {
  StartCurl();
  return std::make_unique<CurlTransport>(std::move(access), user_agent, limits);
}

}  // namespace mindgate::kube
