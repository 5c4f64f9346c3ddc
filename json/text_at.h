#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "json/value.h"

namespace mindgate::json {

// A copy of the text at the end of a chain of members: TextAt(pod, {"metadata", "name"}). Empty
// when there is none, or it is not a string. `value` may be a null pointer.
template <Tree T>
std::string TextAt(const T* value, std::initializer_list<std::string_view> keys) {
  return std::string(AsString(FindPath(value, keys)).value_or(""));
}
template <Tree T>
std::string TextAt(const T& value, std::initializer_list<std::string_view> keys) {
  return TextAt(&value, keys);
}

}  // namespace mindgate::json
