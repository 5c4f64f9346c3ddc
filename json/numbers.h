#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mindgate::json::internal {

// A decimal number ("-1.5e3", ".5", "1."; sign, digits, point and exponent already checked) as the
// nearest double. Too small becomes zero; too large gives nothing. As Go's strconv.ParseFloat,
// whatever the locale.
std::optional<double> ParseDecimal(std::string_view text);

// The text that sigs.k8s.io/yaml makes of a key that is a float: Go's strconv.FormatFloat(value,
// 'g', -1, 32), with ".inf", "-.inf" and ".nan" for what is not finite (in 32 bits).
std::string FloatKeyText(double value);

}  // namespace mindgate::json::internal
