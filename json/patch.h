#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "json/arena.h"
#include "json/json.h"
#include "json/value.h"

namespace mindgate::json {

// One RFC 6902 operation of mindgate's own patches: `add` (a member that is absent or null, or a
// list item with the last token "-") or `replace`; never a negative index, which crashes one Go
// implementation.
struct Operation {
  enum class Kind { kAdd, kReplace };
  Kind kind = Kind::kAdd;
  std::string path;
  Json value;
  bool operator==(const Operation&) const = default;
};

// The RFC 6902 document: [{"op":"add","path":"...","value":...}], [] for no operation.
Json ToJsonPatch(std::span<const Operation> operations);
std::string PatchText(std::span<const Operation> operations);

// `value` with the operations done. What they change is laid out in `arena`, with every row on the
// way to it, each once; all else is shared with `value`. The operations are independent of each
// other: no path is part of another one, and the parents of all of them are in `value`. An error
// names the path.
Result<Value> ApplyPatch(const Value& value, std::span<const Operation> operations, Arena& arena);

}  // namespace mindgate::json
