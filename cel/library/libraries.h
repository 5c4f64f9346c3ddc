#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/times.h"
#include "cel/opaque.h"
#include "cel/value.h"

namespace mindgate::cel {

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
