#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mindgate::certs {

// As Go reads and writes []byte in JSON: standard alphabet, padded; line ends anywhere are skipped.
std::string EncodeBase64(std::string_view bytes);
void AppendBase64(std::string_view bytes, std::string& out);
std::optional<std::string> DecodeBase64(std::string_view text);  // nothing when it is not that

}  // namespace mindgate::certs
