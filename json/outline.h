#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/issues.h"

namespace mindgate::json {

// One node of a YAML or JSON document as it is written, aliases not expanded.
struct TextNode {
  enum class Kind : uint8_t { kScalar, kMapping, kSequence, kAlias };
  Kind kind = Kind::kScalar;
  bool flow = false;      // a mapping or sequence in brackets; all of JSON
  bool shared = false;    // it has an anchor to which an alias refers
  bool merge = false;     // the key "<<"
  uint32_t next = 0;      // the node after this one and all that it holds
  uint32_t target = 0;    // of an alias
  size_t first_byte = 0;  // in the text, of its anchor or tag if it has one
  size_t begin = 0;       // of its content; `end` where it has none, as after "key:"
  size_t end = 0;  // behind its last character. A collection without brackets ends with the last of
                   // what it holds, a block scalar with the empty lines after it
  std::string key;  // of a key: as the decoder reads it

  bool IsEmpty() const { return begin == end; }
};

// The nodes of one document in the order of its text: a mapping is followed by its keys and values
// by turns, a sequence by its items. Offsets count in the text that was read, with its byte order
// mark.
using Outline = std::vector<TextNode>;

// Of each document that DecodeYaml gives. An issue for a text that is not YAML.
tl::expected<std::vector<Outline>, Issue> OutlineYaml(std::string_view text);

// Of a text that Decode took. Its byte order mark, if any, counts.
Outline OutlineJson(std::string_view text);

// The places of a mapping's keys or of a sequence's items in the outline. A value follows its key.
std::vector<uint32_t> ChildrenOf(const Outline& outline, uint32_t index);

}  // namespace mindgate::json
