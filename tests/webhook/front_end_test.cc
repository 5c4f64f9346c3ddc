#include "webhook/front_end.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "support/eventually.h"
#include "support/fake_clock.h"
#include "webhook/client.h"
#include "webhook/raw_requests.h"
#include "webhook/test_certs.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;
using mindgate::testing::Eventually;
using testing::BodyOf;
using testing::Client;
using testing::Head;
using testing::Identity;
using testing::KeyKind;
using testing::Material;
using testing::Post;
using testing::RawRequest;
using testing::RawRequests;
using ::testing::StartsWith;
using testing::StatusOf;
using testing::TestCa;

// A port whose requests are answered at once with what they are: "POST /mutate|{}".
class Server {
 public:
  struct Options {
    Port port = Port::kAdmission;
    bool tls = true;
    ClientAuth auth = {};
    size_t loops = 2;
    size_t most_connections = 6000;
    EventLoop::Handler handler = {};
  };

  Server() : Server(Options{}) {}
  explicit Server(Options options)
      : ca("server ca"),
        client_ca("client ca"),
        material(Material(ca.Issue("mindgate.svc"), &client_ca)),
        tls(material, options.auth) {
    FrontEnd::Options front_end;
    front_end.name = "test";
    front_end.listen = "127.0.0.1:0";
    front_end.loops = options.loops;
    front_end.most_connections = options.most_connections;
    front_end.settings.port = options.port;
    front_end.tls = options.tls ? &tls : nullptr;
    front_end.budget = &budget;
    front_end.clock = &clock;
    front_end.handler = options.handler ? options.handler : Echo;
    layer = FrontEnd::Open(std::move(front_end)).value();
    layer->Serve();
  }

  static void Echo(Request request, Clock::Instant, Responder responder) {
    const std::string body =
        request.head.substr(0, request.head.find(' ')) + " " + request.target + "|" + request.body;
    responder.Send(
        {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
         request.close});
  }

  uint16_t port() const { return layer->port(); }
  LayerStats& stats() { return layer->stats(); }
  void Advance(std::chrono::milliseconds by) {
    clock.Advance(by);
    layer->Wake();
  }

  mindgate::testing::FakeClock clock;
  TestCa ca;
  TestCa client_ca;
  Snapshot<certs::TlsMaterial> material;
  TlsContext tls;
  ByteBudget budget{64 * 1024 * 1024};
  std::unique_ptr<FrontEnd> layer;
};

// What the client reads for RawRequest::want.
std::vector<std::string> Wanted(const std::string& want) {
  std::vector<std::string> words;
  for (size_t at = 0; at < want.size();) {
    const size_t end = std::min(want.find(", ", at), want.size());
    words.push_back(want.substr(at, end - at));
    at = end + 2;
  }
  return words;
}

void ExpectAnswers(Client& client, const RawRequest& raw) {
  for (const std::string& word : Wanted(raw.want)) {
    if (word == "...") return;
    std::string answer = client.ReadAnswer();
    if (StatusOf(answer) == 100) answer = client.ReadAnswer();
    if (word.front() != '!') {
      // A HEAD is answered without a body by the HTTP layer; the echo does not care.
      EXPECT_EQ(BodyOf(answer), word) << raw.name;
      continue;
    }
    bool known = false;
    for (size_t i = 0; i < kRefusalCount; ++i) {
      if (InfoOf(static_cast<Refusal>(i)).name != word.substr(1)) continue;
      known = true;
      EXPECT_EQ(answer, RefusalAnswer(static_cast<Refusal>(i), true)) << raw.name;
      EXPECT_EQ(client.ReadToEnd(), "") << raw.name;
    }
    EXPECT_TRUE(known) << raw.name << ": " << word;
  }
}

class RawOverTls : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, RawOverTls, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "ByteByByte" : "Whole"; });

