#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/decode.h"
#include "json/issues.h"
#include "json/scalars.h"

namespace mindgate::json::internal {

// One node of a YAML document as written, before scalars are resolved and aliases expanded.
struct YamlNode {
  enum class Kind : uint8_t { kScalar, kMapping, kSequence, kAlias };
  Kind kind = Kind::kScalar;
  YamlTag tag = YamlTag::kNone;
  bool plain = false;   // a scalar that may be more than a string
  Position at;          // of its anchor or tag, if it has one
  std::string text;     // of a scalar
  uint32_t target = 0;  // of an alias
  // The node after this one and all that it holds; 0 while it is still open.
  uint32_t end = 0;
  // Offsets in the text: from its anchor or tag to behind its last character. A collection without
  // brackets ends with the last of what it holds, a block scalar with the empty lines after it.
  uint32_t first_byte = 0;
  uint32_t end_byte = 0;
  bool flow = false;  // a collection in brackets
};

// A document in the order of its text: a collection is followed by what it holds, keys and values
// by turns.
using YamlNodes = std::vector<YamlNode>;

// Whether the key merges maps: "<<" as a plain scalar.
bool IsMergeKey(const YamlNode& key);

// Cuts a YAML stream into documents. Holds to the limits on bytes, depth and values as far as they
// concern the text itself. Refers to `text`, which must be UTF-8 without a byte order mark.
class YamlReader {
 public:
  YamlReader(std::string_view text, const Limits& limits);
  ~YamlReader();
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  // The next document that has any content; no nodes at the end of the stream.
  tl::expected<YamlNodes, Issue> Next();

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace mindgate::json::internal
