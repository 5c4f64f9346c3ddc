#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/value.h"

namespace mindgate::cel {

struct Candidate;
struct Type;

// What a node of the tree is, with its `args`.
enum class NodeKind : uint8_t {
  kLiteral,            // `value`
  kIdent,              // `name`; a leading dot stays in it
  kSelect,             // operand; member `name`
  kIndex,              // operand, index
  kCall,               // function `name`; the receiver of a member function comes first
  kList,               // items
  kMap,                // key, value, key, value ...
  kStruct,             // a message of that `name`, which nothing can evaluate
  kAnd,                // two or more
  kOr,                 // two or more
  kConditional,        // condition, then, else
  kHas,                // the kSelect whose member is asked for
  kAll,                // range, condition
  kExists,             // range, condition
  kExistsOne,          // range, condition
  kFilter,             // range, condition
  kTransform,          // map and transformList: range, [condition,] result
  kTransformMap,       // range, [condition,] result
  kTransformMapEntry,  // range, [condition,] result
  kSortBy,             // range, key
  kBind,               // value, body
  kBlock,              // values ..., body
  kOptMap,             // optional, result
  kOptFlatMap,         // optional, result
  kVariable,           // resolved: the variable at `slot` of the environment
  kLocal,              // resolved: the local variable at `slot`
  kFault,              // resolved: fails with `name` as message when it is evaluated
};

// One part of an expression. It stands in the arena of its program and owns nothing.
struct Node {
  NodeKind kind = NodeKind::kLiteral;
  bool is_member = false;    // of a call: name(args) or receiver.name(args)
  bool is_optional = false;  // ?.name and [?index]
  uint16_t depth = 1;        // of the tree below
  uint32_t at = 0;           // offset in the text
  uint32_t slot = 0;         // of a variable; of the first local that a macro declares
  std::string_view name;     // as the kind has it; of a macro its first variable
  std::string_view second;   // the second variable of a macro, or empty
  std::span<Node*> args;
  std::span<const bool> optional_args;  // of a list or map: ?item; empty when none is
  Value value;
  std::span<const Candidate> candidates;  // of a call: what its arguments may be, in turn
  const Type* type = nullptr;
};

}  // namespace mindgate::cel
