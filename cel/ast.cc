#include "cel/ast.h"

#include <array>

namespace mindgate::cel {
namespace {

struct LoopMacro {
  std::string_view name;
  NodeKind kind;
  size_t variables;
  size_t least;  // arguments
  size_t most;
};

constexpr std::array kLoops{
    LoopMacro{"all", NodeKind::kAll, 1, 2, 2},
    LoopMacro{"all", NodeKind::kAll, 2, 3, 3},
    LoopMacro{"exists", NodeKind::kExists, 1, 2, 2},
    LoopMacro{"exists", NodeKind::kExists, 2, 3, 3},
    LoopMacro{"exists_one", NodeKind::kExistsOne, 1, 2, 2},
    LoopMacro{"exists_one", NodeKind::kExistsOne, 2, 3, 3},
    LoopMacro{"existsOne", NodeKind::kExistsOne, 1, 2, 2},
    LoopMacro{"existsOne", NodeKind::kExistsOne, 2, 3, 3},
    LoopMacro{"filter", NodeKind::kFilter, 1, 2, 2},
    LoopMacro{"map", NodeKind::kTransform, 1, 2, 3},
    LoopMacro{"transformList", NodeKind::kTransform, 2, 3, 4},
    LoopMacro{"transformMap", NodeKind::kTransformMap, 2, 3, 4},
    LoopMacro{"transformMapEntry", NodeKind::kTransformMapEntry, 2, 3, 4},
    LoopMacro{"sortBy", NodeKind::kSortBy, 1, 2, 2},
};

struct Usage {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kUsages{
    Usage{"has", "write has(object.member)"},
    Usage{"all", "write list.all(x, condition), or map.all(key, value, condition)"},
    Usage{"exists", "write list.exists(x, condition), or map.exists(key, value, condition)"},
    Usage{"exists_one", "write list.exists_one(x, condition)"},
    Usage{"existsOne", "write list.existsOne(x, condition)"},
    Usage{"filter", "write list.filter(x, condition)"},
    Usage{"map", "write list.map(x, result), or list.map(x, condition, result)"},
    Usage{"transformList", "write list.transformList(index, x, result)"},
    Usage{"transformMap", "write map.transformMap(key, value, result)"},
    Usage{"transformMapEntry", "write map.transformMapEntry(key, value, {newKey: newValue})"},
    Usage{"sortBy", "write list.sortBy(x, key)"},
    Usage{"bind", "write cel.bind(name, value, expression)"},
    Usage{"optMap", "write optional.optMap(x, result)"},
    Usage{"optFlatMap", "write optional.optFlatMap(x, optionalResult)"},
};

bool IsCel(const Node* target) {
  return target != nullptr && target->kind == NodeKind::kIdent && target->name == "cel";
}

}  // namespace

Macro MacroOf(const Node* target, std::string_view name, size_t arguments, bool blocks) {
  using Shape = Macro::Shape;
  if (target == nullptr) {
    if (name == "has" && arguments == 1) return {Shape::kHas, NodeKind::kHas, 0};
    return {};
  }
  if (IsCel(target)) {
    if (name == "bind" && arguments == 3) return {Shape::kBind, NodeKind::kBind, 1};
    if (!blocks) return {};
    if (name == "block" && arguments == 2) return {Shape::kBlock, NodeKind::kBlock, 0};
    if (name == "index" && arguments == 1) return {Shape::kIndex, NodeKind::kIdent, 0};
    if (name == "iterVar" && arguments == 2) return {Shape::kIndex, NodeKind::kIdent, 0};
    return {};
  }
  if (arguments == 2 && name == "optMap") return {Shape::kOption, NodeKind::kOptMap, 1};
  if (arguments == 2 && name == "optFlatMap") return {Shape::kOption, NodeKind::kOptFlatMap, 1};
  for (const LoopMacro& loop : kLoops) {
    if (loop.name == name && arguments >= loop.least && arguments <= loop.most) {
      // map(x, condition, result) has as many arguments as two variables would have.
      return {Shape::kLoop, loop.kind, loop.variables};
    }
  }
  return {};
}

std::string_view UsageOfMacro(std::string_view name) {
  for (const Usage& usage : kUsages) {
    if (usage.name == name) return usage.text;
  }
  return {};
}

}  // namespace mindgate::cel
