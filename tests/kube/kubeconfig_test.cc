// What good kubeconfigs say, as whole values.
#include "kube/kubeconfig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "accesses.h"
#include "certs/certificate.h"
#include "support/cli.h"
#include "support/environment.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::FakeClock;
using ::mindgate::testing::TempFolder;
using ::mindgate::testing::Variables;
using testing::Replaced;
using testing::SharedMaterial;
using testing::Show;
using testing::TestMaterial;

struct KubeconfigFixture : ::testing::Test {
  TempFolder folder;
  FakeClock clock;

  // The access that a list of files gives, with DIR for the folder.
  std::string Chosen(const std::vector<std::string>& names, const AccessFlags& flags = {}) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder / name);
    ConfigErrors errors;
    const Kubeconfig config = LoadKubeconfig(paths, errors);
    if (!errors.empty()) return "not loaded: " + errors.AsFault().message;
    return Replaced(Show(ChooseAccess(config, flags, clock)), folder.path(), "DIR");
  }
  // That of a file with these members of its one cluster and its one user.
  std::string ChosenOf(const std::string& cluster, const std::string& user) {
    folder.Write("config", "clusters: [{name: c, cluster: {" + cluster +
                               "}}]\nusers: [{name: u, user: {" + user +
                               "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                               "current-context: x\n");
    return Chosen({"config"});
  }
};

TEST_F(KubeconfigFixture, AsKubeadmWritesIt) {
  const TestMaterial& m = SharedMaterial();
  folder.Write("config", R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: )" +
                             certs::EncodeBase64(m.ca) + R"(
    server: https://10.0.0.1:6443
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: kubernetes-admin
  name: kubernetes-admin@kubernetes
current-context: kubernetes-admin@kubernetes
kind: Config
preferences: {}
users:
- name: kubernetes-admin
  user:
    client-certificate-data: )" +
                             certs::EncodeBase64(m.certificate) + R"(
    client-key-data: )" + certs::EncodeBase64(m.key) +
                             "\n");
  EXPECT_EQ(Chosen({"config"}),
            "server=https://10.0.0.1:6443 authority=<ca> namespace=default\n"
            "from context kubernetes-admin@kubernetes of DIR/config\n"
            "shows certificate=<certificate> key=<key>");
}

TEST_F(KubeconfigFixture, JsonAndUnknownMembersAreRead) {
  folder.Write("config", R"({"kind": "Config", "apiVersion": "v1", "current-context": "x", "new": 1,
    "clusters": [{"name": "c", "cluster": {"server": "https://a", "disable-compression": true,
                                           "future": []}}],
    "users": [], "contexts": [{"name": "x", "context": {"cluster": "c", "extensions": null}}]})");
  EXPECT_EQ(Chosen({"config"}),
            "server=https://a namespace=default\nfrom context x of DIR/config\nshows nothing");
}

