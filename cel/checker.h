#pragma once

#include <cstddef>
#include <string_view>

#include "cel/ast.h"
#include "cel/context.h"
#include "cel/environment.h"
#include "cel/types.h"
#include "json/arena.h"
#include "json/issues.h"

namespace mindgate::cel {

struct Checked {
  const Type* type = nullptr;  // of the whole; null when there are issues
  size_t locals = 0;           // variables that macros declare, at most so many at a time
};

// Finds what every name of a tree refers to, and what each call may mean, and says so in the tree.
// Reports all that is not declared and every call that no function takes. Literal patterns are
// compiled into `patterns`.
Checked Check(Node& root, std::string_view text, const Environment& environment, json::Arena& arena,
              Patterns& patterns, json::Issues& issues);

}  // namespace mindgate::cel
