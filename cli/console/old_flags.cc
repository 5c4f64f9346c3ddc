#include <algorithm>
#include <utility>

#include "cli/console/hints.h"

namespace mindgate::cli {
namespace {

constexpr const char* kOldNamespace = "-ns";
constexpr const char* kOldName = "--app-name";
const std::string kOldNameWith = "--app-name=";

bool IsOldName(const std::string& word) {
  return word == kOldName || word.starts_with(kOldNameWith);
}

}  // namespace

std::vector<std::string> WithoutOldFlags(const std::vector<std::string>& arguments) {
  const bool concerned =
      !arguments.empty() && (arguments.front() == "status" || arguments.front() == "delete") &&
      std::any_of(arguments.begin(), arguments.end(),
                  [](const std::string& word) { return word == kOldNamespace || IsOldName(word); });
  if (!concerned) return arguments;
  std::vector<std::string> words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == kOldNamespace) {
      words.emplace_back("--namespace");
    } else if (word.starts_with(kOldNameWith)) {
      words.push_back(word.substr(kOldNameWith.size()));
    } else if (word != "-n" && word != kOldName) {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace mindgate::cli
