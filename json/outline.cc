#include "json/outline.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/limits.h"
#include "json/scanner.h"
#include "json/text_places.h"
#include "json/yaml.h"
#include "json/yaml_reader.h"

namespace mindgate::json {
namespace {

using internal::YamlNode;
using internal::YamlNodes;
using internal::YamlTag;

TextNode::Kind KindOf(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kMapping:
      return TextNode::Kind::kMapping;
    case YamlNode::Kind::kSequence:
      return TextNode::Kind::kSequence;
    case YamlNode::Kind::kAlias:
      return TextNode::Kind::kAlias;
    case YamlNode::Kind::kScalar:
      break;
  }
  return TextNode::Kind::kScalar;
}

// Where the content begins of a node that has anchor or tag before it.
size_t ContentOf(std::string_view text, size_t at, size_t end) {
  constexpr std::string_view kSpace = " \t\r\n";
  while (at < end && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(kSpace, at), end);
    while (at < end && (kSpace.find(text[at]) != std::string_view::npos || text[at] == '#')) {
      at = text[at] == '#' ? std::min(text.find('\n', at), end) : at + 1;
    }
  }
  return at;
}

// Keys that are not text become it. Those of floats are left empty: nobody asks for them.
std::string KeyOf(const YamlNode& node) {
  if (!node.plain || node.tag != YamlTag::kNone) return node.text;
  const Json value = ResolvePlainScalar(node.text);
  if (const auto* text = value.get_ptr<const Json::string_t*>()) return *text;
  return value.is_number_float() ? "" : value.dump();
}

Outline OutlineOf(std::string_view text, const YamlNodes& nodes, size_t offset) {
  Outline outline(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const YamlNode& node = nodes[i];
    TextNode& made = outline[i];
    made.kind = KindOf(node.kind);
    made.flow = node.flow;
    made.next = node.end;
    made.target = node.target;
    made.first_byte = node.first_byte + offset;
    made.end = node.end_byte + offset;
    made.begin = ContentOf(text, node.first_byte, node.end_byte) + offset;
    if (node.kind == YamlNode::Kind::kAlias) outline[node.target].shared = true;
    if (node.kind != YamlNode::Kind::kMapping) continue;
    for (uint32_t key = static_cast<uint32_t>(i) + 1; key < node.end;) {
      const YamlNode& written = nodes[key];
      const YamlNode& meant =
          written.kind == YamlNode::Kind::kAlias ? nodes[written.target] : written;
      outline[key].key = KeyOf(meant);
      outline[key].merge = internal::IsMergeKey(written);
      key = nodes[written.end].end;
    }
  }
  return outline;
}

}  // namespace

tl::expected<std::vector<Outline>, Issue> OutlineYaml(std::string_view text) {
  const std::string_view read = internal::WithoutByteOrderMark(text);
  if (const size_t bad = internal::FindBadUtf8(read); bad != std::string_view::npos) {
    return tl::unexpected(internal::NotUtf8(read, bad));
  }
  const Limits limits;
  std::vector<Outline> outlines;
  internal::YamlReader reader(read, limits);
  for (;;) {
    const auto nodes = reader.Next();
    if (!nodes) return tl::unexpected(nodes.error());
    if (nodes->empty()) return outlines;
    outlines.push_back(OutlineOf(read, *nodes, text.size() - read.size()));
  }
}

Outline OutlineJson(std::string_view text) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  const std::string_view read = internal::WithoutByteOrderMark(text);
  Outline outline;
  // The text was accepted before.
  (void)internal::Scan(read, Limits{kAny, Limits().depth, kAny}, nullptr, &outline);
  for (TextNode& node : outline) {
    node.first_byte += text.size() - read.size();
    node.begin = node.first_byte;
    node.end += text.size() - read.size();
  }
  return outline;
}

std::vector<uint32_t> ChildrenOf(const Outline& outline, uint32_t index) {
  std::vector<uint32_t> children;
  const TextNode& node = outline[index];
  const bool mapping = node.kind == TextNode::Kind::kMapping;
  if (!mapping && node.kind != TextNode::Kind::kSequence) return children;
  for (uint32_t at = index + 1; at < node.next;) {
    children.push_back(at);
    at = mapping ? outline[outline[at].next].next : outline[at].next;
  }
  return children;
}

}  // namespace mindgate::json
