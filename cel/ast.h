#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cel/value.h"
#include "json/arena.h"
#include "json/issues.h"

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

// What a call is that the parser found, if it is a macro.
struct Macro {
  enum class Shape {
    kNone,    // a function
    kHas,     // has(a.b)
    kLoop,    // range.all(x, ...), with one or two variables
    kBind,    // cel.bind(x, value, body)
    kOption,  // optional.optMap(x, ...)
    kBlock,   // cel.block([...], body)
    kIndex,   // cel.index(1), cel.iterVar(0, 1)
  };

  Shape shape = Shape::kNone;
  NodeKind kind = NodeKind::kCall;
  size_t variables = 0;  // that the first arguments name
};

// `target` is what stands before the dot: a null pointer for none.
Macro MacroOf(const Node* target, std::string_view name, size_t arguments, bool blocks);

// What may be wrong with the arguments of a call that has the name of a macro but is not one:
// how it is written, or nothing.
std::string_view UsageOfMacro(std::string_view name);

// The longest expression. The API server takes as much.
inline constexpr size_t kMostBytes = 100'000;
// The deepest tree: whatever walks over one calls itself so often at most.
inline constexpr int kMostDeep = 200;

struct ParserOptions {
  bool blocks = false;  // cel.block, cel.index and cel.iterVar, which only optimizers write
};

// The tree of an expression, laid out in the arena; a null pointer and an issue when it is not one.
// The tree borrows from the text.
Node* Parse(std::string_view text, const ParserOptions& options, json::Arena& arena,
            json::Issues& issues);

}  // namespace mindgate::cel
