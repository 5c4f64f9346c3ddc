// Certificates that do not fit, on either side. See client_bad_input_test.cc.
#include <gmock/gmock.h>

#include "certs/authority.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/certificates.h"

namespace mindgate::kube::testing {
namespace {

using mindgate::testing::KeyPem;
using mindgate::testing::Pem;
using ::testing::HasSubstr;

// Certificates of now: TLS has no clock that a test could move.
struct ServerMaterial {
  certs::Identity authority = mindgate::testing::NewAuthority(SystemClock().WallNow());
  certs::Identity other = mindgate::testing::NewAuthority(SystemClock().WallNow());

  static certs::Identity Issue(const certs::Identity& by,
                               const std::function<void(certs::LeafRequest&)>& change) {
    return mindgate::testing::NewLeaf(by, [&change](certs::LeafRequest& request) {
      request.now = SystemClock().WallNow();
      change(request);
    });
  }
  certs::Identity server = Issue(authority, [](certs::LeafRequest& request) {
    request.dns_names = {"kubernetes.default.svc"};
    request.ip_addresses = {"127.0.0.1"};
  });
  certs::Identity ForClient(const certs::Identity& by) const {
    return Issue(by, [](certs::LeafRequest& request) {
      request.usage = certs::LeafRequest::Usage::kClient;
      request.common_name = "mindgate";
    });
  }
};

HttpServer::Options Secured(const certs::Identity& server, const certs::Identity& client_ca) {
  return {.certificate = Pem(server), .key = KeyPem(server), .client_ca = Pem(client_ca)};
}

Answer<Json> AskVersion(const Access& access) {
  const auto transport = MakeTransport(access, "mindgate-test");
  FakeSleeper sleeper;
  Client client(*transport, sleeper);
  return client.GetPath("/version");
}

TEST(ClientTls, CertificatesThatDoNotFit) {
  const ServerMaterial material;
  struct Case {
    const char* what;
    std::function<void(Access&)> change;
    const char* message;  // null: it works
  };
  const std::vector<Case> cases = {
      {"all is well", [](Access&) {}, nullptr},
      {"another CA", [&](Access& access) { access.authority = Pem(material.other); },
       "the server's certificate is not accepted"},
      {"the CAs of the system", [](Access& access) { access.authority.clear(); },
       "the server's certificate is not accepted"},
      {"a CA that is none", [](Access& access) { access.authority = "hello"; }, ""},
      {"another name", [](Access& access) { access.tls_server_name = "other.svc"; },
       "the server's certificate is not accepted"},
      {"the other name of it",
       [](Access& access) { access.tls_server_name = "kubernetes.default.svc"; }, nullptr},
      {"not checked",
       [](Access& access) {
         access.authority.clear();
         access.insecure = true;
       },
       nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    FakeApiServer fake({.http = Secured(material.server, material.authority)});
    Access access = AccessTo(fake.url());
    access.authority = Pem(material.authority);
    c.change(access);
    const auto answer = AskVersion(access);
    if (c.message == nullptr) {
      EXPECT_EQ(Value(answer).at("major"), "1");
      continue;
    }
    const Fault fault = FaultIn(answer);
    EXPECT_EQ(fault.reason, Reason::kTls) << fault.message;
    EXPECT_THAT(fault.message, HasSubstr(c.message));
    EXPECT_FALSE(fault.transient());
    EXPECT_EQ(fake.Count(), 0u);
  }
}

// The CA of a cluster can be replaced while a pod runs; a kept connection is that of the old one.
TEST(ClientTls, ACaThatIsReplacedIsFollowed) {
  struct Source final : CredentialSource {
    Answer<Credential> Get() override { return Credential{.authority = authority}; }
    void Refused(const Credential&) override {}
    std::string authority;
  };
  const ServerMaterial material;
  FakeApiServer fake({.http = Secured(material.server, material.authority)});
  const auto source = std::make_shared<Source>();
  Access access = AccessTo(fake.url());
  access.credentials = source;
  const auto transport = MakeTransport(access, "mindgate-test");
  FakeSleeper sleeper;
  Client client(*transport, sleeper);
  source->authority = Pem(material.other);
  EXPECT_EQ(FaultIn(client.GetPath("/version")).reason, Reason::kTls);
  source->authority += Pem(material.authority);
  EXPECT_EQ(Value(client.GetPath("/version")).at("major"), "1");
  source->authority = Pem(material.other);
  EXPECT_EQ(FaultIn(client.GetPath("/version")).reason, Reason::kTls) << "and not over the old one";
}

TEST(ClientTls, ACertificateThatHasEnded) {
  const ServerMaterial material;
  const certs::Identity old =
      mindgate::testing::NewLeaf(material.authority, [](certs::LeafRequest& request) {
        request.ip_addresses = {"127.0.0.1"};
        request.now = SystemClock().WallNow() - std::chrono::hours(48);
        request.life = std::chrono::hours(24);
      });
  FakeApiServer fake({.http = Secured(old, material.authority)});
  Access access = AccessTo(fake.url());
  access.authority = Pem(material.authority);
  const Fault fault = FaultIn(AskVersion(access));
  EXPECT_EQ(fault.reason, Reason::kTls);
  EXPECT_THAT(fault.message, HasSubstr("expired"));
}

TEST(ClientTls, ClientCertificates) {
  const ServerMaterial material;
  FakeApiServer fake({.http = Secured(material.server, material.authority)});
  fake.Accept({});
  const auto ask = [&](const certs::Identity& who, const certs::Identity& key) {
    Access access =
        AccessTo(fake.url(), {.token = {}, .certificate = Pem(who), .key = KeyPem(key)});
    access.authority = Pem(material.authority);
    return AskVersion(access);
  };
  const certs::Identity known = material.ForClient(material.authority);
  EXPECT_EQ(Value(ask(known, known)).at("major"), "1");
  const certs::Identity stranger = material.ForClient(material.other);
  EXPECT_EQ(FaultIn(ask(stranger, stranger)).reason, Reason::kUnauthorized);
  EXPECT_EQ(FaultIn(ask(known, stranger)).reason, Reason::kTls);
}

TEST(ClientTls, TlsAndPlainMixedUp) {
  const ServerMaterial material;
  FakeApiServer plain;
  Access access = AccessTo("https" + plain.url().substr(4));
  access.authority = Pem(material.authority);
  const Fault tls_to_plain = FaultIn(AskVersion(access));
  EXPECT_EQ(tls_to_plain.reason, Reason::kTls) << tls_to_plain.message;
  EXPECT_EQ(plain.Count(), 0u);

  FakeApiServer secured({.http = Secured(material.server, material.authority)});
  const Fault plain_to_tls = FaultIn(AskVersion(AccessTo("http" + secured.url().substr(5))));
  EXPECT_EQ(plain_to_tls.reason, Reason::kInvalid);
  EXPECT_THAT(plain_to_tls.message, HasSubstr("Client sent an HTTP request to an HTTPS server."));
}

}  // namespace
}  // namespace mindgate::kube::testing
