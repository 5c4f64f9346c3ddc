#pragma once

#include <optional>
#include <string_view>

#include "cel/opaque.h"

namespace mindgate::cel {

// A quantity as Kubernetes writes it: "1.5Gi", "100m", "1e3". Parts smaller than a billionth are
// rounded away from zero, and what is beyond 2^63 - 1 is cut to that. It is an int as Kubernetes
// has it: "1000m" and "1Pi" are none. Nothing for any other text.
std::optional<Quantity> ParseQuantity(std::string_view text);

}  // namespace mindgate::cel
