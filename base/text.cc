#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/foreign_text.h"

namespace mindgate {
namespace {

constexpr size_t kMaxComparedWord = 64;
constexpr size_t kMaxQuote = 80;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Words>
std::string JoinWords(const Words& words, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += separator;
    out += words[i];
  }
  return out;
}

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::optional<int64_t> ParseGoInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxComparedWord);
  b = b.substr(0, kMaxComparedWord);
  std::array<int, kMaxComparedWord + 1> row;
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::optional<std::string_view> NearestOf(std::string_view word,
                                          std::span<const std::string_view> candidates) {
  const int allowed = std::clamp(static_cast<int>(word.size() / 3), 1, 3);
  std::optional<std::string_view> nearest;
  int best = allowed + 1;
  for (std::string_view candidate : candidates) {
    if (candidate == word) return std::nullopt;
    const int distance = EqualIgnoreCase(word, candidate) ? 0 : EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::optional<std::string_view> NearestOf(std::string_view word,
                                          std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return NearestOf(word, views);
}

bool MeansOnly(std::string_view word, std::string_view candidate,
               std::span<const std::string_view> candidates) {
  if (EqualIgnoreCase(word, candidate)) return true;
  std::vector<std::string_view> others(candidates.begin(), candidates.end());
  std::erase(others, candidate);
  return NearestOf(word, std::span<const std::string_view>(others)) == std::nullopt &&
         std::find(others.begin(), others.end(), word) == others.end();
}

bool EqualIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string_view> words, std::string_view separator) {
  return JoinWords(words, separator);
}

std::string Join(std::span<const std::string> words, std::string_view separator) {
  return JoinWords(words, separator);
}

std::string OneOf(std::span<const std::string_view> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += i + 1 == values.size() ? " or " : ", ";
    out += Quote(values[i]);
  }
  return out;
}

