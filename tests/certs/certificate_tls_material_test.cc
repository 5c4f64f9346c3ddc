#include <gtest/gtest.h>
#include <openssl/err.h>

#include "certs/certificate.h"
#include "support/certificates.h"

namespace mindgate::certs {
namespace {

using testing::KeyPem;
using testing::kNow;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::NewOdd;
using testing::OddRequest;
using testing::Pem;

std::string Made(const std::string& chain, const std::string& key, const std::string& client_ca) {
  const auto material = MakeTlsMaterial(chain, key, client_ca);
  EXPECT_EQ(ERR_peek_error(), 0u) << "a later TLS call of this thread would stumble over it";
  return material ? "made" : material.error().message();
}

TEST(MakeTlsMaterial, TakesPairsAndClientAuthorities) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  EXPECT_EQ(Made(Pem(leaf), KeyPem(leaf), ""), "made");
  EXPECT_EQ(Made(Pem(leaf) + Pem(authority), KeyPem(leaf), Pem(authority)), "made");
  EXPECT_EQ(Made(Pem(leaf), KeyPem(leaf), Pem(authority) + Pem(authority)), "made") << "twice";
}

TEST(MakeTlsMaterial, RefusesWhatNoHandshakeCanUse) {
  const Identity authority = NewAuthority();
  const Identity leaf = NewLeaf(authority);
  const std::string chain = Pem(leaf) + Pem(authority);
  const struct {
    const char* name;
    std::string chain, key, client_ca;
    const char* want;
  } cases[] = {
      {"nothing", "", "", "", "no certificate in the PEM text of the serving certificate"},
      {"half a chain", chain.substr(0, chain.size() - 100), KeyPem(leaf), "",
       "while reading the serving certificate: certificate 2 is cut off or is not PEM"},
      {"no key", chain, "", "", "no private key in the PEM text"},
      {"another key", chain, KeyPem(authority), "",
       "the private key does not belong to the certificate"},
      {"no client CA", chain, KeyPem(leaf), "rubbish",
       "no certificate in the PEM text of the client CA"},
      {"half a client CA", chain, KeyPem(leaf), chain.substr(0, chain.size() - 100),
       "while reading the client CA: certificate 2 is cut off or is not PEM"},
  };
  for (const auto& c : cases) EXPECT_EQ(Made(c.chain, c.key, c.client_ca), c.want) << c.name;
}

// Whether clients with this certificate are let in.
bool Verifies(const TlsMaterial& material, X509* client) {
  const std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), material.client_ca.get(), client, nullptr);
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context.get()),
                             kNow.time_since_epoch().count());
  return X509_verify_cert(context.get()) == 1;
}

TEST(MakeTlsMaterial, ClientAuthoritiesVouchForWhatTheySigned) {
  const Identity root = NewAuthority();
  OddRequest request;
  request.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
  const Identity other_root = NewOdd(nullptr, std::move(request));
  OddRequest below;
  below.common_name = "intermediate";
  below.extensions = {{NID_basic_constraints, "critical,CA:TRUE"}};
  const Identity intermediate = NewOdd(&other_root, std::move(below));
  const Identity leaf = NewLeaf(root);
  const Identity client = NewLeaf(root);
  const Identity client_below = NewLeaf(intermediate);

  const auto of_root = *MakeTlsMaterial(Pem(leaf), KeyPem(leaf), Pem(root));
  EXPECT_TRUE(Verifies(*of_root, client.certificate.get()));
  EXPECT_FALSE(Verifies(*of_root, client_below.certificate.get()));
  const auto halfway = *MakeTlsMaterial(Pem(leaf), KeyPem(leaf), Pem(intermediate));
  EXPECT_TRUE(Verifies(*halfway, client_below.certificate.get())) << "its root is not asked for";
  EXPECT_FALSE(Verifies(*halfway, client.certificate.get()));
}

}  // namespace
}  // namespace mindgate::certs
