// How commands reach an API server: kubectl's flags on the wire, and what the server warns of.
#include "cli/console/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kube/fake_api_server.h"
#include "support/certificates.h"
#include "support/cli.h"
#include "support/environment.h"

namespace mindgate::cli {
namespace {

using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::mindgate::testing::KeyPem;
using ::mindgate::testing::Pem;
using ::mindgate::testing::TempFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// An API server with TLS, its CA and a client's pair in files.
struct SecureServer : ::testing::Test {
  static certs::Identity Issue(const certs::Identity& by, bool of_client) {
    return mindgate::testing::NewLeaf(by, [of_client](certs::LeafRequest& request) {
      request.now = SystemClock().WallNow();
      if (of_client) {
        request.usage = certs::LeafRequest::Usage::kClient;
        request.common_name = "me";
      } else {
        request.dns_names = {"kubernetes.default.svc"};
        request.ip_addresses = {"127.0.0.1"};
      }
    });
  }

  certs::Identity authority = mindgate::testing::NewAuthority(SystemClock().WallNow());
  certs::Identity other = mindgate::testing::NewAuthority(SystemClock().WallNow());
  certs::Identity serving = Issue(authority, false);
  certs::Identity me = Issue(authority, true);
  TempFolder folder;
  FakeApiServer server{
      {.http = {.certificate = Pem(serving), .key = KeyPem(serving), .client_ca = Pem(authority)}}};

  SecureServer() {
    server.Accept({"good"});
    folder.Write("ca.crt", Pem(authority));
    folder.Write("other.crt", Pem(other));
    folder.Write("me.crt", Pem(me));
    folder.Write("me.key", KeyPem(me));
    folder.Write("config",
                 "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: "
                 "u}}]\nclusters: [{name: c, cluster: {server: '" +
                     server.url() +
                     "', certificate-authority: ca.crt}}]\nusers: [{name: "
                     "u, user: {token: bad}}]\n");
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"release-gates", "--all", "--dry-run"});
    return Cli(arguments);
  }
};

