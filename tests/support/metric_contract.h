#pragma once

#include <map>
#include <set>
#include <sstream>
#include <string>

namespace mindgate::testing {

// What users of metrics rely on: of each family in Prometheus' text format, a line with its name,
// its type and the labels of its series, "name type label,label". In order of names.
inline std::string MetricContract(const std::string& text) {
  std::map<std::string, std::string> types;
  std::map<std::string, std::set<std::string>> labels;
  std::string family;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      words >> family >> types[family];
      labels[family];
      continue;
    }
    const size_t open = line.find('{');
    if (line.starts_with('#') || open == std::string::npos || line.find(' ') < open) continue;
    // No value of ours holds a quotation mark.
    for (size_t at = open + 1; at < line.size() && line[at] != '}';) {
      const size_t equals = line.find('=', at);
      const std::string label = line.substr(at, equals - at);
      if (label != "le") labels[family].insert(label);
      at = line.find('"', equals + 2) + 1;
      if (at < line.size() && line[at] == ',') ++at;
    }
  }
  std::string contract;
  for (const auto& [name, names] : labels) {
    std::string list;
    for (const std::string& label : names) list += (list.empty() ? " " : ",") + label;
    contract += name + " " + types[name] + list + "\n";
  }
  return contract;
}

}  // namespace mindgate::testing
