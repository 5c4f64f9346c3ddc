#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cel/ast.h"
#include "cel/written.h"
#include "json/arena.h"
#include "json/issues.h"

// The tree of an expression as text.
namespace mindgate::testing {

inline std::string_view LabelOf(const cel::Node& node) {
  switch (node.kind) {
    case cel::NodeKind::kIndex:
      return "index";
    case cel::NodeKind::kList:
      return "list";
    case cel::NodeKind::kMap:
      return "map";
    case cel::NodeKind::kAnd:
      return "and";
    case cel::NodeKind::kOr:
      return "or";
    case cel::NodeKind::kConditional:
      return "if";
    case cel::NodeKind::kHas:
      return "has";
    case cel::NodeKind::kAll:
      return "all";
    case cel::NodeKind::kExists:
      return "exists";
    case cel::NodeKind::kExistsOne:
      return "exists-one";
    case cel::NodeKind::kFilter:
      return "filter";
    case cel::NodeKind::kTransform:
      return "transform";
    case cel::NodeKind::kTransformMap:
      return "transform-map";
    case cel::NodeKind::kTransformMapEntry:
      return "transform-map-entry";
    case cel::NodeKind::kSortBy:
      return "sort-by";
    case cel::NodeKind::kBind:
      return "bind";
    case cel::NodeKind::kBlock:
      return "block";
    case cel::NodeKind::kOptMap:
      return "opt-map";
    case cel::NodeKind::kOptFlatMap:
      return "opt-flat-map";
    default:
      return node.name;
  }
}

// Whether the node is a macro that walks over its first argument.
inline bool IsComprehension(cel::NodeKind kind) {
  switch (kind) {
    case cel::NodeKind::kAll:
    case cel::NodeKind::kExists:
    case cel::NodeKind::kExistsOne:
    case cel::NodeKind::kFilter:
    case cel::NodeKind::kTransform:
    case cel::NodeKind::kTransformMap:
    case cel::NodeKind::kTransformMapEntry:
    case cel::NodeKind::kSortBy:
      return true;
    default:
      return false;
  }
}

// "(_+_ 1 (select a b))". The parser bounds the depth.
inline std::string Dump(const cel::Node& node) {
  if (node.kind == cel::NodeKind::kLiteral) {
    const bool is_double = node.value.kind() == cel::Kind::kDouble;
    return is_double ? std::to_string(node.value.number()) : Written(node.value);
  }
  if (node.kind == cel::NodeKind::kIdent) return std::string(node.name);
  std::string out = "(";
  const bool select = node.kind == cel::NodeKind::kSelect;
  if (select) out += "select";
  if (node.kind == cel::NodeKind::kStruct) out += "struct ";
  if (node.is_member && node.kind == cel::NodeKind::kCall) out += ".";
  if (!select) out += LabelOf(node);
  if (node.is_optional) out += "?";
  const bool declares = IsComprehension(node.kind) || node.kind == cel::NodeKind::kBind ||
                        node.kind == cel::NodeKind::kOptMap ||
                        node.kind == cel::NodeKind::kOptFlatMap;
  if (declares) out += " " + std::string(node.name);
  if (!node.second.empty()) out += "," + std::string(node.second);
  for (size_t i = 0; i < node.args.size(); ++i) {
    const size_t entry = node.kind == cel::NodeKind::kMap ? i / 2 : i;
    const bool is_key = node.kind != cel::NodeKind::kMap || i % 2 == 0;
    const bool optional = is_key && entry < node.optional_args.size() && node.optional_args[entry];
    out += (optional ? " ?" : " ") + Dump(*node.args[i]);
  }
  if (select) out += " " + std::string(node.name);
  return out + ")";
}

// The tree of a text, or all that is wrong with it, as it is printed.
inline std::string Parsed(std::string_view text, const cel::ParserOptions& options = {}) {
  json::Arena arena(1024);
  json::Issues issues;
  const cel::Node* node = cel::Parse(text, options, arena, issues);
  return node == nullptr ? json::Render(issues, "cel", text) : Dump(*node);
}

}  // namespace mindgate::testing
