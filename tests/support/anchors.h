#pragma once

#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mindgate::testing {

// The anchors that GitHub gives the headings of a Markdown document: the text in lower case, spaces
// as hyphens, without what is neither letter, digit, hyphen nor underscore; a repeated one gets -1,
// -2 and so on. For headings of ASCII text without links.
inline std::set<std::string> AnchorsOf(const std::string& document) {
  std::set<std::string> anchors;
  std::map<std::string, int> seen;
  std::istringstream lines(document);
  bool in_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) in_code = !in_code;
    const size_t level = line.find_first_not_of('#');
    if (in_code || level == 0 || level > 6 || level == std::string::npos || line[level] != ' ') {
      continue;
    }
    std::string anchor;
    for (const char c : ToLower(std::string_view(line).substr(level + 1))) {
      const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
      if (kept || c == ' ') anchor += c == ' ' ? '-' : c;
    }
    const int repeated = seen[anchor]++;
    anchors.insert(repeated == 0 ? anchor : anchor + "-" + std::to_string(repeated));
  }
  return anchors;
}

}  // namespace mindgate::testing
