#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "http/front_end.h"
#include "support/eventually.h"
#include "webhook/load.h"
#include "webhook/server.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;
using http::testing::BodyOf;
using http::testing::Client;
using http::testing::HeaderOf;
using http::testing::Material;
using http::testing::Post;
using http::testing::StatusOf;
using http::testing::TestCa;
using mindgate::testing::ApiServerClient;
using mindgate::testing::Eventually;
using testing::Gate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Load;
using testing::RefusalAnswer;
using testing::ReviewText;
using testing::ServerFixture;

TEST(Server, DrainSequence) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  ServerFixture fixture(options);
  Client busy(fixture.server->port(), Client::Tls{});
  busy.Send(Post(ReviewText()));
  gate.AwaitEntered(1);
  Client idle(fixture.server->port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(http::Phase::kIdle) == 1; }));
  EXPECT_FALSE(fixture.server->DrainStep()) << "nobody requested it";

  fixture.server->BeginDrain();
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 503);
  EXPECT_THAT(BodyOf(fixture.Probe("/readyz")), HasSubstr("[-]serving failed: shutting down\n"));
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200);
  EXPECT_FALSE(fixture.server->DrainStep());

  // Whoever still comes is served, and asked not to come again.
  gate.Open();
  Client newcomer(fixture.server->port(), Client::Tls{});
  newcomer.Send(Post(ReviewText()));
  const std::string served = newcomer.ReadAnswer();
  EXPECT_EQ(StatusOf(served), 200);
  EXPECT_EQ(HeaderOf(served, "Connection"), "close");
  EXPECT_EQ(newcomer.ReadToEnd(), "");
  newcomer.Close();
  EXPECT_EQ(StatusOf(busy.ReadAnswer()), 200) << "begun before the drain";

  // Before the delay is over nothing recent is closed; what has been idle for long is.
  fixture.Advance(1s);
  Client recent(fixture.server->port(), Client::Tls{});
  ASSERT_TRUE(recent.ok());
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(http::Phase::kIdle) >= 1; }));
  EXPECT_FALSE(fixture.server->DrainStep());
  EXPECT_EQ(idle.ReadToEnd(), "");
  idle.Close();
  busy.Close();

  // Late: a request under way is asked to go elsewhere at once.
  recent.Send("POST /mutate HTTP/1.1\r\n");
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(http::Phase::kReading) == 1; }));
  fixture.Advance(4s);
  EXPECT_FALSE(fixture.server->DrainStep());
  ASSERT_TRUE(Eventually([&] { return !Client(fixture.server->port()).Connected(); }));
  recent.Send("Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(recent.ReadAnswer(), RefusalAnswer(Refusal::kDraining, true));
  EXPECT_EQ(recent.ReadToEnd(), "");
  recent.Close();
  EXPECT_TRUE(Eventually([&] { return fixture.server->DrainStep(); }));
  EXPECT_EQ(fixture.server->stats().Open(), 0);
}

TEST(Server, DrainEndsInTimeWithAConnectionThatWillNotGo) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  options.connections.request_time = 60s;
  ServerFixture fixture(options);
  Client stuck(fixture.server->port(), Client::Tls{});
  stuck.Send(Post(ReviewText(), "", "/mutate"));
  gate.AwaitEntered(1);
  fixture.server->BeginDrain();
  fixture.Advance(24s);
  EXPECT_FALSE(fixture.server->DrainStep());
  fixture.Advance(1s);
  EXPECT_TRUE(fixture.server->DrainStep());
  gate.Open();
}

TEST(Server, DrainUnderLoadFailsNoRequest) {
  const TestCa ca("ca");
  ServerFixture leaving;
  ServerFixture staying;
  std::atomic<uint16_t> endpoint{leaving.server->port()};
  // Replicas share one certificate and one CA.
  staying.tls.Set(leaving.tls.Get());
  auto options = leaving.ApiServer();
  options.endpoint = [&] { return endpoint.load(); };
  ApiServerClient first(options);
  ApiServerClient second(options);
  const auto call = [](ApiServerClient& api_server, const char* path) {
    return [&api_server, path] {
      const auto answer = api_server.Post(path, ReviewText());
      return answer.ok() ? "" : answer.fault + " status " + std::to_string(answer.status);
    };
  };
  Load load({call(first, "/mutate"), call(first, "/validate"), call(second, "/mutate"),
             call(second, "/validate")});
  ASSERT_TRUE(load.EachCallsAgain());
  leaving.server->BeginDrain();
  leaving.server->DrainStep();
  ASSERT_TRUE(load.EachCallsAgain()) << "still served by the one that leaves";
  // One who is slow, so that its request comes when it is late already.
  Client straggler(leaving.server->port(), Client::Tls{});
  const std::string request = Post(ReviewText());
  straggler.Send(std::string_view(request).substr(0, 10));
  endpoint = staying.server->port();
  ASSERT_TRUE(load.EachCallsAgain());
  ASSERT_TRUE(Eventually([&] {
    const http::LayerStats& stats = leaving.server->stats();
    return stats.In(http::Phase::kReading) == 1 && stats.Open() == 1;
  }));
  leaving.Advance(5s);
  EXPECT_FALSE(leaving.server->DrainStep());
  straggler.Send(std::string_view(request).substr(10));
  EXPECT_EQ(straggler.ReadAnswer(), RefusalAnswer(Refusal::kDraining, true));
  straggler.Close();
  ASSERT_TRUE(Eventually([&] { return leaving.server->DrainStep(); }));
  leaving.server.reset();
  ASSERT_TRUE(load.EachCallsAgain());
  load.Stop();
  EXPECT_THAT(load.Faults(), IsEmpty());
}