TEST_F(KubeconfigFixture, EachMemberOfAClusterAndOfAUser) {
  const TestMaterial& m = SharedMaterial();
  folder.Write("pki/ca.crt", m.ca);
  folder.Write("pki/me.crt", m.certificate);
  folder.Write("pki/me.key", m.key);
  folder.Write("token", "of-file\n");
  const std::string from = "\nfrom context x of DIR/config\nshows ";
  const std::string plain = "server: 'https://a'";
  const struct {
    std::string cluster, user, want;
  } cases[] = {
      {plain, "token: t", "server=https://a namespace=default" + from + "token=t"},
      {plain + ", tls-server-name: api, proxy-url: 'socks5://p:1', insecure-skip-tls-verify: true",
       "",
       "server=https://a tls=api proxy=socks5://p:1 insecure namespace=default" + from + "nothing"},
      {plain + ", certificate-authority: pki/ca.crt", "",
       "server=https://a authority=<ca> namespace=default" + from + "nothing"},
      {plain + ", certificate-authority: gone, certificate-authority-data: " +
           certs::EncodeBase64(m.ca),
       "", "server=https://a authority=<ca> namespace=default" + from + "nothing"},
      {plain, "client-certificate: ./pki/me.crt, client-key: " + (folder / "pki/me.key"),
       "server=https://a namespace=default" + from + "certificate=<certificate> key=<key>"},
      {plain, "client-certificate: pki/me.crt, client-key-data: " + certs::EncodeBase64(m.key),
       "server=https://a namespace=default" + from + "certificate=<certificate> key=<key>"},
      {plain, "tokenFile: token", "server=https://a namespace=default" + from + "token=of-file"},
      {plain, "tokenFile: token, token: other",
       "server=https://a namespace=default" + from + "token=of-file"},
      {plain, "tokenFile: gone, token: other",
       "server=https://a namespace=default" + from + "token=other"},
      {plain, "token: t, exec: {command: not-run}",
       "server=https://a namespace=default" + from + "token=t"},
      {plain, "as: root, as-uid: '0', as-groups: [g, h], as-user-extra: {a: [b, c]}",
       "server=https://a as=root uid=0 group=g group=h a=b a=c namespace=default" + from +
           "nothing"},
      {plain, "as: '', as-groups: [], username: null, auth-provider: {}",
       "server=https://a namespace=default" + from + "nothing"},
      {"server: 'http://127.0.0.1:8001'", "token: secret",
       "server=http://127.0.0.1:8001 namespace=default\nfrom context x of DIR/config (no "
       "credentials are sent without TLS)\nshows nothing"},
  };
  for (const auto& c : cases) EXPECT_EQ(ChosenOf(c.cluster, c.user), c.want);
}

TEST_F(KubeconfigFixture, PathsCountFromTheFileThatHoldsThem) {
  folder.Write("one/config",
               "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
               "users: [{name: u, user: {tokenFile: ../secret/token}}]\n");
  folder.Write("two/config",
               "clusters: [{name: c, cluster: {server: 'https://a', certificate-authority: "
               "ca.crt}}]\n");
  folder.Write("two/ca.crt", SharedMaterial().ca);
  folder.Write("secret/token", "t");
  EXPECT_EQ(Chosen({"one/config", "two/config"}),
            "server=https://a authority=<ca> namespace=default\n"
            "from context x of DIR/one/config\nshows token=t");
  // Also where the file is named by a relative path, and the folder is left later.
  const mindgate::testing::Workspace workspace;
  workspace.Write("config",
                  "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                  "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
                  "users: [{name: u, user: {tokenFile: token}}]\n");
  workspace.Write("token", "first");
  ConfigErrors errors;
  const Kubeconfig config = LoadKubeconfig({"config"}, errors);
  const auto access = ChooseAccess(config, {}, clock);
  EXPECT_EQ(Show(access),
            "server=https://a namespace=default\nfrom context x of config\nshows token=first");
  workspace.Write("token", "second");
  std::filesystem::current_path("/");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(access->credentials->Get()), "token=second");
}

TEST_F(KubeconfigFixture, TheFirstFileWinsPerEntryAndEntriesAreNotMixed) {
  folder.Write("a",
               "current-context: x\n"
               "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
               "users: []\n");
  folder.Write("b",
               "current-context: z\n"
               "clusters: [{name: c, cluster: {server: 'https://b', tls-server-name: b}}]\n"
               "users: [{name: u, user: {token: of-b}}]\n"
               "contexts: [{name: x, context: {cluster: c, user: u}},\n"
               "           {name: z, context: {cluster: c, namespace: ns-b}}]\n");
  folder.Write("empty", "# nothing yet\n");
  folder.Write("only-context", "current-context: z\n");
  const std::string x =
      "server=https://a namespace=default\nfrom context x of DIR/b\nshows token=of-b";
  const std::string z = "server=https://a namespace=ns-b\nfrom context z of DIR/b\nshows nothing";
  EXPECT_EQ(Chosen({"a", "b"}), x);
  EXPECT_EQ(Chosen({"empty", "gone", "a", "b"}), x);
  EXPECT_EQ(Chosen({"only-context", "a", "b"}), z);
  EXPECT_EQ(Chosen({"b", "a"}),
            "server=https://b tls=b namespace=ns-b\nfrom context z of DIR/b\nshows nothing");
}

