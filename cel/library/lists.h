#pragma once

#include <span>

#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

// The items of a list in the order of their keys, of which there are as many; items of equal keys
// stay in order. A fault when keys cannot be compared.
Value SortedBy(Context& context, const Value& list, std::span<const Value> keys);

}  // namespace mindgate::cel
