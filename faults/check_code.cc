#include "faults/check_code.h"

#include <openssl/evp.h>

#include <array>

#include "base/text.h"

namespace mindgate::faults {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Past the string that begins at `at`.
size_t EndOfString(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// Past the value that begins at `at`, up to what follows it.
size_t EndOfValue(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth;
    }
    if (c == ',' && depth == 0) return at;
    ++at;
  }
  return at;
}

size_t PastBlanks(std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}

}  // namespace

std::string Sha256Hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return "";
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4U];
    hex += kDigits[digest[i] & 15U];
  }
  return hex;
}

std::string_view TextOfMember(std::string_view object, std::string_view member) {
  size_t at = PastBlanks(object, 0);
  if (at == object.size() || object[at] != '{') return "";
  ++at;
  while (true) {
    at = PastBlanks(object, at);
    if (at == object.size() || object[at] != '"') return "";
    const size_t end_of_key = EndOfString(object, at);
    const std::string_view key = object.substr(at + 1, end_of_key - at - 1);
    at = PastBlanks(object, end_of_key);
    if (at == object.size() || object[at] != ':') return "";
    at = PastBlanks(object, at + 1);
    const size_t end = EndOfValue(object, at);
    if (key.ends_with('"') && key.substr(0, key.size() - 1) == member) {
      std::string_view value = object.substr(at, end - at);
      while (!value.empty() && IsBlank(value.back())) value.remove_suffix(1);
      return value;
    }
    if (end == object.size() || object[end] != ',') return "";
    at = end + 1;
  }
}

std::optional<std::string> WrongCheckCode(std::string_view text, std::string_view member) {
  std::string_view code = TextOfMember(text, "CheckCode");
  if (code.size() < 2 || code.front() != '"') return std::nullopt;
  code = code.substr(1, code.size() - 2);
  const std::string_view value = TextOfMember(text, member);
  if (code.empty() || value.empty() || EqualIgnoreCase(code, Sha256Hex(value))) return std::nullopt;
  return "CheckCode is not the SHA-256 of " + std::string(member) +
         ", so that MindCluster's components reject it: somebody changed it by hand, or it is of "
         "another version. What it reports counts here all the same";
}

}  // namespace mindgate::faults
