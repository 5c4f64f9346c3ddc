#include <gtest/gtest.h>

#include "accesses.h"
#include "support/environment.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::FakeClock;
using ::mindgate::testing::MountedSecret;
using ::mindgate::testing::TempFolder;
using ::mindgate::testing::Variables;
using testing::SharedMaterial;
using testing::Show;

Variables Service(const char* host, const char* port) {
  return {{"KUBERNETES_SERVICE_HOST", host}, {"KUBERNETES_SERVICE_PORT", port}};
}

TEST(InCluster, ReadsWhatKubeletMounts) {
  const ChangedEnvironment pod(Service("10.96.0.1", "443"));
  FakeClock clock;
  MountedSecret mount;
  mount.Update(
      {{"token", "first"}, {"ca.crt", SharedMaterial().ca}, {"namespace", "mindgate-system"}});
  const auto access = InClusterAccess(clock, mount.path());
  const std::string want =
      "server=https://10.96.0.1:443 namespace=mindgate-system\n"
      "from the service account of this pod (" +
      mount.path() + ")\nshows token=";
  EXPECT_EQ(Show(access), want + "first trusts=<ca>");

  mount.Update(
      {{"token", "renewed"}, {"ca.crt", SharedMaterial().certificate}, {"namespace", "other"}});
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(access), want + "renewed trusts=<certificate>");
}

TEST(InCluster, AnIpv6AddressAndNoNamespace) {
  const ChangedEnvironment pod(Service("fd00:10:96::1", "6443"));
  const FakeClock clock;
  const TempFolder folder;
  folder.Write("token", "t\n");
  folder.Write("ca.crt", SharedMaterial().ca);
  EXPECT_EQ(Show(InClusterAccess(clock, folder.path())),
            "server=https://[fd00:10:96::1]:6443 namespace=default\n"
            "from the service account of this pod (" +
                folder.path() + ")\nshows token=t trusts=<ca>");
}

TEST(InCluster, AllThatIsMissingAtOnce) {
  const FakeClock clock;
  const TempFolder folder;
  const std::string files =
      folder.path() +
      "/token: no such file (the pod needs automountServiceAccountToken, or a projected "
      "volume there)\n" +
      folder.path() +
      "/ca.crt: no such file (it comes with the token, or from the ConfigMap "
      "kube-root-ca.crt)";
  {
    const ChangedEnvironment elsewhere(Variables{{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                                 {"KUBERNETES_SERVICE_PORT", std::nullopt}});
    EXPECT_EQ(Show(InClusterAccess(clock, folder.path())),
              "Credentials: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, "
              "as they are in every pod (outside a cluster, name a kubeconfig: --kubeconfig "
              "FILE)\n" +
                  files);
  }
  {
    const ChangedEnvironment pod(Service("10.96.0.1", "https"));
    EXPECT_EQ(Show(InClusterAccess(clock, folder.path())),
              "Credentials: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: "
              "\"https://10.96.0.1:https\" is not the URL of an API server\n" +
                  files);
  }
  const ChangedEnvironment pod(Service("10.96.0.1", "443"));
  EXPECT_EQ(Show(InClusterAccess(clock, folder.path())), "Credentials: " + files);
  folder.Write("token", "");
  folder.Write("ca.crt", "none");
  EXPECT_EQ(Show(InClusterAccess(clock, folder.path())),
            "Credentials: " + folder.path() +
                "/token: is empty, but should hold a token (the pod needs "
                "automountServiceAccountToken, or a projected volume there)\n" +
                folder.path() +
                "/ca.crt: no certificate in the PEM text (it comes with the token, or from the "
                "ConfigMap kube-root-ca.crt)");
}

}  // namespace
}  // namespace mindgate::kube
