// Files that change under a server, as those who call it see that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <optional>

#include "base/log.h"
#include "base/time.h"
#include "certs/certificate.h"
#include "http/client.h"
#include "http/raw_requests.h"
#include "http/test_certs.h"
#include "json/value.h"
#include "support/temp_folder.h"
#include "webhook/live_inputs.h"
#include "webhook/reviews.h"
#include "webhook/server.h"

namespace mindgate::webhook {
namespace {

using http::testing::BodyOf;
using http::testing::Client;
using http::testing::Identity;
using http::testing::Post;
using http::testing::StatusOf;
using http::testing::TestCa;
using ::mindgate::testing::MountedSecret;
using ::testing::HasSubstr;

constexpr const char* kName = "mindgate.svc";

std::string FingerprintOf(const Identity& identity) {
  return certs::Describe(certs::ReadCertificates(identity.certificate)->front().get()).fingerprint;
}

// A server that asks for client certificates, with all its files in mounted volumes.
struct LiveServer {
  LiveServer() {
    serving.Update(Pair(first_pair));
    client_ca.Update({{"ca.crt", clients.certificate()}});
    config.Update({{"mindgate.yaml", "scheduler: one\n"}});
    live.emplace(LiveFiles{config.path() + "/mindgate.yaml",
                           {serving.path(), client_ca.path() + "/ca.crt", {kName}}},
                 clock, logger);
    inputs.emplace(ServerInputs{live->config(), live->tls(), clock, logger,
                                [this] { return live->config_status(); },
                                [this] { return live->certificate_status(); }});
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.probe_listen = "127.0.0.1:0";
    options.client_auth.mode = http::ClientAuth::Mode::kRequired;
    server = Server::Start(std::move(options), *inputs).value();
  }

  static std::map<std::string, std::string> Pair(const Identity& identity) {
    return {{"tls.crt", identity.certificate}, {"tls.key", identity.key}};
  }
  Client Connect(const Identity& identity) const {
    return Client(server->port(), Client::Tls{.identity = &identity});
  }
  // The certificate that a new connection is shown; "refused" when the client's is not accepted.
  std::string ShownTo(const Identity& identity) const {
    Client client = Connect(identity);
    if (Answer(client).empty()) return "refused";
    const certs::CertificatePtr shown(SSL_get1_peer_certificate(client.ssl()));
    return certs::Describe(shown.get()).fingerprint;
  }
  // The generation that an answer was made under, empty: there was no answer.
  static std::string Answer(Client& client) {
    client.Send(Post(testing::ReviewOf(testing::Deployment()).dump()));
    const std::string answer = client.ReadAnswer();
    if (StatusOf(answer) != 200) return "";
    return json::Json::parse(BodyOf(answer))["response"]["auditAnnotations"]["generation"];
  }
  std::string Readiness() const {
    Client client(server->probe_port());
    client.Send("GET /readyz?verbose HTTP/1.1\r\nHost: a\r\n\r\n");
    return client.ReadAnswer();
  }

  const TestCa ca{"ca"};
  const TestCa clients{"clients"};
  const Identity first_pair = ca.Issue(kName);
  const Identity user = clients.Issue("kube-apiserver");
  MountedSecret serving;
  MountedSecret client_ca;
  MountedSecret config;
  const SystemClock clock;
  log::Logger logger{log::Format::kJson, log::Level::kError, clock, [](std::string_view) {}};
  std::optional<LiveInputs> live;
  std::optional<ServerInputs> inputs;
  std::unique_ptr<Server> server;
};

TEST(LiveServer, TakesUpPairClientAuthorityAndConfigurationBetweenTwoRequests) {
  LiveServer server;
  Client open_all_the_while = server.Connect(server.user);
  const std::string first_generation = LiveServer::Answer(open_all_the_while);
  EXPECT_NE(first_generation, "");
  EXPECT_EQ(server.ShownTo(server.user), FingerprintOf(server.first_pair));

  const Identity next_pair = server.ca.Issue(kName, http::testing::KeyKind::kRsa);
  const TestCa next_clients("next clients");
  const Identity next_user = next_clients.Issue("kube-apiserver");
  EXPECT_EQ(server.ShownTo(next_user), "refused");
  server.serving.Update(LiveServer::Pair(next_pair));
  server.client_ca.Update({{"ca.crt", next_clients.certificate() + server.clients.certificate()}});
  server.config.Update({{"mindgate.yaml", "scheduler: two\n"}});
  server.live->Reload();
  EXPECT_EQ(server.ShownTo(server.user), FingerprintOf(next_pair)) << "both may call meanwhile";
  EXPECT_EQ(server.ShownTo(next_user), FingerprintOf(next_pair));
  const std::string next_generation = LiveServer::Answer(open_all_the_while);
  EXPECT_NE(next_generation, "");
  EXPECT_NE(next_generation, first_generation);

  server.client_ca.Update({{"ca.crt", next_clients.certificate()}});
  server.live->Reload();
  EXPECT_EQ(server.ShownTo(server.user), "refused");
  EXPECT_EQ(server.ShownTo(next_user), FingerprintOf(next_pair));
  EXPECT_EQ(LiveServer::Answer(open_all_the_while), next_generation);
}

TEST(LiveServer, ServesOnWithTheOldOnesWhateverItsFilesBecome) {
  LiveServer server;
  Client open_all_the_while = server.Connect(server.user);
  const std::string generation = LiveServer::Answer(open_all_the_while);
  const struct {
    const char* name;
    Identity pair;
  } bad[] = {
      {"torn", {server.first_pair.certificate, server.ca.Issue(kName).key}},
      {"expired", server.ca.Issue(kName, http::testing::KeyKind::kEc, -60)},
      {"wrong name", server.ca.Issue("other.svc")},
      {"nothing", {}},
  };
  for (const auto& [name, pair] : bad) {
    SCOPED_TRACE(name);
    server.serving.Update(LiveServer::Pair(pair));
    server.client_ca.Update({{"ca.crt", "rubbish"}});
    server.config.Update({{"mindgate.yaml", "scheduler: [\n"}});
    server.live->Reload();
    EXPECT_EQ(server.ShownTo(server.user), FingerprintOf(server.first_pair));
    EXPECT_EQ(LiveServer::Answer(open_all_the_while), generation);
    const std::string readiness = server.Readiness();
    EXPECT_EQ(StatusOf(readiness), 200);
    EXPECT_THAT(readiness, HasSubstr("refused: " + server.config.path() + "/mindgate.yaml:"));
    EXPECT_THAT(readiness, HasSubstr("ca.crt: holds no certificate"));
  }
}

}  // namespace
}  // namespace mindgate::webhook
