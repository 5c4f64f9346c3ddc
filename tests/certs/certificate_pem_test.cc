#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "certs/certificate.h"
#include "support/certificates.h"

namespace mindgate::certs {
namespace {

using testing::KeyPem;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::Pem;

std::string CertificatesOf(std::string_view text) {
  const auto read = ReadCertificates(text);
  EXPECT_EQ(ERR_peek_error(), 0u) << "a later TLS call of this thread would stumble over it";
  return read ? std::to_string(read->size()) : read.error().message();
}

std::string KeyOf(std::string_view text) {
  const auto read = ReadKey(text);
  EXPECT_EQ(ERR_peek_error(), 0u);
  return read ? "a key" : read.error().message();
}

TEST(ReadCertificates, ReadsAllAndPassesOverTheRest) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(CertificatesOf(""), "0");
  EXPECT_EQ(CertificatesOf(std::string("\0\xff\x01 no text", 11)), "0");
  EXPECT_EQ(CertificatesOf(Pem(leaf)), "1");
  EXPECT_EQ(CertificatesOf("# a comment\n" + KeyPem(leaf) + Pem(leaf) + "\n\n" + Pem(authority)),
            "2");
}

TEST(ReadCertificates, RefusesHalfOfAChain) {
  const Identity authority = NewAuthority();
  const std::string whole = Pem(NewLeaf(authority)) + Pem(authority);
  const size_t second = whole.rfind("-----BEGIN");
  EXPECT_EQ(CertificatesOf(whole.substr(0, second)), "1");
  // Not one cut within the second block may pass for a chain of one.
  for (size_t size = second + 30; size < whole.size() - 30; size += 7) {
    EXPECT_EQ(CertificatesOf(whole.substr(0, size)), "certificate 2 is cut off or is not PEM");
  }
}

TEST(ReadCertificates, NamesABlockThatHoldsSomethingElse) {
  EXPECT_EQ(CertificatesOf("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"),
            "certificate 1 is PEM, but does not hold an X.509 certificate");
  EXPECT_EQ(CertificatesOf("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"),
            "certificate 1 is cut off or is not PEM");
}

TEST(ReadCertificates, HasALimit) {
  const std::string one = Pem(NewAuthority());
  std::string many;
  for (size_t i = 0; i < kMaxCertificates; ++i) many += one;
  EXPECT_EQ(CertificatesOf(many), "1000");
  EXPECT_EQ(CertificatesOf(many + one),
            "there are more than 1000 certificates, which is the limit");
}

TEST(ReadKey, ReadsWhatOthersWrite) {
  const KeyPtr rsa(EVP_RSA_gen(2048));
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey_traditional(bio, rsa.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  const std::string traditional(data, static_cast<size_t>(size));
  BIO_free(bio);
  EXPECT_THAT(traditional, ::testing::StartsWith("-----BEGIN RSA PRIVATE KEY-----"));
  EXPECT_EQ(KeyOf(traditional), "a key");
  const Identity authority = NewAuthority();
  EXPECT_EQ(KeyOf(Pem(authority) + KeyPem(authority)), "a key");
}

TEST(ReadKey, ReportsWhyNot) {
  const Identity authority = NewAuthority();
  const std::string key = KeyPem(authority);
  EXPECT_EQ(KeyOf(""), "no private key in the PEM text");
  EXPECT_EQ(KeyOf(Pem(authority)), "no private key in the PEM text");
  EXPECT_EQ(KeyOf(key.substr(0, key.size() / 2)), "the private key is damaged or cut off");
  EXPECT_EQ(KeyOf("-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"),
            "the private key is damaged or cut off");
}

// It must not wait for a passphrase on a terminal either.
TEST(ReadKey, RefusesAnEncryptedKey) {
  const Identity authority = NewAuthority();
  BIO* bio = BIO_new(BIO_s_mem());
  char passphrase[] = "secret";
  PEM_write_bio_PKCS8PrivateKey(bio, authority.key.get(), EVP_aes_256_cbc(), passphrase, 6, nullptr,
                                nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  EXPECT_EQ(KeyOf({data, static_cast<size_t>(size)}),
            "the private key is encrypted, and there is no way to enter its passphrase");
  BIO_free(bio);
}

}  // namespace
}  // namespace mindgate::certs
