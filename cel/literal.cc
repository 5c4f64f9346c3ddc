#include "cel/literal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace mindgate::cel {
namespace {

constexpr std::string_view kEscapes = "abfnrtv\\?\"'`";
constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";

struct Escape {
  char32_t character = 0;
  size_t length = 0;     // with the backslash
  bool is_code = false;  // a number, which is a byte in bytes
};

std::optional<char32_t> Digits(std::string_view text, size_t count, int base) {
  if (text.size() < count) return std::nullopt;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + count, number, base);
  if (error != std::errc() || end != text.data() + count) return std::nullopt;
  return static_cast<char32_t>(number);
}

// The escape that the text begins with, or why it is none.
std::optional<Escape> EscapeOf(std::string_view text, bool bytes, std::string& fault) {
  const char c = text.size() > 1 ? text[1] : '\0';
  if (const size_t at = kEscapes.find(c); text.size() > 1 && at != std::string_view::npos) {
    return Escape{static_cast<char32_t>(kMeanings[at]), 2, false};
  }
  size_t digits = 0;
  if (c == 'x' || c == 'X') digits = 2;
  if (c == 'u') digits = 4;
  if (c == 'U') digits = 8;
  if (digits > 2 && bytes) {
    fault = "bytes have no escapes of characters";
    return std::nullopt;
  }
  const bool octal = c >= '0' && c <= '3';
  const auto number = octal ? Digits(text.substr(1), 3, 8) : Digits(text.substr(2), digits, 16);
  if ((digits == 0 && !octal) || !number) {
    fault = Quote(text.substr(0, std::min<size_t>(text.size(), 2))) + " is not a known escape";
    return std::nullopt;
  }
  if (*number > 0x10FFFF || (*number >= 0xD800 && *number < 0xE000)) {
    fault = "this escape is not a character of Unicode";
    return std::nullopt;
  }
  return Escape{*number, octal ? 4 : digits + 2, true};
}

}  // namespace

Unescaped Unescape(std::string_view content, bool bytes, json::Arena& arena) {
  Unescaped result;
  std::string out;
  for (size_t at = 0; at < content.size();) {
    if (content[at] != '\\') {
      out += content[at++];
      continue;
    }
    const auto escape = EscapeOf(content.substr(at), bytes, result.fault);
    if (!escape) {
      result.at = at;
      return result;
    }
    if (bytes && escape->is_code) {
      out += static_cast<char>(escape->character);
    } else {
      AppendUtf8(escape->character, out);
    }
    at += escape->length;
  }
  result.text = arena.Text(out);
  return result;
}

void AppendUtf8(char32_t character, std::string& out) {
  const auto tail = [&out, character](int shift) {
    out += static_cast<char>(0x80 | ((character >> shift) & 0x3F));
  };
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0 | (character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    out += static_cast<char>(0xE0 | (character >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char32_t CharacterAt(std::string_view text) {
  const auto byte = [text](size_t at) { return static_cast<unsigned char>(text[at]); };
  switch (Utf8Length(text)) {
    case 2:
      return static_cast<char32_t>((byte(0) & 0x1F) << 6 | (byte(1) & 0x3F));
    case 3:
      return static_cast<char32_t>((byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 |
                                   (byte(2) & 0x3F));
    case 4:
      return static_cast<char32_t>((byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                                   (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F));
    default:
      return byte(0);
  }
}

bool IsTooSmall(std::string_view number) {
  const size_t at = number.find_first_of("eE");
  if (at != std::string_view::npos) return number.substr(at + 1).starts_with('-');
  return number.starts_with('.') || number.starts_with("0");
}

}  // namespace mindgate::cel
