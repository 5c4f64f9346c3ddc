#include "webhook/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>

#include "json/decode.h"
#include "support/api_server_verify.h"
#include "support/eventually.h"
#include "webhook/admission_review.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;
using http::testing::BodyOf;
using http::testing::Client;
using http::testing::Head;
using http::testing::HeaderOf;
using http::testing::Material;
using http::testing::Post;
using http::testing::StatusOf;
using http::testing::TextAnswer;
using json::Json;
using mindgate::testing::ApiServerClient;
using mindgate::testing::Eventually;
using mindgate::testing::VerifyAnswer;
using ::testing::ContainsRegex;
using testing::Deployment;
using testing::Gate;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RefusalAnswer;
using testing::ReviewOf;
using testing::ReviewText;
using testing::ServerFixture;
using ::testing::StartsWith;

TEST(Server, MutatesAndValidates) {
  ServerFixture fixture;
  const std::string mutated = fixture.Ask(ReviewText());
  EXPECT_EQ(StatusOf(mutated), 200);
  EXPECT_EQ(HeaderOf(mutated, "Content-Type"), "application/json");
  EXPECT_EQ(HeaderOf(mutated, "Connection"), std::nullopt);
  const Json answer = *json::Decode(BodyOf(mutated));
  EXPECT_EQ(answer["response"]["uid"], "u-1");
  EXPECT_EQ(answer["response"]["patchType"], "JSONPatch");
  EXPECT_EQ(answer["response"]["auditAnnotations"]["generation"], "0123456789abcdef");

  const Json validated = *json::Decode(BodyOf(fixture.Ask(ReviewText(), "/validate?timeout=3s")));
  EXPECT_EQ(validated["response"]["allowed"], true);
  EXPECT_FALSE(validated["response"].contains("patch"));
}

// What the metric of refusals counts for a reason on the admission port.
int Rejects(const ServerFixture& fixture, const std::string& reason) {
  const std::string series =
      R"(mindgate_webhook_rejects_total{port="admission",reason=")" + reason + "\"} ";
  const std::string metrics = fixture.server->Metrics();
  const size_t at = metrics.find(series);
  return at == std::string::npos ? -1 : std::stoi(metrics.substr(at + series.size()));
}

