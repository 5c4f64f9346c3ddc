#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "json/value.h"

namespace mindgate::json::internal {

// A decimal number ("-1.5e3", ".5", "1."; sign, digits, point and exponent already checked) as the
// nearest double. Too small becomes zero; too large gives nothing. As Go's strconv.ParseFloat,
// whatever the locale.
std::optional<double> ParseDecimal(std::string_view text);

// The text that sigs.k8s.io/yaml makes of a key that is a float: Go's strconv.FormatFloat(value,
// 'g', -1, 32), with ".inf", "-.inf" and ".nan" for what is not finite (in 32 bits).
std::string FloatKeyText(double value);

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
