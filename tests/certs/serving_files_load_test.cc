#include <gtest/gtest.h>
#include <sys/stat.h>

#include "certs/serving_files.h"
#include "support/certificates.h"
#include "support/temp_folder.h"

namespace mindgate::certs {
namespace {

using testing::KeyPem;
using testing::kNow;
using testing::MountedSecret;
using testing::NewLeaf;
using testing::Pem;
using testing::TempFolder;

TEST(ReadServingFiles, ReadsAFolder) {
  const TempFolder folder;
  folder.Write("tls.crt", "chain");
  folder.Write("tls.key", "key");
  EXPECT_EQ(*ReadServingFiles(folder.path()), (ServingFiles{"chain", "key", ""}));
  folder.Write("ca.crt", "authority");
  EXPECT_EQ(*ReadServingFiles(folder.path()), (ServingFiles{"chain", "key", "authority"}));
}

TEST(ReadServingFiles, ReportsWhatCannotBeRead) {
  const TempFolder folder;
  const auto message = [](const std::string& path) {
    return ReadServingFiles(path).error().message();
  };
  EXPECT_EQ(message(folder / "missing"),
            "the folder " + folder / "missing" + " cannot be opened: No such file or directory");
  EXPECT_EQ(message(folder.path()), folder / "tls.crt" + ": no such file");
  folder.Write("tls.crt", "chain");
  EXPECT_EQ(message(folder / "tls.crt"),
            "the folder " + folder / "tls.crt" + " cannot be opened: Not a directory");
  EXPECT_EQ(message(folder.path()), folder / "tls.key" + ": no such file");
  folder.Write("tls.key", std::string(kLargestFile + 1, 'a'));
  EXPECT_EQ(message(folder.path()),
            folder / "tls.key" + ": is larger than 1048576 bytes, the most that is read");
  folder.Write("tls.key", "key");
  ASSERT_EQ(::mkfifo((folder / "ca.crt").c_str(), 0600), 0);
  EXPECT_EQ(message(folder.path()), folder / "ca.crt" + ": is not a regular file");
}

// Through the links of the mount, tls.crt and tls.key may come from two versions; here the link of
// one of them is stuck at an old version on purpose.
TEST(ReadServingFiles, ReadsAMountedSecretFromOneVersion) {
  MountedSecret secret;
  secret.Update({{"tls.crt", "chain 1"}, {"tls.key", "key 1"}, {"ca.crt", "authority 1"}});
  std::filesystem::remove(secret.path() + "/tls.crt");
  std::ofstream(secret.path() + "/tls.crt") << "of another version";
  secret.Update({{"tls.crt", "chain 2"}, {"tls.key", "key 2"}, {"ca.crt", "authority 2"}});
  EXPECT_EQ(*ReadServingFiles(secret.path()), (ServingFiles{"chain 2", "key 2", "authority 2"}));
}

TEST(ExpiryOf, IsTheFirstOfTheChainAndTheLastOfTheClientAuthorities) {
  const Identity authority = *CreateAuthority(kNow, std::chrono::days(30));
  const Identity longer = *CreateAuthority(kNow, std::chrono::days(60));
  const Identity leaf =
      NewLeaf(authority, [](LeafRequest& request) { request.life = std::chrono::days(10); });
  const auto end = [](const std::optional<Time>& time) {
    return time ? FormatTime(*time) : std::string("none");
  };
  const auto both =
      *MakeTlsMaterial(Pem(leaf) + Pem(authority), KeyPem(leaf), Pem(authority) + Pem(longer));
  EXPECT_EQ(end(ExpiryOf(*both).serving), "2026-01-11T00:00:00Z");
  EXPECT_EQ(end(ExpiryOf(*both).client_ca), "2026-03-02T00:00:00Z");
  const auto serving = *MakeTlsMaterial(Pem(leaf), KeyPem(leaf), "");
  EXPECT_EQ(end(ExpiryOf(*serving).client_ca), "none");
}

}  // namespace
}  // namespace mindgate::certs
