#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

std::string_view NameOfSpecial(double number, bool go) {
  if (std::isnan(number)) return "NaN";
  if (number > 0) return go ? "+Inf" : "Infinity";
  return go ? "-Inf" : "-Infinity";
}

}  // namespace

NumberText::NumberText(int64_t number) {
  const auto end = std::to_chars(data_, data_ + sizeof data_, number).ptr;
  size_ = static_cast<size_t>(end - data_);
}

NumberText::NumberText(uint64_t number, int base) {
  const auto end = std::to_chars(data_, data_ + sizeof data_, number, base).ptr;
  size_ = static_cast<size_t>(end - data_);
}

void NumberText::Set(std::string_view text) {
  size_ = std::min(text.size(), sizeof data_);
  std::memcpy(data_, text.data(), size_);
}

NumberText NumberText::Plain(double number) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, false));
    return made;
  }
  const auto end =
      std::to_chars(made.data_, made.data_ + sizeof made.data_, number, std::chars_format::fixed)
          .ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  return made;
}

NumberText NumberText::OfDouble(double number) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, true));
    return made;
  }
  const auto end = std::to_chars(made.data_, made.data_ + sizeof made.data_, number,
                                 std::chars_format::scientific)
                       .ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  const size_t at = made.text().find('e');
  int exponent = 0;
  const size_t sign = made.data_[at + 1] == '+' ? 1 : 0;
  std::from_chars(made.data_ + at + 1 + sign, end, exponent);
  constexpr int kLeast = -4;
  constexpr int kMost = 6;
  return exponent < kLeast || exponent >= kMost ? made : Plain(number);
}

NumberText NumberText::Rounded(double number, int digits, bool exponent) {
  NumberText made;
  if (!std::isfinite(number)) {
    made.Set(NameOfSpecial(number, false));
    return made;
  }
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end =
      std::to_chars(made.data_, made.data_ + sizeof made.data_, number, format, digits).ptr;
  made.size_ = static_cast<size_t>(end - made.data_);
  return made;
}

namespace {

using Args = std::span<const Value>;

Value Same(Context&, Args args) { return args[0]; }

Value TypeOf(Context&, Args args) { return Value::OfType(NameOf(args[0].kind())); }

Value SizeOfText(Context& context, Args args) {
  if (!context.ChargeText(args[0].text().size())) return context.Stopped();
  return Value::OfInt(static_cast<int64_t>(CountCharacters(args[0].text())));
}
Value SizeOfBytes(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].text().size()));
}
Value SizeOfRow(Context&, Args args) { return Value::OfInt(static_cast<int64_t>(args[0].size())); }

Value OutOfRange(Context& context, std::string_view type) {
  return context.Fail({"the number is out of the range of ", type});
}

Value IntOfUint(Context& context, Args args) {
  if (args[0].unsigned_integer() > INT64_MAX) return OutOfRange(context, "int");
  return Value::OfInt(args[0].integer());
}

Value IntOfDouble(Context& context, Args args) {
  const double number = args[0].number();
  // The bounds themselves are not exact.
  if (!(number > -0x1p63 && number < 0x1p63)) return OutOfRange(context, "int");
  return Value::OfInt(static_cast<int64_t>(number));
}

template <typename T>
std::optional<T> Parsed(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return number;
}

Value NotA(Context& context, std::string_view text, std::string_view type) {
  return context.Fail({"type conversion error: '", text.substr(0, 80), "' is not ", type});
}

Value IntOfText(Context& context, Args args) {
  const auto number = Parsed<int64_t>(args[0].text());
  return number ? Value::OfInt(*number) : NotA(context, args[0].text(), "an int");
}

Value IntOfTime(Context&, Args args) { return Value::OfInt(args[0].integer()); }

Value UintOfInt(Context& context, Args args) {
  if (args[0].integer() < 0) return OutOfRange(context, "uint");
  return Value::OfUint(args[0].unsigned_integer());
}

Value UintOfDouble(Context& context, Args args) {
  const double number = args[0].number();
  if (!(number >= 0 && number < 0x1p64)) return OutOfRange(context, "uint");
  return Value::OfUint(static_cast<uint64_t>(number));
}

Value UintOfText(Context& context, Args args) {
  const auto number = Parsed<uint64_t>(args[0].text());
  return number ? Value::OfUint(*number) : NotA(context, args[0].text(), "a uint");
}

Value DoubleOfNumber(Context&, Args args) { return Value::OfDouble(args[0].as_double()); }

Value DoubleOfText(Context& context, Args args) {
  std::string_view text = args[0].text();
  const bool negative = text.starts_with('-');
  std::string_view name = text;
  if (negative || name.starts_with('+')) name.remove_prefix(1);
  if (EqualIgnoreCase(name, "nan")) {
    return Value::OfDouble(std::numeric_limits<double>::quiet_NaN());
  }
  if (EqualIgnoreCase(name, "inf") || EqualIgnoreCase(name, "infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Value::OfDouble(negative ? -infinity : infinity);
  }
  const auto number = Parsed<double>(text);
  return number ? Value::OfDouble(*number) : NotA(context, text, "a double");
}

Value BoolOfText(Context& context, Args args) {
  const std::string_view text = args[0].text();
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return Value::OfBool(true);
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return Value::OfBool(false);
  }
  return NotA(context, text, "a bool");
}

