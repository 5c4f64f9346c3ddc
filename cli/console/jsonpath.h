#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mindgate::cli {

namespace jsonpath {
struct Piece;
}  // namespace jsonpath

// A JSONPath template as in `kubectl -o jsonpath=`
// (https://kubernetes.io/docs/reference/kubectl/jsonpath/): text outside braces, and in them
// `.a.b`, `['a']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `..`, unions, filters `[?(@.x=="y")]`, `"\n"`,
// `range` and `end`. As in kubectl, `@` and `$` both mean the start of the path, and a missing
// field prints nothing.
class JsonPath {
 public:
  static constexpr size_t kMaxTemplate = 4096;                    // bytes
  static constexpr size_t kMaxDepth = 32;                         // nesting of ranges and filters
  static constexpr size_t kMaxOutput = size_t{64} * 1024 * 1024;  // bytes

  // Errors name the column, from 1.
  static Result<JsonPath> Parse(std::string_view text);

  // The output for a value; no newline is added. Fails if the template does not fit the value (an
  // index out of range) or a limit is exceeded.
  Result<std::string> Print(const nlohmann::ordered_json& value) const;

 private:
  explicit JsonPath(std::shared_ptr<const std::vector<jsonpath::Piece>> pieces);

  std::shared_ptr<const std::vector<jsonpath::Piece>> pieces_;
};

}  // namespace mindgate::cli
