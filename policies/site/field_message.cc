#include <optional>
#include <vector>

#include "json/pointer.h"
#include "policies/site/evaluation.h"

namespace mindgate::policies::site {
namespace {

// The keys and indexes of a field path; nothing when it is not one.
std::optional<std::vector<std::string_view>> StepsOf(std::string_view field) {
  std::vector<std::string_view> steps;
  for (size_t at = 0; at < field.size();) {
    const bool bracket = field[at] == '[';
    if (!bracket && at > 0 && field[at++] != '.') return std::nullopt;
    const size_t begin = bracket ? at + 1 : at;
    const size_t end = bracket ? field.find(']', begin) : field.find_first_of(".[ ", begin);
    if (bracket && end == std::string_view::npos) return std::nullopt;
    const std::string_view step = field.substr(begin, end - begin);
    if (step.empty()) return std::nullopt;
    steps.push_back(step);
    at = end == std::string_view::npos ? field.size() : end + (bracket ? 1 : 0);
  }
  return steps;
}

}  // namespace

FieldMessage ReadFieldMessage(const json::Value& object, std::string_view message) {
  const FieldMessage of_object{"", std::string(message)};
  const size_t colon = message.find(": ");
  if (colon == std::string_view::npos || colon == 0) return of_object;
  const auto steps = StepsOf(message.substr(0, colon));
  if (!steps) return of_object;
  std::string path;
  const json::Value* holder = &object;
  for (const std::string_view step : *steps) {
    if (holder == nullptr) return of_object;
    const std::string child = json::Child("", step);
    const json::Value* value = json::Resolve(*holder, child);
    // A first key that is missing is more likely a word.
    if (value == nullptr && (path.empty() || !holder->is_object())) return of_object;
    path += child;
    holder = value;
  }
  return {path, std::string(message.substr(colon + 2))};
}

}  // namespace mindgate::policies::site
