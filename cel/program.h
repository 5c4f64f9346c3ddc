#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "cel/context.h"
#include "cel/value.h"
#include "json/arena.h"
#include "json/issues.h"

namespace mindgate::cel {

// The values of the variables that an expression names.
class Activation {
 public:
  virtual ~Activation() = default;
  // The value of the variable at this place in the environment. It is asked for each time that the
  // expression reads it. An error (Context::Fail) is the result where the variable is used.
  virtual Value Get(size_t variable, Context& context) = 0;
};

// Values in the order of the environment's variables. The row outlives the object; a variable
// beyond its end has no value.
class Values final : public Activation {
 public:
  explicit Values(std::span<const Value> row) : row_(row) {}
  Value Get(size_t variable, Context& context) override;

 private:
  std::span<const Value> row_;
};

// One compiled expression that never changes: copied freely, and evaluated by any number of threads
// at a time.
//
//   const cel::Environment environment{.variables = {{"object", "dyn"}}};
//   const auto program = cel::Compile("object.spec.replicas > 1", environment);
//   if (!program) std::cerr << json::Render(program.error(), "policy", text);
//   json::Arena arena(4096);
//   const cel::Value row[] = {cel::Value::Of(object)};
//   cel::Values values(row);
//   const auto result = program->Evaluate(values, arena);
class Program {
 public:
  // The value, or why there is none, with its place in the text. The value borrows from the arena,
  // from the program and from the values of the variables. Memory beyond the arena is taken only
  // for an error and by RE2. The stack that it takes is bounded: kMostDeep (ast.h) levels.
  tl::expected<Value, json::Issue> Evaluate(Activation& activation, json::Arena& arena,
                                            const Limits& limits = {}) const;
  // What the last evaluation cost is of interest to tests and to whoever sets limits.
  tl::expected<Value, json::Issue> Evaluate(Activation& activation, json::Arena& arena,
                                            const Limits& limits, uint64_t& cost) const;

  const std::string& text() const;
  // The type of its value: "bool", "list(string)", or "dyn" where it depends on the values.
  const std::string& type() const;

 private:
  friend tl::expected<Program, json::Issues> Compile(std::string_view text,
                                                     const Environment& environment);
  struct Compiled;
  explicit Program(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

// Parses and checks an expression. All that is wrong comes at once, with line and column;
// json::Render prints it.
tl::expected<Program, json::Issues> Compile(std::string_view text, const Environment& environment);

}  // namespace mindgate::cel
