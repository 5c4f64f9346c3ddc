#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cel/ast.h"
#include "cel/lexer.h"

namespace mindgate::cel {
namespace {

constexpr std::array<std::string_view, 21> kReserved{
    "as",       "break",   "const",  "continue", "else", "false", "for",
    "function", "if",      "import", "in",       "let",  "loop",  "namespace",
    "null",     "package", "return", "true",     "var",  "void",  "while"};

struct Operator {
  std::string_view sign;
  std::string_view function;
  int level;  // a higher one binds closer
};

constexpr int kRelations = 1;
constexpr int kSums = 2;
constexpr int kProducts = 3;
constexpr std::array kBinaryOperators{
    Operator{"==", "_==_", kRelations}, Operator{"!=", "_!=_", kRelations},
    Operator{"<", "_<_", kRelations},   Operator{"<=", "_<=_", kRelations},
    Operator{">", "_>_", kRelations},   Operator{">=", "_>=_", kRelations},
    Operator{"in", "@in", kRelations},  Operator{"+", "_+_", kSums},
    Operator{"-", "_-_", kSums},        Operator{"*", "_*_", kProducts},
    Operator{"/", "_/_", kProducts},    Operator{"%", "_%_", kProducts}};

class Parser {
 public:
  Parser(std::string_view text, const ParserOptions& options, json::Arena& arena,
         json::Issues& issues)
      : text_(text),
        options_(options),
        arena_(arena),
        issues_(issues),
        lexer_(text, arena, issues) {
    Advance();
  }

  Node* ParseAll() {
    Node* node = ParseExpression();
    if (node == nullptr) return nullptr;
    if (token_.kind != Token::Kind::kEnd) return Unexpected("the expression ends before it");
    return node;
  }

 private:
  // While it lives, the parser is one level deeper. A bracket makes two.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void Advance() { token_ = lexer_.Next(); }
  bool Accept(std::string_view sign) {
    if (!token_.is(sign)) return false;
    Advance();
    return true;
  }
  bool Expect(std::string_view sign) {
    if (Accept(sign)) return true;
    Unexpected(Quote(sign) + " must stand here");
    return false;
  }

  Node* Fail(size_t at, std::string message, std::string_view hint = {}) {
    json::Issue issue;
    issue.at = PositionOf(text_, at);
    issue.message = std::move(message);
    issue.hint = hint;
    issues_.Add(std::move(issue));
    return nullptr;
  }
  Node* Unexpected(std::string_view why);
  Node* TooDeep(size_t at) {
    return Fail(at, "the expression is nested more than " + std::to_string(kMostDeep) + " deep",
                "put parts of it into variables");
  }

  Node* Make(NodeKind kind, size_t at, std::span<Node* const> args = {},
             std::string_view name = {});
  template <size_t kSize>
  Node* Make(NodeKind kind, size_t at, const std::array<Node*, kSize>& args,
             std::string_view name = {}) {
    return Make(kind, at, std::span<Node* const>(args), name);
  }

  Node* ParseExpression();
  Node* ParseLogical(NodeKind kind, std::string_view sign);
  Node* ParseBinary(int level);
  const Operator* BinaryOperator(int level) const;
  Node* ParseUnary();
  Node* ParsePostfix(Node* node);
  Node* ParseMember(Node* node);
  Node* ParsePrimary();
  Node* ParseName(bool leading_dot);
  Node* ParseStruct(const Node* node);
  Node* ParseList(size_t at);
  Node* ParseMap(size_t at);
  bool ParseArguments(std::vector<Node*>& args);
  Node* MakeCall(Node* target, std::string_view name, size_t at, std::vector<Node*> args);
  Node* MakeMacro(const Macro& macro, Node* target, std::string_view name, size_t at,
                  std::vector<Node*>& args);
  Node* MakeIndexName(std::string_view name, size_t at, const std::vector<Node*>& args);
  std::span<const bool> KeepFlags(const std::vector<bool>& flags);

