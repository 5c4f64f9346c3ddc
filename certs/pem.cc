#include "certs/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <climits>

#include "base/text.h"

namespace mindgate::certs {
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
  // OpenSSL's reasons do not tell these apart.
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

}  // namespace mindgate::certs
