// What is said about broken kubeconfigs, as whole messages.
#include <gtest/gtest.h>

#include "accesses.h"
#include "certs/certificate.h"
#include "kube/kubeconfig.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::FakeClock;
using ::mindgate::testing::TempFolder;
using testing::Replaced;
using testing::SharedMaterial;
using testing::TestMaterial;

struct FaultsFixture : ::testing::Test {
  TempFolder folder;
  FakeClock clock;

  // The faults of this text in a file named "f", with DIR for its folder.
  std::string Faults(const std::string& text, const AccessFlags& flags = {}) {
    folder.Write("f", text);
    ConfigErrors errors;
    const Kubeconfig config = LoadKubeconfig({folder / "f"}, errors);
    const Answer<Access> access = ChooseAccess(config, flags, clock);
    const std::string message = !errors.empty() ? errors.AsFault().message
                                : access        ? "none"
                                                : access.error().message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
    return Replaced(Replaced(message, folder.path() + "/f", "f"), folder.path(), "DIR");
  }
  // The same of one cluster or user; line 2 holds it from column 31 or 25 on.
  std::string OfCluster(const std::string& members) {
    return Faults("clusters:\n- {name: c, cluster: {" + members +
                  "}}\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n");
  }
  std::string OfUser(const std::string& members) {
    return Faults("users:\n- {name: u, user: {" + members +
                  "}}\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                  "clusters: [{name: c, cluster: {server: 'https://a'}}]\ncurrent-context: x\n");
  }
};

TEST_F(FaultsFixture, WhatIsNoKubeconfig) {
  const std::pair<std::string, std::string> cases[] = {
      {"",
       "f: current-context is not set (it defines no contexts either, so the kubeconfig is "
       "incomplete)"},
      {"# later\n",
       "f: current-context is not set (it defines no contexts either, so the kubeconfig is "
       "incomplete)"},
      {"clusters: [\n", "f:2:1: did not find expected node content while parsing a flow node"},
      {"hello",
       "f:1:1: the file must be an object with clusters, users and contexts, not a "
       "string"},
      {"[]", "f:1:1: the file must be an object with clusters, users and contexts, not a list"},
      {"kind: Pod\napiVersion: v1\n",
       "f:1:1: is \"v1\", kind \"Pod\", which is not a kubeconfig (a kubeconfig has apiVersion: v1 "
       "and "
       "kind: Config)"},
      {"clusters: {c: {}}\n", "f:1:1: clusters must be a list, not an object"},
      {"clusters: []\nusers: 5\ncontexts: no\ncurrent-context: 7\n",
       "f:2:8: users must be a list, not an integer\n"
       "f:3:11: contexts must be a list, not a boolean\n"
       "f:4:18: current-context must be a string, not an integer (put it in quotes)"},
      {"users: [{user: {}}, {name: 5}, u, {name: ''}]\n",
       "f:1:9: users[0] has no name\n"
       "f:1:28: users[1].name must be a string, not an integer (put it in quotes)\n"
       "f:1:32: users[2] must be an object, not a string\n"
       "f:1:42: users[3] has no name"},
      {"users:\n- {name: u, user: {}}\n- {name: u}\n",
       "f:3:3: users[1] has the name \"u\", which is already used at f:2:3 (remove or rename one "
       "of them)"},
      {"users: [{name: u, user: secret}]\n",
       "f:1:25: users[0].user must be an object, not a string"},
      {"users: [{name: u, user: {token: a, token: secret}}]\n",
       "f:1:36: key \"token\" is written twice (remove one; the first is on line 1)"},
      {std::string("a: \xff\n"), "f:1:4: byte 0xFF is not UTF-8 text (save the file as UTF-8)"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Faults(text), want) << text;
}

TEST_F(FaultsFixture, AFileHasABound) {
  EXPECT_EQ(Faults(std::string(7 * 1024 * 1024 + 1, '#')),
            "f: is larger than 7340032 bytes, the most that is read");
}

TEST_F(FaultsFixture, NamesThatLeadNowhere) {
  const std::string two =
      "clusters:\n- {name: prod, cluster: {server: 'https://a'}}\n"
      "users:\n- {name: admin, user: {}}\n"
      "contexts:\n- {name: prod, context: {cluster: prd, user: alice, namespace: My_Space}}\n"
      "- {name: good, context: {cluster: prod, user: admin}}\n"
      "- {name: none, context: {}}\n- {name: bare}\n- {name: odd, context: {cluster: 5}}\n";
  const struct {
    std::string text;
    AccessFlags flags;
    std::string want;
  } cases[] = {
      {two,
       {},
       "f: current-context is not set (choose one of \"bare\", \"good\", \"none\", \"odd\", "
       "\"prod\" with --context)"},
      {two + "current-context: gopd\n",
       {},
       "f:11:18: there is no context \"gopd\" (did you mean \"good\"?)"},
      {two,
       {.context = "else"},
       "--context: there is no context \"else\" (defined: \"bare\", \"good\", \"none\", \"odd\", "
       "\"prod\")"},
      {two,
       {.context = "prod"},
       "f:6:64: \"My_Space\" is not a valid namespace name (use at most 63 lower-case letters, "
       "digits and '-')\n"
       "f:6:35: there is no cluster \"prd\" (did you mean \"prod\"?)\n"
       "f:6:46: there is no user \"alice\" (defined: \"admin\")"},
      {two,
       {.context = "good", .cluster = "c", .user = "Admin", .default_namespace = "-"},
       "--namespace: \"-\" is not a valid namespace name (use at most 63 lower-case letters, "
       "digits and '-')\n--cluster: there is no cluster \"c\" (defined: \"prod\")\n"
       "--user: there is no user \"Admin\" (did you mean \"admin\"?)"},
      {two, {.context = "none"}, "f:8:16: contexts[2].context has no cluster"},
      {two, {.context = "bare"}, "f:9:3: contexts[3].context has no cluster"},
      {two,
       {.context = "odd"},
       "f:10:34: contexts[4].context.cluster must be a string, not an integer (put it in "
       "quotes)"},
      {two,
       {.server = "a:6443"},
       "--server: \"a:6443\" does not begin with https:// or http:// (write "
       "https://ADDRESS:PORT)"},
      {"current-context: x\n", {}, "f:1:18: there is no context \"x\" (none is defined)"},
      {"contexts: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}]\n",
       {.context = "else"},
       "--context: there is no context \"else\" (defined: \"a\", \"b\", \"c\", \"d\", \"e\", ...)"},
  };
  for (const auto& c : cases) EXPECT_EQ(Faults(c.text, c.flags), c.want);
}

TEST_F(FaultsFixture, OfAServerAndItsAuthority) {
  const TestMaterial& m = SharedMaterial();
  folder.Write("ca.crt", m.ca);
  const std::pair<std::string, std::string> cases[] = {
      {"", "f:2:13: clusters[0].cluster has no server (write https://ADDRESS:PORT)"},
      {"server: ''", "f:2:31: clusters[0].cluster has no server (write https://ADDRESS:PORT)"},
      {"server: 6443",
       "f:2:31: clusters[0].cluster.server must be a string, not an integer (put it in quotes)"},
      {"server: 'https://me:secret@a'",
       "f:2:31: the server's URL holds a user name or an @ (write https://ADDRESS:PORT; "
       "credentials belong to a user)"},
      {"server: 'https://a', insecure-skip-tls-verify: 'true', tls-server-name: [a]",
       "f:2:70: clusters[0].cluster.insecure-skip-tls-verify must be true or false, not a string\n"
       "f:2:78: clusters[0].cluster.tls-server-name must be a string, not a list"},
      {"server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: ca.crt",
       "f:2:70: clusters[0].cluster has both a certificate authority and "
       "insecure-skip-tls-verify, which ignores it (remove insecure-skip-tls-verify)"},
      {"server: 'https://a', certificate-authority: gone.crt",
       "f:2:67: clusters[0].cluster.certificate-authority: DIR/gone.crt: no such file"},
      {"server: 'https://a', certificate-authority: f",
       "f:2:67: clusters[0].cluster.certificate-authority: f: no certificate in the PEM text"},
      {"server: 'https://a', certificate-authority-data: '%%%'",
       "f:2:72: clusters[0].cluster.certificate-authority-data: not base64: write the PEM text "
       "base64-encoded"},
      {"server: 'https://a', certificate-authority-data: c2VjcmV0",
       "f:2:72: clusters[0].cluster.certificate-authority-data: no certificate in the PEM text"},
      {"server: 'https://a', proxy-url: 'proxy:3128'",
       "f:2:55: clusters[0].cluster.proxy-url is not a proxy URL (it must start with http://, "
       "https:// or socks5://)"},
  };
  for (const auto& [cluster, want] : cases) EXPECT_EQ(OfCluster(cluster), want);
}

TEST_F(FaultsFixture, OfAUser) {
  const TestMaterial& m = SharedMaterial();
  folder.Write("me.crt", m.certificate);
  folder.Write("me.key", m.key);
  folder.Write("other.key", m.other_key);
  folder.Write("words", "secret words");
  const std::string password =
      ": Kubernetes 1.19 removed authentication by password (use a token, a client certificate or "
      "an exec plugin)";
  const std::pair<std::string, std::string> cases[] = {
      {"token: 5",
       "f:2:27: users[0].user.token must be a string, not an integer (put it in "
       "quotes)"},
      {"token: 'secret '",
       "f:2:27: users[0].user.token: a space or a control character at "
       "byte 7, which a token cannot contain"},
      {"tokenFile: gone", "f:2:31: users[0].user.tokenFile: DIR/gone: no such file"},
      {"tokenFile: words",
       "f:2:31: users[0].user.tokenFile: DIR/words: a space or a control character at byte "
       "7, which a token cannot contain"},
      {"username: me, password: secret",
       "f:2:30: users[0].user.username" + password + "\nf:2:44: users[0].user.password" + password},
      {"auth-provider: {name: gcp}",
       "f:2:20: users[0].user.auth-provider: Kubernetes 1.26 removed authentication providers (use "
       "an exec plugin, such as gke-gcloud-auth-plugin or kubelogin)"},
      {"as-uid: '0', as-groups: [g, 5]",
       "f:2:48: users[0].user.as-groups[1] must be a string, not an integer (put it in quotes)\n"
       "f:2:13: users[0].user impersonates groups without a user (add as: USER)"},
      {"as: \"a\\r\\nX: y\"",
       "f:2:24: users[0].user.as: contains a control character, which names cannot have"},
      {"client-certificate: me.crt",
       "f:2:40: users[0].user has a client certificate without its key (add client-key or "
       "client-key-data)"},
      {"client-key: me.key",
       "f:2:32: users[0].user has a client key without its certificate (add client-certificate or "
       "client-certificate-data)"},
      {"client-certificate: me.crt, client-key: other.key",
       "f:2:60: users[0].user: the client key does not match the client certificate"},
      {"client-certificate: gone, client-key: words",
       "f:2:40: users[0].user.client-certificate: DIR/gone: no such file\n"
       "f:2:58: users[0].user.client-key: DIR/words: no private key in the PEM text"},
      {"client-certificate-data: c2VjcmV0, client-key-data: secret",
       "f:2:45: users[0].user.client-certificate-data: no certificate in the PEM text\nf:2:72: "
       "users[0].user.client-key-data: not base64: write the PEM text base64-encoded"},
      {"exec: secret", "f:2:26: users[0].user.exec must be an object, not a string"},
  };
  for (const auto& [user, want] : cases) EXPECT_EQ(OfUser(user), want);
}

TEST_F(FaultsFixture, OfAnExecPlugin) {
  const std::string versions =
      " (write \"client.authentication.k8s.io/v1\" or \"client.authentication.k8s.io/v1beta1\", "
      "depending on the plugin)";
  const std::string modes = " (write interactiveMode: Never or IfAvailable)";
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const std::pair<std::string, std::string> cases[] = {
      {"command: ''",
       "f:2:36: users[0].user.exec has no command (set it to the program that prints the "
       "credentials)\nf:2:20: users[0].user.exec has no apiVersion" +
           versions},
      {"command: a, apiVersion: client.authentication.k8s.io/v1alpha1",
       "f:2:51: users[0].user.exec has apiVersion \"client.authentication.k8s.io/v1alpha1\", "
       "which is not supported" +
           versions},
      {v1 + "command: a", "f:2:20: users[0].user.exec has no interactiveMode" + modes},
      {v1 + "command: a, interactiveMode: Always",
       "f:2:101: users[0].user.exec requires interactive login, which is not supported" + modes},
      {v1 + "command: a, interactiveMode: never",
       "f:2:101: users[0].user.exec has an unknown interactiveMode, \"never\"" + modes},
      {v1 + "interactiveMode: Never, command: [a], args: a, env: {A: secret}, installHint: 5, "
            "provideClusterInfo: 'yes'",
       "f:2:96: users[0].user.exec.command must be a string, not a list\n"
       "f:2:116: users[0].user.exec.args must be a list, not a string\n"
       "f:2:119: users[0].user.exec.env must be a list, not an object\n"
       "f:2:150: users[0].user.exec.installHint must be a string, not an integer (put it in "
       "quotes)\n"
       "f:2:173: users[0].user.exec.provideClusterInfo must be true or false, not a string"},
      {v1 + "interactiveMode: Never, command: a, args: [1, b], env: [c, {value: secret}, "
            "{name: 'A=B'}, {name: A, value: 1}]",
       "f:2:115: users[0].user.exec.args[0] must be a string, not an integer (put it in quotes)\n"
       "f:2:128: users[0].user.exec.env[0] must be an object with name and value, not a string\n"
       "f:2:131: users[0].user.exec.env[1] has an empty or invalid name\n"
       "f:2:148: users[0].user.exec.env[2] has an empty or invalid name\n"
       "f:2:180: users[0].user.exec.env[3].value must be a string, not an integer (put it in "
       "quotes)"},
  };
  for (const auto& [exec, want] : cases) EXPECT_EQ(OfUser("exec: {" + exec + "}"), want);
}

TEST_F(FaultsFixture, AreListedTogetherUpToTwenty) {
  std::string text = "users:\n";
  for (int i = 0; i < 25; ++i) text += "- {}\n";
  std::string want;
  for (int i = 0; i < 20; ++i) {
    want += "f:" + std::to_string(i + 2) + ":3: users[" + std::to_string(i) + "] has no name\n";
  }
  EXPECT_EQ(Faults(text), want + "and 5 more");
}

TEST_F(FaultsFixture, OnlyWhatIsChosenIsChecked) {
  EXPECT_EQ(Faults("clusters:\n- {name: c, cluster: {server: 'https://a'}}\n- {name: d, cluster: "
                   "{server: 5}}\nusers: [{name: u, user: {as: root}}]\n"
                   "contexts: [{name: x, context: {cluster: c}}, {name: z, context: {cluster: "
                   "d}}]\ncurrent-context: x\n"),
            "none");
}

}  // namespace
}  // namespace mindgate::kube
