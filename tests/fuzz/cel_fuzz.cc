// A line of CEL, and behind it an object as JSON: whatever they are, the expression is refused with
// places, or ends within its limits, with the same result each time and without a check of types.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "cel/ast.h"
#include "cel/context.h"
#include "cel/program.h"
#include "cel/tree_text.h"
#include "cel/value.h"
#include "fuzz/require.h"
#include "json/arena.h"
#include "json/decode.h"
#include "json/issues.h"

using namespace mindgate;
using mindgate::testing::Require;

namespace {

constexpr cel::Limits kLimits{.cost = 20'000, .memory = 1 << 20};

cel::Environment EnvironmentOf(bool check_types) {
  cel::Environment environment;
  environment.variables = {{"object", "dyn"},
                           {"params", "map(string, dyn)"},
                           {"names", "list(string)"},
                           {"variables.count", "int"}};
  environment.check_types = check_types;
  environment.blocks = !check_types;
  return environment;
}

// What became of the expression: the kind of the value and whether it equals itself, or the fault.
std::string Outcome(const cel::Program& program, const json::Value& object) {
  json::Arena arena(4096);
  const cel::Value names[] = {cel::Value::OfString("a"), cel::Value::OfString("bc")};
  const cel::Value row[] = {cel::Value::Of(object), cel::Value::Of(object),
                            cel::Value::OfItems(names), cel::Value::OfInt(3)};
  cel::Values values(row);
  uint64_t cost = 0;
  const auto value = program.Evaluate(values, arena, kLimits, cost);
  Require(cost <= kLimits.cost && arena.used() <= kLimits.memory);
  if (value) {
    Require(value->kind() != cel::Kind::kError);
    const cel::Patterns patterns;
    cel::Context context(arena, kLimits, patterns);
    const bool equal = context.Equal(*value, *value);
    return std::string(cel::NameOf(value->kind())) + (equal ? " equal" : " other");
  }
  Require(!value.error().message.empty() && value.error().at.line >= 0);
  Require(!json::Render(value.error(), "cel", program.text()).empty());
  return value.error().message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\n'), input.size());
  const std::string_view expression = input.substr(0, end);
  const auto document = json::Document::Decode(input.substr(std::min(end + 1, input.size())),
                                               {.bytes = 1 << 14, .depth = 64, .elements = 1000});
  const json::Document nothing;
  const json::Value& object = document ? document->root() : nothing.root();

  json::Arena arena(4096);
  json::Issues issues;
  const cel::Node* node = cel::Parse(expression, {}, arena, issues);
  Require((node == nullptr) != issues.empty());
  if (node != nullptr) Require(!testing::Dump(*node).empty() && node->depth <= cel::kMostDeep);

  for (const bool check_types : {true, false}) {
    const auto program = cel::Compile(expression, EnvironmentOf(check_types));
    if (!program) {
      Require(!program.error().empty());
      for (const json::Issue& issue : program.error().items()) Require(issue.at.line > 0);
      Require(!json::Render(program.error(), "cel", expression).empty());
      continue;
    }
    Require(!program->type().empty());
    Require(Outcome(*program, object) == Outcome(*program, object));
  }
  return 0;
}