TEST_P(RawOverTls, EachIsAnsweredExactlyAndOthersDoNotNotice) {
  Server admission;
  Server probe({.port = Port::kProbe, .tls = false});
  Client bystander(admission.port(), Client::Tls{});
  for (const RawRequest& raw : RawRequests()) {
    const bool plain = raw.port == Port::kProbe;
    Client client(plain ? probe.port() : admission.port());
    if (!plain) {
      ASSERT_TRUE(client.Handshake({})) << raw.name;
    }
    // The heads of 16 KiB in pieces of 64: their every byte was tried without sockets.
    const size_t piece = !GetParam() ? raw.bytes.size() + 1 : raw.bytes.size() > 4096 ? 64 : 1;
    for (size_t at = 0; at < raw.bytes.size(); at += piece) {
      if (!client.Send(std::string_view(raw.bytes).substr(at, piece))) break;  // refused early
    }
    ExpectAnswers(client, raw);
    ASSERT_TRUE(bystander.Send(Post("{}")));
    ASSERT_EQ(BodyOf(bystander.ReadAnswer()), "POST /mutate?timeout=5s|{}") << raw.name;
  }
}

TEST(FrontEnd, TwoRequestsInOneTlsRecord) {
  Server server;
  Client client(server.port(), Client::Tls{});
  ASSERT_TRUE(client.Send(Post("1") + Post("2") + Post("3")));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|1");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|2");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|3");
}

TEST(FrontEnd, TenThousandRequestsOnOneConnection) {
  Server server;
  Client client(server.port(), Client::Tls{});
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(client.Send(Post("{}")));
    ASSERT_EQ(StatusOf(client.ReadAnswer()), 200) << i;
  }
  EXPECT_EQ(server.stats().accepted, 1);
}

TEST(FrontEnd, BodyOfSevenMebibytes) {
  Server server;
  Client client(server.port(), Client::Tls{});
  const std::string body(7 * 1024 * 1024, 'x');
  ASSERT_TRUE(client.Send(Post(body)));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|" + body);
  ASSERT_TRUE(client.Send(Post("{}")));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|{}");
}

TEST(FrontEnd, OneByteMoreIsRefusedWhileItIsBeingSent) {
  Server server;
  Client client(server.port(), Client::Tls{});
  client.Send(Post(std::string(7 * 1024 * 1024 + 1, 'x')));
  EXPECT_EQ(client.ReadAnswer(), RefusalAnswer(Refusal::kBodyTooLarge, true));
  EXPECT_LT(server.budget.used(), 64 * 1024);
}

TEST(FrontEnd, ContinueIsAnsweredBeforeTheBody) {
  Server server;
  Client client(server.port(), Client::Tls{});
  client.Send(Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                    "Content-Length: 2", "Expect: 100-continue"}));
  EXPECT_EQ(client.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("{}");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate|{}");
}

TEST(FrontEnd, SlowlorisIsCutAndOthersAreServed) {
  Server server;
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<Client>(server.port(), Client::Tls{}));
    slow.back()->Send("POST /mutate HTTP/1.1\r\n");
  }
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kReading) == 50; }));
  // One more header line just before the deadline does not put it off.
  server.Advance(9s);
  for (const auto& client : slow) client->Send("X: 1\r\n");
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  server.Advance(1s);
  for (const auto& client : slow) {
    EXPECT_EQ(client->ReadAnswer(), RefusalAnswer(Refusal::kTimeout, true));
  }
}

TEST(FrontEnd, SilentTcpClientsAndHalfHandshakesAreCut) {
  Server server;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    // Half of them begin a TLS record that they never finish.
    if (i % 2 == 0) clients.back()->SendRaw(std::string_view("\x16\x03\x01\x02\x00\x01", 6));
  }
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kHandshake) == 40; }));
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200) << "nobody waits for them";
  server.Advance(10s);
  for (const auto& client : clients) EXPECT_EQ(client->ReadToEnd(), "");
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 1; }));
  EXPECT_EQ(server.stats().Count(Drop::kHandshakeTimeout), 40);
}

