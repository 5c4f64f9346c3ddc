#include "cel/ast.h"

#include <string>

#include "base/text.h"

namespace mindgate::cel {
namespace {

std::string TextOfLiteral(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.is_true() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer());
    case Kind::kUint:
      return std::to_string(value.unsigned_integer()) + "u";
    case Kind::kDouble:
      return std::to_string(value.number());
    case Kind::kBytes:
      return "b" + Quote(value.text());
    default:
      return Quote(value.text());
  }
}

std::string_view LabelOf(const Node& node) {
  switch (node.kind) {
    case NodeKind::kIndex:
      return "index";
    case NodeKind::kList:
      return "list";
    case NodeKind::kMap:
      return "map";
    case NodeKind::kAnd:
      return "and";
    case NodeKind::kOr:
      return "or";
    case NodeKind::kConditional:
      return "if";
    case NodeKind::kHas:
      return "has";
    case NodeKind::kAll:
      return "all";
    case NodeKind::kExists:
      return "exists";
    case NodeKind::kExistsOne:
      return "exists-one";
    case NodeKind::kFilter:
      return "filter";
    case NodeKind::kTransform:
      return "transform";
    case NodeKind::kTransformMap:
      return "transform-map";
    case NodeKind::kTransformMapEntry:
      return "transform-map-entry";
    case NodeKind::kSortBy:
      return "sort-by";
    case NodeKind::kBind:
      return "bind";
    case NodeKind::kBlock:
      return "block";
    case NodeKind::kOptMap:
      return "opt-map";
    case NodeKind::kOptFlatMap:
      return "opt-flat-map";
    default:
      return node.name;
  }
}

}  // namespace

bool IsComprehension(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAll:
    case NodeKind::kExists:
    case NodeKind::kExistsOne:
    case NodeKind::kFilter:
    case NodeKind::kTransform:
    case NodeKind::kTransformMap:
    case NodeKind::kTransformMapEntry:
    case NodeKind::kSortBy:
      return true;
    default:
      return false;
  }
}

// The parser bounds the depth.
std::string Dump(const Node& node) {
  if (node.kind == NodeKind::kLiteral) return TextOfLiteral(node.value);
  if (node.kind == NodeKind::kIdent) return std::string(node.name);
  std::string out = "(";
  const bool select = node.kind == NodeKind::kSelect;
  if (select) out += "select";
  if (node.kind == NodeKind::kStruct) out += "struct ";
  if (node.is_member && node.kind == NodeKind::kCall) out += ".";
  if (!select) out += LabelOf(node);
  if (node.is_optional) out += "?";
  const bool declares = IsComprehension(node.kind) || node.kind == NodeKind::kBind ||
                        node.kind == NodeKind::kOptMap || node.kind == NodeKind::kOptFlatMap;
  if (declares) out += " " + std::string(node.name);
  if (!node.second.empty()) out += "," + std::string(node.second);
  for (size_t i = 0; i < node.args.size(); ++i) {
    const size_t entry = node.kind == NodeKind::kMap ? i / 2 : i;
    const bool is_key = node.kind != NodeKind::kMap || i % 2 == 0;
    const bool optional = is_key && entry < node.optional_args.size() && node.optional_args[entry];
    out += (optional ? " ?" : " ") + Dump(*node.args[i]);
  }
  if (select) out += " " + std::string(node.name);
  return out + ")";
}

}  // namespace mindgate::cel
