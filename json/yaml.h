#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/issues.h"
#include "json/json.h"
#include "json/limits.h"
#include "json/positions.h"

namespace mindgate::json {

struct YamlDocument {
  Json value;
  Positions positions;
  int line = 1;  // of the document's first content
};

// YAML as sigs.k8s.io/yaml reads it, which is what kubectl sends: YAML 1.1 scalars (yes/on are
// true, 012 is 10, 0o14 is 12, 1_000 is 1000), merge keys (own keys win), anchors and aliases,
// non-string keys turned into text. Dates and quoted scalars are strings. Integers keep all 64 bits
// and floats stay floats. Refused with its place: syntax faults, duplicate keys, aliases to
// themselves, unknown tags, invalid UTF-8, .nan and .inf, and whatever passes a limit. Documents
// without content (only comments) are left out; "null" and "~" are not. The whole stream is refused
// when any of its documents is bad. Never throws, whatever the bytes. Safe from many threads.
tl::expected<std::vector<YamlDocument>, Issue> DecodeYaml(std::string_view text,
                                                          const Limits& limits = {});

// The scalar rules alone, as used for a plain (unquoted) scalar.
Json ResolvePlainScalar(std::string_view text);

// Block-style YAML that DecodeYaml reads back as the same value; keys in order, strings that would
// be read as something else quoted, long text as literal blocks. Ends with a newline; no "---".
std::string EncodeYaml(const Json& value);

}  // namespace mindgate::json