  std::string_view text_;
  const ParserOptions& options_;
  json::Arena& arena_;
  json::Issues& issues_;
  Lexer lexer_;
  Token token_;
  int depth_ = 0;
};

std::string_view HintForWord(std::string_view word) {
  if (word == "and") return "write && for a logical and";
  if (word == "or") return "write || for a logical or";
  if (word == "not") return "write !x for a logical not";
  if (word == "is") return "write == to compare";
  if (word == "if" || word == "else" || word == "then") return "write condition ? value : other";
  return {};
}

Node* Parser::Unexpected(std::string_view why) {
  if (token_.kind == Token::Kind::kFault) return nullptr;  // reported
  if (token_.kind == Token::Kind::kEnd) {
    return Fail(token_.at, "the expression ends too early: " + std::string(why));
  }
  std::string_view hint = HintForWord(token_.text);
  if (token_.is("=")) hint = "write == to compare";
  return Fail(token_.at, Quote(token_.text) + " cannot stand here: " + std::string(why), hint);
}

Node* Parser::Make(NodeKind kind, size_t at, std::span<Node* const> args, std::string_view name) {
  int depth = 0;
  for (const Node* arg : args) depth = std::max<int>(depth, arg->depth);
  if (depth >= kMostDeep) return TooDeep(at);
  Node* node = new (arena_.Row<Node>(1)) Node();
  Node** row = arena_.Row<Node*>(args.size());
  std::ranges::copy(args, row);
  node->kind = kind;
  node->depth = static_cast<uint16_t>(depth + 1);
  node->at = static_cast<uint32_t>(at);
  node->args = std::span(row, args.size());
  node->name = name;
  return node;
}

Node* Parser::ParseExpression() {
  const Level level(*this);
  if (depth_ > 2 * kMostDeep) return TooDeep(token_.at);
  Node* condition = ParseLogical(NodeKind::kOr, "||");
  const size_t at = token_.at;
  if (condition == nullptr || !Accept("?")) return condition;
  Node* then = ParseLogical(NodeKind::kOr, "||");
  if (then == nullptr || !Expect(":")) return nullptr;
  Node* other = ParseExpression();
  if (other == nullptr) return nullptr;
  return Make(NodeKind::kConditional, at, std::array{condition, then, other});
}

// One node for the whole chain: a long one is not deep.
Node* Parser::ParseLogical(NodeKind kind, std::string_view sign) {
  const bool is_or = kind == NodeKind::kOr;
  const auto part = [&] {
    return is_or ? ParseLogical(NodeKind::kAnd, "&&") : ParseBinary(kRelations);
  };
  Node* first = part();
  if (first == nullptr || !token_.is(sign)) return first;
  const size_t at = token_.at;
  std::vector<Node*> parts{first};
  while (Accept(sign)) {
    parts.push_back(part());
    if (parts.back() == nullptr) return nullptr;
  }
  return Make(kind, at, parts);
}

const Operator* Parser::BinaryOperator(int level) const {
  if (token_.kind != Token::Kind::kSign && !token_.is_name("in")) return nullptr;
  for (const Operator& known : kBinaryOperators) {
    if (known.level == level && known.sign == token_.text) return &known;
  }
  return nullptr;
}

Node* Parser::ParseBinary(int level) {
  const auto part = [&] { return level == kProducts ? ParseUnary() : ParseBinary(level + 1); };
  Node* left = part();
  while (left != nullptr) {
    const Operator* known = BinaryOperator(level);
    if (known == nullptr) return left;
    const size_t at = token_.at;
    Advance();
    Node* right = part();
    if (right == nullptr) return nullptr;
    left = Make(NodeKind::kCall, at, std::array{left, right}, known->function);
  }
  return nullptr;
}

Node* Parser::ParseUnary() {
  const Level level(*this);
  if (depth_ > 2 * kMostDeep) return TooDeep(token_.at);
  const size_t at = token_.at;
  if (Accept("!")) {
    Node* operand = ParseUnary();
    return operand == nullptr ? nullptr : Make(NodeKind::kCall, at, std::array{operand}, "!_");
  }
  if (!Accept("-")) return ParsePostfix(ParsePrimary());
  if (token_.kind == Token::Kind::kNumber) {
    if (const auto value = NumberOf(token_.text, true)) {
      Node* node = Make(NodeKind::kLiteral, at);
      node->value = *value;
      Advance();
      return ParsePostfix(node);
    }
  }
  Node* operand = ParseUnary();
  return operand == nullptr ? nullptr : Make(NodeKind::kCall, at, std::array{operand}, "-_");
}

Node* Parser::ParsePostfix(Node* node) {
  while (node != nullptr) {
    const size_t at = token_.at;
    if (Accept(".")) {
      node = ParseMember(node);
    } else if (token_.is("{")) {
      node = ParseStruct(node);
    } else if (Accept("[")) {
      const bool optional = Accept("?");
      Node* index = ParseExpression();
      if (index == nullptr || !Expect("]")) return nullptr;
      node = Make(NodeKind::kIndex, at, std::array{node, index});
      if (node != nullptr) node->is_optional = optional;
    } else {
      return node;
    }
  }
  return nullptr;
}

// After the dot.
Node* Parser::ParseMember(Node* node) {
  const bool optional = Accept("?");
  const Token name = token_;
  if (name.kind != Token::Kind::kName && name.kind != Token::Kind::kQuoted) {
    return Unexpected("the name of a member must stand after the dot");
  }
  if (name.is_name("in") || name.is_name("true") || name.is_name("false") || name.is_name("null")) {
    return Unexpected("write [\"" + std::string(name.text) + "\"] for this member");
  }
  Advance();
  if (!optional && name.kind == Token::Kind::kName && Accept("(")) {
    std::vector<Node*> args;
    if (!ParseArguments(args)) return nullptr;
    return MakeCall(node, name.text, name.at, std::move(args));
  }
  Node* made = Make(NodeKind::kSelect, name.at, std::array{node}, name.text);
  if (made != nullptr) made->is_optional = optional;
  return made;
}

Node* Parser::ParsePrimary() {
  const size_t at = token_.at;
  if (Accept("(")) {
    Node* node = ParseExpression();
    return node != nullptr && Expect(")") ? node : nullptr;
  }
  if (Accept("[")) return ParseList(at);
  if (Accept("{")) return ParseMap(at);
  if (Accept(".")) return ParseName(true);
  if (token_.kind == Token::Kind::kName) return ParseName(false);
  if (token_.kind == Token::Kind::kNumber && token_.value.kind() == Kind::kNull) {
    return Fail(at, "the number " + Quote(token_.text) + " is too large",
                "the largest int is 9223372036854775807; a uint has a u behind it");
  }
  if (token_.kind != Token::Kind::kNumber && token_.kind != Token::Kind::kText) {
    return Unexpected("a value must stand here");
  }
  Node* node = Make(NodeKind::kLiteral, at);
  node->value = token_.value;
  Advance();
  return node;
}

Node* Parser::ParseName(bool leading_dot) {
  const Token token = token_;
  if (token.kind != Token::Kind::kName) return Unexpected("a name must stand here");
  if (!leading_dot && (token.text == "true" || token.text == "false" || token.text == "null")) {
    Node* node = Make(NodeKind::kLiteral, token.at);
    if (token.text != "null") node->value = Value::OfBool(token.text == "true");
    Advance();
    return node;
  }
  if (std::ranges::find(kReserved, token.text) != kReserved.end()) {
    return Unexpected("the word is reserved");
  }
  Advance();
  std::string_view name = token.text;
  if (leading_dot) {
    std::string dotted = ".";
    dotted += name;
    name = arena_.Text(dotted);
  }
  if (Accept("(")) {
    std::vector<Node*> args;
    if (!ParseArguments(args)) return nullptr;
    return MakeCall(nullptr, name, token.at, std::move(args));
  }
  return Make(NodeKind::kIdent, token.at, {}, name);
}

// The name of a message, before a brace: a.b.C.
std::optional<std::string> DottedName(const Node* node) {
  std::string name;
  for (; node->kind == NodeKind::kSelect && !node->is_optional; node = node->args[0]) {
    std::string longer(node->name);
    name = name.empty() ? longer : longer + "." + name;
  }
  if (node->kind != NodeKind::kIdent) return std::nullopt;
  std::string longer(node->name);
  return name.empty() ? longer : longer + "." + name;
}

Node* Parser::ParseStruct(const Node* node) {
  const auto name = DottedName(node);
  const size_t at = node->at;
  if (!name) return Unexpected("an operator must stand between two values");
  Advance();
  std::vector<Node*> values;
  while (!token_.is("}")) {
    Accept("?");
    if (token_.kind != Token::Kind::kName && token_.kind != Token::Kind::kQuoted) {
      return Unexpected("the name of a field must stand here");
    }
    Advance();
    if (!Expect(":")) return nullptr;
    values.push_back(ParseExpression());
    if (values.back() == nullptr) return nullptr;
    if (!Accept(",")) break;
  }
  if (!Expect("}")) return nullptr;
  return Make(NodeKind::kStruct, at, values, arena_.Text(*name));
}

std::span<const bool> Parser::KeepFlags(const std::vector<bool>& flags) {
  if (std::ranges::find(flags, true) == flags.end()) return {};
  bool* row = arena_.Row<bool>(flags.size());
  std::ranges::copy(flags, row);
  return {row, flags.size()};
}

Node* Parser::ParseList(size_t at) {
  std::vector<Node*> items;
  std::vector<bool> optional;
  while (!token_.is("]")) {
    optional.push_back(Accept("?"));
    items.push_back(ParseExpression());
    if (items.back() == nullptr) return nullptr;
    if (!Accept(",")) break;
  }
  if (!Expect("]")) return nullptr;
  Node* node = Make(NodeKind::kList, at, items);
  if (node != nullptr) node->optional_args = KeepFlags(optional);
  return node;
}

Node* Parser::ParseMap(size_t at) {
  std::vector<Node*> entries;
  std::vector<bool> optional;
  while (!token_.is("}")) {
    optional.push_back(Accept("?"));
    entries.push_back(ParseExpression());
    if (entries.back() == nullptr || !Expect(":")) return nullptr;
    entries.push_back(ParseExpression());
    if (entries.back() == nullptr) return nullptr;
    if (!Accept(",")) break;
  }
  if (!Expect("}")) return nullptr;
  Node* node = Make(NodeKind::kMap, at, entries);
  if (node != nullptr) node->optional_args = KeepFlags(optional);
  return node;
}

bool Parser::ParseArguments(std::vector<Node*>& args) {
  while (!token_.is(")")) {
    args.push_back(ParseExpression());
    if (args.back() == nullptr) return false;
    if (!Accept(",")) break;
  }
  return Expect(")");
}

Node* Parser::MakeCall(Node* target, std::string_view name, size_t at, std::vector<Node*> args) {
  const Macro macro = MacroOf(target, name, args.size(), options_.blocks);
  if (macro.shape != Macro::Shape::kNone) return MakeMacro(macro, target, name, at, args);
  if (target != nullptr) args.insert(args.begin(), target);
  Node* node = Make(NodeKind::kCall, at, args, name);
  if (node != nullptr) node->is_member = target != nullptr;
  return node;
}

// cel.index(1) is the name "@index1" and cel.iterVar(0, 1) the name "@it0:1": no expression can
// write them in another way.
Node* Parser::MakeIndexName(std::string_view name, size_t at, const std::vector<Node*>& args) {
  std::string made = name == "index" ? "@index" : "@it";
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i]->kind != NodeKind::kLiteral || args[i]->value.kind() != Kind::kInt) {
      return Fail(args[i]->at, "this must be a number");
    }
    made += (i == 0 ? "" : ":") + std::to_string(args[i]->value.integer());
  }
  return Make(NodeKind::kIdent, at, {}, arena_.Text(made));
}