TEST_F(SecureServer, FlagsWinOverTheKubeconfig) {
  const std::string config = folder / "config";
  struct Case {
    const char* what;
    std::vector<std::string> arguments;
    const char* fault;  // null: it works
  };
  const std::vector<Case> cases = {
      {"the kubeconfig's token is bad", {"--kubeconfig", config}, "Unauthorized"},
      {"a token", {"--kubeconfig", config, "--token", "good"}, nullptr},
      {"a token that nobody knows", {"--kubeconfig", config, "--token", "s3cret"}, "Unauthorized"},
      {"another CA",
       {"--kubeconfig", config, "--token", "good", "--certificate-authority", folder / "other.crt"},
       "the server's certificate is not accepted"},
      {"no CA, and a server alone",
       {"-s", server.url(), "--token", "good"},
       "the server's certificate is not accepted"},
      {"the CA of the flag",
       {"-s", server.url(), "--token", "good", "--certificate-authority", folder / "ca.crt"},
       nullptr},
      {"nothing is verified",
       {"--kubeconfig", config, "--token", "good", "--insecure-skip-tls-verify"},
       nullptr},
      {"another name",
       {"--kubeconfig", config, "--token", "good", "--tls-server-name", "other.svc"},
       "the server's certificate is not accepted"},
      {"the other name of it",
       {"--kubeconfig", config, "--token", "good", "--tls-server-name", "kubernetes.default.svc"},
       nullptr},
      {"a client certificate",
       {"-s", server.url(), "--certificate-authority", folder / "ca.crt", "--client-certificate",
        folder / "me.crt", "--client-key", folder / "me.key"},
       nullptr},
      {"without its key",
       {"-s", server.url(), "--client-certificate", folder / "me.crt"},
       "--client-certificate: the command line has a client certificate without its key (add "
       "--client-key FILE)"},
      {"a CA that is ignored",
       {"--kubeconfig", config, "--insecure-skip-tls-verify", "--certificate-authority",
        folder / "ca.crt"},
       "--insecure-skip-tls-verify: cannot be combined with a certificate authority"},
      {"a CA that is not there",
       {"--kubeconfig", config, "--certificate-authority", folder / "gone.crt"},
       "--certificate-authority: "},
      {"a token that would forge a header",
       {"--kubeconfig", config, "--token", "s3cret\nX: y"},
       "--token: a space or a control character at byte 7, which a token cannot contain"},
      {"groups of nobody",
       {"--kubeconfig", config, "--as-group", "g"},
       "--as-group and --as-uid: have no effect without a user to impersonate (add --as USER)"},
      {"a user that would forge a header",
       {"--kubeconfig", config, "--as", "a\r\nX: y"},
       "--as: contains a control character, which names cannot have"},
      {"a time that is none",
       {"--kubeconfig", config, "--request-timeout", "soon"},
       "--request-timeout: \"soon\" is not a duration (write 30s, 2m or 1h; 0 means no timeout)"},
      {"a time", {"--kubeconfig", config, "--token", "good", "--request-timeout", "30s"}, nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto reported = Run(c.arguments);
    EXPECT_THAT(reported.err, Not(HasSubstr("s3cret")));
    if (c.fault == nullptr) {
      EXPECT_EQ(reported.code, 0);
      EXPECT_EQ(reported.err, "");
      EXPECT_EQ(reported.out, "no pods have a gate of mindgate\n");
    } else {
      EXPECT_EQ(reported.code, 2);
      EXPECT_THAT(reported.err, HasSubstr(c.fault));
    }
  }
}

TEST(Connection, ActsInTheNameOfOthers) {
  FakeApiServer server;
  const auto reported = Cli({"release-gates", "--all", "--dry-run", "-s", server.url(), "--as",
                             "dev", "--as-uid", "7", "--as-group", "team"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  const auto requests = server.Requests();
  ASSERT_FALSE(requests.empty());
  for (const auto& request : requests) {
    EXPECT_EQ(request.headers.at("impersonate-user"), "dev");
    EXPECT_EQ(request.headers.at("impersonate-uid"), "7");
    EXPECT_EQ(request.headers.at("impersonate-group"), "team");
  }
}

TEST(Connection, AKubeconfigMayNameSomebodyToo) {
  FakeApiServer server;
  TempFolder folder;
  folder.Write("config",
               "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
               "clusters: [{name: c, cluster: {server: '" +
                   server.url() +
                   "'}}]\nusers: [{name: u, user: {as: ops, as-groups: [admins], "
                   "as-user-extra: {Scopes: [view]}}}]\n");
  EXPECT_EQ(Cli({"release-gates", "--all", "--dry-run", "--kubeconfig", folder / "config"}).code,
            0);
  const auto headers = server.Requests().at(0).headers;
  EXPECT_EQ(headers.at("impersonate-user"), "ops");
  EXPECT_EQ(headers.at("impersonate-group"), "admins");
  EXPECT_EQ(headers.at("impersonate-extra-scopes"), "view");
  server.ForgetRequests();
  EXPECT_EQ(
      Cli({"release-gates", "--all", "--dry-run", "--kubeconfig", folder / "config", "--as", "dev"})
          .code,
      0);
  EXPECT_EQ(server.Requests().at(0).headers.at("impersonate-user"), "dev");
}

TEST(Connection, WarningsOfTheServerAreReportedOnce) {
  FakeApiServer server;
  kube::testing::HttpResponse answer;
  answer.body = R"({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []})";
  answer.headers = {{"Warning", "299 - \"v1 \\\"pods\\\" goes away\""},
                    {"Warning", "299 - \"v1 \\\"pods\\\" goes away\""},
                    {"Warning", "299 - \"red\x1b[31m\""}};
  server.AnswerNext(1, {.target_part = "/pods"}, answer);
  const auto reported = Cli({"release-gates", "--all", "--dry-run", "-s", server.url()});
  EXPECT_EQ(reported.code, 0);
  EXPECT_EQ(reported.out, "no pods have a gate of mindgate\n");
  EXPECT_EQ(reported.err, "Warning: v1 \"pods\" goes away\nWarning: red\\x1b[31m\n");
}

TEST(Connection, RequestTimeoutEndsACall) {
  FakeApiServer server;
  const auto gate = server.Hold({.target_part = "/pods"});
  const auto reported =
      Cli({"release-gates", "--all", "--dry-run", "-s", server.url(), "--request-timeout", "50ms"});
  gate->Release();
  EXPECT_EQ(reported.code, 2);
  EXPECT_THAT(reported.err, HasSubstr("no answer within 50 ms"));
}

TEST(Connection, TimesAsKubectlWritesThem) {
  using std::chrono::milliseconds;
  const std::vector<std::pair<std::string, std::optional<milliseconds>>> cases = {
      {"5s", milliseconds(5000)},
      {"7", milliseconds(7000)},
      {"1m30s", milliseconds(90'000)},
      {"500ms", milliseconds(500)},
      {"2h", std::chrono::hours(2)},
      {"0", std::chrono::hours(24 * 365)},
      {"0s", std::chrono::hours(24 * 365)},
      {"999999999h", std::chrono::hours(24 * 365)},
      {"", std::nullopt},
      {"s", std::nullopt},
      {"5x", std::nullopt},
      {"-5s", std::nullopt},
      {"1s5", std::nullopt},
      {"9999999999s", std::nullopt},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(kube::ParseRequestTimeout(text), want) << text;
}

}  // namespace
}  // namespace mindgate::cli
