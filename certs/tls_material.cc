#include "certs/tls_material.h"

#include <openssl/err.h>

#include "certs/pem.h"

namespace mindgate::certs {

Result<std::shared_ptr<const TlsMaterial>> MakeTlsMaterial(std::string_view chain,
                                                           std::string_view key,
                                                           std::string_view client_ca) {
  auto material = std::make_shared<TlsMaterial>();
  auto certificates = ReadCertificates(chain);
  if (!certificates) return tl::unexpected(std::move(certificates).error());
  if (certificates->empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no certificate in the PEM text");
  }
  material->chain = *std::move(certificates);
  auto own_key = ReadKey(key);
  if (!own_key) return tl::unexpected(std::move(own_key).error());
  material->key = *std::move(own_key);
  if (X509_check_private_key(material->chain.front().get(), material->key.get()) != 1) {
    ERR_clear_error();
    return Fail(ErrorCode::kInvalidArgument, "the private key is not that of the certificate");
  }
  if (!client_ca.empty()) {
    const auto authorities = ReadCertificates(client_ca);
    if (!authorities) return tl::unexpected(authorities.error());
    if (authorities->empty()) {
      return Fail(ErrorCode::kInvalidArgument, "no certificate in the PEM text of the client CA");
    }
    material->client_ca.reset(X509_STORE_new());
    for (const CertificatePtr& authority : *authorities) {
      X509_STORE_add_cert(material->client_ca.get(), authority.get());
    }
    ERR_clear_error();  // the same certificate twice is no fault
  }
  return material;
}

}  // namespace mindgate::certs