Node* Parser::MakeMacro(const Macro& macro, Node* target, std::string_view name, size_t at,
                        std::vector<Node*>& args) {
  if (macro.shape == Macro::Shape::kIndex) return MakeIndexName(name, at, args);
  if (macro.shape == Macro::Shape::kHas) {
    if (args[0]->kind != NodeKind::kSelect) {
      return Fail(args[0]->at, "has() asks for a member, and this is none",
                  "write has(object.member), or \"key\" in map");
    }
    return Make(NodeKind::kHas, at, args);
  }
  if (macro.shape == Macro::Shape::kBlock) {
    if (args[0]->kind != NodeKind::kList) return Fail(args[0]->at, "this must be a list");
    std::vector<Node*> parts(args[0]->args.begin(), args[0]->args.end());
    parts.push_back(args[1]);
    return Make(NodeKind::kBlock, at, parts);
  }
  for (size_t i = 0; i < macro.variables; ++i) {
    if (args[i]->kind != NodeKind::kIdent || args[i]->name.starts_with('.')) {
      return Fail(args[i]->at, "the name of a variable must stand here", UsageOfMacro(name));
    }
  }
  const std::string_view first = args[0]->name;
  const std::string_view second = macro.variables == 2 ? args[1]->name : std::string_view();
  if (first == second) {
    return Fail(args[1]->at, "the variables of " + std::string(name) + " have the same name");
  }
  args.erase(args.begin(), args.begin() + static_cast<ptrdiff_t>(macro.variables));
  if (macro.shape != Macro::Shape::kBind) args.insert(args.begin(), target);
  Node* node = Make(macro.kind, at, args, first);
  if (node != nullptr) node->second = second;
  return node;
}

}  // namespace

Node* Parse(std::string_view text, const ParserOptions& options, json::Arena& arena,
            json::Issues& issues) {
  json::Issue issue;
  if (text.size() > kMostBytes) {
    issue.at = {1, 1};
    issue.message = "the expression has " + std::to_string(text.size()) + " bytes; at most " +
                    std::to_string(kMostBytes) + " are read";
    issue.beyond_limit = true;
    issues.Add(std::move(issue));
    return nullptr;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) {
      issue.at = PositionOf(text, at);
      issue.message = "the expression is not UTF-8";
      issues.Add(std::move(issue));
      return nullptr;
    }
    at += length;
  }
  return Parser(text, options, arena, issues).ParseAll();
}

}  // namespace mindgate::cel
