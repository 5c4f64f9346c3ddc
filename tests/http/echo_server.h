#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/answers.h"
#include "http/front_end.h"
#include "http/test_certs.h"
#include "support/fake_clock.h"

namespace mindgate::http::testing {

// A port whose requests are answered at once with what they are, "POST /mutate|{}", or held until
// AnswerAll. Time stands until Advance.
class EchoServer {
 public:
  struct Options {
    Port port = Port::kPosts;
    bool tls = true;
    ClientAuth auth = {};
    size_t loops = 2;
    size_t max_connections = 6000;
    size_t max_handshakes = 256;
    size_t bytes = 64 * 1024 * 1024;
    bool hold = false;
    // In the loop's thread.
    std::function<void(EchoServer&, const Arrival&)> on_request = [](EchoServer&, const Arrival&) {
    };
  };

  EchoServer() : EchoServer(Options{}) {}
  explicit EchoServer(Options options)
      : ca("server ca"),
        client_ca("client ca"),
        material(Material(ca.Issue("mindgate.svc"), &client_ca)),
        tls(material, options.auth),
        budget(options.bytes),
        hold_(options.hold),
        on_request_(std::move(options.on_request)) {
    FrontEnd::Options front_end;
    front_end.name = "test";
    front_end.listen = "127.0.0.1:0";
    front_end.loops = options.loops;
    front_end.max_connections = options.max_connections;
    front_end.handshake_bytes = options.max_handshakes * kHandshakeBytes;
    front_end.settings.port = options.port;
    front_end.tls = options.tls ? &tls : nullptr;
    front_end.budget = &budget;
    front_end.clock = &clock;
    front_end.handler = [this](const Request& request, const Arrival& arrival,
                               Responder responder) {
      on_request_(*this, arrival);
      return OnRequest(request, std::move(responder));
    };
    layer = FrontEnd::Open(std::move(front_end)).value();
    layer->Serve();
  }

  uint16_t port() const { return layer->port(); }
  LayerStats& stats() { return layer->stats(); }
  void Advance(std::chrono::milliseconds by) {
    clock.Advance(by);
    layer->Wake();
  }

  size_t Held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  void AnswerAll() {
    std::vector<Responder> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (const Responder& responder : held) {
      responder.Send(PlainText(200, ""));
    }
  }

  mindgate::testing::FakeClock clock;
  TestCa ca;
  TestCa client_ca;
  Snapshot<certs::TlsMaterial> material;
  TlsContext tls;
  ByteBudget budget;

 private:
  std::optional<Response> OnRequest(const Request& request, Responder responder) {
    if (!hold_) return PlainText(200, Described(request));
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(responder));
    return std::nullopt;
  }

  const bool hold_;
  const std::function<void(EchoServer&, const Arrival&)> on_request_;
  std::mutex mutex_;
  std::vector<Responder> held_;  // guarded by mutex_

 public:
  std::unique_ptr<FrontEnd> layer;  // last: its threads use all of the above
};

}  // namespace mindgate::http::testing