Value BytesOfText(Context&, Args args) { return Value::OfBytes(args[0].text()); }

Value TextOfScalar(Context& context, Args args) {
  const Value& value = args[0];
  switch (value.kind()) {
    case Kind::kBool:
      return Value::OfString(value.is_true() ? "true" : "false");
    case Kind::kInt:
      return context.Join({NumberText(value.integer())});
    case Kind::kUint:
      return context.Join({NumberText(value.unsigned_integer())});
    case Kind::kDouble:
      return context.Join({NumberText::OfDouble(value.number())});
    case Kind::kTimestamp:
      return context.Join({TimeText(value)});
    case Kind::kDuration:
      return context.Join({DurationText(value.integer())});
    case Kind::kIp:
      return context.Join({TextOfIp(value.ip())});
    case Kind::kCidr:
      return context.Join(
          {TextOfIp(value.cidr().ip), "/", NumberText(static_cast<int64_t>(value.cidr().prefix))});
    default:
      return Value();
  }
}

Value TextOfBytes(Context& context, Args args) {
  const std::string_view text = args[0].text();
  if (!context.ChargeText(text.size())) return context.Stopped();
  if (!IsUtf8(text)) return context.Fail("invalid UTF-8: the bytes are not a text");
  return Value::OfString(text);
}

constexpr std::array kConversions{
    Overload{"type", "(T): type(T)", TypeOf},
    Overload{"dyn", "(T): dyn", Same},
    Overload{"size", "(string): int", SizeOfText},
    Overload{"size", "(bytes): int", SizeOfBytes},
    Overload{"size", "(list(T)): int", SizeOfRow},
    Overload{"size", "(map(T, U)): int", SizeOfRow},
    Overload{"size", "string.(): int", SizeOfText},
    Overload{"size", "bytes.(): int", SizeOfBytes},
    Overload{"size", "list(T).(): int", SizeOfRow},
    Overload{"size", "map(T, U).(): int", SizeOfRow},
    Overload{"int", "(int): int", Same},
    Overload{"int", "(uint): int", IntOfUint},
    Overload{"int", "(double): int", IntOfDouble},
    Overload{"int", "(string): int", IntOfText},
    Overload{"int", "(timestamp): int", IntOfTime},
    Overload{"uint", "(uint): uint", Same},
    Overload{"uint", "(int): uint", UintOfInt},
    Overload{"uint", "(double): uint", UintOfDouble},
    Overload{"uint", "(string): uint", UintOfText},
    Overload{"double", "(double): double", Same},
    Overload{"double", "(int): double", DoubleOfNumber},
    Overload{"double", "(uint): double", DoubleOfNumber},
    Overload{"double", "(string): double", DoubleOfText},
    Overload{"bool", "(bool): bool", Same},
    Overload{"bool", "(string): bool", BoolOfText},
    Overload{"bytes", "(bytes): bytes", Same},
    Overload{"bytes", "(string): bytes", BytesOfText},
    Overload{"string", "(string): string", Same},
    Overload{"string", "(bool): string", TextOfScalar},
    Overload{"string", "(int): string", TextOfScalar},
    Overload{"string", "(uint): string", TextOfScalar},
    Overload{"string", "(double): string", TextOfScalar},
    Overload{"string", "(bytes): string", TextOfBytes},
    Overload{"string", "(timestamp): string", TextOfScalar},
    Overload{"string", "(duration): string", TextOfScalar},
    Overload{"string", "(net.IP): string", TextOfScalar},
    Overload{"string", "(net.CIDR): string", TextOfScalar},
};

}  // namespace

std::span<const Overload> Conversions() { return kConversions; }

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// -1 for what is not in the alphabet.
int SextetOf(char c) {
  const size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string_view WithoutPadding(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return text;
}

Value EncodeBase64(Context& context, std::span<const Value> args) {
  const std::string_view bytes = args[0].text();
  TextBuilder out(context);
  for (size_t at = 0; at < bytes.size() && context.Charge(1); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out.Add(i <= three.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return out.Finish();
}

Value DecodeBase64(Context& context, std::span<const Value> args) {
  return DecodedBase64(context, args[0].text());
}

constexpr std::array kEncoders{
    Overload{"base64.encode", "(bytes): string", EncodeBase64},
    Overload{"base64.decode", "(string): bytes", DecodeBase64},
};

}  // namespace

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (const char c : WithoutPadding(text)) {
    if (SextetOf(c) < 0) return false;
  }
  return true;
}

Value DecodedBase64(Context& context, std::string_view text) {
  const std::string_view digits = WithoutPadding(text);
  const bool padded = digits.size() == text.size() || text.size() % 4 == 0;
  if (!context.Charge(digits.size())) return context.Stopped();
  char* row = context.Row<char>(digits.size() * 3 / 4 + 1);
  if (context.stopped()) return context.Stopped();
  size_t size = 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const int sextet = SextetOf(digits[i]);
    if (sextet < 0) return context.Fail("the text is not base64");
    bits = bits << 6 | static_cast<uint32_t>(sextet);
    if (i % 4 != 0) row[size++] = static_cast<char>(bits >> (6 - 2 * (i % 4)));
  }
  if (digits.size() % 4 == 1 || !padded) return context.Fail("the text is not base64");
  return Value::OfBytes({row, size});
}

std::span<const Overload> Encoders() { return kEncoders; }

}  // namespace mindgate::cel
