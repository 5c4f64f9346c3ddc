#include "webhook/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "json/decode.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "webhook/client.h"
#include "webhook/metrics.h"
#include "webhook/raw_requests.h"
#include "webhook/reviews.h"
#include "webhook/routes.h"
#include "webhook/test_certs.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;
using json::Json;
using ::testing::AllOf;
using mindgate::testing::Eventually;
using testing::BodyOf;
using testing::Client;
using ::testing::ContainsRegex;
using testing::Deployment;
using ::testing::HasSubstr;
using testing::Head;
using testing::HeaderOf;
using testing::Material;
using ::testing::Not;
using testing::Post;
using testing::ReviewOf;
using ::testing::StartsWith;
using testing::StatusOf;
using testing::TestCa;

std::string Review() { return ReviewOf(Deployment()).dump(); }

// A server with everything it needs, on ports of its own.
struct Fixture {
  explicit Fixture(ServerOptions options = {}, bool ready = true)
      : logger(log::Format::kJson, log::Level::kInfo, clock, [this](std::string_view line) {
          const std::lock_guard lock(mutex);
          lines.emplace_back(line);
        }) {
    options.listen = "127.0.0.1:0";
    options.probe_listen = "127.0.0.1:0";
    options.work_threads = 2;
    if (ready) MakeReady();
    inputs = std::make_unique<ServerInputs>(ServerInputs{config, tls, clock, logger});
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
  std::unique_ptr<ServerInputs> inputs;
  std::unique_ptr<Server> server;
};

TEST(Server, MutatesAndValidates) {
  Fixture fixture;
  const std::string mutated = fixture.Ask(Review());
  EXPECT_EQ(StatusOf(mutated), 200);
  EXPECT_EQ(HeaderOf(mutated, "Content-Type"), "application/json");
  EXPECT_EQ(HeaderOf(mutated, "Connection"), std::nullopt);
  const Json answer = *json::Decode(BodyOf(mutated));
  EXPECT_EQ(answer["response"]["uid"], "u-1");
  EXPECT_EQ(answer["response"]["patchType"], "JSONPatch");
  EXPECT_EQ(answer["response"]["auditAnnotations"]["generation"], "0123456789abcdef");

  const Json validated = *json::Decode(BodyOf(fixture.Ask(Review(), "/validate?timeout=3s")));
  EXPECT_EQ(validated["response"]["allowed"], true);
  EXPECT_FALSE(validated["response"].contains("patch"));
}

TEST(Server, RefusalsOnTheWire) {
  Fixture fixture;
  struct Case {
    std::string answer;
    int status;
    std::string body;
  };
  const std::vector<Case> cases = {
      {fixture.Ask(""), 400, "empty body: want an AdmissionReview\n"},
      {fixture.Ask("{"), 400, "the body is not valid JSON: line 1, column "},
      {fixture.Ask("{}"), 400,
       "want an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1: got kind \"\" "
       "of \"\"\n"},
      {fixture.Ask(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})"), 400,
       "the AdmissionReview has no request\n"},
      {fixture.Ask(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}})"),
       400, "the request of the AdmissionReview is malformed: request.uid is missing\n"},
      {fixture.Ask(Review(), "/"), 404, "no such path\n"},
      {fixture.Ask(Review(), "/mutate/x"), 404, "no such path\n"},
      {fixture.Ask(std::string(200'000, '[')), 400, "the body is not valid JSON: line 1, column "},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(StatusOf(c.answer), c.status) << c.body;
    EXPECT_THAT(BodyOf(c.answer), StartsWith(c.body));
    EXPECT_EQ(HeaderOf(c.answer, "Retry-After"), std::nullopt) << "a repeat would be refused again";
  }
  for (const Refusal refusal : {Refusal::kEmptyBody, Refusal::kNotAdmissionReview,
                                Refusal::kNoRequest, Refusal::kBadRequest}) {
    EXPECT_EQ(fixture.server->stats().Count(refusal), 1) << InfoOf(refusal).name;
  }
  EXPECT_EQ(fixture.server->stats().Count(Refusal::kUndecodable), 2);
  EXPECT_EQ(fixture.server->stats().Count(Refusal::kNotFound), 2);
}

TEST(Server, BugsAreAnsweredWith500AndTheServerLivesOn) {
  std::atomic<int> mode{0};
  ServerOptions options;
  options.decide = [&](const schemas::AdmissionRequest& request, const schemas::Config& config,
                       const admission::Options& decide) -> admission::Verdict {
    if (mode == 1) throw std::runtime_error("secret detail");
    if (mode == 2) throw 42;
    if (mode == 3) {
      admission::Verdict verdict;
      verdict.outcome = admission::Outcome::kError;
      verdict.findings.emplace_back().message = "internal error: secret detail";
      return verdict;
    }
    return admission::Admit(request, config, decide);
  };
  Fixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  for (mode = 1; mode <= 3; ++mode) {
    client.Send(Post(Review()));
    const std::string answer = client.ReadAnswer();
    EXPECT_EQ(StatusOf(answer), 500);
    EXPECT_THAT(answer, Not(HasSubstr("secret")));
    EXPECT_THAT(BodyOf(answer), StartsWith("internal error, see the log of mindgate"));
    EXPECT_EQ(HeaderOf(answer, "Retry-After"), std::nullopt);
  }
  mode = 0;
  client.Send(Post(Review()));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200) << "on the same connection";
  EXPECT_THAT(fixture.server->Metrics(), HasSubstr("mindgate_webhook_bugs_total 3\n"));
  EXPECT_THAT(fixture.Lines(), ::testing::Contains(HasSubstr("secret detail")));
}

// Decisions that wait until they are let go.
struct Gate {
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

TEST(Server, FullQueueAnswersAtOnceAndProbesDoNotWait) {
  Gate gate;
  ServerOptions options;
  options.decide = gate;
  options.queue = 3;
  Fixture fixture(options);
  std::vector<std::unique_ptr<Client>> clients;
  const auto send = [&] {
    clients.push_back(std::make_unique<Client>(fixture.server->port(), Client::Tls{}));
    clients.back()->Send(Post(Review()));
  };
  send();
  send();
  gate.AwaitEntered(2);  // both threads are busy
  for (int i = 0; i < 3; ++i) send();
  ASSERT_TRUE(Eventually([&] {
    return fixture.server->Metrics().find("mindgate_webhook_queue_length 3\n") != std::string::npos;
  }));
  Client late(fixture.server->port(), Client::Tls{});
  late.Send(Post(Review()));
  const std::string answer = late.ReadAnswer();
  EXPECT_EQ(answer, RefusalAnswer(Refusal::kQueueFull, false));
  EXPECT_EQ(HeaderOf(answer, "Retry-After"), "1");
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 200);
  EXPECT_EQ(StatusOf(fixture.Probe("/metrics")), 200);
  gate.Open();
  for (const auto& client : clients) EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
  late.Send(Post(Review()));
  EXPECT_EQ(StatusOf(late.ReadAnswer()), 200) << "the connection was kept";
}

TEST(Server, WithoutTimeLeftTheCallerIsToldToTryAgain) {
  Gate gate;
  ServerOptions options;
  options.decide = gate;
  Fixture fixture(options);
  Client first(fixture.server->port(), Client::Tls{});
  Client second(fixture.server->port(), Client::Tls{});
  first.Send(Post(Review(), "", "/mutate?timeout=9s"));
  second.Send(Post(Review(), "", "/mutate?timeout=9s"));
  gate.AwaitEntered(2);
  Client hasty(fixture.server->port(), Client::Tls{});
  Client patient(fixture.server->port(), Client::Tls{});
  hasty.Send(Post(Review(), "", "/mutate?timeout=1s"));
  patient.Send(Post(Review(), "", "/mutate?timeout=9s"));
  ASSERT_TRUE(Eventually([&] {
    return fixture.server->Metrics().find("mindgate_webhook_queue_length 2\n") != std::string::npos;
  }));
  fixture.Advance(1s);
  gate.Open();
  EXPECT_EQ(hasty.ReadAnswer(), RefusalAnswer(Refusal::kTooLate, false));
  EXPECT_EQ(StatusOf(patient.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
}

TEST(Server, TimeoutOfTheTarget) {
  EXPECT_EQ(TimeoutOf("/mutate?timeout=5s"), 5s);
  EXPECT_EQ(TimeoutOf("/mutate?a=b&timeout=30s&c"), 30s);
  for (const char* other :
       {"/mutate", "/mutate?timeout=", "/mutate?timeout=s", "/mutate?timeout=5",
        "/mutate?timeout=-5s", "/mutate?timeout=500ms", "/mutate?timeout=99999s", "/timeout=5s"}) {
    EXPECT_EQ(TimeoutOf(other), 0s) << other;
  }
}

TEST(Server, ReadyOnlyWithConfigurationAndCertificate) {
  Fixture fixture({}, /*ready=*/false);
  const std::string before = fixture.Probe("/readyz");
  EXPECT_EQ(StatusOf(before), 503);
  EXPECT_EQ(BodyOf(before),
            "[-]configuration failed: none loaded yet\n[-]certificate failed: none loaded yet\n"
            "[+]serving ok\nnot ready\n");
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200) << "it lives, and must not be restarted";
  fixture.tls.Set(Material(fixture.ca.Issue("mindgate.svc")));
  EXPECT_EQ(fixture.Ask(Review()).substr(0, 12), "HTTP/1.1 503")
      << "never lenient before the first configuration";
  fixture.MakeReady();
  const std::string after = fixture.Probe("/readyz");
  EXPECT_EQ(StatusOf(after), 200);
  EXPECT_EQ(BodyOf(after), "ok\n");
  EXPECT_THAT(
      BodyOf(fixture.Probe("/readyz?verbose")),
      ContainsRegex(
          "^\\[\\+\\]configuration ok: generation 0123456789abcdef, 0 failed reloads\n"
          "\\[\\+\\]certificate ok: expires 20[0-9-]+T[0-9:]+Z\n\\[\\+\\]serving ok\nok\n$"));
  EXPECT_EQ(StatusOf(fixture.Ask(Review())), 200);
}

TEST(Server, LogLineOfAReview) {
  Fixture fixture;
  Client client(fixture.server->port(), Client::Tls{});
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Json review = ReviewOf(Deployment());
  review["request"]["name"] = "evil\"\n{\"level\":\"error\"}";
  client.Send(Post(review.dump(), "traceparent: " + trace + "\r\n"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  ASSERT_EQ(fixture.Lines().size(), 1);
  Json line = *json::Decode(fixture.Lines()[0]);
  EXPECT_GT(line["operations"].get<int>(), 0);
  line.erase("operations");
  EXPECT_EQ(line, Json({{"time", "2026-01-01T00:00:00Z"},
                        {"level", "info"},
                        {"message", "review"},
                        {"uid", "u-1"},
                        {"path", "/mutate"},
                        {"operation", "CREATE"},
                        {"kind", "Deployment"},
                        {"namespace", "team-a"},
                        {"name", "evil\"\n{\"level\":\"error\"}"},
                        {"user", "kubernetes-admin"},
                        {"dry_run", false},
                        {"outcome", "admitted"},
                        {"findings", 0},
                        {"generation", "0123456789abcdef"},
                        {"microseconds", 0},
                        {"traceparent", trace}}));
}

TEST(Server, LogIsSampledUnderLoad) {
  Fixture fixture;
  Client client(fixture.server->port(), Client::Tls{});
  for (int i = 0; i < 300; ++i) {
    client.Send(Post(Review()));
    ASSERT_EQ(StatusOf(client.ReadAnswer()), 200);
  }
  EXPECT_EQ(fixture.Lines().size(), 22) << "20, then each hundredth; the clock stands";
}

TEST(Server, MetricsAfterSomeTraffic) {
  Fixture fixture;
  fixture.Ask(Review());
  fixture.Ask(Review(), "/validate");
  Json strange = ReviewOf(
      {{"apiVersion", "example.com/v1"}, {"kind", "Strange"}, {"metadata", {{"name", "x"}}}});
  strange["request"]["kind"]["kind"] = "Strange";
  fixture.Ask(strange.dump(), "/validate");
  const std::string text = BodyOf(fixture.Probe("/metrics"));
  const auto has = [&](const std::string& line) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  };
  has(R"(mindgate_webhook_requests_total{kind="Deployment",operation="CREATE",outcome="admitted",path="/mutate"} 1)");
  has(R"(mindgate_webhook_requests_total{kind="Deployment",operation="CREATE",outcome="admitted",path="/validate"} 1)");
  has(R"(mindgate_webhook_requests_total{kind="other",operation="CREATE",outcome="ignored",path="/validate"} 1)");
  has(R"(mindgate_webhook_stage_seconds_count{stage="decide"} 3)");
  has(R"(mindgate_webhook_connections_accepted_total{port="admission"} 3)");
  has(R"(mindgate_webhook_connections{port="probe",state="executing"} 1)");
  has(R"(mindgate_config_info{generation="0123456789abcdef"} 1)");
  has(R"(mindgate_webhook_queue_capacity 256)");
  has(R"(mindgate_webhook_rejects_total{port="admission",reason="queue_full"} 0)");
  EXPECT_THAT(text, ContainsRegex("mindgate_certificate_expiry_timestamp_seconds 1[0-9]{9}\n"));
}

size_t SeriesIn(const std::string& text) {
  size_t count = 0;
  for (const std::string_view line : Split(text, '\n'))
    count += !line.empty() && line.front() != '#';
  return count;
}

TEST(Metrics, EverySeriesThereCanBe) {
  LayerStats stats;
  ByteBudget budget(1);
  Metrics metrics({.ports = {{"admission", &stats}, {"probe", &stats}},
                   .budget = &budget,
                   .queue_length = [] { return size_t{0}; },
                   .queue_capacity = 1,
                   .generation = [] { return "g"; },
                   .certificate_expiry = [] { return int64_t{0}; },
                   .reload_failures = [] { return uint64_t{0}; }});
  std::vector<std::string> kinds = {"Strange", "", "deployment", "other"};
  for (int i = 0; i < schemas::kKindCount; ++i) {
    kinds.emplace_back(schemas::InfoOf(static_cast<schemas::Kind>(i)).name);
  }
  for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
    for (const std::string& kind : kinds) {
      for (const auto operation : {schemas::Operation::kCreate, schemas::Operation::kUpdate,
                                   schemas::Operation::kDelete, schemas::Operation::kConnect}) {
        for (const auto outcome : {admission::Outcome::kAdmitted, admission::Outcome::kDenied,
                                   admission::Outcome::kError, admission::Outcome::kIgnored}) {
          class Review review;
          review.kind = kind;
          review.request.operation = operation;
          review.name = kind + "-name-that-must-not-become-a-label";
          admission::Verdict verdict;
          verdict.outcome = outcome;
          for (const policies::Rule* rule : policies::Catalogue()) {
            for (const auto mode :
                 {schemas::Mode::kEnforce, schemas::Mode::kWarn, schemas::Mode::kAudit}) {
              policies::Finding finding;
              finding.rule = rule;
              finding.mode = mode;
              verdict.findings.push_back(finding);
              finding.error = true;
              verdict.findings.push_back(finding);
            }
          }
          metrics.CountReview(hook, review, verdict);
        }
      }
    }
  }
  const std::string text = metrics.Render();
  EXPECT_EQ(SeriesIn(text), Metrics::MostSeries(2))
      << "no label has a value that comes from outside";
  EXPECT_LT(Metrics::MostSeries(2), 2000) << "what one replica may cost a Prometheus";
  EXPECT_THAT(text, Not(HasSubstr("must-not-become")));
}

TEST(Server, DrainSequence) {
  Gate gate;
  ServerOptions options;
  options.decide = gate;
  Fixture fixture(options);
  Client busy(fixture.server->port(), Client::Tls{});
  busy.Send(Post(Review()));
  gate.AwaitEntered(1);
  Client idle(fixture.server->port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(Phase::kIdle) == 1; }));
  EXPECT_FALSE(fixture.server->DrainStep()) << "nobody asked for it";

  fixture.server->BeginDrain();
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 503);
  EXPECT_THAT(BodyOf(fixture.Probe("/readyz")), HasSubstr("[-]serving failed: shutting down\n"));
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200);
  EXPECT_FALSE(fixture.server->DrainStep());

  // Whoever still comes is served, and told not to come again.
  gate.Open();
  Client newcomer(fixture.server->port(), Client::Tls{});
  newcomer.Send(Post(Review()));
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
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(Phase::kIdle) >= 1; }));
  EXPECT_FALSE(fixture.server->DrainStep());
  EXPECT_EQ(idle.ReadToEnd(), "");
  idle.Close();
  busy.Close();

  // Late: a request under way is told to go elsewhere at once.
  recent.Send("POST /mutate HTTP/1.1\r\n");
  ASSERT_TRUE(Eventually([&] { return fixture.server->stats().In(Phase::kReading) == 1; }));
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
  ServerOptions options;
  options.decide = gate;
  options.connections.request_time = 60s;
  Fixture fixture(options);
  Client stuck(fixture.server->port(), Client::Tls{});
  stuck.Send(Post(Review(), "", "/mutate"));
  gate.AwaitEntered(1);
  fixture.server->BeginDrain();
  fixture.Advance(24s);
  EXPECT_FALSE(fixture.server->DrainStep());
  fixture.Advance(1s);
  EXPECT_TRUE(fixture.server->DrainStep());
  gate.Open();
}

