#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/event_loop.h"
#include "http/listener.h"
#include "http/tls_context.h"

namespace mindgate::http {

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

}  // namespace mindgate::http
