#include "kube/pem.h"

#include <gtest/gtest.h>

#include "accesses.h"

namespace mindgate::kube {
namespace {

TEST(Base64, DecodesWhatGoDecodes) {
  // The vectors of RFC 4648, section 10.
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {std::string("\0\xff\xfe", 3), "AP/+"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYmFy\n"), "foobar") << "line ends anywhere";
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zm9vYg", "Zm 9v", "Zm9-",
                           "Z=g=", "Zg==Zm9v", "Zm8=Z", "-----BEGIN CERTIFICATE-----"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

TEST(Pem, CertificatesAndTheirFaults) {
  const TestMaterial& m = Material();
  const std::string cut = m.certificate.substr(0, m.certificate.size() / 2);
  const std::pair<std::string, std::string> cases[] = {
      {m.ca, ""},
      {m.certificate + m.ca, ""},
      {"a comment\n" + m.key + m.certificate, ""},
      {"", "holds no certificate in PEM"},
      {"hello", "holds no certificate in PEM"},
      {m.key, "holds no certificate in PEM"},
      {cut, "holds a certificate, number 1, that is damaged"},
      {m.ca + cut, "holds a certificate, number 2, that is damaged"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
       "holds a certificate, number 1, that is damaged"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(CertificatesFault(text), want) << text;
}

TEST(Pem, KeysAndTheirFaults) {
  const TestMaterial& m = Material();
  const std::pair<std::string, std::string> cases[] = {
      {m.key, ""},
      {m.certificate + m.key, ""},
      {"", "holds no private key in PEM"},
      {m.certificate, "holds no private key in PEM"},
      {m.key.substr(0, m.key.size() / 2), "holds a damaged key"},
      {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
       "holds an encrypted key, and nobody is there to type its passphrase"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(KeyFault(text), want) << text;
  EXPECT_TRUE(IsPair(m.certificate + m.ca, m.key));
  EXPECT_FALSE(IsPair(m.ca + m.certificate, m.key)) << "the key is that of the first";
  EXPECT_FALSE(IsPair(m.certificate, m.other_key));
  EXPECT_FALSE(IsPair("", ""));
}

TEST(Token, MustFitIntoAHeader) {
  EXPECT_EQ(TokenFault("eyJhbGciOi.J9_-~+/=:"), "");
  EXPECT_EQ(TokenFault(""), "");
  EXPECT_EQ(TokenFault("abc\r\nHost: evil"),
            "holds a space or a control character at byte 4, which no token has");
  EXPECT_EQ(TokenFault(std::string("a\0b", 3)),
            "holds a space or a control character at byte 2, which no token has");
}

}  // namespace
}  // namespace mindgate::kube
