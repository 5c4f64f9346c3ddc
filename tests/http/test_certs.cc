#include "http/test_certs.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "certs/certificate.h"

namespace mindgate::http::testing {
namespace {

certs::KeyPtr NewKey(KeyKind kind) {
  return certs::KeyPtr(kind == KeyKind::kEc ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048));
}

void Extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

certs::CertificatePtr Bare(const std::string& name, EVP_PKEY* key, long seconds) {
  certs::CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

TestCa::TestCa(const std::string& name, const TestCa* issuer)
    : key_(NewKey(KeyKind::kEc)), certificate_(Bare(name, key_.get(), 86400)) {
  X509* certificate = certificate_.get();
  X509* signer = issuer == nullptr ? certificate : issuer->certificate_.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  Extend(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
  Extend(certificate, signer, NID_key_usage, "critical,keyCertSign");
  X509_sign(certificate, issuer == nullptr ? key_.get() : issuer->key_.get(), EVP_sha256());
  pem_ = certs::WriteCertificate(certificate);
}

Identity TestCa::Issue(const std::string& name, KeyKind kind, long seconds) const {
  const certs::KeyPtr key = NewKey(kind);
  const certs::CertificatePtr certificate = Bare(name, key.get(), seconds);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  Extend(certificate.get(), certificate_.get(), NID_subject_alt_name, "DNS:" + name);
  Extend(certificate.get(), certificate_.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return {certs::WriteCertificate(certificate.get()), certs::WriteKey(key.get())};
}

std::shared_ptr<const certs::TlsMaterial> Material(const Identity& identity,
                                                   const TestCa* client_ca) {
  return Material(identity, client_ca == nullptr ? std::string() : client_ca->certificate());
}

std::shared_ptr<const certs::TlsMaterial> Material(const Identity& identity,
                                                   const std::string& client_ca) {
  auto material = certs::MakeTlsMaterial(identity.certificate, identity.key, client_ca);
  if (!material) {
    ADD_FAILURE() << material.error().message();
    return nullptr;
  }
  return *std::move(material);
}

}  // namespace mindgate::http::testing