TEST(Server, RefusalsOnTheWire) {
  ServerFixture fixture;
  const std::string whole = R"("apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  const std::string want_review =
      "want an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1: ";
  const std::string malformed = "the request of the AdmissionReview is malformed: ";
  struct Case {
    std::string body;
    std::string target;
    std::string reason;  // of mindgate_webhook_rejects_total
    std::string status;
    std::string want;
  };
  const std::string bad = "400 Bad Request";
  const std::vector<Case> cases = {
      {"", "/mutate", "empty_body", bad, "empty body: want an AdmissionReview\n"},
      {" \r\n", "/validate", "empty_body", bad, "empty body: want an AdmissionReview\n"},
      {"{", "/mutate", "undecodable", bad, "the body is not valid JSON: line 1, column "},
      {"kind: AdmissionReview", "/mutate", "undecodable", bad,
       "the body is not valid JSON: line 1, column "},
      {"\x1f\x8b\x08", "/mutate", "undecodable", bad,
       "the body is not valid JSON: line 1, column "},
      {std::string(200'000, '['), "/mutate", "undecodable", bad,
       "the body is not valid JSON: line 1, column "},
      {"{}", "/mutate", "not_admission_review", bad, want_review + "got kind \"\" of \"\"\n"},
      {R"({"apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview","request":{}})", "/mutate",
       "not_admission_review", bad,
       want_review + "got kind \"AdmissionReview\" of \"admission.k8s.io/v2\"\n"},
      // Text from outside stays in the body, escaped and cut.
      {R"({"kind":"A\r\nSet-Cookie: x","apiVersion":")" + std::string(100'000, 'v') + "\"}",
       "/mutate", "not_admission_review", bad,
       want_review + R"(got kind "A\x0d\nSet-Cookie: x" of ")" + std::string(80, 'v') + "...\"\n"},
      {"{" + whole + "}", "/mutate", "no_request", bad, "the AdmissionReview has no request\n"},
      {"{" + whole + R"(,"request":{}})", "/validate", "bad_request", bad,
       malformed + "request.uid is missing\n"},
      {"{" + whole + R"(,"request":{"uid":"u","operation":"PATCH"}})", "/validate", "bad_request",
       bad,
       malformed + "request.operation must be CREATE, UPDATE, DELETE or CONNECT, not \"PATCH\"\n"},
      {ReviewText(), "/", "not_found", "404 Not Found", "no such path\n"},
      {ReviewText(), "/mutate/x", "not_found", "404 Not Found", "no such path\n"},
      {ReviewText(), "/readyz", "not_found", "404 Not Found", "no such path\n"},
      {ReviewText(), "/metrics", "not_found", "404 Not Found", "no such path\n"},
  };
  Client client(fixture.server->port(), Client::Tls{});
  for (const Case& c : cases) {
    const int before = Rejects(fixture, c.reason);
    ASSERT_TRUE(client.Send(Post(c.body, "", c.target)));
    const std::string answer = client.ReadAnswer();
    // Where the decoder ended says more than this test needs to know.
    if (c.want.ends_with("column ")) {
      EXPECT_THAT(BodyOf(answer), StartsWith(c.want));
      EXPECT_LT(answer.size(), 512);
      EXPECT_EQ(answer, TextAnswer(c.status, BodyOf(answer)));
    } else {
      EXPECT_EQ(answer, TextAnswer(c.status, c.want));
    }
    EXPECT_EQ(Rejects(fixture, c.reason), before + 1) << c.want;
  }
  EXPECT_EQ(fixture.server->stats().accepted, 1) << "a whole request that is wrong ends nothing";
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
  ServerFixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  for (mode = 1; mode <= 3; ++mode) {
    client.Send(Post(ReviewText()));
    const std::string answer = client.ReadAnswer();
    EXPECT_EQ(StatusOf(answer), 500);
    EXPECT_THAT(answer, Not(HasSubstr("secret")));
    EXPECT_EQ(answer,
              TextAnswer("500 Internal Server Error",
                         mode == 3 ? "internal error, see the log of mindgate: uid \"u-1\"\n"
                                   : "internal error, see the log of mindgate\n"));
  }
  mode = 0;
  client.Send(Post(ReviewText()));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200) << "on the same connection";
  EXPECT_THAT(fixture.server->Metrics(), HasSubstr("mindgate_webhook_bugs_total 3\n"));
  EXPECT_THAT(fixture.Lines(), ::testing::Contains(HasSubstr("secret detail")));
}

TEST(Server, ADecisionThatTakesTooLongIsGivenUpAndCounted) {
  ServerOptions options;
  options.max_decision_time = std::chrono::milliseconds(-1);  // over before it begins
  ServerFixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  client.Send(Post(ReviewText()));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_EQ(HeaderOf(answer, "Retry-After"), "1");
  EXPECT_THAT(BodyOf(answer), HasSubstr("the decision on Deployment team-a/infer was given up"));
  EXPECT_EQ(fixture.server->stats().Count(http::Refusal::kTooLate), 1);
  EXPECT_THAT(fixture.Lines(), ::testing::Contains(HasSubstr("Deployment team-a/infer")));
}

// What a body is decoded to counts as much as the body.
TEST(Server, DecodedBodiesAreChargedToTheBudget) {
  const std::string body = ReviewText();
  ServerOptions options;
  options.bytes_in_flight = 4 * body.size();
  ServerFixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  client.Send(Post(body));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_EQ(fixture.server->stats().Count(http::Refusal::kNoMemory), 1);
}

// "admission" in a loop of the admission port, "work" in the pool.
std::string ThisThread() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  const std::string_view text(name.data());
  return std::string(text.substr(0, text.find('-')));
}