TEST(FrontEnd, ClientThatNeverReadsHoldsNothingForLong) {
  Server server;
  Client client(server.port(), Client::Tls{});
  // Answers as large as the bodies: they fill the socket's buffers, then the answer stands.
  const std::string body(4 * 1024 * 1024, 'x');
  ASSERT_TRUE(client.Send(Post(body)));
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kWriting) == 1; }));
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  server.Advance(10s);
  EXPECT_TRUE(Eventually([&] { return server.stats().Count(Drop::kWriteTimeout) == 1; }));
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 1; }));
  EXPECT_LT(server.budget.used(), 4096);
}

TEST(FrontEnd, GarbageInsteadOfTls) {
  Server server;
  Client client(server.port());
  client.SendRaw("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.ReadToEnd();
  EXPECT_TRUE(Eventually([&] { return server.stats().Count(Drop::kHandshakeFailed) == 1; }));
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
}

TEST(FrontEnd, TlsVersions) {
  Server server;
  EXPECT_FALSE(
      Client(server.port(), {.min_version = TLS1_VERSION, .max_version = TLS1_1_VERSION}).ok());
  Client twelve(server.port(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(twelve.ok());
  EXPECT_STREQ(SSL_get_version(twelve.ssl()), "TLSv1.2");
  Client thirteen(server.port(), Client::Tls{.trust = &server.ca, .server_name = "mindgate.svc"});
  ASSERT_TRUE(thirteen.ok());
  EXPECT_STREQ(SSL_get_version(thirteen.ssl()), "TLSv1.3");
}

TEST(FrontEnd, Alpn) {
  Server server;
  EXPECT_TRUE(Client(server.port(), {.alpn = ""}).ok());
  EXPECT_FALSE(Client(server.port(), {.alpn = "h2"}).ok());
  Client both(server.port(), {.alpn = "h2,http/1.1"});
  ASSERT_TRUE(both.ok());
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(both.ssl(), &chosen, &size);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
}

TEST(FrontEnd, SessionsAreNotResumed) {
  Server server;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client first(server.port(), {.min_version = version, .max_version = version});
    ASSERT_TRUE(first.ok());
    first.Send(Post("{}"));
    EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
    SSL_SESSION* session = SSL_get1_session(first.ssl());
    EXPECT_EQ(SSL_SESSION_has_ticket(session), 0) << version;
    EXPECT_EQ(SSL_SESSION_is_resumable(session), 0) << version;
    SSL_SESSION_free(session);
  }
}

TEST(FrontEnd, RenegotiationIsRefusedAndHurtsNobodyElse) {
  Server server;
  Client other(server.port(), Client::Tls{});
  Client client(server.port(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(client.ok());
  SSL_renegotiate(client.ssl());
  EXPECT_NE(SSL_do_handshake(client.ssl()) == 1 && client.Send(Post("{}")) &&
                StatusOf(client.ReadAnswer()) == 200 && SSL_num_renegotiations(client.ssl()) > 0,
            true);
  ERR_clear_error();
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
}

struct AuthCase {
  std::string name;
  ClientAuth::Mode mode;
  std::set<std::string, std::less<>> names;
  std::string shown;  // "", "good", "stranger": of another CA, "expired"
  bool want;
};

class ClientCertificates : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, ClientCertificates, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_P(ClientCertificates, AreOptionalOrRequiredAndHaveAllowedNames) {
  using Mode = ClientAuth::Mode;
  const std::vector<AuthCase> cases = {
      {"not asked", Mode::kNone, {}, "", true},
      {"not asked, shown all the same", Mode::kNone, {}, "stranger", true},
      {"optional, none", Mode::kOptional, {}, "", true},
      {"optional, good", Mode::kOptional, {}, "good", true},
      {"optional, stranger", Mode::kOptional, {}, "stranger", false},
      {"optional, wrong name", Mode::kOptional, {"front-proxy"}, "good", false},
      {"required, none", Mode::kRequired, {}, "", false},
      {"required, good", Mode::kRequired, {}, "good", true},
      {"required, expired", Mode::kRequired, {}, "expired", false},
      {"required, allowed name", Mode::kRequired, {"a", "kube-apiserver"}, "good", true},
      {"required, name not allowed", Mode::kRequired, {"kube-apiserver-2"}, "good", false},
  };
  for (const AuthCase& c : cases) {
    Server server({.auth = {c.mode, c.names}});
    const TestCa stranger("stranger");
    const Identity identity = c.shown == "stranger" ? stranger.Issue("kube-apiserver")
                              : c.shown == "expired"
                                  ? server.client_ca.Issue("kube-apiserver", KeyKind::kEc, -60)
                                  : server.client_ca.Issue("kube-apiserver");
    Client client(server.port(), Client::Tls{.min_version = GetParam(),
                                             .max_version = GetParam(),
                                             .identity = c.shown.empty() ? nullptr : &identity});
    if (c.want) {
      EXPECT_TRUE(client.Send(Post("{}"))) << c.name;
      EXPECT_EQ(StatusOf(client.ReadAnswer()), 200) << c.name;
    } else {
      EXPECT_TRUE(client.Refused()) << c.name;
      EXPECT_TRUE(Eventually([&] { return server.stats().Count(Drop::kHandshakeFailed) == 1; }))
          << c.name;
    }
  }
}

TEST(FrontEnd, CertificatesAndClientCaAreSwappedWithoutTouchingConnections) {
  Server server({.auth = {ClientAuth::Mode::kRequired, {}}});
  const TestCa other_ca("new client ca");
  const Identity first_user = server.client_ca.Issue("kube-apiserver");
  const Identity second_user = other_ca.Issue("kube-apiserver");
  Client old_connection(server.port(), Client::Tls{.identity = &first_user});
  ASSERT_TRUE(old_connection.ok());

  server.material.Set(Material(server.ca.Issue("renewed.svc", KeyKind::kRsa), &other_ca));
  Client fresh(
      server.port(),
      Client::Tls{.identity = &second_user, .trust = &server.ca, .server_name = "renewed.svc"});
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE(fresh.Send(Post("{}")));
  EXPECT_EQ(StatusOf(fresh.ReadAnswer()), 200);
  EXPECT_TRUE(Client(server.port(), Client::Tls{.identity = &first_user}).Refused());
  EXPECT_TRUE(old_connection.Send(Post("{}")));
  EXPECT_EQ(StatusOf(old_connection.ReadAnswer()), 200);
}

TEST(FrontEnd, WithoutMaterialHandshakesFailAndNothingElse) {
  Server server;
  server.material.Set(nullptr);
  EXPECT_FALSE(Client(server.port(), Client::Tls{}).ok());
  server.material.Set(Material(server.ca.Issue("mindgate.svc")));
  EXPECT_TRUE(Client(server.port(), Client::Tls{}).ok());
}

TEST(FrontEnd, HundredSwapsBetweenEcAndRsaUnderLoadFailNoHandshake) {
  Server server;
  const auto ec = Material(server.ca.Issue("mindgate.svc"));
  const auto rsa = Material(server.ca.Issue("mindgate.svc", KeyKind::kRsa));
  std::atomic<bool> done{false};
  std::atomic<int> failures{0};
  std::atomic<int> served{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!done) {
        Client client(server.port(),
                      Client::Tls{.trust = &server.ca, .server_name = "mindgate.svc"});
        const bool fine =
            client.ok() && client.Send(Post("{}")) && StatusOf(client.ReadAnswer()) == 200;
        ++(fine ? served : failures);
      }
    });
  }
  for (int swap = 0; swap < 100; ++swap) {
    server.material.Set(swap % 2 == 0 ? rsa : ec);
    const int before = served + failures;
    ASSERT_TRUE(Eventually([&] { return served + failures > before; }));
  }
  done = true;
  callers.clear();
  EXPECT_EQ(failures, 0);
}

// As many file descriptors as the test may have, or 0 when it cannot have that many.
bool RaiseDescriptors(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= wanted;
}

TEST(FrontEnd, FiveThousandIdleConnections) {
  size_t count = 5000;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  count = 1000;
  std::printf("only 1000 connections: a handshake takes ten times as long under a sanitizer\n");
#endif
  if (!RaiseDescriptors(2 * count + 200)) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    count = (limit.rlim_cur - 200) / 2;
    std::printf("only %zu connections: at most %zu file descriptors here\n", count,
                size_t{limit.rlim_cur});
  }
  Server server;
  std::vector<std::unique_ptr<Client>> idle;
  idle.push_back(std::make_unique<Client>(server.port(), Client::Tls{}));
  for (size_t i = 1; i < count; ++i) {
    idle.push_back(std::make_unique<Client>(server.port(), Client::Tls{.like = idle[0].get()}));
    ASSERT_TRUE(idle.back()->ok()) << i;
  }
  ASSERT_TRUE(
      Eventually([&] { return server.stats().In(Phase::kIdle) == static_cast<int64_t>(count); }));
  EXPECT_LT(server.budget.used(), count * 64) << "an idle connection holds no buffers";
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  // Every one of them still works.
  for (size_t i = 0; i < count; i += 97) {
    ASSERT_TRUE(idle[i]->Send(Post("{}")));
    ASSERT_EQ(StatusOf(idle[i]->ReadAnswer()), 200);
  }
  server.Advance(120s);
  for (size_t i = 0; i < count; i += 97) EXPECT_EQ(idle[i]->ReadToEnd(), "");
}

