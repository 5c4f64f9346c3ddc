#include "certs/tls_material.h"

#include <openssl/err.h>

#include "certs/inspect.h"
#include "certs/pem.h"

namespace mindgate::certs {
namespace {

Result<std::vector<CertificatePtr>> ReadSome(std::string_view text, const std::string& what) {
  auto certificates = ReadCertificates(text);
  if (!certificates) {
    return tl::unexpected(std::move(certificates).error().While("reading " + what));
  }
  if (certificates->empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no certificate in the PEM text of " + what);
  }
  return certificates;
}

}  // namespace

Result<std::shared_ptr<const TlsMaterial>> MakeTlsMaterial(std::string_view chain,
                                                           std::string_view key,
                                                           std::string_view client_ca) {
  auto material = std::make_shared<TlsMaterial>();
  auto certificates = ReadSome(chain, "the serving certificate");
  if (!certificates) return tl::unexpected(std::move(certificates).error());
  material->chain = *std::move(certificates);
  auto private_key = ReadKey(key);
  if (!private_key) return tl::unexpected(std::move(private_key).error());
  material->key = *std::move(private_key);
  if (!IsKeyOf(material->key.get(), material->chain.front().get())) {
    return Fail(ErrorCode::kInvalidArgument, "the private key does not belong to the certificate");
  }
  if (!client_ca.empty()) {
    const auto authorities = ReadSome(client_ca, "the client CA");
    if (!authorities) return tl::unexpected(authorities.error());
    material->client_ca.reset(X509_STORE_new());
    // As in Go, an intermediate certificate is enough: whoever wrote it here trusts it.
    X509_STORE_set_flags(material->client_ca.get(), X509_V_FLAG_PARTIAL_CHAIN);
    for (const CertificatePtr& authority : *authorities) {
      X509_STORE_add_cert(material->client_ca.get(), authority.get());
    }
    ERR_clear_error();  // the same certificate twice is not an error
  }
  return material;
}

}  // namespace mindgate::certs
