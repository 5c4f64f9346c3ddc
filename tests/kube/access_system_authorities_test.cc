#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/access.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::TempFolder;

TEST(SystemAuthoritiesTest, AreFoundWhereEachDistributionKeepsThem) {
  for (const std::string place :
       {"etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt",
        "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/ssl/ca-bundle.pem",
        "etc/ssl/cert.pem"}) {
    TempFolder root;
    root.Write(place, "PEM");
    EXPECT_EQ(SystemAuthoritiesBelow(root.path()), root / place);
  }
}

TEST(SystemAuthoritiesTest, DebiansComeFirst) {
  TempFolder root;
  root.Write("etc/pki/tls/certs/ca-bundle.crt", "PEM");
  root.Write("etc/ssl/certs/ca-certificates.crt", "PEM");
  EXPECT_EQ(SystemAuthoritiesBelow(root.path()), root / "etc/ssl/certs/ca-certificates.crt");
}

TEST(SystemAuthoritiesTest, AFolderIsNoFileOfCertificates) {
  TempFolder root;
  root.Write("etc/ssl/certs/ca-certificates.crt/more", "PEM");
  EXPECT_EQ(SystemAuthoritiesBelow(root.path()), "");
}

TEST(SystemAuthoritiesTest, NoneIsFoundInAnEmptyRoot) {
  TempFolder root;
  EXPECT_EQ(SystemAuthoritiesBelow(root.path()), "");
}

}  // namespace
}  // namespace mindgate::kube
