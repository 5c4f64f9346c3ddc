#include "json/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "json/issues.h"
#include "json/yaml.h"

namespace mindgate::json::internal {
namespace {

// Whether a decimal that no double can hold is too large; otherwise it is too small.
bool IsHuge(std::string_view text) {
  constexpr long kFar = 1'000'000'000;
  const size_t e = text.find_first_of("eE");
  long exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc()) exponent = kFar;
    exponent = std::min(exponent, kFar) * (negative ? -1 : 1);
  }
  // Where the first digit that counts stands, relative to the point.
  const std::string_view mantissa = text.substr(0, e);
  const size_t first = mantissa.find_first_of("123456789");
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const long magnitude = static_cast<long>(point) - static_cast<long>(first);
  return exponent + magnitude > 0;
}

}  // namespace

std::optional<double> ParseDecimal(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);  // from_chars takes none
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    if (IsHuge(digits)) return std::nullopt;
    return digits.starts_with('-') ? -0.0 : 0.0;
  }
  return value;
}

std::string FloatKeyText(double value) {
  if (std::isnan(value)) return ".nan";
  const float narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow > 0 ? ".inf" : "-.inf";
  char buffer[64];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, narrow, std::chars_format::scientific);
  const std::string text(buffer, scientific.ptr);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  // Go decides between its two forms as if six digits had been asked for.
  if (exponent < -4 || exponent >= 6) return text;
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof buffer, narrow, std::chars_format::fixed);
  return std::string(buffer, fixed.ptr);
}

}  // namespace mindgate::json::internal

