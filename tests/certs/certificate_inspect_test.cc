#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "certs/certificate.h"
#include "support/certificates.h"
#include "support/openssl_tool.h"
#include "support/temp_folder.h"

namespace mindgate::certs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::NewOdd;
using testing::OddRequest;
using testing::RunOpenSsl;
using testing::TempFolder;

TEST(KeyName, NamesKindAndSize) {
  EXPECT_EQ(KeyName(KeyPtr(EVP_EC_gen("P-256")).get()), "ECDSA P-256");
  EXPECT_EQ(KeyName(KeyPtr(EVP_EC_gen("P-384")).get()), "ECDSA P-384");
  EXPECT_EQ(KeyName(KeyPtr(EVP_EC_gen("secp256k1")).get()), "ECDSA secp256k1");
  EXPECT_EQ(KeyName(KeyPtr(EVP_RSA_gen(1024)).get()), "RSA 1024");
  EXPECT_EQ(KeyName(KeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")).get()), "Ed25519");
  EXPECT_EQ(KeyName(nullptr), "unknown");
}

TEST(Describe, ReportsWhatTheOpenSslToolReports) {
  if (!testing::HasOpenSslTool()) GTEST_SKIP() << "no openssl command";
  const TempFolder folder;
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  folder.Write("a", testing::Pem(leaf));
  const Description described = Describe(leaf.certificate.get());
  EXPECT_EQ("sha256 Fingerprint=" + described.fingerprint + "\nserial=" + described.serial +
                "\nsubject=" + described.subject + "\nissuer=" + described.issuer +
                "\nnotBefore=Dec 31 23:55:00 2025 GMT\nnotAfter=Jan  1 00:00:00 2027 GMT\n",
            RunOpenSsl("x509 -noout -fingerprint -sha256 -serial -subject -issuer -dates "
                       "-nameopt RFC2253 -in " +
                       folder / "a"));
}

// Names end on terminals and in logs.
TEST(Describe, EscapesControlCharactersOfSubjects) {
  const Identity odd = NewOdd(nullptr, {.common_name = "a\x1b[31m\nb"});
  EXPECT_EQ(Describe(odd.certificate.get()).subject, "CN=a\\1B[31m\\0Ab");
}

TEST(Describe, SurvivesExtensionsThatCannotBeDecoded) {
  OddRequest request;
  request.extensions = {{NID_subject_alt_name, "DER:30:03:FF"},
                        {NID_ext_key_usage, "DER:01"},
                        {NID_basic_constraints, "DER:05"}};
  const Identity odd = NewOdd(nullptr, std::move(request));
  const Description described = Describe(odd.certificate.get());
  EXPECT_EQ(described.subject, "CN=odd");
  EXPECT_THAT(described.dns_names, ElementsAre());
  EXPECT_FALSE(described.is_ca);
}

TEST(Describe, ATimeThatIsNoneMakesItValidNever) {
  const Identity odd = NewOdd(nullptr, {});
  ASN1_STRING_set(X509_getm_notBefore(odd.certificate.get()), "never", 5);
  ASN1_STRING_set(X509_getm_notAfter(odd.certificate.get()), "never", 5);
  EXPECT_GT(NotBefore(odd.certificate.get()), testing::kNow);
  EXPECT_LT(NotAfter(odd.certificate.get()), testing::kNow);
}

TEST(NormalAddress, HasOneSpelling) {
  EXPECT_EQ(NormalAddress("fd00:0:0::0001"), "fd00::1");
  EXPECT_EQ(NormalAddress("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(NormalAddress("webhook"), "webhook");
}

}  // namespace
}  // namespace mindgate::certs
