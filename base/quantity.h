#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mindgate {

// The whole number that a Kubernetes resource.Quantity denotes ("8", "8.0", "1k", "2Ki", "8000m",
// "1e3"), or nothing when the text is not a quantity, is not whole, or does not fit in int64.
// Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
std::optional<int64_t> ParseWholeQuantity(std::string_view text);

}  // namespace mindgate
