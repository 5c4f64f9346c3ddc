#include <openssl/evp.h>

#include <algorithm>
#include <climits>

#include "certs/pem.h"

namespace mindgate::certs {

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

}  // namespace mindgate::certs
