#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "certs/authority.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"

namespace mindgate::testing {

inline constexpr std::chrono::days kDay(1);
// FakeClock begins here too.
inline constexpr Time kNow = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

inline constexpr const char* kService = "webhook.mindgate-system.svc";

inline certs::Identity NewAuthority(Time now = kNow) { return *certs::CreateAuthority(now); }

// A serving certificate for kService, changed by `change` before it is issued.
inline certs::Identity NewLeaf(const certs::Identity& authority,
                               const std::function<void(certs::LeafRequest&)>& change = {}) {
  certs::LeafRequest request;
  request.dns_names = {kService};
  request.now = kNow;
  if (change) change(request);
  auto leaf = certs::IssueLeaf(authority, request);
  if (!leaf) ADD_FAILURE() << leaf.error().message();
  return *std::move(leaf);
}

inline certs::Identity NewRsaLeaf(const certs::Identity& authority) {
  return NewLeaf(authority,
                 [](certs::LeafRequest& request) { request.key = certs::KeyKind::kRsa2048; });
}

// Certificates that mindgate would not issue but meets.
struct OddRequest {
  std::string common_name = "odd";
  certs::KeyPtr key = {};          // null: P-256
  const EVP_MD* digest = nullptr;  // null: SHA-256
  std::vector<std::pair<int, const char*>> extensions = {};
  std::chrono::days life{100};
};

// Null `issuer`: self-signed.
inline certs::Identity NewOdd(const certs::Identity* issuer, OddRequest request) {
  certs::Identity made;
  made.key = request.key ? std::move(request.key) : certs::KeyPtr(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 7);
  ASN1_TIME_set(X509_getm_notBefore(certificate), kNow.time_since_epoch().count());
  ASN1_TIME_set(X509_getm_notAfter(certificate),
                std::chrono::sys_seconds(kNow + request.life).time_since_epoch().count());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(request.common_name.data()),
                             static_cast<int>(request.common_name.size()), -1, 0);
  X509_set_pubkey(certificate, made.key.get());
  X509* signer = issuer == nullptr ? certificate : issuer->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  for (const auto& [nid, value] : request.extensions) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, signer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  const bool self_digesting =
      EVP_PKEY_is_a(issuer == nullptr ? made.key.get() : issuer->key.get(), "ED25519") == 1;
  X509_sign(certificate, issuer == nullptr ? made.key.get() : issuer->key.get(),
            self_digesting              ? nullptr
            : request.digest == nullptr ? EVP_sha256()
                                        : request.digest);
  return made;
}

inline std::string Pem(const certs::Identity& identity) {
  return certs::WriteCertificate(identity.certificate.get());
}

inline std::string KeyPem(const certs::Identity& identity) {
  return certs::WriteKey(identity.key.get());
}

inline certs::ServingFiles FilesOf(const certs::Identity& leaf,
                                   const certs::Identity* authority = nullptr) {
  return {Pem(leaf), KeyPem(leaf), authority == nullptr ? "" : Pem(*authority)};
}

}  // namespace mindgate::testing
