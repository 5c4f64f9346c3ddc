#include <algorithm>

#include "certs/inspect.h"
#include "certs/pem.h"
#include "kube/credential_files.h"

namespace mindgate::kube {

std::string CertificatesFault(std::string_view pem) {
  const auto certificates = certs::ReadCertificates(pem);
  if (!certificates) return certificates.error().message();
  return certificates->empty() ? "no certificate in the PEM text" : "";
}

std::string KeyFault(std::string_view pem) {
  const auto key = certs::ReadKey(pem);
  return key ? "" : key.error().message();
}

bool IsPair(std::string_view certificate, std::string_view key) {
  const auto certificates = certs::ReadCertificates(certificate);
  const auto its_key = certs::ReadKey(key);
  return certificates && !certificates->empty() && its_key &&
         certs::IsKeyOf(its_key->get(), certificates->front().get());
}

std::string TokenFault(std::string_view token) {
  const auto bad = std::find_if(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
  });
  if (bad == token.end()) return "";
  return "a space or a control character at byte " + std::to_string(bad - token.begin() + 1) +
         ", which a token cannot contain";
}

}  // namespace mindgate::kube
