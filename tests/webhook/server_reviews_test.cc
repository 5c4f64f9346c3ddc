// The server and kube-apiserver's side of the wire together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "http/echo_server.h"
#include "json/yaml.h"
#include "support/api_server_verify.h"
#include "support/eventually.h"
#include "support/places.h"
#include "webhook/load.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;
using http::testing::EchoServer;
using http::testing::Identity;
using http::testing::KeyKind;
using http::testing::Material;
using http::testing::TestCa;
using json::Json;
using mindgate::testing::ApiServerClient;
using mindgate::testing::Eventually;
using mindgate::testing::VerifyAnswer;
using testing::Gate;
using ::testing::IsEmpty;
using testing::Load;
using testing::ReviewOf;
using testing::ReviewText;
using testing::ServerFixture;

TEST(ApiServer, KeepsTwentyFiveConnectionsForNinetySeconds) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  ServerFixture fixture(options);
  ApiServerClient api_server(fixture.ApiServer());
  std::vector<std::jthread> calls;
  std::atomic<int> served{0};
  for (int i = 0; i < 30; ++i) {
    calls.emplace_back([&] { served += api_server.Post("/mutate", ReviewText()).ok() ? 1 : 0; });
  }
  ASSERT_TRUE(
      Eventually([&] { return fixture.server->stats().In(http::Phase::kExecuting) == 30; }));
  gate.Open();
  calls.clear();
  EXPECT_EQ(served, 30);
  EXPECT_EQ(api_server.dials(), 30);
  EXPECT_EQ(api_server.idle(), 25);
  EXPECT_TRUE(Eventually([&] { return fixture.server->stats().Open() == 25; }));
  // The client has its answer before the server has turned to the next request.
  const auto all_idle = [&] {
    return Eventually([&] {
      const auto& stats = fixture.server->stats();
      return stats.In(http::Phase::kIdle) > 0 && stats.In(http::Phase::kReading) == 0 &&
             stats.In(http::Phase::kExecuting) == 0 && stats.In(http::Phase::kWriting) == 0;
    });
  };
  ASSERT_TRUE(all_idle());

  fixture.Advance(89s);
  EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  EXPECT_EQ(api_server.dials(), 30) << "a kept one was used";
  // It drops them itself after 90 s; the server would have kept them for 120.
  ASSERT_TRUE(all_idle());
  fixture.Advance(89s);
  EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  EXPECT_EQ(api_server.dials(), 30);
  ASSERT_TRUE(all_idle());
  fixture.Advance(90s);
  EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  EXPECT_EQ(api_server.dials(), 31);
  EXPECT_EQ(api_server.idle(), 1);
}

TEST(ApiServer, RepeatsWhatTheFullQueueRefused) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  options.queue = 1;
  ServerFixture fixture(options);
  const auto waiting = [&fixture](int reviews) {
    return fixture.server->Metrics().find("mindgate_webhook_queue_length " +
                                          std::to_string(reviews) + "\n") != std::string::npos;
  };
  auto api = fixture.ApiServer();
  std::vector<int64_t> waits;
  api.wait = [&](std::chrono::seconds time) {
    waits.push_back(time.count());
    gate.Open();
    EXPECT_TRUE(Eventually([&] { return waiting(0); }));  // room, before it is asked again
  };
  ApiServerClient api_server(api);
  std::vector<std::jthread> busy;
  // One after the other: there is room for one that waits.
  for (int i = 1; i <= 2; ++i) {
    busy.emplace_back([&] { EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok()); });
    gate.AwaitEntered(i);
  }
  busy.emplace_back([&] { EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok()); });
  ASSERT_TRUE(Eventually([&] { return waiting(1); }));
  const auto answer = api_server.Post("/mutate", ReviewText());
  EXPECT_TRUE(answer.ok()) << answer.fault << answer.body;
  EXPECT_GE(answer.attempts, 2);
  EXPECT_EQ(waits.at(0), 1);
}

