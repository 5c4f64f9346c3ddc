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

// A JSONPath template as `kubectl -o jsonpath=` reads it
// (https://kubernetes.io/docs/reference/kubectl/jsonpath/): text outside braces, and in them
// `.a.b`,
// `['a']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `..`, unions, filters `[?(@.x=="y")]`, `"\n"`, `range`
// and `end`. As there, `@` and `$` both are what a path begins at, and a field that is missing
// prints nothing.
class JsonPath {
 public:
  static constexpr size_t kMaxTemplate = 4096;  // bytes
  static constexpr size_t kMaxDepth = 32;       // ranges and filters within another
  static constexpr size_t kMaxOutput = size_t{64} * 1024 * 1024;  // bytes

  // What is wrong is told with its column, from 1.
  static Result<JsonPath> Parse(std::string_view text);

  // The text for a value, without a newline that the template does not write. Fails where the
  // template does not fit the value (an index that a list does not have) and beyond the limits.
  Result<std::string> Print(const nlohmann::ordered_json& value) const;

 private:
  explicit JsonPath(std::shared_ptr<const std::vector<jsonpath::Piece>> pieces);

  std::shared_ptr<const std::vector<jsonpath::Piece>> pieces_;
};

}  // namespace mindgate::cli