// Answers to all kinds of requests, and the threads that decided.
struct Answers {
  std::vector<std::string> bytes;
  std::set<std::string> threads;
};

Answers AnswersWith(size_t max_inline_bytes) {
  Answers answers;
  std::mutex mutex;
  ServerOptions options;
  options.max_inline_bytes = max_inline_bytes;
  options.decide = [&](const schemas::AdmissionRequest& request, const schemas::Config& config,
                       const admission::Options& decide) {
    {
      const std::lock_guard lock(mutex);
      answers.threads.insert(ThisThread());
    }
    if (request.ns == "cursed") throw std::runtime_error("a bug");
    return admission::Admit(request, config, decide);
  };
  ServerFixture fixture(options);
  Json denied = Deployment();
  denied["spec"]["template"]["metadata"]["labels"]["fault-scheduling"] = "Force";
  Json cursed = ReviewOf(Deployment());
  cursed["request"]["namespace"] = "cursed";
  Client client(fixture.server->port(), Client::Tls{});
  for (const std::string& body :
       {ReviewText(), ReviewOf(denied).dump(), cursed.dump(), std::string("{"), std::string()}) {
    for (const char* target : {"/mutate?timeout=5s", "/validate", "/nowhere"}) {
      client.Send(Post(body, "", target));
      answers.bytes.push_back(client.ReadAnswer());
    }
  }
  client.Send(Post(ReviewText(), "Connection: close\r\n"));
  answers.bytes.push_back(client.ReadAnswer());
  EXPECT_EQ(client.ReadToEnd(), "");
  return answers;
}

TEST(Server, AnswersAreTheSameWhereverTheyAreMade) {
  const Answers in_the_loop = AnswersWith(kMaxInlineBytes);
  const Answers in_the_pool = AnswersWith(0);
  EXPECT_EQ(in_the_loop.threads, std::set<std::string>({"admission"}));
  EXPECT_EQ(in_the_pool.threads, std::set<std::string>({"work"}));
  EXPECT_EQ(in_the_loop.bytes, in_the_pool.bytes);
  std::vector<int> statuses;
  for (const std::string& answer : in_the_loop.bytes) statuses.push_back(StatusOf(answer));
  EXPECT_THAT(statuses, ::testing::ElementsAre(200, 200, 404, 200, 200, 404, 500, 500, 404, 400,
                                               400, 404, 400, 400, 404, 200));
}

TEST(Server, LargeBodiesAreDecidedInThePool) {
  std::mutex mutex;
  std::vector<std::string> threads;
  ServerOptions options;
  options.decide = [&](const auto&...) -> admission::Verdict {
    const std::lock_guard lock(mutex);
    threads.push_back(ThisThread());
    return {};
  };
  ServerFixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  const std::string review = ReviewText();
  for (const size_t size : {kMaxInlineBytes, kMaxInlineBytes + 1}) {
    client.Send(Post(review + std::string(size - review.size(), ' ')));
    EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  }
  EXPECT_THAT(threads, ::testing::ElementsAre("admission", "work"));
}

TEST(Server, WithoutTimeLeftTheLoopDecidesNothingEither) {
  ServerOptions options;
  options.decision_time = 6s;
  ServerFixture fixture(options);
  EXPECT_EQ(fixture.Ask(ReviewText(), "/mutate?timeout=5s"),
            RefusalAnswer(http::Refusal::kTooLate, false));
  EXPECT_EQ(StatusOf(fixture.Ask(ReviewText(), "/mutate?timeout=6s")), 200);
  EXPECT_THAT(fixture.server->Metrics(), HasSubstr("stage_seconds_count{stage=\"queue\"} 2\n"));
}

