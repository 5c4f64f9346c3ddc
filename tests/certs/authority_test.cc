#include "certs/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/certificate.h"
#include "support/certificates.h"
#include "support/openssl_tool.h"
#include "support/temp_folder.h"

namespace mindgate::certs {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::HasOpenSslTool;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::KeyPem;
using testing::kNow;
using testing::kService;
using testing::NewAuthority;
using testing::NewLeaf;
using ::testing::Not;
using testing::Pem;
using testing::RunOpenSsl;
using testing::TempFolder;

TEST(CreateAuthority, IsAnEcdsaAuthorityForTenYears) {
  const Identity authority = NewAuthority();
  const Description made = Describe(authority.certificate.get());
  EXPECT_EQ(made.subject, "CN=mindgate-ca@1767225600");
  EXPECT_EQ(made.issuer, made.subject);
  EXPECT_EQ(made.key, "ECDSA P-256");
  EXPECT_EQ(made.signature, "ecdsa-with-SHA256");
  EXPECT_TRUE(made.is_ca);
  EXPECT_EQ(FormatTime(made.not_before), "2025-12-31T23:55:00Z");
  EXPECT_EQ(FormatTime(made.not_after), "2035-12-30T00:00:00Z");
}

TEST(IssueLeaf, IsForItsNamesAndForServersOnly) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority, [](LeafRequest& request) {
    request.dns_names = {kService, "*.example.com"};
    request.ip_addresses = {"10.0.0.1", "fd00::0:1"};
  });
  const Description made = Describe(leaf.certificate.get());
  EXPECT_EQ(made.subject, "CN=webhook.mindgate-system.svc");
  EXPECT_EQ(made.issuer, "CN=mindgate-ca@1767225600");
  EXPECT_THAT(made.dns_names, ElementsAre(kService, "*.example.com"));
  EXPECT_THAT(made.ip_addresses, ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_THAT(made.usages, ElementsAre("serverAuth"));
  EXPECT_FALSE(made.is_ca);
  EXPECT_EQ(FormatTime(made.not_before), "2025-12-31T23:55:00Z");
  EXPECT_EQ(FormatTime(made.not_after), "2027-01-01T00:00:00Z");
}

TEST(IssueLeaf, ClientsHaveTheirNameAndNoServerUsage) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority, [](LeafRequest& request) {
    request.usage = LeafRequest::Usage::kClient;
    request.common_name = "kube-apiserver";
    request.dns_names.clear();
  });
  const Description made = Describe(leaf.certificate.get());
  EXPECT_EQ(made.subject, "CN=kube-apiserver");
  EXPECT_THAT(made.usages, ElementsAre("clientAuth"));
  EXPECT_THAT(made.dns_names, IsEmpty());
}

TEST(IssueLeaf, NeverOutlivesItsAuthority) {
  const Identity authority = *CreateAuthority(kNow, 24h);
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(FormatTime(NotAfter(leaf.certificate.get())), "2026-01-02T00:00:00Z");
}

// A common name has at most 64 characters, names of Services may have more.
TEST(IssueLeaf, LongNamesStandInNoSubject) {
  const Identity authority = NewAuthority();
  const std::string name = std::string(63, 'a') + ".mindgate-system.svc";
  const Identity leaf =
      NewLeaf(authority, [&](LeafRequest& request) { request.dns_names = {name}; });
  const Description made = Describe(leaf.certificate.get());
  EXPECT_EQ(made.subject, "");
  EXPECT_THAT(made.dns_names, ElementsAre(name));
  EXPECT_THAT(CheckServing(testing::FilesOf(leaf, &authority), {kNow, {name}}), IsEmpty());
}

TEST(IssueLeaf, SerialNumbersAndKeysAreNeverTheSame) {
  const Identity authority = NewAuthority();
  const Identity one = NewLeaf(authority);
  const Identity two = NewLeaf(authority);
  EXPECT_NE(Describe(one.certificate.get()).serial, Describe(two.certificate.get()).serial);
  EXPECT_NE(KeyPem(one), KeyPem(two));
}

struct Refusal {
  const char* name;
  std::function<void(LeafRequest&)> change;
  const char* want;
};

