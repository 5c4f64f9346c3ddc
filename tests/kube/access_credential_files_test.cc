#include <gtest/gtest.h>

#include <filesystem>

#include "accesses.h"
#include "kube/access.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::FakeClock;
using ::mindgate::testing::MountedSecret;
using ::mindgate::testing::TempFolder;
using testing::SharedMaterial;
using testing::Show;
using testing::TestMaterial;

struct TokenFixture : ::testing::Test {
  TempFolder folder;
  FakeClock clock;

  std::shared_ptr<CredentialSource> TokenSource(const std::string& now) {
    return MakeCredentialSource({.now = {now, "", ""}, .token_file = folder / "token"}, clock);
  }
};

TEST_F(TokenFixture, IsReadAgainAfterAMinute) {
  folder.Write("token", "second\n");
  const auto source = TokenSource("first");
  EXPECT_EQ(Show(source->Get()), "token=first");
  clock.Advance(std::chrono::milliseconds(59'999));
  EXPECT_EQ(Show(source->Get()), "token=first");
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Show(source->Get()), "token=second");
  folder.Write("token", "third");
  clock.Advance(std::chrono::seconds(59));
  EXPECT_EQ(Show(source->Get()), "token=second");
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Show(source->Get()), "token=third");
}

TEST_F(TokenFixture, IsReadAgainAtOnceWhenItIsRefused) {
  folder.Write("token", "second");
  const auto source = TokenSource("first");
  source->Refused({"one that somebody had long ago", "", ""});
  EXPECT_EQ(Show(source->Get()), "token=first");
  source->Refused({"first", "", ""});
  EXPECT_EQ(Show(source->Get()), "token=second");
  folder.Write("token", "third");
  EXPECT_EQ(Show(source->Get()), "token=second") << "it was refused once, and is new now";
}

TEST_F(TokenFixture, StaysWhileItsFileCannotBeRead) {
  const auto source = TokenSource("first");
  for (const char* bad : {"", " \n", "two words"}) {
    folder.Write("token", bad);
    clock.Advance(std::chrono::minutes(1));
    EXPECT_EQ(Show(source->Get()), "token=first");
  }
  std::filesystem::remove(folder / "token");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(source->Get()), "token=first");

  source->Refused({"first", "", ""});
  const std::string want = "Credentials: the server no longer accepts the credentials, and " +
                           folder.path() + "/token: no such file";
  EXPECT_EQ(Show(source->Get()), want);
  EXPECT_EQ(Show(source->Get()), want) << "a refused token is not given again";
  folder.Write("token", "second");
  EXPECT_EQ(Show(source->Get()), "token=second");
}

TEST_F(TokenFixture, IsFollowedThroughTheLinksOfAMount) {
  MountedSecret mount;
  mount.Update({{"token", "first"}});
  const auto source = MakeCredentialSource(
      {.now = {"first", "", ""}, .token_file = mount.path() + "/token"}, clock);
  mount.Update({{"token", "second"}});
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(source->Get()), "token=second");
}

TEST(CredentialFiles, FixedOnesAreGivenAgainAndAgain) {
  const FakeClock clock;
  const auto source = MakeCredentialSource({.now = {"fixed", "", ""}}, clock);
  source->Refused({"fixed", "", ""});
  EXPECT_EQ(Show(source->Get()), "token=fixed") << "there is nowhere else to look";
}

TEST(CredentialFiles, ACertificateAndItsKeyAreTakenUpTogether) {
  const TestMaterial& m = SharedMaterial();
  const auto authority = mindgate::testing::NewAuthority();
  const std::string new_certificate = mindgate::testing::Pem(authority);
  const std::string new_key = mindgate::testing::KeyPem(authority);
  const TempFolder folder;
  FakeClock clock;
  folder.Write("tls.crt", m.certificate);
  folder.Write("tls.key", m.key);
  const auto source = MakeCredentialSource({.now = {"", m.certificate, m.key},
                                            .certificate_file = folder / "tls.crt",
                                            .key_file = folder / "tls.key"},
                                           clock);
  folder.Write("tls.crt", new_certificate);
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(source->Get()), "certificate=<certificate> key=<key>") << "half of a change";
  folder.Write("tls.key", new_key);
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(source->Get().value(), (Credential{"", new_certificate, new_key}));

  folder.Write("tls.key", m.key);
  source->Refused({"", new_certificate, new_key});
  EXPECT_EQ(Show(source->Get()), "Credentials: the server no longer accepts the credentials, and " +
                                     folder.path() +
                                     "/tls.key: the key is not that of the client certificate");
}

TEST(CredentialFiles, TheClustersCaIsReadAgain) {
  const TestMaterial& m = SharedMaterial();
  const TempFolder folder;
  FakeClock clock;
  folder.Write("ca.crt", m.ca);
  const auto source = MakeCredentialSource(
      {.now = {.token = "t", .authority = m.ca}, .authority_file = folder / "ca.crt"}, clock);
  EXPECT_EQ(Show(source->Get()), "token=t trusts=<ca>");
  folder.Write("ca.crt", m.ca + m.certificate);
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(source->Get()), "token=t trusts=<ca><certificate>");
  folder.Write("ca.crt", "half a certif");
  clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Show(source->Get()), "token=t trusts=<ca><certificate>") << "the last good one";
}

TEST(CredentialFiles, WhatCannotBeUsedIsNamedWithoutItsContent) {
  const TempFolder folder;
  const std::string at = folder.path() + "/";
  folder.Write("words", "secret words");
  folder.Write("empty", "\n");
  folder.Write("large", std::string(64 * 1024 + 1, 'x'));
  folder.Write("larger", std::string(1024 * 1024 + 1, 'x'));
  folder.Write("folder/file", "");
  const auto text = [](const Answer<std::string>& answer) {
    return answer ? *answer : answer.error().message;
  };
  EXPECT_EQ(text(ReadTokenFile(at + "words")),
            at + "words: a space or a control character at byte 7, which a token cannot contain");
  EXPECT_EQ(text(ReadTokenFile(at + "empty")), at + "empty: is empty, but should hold a token");
  EXPECT_EQ(text(ReadTokenFile(at + "large")),
            at + "large: is larger than 65536 bytes, the most that is read");
  EXPECT_EQ(text(ReadTokenFile(at + "folder")), at + "folder: is a folder, not a file");
  EXPECT_EQ(text(ReadTokenFile(at + "gone")), at + "gone: no such file");
  EXPECT_EQ(text(ReadTokenFile("/dev/zero")), "/dev/zero: is not a regular file");
  EXPECT_EQ(text(ReadCertificatesFile(at + "words")), at + "words: no certificate in the PEM text");
  EXPECT_EQ(text(ReadCertificatesFile(at + "larger")),
            at + "larger: is larger than 1048576 bytes, the most that is read");
  EXPECT_EQ(text(ReadKeyFile(at + "words")), at + "words: no private key in the PEM text");
}

}  // namespace
}  // namespace mindgate::kube
