#pragma once

#include <string_view>

#include "cel/ast.h"

namespace mindgate::cel {

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

}  // namespace mindgate::cel
