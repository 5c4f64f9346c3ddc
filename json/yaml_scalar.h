#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "json/json.h"

namespace mindgate::json::internal {

// The tags that a YAML node may carry; kNone means no tag, or "!", which says nothing.
enum class YamlTag : uint8_t {
  kNone,
  kStr,
  kInt,
  kFloat,
  kBool,
  kNull,
  kMap,
  kSeq,
  kMerge,
  kBinary
};

// Whose rules say what a plain scalar is: those of DecodeYaml, or of DecodeCoreYaml.
enum class YamlSchema : uint8_t { kGoYaml, kCore };

Json ResolvePlain(std::string_view text, YamlSchema schema);

// The name in messages: "!!str".
std::string_view YamlTagName(YamlTag tag);

// A scalar under an explicit tag; a sentence when its text does not fit the tag.
tl::expected<Json, std::string> ResolveTagged(YamlTag tag, std::string_view text,
                                              YamlSchema schema);

}  // namespace mindgate::json::internal
