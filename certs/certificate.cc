#include "certs/certificate.h"

#include <arpa/inet.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <ctime>
#include <memory>

#include "base/text.h"

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

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, text);
  return text;
}

void AppendBase64(std::string_view bytes, std::string& out) {
  const size_t before = out.size();
  out.resize(before + (bytes.size() + 2) / 3 * 4 + 1);  // with the end that OpenSSL writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data() + before),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(before + static_cast<size_t>(size));
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string characters;
  for (const char c : text) {
    if (c != '\n' && c != '\r') characters += c;
  }
  const size_t padding = characters.size() - std::min(characters.find('='), characters.size());
  // EVP_DecodeBlock leaves out blanks around, and takes padding for zeros.
  if (characters.size() % 4 != 0 || characters.size() > INT_MAX || padding > 2 ||
      (padding == 2 && characters.back() != '=') ||
      characters.find_first_of(" \t\v\f-") != std::string::npos) {
    return std::nullopt;
  }
  std::string bytes(characters.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(characters.data()),
                                   static_cast<int>(characters.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

namespace {

using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;

// A key file with a passphrase must fail, and not ask on a terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Reader(std::string_view text) {
  // OpenSSL takes no null pointer, and sizes as int only; files are far below.
  if (text.empty() || text.size() > INT_MAX) text = "";
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

// One block of a PEM text, its base64 decoded.
struct Block {
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(data, static_cast<size_t>(size));  // it may be a key
  }

  std::string_view Name() const { return name; }

  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
};

enum class Next { kBlock, kEnd, kDamaged };

Next ReadBlock(BIO* bio, Block& block) {
  ERR_clear_error();
  if (PEM_read_bio(bio, &block.name, &block.header, &block.data, &block.size) == 1) {
    return Next::kBlock;
  }
  const bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return end ? Next::kEnd : Next::kDamaged;
}

bool IsCertificate(std::string_view name) {
  return name == PEM_STRING_X509 || name == PEM_STRING_X509_OLD;
}

}  // namespace

std::string OpenSslReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

Result<std::vector<CertificatePtr>> ReadCertificates(std::string_view text) {
  const BioPtr bio = Reader(text);
  std::vector<CertificatePtr> certificates;
  for (;;) {
    const std::string number = std::to_string(certificates.size() + 1);
    Block block;
    switch (ReadBlock(bio.get(), block)) {
      case Next::kEnd:
        return certificates;
      case Next::kDamaged:
        return Fail(ErrorCode::kInvalidArgument,
                    "certificate " + number + " is cut off or is not PEM");
      case Next::kBlock:
        break;
    }
    if (!IsCertificate(block.Name())) continue;
    if (certificates.size() == kMaxCertificates) {
      return Fail(ErrorCode::kTooLarge, "there are more than " + std::to_string(kMaxCertificates) +
                                            " certificates, which is the limit");
    }
    const unsigned char* at = block.data;
    CertificatePtr certificate(d2i_X509(nullptr, &at, block.size));
    if (certificate == nullptr || at != block.data + block.size) {
      ERR_clear_error();
      return Fail(ErrorCode::kInvalidArgument,
                  "certificate " + number + " is PEM, but does not hold an X.509 certificate");
    }
    certificates.push_back(std::move(certificate));
  }
}

Result<KeyPtr> ReadKey(std::string_view text) {
  const BioPtr bio = Reader(text);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (key != nullptr) return key;
  // OpenSSL's reasons do not distinguish these.
  if (text.find("BEGIN ENCRYPTED PRIVATE KEY") != std::string_view::npos ||
      text.find("Proc-Type: 4,ENCRYPTED") != std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                "the private key is encrypted, and there is no way to enter its passphrase");
  }
  if (text.find("PRIVATE KEY-----") != std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, "the private key is damaged or cut off");
  }
  return Fail(ErrorCode::kInvalidArgument, "no private key in the PEM text");
}

std::string WriteCertificate(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return TextOf(bio.get());
}

std::string WriteKey(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio.get());
}

namespace {

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