TEST(FrontEnd, OverTheCapTheOldestThatBroughtNothingGoesFirst) {
  Server server({.tls = false, .loops = 1, .most_connections = 3});
  Client used(server.port());
  used.Send(Post("{}"));
  ASSERT_EQ(StatusOf(used.ReadAnswer()), 200);
  Client silent(server.port());
  ASSERT_TRUE(Eventually([&] { return server.stats().Open() == 2; }));
  server.Advance(1s);
  Client silent_too(server.port());
  ASSERT_TRUE(Eventually([&] { return server.stats().Open() == 3; }));

  Client fresh(server.port());
  EXPECT_EQ(silent.ReadToEnd(), "") << "evicted";
  fresh.Send(Post("{}"));
  EXPECT_EQ(StatusOf(fresh.ReadAnswer()), 200);
  used.Send(Post("{}"));
  EXPECT_EQ(StatusOf(used.ReadAnswer()), 200)
      << "it brought a request and stays, though it is the oldest";
  EXPECT_EQ(server.stats().Count(Drop::kEvicted), 1);
}

TEST(FrontEnd, OverTheCapWithAllBusyTheNewOneIsRefused) {
  std::vector<Responder> waiting;
  Server server({.tls = false,
                 .loops = 1,
                 .most_connections = 2,
                 .handler = [&](Request, Clock::Instant, Responder responder) {
                   waiting.push_back(responder);
                 }});
  Client first(server.port());
  Client second(server.port());
  first.Send(Post("{}"));
  second.Send(Post("{}"));
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kExecuting) == 2; }));
  Client third(server.port());
  EXPECT_EQ(third.ReadToEnd(), "");
  EXPECT_EQ(server.stats().Count(Drop::kOverCap), 1);
  for (const Responder& responder : waiting)
    responder.Send({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(second.ReadAnswer()), 200);
}