TEST(Server, FullQueueAnswersAtOnceAndProbesDoNotWait) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  options.queue = 3;
  ServerFixture fixture(options);
  std::vector<std::unique_ptr<Client>> clients;
  const auto send = [&] {
    clients.push_back(std::make_unique<Client>(fixture.server->port(), Client::Tls{}));
    clients.back()->Send(Post(ReviewText()));
  };
  send();
  send();
  gate.AwaitEntered(2);  // both threads are busy
  for (int i = 0; i < 3; ++i) send();
  ASSERT_TRUE(Eventually([&] {
    return fixture.server->Metrics().find("mindgate_webhook_queue_length 3\n") != std::string::npos;
  }));
  Client late(fixture.server->port(), Client::Tls{});
  late.Send(Post(ReviewText()));
  const std::string answer = late.ReadAnswer();
  EXPECT_EQ(answer, RefusalAnswer(Refusal::kQueueFull, false));
  EXPECT_EQ(HeaderOf(answer, "Retry-After"), "1");
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 200);
  EXPECT_EQ(StatusOf(fixture.Probe("/metrics")), 200);
  gate.Open();
  for (const auto& client : clients) EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
  late.Send(Post(ReviewText()));
  EXPECT_EQ(StatusOf(late.ReadAnswer()), 200) << "the connection was kept";
}