// The rules are those of resolve() in go-yaml v2, which sigs.k8s.io/yaml uses; the order matters.
namespace mindgate::json {
namespace {

// Words that are values as plain scalars. Their first characters are those of kWordStarts.
constexpr std::string_view kWordStarts = "yYnNtTfFoO~.+-";

std::optional<Json> Word(std::string_view text) {
  constexpr size_t kMax = 5;  // "false", "+.inf"
  constexpr auto kTrue = std::to_array<std::string_view>(
      {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
  constexpr auto kFalse = std::to_array<std::string_view>(
      {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"});
  constexpr auto kNull = std::to_array<std::string_view>({"~", "null", "Null", "NULL"});
  constexpr auto kNan = std::to_array<std::string_view>({".nan", ".NaN", ".NAN"});
  constexpr auto kInfinity = std::to_array<std::string_view>({".inf", ".Inf", ".INF"});
  const auto is_in = [](std::string_view word, const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (text.empty()) return Json(nullptr);
  if (text.size() > kMax || kWordStarts.find(text.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  if (is_in(text, kTrue)) return Json(true);
  if (is_in(text, kFalse)) return Json(false);
  if (is_in(text, kNull)) return Json(nullptr);
  if (is_in(text, kNan)) return Json(std::numeric_limits<double>::quiet_NaN());
  const bool minus = text.front() == '-';
  const bool sign = minus || text.front() == '+';
  if (is_in(sign ? text.substr(1) : text, kInfinity)) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    return Json(minus ? -kInf : kInf);
  }
  return std::nullopt;
}

// Go's strconv.ParseInt(text, base, 64), then ParseUint, on text without underscores. Base 0 reads
// the prefixes 0x, 0o, 0b and 0, the last for octal.
std::optional<Json> Integer(std::string_view text, int base) {
  const bool minus = text.starts_with('-');
  const bool sign = minus || text.starts_with('+');
  std::string_view digits = sign ? text.substr(1) : text;
  if (base == 0) {
    base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      base = 8;
      size_t prefix = 1;
      switch (digits[1]) {
        case 'x':
        case 'X':
          base = 16;
          prefix = 2;
          break;
        case 'b':
        case 'B':
          base = 2;
          prefix = 2;
          break;
        case 'o':
        case 'O':
          prefix = 2;
          break;
        default:
          break;
      }
      digits.remove_prefix(prefix);
    }
  }
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (minus) {
    if (value > kMax + 1) return std::nullopt;
    return Json(static_cast<int64_t>(0 - value));
  }
  if (value <= kMax) return Json(static_cast<int64_t>(value));
  if (sign) return std::nullopt;  // ParseUint takes none
  return Json(value);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t at = 0;
  const auto sign = [&] {
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  };
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at - start;
  };
  sign();
  const size_t whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    const size_t fraction = digits();
    if (whole == 0 && fraction == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    sign();
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Json> Float(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const auto value = internal::ParseDecimal(text);
  if (!value) return std::nullopt;
  return Json(*value);
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// Text that begins with a point: Go's strconv.ParseFloat takes underscores only between digits.
std::optional<Json> FloatFromPoint(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i + 1 == text.size() || !IsDigit(text[i - 1])) return std::nullopt;
    if (!IsDigit(text[i + 1])) return std::nullopt;
  }
  return Float(WithoutUnderscores(text));
}

std::optional<Json> Number(std::string_view text) {
  if (text.front() == '.') return FloatFromPoint(text);
  if (!IsDigit(text.front()) && text.front() != '-' && text.front() != '+') return std::nullopt;
  const std::string plain = WithoutUnderscores(text);
  if (auto integer = Integer(plain, 0)) return integer;
  if (auto number = Float(plain)) return number;
  // Reached with a sign after the prefix only: "0b-101" is -5.
  if (plain.starts_with("0b")) return Integer(std::string_view(plain).substr(2), 2);
  return std::nullopt;
}

}  // namespace

Json ResolvePlainScalar(std::string_view text) {
  if (auto word = Word(text)) return *std::move(word);
  if (auto number = Number(text)) return *std::move(number);
  return Json(std::string(text));
}

Json ResolveCoreScalar(std::string_view text) {
  const auto is_in = [text](const auto& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  if (text.empty() || text == "~") return Json(nullptr);
  if (is_in(std::to_array<std::string_view>({"null", "Null", "NULL"}))) return Json(nullptr);
  if (is_in(std::to_array<std::string_view>({"true", "True", "TRUE"}))) return Json(true);
  if (is_in(std::to_array<std::string_view>({"false", "False", "FALSE"}))) return Json(false);
  // What remains that begins so is .inf and .nan, which both schemas read alike.
  const std::string_view unsigned_text = text.substr(text.front() == '-' || text.front() == '+');
  if (unsigned_text.starts_with('.')) {
    if (auto word = Word(text)) return *std::move(word);
  }
  if (text.starts_with("0x") || text.starts_with("0o")) {
    auto integer = Integer(text.substr(2), text[1] == 'x' ? 16 : 8);
    // A sign is not part of these.
    const bool fine = integer && text.find_first_of("+-") == std::string_view::npos;
    return fine ? *std::move(integer) : Json(std::string(text));
  }
  if (auto integer = Integer(text, 10)) return *std::move(integer);
  if (auto number = Float(text)) return *std::move(number);
  return Json(std::string(text));
}

namespace internal {

Json ResolvePlain(std::string_view text, YamlSchema schema) {
  return schema == YamlSchema::kCore ? ResolveCoreScalar(text) : ResolvePlainScalar(text);
}

std::string_view YamlTagName(YamlTag tag) {
  switch (tag) {
    case YamlTag::kNone:
      return "!";
    case YamlTag::kStr:
      return "!!str";
    case YamlTag::kInt:
      return "!!int";
    case YamlTag::kFloat:
      return "!!float";
    case YamlTag::kBool:
      return "!!bool";
    case YamlTag::kNull:
      return "!!null";
    case YamlTag::kMap:
      return "!!map";
    case YamlTag::kSeq:
      return "!!seq";
    case YamlTag::kMerge:
      return "!!merge";
    case YamlTag::kBinary:
      return "!!binary";
  }
  return "!";
}

namespace {

// Base64 as Go's StdEncoding reads it: with padding, ends of lines left out. Nothing when it is not
// that.
std::optional<std::string> BytesOfBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  size_t count = 0;  // of characters
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const size_t digit = kDigits.find(c);
    if (c == '=' ? ++padding > 2 : padding > 0 || digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6) | (c == '=' ? 0 : static_cast<uint32_t>(digit));
    if (++count % 4 > 0) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFF);
    bits = 0;
  }
  if (count % 4 > 0) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

// kubectl decodes the bytes, and JSON has no place for what is no text.
tl::expected<Json, std::string> ResolveBinary(std::string_view text) {
  auto bytes = BytesOfBase64(text);
  if (!bytes) return tl::unexpected(Quote(text) + " is not base64, as the tag !!binary wants");
  if (FindBadUtf8(*bytes) != std::string_view::npos) {
    return tl::unexpected(
        std::string("the bytes under the tag !!binary are not UTF-8 text; in a "
                    "ConfigMap write them as base64 under binaryData"));
  }
  return Json(*std::move(bytes));
}

}  // namespace

tl::expected<Json, std::string> ResolveTagged(YamlTag tag, std::string_view text,
                                              YamlSchema schema) {
  if (tag == YamlTag::kStr) return Json(std::string(text));
  if (tag == YamlTag::kBinary) return ResolveBinary(text);
  Json value = ResolvePlain(text, schema);
  bool fits = false;
  switch (tag) {
    case YamlTag::kInt:
      fits = value.is_number_integer();
      break;
    case YamlTag::kFloat:
      // An unsigned integer is one that only 64 bits without a sign can hold; go-yaml does not
      // convert it.
      if (value.is_number_integer() && !value.is_number_unsigned()) {
        value = static_cast<double>(value.get<int64_t>());
      }
      fits = value.is_number_float();
      break;
    case YamlTag::kBool:
      fits = value.is_boolean();
      break;
    case YamlTag::kNull:
      fits = value.is_null();
      break;
    default:
      break;
  }
  if (fits) return value;
  return tl::unexpected(Quote(text) + " is not a value for the tag " +
                        std::string(YamlTagName(tag)));
}

}  // namespace internal

}  // namespace mindgate::json
