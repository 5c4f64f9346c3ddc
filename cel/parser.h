#pragma once

#include <cstddef>
#include <string_view>

#include "cel/ast.h"
#include "json/arena.h"
#include "json/issues.h"

namespace mindgate::cel {

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