// Whoever comes late on a connection that is still open is asked to go elsewhere at once, and lands
// on the other replica.
TEST(Server, LateRequestsLandOnAnotherReplica) {
  ServerOptions at_once;
  at_once.drain_delay = 0ms;
  ServerFixture leaving(at_once);
  ServerFixture staying;
  staying.tls.Set(leaving.tls.Get());
  std::atomic<bool> late{false};
  auto options = leaving.ApiServer();
  options.endpoint = [&] { return (late ? staying : leaving).server->port(); };
  ApiServerClient api_server(options);
  ASSERT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  ASSERT_EQ(api_server.idle(), 1);
  leaving.server->BeginDrain();
  EXPECT_FALSE(leaving.server->DrainStep());
  late = true;
  const auto answer = api_server.Post("/mutate", ReviewText());
  EXPECT_TRUE(answer.ok()) << answer.fault;
  EXPECT_EQ(answer.attempts, 2);
  EXPECT_EQ(leaving.server->refusals().Count(Refusal::kDraining), 1);
}

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    stop_read = FileDescriptor(ends[0]);
    stop_write = FileDescriptor(ends[1]);
    options.listen = "127.0.0.1:0";
    options.probe_listen = "127.0.0.1:0";
    tls.Set(Material(ca.Issue("mindgate.svc")));
    config.Set(std::make_shared<const schemas::Config>());
  }
  void Stop() { ASSERT_EQ(::write(stop_write.get(), "x", 1), 1); }
  bool Logged(const std::string& text) {
    const std::lock_guard lock(mutex);
    return log_text.find(text) != std::string::npos;
  }

  FileDescriptor stop_read;
  FileDescriptor stop_write;
  ServerOptions options;
  SystemClock clock;
  TestCa ca{"ca"};
  std::mutex mutex;
  std::string log_text;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [this](std::string_view line) {
                       const std::lock_guard lock(mutex);
                       log_text += line;
                     }};
  Snapshot<schemas::Config> config;
  Snapshot<certs::TlsMaterial> tls;
  ServerInputs inputs{config, tls, clock, logger};
};

TEST_F(RunTest, StopsWithZeroAfterADrain) {
  options.drain_delay = 0ms;
  std::atomic<int> result{-1};
  std::jthread runner([&] {
    result =
        webhook::Run(options, inputs, stop_read.get(), [](int) {}, [](const Server&) {}).value();
  });
  ASSERT_TRUE(Eventually([&] { return Logged("serving"); }));
  Stop();
  runner.join();
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(Logged("stopped connections_left=0"));
}

TEST_F(RunTest, SecondStopEndsAtOnce) {
  options.drain_delay = std::chrono::hours(1);
  std::atomic<int> exited{-1};
  std::jthread runner([&] {
    EXPECT_EQ(webhook::Run(
                  options, inputs, stop_read.get(), [&](int code) { exited = code; },
                  [](const Server&) {})
                  .value(),
              1);
  });
  ASSERT_TRUE(Eventually([&] { return Logged("serving"); }));
  Stop();
  ASSERT_TRUE(Eventually([&] { return Logged("draining"); }));
  Stop();
  runner.join();
  EXPECT_EQ(exited, 1);
}

// A thread that hangs is never joined: the process ends without it.
TEST_F(RunTest, ADrainDoesNotWaitForADecisionThatHangs) {
  Gate gate;
  options.decide = gate;
  options.max_inline_bytes = 0;
  options.drain_delay = 0ms;
  options.drain_time = 0ms;
  options.stuck_after = 0ms;
  std::atomic<int> exited{-1};
  std::atomic<uint16_t> port{0};
  std::jthread runner([&] {
    EXPECT_EQ(webhook::Run(
                  options, inputs, stop_read.get(),
                  [&](int code) {
                    exited = code;
                    gate.Open();
                  },
                  [&](const Server& started) { port = started.port(); })
                  .value(),
              1);
  });
  ASSERT_TRUE(Eventually([&] { return port != 0; }));
  Client client(port, Client::Tls{});
  client.Send(Post(ReviewText()));
  gate.AwaitEntered(1);
  Stop();
  runner.join();
  EXPECT_EQ(exited, 1);
  EXPECT_TRUE(Logged("exiting without the thread that hangs"));
}

TEST_F(RunTest, AddressInUseIsAnError) {
  const auto taken = http::Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(taken);
  options.probe_listen = "127.0.0.1:" + std::to_string(taken->port());
  const auto result =
      webhook::Run(options, inputs, stop_read.get(), [](int) {}, [](const Server&) {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("cannot bind"));
}

}  // namespace
}  // namespace mindgate::webhook
