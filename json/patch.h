#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "json/json.h"

namespace mindgate::json {

// One RFC 6902 operation. mindgate's own patches hold only `add` (a member that is absent or null,
// or a list item with the last token "-") and `replace`; never a negative index, which crashes one
// Go implementation.
struct Operation {
  enum class Kind { kAdd, kReplace };
  Kind kind = Kind::kAdd;
  std::string path;
  Json value;
  bool operator==(const Operation&) const = default;
};

// The RFC 6902 document: [{"op":"add","path":"...","value":...}], [] for no operation.
Json ToJsonPatch(std::span<const Operation> operations);

// Applies operations, or any RFC 6902 document, in place; nothing is copied but what the patch
// adds. On failure `target` is left as it was, and the error names the operation by number. Indices
// are as RFC 6901 writes them: none is negative. A patch may neither nest values deeper than
// Limits::depth nor copy more than Limits::elements.
Result<void> ApplyPatch(Json& target, std::span<const Operation> operations);
Result<void> ApplyPatch(Json& target, const Json& patch);

}  // namespace mindgate::json
