#include "base/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace mindgate {
namespace {

// Of a sequence of two or three bytes.
uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return ((byte(0) & 0x1Fu) << 6) | (byte(1) & 0x3Fu);
  return ((byte(0) & 0x0Fu) << 12) | ((byte(1) & 0x3Fu) << 6) | (byte(2) & 0x3Fu);
}

constexpr uint32_t kUnsafe[] = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};

bool Passes(std::string_view character) {
  return character == "\n" || character == "\t" || !IsUnsafe(character);
}

}  // namespace

bool IsUnsafe(std::string_view character) {
  if (Utf8Length(character) == 0 || IsControl(character)) return true;
  if (character.size() != 2 && character.size() != 3) return false;
  return std::binary_search(std::begin(kUnsafe), std::end(kUnsafe), CodePoint(character));
}

std::string Escaped(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (Utf8Length(character) == 0 || first < 0x20) return HexEscaped(character);
  const uint32_t code = character.size() == 1 ? first : CodePoint(character);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\\u";
  for (const int shift : {12, 8, 4, 0}) out += kHex[(code >> shift) & 0xF];
  return out;
}

bool IsSafeText(std::string_view text) {
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    if (!Passes(character)) return false;
    text.remove_prefix(character.size());
  }
  return true;
}

std::string ForTerminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    if (Passes(character)) {
      out += character;
    } else {
      out += Escaped(character);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace mindgate
