#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <atomic>
#include <thread>

#include "http/client.h"
#include "http/echo_server.h"
#include "http/raw_requests.h"
#include "http/transport.h"
#include "support/eventually.h"

namespace mindgate::http {
namespace {

using namespace std::chrono_literals;
using mindgate::testing::Eventually;
using testing::Client;
using testing::EchoServer;
using testing::Identity;
using testing::KeyKind;
using testing::Material;
using testing::Post;
using testing::StatusOf;
using testing::TestCa;

TEST(TlsContext, GarbageInsteadOfTls) {
  EchoServer server;
  Client client(server.port());
  client.SendRaw("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.ReadToEnd();
  EXPECT_TRUE(Eventually([&] { return server.stats().Count(Drop::kHandshakeFailed) == 1; }));
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
}

// OpenSSL would allocate the 128 KiB that the message claims and wait for them.
TEST(TlsContext, AMessageThatClaimsTooMuchEndsTheHandshakeAtOnce) {
  EchoServer server;
  Client client(server.port());
  client.SendRaw(std::string_view("\x16\x03\x01\x00\x04\x01\x02\x01\x44", 9));
  client.ReadToEnd();
  EXPECT_EQ(server.stats().Count(Drop::kHandshakeFailed), 1);
}

TEST(TlsContext, AFirstRecordThatIsNotAHelloEndsTheHandshakeAtOnce) {
  for (const std::string_view bytes :
       {std::string_view("\x17\x03\x03\x00\x01x", 6), std::string_view("\x80\x2e\x01", 3),
        std::string_view("\x16\x03\x01\x40\x01", 5)}) {
    EchoServer server;
    Client client(server.port());
    client.SendRaw(bytes);
    client.ReadToEnd();
    EXPECT_EQ(server.stats().Count(Drop::kHandshakeFailed), 1);
  }
}

TEST(TlsContext, AHelloMayComeByteByByte) {
  EchoServer server;
  Client client(server.port());
  const std::string hello = testing::ClientHello();
  for (const char byte : hello) client.SendRaw({&byte, 1});
  EXPECT_NE(client.ReadSome(), "") << "the server's part of the handshake";
}

// Each costs OpenSSL new keys, and it goes on for as long as more arrive.
TEST(TlsContext, AConnectionOfNothingButKeyUpdatesIsClosed) {
  EchoServer server({.loops = 1});
  Client updating(server.port(), {.min_version = TLS1_3_VERSION});
  ASSERT_TRUE(updating.ok());
  const auto update = [&] {
    return SSL_key_update(updating.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
           SSL_do_handshake(updating.ssl()) == 1;
  };
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(update());
  updating.Send(Post("{}"));
  EXPECT_EQ(StatusOf(updating.ReadAnswer()), 200) << "a few do no harm";
  for (int i = 0; i < 100'000 && update(); ++i) {
  }
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
}

TEST(TlsContext, AConnectionOfNothingButRenegotiationIsClosed) {
  EchoServer server({.loops = 1});
  Client client(server.port(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(client.ok());
  client.Send(Post("{}"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  // Each attempt is answered with an alert; SSL_do_handshake ends with it.
  for (int i = 0; i < 100 && server.stats().Open() == 1; ++i) {
    SSL_renegotiate(client.ssl());
    SSL_do_handshake(client.ssl());
    ERR_clear_error();
  }
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
}

TEST(TlsContext, TlsVersions) {
  EchoServer server;
  EXPECT_FALSE(
      Client(server.port(), {.min_version = TLS1_VERSION, .max_version = TLS1_1_VERSION}).ok());
  Client twelve(server.port(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(twelve.ok());
  EXPECT_STREQ(SSL_get_version(twelve.ssl()), "TLSv1.2");
  Client thirteen(server.port(), Client::Tls{.trust = &server.ca, .server_name = "mindgate.svc"});
  ASSERT_TRUE(thirteen.ok());
  EXPECT_STREQ(SSL_get_version(thirteen.ssl()), "TLSv1.3");
}

TEST(TlsContext, TheWholeChainIsSent) {
  EchoServer server;
  const TestCa intermediate("intermediate", &server.ca);
  Identity identity = intermediate.Issue("mindgate.svc");
  const Client::Tls knows_the_root_only{.trust = &server.ca, .server_name = "mindgate.svc"};
  server.material.Set(Material(identity));
  EXPECT_FALSE(Client(server.port(), knows_the_root_only).ok());
  identity.certificate += intermediate.certificate();
  server.material.Set(Material(identity));
  Client client(server.port(), knows_the_root_only);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(client.ssl())), 2);
}

TEST(TlsContext, Alpn) {
  EchoServer server;
  EXPECT_TRUE(Client(server.port(), {.alpn = ""}).ok());
  EXPECT_FALSE(Client(server.port(), {.alpn = "h2"}).ok());
  Client both(server.port(), {.alpn = "h2,http/1.1"});
  ASSERT_TRUE(both.ok());
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(both.ssl(), &chosen, &size);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
}

TEST(TlsContext, SessionsAreNotResumed) {
  EchoServer server;
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

TEST(TlsContext, RenegotiationIsRefusedAndHurtsNobodyElse) {
  EchoServer server;
  Client other(server.port(), Client::Tls{});
  Client client(server.port(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(client.ok());
  SSL_renegotiate(client.ssl());
  // The server answers "no renegotiation", which OpenSSL's client takes as fatal.
  EXPECT_NE(SSL_do_handshake(client.ssl()), 1);
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
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
    EchoServer server({.auth = {c.mode, c.names}});
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

TEST(TlsContext, CertificatesAndClientCaAreSwappedWithoutTouchingConnections) {
  EchoServer server({.auth = {ClientAuth::Mode::kRequired, {}}});
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

TEST(TlsContext, WithoutMaterialHandshakesFailAndNothingElse) {
  EchoServer server;
  server.material.Set(nullptr);
  EXPECT_FALSE(Client(server.port(), Client::Tls{}).ok());
  server.material.Set(Material(server.ca.Issue("mindgate.svc")));
  EXPECT_TRUE(Client(server.port(), Client::Tls{}).ok());
}

TEST(TlsContext, HundredSwapsBetweenEcAndRsaUnderLoadFailNoHandshake) {
  EchoServer server;
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
}  // namespace
}  // namespace mindgate::http
