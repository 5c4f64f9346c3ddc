#include "certs/authority.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "base/text.h"
#include "certs/certificate.h"

namespace mindgate::certs {
namespace {

using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Deleter<BN_free>>;

// RFC 5280 allows 20 octets and wants positive numbers: 159 bits, as Go does.
constexpr int kSerialBits = 159;
constexpr size_t kMaxCommonName = 64;  // RFC 5280, ub-common-name
constexpr size_t kMaxDnsName = 253;

tl::unexpected<Error> FailInOpenSsl(const std::string& doing) {
  return Fail(ErrorCode::kInternal, "OpenSSL could not " + doing + ": " + OpenSslReason());
}

KeyPtr NewKey(KeyKind kind) {
  return KeyPtr(kind == KeyKind::kEcdsaP256 ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048));
}

bool IsDnsName(std::string_view name) {
  if (name.size() > kMaxDnsName) return false;
  if (name.starts_with("*.")) {
    name.remove_prefix(2);
    // A wildcard stands for one label of a domain, never for all of a top-level one.
    if (name.find('.') == std::string_view::npos) return false;
  }
  const auto labels = Split(name, '.');
  return std::all_of(labels.begin(), labels.end(),
                     [](std::string_view label) { return IsDns1123Label(label); });
}

using AddressPtr = std::unique_ptr<ASN1_OCTET_STRING, Deleter<ASN1_OCTET_STRING_free>>;

// Null: it is not an address.
AddressPtr ParseAddress(const std::string& text) {
  AddressPtr address(a2i_IPADDRESS(text.c_str()));
  ERR_clear_error();
  return address;
}

Result<void> CheckRequest(const LeafRequest& request) {
  for (const std::string& name : request.dns_names) {
    if (!IsDnsName(name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  Quote(name) + " is not a DNS name: lower-case letters, digits, '-' and '.'");
    }
  }
  for (const std::string& address : request.ip_addresses) {
    if (ParseAddress(address) == nullptr) {
      return Fail(ErrorCode::kInvalidArgument, Quote(address) + " is not an IP address");
    }
  }
  if (request.usage == LeafRequest::Usage::kServer && request.dns_names.empty() &&
      request.ip_addresses.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a serving certificate needs a DNS name or an IP address");
  }
  if (request.common_name.size() > kMaxCommonName) {
    return Fail(
        ErrorCode::kInvalidArgument,
        Quote(request.common_name) + " is longer than 64 characters, the limit for a common name");
  }
  if (request.life <= std::chrono::seconds(0)) {
    return Fail(ErrorCode::kInvalidArgument,
                "the validity of a certificate must be longer than 0 seconds");
  }
  return {};
}

Result<void> CheckAuthority(const Identity& authority, Time now) {
  if (authority.certificate == nullptr || authority.key == nullptr ||
      !IsKeyOf(authority.key.get(), authority.certificate.get())) {
    return Fail(ErrorCode::kInvalidArgument, "the key does not belong to the CA certificate");
  }
  if (X509_check_ca(authority.certificate.get()) == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "the certificate " + Title(authority.certificate.get()) + " is not a CA");
  }
  const Time end = NotAfter(authority.certificate.get());
  if (end <= now) {
    return Fail(ErrorCode::kInvalidArgument,
                "the CA " + Title(authority.certificate.get()) + " expired at " + FormatTime(end));
  }
  return {};
}

