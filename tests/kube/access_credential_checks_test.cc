#include <gtest/gtest.h>

#include "accesses.h"
#include "kube/access.h"

namespace mindgate::kube {
namespace {

using testing::SharedMaterial;
using testing::TestMaterial;

TEST(CredentialChecks, CertificatesAndTheirFaults) {
  const TestMaterial& m = SharedMaterial();
  const std::string cut = m.certificate.substr(0, m.certificate.size() / 2);
  const std::pair<std::string, std::string> cases[] = {
      {m.ca, ""},
      {m.certificate + m.ca, ""},
      {"a comment\n" + m.key + m.certificate, ""},
      {"", "no certificate in the PEM text"},
      {"hello", "no certificate in the PEM text"},
      {m.key, "no certificate in the PEM text"},
      {cut, "certificate 1 is cut off or is not PEM"},
      {m.ca + cut, "certificate 2 is cut off or is not PEM"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
       "certificate 1 is PEM, but does not hold an X.509 certificate"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(CertificatesFault(text), want) << text;
}

TEST(CredentialChecks, KeysAndTheirFaults) {
  const TestMaterial& m = SharedMaterial();
  const std::pair<std::string, std::string> cases[] = {
      {m.key, ""},
      {m.certificate + m.key, ""},
      {"", "no private key in the PEM text"},
      {m.certificate, "no private key in the PEM text"},
      {m.key.substr(0, m.key.size() / 2), "the private key is damaged or cut off"},
      {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
       "the private key is encrypted, and there is no way to enter its passphrase"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(KeyFault(text), want) << text;
  EXPECT_TRUE(IsPair(m.certificate + m.ca, m.key));
  EXPECT_FALSE(IsPair(m.ca + m.certificate, m.key)) << "the key is that of the first";
  EXPECT_FALSE(IsPair(m.certificate, m.other_key));
  EXPECT_FALSE(IsPair("", ""));
}

TEST(CredentialChecks, ATokenMustFitIntoAHeader) {
  EXPECT_EQ(TokenFault("eyJhbGciOi.J9_-~+/=:"), "");
  EXPECT_EQ(TokenFault(""), "");
  EXPECT_EQ(TokenFault("abc\r\nHost: evil"),
            "a space or a control character at byte 4, which a token cannot contain");
  EXPECT_EQ(TokenFault(std::string("a\0b", 3)),
            "a space or a control character at byte 2, which a token cannot contain");
}

}  // namespace
}  // namespace mindgate::kube