TEST_F(KubeconfigFixture, FlagsOverrideTheContext) {
  folder.Write("config", R"(
current-context: x
clusters:
- {name: c, cluster: {server: 'https://c', tls-server-name: c, certificate-authority: ca.crt}}
- {name: d, cluster: {server: 'https://d'}}
users:
- {name: u, user: {token: tu}}
- {name: v, user: {token: tv}}
contexts:
- {name: x, context: {cluster: c, user: u, namespace: nx}}
- {name: z, context: {cluster: d, user: v}}
)");
  folder.Write("ca.crt", SharedMaterial().ca);
  folder.Write("no-context", "clusters: [{name: d, cluster: {server: 'https://d'}}]\n");
  const struct {
    std::string file;
    AccessFlags flags;
    std::string want;
  } cases[] = {
      {"config",
       {.context = "z"},
       "server=https://d namespace=default\nfrom context z of DIR/config\nshows token=tv"},
      {"config",
       {.cluster = "d"},
       "server=https://d namespace=nx\nfrom context x of DIR/config\nshows token=tu"},
      {"config",
       {.user = "v", .default_namespace = "mine"},
       "server=https://c authority=<ca> tls=c namespace=mine\nfrom context x of DIR/config\n"
       "shows token=tv"},
      {"config",
       {.server = "https://e:1/"},
       "server=https://e:1 authority=<ca> namespace=nx\nfrom context x of DIR/config\n"
       "shows token=tu"},
      {"no-context",
       {.cluster = "d"},
       "server=https://d namespace=default\nfrom DIR/no-context\nshows nothing"},
      {"no-context",
       {.server = "https://e"},
       "server=https://e namespace=default\nfrom DIR/no-context\nshows nothing"},
  };
  for (const auto& c : cases) EXPECT_EQ(Chosen({c.file}, c.flags), c.want);
}

// A plugin that shows as its token what it was run with; without what a header cannot carry.
constexpr const char* kTrace =
    "#!/bin/sh\n"
    "token=$(printf '%s|%s|%s' \"$KUBERNETES_EXEC_INFO\" \"$REGION\" \"$*\" | tr -d '\"\\n' | tr ' "
    "' _)\n"
    "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1%s\",\"kind\":\"ExecCredential\","
    "\"status\":{\"token\":\"%s\"}}' \"$BETA\" \"$token\"\n";

TEST_F(KubeconfigFixture, ExecPluginsAreRun) {
  folder.Write("bin/trace-me", kTrace);
  ::chmod((folder / "bin/trace-me").c_str(), 0755);
  const std::string cluster =
      "server: 'https://a', tls-server-name: api, proxy-url: 'http://p', "
      "certificate-authority-data: " +
      certs::EncodeBase64(SharedMaterial().ca) +
      ", extensions: [{name: other, extension: 1}, "
      "{name: client.authentication.k8s.io/exec, extension: {region: north}}]";
  const std::string head =
      "server=https://a authority=<ca> tls=api proxy=http://p namespace=default\n"
      "from context x of DIR/config\nshows ";
  EXPECT_EQ(ChosenOf(cluster,
                     "exec: {apiVersion: client.authentication.k8s.io/v1, command: "
                     "bin/trace-me, args: [get, a b], env: [{name: REGION, value: south}], "
                     "interactiveMode: IfAvailable}"),
            head +
                "token={apiVersion:client.authentication.k8s.io/v1,kind:ExecCredential,spec:{"
                "interactive:false}}|south|get_a_b")
      << "a path counts from the file";
  const char* path = std::getenv("PATH");
  const ChangedEnvironment in_path(Variables{{"PATH", (folder / "bin") + ":" + path}});
  EXPECT_EQ(ChosenOf(cluster,
                     "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: trace-me, "
                     "args: null, env: [{name: BETA, value: beta1}], provideClusterInfo: true}"),
            head +
                "token={apiVersion:client.authentication.k8s.io/v1beta1,kind:ExecCredential,"
                "spec:{cluster:{certificate-authority-data:" +
                certs::EncodeBase64(SharedMaterial().ca) +
                ",config:{region:north},proxy-url:http://p,server:https://a,tls-server-name:api},"
                "interactive:false}}||")
      << "a name alone is found in PATH";
}

}  // namespace
}  // namespace mindgate::kube
