#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/time.h"
#include "http/connection.h"
#include "http/event_loop.h"
#include "http/request.h"
#include "http/transport.h"

namespace mindgate::http {

// A listening TCP socket. For one thread.
class Listener {
 public:
  // ":9443" (all addresses, IPv6 and IPv4), "127.0.0.1:9443" or "[::1]:9443"; port 0 lets the
  // kernel choose.
  static Result<Listener> Open(std::string_view address);

  enum class Status {
    kAccepted,
    kNothing,       // nobody waits, or whoever did has gone
    kNoDescriptor,  // no file descriptor or memory for one more
  };
  struct Accepted {
    Status status;
    FileDescriptor socket = {};  // non-blocking, without Nagle's delay
    PeerAddress peer = {};
  };
  Accepted Accept();

  // After kNoDescriptor: takes the first that waits by a descriptor kept in reserve and closes it,
  // so that it learns at once and does not keep the listener ready forever.
  void RefuseOne();

  int fd() const { return socket_.get(); }
  uint16_t port() const { return port_; }
  void Close() { socket_.Close(); }

 private:
  Listener(FileDescriptor socket, uint16_t port);

  FileDescriptor socket_;
  FileDescriptor reserve_;
  uint16_t port_;
};

// One port: its listener and the loops that share its connections. Requests come out of it complete
// and in bounds.
class FrontEnd {
 public:
  struct Options {
    std::string name;  // of its threads
    std::string listen;
    size_t loops = 1;
    size_t max_connections = 2048;  // 14 to 22 KB each over TLS while idle
    // Of handshakes under way: kHandshakeBytes each, so that at most 256 are. Apart from the
    // budget, which is for those whose handshake is over: a flood of handshakes takes none of it.
    size_t handshake_bytes = size_t{24} << 20;
    ConnectionSettings settings;
    const TlsContext* tls = nullptr;  // null: without TLS
    ByteBudget* budget = nullptr;
    const Clock* clock = nullptr;
    EventLoop::Handler handler;
  };

  // Listens: who connects waits until Serve.
  static Result<std::unique_ptr<FrontEnd>> Open(Options options);
  void Serve();
  ~FrontEnd();  // closes everything at once

  uint16_t port() const { return port_; }
  const LayerStats& stats() const { return stats_; }
  LayerStats& stats() { return stats_; }

  // From any thread. Takes those who already wait and then no more.
  void StopAccepting();
  void CloseIdle(std::chrono::milliseconds idle_for);
  bool Empty() const;  // no connection is left
  // No connection is left and none will come: StopAccepting has done its work.
  bool Finished() const;
  // The longest that one of the loops has been at work without looking at its sockets.
  std::chrono::nanoseconds BusyFor(Clock::Instant now) const;
  // Makes the loops check the clock: for tests that move it.
  void Wake();
  // Ends the loops. Nothing may be sent to a Responder afterwards.
  void Stop();

 private:
  explicit FrontEnd(Options options, Listener listener);
  // True when more may be waiting.
  bool AcceptSome();
  void Distribute(FileDescriptor socket, const PeerAddress& peer);

  const Options options_;
  Listener listener_;  // of the first loop's thread
  const uint16_t port_;
  LayerStats stats_;
  std::atomic<bool> accepting_{true};
  std::vector<std::unique_ptr<EventLoop>> loops_;
};

// The port of probes and metrics: the connection layer without TLS. Answers come from its loop's
// own thread and from a byte budget of its own, so that no flood of reviews turns a probe away.
class ProbePort {
 public:
  struct Options {
    std::string listen = ":8080";
    size_t max_connections = 64;
    ConnectionSettings settings{};
    const Clock* clock = nullptr;
    std::function<void(std::string_view what)> on_bug;
    std::function<bool()> closing = [] { return false; };  // whether answers end connections
  };
  // Listens: who connects waits until Serve.
  static Result<std::unique_ptr<ProbePort>> Open(Options options,
                                                 std::vector<Router::Route> routes);

  void Serve() { front_end_->Serve(); }
  void Stop() { front_end_->Stop(); }
  void Wake() { front_end_->Wake(); }
  uint16_t port() const { return front_end_->port(); }
  const LayerStats& stats() const { return front_end_->stats(); }

 private:
  ProbePort(Options options, std::vector<Router::Route> routes);

  const Options options_;
  ByteBudget budget_{4 * 1024 * 1024};
  const Router router_;
  std::unique_ptr<FrontEnd> front_end_;
};

// Of /metrics, in Prometheus text format.
Response MetricsText(std::string text);

}  // namespace mindgate::http