std::string Counted(int64_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string WithArticle(std::string_view noun) {
  if (noun.empty() || noun == "null") return std::string(noun);
  const bool vowel = std::string_view("aeiou").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

// Unicode standard, table 3-7.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  const unsigned next = byte(1);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  if (lead >= 0xC2 && lead <= 0xDF) return is_tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!is_tail(1) || !is_tail(2)) return 0;
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F)) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!is_tail(1) || !is_tail(2) || !is_tail(3)) return 0;
    if ((lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

std::string_view FirstCharacter(std::string_view text) {
  return text.substr(0, std::max<size_t>(1, Utf8Length(text)));
}

std::string HexEscaped(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += "\\x";
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[c & 0xf];
  }
  return out;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (size_t taken = 0; !text.empty(); ++taken) {
    if (taken == kMaxQuote) return out + "...\"";
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (character == "\"" || character == "\\") {
      out += '\\';
      out += character;
    } else if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (length == 0 || IsControl(character)) {
      out += HexEscaped(character);
    } else if (const auto lookalike = LookalikeOf(character); lookalike && lookalike->invisible) {
      out += "\\u" + lookalike->name.substr(2, 4);
    } else {
      out += character;
    }
  }
  return out + '"';
}

bool IsControl(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xC2' && (character[1] & 0xE0) == 0x80;
  return character.size() == 1 &&
         (static_cast<unsigned char>(character[0]) < 0x20 || character[0] == 0x7f);
}

std::string Cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  text.resize(end);
  return text;
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string Padded(std::string_view text, size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

bool IsDns1123Label(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsLowerAlphanumeric(text.front()) || !IsLowerAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

namespace {

std::string_view DigitsOf(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

// Compares as the numbers do.
std::pair<size_t, std::string_view> NumberOf(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return {digits.size(), digits};
}

}  // namespace

bool NaturalLess(std::string_view left, std::string_view right) {
  std::string_view a = left;
  std::string_view b = right;
  while (!a.empty() && !b.empty()) {
    const auto digits_a = DigitsOf(a);
    const auto digits_b = DigitsOf(b);
    if (!digits_a.empty() && !digits_b.empty()) {
      const auto number_a = NumberOf(digits_a);
      const auto number_b = NumberOf(digits_b);
      if (number_a != number_b) return number_a < number_b;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    }
    a.remove_prefix(std::max<size_t>(digits_a.size(), 1));
    b.remove_prefix(std::max<size_t>(digits_b.size(), 1));
  }
  return a.empty() && b.empty() ? left < right : a.empty();
}

namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string PercentEncoded(std::string_view text, std::string_view also) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain || also.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    out += '%';
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 0xf];
  }
  return out;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? HexValue(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

namespace {

// value = digits * 10^decimal_exponent * 2^binary_exponent
struct Suffix {
  int64_t decimal_exponent = 0;
  int binary_exponent = 0;
};

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n':
        return Suffix{-9, 0};
      case 'u':
        return Suffix{-6, 0};
      case 'm':
        return Suffix{-3, 0};
      case 'k':
        return Suffix{3, 0};
      case 'M':
        return Suffix{6, 0};
      case 'G':
        return Suffix{9, 0};
      case 'T':
        return Suffix{12, 0};
      case 'P':
        return Suffix{15, 0};
      case 'E':
        return Suffix{18, 0};
      default:
        return std::nullopt;
    }
  }
  if (text.size() == 2 && text[1] == 'i') {
    constexpr std::string_view kBinary = "KMGTPE";
    const size_t power = kBinary.find(text[0]);
    if (power == std::string_view::npos) return std::nullopt;
    return Suffix{0, static_cast<int>(power + 1) * 10};
  }
  if (text[0] == 'e' || text[0] == 'E') {
    // Kubernetes keeps the exponent in an int32.
    const auto exponent = ParseGoInt(text.substr(1));
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (!exponent || *exponent > kMax || *exponent < -kMax) return std::nullopt;
    return Suffix{*exponent, 0};
  }
  return std::nullopt;
}

// The digits of a number as digits * 10^exponent, `digits` without trailing zeros.
struct Decimal {
  uint64_t digits = 0;
  int64_t exponent = 0;
  size_t length = 0;  // of the text read
};

std::optional<Decimal> ParseDigits(std::string_view text) {
  Decimal number;
  int64_t zeros = 0;  // read since the last other digit
  bool seen_digit = false;
  bool seen_point = false;
  for (; number.length < text.size(); ++number.length) {
    const char c = text[number.length];
    if (c == '.') {
      if (seen_point) return std::nullopt;
      seen_point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    seen_digit = true;
    if (seen_point) --number.exponent;
    ++zeros;
    if (c == '0') continue;
    for (; zeros > 0; --zeros) {
      if (number.digits == 0) zeros = 1;  // leading zeros say nothing
      if (__builtin_mul_overflow(number.digits, 10, &number.digits)) return std::nullopt;
    }
    if (__builtin_add_overflow(number.digits, c - '0', &number.digits)) return std::nullopt;
  }
  if (!seen_digit) return std::nullopt;
  number.exponent += zeros;
  return number;
}

}  // namespace

std::optional<int64_t> ParseWholeQuantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto number = ParseDigits(text);
  if (!number) return std::nullopt;
  const auto suffix = ParseSuffix(text.substr(number->length));
  if (!suffix) return std::nullopt;
  if (number->digits == 0) return 0;

  // 64 bits of digits and at most 60 of the suffix.
  unsigned __int128 value = number->digits;
  value <<= suffix->binary_exponent;
  int64_t exponent = number->exponent + suffix->decimal_exponent;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const uint64_t most = negative ? kMax + 1 : kMax;
  for (; exponent > 0 && value <= most; --exponent) value *= 10;
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  if (value > most) return std::nullopt;
  const auto whole = static_cast<uint64_t>(value);
  return static_cast<int64_t>(negative ? 0 - whole : whole);
}

}  // namespace mindgate