bool SetSerial(X509* certificate) {
  const NumberPtr number(BN_new());
  return BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetCommonName(X509* certificate, const std::string& name) {
  return name.empty() ||
         X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

// An extension in OpenSSL's own notation; only for values of ours, it has a syntax.
bool Extend(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// An authority made by others may have no identifier.
bool SetAuthorityKeyId(X509* certificate, X509* issuer) {
  return X509_get0_subject_key_id(issuer) == nullptr ||
         Extend(certificate, issuer, NID_authority_key_identifier, "keyid");
}

// Takes the value.
bool AddName(GENERAL_NAMES* names, int type, ASN1_STRING* value) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  if (value == nullptr || name == nullptr) {
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    return false;
  }
  GENERAL_NAME_set0_value(name, type, value);
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

bool SetNames(X509* certificate, const LeafRequest& request) {
  const NamesPtr names(sk_GENERAL_NAME_new_null());
  for (const std::string& name : request.dns_names) {
    ASN1_IA5STRING* value = ASN1_IA5STRING_new();
    if (value != nullptr) ASN1_STRING_set(value, name.data(), static_cast<int>(name.size()));
    if (!AddName(names.get(), GEN_DNS, value)) return false;
  }
  for (const std::string& address : request.ip_addresses) {
    if (!AddName(names.get(), GEN_IPADD, ParseAddress(address).release())) return false;
  }
  if (sk_GENERAL_NAME_num(names.get()) == 0) return true;
  // RFC 5280, 4.2.1.6: critical when there is no subject.
  const bool no_subject = X509_NAME_entry_count(X509_get_subject_name(certificate)) == 0;
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), no_subject ? 1 : 0, 0) ==
         1;
}

// All that a CA and a leaf have in common, with a new key in `identity`.
bool Begin(Identity& identity, KeyKind kind, const std::string& common_name, Time from,
           Time until) {
  identity.key = NewKey(kind);
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  return identity.key != nullptr && certificate != nullptr &&
         X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), from.time_since_epoch().count()) !=
             nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), until.time_since_epoch().count()) !=
             nullptr &&
         SetCommonName(certificate, common_name) &&
         X509_set_pubkey(certificate, identity.key.get()) == 1;
}

std::string CommonNameOf(const LeafRequest& request) {
  if (!request.common_name.empty() || request.dns_names.empty()) return request.common_name;
  const std::string& first = request.dns_names.front();
  return first.size() <= kMaxCommonName ? first : "";
}

}  // namespace

Result<Identity> CreateAuthority(Time now, std::chrono::seconds life) {
  if (life <= std::chrono::seconds(0)) {
    return Fail(ErrorCode::kInvalidArgument, "the validity of a CA must be longer than 0 seconds");
  }
  Identity authority;
  const std::string name = "mindgate-ca@" + std::to_string(now.time_since_epoch().count());
  if (!Begin(authority, KeyKind::kEcdsaP256, name, now - kClockSkew, now + life)) {
    return FailInOpenSsl("make a CA");
  }
  X509* certificate = authority.certificate.get();
  if (X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
      !Extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !Extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !Extend(certificate, certificate, NID_subject_key_identifier, "hash") ||
      X509_sign(certificate, authority.key.get(), EVP_sha256()) == 0) {
    return FailInOpenSsl("make a CA");
  }
  return authority;
}

Result<Identity> IssueLeaf(const Identity& authority, const LeafRequest& request) {
  if (auto fine = CheckRequest(request); !fine) return tl::unexpected(std::move(fine).error());
  if (auto fine = CheckAuthority(authority, request.now); !fine) {
    return tl::unexpected(std::move(fine).error());
  }
  Identity leaf;
  X509* issuer = authority.certificate.get();
  const Time until = std::min(request.now + request.life, NotAfter(issuer));
  if (!Begin(leaf, request.key, CommonNameOf(request), request.now - kClockSkew, until)) {
    return FailInOpenSsl("make a certificate");
  }
  X509* certificate = leaf.certificate.get();
  const bool is_server = request.usage == LeafRequest::Usage::kServer;
  if (X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1 ||
      !Extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !Extend(certificate, issuer, NID_key_usage, "critical,digitalSignature") ||
      !Extend(certificate, issuer, NID_ext_key_usage, is_server ? "serverAuth" : "clientAuth") ||
      !Extend(certificate, issuer, NID_subject_key_identifier, "hash") ||
      !SetAuthorityKeyId(certificate, issuer) || !SetNames(certificate, request) ||
      X509_sign(certificate, authority.key.get(), EVP_sha256()) == 0) {
    return FailInOpenSsl("make a certificate");
  }
  return leaf;
}

std::vector<std::string> ServiceNames(const std::string& service, const std::string& ns) {
  const std::string in_namespace = service + "." + ns;
  return {service, in_namespace, in_namespace + ".svc", in_namespace + ".svc.cluster.local"};
}

}  // namespace mindgate::certs
