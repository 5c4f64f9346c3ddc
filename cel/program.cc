#include "cel/program.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cel/ast.h"
#include "cel/context.h"
#include "cel/evaluator.h"
#include "cel/lexer.h"
#include "cel/type_system.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

constexpr size_t kFirstBlock = 4096;

json::Issue IssueOf(const Fault& fault, std::string_view text) {
  json::Issue issue;
  if (fault.at != Fault::kNowhere) issue.at = PositionOf(text, fault.at);
  issue.message = fault.message;
  issue.hint = fault.hint;
  issue.beyond_limit = fault.beyond_limit;
  return issue;
}

// What the API server computes when a policy is created, where all that it takes is written there
// (cel-go: interpreter/planner.go, cel/validator.go).
constexpr std::string_view kComputedAtOnce[] = {"bool", "bytes",  "double",    "duration", "format",
                                                "int",  "string", "timestamp", "uint"};

bool IsWritten(const Node& node) {
  // Whether bytes in a list are a text is found when they are formatted.
  const auto is_scalar = [](const Node* item) {
    return item->kind == NodeKind::kLiteral && item->value.kind() != Kind::kBytes;
  };
  return node.kind == NodeKind::kLiteral ||
         (node.kind == NodeKind::kList && std::ranges::all_of(node.args, is_scalar));
}

bool IsComputedAtOnce(const Node& node) {
  return node.kind == NodeKind::kCall && std::ranges::count(kComputedAtOnce, node.name) > 0 &&
         std::ranges::all_of(node.args, [](const Node* arg) { return IsWritten(*arg); });
}

}  // namespace

struct Program::Compiled {
  std::string text;
  std::string type;
  json::Arena arena{kFirstBlock};
  Patterns patterns;
  Dialect dialect = Dialect::kKubernetes;
  const Node* root = nullptr;
  size_t locals = 0;
};

Value Values::Get(size_t variable, Context& context) {
  if (variable < row_.size()) return row_[variable];
  return context.Fail("this variable has no value here");
}

const std::string& Program::text() const { return compiled_->text; }
const std::string& Program::type() const { return compiled_->type; }

tl::expected<Value, json::Issue> Program::Evaluate(Activation& activation, json::Arena& arena,
                                                   const Limits& limits, uint64_t& cost) const {
  Context context(arena, limits, compiled_->patterns, compiled_->dialect);
  auto* locals = context.Row<Value>(compiled_->locals);
  Value value =
      context.stopped()
          ? context.Stopped()
          : Evaluator(context, activation, {locals, compiled_->locals}).Evaluate(*compiled_->root);
  if (context.stopped()) value = context.Stopped();
  cost = context.spent();
  if (!value.is_error()) return value;
  return tl::unexpected(IssueOf(value.fault(), compiled_->text));
}

tl::expected<Value, json::Issue> Program::Evaluate(Activation& activation, json::Arena& arena,
                                                   const Limits& limits) const {
  uint64_t cost = 0;
  return Evaluate(activation, arena, limits, cost);
}

namespace {

// Calls that can only fail: duration('1d'). The tree has kMostDeep levels at most.
void CheckWritten(const Node& node, std::string_view text, Context& context, json::Issues& issues) {
  for (const Node* arg : node.args) CheckWritten(*arg, text, context, issues);
  if (!IsComputedAtOnce(node)) return;
  Values none({});
  const Value value = Evaluator(context, none, {}).Evaluate(node);
  if (value.is_error() && !context.stopped()) issues.Add(IssueOf(value.fault(), text));
}

}  // namespace

tl::expected<Program, json::Issues> Compile(std::string_view text, const Environment& environment) {
  auto compiled = std::make_shared<Program::Compiled>();
  compiled->text = text;
  compiled->dialect = environment.dialect;
  json::Issues issues;
  ParserOptions options;
  options.blocks = environment.blocks;
  Node* root = Parse(compiled->text, options, compiled->arena, issues);
  if (root == nullptr) return tl::unexpected(std::move(issues));
  const Checked checked =
      Check(*root, compiled->text, environment, compiled->arena, compiled->patterns, issues);
  if (!issues.empty()) return tl::unexpected(std::move(issues));
  if (environment.dialect == Dialect::kKubernetes && environment.check_types) {
    json::Arena arena(kFirstBlock);
    const Limits limits;
    Context context(arena, limits, compiled->patterns, compiled->dialect);
    CheckWritten(*root, compiled->text, context, issues);
    if (!issues.empty()) return tl::unexpected(std::move(issues));
  }
  compiled->root = root;
  compiled->locals = checked.locals;
  compiled->type = TextOf(*checked.type);
  return Program(std::move(compiled));
}

}  // namespace mindgate::cel
