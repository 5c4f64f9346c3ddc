#include "cli/console/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "support/environment.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::Variables;
using ::testing::HasSubstr;

std::vector<std::string> Parsed(const std::string& arguments) {
  CLI::App app;
  kube::AccessFlags flags;
  AddKubeFlags(app, flags);
  app.parse(arguments);
  return {flags.kubeconfig, flags.context,           flags.cluster,
          flags.user,       flags.default_namespace, flags.server};
}

// The rest of them, in one line.
std::string ParsedTrust(const std::string& arguments) {
  CLI::App app;
  kube::AccessFlags flags;
  AddKubeFlags(app, flags);
  app.parse(arguments);
  std::string text = flags.token + " " + flags.impersonation.user + " " + flags.impersonation.uid;
  for (const std::string& group : flags.impersonation.groups) text += " " + group;
  return text + " " + flags.certificate_authority + " " + flags.client_certificate + " " +
         flags.client_key + " " + flags.tls_server_name + (flags.insecure ? " insecure " : " ") +
         flags.request_timeout;
}

TEST(KubeFlags, AreThoseOfKubectl) {
  const std::vector<std::string> want = {"f", "x", "c", "u", "ns", "https://a"};
  EXPECT_EQ(Parsed("--kubeconfig f --context x --cluster c --user u --namespace ns "
                   "--server https://a"),
            want);
  EXPECT_EQ(Parsed("--kubeconfig=f --context=x --cluster=c --user=u -n ns -s https://a"), want);
  EXPECT_EQ(Parsed(""), std::vector<std::string>(6));
}

TEST(KubeFlags, WhoAndHow) {
  EXPECT_EQ(ParsedTrust("--token t --as a --as-uid u --as-group g --as-group h "
                        "--certificate-authority ca --client-certificate c --client-key k "
                        "--tls-server-name n --insecure-skip-tls-verify --request-timeout 5s"),
            "t a u g h ca c k n insecure 5s");
  const ChangedEnvironment environment(Variables{{"MINDGATE_TOKEN", "secret"},
                                                 {"MINDGATE_AS_GROUP", "g"},
                                                 {"MINDGATE_INSECURE_SKIP_TLS_VERIFY", "true"}});
  EXPECT_EQ(ParsedTrust(""), "secret   g     insecure ");
  CLI::App app;
  kube::AccessFlags flags;
  AddKubeFlags(app, flags);
  app.parse("");
  EXPECT_THAT(app.help(), ::testing::Not(HasSubstr("secret"))) << "help shows no token";
}

TEST(KubeFlags, EachHasAnEnvironmentVariable) {
  const ChangedEnvironment environment(Variables{{"MINDGATE_KUBECONFIG", "f"},
                                                 {"MINDGATE_CONTEXT", "x"},
                                                 {"MINDGATE_CLUSTER", "c"},
                                                 {"MINDGATE_USER", "u"},
                                                 {"MINDGATE_NAMESPACE", "ns"},
                                                 {"MINDGATE_SERVER", "https://a"},
                                                 {"KUBECONFIG", "a:b"}});
  EXPECT_EQ(Parsed(""), (std::vector<std::string>{"f", "x", "c", "u", "ns", "https://a"}));
  EXPECT_EQ(Parsed("-n mine")[4], "mine");
}

TEST(KubeFlags, KubeconfigIsNotTakenForOneFile) {
  const ChangedEnvironment environment(
      Variables{{"KUBECONFIG", "a:b"}, {"MINDGATE_KUBECONFIG", std::nullopt}});
  EXPECT_EQ(Parsed("")[0], "");
}

}  // namespace
}  // namespace mindgate::cli