TEST(FrontEnd, PeerThatResetsWhileItsAnswerIsMadeIsForgotten) {
  std::atomic<bool> reset{false};
  std::vector<Responder> waiting;
  Server server({.loops = 1, .handler = [&](Request, Clock::Instant, Responder responder) {
                   waiting.push_back(responder);
                 }});
  Client client(server.port(), Client::Tls{});
  client.Send(Post("{}"));
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kExecuting) == 1; }));
  client.Reset();
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
  waiting.front().Send({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  Client next(server.port(), Client::Tls{});
  EXPECT_TRUE(next.ok());
}

TEST(FrontEnd, WithoutDescriptorsNewConnectionsAreRefusedAndOldOnesServed) {
  Server server;
  Client served(server.port(), Client::Tls{});
  served.Send(Post("{}"));
  ASSERT_EQ(StatusOf(served.ReadAnswer()), 200);
  // Busy, so that nobody can be evicted in its place.
  served.Send("POST /mutate HTTP/1.1\r\n");
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kReading) == 1; }));

  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  std::vector<FileDescriptor> ballast;
  {
    // Sockets of the client's side are made first: the limit is the whole process's.
    std::vector<FileDescriptor> sockets;
    for (int i = 0; i < 3; ++i)
      sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const rlimit tight{static_cast<rlim_t>(sockets.back().get()) + 1, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &tight);
    while (true) {  // gaps below the limit
      FileDescriptor filler(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!filler.valid()) break;
      ballast.push_back(std::move(filler));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (const FileDescriptor& socket : sockets) {
      ASSERT_EQ(
          ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      char byte = 0;
      EXPECT_LE(::recv(socket.get(), &byte, 1, 0), 0) << "closed at once, not left waiting";
    }
  }
  EXPECT_GE(server.stats().Count(Drop::kNoDescriptor), 3);
  served.Send("Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(StatusOf(served.ReadAnswer()), 200);
  ballast.clear();
  ::setrlimit(RLIMIT_NOFILE, &before);
  Client later(server.port(), Client::Tls{});
  EXPECT_TRUE(later.ok());
}

TEST(FrontEnd, StopAcceptingTakesThoseWhoWait) {
  Server server;
  Client before(server.port());
  ASSERT_TRUE(before.Connected());
  server.layer->StopAccepting();
  EXPECT_TRUE(before.Handshake({}));
  EXPECT_TRUE(Eventually([&] { return !Client(server.port()).Connected(); }));
  before.Send(Post("{}"));
  EXPECT_EQ(StatusOf(before.ReadAnswer()), 200);
}

TEST(FrontEnd, CloseIdleSparesTheRecentlyUsed) {
  Server server;
  Client old(server.port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 1; }));
  server.Advance(5s);
  Client recent(server.port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 2; }));
  server.layer->CloseIdle(1s);
  EXPECT_EQ(old.ReadToEnd(), "");
  recent.Send(Post("{}"));
  EXPECT_EQ(StatusOf(recent.ReadAnswer()), 200);
  server.layer->CloseIdle(0s);
  EXPECT_EQ(recent.ReadToEnd(), "");
  old.Close();
  recent.Close();
  EXPECT_TRUE(Eventually([&] { return server.layer->Empty(); }));
}

