#include "certs/tls_material.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace mindgate::certs {
namespace {

using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;

// A key file with a passphrase must fail, and not ask on a terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<CertificatePtr> ReadCertificates(std::string_view text) {
  const BioPtr bio = Reader(text);
  std::vector<CertificatePtr> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();  // reading ends with "no start line"
  return certificates;
}

}  // namespace

Result<std::shared_ptr<const TlsMaterial>> MakeTlsMaterial(std::string_view chain,
                                                           std::string_view key,
                                                           std::string_view client_ca) {
  auto material = std::make_shared<TlsMaterial>();
  material->chain = ReadCertificates(chain);
  if (material->chain.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no certificate in the PEM text");
  }
  const BioPtr key_bio = Reader(key);
  material->key.reset(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (material->key == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "no private key in the PEM text");
  }
  if (X509_check_private_key(material->chain.front().get(), material->key.get()) != 1) {
    ERR_clear_error();
    return Fail(ErrorCode::kInvalidArgument, "the private key is not that of the certificate");
  }
  if (!client_ca.empty()) {
    const auto authorities = ReadCertificates(client_ca);
    if (authorities.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "no certificate in the PEM text of the client CA");
    }
    material->client_ca.reset(X509_STORE_new());
    for (const CertificatePtr& authority : authorities) {
      X509_STORE_add_cert(material->client_ca.get(), authority.get());
    }
    ERR_clear_error();  // the same certificate twice is no fault
  }
  return material;
}

}  // namespace mindgate::certs
