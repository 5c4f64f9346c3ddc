#pragma once

#include <span>

#include "cel/function.h"

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

}  // namespace mindgate::cel
