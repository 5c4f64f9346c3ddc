#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

// Texts are UTF-8, and what CEL counts is characters. A byte that is none counts as one.
size_t CountCharacters(std::string_view text);
// The offset of a character; that of the end for the number of characters, nothing beyond.
std::optional<size_t> OffsetOf(std::string_view text, size_t character);
// The length of the character that the text begins with, which is not empty.
size_t LengthOfCharacter(std::string_view text);
// Whether all of it is well-formed UTF-8.
bool IsUtf8(std::string_view text);

// A number as text, in memory of its own.
class NumberText {
 public:
  explicit NumberText(int64_t number);
  explicit NumberText(uint64_t number, int base = 10);
  // As Go's strconv.FormatFloat(number, 'g', -1, 64) writes it: "0.1", "1e+06", "NaN", "+Inf".
  static NumberText OfDouble(double number);
  // The same without an exponent, and with CEL's names: "1000000", "Infinity".
  static NumberText Plain(double number);
  // With so many digits behind the point, at most 50; with an exponent or without: "1.50",
  // "1.5e+00".
  static NumberText Rounded(double number, int digits, bool exponent);

  std::string_view text() const { return {data_, size_}; }
  operator std::string_view() const { return text(); }  // NOLINT(google-explicit-constructor)

 private:
  NumberText() = default;
  void Set(std::string_view text);

  char data_[400];  // 1e308 has 309 digits
  size_t size_ = 0;
};

inline constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

// A timestamp so many nanoseconds later; a fault outside of the years 1 to 9999.
Value MovedTime(Context& context, const Value& time, int64_t nanoseconds);

// A text in memory of its own, without an allocation.
struct ShortText {
  char data[64] = {};
  size_t size = 0;
  void Add(std::string_view text);
  std::string_view text() const { return {data, size}; }
  operator std::string_view() const { return text(); }  // NOLINT(google-explicit-constructor)
};

// RFC 3339 in UTC, with as many digits behind the point as needed: "2026-01-02T03:04:05.5Z".
ShortText TimeText(const Value& time);
// In seconds: "5400s", "0.5s".
ShortText DurationText(int64_t nanoseconds);

// All that expressions can call, a table for each library.
std::span<const std::span<const Overload>> Libraries();

std::span<const Overload> Operators();
std::span<const Overload> Conversions();
std::span<const Overload> Optionals();
std::span<const Overload> Times();
std::span<const Overload> Strings();
std::span<const Overload> StringFormats();
std::span<const Overload> Encoders();
std::span<const Overload> Lists();
std::span<const Overload> Sets();
std::span<const Overload> Numbers();
std::span<const Overload> Regexes();
std::span<const Overload> Quantities();
std::span<const Overload> Semvers();
std::span<const Overload> Networks();
std::span<const Overload> Urls();
std::span<const Overload> Formats();

// The bytes of a text in base64, with padding or without; a fault when it is none.
Value DecodedBase64(Context& context, std::string_view text);

// Whether the text is base64 with padding.
bool IsBase64(std::string_view text);

// The items of a list in the order of their keys, of which there are as many; items of equal keys
// stay in order. A fault when keys cannot be compared.
Value SortedBy(Context& context, const Value& list, std::span<const Value> keys);

// The canonical form of an address: "10.0.0.1", "2001:db8::1".
ShortText TextOfIp(const Ip& ip);

// An address without a zone; nothing for any other text.
std::optional<Ip> ParseIp(std::string_view text);

// A quantity as Kubernetes writes it: "1.5Gi", "100m", "1e3". Parts smaller than a billionth are
// rounded away from zero, and what is beyond 2^63 - 1 is cut to that. It is an int as Kubernetes
// has it: "1000m" and "1Pi" are none. Nothing for any other text.
std::optional<Quantity> ParseQuantity(std::string_view text);

// Compiles a pattern and keeps it. Why it is none, or nothing.
std::string AddPattern(std::string_view pattern, Patterns& patterns);

// By the precedence of semver.org: -1, 0 or 1. Builds do not count.
int CompareSemvers(const Semver& a, const Semver& b);

// An absolute URI or an absolute path; nothing for any other text. Borrows from it.
std::optional<Url> ParseUrl(std::string_view text);

}  // namespace mindgate::cel
