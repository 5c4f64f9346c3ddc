#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/response.h"

namespace mindgate::http {

// What a port takes.
enum class Port {
  kPosts,  // POST with a JSON body
  kGets,   // GET or HEAD without a body
};

// Bytes that may be read after a body, whatever they hold: parsers read ahead.
inline constexpr size_t kBodyRoom = 64;

struct FramingLimits {
  size_t head_bytes = 16 * 1024;  // kube-apiserver sends under 1 KiB
  size_t headers = 100;           // kube-apiserver sends about ten
  size_t target_bytes = 2048;     // "/validate?timeout=30s", with room
  size_t body_bytes =
      7 * 1024 * 1024;  // two objects of 3 MiB and the rest; controller-runtime's limit too
};

enum class Method { kGet, kHead, kPost };

// One complete, unambiguous request: all that handlers need, and of the sender's own bytes nothing
// but the target, a well-formed traceparent and the body.
struct Request {
  Method method = Method::kGet;
  std::string target;  // "/mutate?timeout=5s": visible ASCII without '#', as it came
  std::string body;
  std::string traceparent;  // W3C trace context, empty when none or malformed
  bool close = false;       // the sender asked for `Connection: close`

  // The target up to its first question mark, and what follows that.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const;

  bool operator==(const Request&) const = default;
};

// The value of `key` in a query, as it came; "" for one without "=". Nothing when it is not there.
std::optional<std::string_view> QueryValue(std::string_view query, std::string_view key);

// Cuts a stream of bytes into requests. Pure: no sockets, no clock. What comes out depends on the
// bytes only, never on how they were cut into pieces. Not for use by several threads at once.
class Framer {
 public:
  enum class State { kHead, kBody, kComplete, kRefused };

  explicit Framer(Port port, const FramingLimits& limits = {}) : port_(port), limits_(limits) {}

  // Takes bytes up to the end of one request, or up to the byte that got it refused, and says how
  // many. Takes none in kComplete and kRefused.
  size_t Consume(std::string_view bytes);

  State state() const { return state_; }
  Refusal refusal() const { return refusal_; }  // in kRefused

  // True when the sender waits for `100 Continue` before it sends the body.
  bool awaits_continue() const {
    return state_ == State::kBody && expect_continue_ && request_.body.empty();
  }

  // Bytes held for the request under way.
  size_t held() const { return line_.capacity() + request_.body.capacity(); }

  // In kComplete: hands the request over and starts on the next one.
  Request Take();

 private:
  size_t ConsumeHead(std::string_view bytes);
  size_t ConsumeBody(std::string_view bytes);
  void OnLine(std::string_view line);  // without its LF
  void OnRequestLine(std::string_view line);
  void OnHeader(std::string_view line);
  void OnKnownHeader(std::string_view name, std::string_view value);
  void OnHeadComplete();
  void Refuse(Refusal refusal);

  Port port_;
  FramingLimits limits_;
  State state_ = State::kHead;
  Refusal refusal_ = Refusal::kRequestLine;

  // What is known of the request under way.
  std::string line_;  // the part of a line that came without its end
  size_t head_bytes_ = 0;
  size_t headers_ = 0;
  size_t hosts_ = 0;
  size_t content_types_ = 0;
  size_t traceparents_ = 0;
  bool request_line_seen_ = false;
  bool json_ = false;
  bool transfer_encoding_ = false;
  bool content_encoding_ = false;
  bool expect_continue_ = false;
  std::optional<size_t> content_length_;
  Request request_;
};

// "00-<32 hex>-<16 hex>-<2 hex>" with ids that are not all zero:
// https://www.w3.org/TR/trace-context/#traceparent-header
bool IsTraceparent(std::string_view text);

// Which handler answers which path. The framing has refused other methods than those of the port.
// Safe from many threads.
class Router {
 public:
  using Handler = std::function<Response(const Request& request)>;
  struct Route {
    std::string path;
    Handler handler;
  };

  // `on_bug` gets what a handler threw, which never reaches the client; `on_not_found` is called
  // for each request for a path without a handler.
  Router(std::vector<Route> routes, std::function<void(std::string_view what)> on_bug,
         std::function<void()> on_not_found);

  // Paths are compared whole, after their percent-escapes have been decoded.
  Response Serve(const Request& request) const;

 private:
  const Handler* Find(std::string_view path) const;

  const std::vector<Route> routes_;  // a handful
  const std::function<void(std::string_view what)> on_bug_;
  const std::function<void()> on_not_found_;
};

}  // namespace mindgate::http
