// What the client makes of servers, proxies and networks that misbehave: a whole fault that names
// it, at once or after as many tries as were allowed.
#include <gmock/gmock.h>

#include <thread>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"

namespace mindgate::kube::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;

HttpResponse Text(int status, const std::string& body) {
  return {.status = status, .body = body, .content_type = "application/json"};
}

// Writes `bytes` again and again, until the client has had enough.
HttpResponse Endless(const std::string& head, const std::string& bytes) {
  HttpResponse response;
  response.raw = [head, bytes](HttpStream& stream) {
    bool listens = stream.Write(head);
    while (listens) listens = stream.Write(bytes);
  };
  return response;
}

// A client of a fake server; nothing waits but for the server itself.
struct Fixture {
  explicit Fixture(const ClientOptions& client_options = {}, const TransportLimits& limits = {})
      : transport(MakeTransport(AccessTo(fake.url()), "mindgate-test", limits)),
        client(*transport, sleeper, client_options) {}

  Answer<Json> Get() { return client.Get(resources::kPods, "default", "a"); }

  FakeApiServer fake;
  FakeSleeper sleeper;
  std::unique_ptr<Transport> transport;
  Client client;
};

// --- answers that are none ---

TEST(ClientBadInput, AnswersOfWhatIsNoApiServer) {
  struct Case {
    const char* what;
    HttpResponse answer;
    Reason reason;
    int http;
    const char* message;
  };
  const std::string page = HtmlAnswer(200).body;
  const std::vector<Case> cases = {
      {"no JSON", Text(200, "hello"), Reason::kGarbage, 0, "the answer is not JSON"},
      {"half an object", Text(200, R"({"kind":"Pod)"), Reason::kGarbage, 0, R"({\"kind\":\"Pod)"},
      {"nothing at all", Text(200, ""), Reason::kGarbage, 0, "the answer is not JSON"},
      {"bytes", Text(200, std::string("\x00\xff\x1b[31m", 7)), Reason::kGarbage, 0, "\\x1b"},
      {"a page", HtmlAnswer(200), Reason::kGarbage, 0, "<html>"},
      {"the page of a proxy", HtmlAnswer(502), Reason::kUnavailable, 502,
       "not from a Kubernetes API server: \"<html>"},
      {"a page that forbids", HtmlAnswer(403), Reason::kForbidden, 403, "<html>"},
      {"a log-in page elsewhere", Text(302, ""), Reason::kGarbage, 0, "status 302"},
      {"an error without a word", Text(500, ""), Reason::kUnavailable, 500, "status 500"},
      {"a status of the wrong types", Text(409, R"({"kind":"Status","reason":7,"details":[]})"),
       Reason::kConflict, 409, "status 409"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Fixture f;
    f.fake.AnswerNext(99, {}, c.answer);
    const Fault fault = FaultIn(f.Get());
    EXPECT_EQ(fault.reason, c.reason);
    EXPECT_EQ(fault.http, c.http);
    EXPECT_THAT(fault.message,
                AllOf(HasSubstr("GET "), HasSubstr("/pods/a"), HasSubstr(c.message)));
    EXPECT_THAT(fault.message, SizeIs(Lt(600u)));
    EXPECT_EQ(f.fake.Count(), 1u);
    EXPECT_THAT(f.sleeper.pauses(), IsEmpty());
  }
}

TEST(ClientBadInput, ListsThatAreNone) {
  for (const char* body : {R"({"kind":"Pod","metadata":{}})", "[]", "null", "{}",
                           R"({"kind":"PodList","metadata":{},"items":{"a":1}})"}) {
    SCOPED_TRACE(body);
    Fixture f;
    f.fake.AnswerNext(1, {}, Text(200, body));
    const Fault fault = FaultIn(f.client.List(resources::kPods, "default"));
    EXPECT_EQ(fault.reason, Reason::kGarbage);
    EXPECT_THAT(fault.message, HasSubstr("list"));
  }
}

TEST(ClientBadInput, LinesThatAreNoEvents) {
  struct Case {
    std::string line;
    Reason reason;
    const char* message;
  };
  const auto error = [](int code, const char* reason) {
    return Json{{"type", "ERROR"}, {"object", StatusOf(code, reason, "because")}}.dump() + "\n";
  };
  const std::vector<Case> cases = {
      {"hello\n", Reason::kGarbage, "not JSON"},
      {"<html>\n", Reason::kGarbage, "<html>"},
      {"null\n", Reason::kGarbage, "is not an event"},
      {"{}\n", Reason::kGarbage, "is not an event"},
      {R"({"type":7,"object":{}})"
       "\n",
       Reason::kGarbage, "is not an event"},
      {R"({"type":"ADDED"})"
       "\n",
       Reason::kGarbage, "is not an event"},
      {R"({"type":"SHOUTED","object":{}})"
       "\n",
       Reason::kGarbage, "SHOUTED"},
      {R"({"type":"ERROR","object":{}})"
       "\n",
       Reason::kUnavailable, "status 500"},
      {error(410, "Expired"), Reason::kExpired, "because"},
      {error(500, "InternalError"), Reason::kUnavailable, "because"},
      {error(504, "Timeout"), Reason::kTimeout, "because"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    Fixture f;
    HttpResponse answer;
    answer.stream = [&c](HttpStream& stream) {
      return stream.Write(c.line) && stream.Write("{\"type\":\"ADDED\",\"object\":{}}\n");
    };
    f.fake.AnswerNext(1, {}, answer);
    int events = 0;
    const Fault fault = FaultIn(f.client.Watch(resources::kPods, "", {}, nullptr,
                                               [&](const WatchEvent&) { ++events; }, {}));
    EXPECT_EQ(fault.reason, c.reason) << fault.message;
    EXPECT_THAT(fault.message, HasSubstr(c.message));
    EXPECT_EQ(events, 0);
  }
}

TEST(ClientBadInput, AWatchThatIsRefused) {
  Fixture f;
  f.fake.AnswerNext(1, {}, StatusAnswer(410, "Gone", "too old"));
  const auto watch = [&f] {
    return FaultIn(f.client.Watch(resources::kPods, "", {}, nullptr, [](const WatchEvent&) {}, {}));
  };
  EXPECT_EQ(watch().reason, Reason::kExpired);
  f.fake.AnswerNext(1, {}, StatusAnswer(429, "TooManyRequests", "later", 7));
  const Fault busy = watch();
  EXPECT_EQ(busy.reason, Reason::kTooManyRequests);
  EXPECT_EQ(busy.retry_after, seconds(7));
  EXPECT_EQ(f.fake.Count(), 2u);
}

TEST(ClientBadInput, AWatchThatIsCut) {
  using Cut = FakeApiServer::Cut;
  const std::vector<std::pair<Cut, std::string>> cases = {
      {Cut::kOrderly, ""}, {Cut::kConnection, "GET "}, {Cut::kMidLine, "GET "}};
  for (const auto& [cut, message] : cases) {
    Fixture f;
    f.fake.Put(resources::kPods, {{"metadata", {{"name", "a"}}}});
    std::vector<std::string> seen;
    const auto answer = f.client.Watch(resources::kPods, "", {}, nullptr,
                                       [&](const WatchEvent& event) {
                                         seen.push_back(NameOf(json::TreeOf(event.object)));
                                         f.fake.CutWatches(cut);
                                       },
                                       {});
    EXPECT_THAT(seen, ElementsAre("a"));
    if (message.empty()) {
      EXPECT_TRUE(answer.has_value());
      continue;
    }
    EXPECT_EQ(FaultIn(answer).reason, Reason::kUnreachable);
    EXPECT_THAT(FaultIn(answer).message, HasSubstr(message));
  }
}

// The connection is fine, the line is not: some proxy ended it.
TEST(ClientBadInput, AWatchThatEndsInGoodOrderWithinALine) {
  Fixture f;
  HttpResponse answer;
  answer.stream = [](HttpStream& stream) { return stream.Write(R"({"type":"ADDED","obj)"); };
  f.fake.AnswerNext(1, {}, answer);
  const Fault fault = FaultIn(
      f.client.Watch(resources::kPods, "", {}, nullptr, [](const WatchEvent&) { FAIL(); }, {}));
  EXPECT_EQ(fault.reason, Reason::kUnreachable);
  EXPECT_THAT(fault.message, HasSubstr("in the middle of a line"));
}

// --- too much ------------------------------------------------------------------------------------

Json LargePod(size_t bytes) {
  return {{"metadata", {{"name", "a"}, {"annotations", {{"x", std::string(bytes, 'x')}}}}}};
}

TEST(ClientBadInput, ObjectsOfFiveMebibytes) {
  Fixture f;
  const Json pod = f.fake.Put(resources::kPods, LargePod(5 * 1024 * 1024));
  EXPECT_EQ(Value(f.Get()), pod);
  EXPECT_THAT(Value(f.client.List(resources::kPods, "")).items, SizeIs(1));
  std::stop_source stop;
  const auto answer = f.client.Watch(
      resources::kPods, "", {}, nullptr,
      [&](const WatchEvent& event) {
        EXPECT_EQ(json::TreeOf(event.object), pod);
        stop.request_stop();
      },
      stop.get_token());
  EXPECT_EQ(FaultIn(answer).reason, Reason::kStopped);

  Json large = LargePod(5 * 1024 * 1024);
  large.update({{"apiVersion", "v1"}, {"kind", "Pod"}});
  const Fault refused = FaultIn(f.client.Create(resources::kPods, "default", large));
  EXPECT_EQ(refused.reason, Reason::kInvalid);
  EXPECT_EQ(refused.http, 413);
  EXPECT_THAT(refused.message, HasSubstr("Request entity too large"));
}

TEST(ClientBadInput, AnswersBeyondALimit) {
  TransportLimits limits;
  limits.answer_bytes = 1024 * 1024;
  ClientOptions options;
  options.object_bytes = 1024 * 1024;
  Fixture f(options, limits);
  f.fake.Put(resources::kPods, LargePod(2 * 1024 * 1024));
  const Fault get = FaultIn(f.Get());
  EXPECT_EQ(get.reason, Reason::kTooLarge);
  EXPECT_THAT(get.message, HasSubstr("larger than the limit of 1048576 bytes"));
  EXPECT_FALSE(get.transient());

  const Fault event = FaultIn(
      f.client.Watch(resources::kPods, "", {}, nullptr, [](const WatchEvent&) { FAIL(); }, {}));
  EXPECT_EQ(event.reason, Reason::kTooLarge);
  EXPECT_THAT(event.message, HasSubstr("larger than 1048576 bytes"));
}

TEST(ClientBadInput, AnswersWithoutAnEnd) {
  TransportLimits limits;
  limits.answer_bytes = 4 * 1024 * 1024;
  Fixture f({}, limits);
  const std::string x(64 * 1024, 'x');
  f.fake.AnswerNext(1, {}, Endless("HTTP/1.1 200 OK\r\n\r\n", x));
  EXPECT_EQ(FaultIn(f.Get()).reason, Reason::kTooLarge);
  // Of an error less is kept.
  f.fake.AnswerNext(1, {}, Endless("HTTP/1.1 500 Error\r\n\r\n", x));
  const Fault error = FaultIn(f.Get());
  EXPECT_EQ(error.reason, Reason::kTooLarge);
  EXPECT_THAT(error.message, HasSubstr("1048576"));

  f.fake.AnswerNext(1, {}, Endless("HTTP/1.1 200 OK\r\n", "X-Filler: xxxxxxxxxxxxxxxxxxxxxxx\r\n"));
  const Fault headers = FaultIn(f.Get());
  EXPECT_EQ(headers.reason, Reason::kGarbage);
  EXPECT_THAT(headers.message, HasSubstr("the head of the answer is larger than"));
  f.fake.AnswerNext(1, {}, Endless("HTTP/1.1 200 OK\r\nX-Filler: ", x));
  EXPECT_NE(FaultIn(f.Get()).reason, Reason::kStopped);

  f.fake.AnswerNext(1, {}, Endless(x, x));
  EXPECT_THAT(FaultIn(f.Get()).reason, ::testing::AnyOf(Reason::kGarbage, Reason::kTooLarge));
}

// --- nobody there --------------------------------------------------------------------------------

TEST(ClientBadInput, NobodyAnswers) {
  std::string closed;
  {
    const FakeApiServer gone;
    closed = gone.url();
  }
  struct Case {
    std::string server;
    const char* message;
  };
  for (const Case& c : {Case{closed, "Failed to connect"},
                        Case{"http://nobody.invalid:6443", "Could not resolve host"}}) {
    SCOPED_TRACE(c.server);
    const auto transport = MakeTransport(AccessTo(c.server), "mindgate-test");
    FakeSleeper sleeper;
    Client client(*transport, sleeper);
    const Fault fault = FaultIn(client.GetPath("/version"));
    EXPECT_EQ(fault.reason, Reason::kUnreachable);
    EXPECT_THAT(fault.message,
                AllOf(HasSubstr("GET " + c.server + "/version (a test): "), HasSubstr(c.message)));
    EXPECT_TRUE(fault.transient());
    EXPECT_THAT(sleeper.pauses(), IsEmpty());
  }
}

// A write whose answer was lost may have been carried out. (On a connection that was kept from
// before, libcurl cannot distinguish it from one that the server had closed already, and asks
// again.)
TEST(ClientBadInput, LostAnswersAreNotAskedForAgain) {
  Fixture f;
  f.fake.LoseAnswers(1, {.method = "POST"});
  const Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}};
  EXPECT_EQ(FaultIn(f.client.Create(resources::kConfigMaps, "default", object)).reason,
            Reason::kUnreachable);
  EXPECT_EQ(f.fake.Count({.method = "POST"}), 1u);
  EXPECT_EQ(f.fake.size(resources::kConfigMaps), 1u);

  f.fake.AnswerNext(1, {}, NoAnswer());
  const Fault fault = FaultIn(f.Get());
  EXPECT_EQ(fault.reason, Reason::kUnreachable);
  EXPECT_THAT(f.sleeper.pauses(), IsEmpty());
}

TEST(ClientBadInput, AServerThatDoesNotAnswer) {
  ClientOptions options;
  options.timeout = milliseconds(200);
  Fixture f(options);
  const auto gate = f.fake.Hold({});
  const Fault get = FaultIn(f.Get());
  EXPECT_EQ(get.reason, Reason::kTimeout);
  EXPECT_THAT(get.message, HasSubstr("no answer within 200 ms"));
  const Fault watch = FaultIn(
      f.client.Watch(resources::kPods, "", {}, nullptr, [](const WatchEvent&) { FAIL(); }, {}));
  EXPECT_EQ(watch.reason, Reason::kTimeout);
  gate->Release();
}

TEST(ClientBadInput, AProxyThatDoesNotConnect) {
  TransportLimits limits;
  limits.connect_timeout = milliseconds(200);
  FakeApiServer proxy;
  const auto gate = proxy.Hold({.method = "CONNECT"});
  Access access = AccessTo("https://api.example:6443");
  access.proxy = proxy.url();
  const auto transport = MakeTransport(access, "mindgate-test", limits);
  FakeSleeper sleeper;
  Client client(*transport, sleeper);
  const Fault fault = FaultIn(client.Get(resources::kPods, "default", "a"));
  EXPECT_EQ(fault.reason, Reason::kTimeout);
  EXPECT_THAT(fault.message, HasSubstr("not connected within 200 ms; check `server`"));
  gate->Release();
}

TEST(ClientBadInput, AStreamThatFallsSilent) {
  TransportLimits limits;
  limits.stream_silence = seconds(1);
  Fixture f({}, limits);
  const Fault fault = FaultIn(
      f.client.Watch(resources::kPods, "", {}, nullptr, [](const WatchEvent&) { FAIL(); }, {}));
  EXPECT_EQ(fault.reason, Reason::kTimeout);
  EXPECT_THAT(fault.message, HasSubstr("nothing arrived for 1 s"));
}

TEST(ClientBadInput, StopEndsWhateverWaits) {
  Fixture f;
  const auto gate = f.fake.Hold({.target_part = "/pods/a"});
  std::stop_source stop;
  {
    const std::jthread stopper([&] {
      EXPECT_TRUE(gate->WaitUntilHeld());
      stop.request_stop();
    });
    EXPECT_EQ(FaultIn(f.client.Get(resources::kPods, "default", "a", stop.get_token())).reason,
              Reason::kStopped);
  }
  gate->Release();

  std::stop_source in_a_pause;
  f.sleeper.Then([&] { in_a_pause.request_stop(); });
  f.fake.AnswerNext(1, {}, StatusAnswer(429, "TooManyRequests", "later", 600));
  EXPECT_EQ(FaultIn(f.client.Get(resources::kPods, "default", "b", in_a_pause.get_token())).reason,
            Reason::kStopped);
  EXPECT_THAT(f.sleeper.pauses(), ElementsAre(seconds(600)));
}

// --- a server that asks for patience -------------------------------------------------------------

TEST(ClientBadInput, RetryAfterIsHonoured) {
  struct Case {
    const char* what;
    HttpResponse answer;
    int times;
    size_t requests;
    std::vector<milliseconds> pauses;
    Reason reason;  // in the end; kNotFound: the real answer came
  };
  const auto busy = [](int code, std::optional<int> after) {
    return StatusAnswer(code, "", "later", after);
  };
  HttpResponse vague = busy(429, std::nullopt);
  vague.headers.emplace_back("Retry-After", "soon");
  const std::vector<Case> cases = {
      {"429", busy(429, 1), 3, 4, {seconds(1), seconds(1), seconds(1)}, Reason::kNotFound},
      {"503", busy(503, 2), 1, 2, {seconds(2)}, Reason::kNotFound},
      {"at once", busy(429, 0), 1, 2, {seconds(0)}, Reason::kNotFound},
      {"no end", busy(429, 1), 99, 11, std::vector<milliseconds>(10, seconds(1)),
       Reason::kTooManyRequests},
      {"a month", busy(503, 2'592'000), 1, 2, {seconds(3600)}, Reason::kNotFound},
      {"no time given", busy(429, std::nullopt), 1, 1, {}, Reason::kTooManyRequests},
      {"a time that is none", vague, 1, 1, {}, Reason::kTooManyRequests},
      {"500", busy(500, std::nullopt), 1, 1, {}, Reason::kUnavailable},
      {"404 with a time", busy(404, 5), 1, 1, {}, Reason::kNotFound},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Fixture f;
    f.fake.AnswerNext(c.times, {}, c.answer);
    EXPECT_EQ(FaultIn(f.Get()).reason, c.reason);
    EXPECT_EQ(f.fake.Count(), c.requests);
    EXPECT_EQ(f.sleeper.pauses(), c.pauses);
  }
}

TEST(ClientBadInput, AnEvictionIsForTheCallerToRepeat) {
  Fixture f;
  f.fake.Put(resources::kPods, {{"metadata", {{"name", "a"}}}});
  f.fake.AnswerNext(1, {}, StatusAnswer(429, "TooManyRequests", "budget", 10));
  const Fault fault = FaultIn(f.client.Evict("default", "a"));
  EXPECT_EQ(fault.reason, Reason::kTooManyRequests);
  EXPECT_EQ(fault.retry_after, seconds(10));
  EXPECT_EQ(f.fake.Count(), 1u);
  EXPECT_THAT(f.sleeper.pauses(), IsEmpty());
}

// --- who may not ---------------------------------------------------------------------------------

TEST(ClientBadInput, AnExpiredTokenIsRenewedOnce) {
  for (const bool renewed : {true, false}) {
    FakeApiServer fake;
    fake.Accept({"new"});
    Access access = AccessTo(fake.url());
    const auto credentials = std::make_shared<FixedCredentials>(
        Credential{.token = "old", .certificate = {}, .key = {}});
    access.credentials = credentials;
    if (renewed) credentials->RenewTo("new");
    const auto transport = MakeTransport(access, "mindgate-test");
    FakeSleeper sleeper;
    Client client(*transport, sleeper);
    const auto answer = client.GetPath("/version");
    EXPECT_EQ(fake.Count(), 2u);
    if (renewed) {
      EXPECT_EQ(Value(answer).at("major"), "1");
      EXPECT_THAT(credentials->refused(), ElementsAre("old"));
      Value(client.GetPath("/version"));
      EXPECT_EQ(fake.Count(), 3u);
    } else {
      const Fault fault = FaultIn(answer);
      EXPECT_EQ(fault.reason, Reason::kUnauthorized);
      EXPECT_THAT(fault.message, HasSubstr("Unauthorized; the credentials are not accepted"));
      EXPECT_FALSE(fault.transient());
    }
  }
}

TEST(ClientBadInput, ANewTokenForARunningWatch) {
  FakeApiServer fake;
  fake.Accept({"new"});
  Access access = AccessTo(fake.url(), {.token = "old", .certificate = {}, .key = {}});
  static_cast<FixedCredentials&>(*access.credentials).RenewTo("new");
  const auto transport = MakeTransport(access, "mindgate-test");
  FakeSleeper sleeper;
  Client client(*transport, sleeper);
  WatchOptions options;
  options.timeout = seconds(1);
  Done(client.Watch(resources::kPods, "", options, nullptr, [](const WatchEvent&) {}, {}));
  EXPECT_EQ(fake.Count({.target_part = "watch=true"}), 2u);
}

TEST(ClientBadInput, WithoutARole) {
  Fixture f;
  f.fake.Forbid("get", "pods");
  const Fault fault = FaultIn(f.Get());
  EXPECT_EQ(fault.reason, Reason::kForbidden);
  EXPECT_EQ(fault.http, 403);
  EXPECT_THAT(fault.message,
              AllOf(HasSubstr("GET "),
                    HasSubstr("User \"tester\" cannot get resource \"pods\" in API group \"\" in "
                              "the namespace \"default\"; grant it with a Role or ClusterRole")));
  EXPECT_FALSE(fault.transient());
  EXPECT_EQ(f.fake.Count(), 1u);
}

// A 403 is an answer of RBAC, and of everything else that may forbid.
TEST(Forbidden, WhatForbidsIsNamed) {
  struct Case {
    const char* message;
    const char* help;  // empty: nothing is known
  };
  for (
      const Case& each :
      {Case{R"(pods is forbidden: User "a" cannot list resource "pods" in API group "")",
            "; grant it with a Role or ClusterRole"},
       {R"(services "x" is forbidden: unable to create new content in namespace term because it is )"
        "being terminated",
        "; wait until the namespace is gone, and create it again"},
       {R"(pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3)",
        "; raise the ResourceQuota, or delete what uses it up"},
       {R"(pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged)",
        "; the namespace's label pod-security.kubernetes.io/enforce forbids it: change the pods, "
        "or the label"},
       {R"(admission webhook "a.b" denied the request: you cannot do this)",
        "; the webhook forbids it, and no right helps against that"},
       {R"(pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no)",
        "; the policy forbids it, and no right helps against that"},
       {"a plugin that nobody knows says no", ""}}) {
    const Json status = {{"kind", "Status"},
                         {"apiVersion", "v1"},
                         {"reason", "Forbidden"},
                         {"code", 403},
                         {"message", each.message}};
    EXPECT_EQ(FaultOf("POST /x", 403, status.dump(), {}).message,
              std::string("POST /x: ") + each.message + each.help);
  }
}

}  // namespace
}  // namespace mindgate::kube::testing
