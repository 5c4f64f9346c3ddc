#include "certs/inspect.h"

#include <arpa/inet.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>

#include "base/text.h"
#include "certs/tls_material.h"

namespace mindgate::certs {
namespace {

using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using UsagesPtr = std::unique_ptr<EXTENDED_KEY_USAGE, Deleter<EXTENDED_KEY_USAGE_free>>;

std::string NameText(const X509_NAME* name) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  // Control characters escaped: the text ends on terminals and in logs.
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string Hex(const unsigned char* data, size_t size, const char* separator) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) text += separator;
    text += kDigits[data[i] >> 4];
    text += kDigits[data[i] & 15];
  }
  return text;
}

std::string StringOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressText(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const int size = ASN1_STRING_length(address);
  const int family = size == 4 ? AF_INET : AF_INET6;
  if ((size != 4 && size != 16) ||
      inet_ntop(family, ASN1_STRING_get0_data(address), buffer.data(), buffer.size()) == nullptr) {
    return "an address of " + std::to_string(size) + " bytes";
  }
  return buffer.data();
}

void AddNames(X509* certificate, Description& description) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) description.dns_names.push_back(StringOf(name->d.dNSName));
    if (name->type == GEN_IPADD) description.ip_addresses.push_back(AddressText(name->d.iPAddress));
  }
}

void AddUsages(X509* certificate, Description& description) {
  const UsagesPtr usages(static_cast<EXTENDED_KEY_USAGE*>(
      X509_get_ext_d2i(certificate, NID_ext_key_usage, nullptr, nullptr)));
  for (int i = 0; usages != nullptr && i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    const int nid = OBJ_obj2nid(sk_ASN1_OBJECT_value(usages.get(), i));
    description.usages.emplace_back(OBJ_nid2sn(nid));
  }
}

// `unreadable` when the field holds no time.
Time TimeOf(const ASN1_TIME* time, Time unreadable) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    ERR_clear_error();
    return unreadable;
  }
  return Time(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

Time NotBefore(X509* certificate) {
  constexpr Time kNever = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  return TimeOf(X509_get0_notBefore(certificate), kNever);
}

Time NotAfter(X509* certificate) { return TimeOf(X509_get0_notAfter(certificate), Time{}); }

std::string NormalAddress(const std::string& text) {
  const std::unique_ptr<ASN1_OCTET_STRING, Deleter<ASN1_OCTET_STRING_free>> address(
      a2i_IPADDRESS(text.c_str()));
  ERR_clear_error();
  return address == nullptr ? text : AddressText(address.get());
}

bool IsSignedBy(X509* certificate, X509* authority) {
  const bool is =
      X509_NAME_cmp(X509_get_issuer_name(certificate), X509_get_subject_name(authority)) == 0 &&
      X509_verify(certificate, X509_get0_pubkey(authority)) == 1;
  ERR_clear_error();
  return is;
}

bool IsKeyOf(EVP_PKEY* key, X509* certificate) {
  const bool is = X509_check_private_key(certificate, key) == 1;
  ERR_clear_error();
  return is;
}

std::vector<std::string> Description::Names() const {
  std::vector<std::string> names = dns_names;
  names.insert(names.end(), ip_addresses.begin(), ip_addresses.end());
  return names;
}

std::string KeyName(EVP_PKEY* key) {
  if (key == nullptr) return "unknown";
  const std::string bits = std::to_string(EVP_PKEY_get_bits(key));
  if (EVP_PKEY_is_a(key, "RSA") == 1) return "RSA " + bits;
  if (EVP_PKEY_is_a(key, "RSA-PSS") == 1) return "RSA-PSS " + bits;
  if (EVP_PKEY_is_a(key, "EC") == 1) {
    std::array<char, 64> group{};
    size_t size = 0;
    if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                       &size) != 1) {
      ERR_clear_error();
      return "ECDSA " + bits;
    }
    const char* nist = EC_curve_nid2nist(OBJ_sn2nid(group.data()));
    return "ECDSA " + std::string(nist == nullptr ? group.data() : nist);
  }
  const char* name = EVP_PKEY_get0_type_name(key);
  if (name == nullptr) return "unknown";
  return EVP_PKEY_is_a(key, "ED25519") == 1 ? "Ed25519" : name;
}

Description Describe(X509* certificate) {
  Description description;
  description.subject = NameText(X509_get_subject_name(certificate));
  description.issuer = NameText(X509_get_issuer_name(certificate));
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  description.serial =
      Hex(ASN1_STRING_get0_data(serial), static_cast<size_t>(ASN1_STRING_length(serial)), "");
  AddNames(certificate, description);
  description.not_before = NotBefore(certificate);
  description.not_after = NotAfter(certificate);
  description.key = KeyName(X509_get0_pubkey(certificate));
  description.signature = OBJ_nid2ln(X509_get_signature_nid(certificate));
  description.is_ca = X509_check_ca(certificate) != 0;
  description.self_issued =
      X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0;
  AddUsages(certificate, description);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1) {
    description.fingerprint = Hex(digest.data(), size, ":");
  }
  ERR_clear_error();  // a certificate may hold extensions that cannot be decoded
  return description;
}

std::string Title(X509* certificate) {
  const Description description = Describe(certificate);
  if (!description.subject.empty()) return Quote(description.subject);
  return description.dns_names.empty() ? "without a name" : Quote(description.dns_names.front());
}

}  // namespace mindgate::certs
