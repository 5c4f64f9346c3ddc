#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/text.h"
#include "cel/environment.h"
#include "cel/library/network.h"
#include "cel/library/text_of.h"
#include "cel/library/times.h"
#include "cel/opaque.h"
#include "cel/program.h"
#include "cel/value.h"
#include "json/decode.h"
#include "json/issues.h"

// Expressions and what becomes of them, as text.
namespace mindgate::testing {

// A value as an expression would write it: 3, 3u, 1.5, "a", [1], {"a": 1}, optional.of(1).
inline std::string Written(const cel::Value& value) {
  using cel::Kind;
  std::string out;
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
      return "double " + std::string(cel::NumberText::OfDouble(value.number()).text());
    case Kind::kString:
      return Quote(value.text());
    case Kind::kBytes:
      return "b" + Quote(value.text());
    case Kind::kType:
      return "type " + std::string(value.text());
    case Kind::kTimestamp:
      return std::string(cel::TimeText(value).text());
    case Kind::kDuration:
      return std::string(cel::DurationText(value.integer()).text());
    case Kind::kIp:
      return "ip " + std::string(cel::TextOfIp(value.ip()).text());
    case Kind::kCidr:
      return "cidr " + std::string(cel::TextOfIp(value.cidr().ip).text()) + "/" +
             std::to_string(value.cidr().prefix);
    case Kind::kOptional:
      return value.optional() == nullptr ? "none" : "some " + Written(*value.optional());
    case Kind::kList:
      for (size_t i = 0; i < value.size(); ++i) {
        out += (i == 0 ? "" : ", ") + Written(value.At(i));
      }
      return "[" + out + "]";
    case Kind::kMap:
      for (size_t i = 0; i < value.size(); ++i) {
        out += (i == 0 ? "" : ", ") + Written(value.KeyAt(i)) + ": " + Written(value.ValueAt(i));
      }
      return "{" + out + "}";
    default:
      return std::string(cel::NameOf(value.kind()));
  }
}

// The value of an expression, or all that is wrong with it, as it is printed. `object` is a
// variable of that JSON.
inline std::string Evaluated(std::string_view expression, std::string_view object = "{}",
                             const cel::Limits& limits = {}) {
  cel::Environment environment;
  environment.variables.push_back({"object", "dyn"});
  const auto program = cel::Compile(expression, environment);
  if (!program) return json::Render(program.error(), "cel", expression);
  const auto document = json::Document::Decode(object);
  EXPECT_TRUE(document) << object;
  const cel::Value row[] = {cel::Value::Of(document->root())};
  cel::Values values(row);
  json::Arena arena(4096);
  const auto value = program->Evaluate(values, arena, limits);
  return value ? Written(*value) : json::Render(value.error(), "cel", expression);
}

// The message of the first thing that is wrong, without its place.
inline std::string Failure(std::string_view expression, std::string_view object = "{}") {
  const std::string text = Evaluated(expression, object);
  const size_t begin = text.find(": ");
  if (!text.starts_with("cel:") || begin == std::string::npos) return "no failure: " + text;
  return text.substr(begin + 2, text.find('\n') - begin - 2);
}

struct Expected {
  std::string_view expression;
  std::string_view value;
};

inline void ExpectValues(std::initializer_list<Expected> rows) {
  for (const Expected& row : rows)
    EXPECT_EQ(Evaluated(row.expression), row.value) << row.expression;
}
inline void ExpectFailures(std::initializer_list<Expected> rows) {
  for (const Expected& row : rows) EXPECT_EQ(Failure(row.expression), row.value) << row.expression;
}

}  // namespace mindgate::testing