TEST(ApiServer, RepeatsUntilTheConfigurationIsThereAndNotForever) {
  ServerFixture fixture({}, /*ready=*/false);
  fixture.tls.Set(Material(fixture.ca.Issue("mindgate.svc")));
  auto api = fixture.ApiServer();
  std::atomic<int> waited{0};
  std::atomic<bool> load{false};
  api.wait = [&](std::chrono::seconds) {
    if (++waited == 3 && load) fixture.MakeReady();
  };
  ApiServerClient api_server(api);
  const auto never = api_server.Post("/validate", ReviewText());
  EXPECT_EQ(never.status, 503);
  EXPECT_EQ(never.attempts, 11);
  EXPECT_EQ(api_server.dials(), 1) << "the refusal does not cost a handshake each time";
  waited = 0;
  load = true;
  const auto answer = api_server.Post("/validate", ReviewText());
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(answer.attempts, 4);
}

// Why the server must never end a connection that a request may be on.
TEST(ApiServer, RepeatsNothingThatEndedWithoutAnAnswer) {
  EchoServer server({.hold = true});
  ApiServerClient::Options options;
  options.endpoint = [&] { return server.port(); };
  options.server_name = "mindgate.svc";
  options.ca_bundle = server.ca.certificate();
  options.clock = &server.clock;
  ApiServerClient api_server(options);
  ApiServerClient::Answer answer;
  const auto call = [&] {
    return std::jthread([&] { answer = api_server.Post("/mutate", "{}"); });
  };
  std::jthread first = call();
  ASSERT_TRUE(Eventually([&] { return server.Held() == 1; }));
  server.AnswerAll();
  first.join();
  EXPECT_TRUE(answer.ok());
  std::jthread second = call();
  ASSERT_TRUE(Eventually([&] { return server.Held() == 1; }));
  server.layer->Stop();
  second.join();
  EXPECT_EQ(answer.fault, "EOF on a reused connection");
  EXPECT_EQ(answer.attempts, 1);
}

TEST(ApiServer, AnIdleConnectionThatTheServerEndedIsNotUsed) {
  ServerFixture fixture;
  auto api = fixture.ApiServer();
  api.idle_time = 1h;
  ApiServerClient api_server(api);
  ASSERT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  // The client has its answer before the connection counts as idle.
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(http::Phase::kIdle) == 1; }));
  fixture.Advance(120s);
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(http::Phase::kIdle) == 0; }));
  EXPECT_TRUE(api_server.Post("/mutate", ReviewText()).ok());
  EXPECT_EQ(api_server.dials(), 2);
}

TEST(ApiServer, BugsFailTheirOwnCallsOnly) {
  ServerOptions options;
  options.decide = [](const schemas::AdmissionRequest& request, const schemas::Config& config,
                      const admission::Options& decide) {
    if (request.ns == "cursed") throw std::runtime_error("secret detail");
    return admission::Admit(request, config, decide);
  };
  ServerFixture fixture(options);
  ApiServerClient api_server(fixture.ApiServer());
  Json cursed = ReviewOf(testing::Deployment());
  cursed["request"]["namespace"] = "cursed";
  const std::string bad = cursed.dump();
  const Load::Call good_call = [&] {
    const auto answer = api_server.Post("/mutate", ReviewText());
    return answer.ok() ? "" : answer.fault + std::to_string(answer.status);
  };
  const Load::Call bad_call = [&]() -> std::string {
    const auto answer = api_server.Post("/mutate", bad);
    const bool as_it_should = answer.fault.empty() && answer.status == 500 &&
                              answer.attempts == 1 &&
                              answer.body == "internal error, see the log of mindgate\n";
    return as_it_should ? "" : answer.fault + std::to_string(answer.status) + answer.body;
  };
  Load load({good_call, good_call, bad_call});
  ASSERT_TRUE(load.EachCallsAgain(50));
  load.Stop();
  EXPECT_THAT(load.Faults(), IsEmpty());
  EXPECT_LE(api_server.dials(), 3) << "connections stay, even of those who met a bug";
}