TEST(Listener, AcceptsWithoutDelayAndBindsAlone) {
  auto listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener);
  Client client(listener->port());
  auto accepted = listener->Accept();
  ASSERT_EQ(accepted.status, Listener::Status::kAccepted);
  int nodelay = 0;
  socklen_t size = sizeof nodelay;
  ::getsockopt(accepted.socket.get(), IPPROTO_TCP, TCP_NODELAY, &nodelay, &size);
  EXPECT_EQ(nodelay, 1);
  EXPECT_EQ(listener->Accept().status, Listener::Status::kNothing);

  const auto second = Listener::Open("127.0.0.1:" + std::to_string(listener->port()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), StartsWith("cannot bind \"127.0.0.1:"));
}

TEST(Listener, BurstOfConnectsFitsTheBacklog) {
  const auto listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 250; ++i) {
    clients.push_back(std::make_unique<Client>(listener->port()));
    ASSERT_TRUE(clients.back()->Connected()) << i;
  }
  // With a backlog too small the kernel drops the last SYNs, and those clients stay in SYN_SENT or
  // wait for a second.
  tcp_info info{};
  socklen_t size = sizeof info;
  ::getsockopt(listener->fd(), IPPROTO_TCP, TCP_INFO, &info, &size);
  EXPECT_EQ(info.tcpi_unacked, 250) << "connections waiting to be accepted";
  EXPECT_GE(info.tcpi_sacked, 1024) << "the backlog";
}

TEST(Listener, Addresses) {
  EXPECT_TRUE(Listener::Open(":0"));
  EXPECT_TRUE(Listener::Open("0.0.0.0:0"));
  for (const char* bad :
       {"", "9443", "localhost", ":", ":x", ":-1", ":65536", "a.b:1", "[::1:1", "::1:1", "[]:1"}) {
    const auto listener = Listener::Open(bad);
    ASSERT_FALSE(listener) << bad;
    EXPECT_EQ(listener.error().code(), ErrorCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace mindgate::webhook
