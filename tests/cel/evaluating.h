#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/program.h"
#include "cel/value.h"
#include "cel/written.h"
#include "json/decode.h"
#include "json/issues.h"

// Expressions and what becomes of them, as text.
namespace mindgate::testing {

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