TEST(IssueLeaf, RefusesWhatClientsWouldRefuse) {
  const Refusal refusals[] = {
      {"no name", [](LeafRequest& r) { r.dns_names.clear(); },
       "a serving certificate needs a DNS name or an IP address"},
      {"upper case", [](LeafRequest& r) { r.dns_names = {"Webhook.svc"}; },
       "\"Webhook.svc\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"empty label", [](LeafRequest& r) { r.dns_names = {"a..b"}; },
       "\"a..b\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"empty name", [](LeafRequest& r) { r.dns_names = {""}; },
       "\"\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"another value smuggled in", [](LeafRequest& r) { r.dns_names = {"a,DNS:evil"}; },
       "\"a,DNS:evil\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"a NUL", [](LeafRequest& r) { r.dns_names = {std::string("a\0b", 3)}; },
       "\"a\\x00b\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"wildcard of a top-level domain", [](LeafRequest& r) { r.dns_names = {"*.svc"}; },
       "\"*.svc\" is not a DNS name: lower-case letters, digits, '-' and '.'"},
      {"no address", [](LeafRequest& r) { r.ip_addresses = {"10.0.0.256"}; },
       "\"10.0.0.256\" is not an IP address"},
      {"no time", [](LeafRequest& r) { r.life = 0s; },
       "the validity of a certificate must be longer than 0 seconds"},
      {"long common name", [](LeafRequest& r) { r.common_name = std::string(65, 'a'); },
       "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" is longer than 64 "
       "characters, the limit for a common name"},
  };
  const Identity authority = NewAuthority();
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    LeafRequest request;
    request.dns_names = {kService};
    request.now = kNow;
    refusal.change(request);
    const auto leaf = IssueLeaf(authority, request);
    ASSERT_FALSE(leaf);
    EXPECT_EQ(leaf.error().message(), refusal.want);
  }
}

TEST(IssueLeaf, RefusesAnAuthorityThatCannotSign) {
  LeafRequest request;
  request.dns_names = {kService};
  request.now = kNow;
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(IssueLeaf(leaf, request).error().message(),
            "the certificate \"CN=webhook.mindgate-system.svc\" is not a CA");
  Identity mixed = NewAuthority();
  mixed.key = NewAuthority().key;
  EXPECT_EQ(IssueLeaf(mixed, request).error().message(),
            "the key does not belong to the CA certificate");
  EXPECT_EQ(IssueLeaf(Identity(), request).error().message(),
            "the key does not belong to the CA certificate");
  request.now = kNow + std::chrono::days(4000);
  EXPECT_EQ(IssueLeaf(authority, request).error().message(),
            "the CA \"CN=mindgate-ca@1767225600\" expired at 2035-12-30T00:00:00Z");
}

TEST(ServiceNames, AreAllThatTheClusterResolves) {
  EXPECT_THAT(ServiceNames("webhook", "ns"), ElementsAre("webhook", "webhook.ns", "webhook.ns.svc",
                                                         "webhook.ns.svc.cluster.local"));
}

// What another implementation makes of it.
TEST(Authority, TheOpenSslToolAgrees) {
  if (!HasOpenSslTool()) GTEST_SKIP() << "no openssl command";
  const TempFolder folder;
  const Identity authority = NewAuthority();
  folder.Write("ca.crt", Pem(authority));
  const std::string at = " -attime " + std::to_string(kNow.time_since_epoch().count());
  for (const KeyKind kind : {KeyKind::kEcdsaP256, KeyKind::kRsa2048}) {
    const Identity leaf = NewLeaf(authority, [kind](LeafRequest& request) {
      request.key = kind;
      request.ip_addresses = {"::1"};
    });
    folder.Write("tls.crt", Pem(leaf));
    folder.Write("tls.key", KeyPem(leaf));
    const std::string trust = " -x509_strict -CAfile " + folder / "ca.crt" + at;
    EXPECT_EQ(RunOpenSsl("verify -purpose sslserver -verify_hostname " + std::string(kService) +
                         trust + " " + folder / "tls.crt"),
              folder / "tls.crt" + ": OK\n");
    EXPECT_EQ(
        RunOpenSsl("verify -purpose sslserver -verify_ip ::1" + trust + " " + folder / "tls.crt"),
        folder / "tls.crt" + ": OK\n");
    EXPECT_THAT(RunOpenSsl("verify -purpose sslclient" + trust + " " + folder / "tls.crt"),
                HasSubstr("unsuitable certificate purpose"));
    EXPECT_THAT(RunOpenSsl("verify -verify_hostname other.svc" + trust + " " + folder / "tls.crt"),
                HasSubstr("hostname mismatch"));
    EXPECT_EQ(RunOpenSsl("pkey -in " + folder / "tls.key" + " -pubout"),
              RunOpenSsl("x509 -in " + folder / "tls.crt" + " -pubkey -noout"));
  }
  EXPECT_THAT(RunOpenSsl("x509 -noout -text -in " + folder / "ca.crt"),
              ::testing::AllOf(HasSubstr("CA:TRUE, pathlen:0"), HasSubstr("NIST CURVE: P-256"),
                               Not(HasSubstr("Digital Signature,"))));
}

}  // namespace
}  // namespace mindgate::certs
