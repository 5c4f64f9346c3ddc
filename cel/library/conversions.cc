#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"
#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/characters.h"
#include "cel/library/libraries.h"
#include "cel/library/text_of.h"
#include "cel/library/times.h"
#include "cel/value.h"

namespace mindgate::cel {
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

}  // namespace mindgate::cel
