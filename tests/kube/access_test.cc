// Which source of credentials wins.
#include "kube/access.h"

#include <gtest/gtest.h>

#include "accesses.h"
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
using testing::Show;

struct SourceFixture : ::testing::Test {
  TempFolder folder;
  FakeClock clock;
  ChangedEnvironment nothing{Variables{{"KUBECONFIG", std::nullopt},
                                       {"HOME", folder / "home"},
                                       {"KUBERNETES_SERVICE_HOST", std::nullopt},
                                       {"KUBERNETES_SERVICE_PORT", std::nullopt}}};

  // A whole kubeconfig whose names all are `name`.
  void WriteConfig(const std::string& file, const std::string& name) {
    folder.Write(file, "current-context: " + name + "\nclusters: [{name: " + name +
                           ", cluster: {server: 'https://" + name + "'}}]\nusers: [{name: " + name +
                           ", user: {token: " + name + "}}]\ncontexts: [{name: " + name +
                           ", context: {cluster: " + name + ", user: " + name + ", namespace: of-" +
                           name + "}}]\n");
  }
  // With DIR for the folder.
  std::string Found(const AccessFlags& flags = {}) {
    return Replaced(Show(FindAccess(flags, clock)), folder.path(), "DIR");
  }
  std::string Want(const std::string& name, const std::string& file) {
    return "server=https://" + name + " namespace=of-" + name + "\nfrom context " + name +
           " of DIR/" + file + "\nshows token=" + name;
  }
};

TEST_F(SourceFixture, AFlagThenKubeconfigThenHome) {
  WriteConfig("home/.kube/config", "home");
  EXPECT_EQ(Found(), Want("home", "home/.kube/config"));
  WriteConfig("listed", "listed");
  const ChangedEnvironment list(Variables{{"KUBECONFIG", folder / "listed"}});
  EXPECT_EQ(Found(), Want("listed", "listed"));
  WriteConfig("named", "named");
  EXPECT_EQ(Found({.kubeconfig = folder / "named"}), Want("named", "named"));
  const ChangedEnvironment empty(Variables{{"KUBECONFIG", ""}});
  EXPECT_EQ(Found(), Want("home", "home/.kube/config")) << "an empty variable is none";
}

TEST_F(SourceFixture, AListOfFilesIsMergedAndWhatIsMissingSkipped) {
  WriteConfig("a", "a");
  WriteConfig("b", "b");
  const std::string list =
      ":" + folder / "gone" + ":" + folder / "a" + "::" + folder / "b" + ":" + folder / "a";
  const ChangedEnvironment environment(Variables{{"KUBECONFIG", list}});
  EXPECT_EQ(Found(), Want("a", "a"));
  EXPECT_EQ(Found({.context = "b"}), Want("b", "b"));
  EXPECT_EQ(Found({.cluster = "b", .user = "b"}),
            "server=https://b namespace=of-a\nfrom context a of DIR/a\nshows token=b");
}

TEST_F(SourceFixture, NoFileAtAll) {
  EXPECT_EQ(Found(),
            "Credentials: there is no file DIR/home/.kube/config, and this is not a pod: "
            "KUBERNETES_SERVICE_HOST is not set (give a kubeconfig: --kubeconfig FILE)");
  EXPECT_EQ(Found({.kubeconfig = folder / "gone"}),
            "Credentials: --kubeconfig: there is no file DIR/gone");
  EXPECT_EQ(Found({.context = "prod"}), "Credentials: there is no file DIR/home/.kube/config");
  {
    const ChangedEnvironment list(Variables{{"KUBECONFIG", folder / "one" + ":" + folder / "two"}});
    EXPECT_EQ(Found({.user = "me"}),
              "Credentials: KUBECONFIG: there is no file DIR/one, nor DIR/two");
  }
  {
    const ChangedEnvironment list(Variables{{"KUBECONFIG", ":"}});
    EXPECT_EQ(Found({.cluster = "c"}), "Credentials: KUBECONFIG does not name a kubeconfig");
  }
  const ChangedEnvironment homeless(Variables{{"HOME", std::nullopt}});
  EXPECT_EQ(Found({.context = "prod"}), "Credentials: HOME does not name a kubeconfig");
}

TEST_F(SourceFixture, APodHasItsServiceAccountWhenNoFlagNamesAKubeconfig) {
  const ChangedEnvironment pod(
      Variables{{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
  // This machine is no pod: the folder of the service account is missing.
  const std::string want =
      "Credentials: /var/run/secrets/kubernetes.io/serviceaccount/token: no such file";
  EXPECT_EQ(Found().substr(0, want.size()), want);
  EXPECT_EQ(Found({.default_namespace = "ns"}).substr(0, want.size()), want);
  EXPECT_EQ(Found({.context = "prod"}), "Credentials: there is no file DIR/home/.kube/config");
  WriteConfig("home/.kube/config", "home");
  EXPECT_EQ(Found(), Want("home", "home/.kube/config")) << "a file wins, as for kubectl";
}

// client-go's overrides: member by member, and what a flag replaces need not be right.
TEST_F(SourceFixture, FlagsWinMemberByMember) {
  folder.Write("ca.crt", testing::SharedMaterial().ca);
  folder.Write("me.crt", testing::SharedMaterial().certificate);
  folder.Write("me.key", testing::SharedMaterial().key);
  folder.Write("config",
               "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
               "clusters: [{name: c, cluster: {server: 'https://a', tls-server-name: b, "
               "certificate-authority: gone}}]\nusers: [{name: u, user: {token: t, as: root}}]\n");
  AccessFlags flags;
  flags.kubeconfig = folder / "config";
  const std::string from = " namespace=default\nfrom context x of DIR/config\nshows ";
  flags.insecure = true;
  EXPECT_EQ(Found(flags), "server=https://a tls=b insecure as=root" + from + "token=t");
  flags.insecure = false;
  flags.certificate_authority = folder / "ca.crt";
  EXPECT_EQ(Found(flags), "server=https://a authority=<ca> tls=b as=root" + from + "token=t");
  flags.tls_server_name = "d";
  flags.token = "mine";
  flags.impersonation = {.user = "dev", .uid = "7", .groups = {"g"}};
  EXPECT_EQ(Found(flags),
            "server=https://a authority=<ca> tls=d as=dev uid=7 group=g" + from + "token=mine");
  flags.client_certificate = folder / "me.crt";
  flags.client_key = folder / "me.key";
  EXPECT_EQ(Found(flags), "server=https://a authority=<ca> tls=d as=dev uid=7 group=g" + from +
                              "token=mine certificate=<certificate> key=<key>");
  // A name for another server's certificate says nothing about that of the flag.
  flags.tls_server_name = "";
  flags.server = "https://e";
  EXPECT_EQ(Found(flags), "server=https://e authority=<ca> as=dev uid=7 group=g" + from +
                              "token=mine certificate=<certificate> key=<key>");
}

TEST_F(SourceFixture, AServerAloneIsEnough) {
  EXPECT_EQ(Found({.default_namespace = "ns", .server = "http://127.0.0.1:8001"}),
            "server=http://127.0.0.1:8001 namespace=ns\nfrom --server\nshows nothing");
}

TEST_F(SourceFixture, AFileThatCannotBeReadIsNotSkipped) {
  folder.Write("folder/file", "");
  WriteConfig("good", "good");
  const ChangedEnvironment list(
      Variables{{"KUBECONFIG", folder / "folder" + ":" + folder / "good"}});
  EXPECT_EQ(Found(), "Credentials: DIR/folder: cannot be read: Is a directory");
}

}  // namespace
}  // namespace mindgate::kube
