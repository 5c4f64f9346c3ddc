#pragma once

#include <string>
#include <string_view>

#include "json/issues.h"

namespace mindgate::testing {

inline std::string Repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// "line:column: message" or "line:column: message (hint)".
inline std::string Text(const json::Issue& issue) {
  std::string out =
      std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + ": " + issue.message;
  if (!issue.hint.empty()) out += " (" + issue.hint + ")";
  return out;
}

}  // namespace mindgate::testing