TEST(Server, WithoutTimeLeftTheCallerMustRetry) {
  Gate gate;
  ServerOptions options = gate.InThePool();
  ServerFixture fixture(options);
  Client first(fixture.server->port(), Client::Tls{});
  Client second(fixture.server->port(), Client::Tls{});
  first.Send(Post(ReviewText(), "", "/mutate?timeout=9s"));
  second.Send(Post(ReviewText(), "", "/mutate?timeout=9s"));
  gate.AwaitEntered(2);
  Client hasty(fixture.server->port(), Client::Tls{});
  Client patient(fixture.server->port(), Client::Tls{});
  hasty.Send(Post(ReviewText(), "", "/mutate?timeout=1s"));
  patient.Send(Post(ReviewText(), "", "/mutate?timeout=9s"));
  ASSERT_TRUE(Eventually([&] {
    return fixture.server->Metrics().find("mindgate_webhook_queue_length 2\n") != std::string::npos;
  }));
  fixture.Advance(1s);
  gate.Open();
  EXPECT_EQ(hasty.ReadAnswer(), RefusalAnswer(http::Refusal::kTooLate, false));
  EXPECT_EQ(StatusOf(patient.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
}

TEST(Server, TimeoutOfTheQuery) {
  EXPECT_EQ(TimeoutOf("timeout=5s"), 5s);
  EXPECT_EQ(TimeoutOf("a=b&timeout=30s&c"), 30s);
  for (const char* other : {"", "timeout", "timeout=", "timeout=s", "timeout=5", "timeout=-5s",
                            "timeout=+5s", "timeout=500ms", "timeout=99999s", "a=timeout=5s"}) {
    EXPECT_EQ(TimeoutOf(other), 0s) << other;
  }
}

TEST(Server, ProbesByHeadAndUnknownOnes) {
  ServerFixture fixture;
  Client client(fixture.server->probe_port());
  const std::string text = "Content-Type: text/plain; charset=utf-8\r\n";
  client.Send(Head({"HEAD /livez HTTP/1.1", "Host: a"}));
  EXPECT_EQ(client.ReadAnswer(/*head_only=*/true),
            "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 3\r\n\r\n");
  client.Send(Head({"GET /livez HTTP/1.1", "Host: a"}));
  EXPECT_EQ(client.ReadAnswer(), "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 3\r\n\r\nok\n");
  client.Send(Head({"HEAD /mutate HTTP/1.1", "Host: a"}));
  EXPECT_EQ(client.ReadAnswer(/*head_only=*/true),
            "HTTP/1.1 404 Not Found\r\n" + text + "Content-Length: 13\r\n\r\n");
  client.Send(Head({"GET /metrics HTTP/1.1", "Host: a", "Connection: close"}));
  const std::string metrics = client.ReadAnswer();
  EXPECT_EQ(HeaderOf(metrics, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(HeaderOf(metrics, "Connection"), "close");
  EXPECT_THAT(metrics, HasSubstr("rejects_total{port=\"probe\",reason=\"not_found\"} 1\n"));
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(Server, ReadyOnlyWithConfigurationAndCertificate) {
  ServerFixture fixture({}, /*ready=*/false);
  const std::string before = fixture.Probe("/readyz");
  EXPECT_EQ(StatusOf(before), 503);
  EXPECT_EQ(BodyOf(before),
            "[-]configuration failed: none loaded yet\n[-]certificate failed: none loaded yet\n"
            "[+]decisions ok\n[+]serving ok\nnot ready\n");
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200) << "it lives, and must not be restarted";
  fixture.tls.Set(Material(fixture.ca.Issue("mindgate.svc")));
  EXPECT_EQ(fixture.Ask(ReviewText()).substr(0, 12), "HTTP/1.1 503")
      << "never lenient before the first configuration";
  fixture.MakeReady();
  const std::string after = fixture.Probe("/readyz");
  EXPECT_EQ(StatusOf(after), 200);
  EXPECT_EQ(BodyOf(after), "ok\n");
  EXPECT_THAT(
      BodyOf(fixture.Probe("/readyz?verbose")),
      ContainsRegex("^\\[\\+\\]configuration ok: generation 0123456789abcdef\n"
                    "\\[\\+\\]certificate ok: expires 20[0-9-]+T[0-9:]+Z\n\\[\\+\\]decisions ok\n"
                    "\\[\\+\\]serving ok\nok\n$"));
  EXPECT_EQ(StatusOf(fixture.Ask(ReviewText())), 200);
}

TEST(Server, ReadinessReportsWhatWasRefused) {
  ServerFixture fixture({}, /*ready=*/false);
  ReloadStatus broken;
  broken.failures = 2;
  broken.error = "mindgate.yaml:2:1: unknown key\nschedular: x\n^\n";
  ServerInputs inputs = *fixture.inputs;
  inputs.config_status = [&] { return broken; };
  EXPECT_EQ(Readiness(inputs, "", false, true).body,
            "[-]configuration failed: none loaded yet; refused: mindgate.yaml:2:1: unknown key\n"
            "    schedular: x\n    ^\n"
            "[-]certificate failed: none loaded yet\n[+]decisions ok\n[+]serving ok\nnot ready\n");
  EXPECT_THAT(Readiness(inputs, "", false, false).body,
              StartsWith("[-]configuration failed: none loaded yet; refused: "
                         "mindgate.yaml:2:1: unknown key\n[-]certificate"));
  fixture.MakeReady();
  const http::Response after = Readiness(inputs, "", false, true);
  EXPECT_EQ(after.status, 200) << "the last good one is in force";
  EXPECT_THAT(after.body, StartsWith("[+]configuration ok: generation 0123456789abcdef; refused: "
                                     "mindgate.yaml:2:1: unknown key\n    schedular: x\n    ^\n"
                                     "[+]certificate ok: "));
}

// A decision that never ends: first nobody sends reviews here any more, then the kubelet restarts
// the replica.
TEST(Server, ADecisionThatHangsMakesTheReplicaUnreadyAndThenNotLive) {
  Gate gate;
  ServerFixture fixture(gate.InThePool());
  Client client(fixture.server->port(), Client::Tls{});
  client.Send(Post(ReviewText()));
  gate.AwaitEntered(1);
  fixture.Advance(4999ms);
  fixture.server->LogHanging();
  EXPECT_FALSE(fixture.server->hangs());
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 200);
  EXPECT_THAT(fixture.Lines(), Not(Contains(HasSubstr("hangs"))));

  fixture.Advance(1ms);
  fixture.server->LogHanging();
  fixture.server->LogHanging();
  EXPECT_TRUE(fixture.server->hangs());
  const std::string unready = fixture.Probe("/readyz");
  EXPECT_EQ(StatusOf(unready), 503);
  EXPECT_THAT(BodyOf(unready),
              HasSubstr("[-]decisions failed: the decision on Deployment team-a/infer hangs\n"));
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200);
  EXPECT_THAT(fixture.server->Metrics(),
              HasSubstr("mindgate_webhook_hanging_decisions{kind=\"Deployment\"} 1\n"));
  const std::vector<std::string> lines = fixture.Lines();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.find(R"("object":"Deployment team-a/infer")") !=
                                   std::string::npos;
                          }),
            1)
      << "reported once";

  fixture.Advance(10s);
  EXPECT_EQ(fixture.Probe("/livez").substr(0, 12), "HTTP/1.1 503");
  gate.Open();
  EXPECT_TRUE(Eventually([&] { return StatusOf(fixture.Probe("/readyz")) == 200; }));
  EXPECT_EQ(StatusOf(fixture.Probe("/livez")), 200);
}

