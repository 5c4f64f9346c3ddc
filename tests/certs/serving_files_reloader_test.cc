#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/files.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"
#include "support/certificates.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::certs {
namespace {

using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::KeyPem;
using testing::kNow;
using testing::kService;
using testing::MountedSecret;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::NewRsaLeaf;
using testing::Pem;
using testing::TempFolder;

// A folder with tls.crt, tls.key and clients.crt, and what a server makes of it.
struct Server {
  explicit Server(bool with_clients = false)
      : reloader({folder.path(), with_clients ? folder / "clients.crt" : "", {kService}}, clock,
                 target, [this](const char* what, const ReloadStatus& status) {
                   reports.push_back(what + (": " + status.error));
                 }) {}

  void Write(const Identity& leaf) {
    folder.Write("tls.crt", Pem(leaf));
    folder.Write("tls.key", KeyPem(leaf));
  }
  // The serial number of what is served, empty: nothing is.
  std::string Served() const {
    const auto material = target.Get();
    return material == nullptr ? "" : Describe(material->chain.front().get()).serial;
  }

  TempFolder folder;
  FakeClock clock;
  Snapshot<TlsMaterial> target;
  std::vector<std::string> reports;
  TlsReloader reloader;
};

std::string SerialOf(const Identity& leaf) { return Describe(leaf.certificate.get()).serial; }

TEST(TlsReloader, TakesUpANewPair) {
  Server server;
  const Identity authority = NewAuthority();
  const Identity ec = NewLeaf(authority);
  const Identity rsa = NewRsaLeaf(authority);
  server.Write(ec);
  EXPECT_TRUE(server.reloader.Reload());
  EXPECT_EQ(server.Served(), SerialOf(ec));
  EXPECT_FALSE(server.reloader.Reload());
  server.Write(rsa);
  EXPECT_TRUE(server.reloader.Reload());
  EXPECT_EQ(server.Served(), SerialOf(rsa));
  EXPECT_EQ(server.reloader.serving_status().swaps, 2u);
}

struct Bad {
  const char* name;
  std::function<void(Server&, const Identity& authority)> write;
  const char* want;
};

TEST(TlsReloader, KeepsTheOldPairWhateverComes) {
  const Bad table[] = {
      {"torn", [](Server& s, const Identity& a) { s.folder.Write("tls.key", KeyPem(NewLeaf(a))); },
       "tls.key: is not the key of the certificate in tls.crt"},
      {"half written",
       [](Server& s, const Identity& a) { s.folder.Write("tls.crt", Pem(a).substr(0, 99)); },
       "tls.crt: certificate 1 is cut off"},
      {"truncated", [](Server& s, const Identity&) { s.folder.Write("tls.crt", ""); },
       "tls.crt: is empty"},
      {"removed", [](Server& s, const Identity&) { std::filesystem::remove(s.folder / "tls.key"); },
       "tls.key: no such file"},
      {"expired",
       [](Server& s, const Identity& a) {
         s.Write(NewLeaf(a, [](LeafRequest& request) {
           request.now = kNow - std::chrono::days(2);
           request.life = std::chrono::days(1);
         }));
       },
       "expired at 2025-12-31T00:00:00Z"},
      {"not yet valid",
       [](Server& s, const Identity& a) {
         s.Write(
             NewLeaf(a, [](LeafRequest& request) { request.now = kNow + std::chrono::hours(1); }));
       },
       "is not valid before 2026-01-01T00:55:00Z"},
      {"wrong name",
       [](Server& s, const Identity& a) {
         s.Write(NewLeaf(a, [](LeafRequest& request) { request.dns_names = {"other.svc"}; }));
       },
       "is not for \"webhook.mindgate-system.svc\""},
      {"of a CA that clients do not trust",
       [](Server& s, const Identity& a) {
         s.folder.Write("ca.crt", Pem(a));
         s.Write(NewLeaf(NewAuthority()));
       },
       "ca.crt: none of its CAs vouches"},
      {"huge",
       [](Server& s, const Identity&) { s.folder.Write("tls.crt", std::string(2 << 20, 'a')); },
       "is larger than 1048576 bytes"},
  };
  const Identity authority = NewAuthority();
  const Identity good = NewLeaf(authority);
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.name);
    Server server;
    server.Write(good);
    ASSERT_TRUE(server.reloader.Reload());
    bad.write(server, authority);
    EXPECT_FALSE(server.reloader.Reload());
    EXPECT_EQ(server.Served(), SerialOf(good));
    EXPECT_EQ(server.reloader.serving_status().failures, 1u);
    EXPECT_THAT(server.reloader.serving_status().error, HasSubstr(bad.want));
    const Identity next = NewLeaf(authority);
    server.folder.Write("ca.crt", Pem(authority));
    server.Write(next);
    EXPECT_TRUE(server.reloader.Reload()) << "and goes on with the next good one";
    EXPECT_EQ(server.Served(), SerialOf(next));
    EXPECT_EQ(server.reloader.serving_status().error, "");
  }
}

