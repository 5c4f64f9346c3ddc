#include "kube/pem.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>

namespace mindgate::kube {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// A key with a passphrase must fail, and not ask on a terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Reader(std::string_view text) {
  // OpenSSL takes no null pointer, and sizes as int only; files are far below.
  if (text.empty() || text.size() > INT_MAX) text = "";
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

CertificatePtr NextCertificate(BIO* bio) {
  ERR_clear_error();
  return CertificatePtr(PEM_read_bio_X509(bio, nullptr, NoPassphrase, nullptr));
}

KeyPtr ReadKey(std::string_view pem) {
  const BioPtr bio = Reader(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::array<unsigned, 4> group{};
  size_t count = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const size_t value = kAlphabet.find(c);
    if (c == '=' && count >= 2) {
      ++padding;
    } else if (value == std::string_view::npos || padding > 0) {
      return std::nullopt;
    }
    group[count++] = c == '=' ? 0 : static_cast<unsigned>(value);
    if (count < group.size()) continue;
    const unsigned bits = group[0] << 18 | group[1] << 12 | group[2] << 6 | group[3];
    for (size_t i = 0; i + padding < 3; ++i) {
      out += static_cast<char>(bits >> (16 - 8 * i) & 0xFF);
    }
    count = 0;
  }
  if (count != 0) return std::nullopt;
  return out;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(3, bytes.size()))) {
    unsigned bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= bytes.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

std::string CertificatesFault(std::string_view pem) {
  const BioPtr bio = Reader(pem);
  for (int count = 0;; ++count) {
    if (NextCertificate(bio.get()) != nullptr) continue;
    const bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (end && count > 0) return "";
    if (end) return "holds no certificate in PEM";
    return "holds a certificate, number " + std::to_string(count + 1) + ", that is damaged";
  }
}

std::string KeyFault(std::string_view pem) {
  if (ReadKey(pem) != nullptr) return "";
  // OpenSSL's reasons do not tell these apart.
  if (pem.find("BEGIN ENCRYPTED PRIVATE KEY") != std::string_view::npos ||
      pem.find("Proc-Type: 4,ENCRYPTED") != std::string_view::npos) {
    return "holds an encrypted key, and nobody is there to type its passphrase";
  }
  if (pem.find("PRIVATE KEY-----") != std::string_view::npos) return "holds a damaged key";
  return "holds no private key in PEM";
}

bool IsPair(std::string_view certificate, std::string_view key) {
  const CertificatePtr first = NextCertificate(Reader(certificate).get());
  const KeyPtr its_key = ReadKey(key);
  const bool fits = first != nullptr && its_key != nullptr &&
                    X509_check_private_key(first.get(), its_key.get()) == 1;
  ERR_clear_error();
  return fits;
}

std::string TokenFault(std::string_view token) {
  const auto bad = std::find_if(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
  });
  if (bad == token.end()) return "";
  return "holds a space or a control character at byte " + std::to_string(bad - token.begin() + 1) +
         ", which no token has";
}

}  // namespace mindgate::kube