// The serving pair changes between EC and RSA and between two CAs, and the client CA changes as
// one that is well led does: both are accepted for a while.
TEST(ApiServer, HundredCertificateRotationsUnderLoadFailNoCall) {
  ServerOptions options;
  options.client_auth.mode = http::ClientAuth::Mode::kRequired;
  options.client_auth.names = {"kube-apiserver"};
  ServerFixture fixture(options);
  const TestCa other_ca("other serving ca");
  const std::array<Identity, 2> leaves = {fixture.ca.Issue("mindgate.svc", KeyKind::kEc),
                                          other_ca.Issue("mindgate.svc", KeyKind::kRsa)};
  const std::array<TestCa, 2> client_cas = {TestCa("client ca 0"), TestCa("client ca 1")};
  const std::array<Identity, 2> users = {client_cas[0].Issue("kube-apiserver"),
                                         client_cas[1].Issue("kube-apiserver")};
  const std::string both = client_cas[0].certificate() + client_cas[1].certificate();
  fixture.tls.Set(Material(leaves[0], &client_cas[0]));

  auto keeping = fixture.ApiServer();
  keeping.ca_bundle += other_ca.certificate();
  keeping.certificate = users[0].certificate;
  keeping.key = users[0].key;
  auto dialling = keeping;
  dialling.max_idle = 0;
  ApiServerClient pooled(keeping);
  ApiServerClient fresh(dialling);
  const auto call = [](ApiServerClient& api_server) -> Load::Call {
    return [&api_server] {
      const auto answer = api_server.Post("/mutate", ReviewText());
      return answer.ok() ? "" : answer.fault + " status " + std::to_string(answer.status);
    };
  };
  Load load({call(pooled), call(fresh)});
  for (size_t i = 1; i <= 100; ++i) {
    const size_t now = i % 2;
    fixture.tls.Set(Material(leaves[now], both));
    pooled.Authenticate(users[now].certificate, users[now].key);
    fresh.Authenticate(users[now].certificate, users[now].key);
    ASSERT_TRUE(load.EachCallsAgain()) << i;
    fixture.tls.Set(Material(leaves[now], &client_cas[now]));
    ASSERT_TRUE(load.EachCallsAgain()) << i;
  }
  load.Stop();
  EXPECT_THAT(load.Faults(), IsEmpty());
  EXPECT_GE(pooled.dials(), 100);
  // The last one counts: who still comes with the certificate before it stays out.
  ApiServerClient outdated(dialling);
  outdated.Authenticate(users[1].certificate, users[1].key);
  EXPECT_FALSE(outdated.Post("/mutate", ReviewText()).ok());
}

std::vector<Json> FixtureObjects() {
  std::vector<Json> objects;
  const auto root = std::filesystem::path(::mindgate::testing::SourceFolder()) / "tests/fixtures";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    auto documents = json::DecodeYaml(text.str());
    if (!documents) continue;
    for (auto& document : *documents) {
      if (document.value.is_object()) objects.push_back(std::move(document.value));
    }
  }
  return objects;
}

// Every real manifest, as each operation, in both versions: kube-apiserver finds nothing wrong with
// any answer, and a patched object needs no second patch.
TEST(ApiServer, AcceptsTheAnswersToAllFixtures) {
  ServerFixture fixture;
  ApiServerClient api_server(fixture.ApiServer());
  const std::vector<Json> objects = FixtureObjects();
  ASSERT_GT(objects.size(), 50);
  int patched = 0;
  int denied = 0;
  for (const Json& object : objects) {
    for (const char* version : {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"}) {
      for (const char* operation : {"CREATE", "UPDATE", "DELETE"}) {
        Json review = ReviewOf(object);
        review["apiVersion"] = version;
        Json& request = review["request"];
        request["operation"] = operation;
        request["uid"] = "705ab4f5-6393-11e8-b7cc-42010a800002";
        if (request["operation"] != "CREATE") request["oldObject"] = object;
        if (request["operation"] == "DELETE") request["object"] = nullptr;
        const auto mutation = api_server.Post("/mutate", review.dump());
        ASSERT_TRUE(mutation.ok()) << mutation.fault << mutation.body;
        Json after;
        EXPECT_EQ(VerifyAnswer(review, true, mutation.body, &after), "") << object;
        patched += after != request["object"];
        if (request["operation"] == "CREATE") {
          Json again = review;
          again["request"]["object"] = after;
          Json twice;
          EXPECT_EQ(
              VerifyAnswer(again, true, api_server.Post("/mutate", again.dump()).body, &twice), "");
          EXPECT_EQ(twice, after) << "reinvocation";
        }
        request["object"] = after;
        const auto validation = api_server.Post("/validate", review.dump());
        ASSERT_TRUE(validation.ok()) << validation.fault << validation.body;
        EXPECT_EQ(VerifyAnswer(review, false, validation.body), "") << object;
        denied += validation.body.find("\"allowed\":false") != std::string::npos;
      }
    }
  }
  EXPECT_GT(patched, 0);
  EXPECT_GT(denied, 0);
}

}  // namespace
}  // namespace mindgate::webhook
