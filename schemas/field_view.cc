#include "schemas/field_view.h"

#include <algorithm>

namespace mindgate::schemas {

void AppendToken(std::string_view key, std::string& pointer) {
  pointer += '/';
  const auto special = [](char c) { return c == '~' || c == '/'; };
  if (std::none_of(key.begin(), key.end(), special)) {
    pointer += key;
    return;
  }
  for (const char c : key) {
    if (special(c)) {
      pointer += c == '~' ? "~0" : "~1";
    } else {
      pointer += c;
    }
  }
}

std::string Pointer::Text() const {
  std::string text;
  text.reserve(size());
  text += above;
  text += below;
  return text;
}

std::string Pointer::Child(std::string_view key) const {
  std::string text;
  text.reserve(size() + key.size() + 2);
  text += above;
  text += below;
  AppendToken(key, text);
  return text;
}

std::string Pointer::Child(size_t index) const { return Child(std::to_string(index)); }

}  // namespace mindgate::schemas
