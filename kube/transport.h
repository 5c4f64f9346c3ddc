#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/access.h"
#include "kube/fault.h"

namespace mindgate::kube {

struct HttpCall {
  std::string method = "GET";
  std::string path{};                         // "/api/v1/pods?limit=500", encoded
  std::string body{};                         // sent when not empty
  std::string content_type{};                 // of `body`
  std::chrono::milliseconds timeout{30'000};  // of the whole call; of a stream: until its head
  std::string accept = "application/json";
  size_t answer_bytes = 0;  // the largest body that is taken; 0: TransportLimits says
};

struct HttpAnswer {
  int status = 0;
  std::string body{};
  std::optional<std::chrono::seconds> retry_after{};
  std::vector<std::string> warnings{};  // texts of Warning headers (RFC 7234, code 299)
};

// Carries requests to one API server. Safe from many threads; each call waits for its answer, and
// ends early with kStopped when `stop` is asked to.
class Transport {
 public:
  virtual ~Transport() = default;

  // Any status is an answer; a Fault is a call that got none.
  virtual Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token stop) = 0;

  // An answer without an end: `consume` gets the body of a 200 as it arrives, in pieces of any
  // size, the first one empty as soon as the head is there, and ends the call by returning false.
  // Another status comes back as from Send. An orderly end by either side returns an answer with
  // status 200 and no body.
  using Consume = std::function<bool(std::string_view piece)>;
  virtual Answer<HttpAnswer> Stream(const HttpCall& call, const Consume& consume,
                                    std::stop_token stop) = 0;
};

struct TransportLimits {
  // Of one body. An object has 1.5 MiB at most (etcd, --max-request-bytes), and Go writes each `<`
  // in it as six bytes.
  size_t answer_bytes = 16 * 1024 * 1024;
  std::chrono::milliseconds connect_timeout{10'000};
  // Kept open between calls; more are opened when more calls run at once.
  size_t idle_connections = 4;
  // A stream on which nothing at all arrives for so long is cut: an API server sends a bookmark
  // about once a minute (k8s.io/apiserver, cacher: bookmarkFrequency). What is known of a silent
  // one must not pass for new for longer than a Lease is worth.
  std::chrono::seconds stream_silence{75};
};

// Over libcurl, HTTP/1.1. `user_agent` as in "mindgate/0.1.0". After a 401 it fetches the
// credentials again and repeats the call once. libcurl itself sends a call again, whatever its
// method, when a kept connection turns out to be closed before a byte of the answer came.
std::unique_ptr<Transport> MakeTransport(Access access, const std::string& user_agent,
                                         const TransportLimits& limits = {});

struct DownloadLimits {
  size_t bytes = 64 * 1024 * 1024;
  std::chrono::milliseconds timeout{60'000};  // of the whole download
  int redirects = 5;
  std::string authority{};  // PEM that is trusted instead of the system's
};

// What stands at an http or https address. From https a redirect leads to https only. A proxy of
// the environment (https_proxy) is used. The message says what failed, without the address.
Result<std::string> Download(const std::string& url, const std::string& user_agent,
                             const DownloadLimits& limits = {});

}  // namespace mindgate::kube