// Behaves like kube-apiserver's client: keeps its connection, dials another replica when told
// `Connection: close` or 503 with Retry-After, and never repeats a POST after the connection ended
// without an answer.
class ApiServerLike {
 public:
  ApiServerLike(std::function<uint16_t()> endpoint, Client::Tls tls)
      : endpoint_(std::move(endpoint)), tls_(std::move(tls)) {}

  bool Call() {
    for (int attempt = 0; attempt < 10; ++attempt) {
      if (client_ == nullptr) client_ = std::make_unique<Client>(endpoint_(), tls_);
      if (!client_->ok() || !client_->Send(Post(Review()))) return false;
      const std::string answer = client_->ReadAnswer();
      if (answer.empty()) return false;
      if (HeaderOf(answer, "Connection") == "close") client_ = nullptr;
      if (StatusOf(answer) == 200) return true;
      if (StatusOf(answer) != 503 || !HeaderOf(answer, "Retry-After")) return false;
    }
    return false;
  }

 private:
  std::function<uint16_t()> endpoint_;
  Client::Tls tls_;
  std::unique_ptr<Client> client_;
};

TEST(Server, DrainUnderLoadFailsNoRequest) {
  Fixture leaving;
  Fixture staying;
  std::atomic<uint16_t> endpoint{leaving.server->port()};
  std::atomic<bool> done{false};
  std::atomic<int> failures{0};
  std::array<std::atomic<int>, 4> served{};
  std::vector<std::jthread> callers;
  for (size_t i = 0; i < served.size(); ++i) {
    callers.emplace_back([&, i] {
      ApiServerLike caller([&] { return endpoint.load(); }, {});
      while (!done) ++(caller.Call() ? served[i] : failures);
    });
  }
  const auto everyone_served_again = [&] {
    std::array<int, 4> before;
    for (size_t i = 0; i < served.size(); ++i) before[i] = served[i];
    return Eventually([&] {
      for (size_t i = 0; i < served.size(); ++i) {
        if (served[i] < before[i] + 3 && failures == 0) return false;
      }
      return true;
    });
  };
  ASSERT_TRUE(everyone_served_again());
  leaving.server->BeginDrain();
  leaving.server->DrainStep();
  ASSERT_TRUE(everyone_served_again()) << "still served by the one that leaves";
  endpoint = staying.server->port();  // the endpoints follow its readiness
  ASSERT_TRUE(everyone_served_again());
  ASSERT_TRUE(Eventually([&] { return leaving.server->stats().Open() == 0; }));
  leaving.Advance(5s);
  ASSERT_TRUE(Eventually([&] { return leaving.server->DrainStep(); }));
  leaving.server.reset();
  ASSERT_TRUE(everyone_served_again());
  done = true;
  callers.clear();
  EXPECT_EQ(failures, 0);
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
  std::jthread runner(
      [&] { result = webhook::Run(options, inputs, stop_read.get(), [](int) {}).value(); });
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
    EXPECT_EQ(
        webhook::Run(options, inputs, stop_read.get(), [&](int code) { exited = code; }).value(),
        1);
  });
  ASSERT_TRUE(Eventually([&] { return Logged("serving"); }));
  Stop();
  ASSERT_TRUE(Eventually([&] { return Logged("draining"); }));
  Stop();
  runner.join();
  EXPECT_EQ(exited, 1);
}

TEST_F(RunTest, AddressInUseIsAnError) {
  const auto taken = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(taken);
  options.probe_listen = "127.0.0.1:" + std::to_string(taken->port());
  const auto result = webhook::Run(options, inputs, stop_read.get(), [](int) {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("cannot bind"));
}

}  // namespace
}  // namespace mindgate::webhook
