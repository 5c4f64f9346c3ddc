#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/arena.h"
#include "json/value.h"

namespace mindgate::json {

// Appends one RFC 6901 token to a pointer: '~' becomes "~0" and '/' becomes "~1".
std::string Child(std::string_view pointer, std::string_view key);
std::string Child(std::string_view pointer, size_t index);

// Where the token that begins with the '/' at `begin` ends.
size_t TokenEnd(std::string_view pointer, size_t begin);

// Appends what the escaped token stands for; false when it is not a valid token.
bool Unescape(std::string_view token, std::string& out);

// The unescaped tokens of a pointer; nothing when it is not an RFC 6901 pointer.
std::optional<std::vector<std::string>> Tokens(std::string_view pointer);

// The number that a token denotes as an index into a list: decimal, no sign, no leading zero ("-"
// is none).
std::optional<size_t> ListIndex(std::string_view token);

// The value at `pointer`, null pointer when there is none. Unlike Find, a JSON null is returned as
// itself.
const Json* Resolve(const Json& root, std::string_view pointer);
const Value* Resolve(const Value& root, std::string_view pointer);

// The pointer as Kubernetes prints field paths:
// "spec.containers[0].resources.limits[huawei.com/Ascend910]". List items by index; map keys that
// are not plain identifiers in brackets. `root` distinguishes lists from maps; below what exists in
// it a token counts as a map key. The root itself is "". Text that is not a pointer is returned
// unchanged.
std::string FieldPath(const Json& root, std::string_view pointer);
std::string FieldPath(const Value& root, std::string_view pointer);

// One RFC 6902 operation of mindgate's own patches: `add` (a member that is absent or null, or a
// list item with the last token "-") or `replace`; never a negative index, which crashes one Go
// implementation. Path and value are borrowed.
struct Operation {
  enum class Kind : uint8_t { kAdd, kReplace };
  Kind kind = Kind::kAdd;
  std::string_view path;
  Value value;
};

// Operations with the memory of their paths and values, which copies share.
class Patch {
 public:
  Patch() = default;
  // What `operations` borrow is in `memory`.
  Patch(std::vector<Operation> operations, std::shared_ptr<const Arena> memory)
      : operations_(std::move(operations)), memory_(std::move(memory)) {}

  bool empty() const { return operations_.empty(); }
  size_t size() const { return operations_.size(); }
  const Operation* data() const { return operations_.data(); }
  const Operation* begin() const { return data(); }
  const Operation* end() const { return data() + size(); }

 private:
  std::vector<Operation> operations_;
  std::shared_ptr<const Arena> memory_;
};

// The RFC 6902 document: [{"op":"add","path":"...","value":...}], [] for no operation.
Json ToJsonPatch(std::span<const Operation> operations);
std::string PatchText(std::span<const Operation> operations);

// `value` with the operations done. What they change is laid out in `arena`, with every row on the
// way to it, each once; all else is shared with `value`, nothing with the operations. The
// operations are independent of each other: no path is part of another one, and the parents of all
// of them are in `value`. An error names the path.
Result<Value> ApplyPatch(const Value& value, std::span<const Operation> operations, Arena& arena);

}  // namespace mindgate::json
