#pragma once

#include <string_view>

namespace mindgate {

// Names in the order that people expect, with the numbers in them as numbers: npu-2 before npu-10.
// A strict order; names that differ only in leading zeros stand in the order of their bytes.
bool NaturalLess(std::string_view left, std::string_view right);

struct NaturalOrder {
  using is_transparent = void;
  bool operator()(std::string_view left, std::string_view right) const {
    return NaturalLess(left, right);
  }
};

}  // namespace mindgate