TEST(TlsReloader, TakesUpACertificateOnceItIsValid) {
  Server server;
  server.Write(NewLeaf(NewAuthority(),
                       [](LeafRequest& request) { request.now = kNow + std::chrono::hours(1); }));
  EXPECT_FALSE(server.reloader.Reload());
  server.clock.Advance(std::chrono::minutes(55));
  EXPECT_TRUE(server.reloader.Reload());
}

TEST(TlsReloader, ServesNothingBeforePairAndClientAuthorityWereGood) {
  Server server(true);
  const Identity authority = NewAuthority();
  server.Write(NewLeaf(authority));
  EXPECT_FALSE(server.reloader.Reload());
  EXPECT_EQ(server.Served(), "") << "clients are to be verified";
  EXPECT_THAT(server.reloader.client_ca_status().error, HasSubstr("no such file"));
  server.folder.Write("clients.crt", Pem(authority));
  EXPECT_TRUE(server.reloader.Reload());
  EXPECT_NE(server.Served(), "");
}

TEST(TlsReloader, PairAndClientAuthorityAreTakenUpEachForItself) {
  Server server(true);
  const Identity authority = NewAuthority();
  const Identity clients = *CreateAuthority(kNow, std::chrono::days(30));
  const Identity next_clients = *CreateAuthority(kNow, std::chrono::days(60));
  server.Write(NewLeaf(authority));
  server.folder.Write("clients.crt", Pem(clients));
  ASSERT_TRUE(server.reloader.Reload());

  const Identity renewed = NewLeaf(authority);
  server.Write(renewed);
  server.folder.Write("clients.crt", "rubbish");
  EXPECT_TRUE(server.reloader.Reload());
  EXPECT_EQ(server.Served(), SerialOf(renewed)) << "a broken client CA holds nothing back";
  EXPECT_EQ(ExpiryOf(*server.target.Get()).client_ca, kNow + std::chrono::days(30));

  server.folder.Write("tls.key", "rubbish");
  server.folder.Write("clients.crt", Pem(next_clients));
  EXPECT_TRUE(server.reloader.Reload());
  EXPECT_EQ(server.Served(), SerialOf(renewed));
  EXPECT_EQ(ExpiryOf(*server.target.Get()).client_ca, kNow + std::chrono::days(60));
  EXPECT_EQ(server.reloader.serving_status().swaps, 2u);
  EXPECT_EQ(server.reloader.serving_status().failures, 1u);
  EXPECT_EQ(server.reloader.client_ca_status().swaps, 2u);
  EXPECT_EQ(server.reloader.client_ca_status().failures, 1u);
  EXPECT_EQ(server.reports.size(), 6u);
}

TEST(TlsReloader, NamesTheFoldersToWatch) {
  const FakeClock clock;
  Snapshot<TlsMaterial> target;
  const auto folders = [&](const std::string& client_ca) {
    return TlsReloader({"/certs", client_ca, {}}, clock, target).FoldersToWatch();
  };
  EXPECT_THAT(folders(""), ElementsAre("/certs"));
  EXPECT_THAT(folders("/clients/ca.crt"), ElementsAre("/certs", "/clients"));
  EXPECT_THAT(folders("ca.crt"), ElementsAre("/certs", "."));
}

// A Secret that is updated while readers take what is there: never a pair that does not fit, and
// the last version in the end.
TEST(TlsReloader, FollowsAMountedSecretWhileOthersRead) {
  const Identity authority = NewAuthority();
  const std::vector<Identity> leaves = [&] {
    std::vector<Identity> made;
    made.push_back(NewLeaf(authority));
    made.push_back(NewRsaLeaf(authority));
    return made;
  }();
  MountedSecret secret;
  const auto update = [&](size_t version) {
    const Identity& leaf = leaves[version % leaves.size()];
    secret.Update({{"tls.crt", Pem(leaf)}, {"tls.key", KeyPem(leaf)}, {"ca.crt", Pem(authority)}});
  };
  update(0);
  FakeClock clock;
  Snapshot<TlsMaterial> target;
  TlsReloader reloader({secret.path(), "", {kService}}, clock, target);
  DirectoryWatch watch({.folders = reloader.FoldersToWatch()}, clock, [&] { reloader.Reload(); });
  ASSERT_TRUE(reloader.Reload());
  std::atomic<bool> done = false;
  std::atomic<int> mismatches = 0;
  std::jthread reader([&] {
    while (!done) {
      const auto material = target.Get();
      if (X509_check_private_key(material->chain.front().get(), material->key.get()) != 1) {
        ++mismatches;
      }
      if (!ExpiryOf(*material).serving) ++mismatches;
    }
  });
  for (size_t version = 1; version <= 100; ++version) {
    update(version);
    watch.Step();
    clock.Advance(std::chrono::milliseconds(100));
    watch.Step();
    ASSERT_EQ(Describe(target.Get()->chain.front().get()).serial,
              SerialOf(leaves[version % leaves.size()]))
        << "version " << version;
  }
  done = true;
  reader.join();
  EXPECT_EQ(mismatches, 0);
  EXPECT_EQ(reloader.serving_status().swaps, 101u);
  EXPECT_EQ(reloader.serving_status().failures, 0u);
}

}  // namespace
}  // namespace mindgate::certs
