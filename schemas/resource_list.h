#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/value.h"

// The protocol of KRM functions, by which kustomize and kpt run programs
// (https://github.com/kubernetes-sigs/kustomize,
// cmd/config/docs/api-conventions/functions-spec.md).
namespace mindgate::schemas {

// What a KRM function answers.
struct FunctionAnswer {
  std::string output;  // a ResourceList in YAML
  // The results as lines for people: kustomize shows none of those in the list.
  std::vector<std::string> lines{};  // "error: spec.app_name: ..."
  bool failed = false;  // a result has severity error: the items are those of the input
};

// "info", "warning" or "error" in a result.
enum class FunctionSeverity : unsigned char { kInfo, kWarning, kError };

std::string_view FunctionSeverityName(FunctionSeverity severity);

// One call of a function: its input, and what it has found so far.
class ResourceList {
 public:
  // Why the text is no input of a function, otherwise.
  static tl::expected<ResourceList, std::string> Read(std::string_view text);

  json::Json function_config() const { return list_.value("functionConfig", json::Json::object()); }
  json::Json items() const { return list_.value("items", json::Json::array()); }  // objects

  // Adds a result: the message, and behind it what to write instead, if anything. `where` stands
  // before it in the line for people. `more` has the result's other members, such as resourceRef.
  void Report(FunctionSeverity severity, std::string message, const std::string& fix,
              const std::string& where, json::Json more);

  // With these items, unless a result has severity error.
  FunctionAnswer Answer(json::Json items) &&;

 private:
  ResourceList() = default;

  json::Json list_;  // all of the input
  json::Json results_ = json::Json::array();
  std::vector<std::string> lines_;
  bool failed_ = false;
};

// The resourceRef of an object.
json::Json ReferenceTo(const json::Json& object);

}  // namespace mindgate::schemas
