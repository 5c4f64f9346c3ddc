#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/answers.h"
#include "http/client.h"
#include "http/raw_requests.h"
#include "http/test_certs.h"
#include "support/api_server_client.h"
#include "support/fake_clock.h"
#include "webhook/reviews.h"
#include "webhook/server.h"

namespace mindgate::webhook::testing {

using http::testing::BodyOf;
using http::testing::Client;
using http::testing::Head;
using http::testing::HeaderOf;
using http::testing::Material;
using http::testing::Post;
using http::testing::StatusOf;
using http::testing::TestCa;

inline std::string RefusalAnswer(Refusal refusal, bool close) {
  return http::testing::Answer(RefusalResponse(refusal), close);
}
inline std::string RefusalAnswer(http::Refusal refusal, bool close) {
  return http::testing::Answer(http::RefusalResponse(refusal), close);
}

inline std::string ReviewText() { return ReviewOf(Deployment()).dump(); }

// A server with everything it needs, on ports of its own.
struct ServerFixture {
  explicit ServerFixture(ServerOptions options = {}, bool ready = true)
      : logger(log::Format::kJson, log::Level::kInfo, clock, [this](std::string_view line) {
          const std::lock_guard lock(mutex);
          lines.emplace_back(line);
        }) {
    options.listen = "127.0.0.1:0";
    options.probe_listen = "127.0.0.1:0";
    options.work_threads = 2;
    if (ready) MakeReady();
    inputs = std::make_unique<ServerInputs>(ServerInputs{config, tls, clock, logger});
    inputs->namespace_labels = [this](std::string_view ns) { return namespace_labels(ns); };
    server = Server::Start(std::move(options), *inputs).value();
  }

  void MakeReady() {
    schemas::Config loaded;
    loaded.generation = "0123456789abcdef";
    config.Set(std::make_shared<const schemas::Config>(loaded));
    tls.Set(Material(ca.Issue("mindgate.svc")));
  }
  void Advance(std::chrono::milliseconds by) {
    clock.Advance(by);
    server->Wake();
  }
  // One answer of the admission port on a connection of its own.
  std::string Ask(std::string_view body, std::string_view target = "/mutate?timeout=5s") {
    Client client(server->port(), Client::Tls{});
    client.Send(Post(body, "", target));
    return client.ReadAnswer();
  }
  std::string Probe(const std::string& path) {
    Client client(server->probe_port());
    client.Send(Head({"GET " + path + " HTTP/1.1", "Host: a"}));
    return client.ReadAnswer();
  }
  // kube-apiserver, with this server as its webhook.
  mindgate::testing::ApiServerClient::Options ApiServer() {
    mindgate::testing::ApiServerClient::Options api_server;
    api_server.endpoint = [this] { return server->port(); };
    api_server.server_name = "mindgate.svc";
    api_server.ca_bundle = ca.certificate();
    api_server.clock = &clock;
    return api_server;
  }
  std::vector<std::string> Lines() {
    const std::lock_guard lock(mutex);
    return lines;
  }

  mindgate::testing::FakeClock clock;
  std::mutex mutex;
  std::vector<std::string> lines;
  log::Logger logger;
  TestCa ca{"ca"};
  Snapshot<schemas::Config> config;
  Snapshot<certs::TlsMaterial> tls;
  // Changed between requests only.
  std::function<std::optional<schemas::NamespaceLabels>(std::string_view ns)> namespace_labels =
      [](std::string_view) { return std::nullopt; };
  std::unique_ptr<ServerInputs> inputs;
  std::unique_ptr<Server> server;
};

// Decisions that wait until they are let go.
struct Gate {
  // A loop that made one would serve nobody meanwhile.
  ServerOptions InThePool() const {
    ServerOptions options;
    options.decide = *this;
    options.max_inline_bytes = 0;
    return options;
  }
  admission::Verdict operator()(const schemas::AdmissionRequest&, const schemas::Config&,
                                const admission::Options&) {
    ++*entered;
    entered->notify_all();
    open->wait(false);
    return {};
  }
  void Open() {
    *open = true;
    open->notify_all();
  }
  void AwaitEntered(int count) {
    for (int now = *entered; now < count; now = *entered) entered->wait(now);
  }
  std::shared_ptr<std::atomic<int>> entered = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<bool>> open = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace mindgate::webhook::testing