TEST(Server, AThreadThatHangsMakesTheReplicaUnreadyToo) {
  Gate gate;
  ServerOptions options;
  options.decide = gate;  // in the loop's thread
  options.io_threads = 1;
  ServerFixture fixture(options);
  Client client(fixture.server->port(), Client::Tls{});
  client.Send(Post(ReviewText()));
  gate.AwaitEntered(1);
  fixture.clock.Advance(5s);
  EXPECT_EQ(StatusOf(fixture.Probe("/readyz")), 503);
  gate.Open();
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

TEST(Server, LogLineOfAReview) {
  ServerFixture fixture;
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
                        {"rules", ""},
                        {"generation", "0123456789abcdef"},
                        {"microseconds", 0},
                        {"traceparent", trace}}));
}

// A denial is what the API server cannot make up.
TEST(Server, AProbeIsDenied) {
  ServerFixture fixture;
  const std::string answer = fixture.Ask(ReviewOf(Deployment()).dump(), "/probe");
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(Json::parse(answer.substr(answer.find("\r\n\r\n"))),
            Json({{"apiVersion", "admission.k8s.io/v1"},
                  {"kind", "AdmissionReview"},
                  {"response",
                   {{"uid", "u-1"},
                    {"allowed", false},
                    {"status",
                     {{"status", "Failure"},
                      {"code", 403},
                      {"reason", "Forbidden"},
                      {"message", "mindgate answers, which is all that this dry run asks"}}}}}}));
  EXPECT_EQ(fixture.Lines(), std::vector<std::string>());
}

TEST(Server, LogLineNamesTheRulesThatWereBroken) {
  ServerFixture fixture;
  Json object = Deployment();
  object["spec"]["template"]["metadata"]["labels"]["fault-scheduling"] = "Force";
  fixture.Ask(ReviewOf(object).dump(), "/validate");
  ASSERT_EQ(fixture.Lines().size(), 1);
  const std::string rules = json::Decode(fixture.Lines()[0])->value("rules", "");
  EXPECT_THAT(rules, ContainsRegex("(^|,)MG050=enforce(,|$)"));
}

TEST(Server, LogIsSampledUnderLoad) {
  ServerFixture fixture;
  Client client(fixture.server->port(), Client::Tls{});
  for (int i = 0; i < 300; ++i) {
    client.Send(Post(ReviewText()));
    ASSERT_EQ(StatusOf(client.ReadAnswer()), 200);
  }
  EXPECT_EQ(fixture.Lines().size(), 22) << "20, then each hundredth; the clock stands";
}

TEST(Server, LogLinesAreShortWhateverWasSent) {
  ServerFixture fixture;
  const std::string huge(1024 * 1024, 'x');
  Json review = ReviewOf(Deployment());
  for (const char* key : {"uid", "name", "namespace"}) review["request"][key] = huge;
  review["request"]["kind"]["kind"] = huge;
  review["request"]["userInfo"]["username"] = huge;
  EXPECT_EQ(StatusOf(fixture.Ask(review.dump())), 200);
  fixture.Ask(huge);
  fixture.Ask(Json({{"kind", huge}, {"apiVersion", huge}}).dump());
  EXPECT_EQ(fixture.Lines().size(), 3);
  for (const std::string& line : fixture.Lines()) EXPECT_LT(line.size(), 2048);
}
}  // namespace
}  // namespace mindgate::webhook
