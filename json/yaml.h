#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/decode.h"
#include "json/issues.h"
#include "json/value.h"

namespace mindgate::json {

struct YamlDocument {
  Json value;
  // An anchor or a tag belongs to its value. All that an alias pulls in has the place of the alias.
  Positions positions;
  int line = 1;  // of the document's first content
};

// YAML as sigs.k8s.io/yaml reads it, which is what kubectl sends: YAML 1.1 scalars (yes/on are
// true, 012 is 10, 0o14 is 12, 1_000 is 1000), merge keys (own keys win), anchors and aliases,
// non-string keys turned into text. Dates and quoted scalars are strings. Integers keep all 64 bits
// and floats stay floats; !!binary is its decoded text. Documents without content (only comments)
// are left out; "null" and "~" are not. Refused with its place: syntax faults, duplicate keys,
// aliases to themselves, other tags of YAML or of others, what is not UTF-8, .nan and .inf, and
// whatever passes a limit; the whole stream, when any of its documents is bad.
// Never throws, whatever the bytes. Safe from many threads.
tl::expected<std::vector<YamlDocument>, Issue> DecodeYaml(std::string_view text,
                                                          const Limits& limits = {});

// The same with the plain scalars of YAML 1.2's core schema (https://yaml.org/spec/1.2.2, 10.3.2):
// on, off, yes and no are strings, 010 is 10, 12:30:45 and 1_000 are strings, and keys are the text
// as it is written. For files that no Kubernetes tool reads.
tl::expected<std::vector<YamlDocument>, Issue> DecodeCoreYaml(std::string_view text,
                                                              const Limits& limits = {});

// The scalar rules alone, as used for a plain (unquoted) scalar.
Json ResolvePlainScalar(std::string_view text);
Json ResolveCoreScalar(std::string_view text);

// Block-style YAML that DecodeYaml reads back as the same value: keys in order, strings that would
// be read as something else quoted, text of several lines as literal blocks. Ends with a newline,
// has no "---". Bytes that are not UTF-8 become U+FFFD, numbers that are not finite null.
std::string EncodeYaml(const Json& value);

// The same on one line and with brackets, without its end: {a: b, c: [1, 2]}. Also fits where it
// stands in the brackets of others.
std::string EncodeFlowYaml(const Json& value);

}  // namespace mindgate::json
