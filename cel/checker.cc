#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cel/ast.h"
#include "cel/lexer.h"
#include "cel/library/libraries.h"
#include "cel/resolution.h"
#include "cel/type_system.h"

namespace mindgate::cel {
namespace {

// What is already reported: more of it would say nothing new.
constexpr Type kReported{"dyn", {}, {}};

struct Local {
  std::string_view name;
  const Type* type;
};

class Checker {
 public:
  Checker(std::string_view text, const Environment& environment, json::Arena& arena,
          Patterns& patterns, json::Issues& issues)
      : text_(text),
        environment_(environment),
        arena_(arena),
        patterns_(patterns),
        issues_(issues),
        types_(arena),
        unifier_(types_),
        names_(environment, arena),
        overloads_(types_, unifier_, arena) {}

  Checked CheckAll(Node& root) {
    for (const Variable& variable : environment_.variables) {
      const Type* type = types_.Parse(variable.type);
      if (type == nullptr) {
        Report(0,
               "the type of the variable " + Quote(variable.name) +
                   " is not one: " + Quote(variable.type),
               "");
      }
      variable_types_.push_back(type == nullptr ? &kDyn : type);
    }
    const Type* type = Check(root);
    if (!issues_.empty()) return {};
    return {unifier_.Apply(type), locals_at_most_};
  }

 private:
  const Type* Check(Node& node) {
    const Type* type = unifier_.Resolve(TypeOf(node));
    node.type = environment_.check_types ? type : &kDyn;
    return node.type;
  }
  const Type* TypeOf(Node& node);
  const Type* CheckIdent(Node& node, std::string_view path);
  const Type* CheckSelect(Node& node);
  const Type* MemberOf(Node& node, const Type* operand);
  const Type* CheckIndex(Node& node);
  const Type* ItemOf(Node& node, const Type* operand, const Type* index);
  const Type* CheckList(Node& node);
  const Type* CheckMap(Node& node);
  const Type* CheckLogical(Node& node);
  const Type* CheckConditional(Node& node);
  const Type* CheckLoop(Node& node);
  const Type* CheckBind(Node& node);
  const Type* CheckOption(Node& node);
  const Type* CheckCall(Node& node);
  void FindNamespace(Node& node);
  const Type* NoOverload(Node& node, std::span<const KnownOverload> overloads);
  void CheckPattern(const Node& node);

  const Type* ElementOf(const Type* type, bool optional, const Node& node);
  bool Expect(const Type* wanted, const Node& node, std::string_view what);
  bool IsLocal(std::string_view name) const;
  void Declare(std::string_view name, const Type* type) {
    locals_.push_back({name, type});
    locals_at_most_ = std::max(locals_at_most_, locals_.size());
  }
  // Whether no more issues are kept: then nothing is looked up for one.
  bool IsFull() const { return issues_.items().size() == json::Issues::kMax; }
  std::string Shown(const Type* type) { return TextOf(*unifier_.Apply(type)); }
  const Type* Fault(Node& node, std::string message, std::string hint = "");
  void Report(uint32_t at, std::string message, std::string hint);

  std::string_view text_;
  const Environment& environment_;
  json::Arena& arena_;
  Patterns& patterns_;
  json::Issues& issues_;
  Types types_;
  Unifier unifier_;
  Names names_;
  OverloadFinder overloads_;
  std::vector<const Type*> variable_types_;
  std::vector<Local> locals_;
  size_t locals_at_most_ = 0;
};

void Checker::Report(uint32_t at, std::string message, std::string hint) {
  if (IsFull()) return issues_.Drop(1);
  json::Issue issue;
  issue.at = PositionOf(text_, at);
  issue.message = std::move(message);
  issue.hint = std::move(hint);
  issues_.Add(std::move(issue));
}

const Type* Checker::Fault(Node& node, std::string message, std::string hint) {
  if (environment_.check_types) {
    Report(node.at, std::move(message), std::move(hint));
  } else {
    node.kind = NodeKind::kFault;
    node.name = arena_.Text(message);
  }
  return &kReported;
}

bool Checker::IsLocal(std::string_view name) const {
  return std::ranges::find(locals_, name, &Local::name) != locals_.end();
}

const Type* Checker::TypeOf(Node& node) {
  switch (node.kind) {
    case NodeKind::kLiteral:
      return node.value.kind() == Kind::kType ? types_.Named("type", {&kDyn})
                                              : &TypeOfScalar(node.value.kind());
    case NodeKind::kIdent:
      return CheckIdent(node, node.name);
    case NodeKind::kSelect:
      return CheckSelect(node);
    case NodeKind::kHas:
      (void)Check(*node.args[0]);
      if (node.args[0]->kind == NodeKind::kVariable) {  // of a name with a dot: it is there
        node.kind = NodeKind::kLiteral;
        node.value = Value::OfBool(true);
      }
      return &kBool;
    case NodeKind::kIndex:
      return CheckIndex(node);
    case NodeKind::kList:
      return CheckList(node);
    case NodeKind::kMap:
      return CheckMap(node);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return CheckLogical(node);
    case NodeKind::kConditional:
      return CheckConditional(node);
    case NodeKind::kBind:
    case NodeKind::kBlock:
      return CheckBind(node);
    case NodeKind::kOptMap:
    case NodeKind::kOptFlatMap:
      return CheckOption(node);
    case NodeKind::kCall:
      return CheckCall(node);
    case NodeKind::kStruct:
      return Fault(node, "there are no messages here, such as " + std::string(node.name),
                   "write a map: {\"field\": value}");
    default:
      return CheckLoop(node);
  }
}

const Type* Checker::CheckIdent(Node& node, std::string_view path) {
  for (size_t i = locals_.size(); i > 0; --i) {
    if (locals_[i - 1].name != node.name) continue;
    node.kind = NodeKind::kLocal;
    node.slot = static_cast<uint32_t>(i - 1);
    return locals_[i - 1].type;
  }
  if (const auto variable = names_.Variable(node.name)) {
    node.kind = NodeKind::kVariable;
    node.slot = static_cast<uint32_t>(*variable);
    return variable_types_[*variable];
  }
  if (const auto type = names_.TypeName(node.name)) {
    node.kind = NodeKind::kLiteral;
    node.value = Value::OfType(*type);
    return types_.Named("type", {types_.Named(*type)});
  }
  if (node.name == "authorizer") {
    return Fault(node,
                 "there is no authorizer here: no API server is asked while a policy is decided",
                 "leave checks of permissions to RBAC or to a ValidatingAdmissionPolicy");
  }
  if (IsFull()) return Fault(node, "");
  std::vector<std::string_view> locals;
  for (const Local& local : locals_) locals.push_back(local.name);
  return Fault(node, "undeclared reference to '" + std::string(node.name) + "'",
               names_.NearestVariable(path, locals));
}

const Type* Checker::CheckSelect(Node& node) {
  const auto path = PathOf(node);
  const Node* root = &node;
  while (root->kind == NodeKind::kSelect) root = root->args[0];
  if (path && !IsLocal(root->name)) {
    if (const auto variable = names_.Variable(*path)) {
      node.kind = NodeKind::kVariable;
      node.slot = static_cast<uint32_t>(*variable);
      node.args = {};
      return variable_types_[*variable];
    }
    if (const auto type = names_.TypeName(*path)) {
      node.kind = NodeKind::kLiteral;
      node.value = Value::OfType(*type);
      node.args = {};
      return types_.Named("type", {types_.Named(*type)});
    }
  }
  Node& operand = *node.args[0];
  if (operand.kind == NodeKind::kIdent && path) {
    operand.type = unifier_.Resolve(CheckIdent(operand, *path));
    if (!environment_.check_types) operand.type = &kDyn;
    return MemberOf(node, operand.type);
  }
  return MemberOf(node, Check(operand));
}

const Type* Checker::MemberOf(Node& node, const Type* operand) {
  if (operand == &kReported) return operand;
  const Type* inner = operand;
  const bool optional = operand->is("optional_type");
  if (optional) inner = unifier_.Resolve(operand->of[0]);
  const Type* type = &kDyn;
  if (inner->is("map")) {
    (void)unifier_.Assignable(inner->of[0], &kString);
    type = inner->of[1];
  } else if (!inner->is_dyn() && !inner->variable) {
    return Fault(node, "a value of type " + Shown(inner) + " has no members, such as '" +
                           std::string(node.name) + "'");
  }
  return optional || node.is_optional ? types_.OptionalOf(type) : type;
}

const Type* Checker::CheckIndex(Node& node) {
  const Type* operand = Check(*node.args[0]);
  const Type* index = Check(*node.args[1]);
  const bool optional = operand->is("optional_type");
  const Type* inner = optional ? unifier_.Resolve(operand->of[0]) : operand;
  const Type* type = ItemOf(node, inner, index);
  return optional || node.is_optional ? types_.OptionalOf(type) : type;
}

const Type* Checker::ItemOf(Node& node, const Type* operand, const Type* index) {
  if (operand->is_dyn() || operand->variable) return &kDyn;
  if (operand->is("list")) {
    if (unifier_.Assignable(&kInt, index)) return operand->of[0];
    return Fault(node, "the index of a list is an int, and not of type " + Shown(index));
  }
  if (operand->is("map")) {
    if (unifier_.Assignable(operand->of[0], index)) return operand->of[1];
    return Fault(node, "the keys of this map are of type " + Shown(operand->of[0]) + ", not " +
                           Shown(index));
  }
  return Fault(node, "a value of type " + Shown(operand) + " has no [index]");
}

// The type of an item; behind a ? that of what an optional holds.
const Type* Checker::ElementOf(const Type* type, bool optional, const Node& node) {
  if (!optional) return type;
  const Type* inner = unifier_.NewVariable();
  if (type->is_dyn()) return type;
  if (unifier_.Assignable(types_.OptionalOf(inner), type)) return inner;
  Report(node.at, "behind ? stands an optional value, and not one of type " + Shown(type),
         "write optional.of(...), or leave the ? out");
  return &kDyn;
}

const Type* Checker::CheckList(Node& node) {
  const Type* item = nullptr;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const bool optional = i < node.optional_args.size() && node.optional_args[i];
    const Type* type = ElementOf(Check(*node.args[i]), optional, *node.args[i]);
    item = item == nullptr ? type : unifier_.Join(item, type);
  }
  return types_.ListOf(item == nullptr ? unifier_.NewVariable() : item);
}

const Type* Checker::CheckMap(Node& node) {
  const Type* key = nullptr;
  const Type* value = nullptr;
  for (size_t i = 0; i + 1 < node.args.size(); i += 2) {
    const bool optional = i / 2 < node.optional_args.size() && node.optional_args[i / 2];
    const Type* key_type = Check(*node.args[i]);
    const Type* value_type = ElementOf(Check(*node.args[i + 1]), optional, *node.args[i + 1]);
    const auto kind = KindOf(*key_type);
    if (kind && kind != Kind::kBool && kind != Kind::kInt && kind != Kind::kUint &&
        kind != Kind::kString) {
      Report(node.args[i]->at,
             "the key of a map is a string, an int, a uint or a bool, and not of type " +
                 Shown(key_type),
             "");
    }
    key = key == nullptr ? key_type : unifier_.Join(key, key_type);
    value = value == nullptr ? value_type : unifier_.Join(value, value_type);
  }
  if (key == nullptr) return types_.MapOf(unifier_.NewVariable(), unifier_.NewVariable());
  return types_.MapOf(key, value);
}

bool Checker::Expect(const Type* wanted, const Node& node, std::string_view what) {
  if (unifier_.Assignable(wanted, node.type)) return true;
  Report(node.at,
         std::string(what) + " must be of type " + Shown(wanted) + ", and is of type " +
             Shown(node.type),
         "");
  return false;
}

const Type* Checker::CheckLogical(Node& node) {
  const std::string what =
      std::string("what stands beside ") + (node.kind == NodeKind::kAnd ? "&&" : "||");
  for (Node* arg : node.args) {
    (void)Check(*arg);
    (void)Expect(&kBool, *arg, what);
  }
  return &kBool;
}

const Type* Checker::CheckConditional(Node& node) {
  for (Node* arg : node.args) (void)Check(*arg);
  (void)Expect(&kBool, *node.args[0], "the condition before ?");
  const Type* either = unifier_.NewVariable();
  (void)unifier_.Assignable(either, node.args[1]->type);
  if (!unifier_.Assignable(either, node.args[2]->type)) {
    return Fault(node,
                 "the values around : have different types, " + Shown(node.args[1]->type) +
                     " and " + Shown(node.args[2]->type),
                 "write dyn(...) around one of them if that is intended");
  }
  return either;
}

const Type* Checker::CheckLoop(Node& node) {
  const Type* range = Check(*node.args[0]);
  const Type* first = &kDyn;
  const Type* second = &kDyn;
  const bool two = !node.second.empty();
  if (range->is("list")) {
    first = two ? &kInt : range->of[0];
    second = range->of[0];
  } else if (range->is("map")) {
    first = range->of[0];
    second = range->of[1];
  } else if (!range->is_dyn() && !range->variable) {
    Report(node.args[0]->at,
           "this loops over a list or a map, not over a value of type " + Shown(range), "");
  }
  node.slot = static_cast<uint32_t>(locals_.size());
  Declare(node.name, first);
  if (two) Declare(node.second, second);
  for (Node* arg : node.args.subspan(1)) (void)Check(*arg);
  locals_.resize(node.slot);

  const bool transforms = node.kind == NodeKind::kTransform ||
                          node.kind == NodeKind::kTransformMap ||
                          node.kind == NodeKind::kTransformMapEntry;
  if ((!transforms && node.kind != NodeKind::kSortBy) || node.args.size() == 3) {
    (void)Expect(&kBool, *node.args[1], "the condition");
  }
  const Type* result = node.args.back()->type;
  switch (node.kind) {
    case NodeKind::kTransform:
      return types_.ListOf(result);
    case NodeKind::kTransformMap:
      return types_.MapOf(first, result);
    case NodeKind::kTransformMapEntry:
      (void)Expect(types_.MapOf(unifier_.NewVariable(), unifier_.NewVariable()), *node.args.back(),
                   "the result");
      return unifier_.Resolve(result);
    case NodeKind::kFilter:
    case NodeKind::kSortBy:
      return types_.ListOf(first);
    default:
      return &kBool;
  }
}

const Type* Checker::CheckBind(Node& node) {
  node.slot = static_cast<uint32_t>(locals_.size());
  const size_t values = node.args.size() - 1;
  for (size_t i = 0; i < values; ++i) {
    const Type* type = Check(*node.args[i]);
    const std::string_view name =
        node.kind == NodeKind::kBind ? node.name : arena_.Text("@index" + std::to_string(i));
    Declare(name, type);
  }
  const Type* body = Check(*node.args.back());
  locals_.resize(node.slot);
  return body;
}

const Type* Checker::CheckOption(Node& node) {
  const Type* target = Check(*node.args[0]);
  const Type* inner = unifier_.NewVariable();
  if (target->is_dyn()) {
    inner = &kDyn;
  } else if (!unifier_.Assignable(types_.OptionalOf(inner), target)) {
    Report(node.at,
           "optMap and optFlatMap are called on an optional value, and not on one of type " +
               Shown(target),
           "write optional.of(...), or .? before the member");
  }
  node.slot = static_cast<uint32_t>(locals_.size());
  Declare(node.name, inner);
  const Type* body = Check(*node.args[1]);
  locals_.resize(node.slot);
  if (node.kind == NodeKind::kOptMap) return types_.OptionalOf(body);
  const Type* result = types_.OptionalOf(unifier_.NewVariable());
  (void)Expect(result, *node.args[1], "the result");
  return body->is_dyn() ? body : result;
}

// `math.abs(x)` is a call of one function, unless math is a variable.
void Checker::FindNamespace(Node& node) {
  if (!node.is_member) return;
  const auto path = PathOf(*node.args[0]);
  if (!path || IsLocal(path->substr(0, path->find('.')))) return;
  const std::string name = *path + "." + std::string(node.name);
  if (names_.Overloads(name).empty()) return;
  node.name = arena_.Text(name);
  node.args = node.args.subspan(1);
  node.is_member = false;
}

const Type* Checker::CheckCall(Node& node) {
  FindNamespace(node);
  const bool extreme = node.name == "math.greatest" || node.name == "math.least";
  if (extreme && node.args.size() > 2) {
    Node* list = new (arena_.Row<Node>(1)) Node();
    list->kind = NodeKind::kList;
    list->at = node.at;
    list->args = node.args;
    Node** row = arena_.Row<Node*>(1);
    row[0] = list;
    node.args = std::span(row, 1);
  }
  const std::span<const KnownOverload> overloads = names_.Overloads(node.name);
  const std::string_view usage = UsageOfMacro(node.name);
  // The arguments of what should be a macro name variables that are not there.
  const bool macro = overloads.empty() && !usage.empty() && node.is_member;
  for (Node* arg : macro ? node.args.first(1) : node.args) (void)Check(*arg);
  if (overloads.empty()) {
    if (node.is_member && node.args[0]->type == &kReported) return &kReported;
    if (IsFull()) return Fault(node, "");
    return Fault(node, "there is no function '" + std::string(node.name) + "'",
                 usage.empty() ? names_.NearestFunction(node.name) : std::string(usage));
  }
  const Type* type = overloads_.Find(node, overloads);
  if (type == nullptr) return NoOverload(node, overloads);
  CheckPattern(node);
  return type;
}

const Type* Checker::NoOverload(Node& node, std::span<const KnownOverload> overloads) {
  if (IsFull()) return Fault(node, "");
  std::vector<std::string> types;
  for (const Node* arg : node.args) types.push_back(Shown(arg->type));
  return Fault(node, NoSuchOverload(node, types), UsagesOf(overloads));
}

void Checker::CheckPattern(const Node& node) {
  if (node.name != "matches" && node.name != "find" && node.name != "findAll") return;
  const Node& pattern = *node.args[1];
  if (pattern.kind != NodeKind::kLiteral || !pattern.value.is_string()) return;
  const std::string fault = AddPattern(pattern.value.text(), patterns_);
  if (!fault.empty()) {
    Report(pattern.at, "this is not a regular expression of RE2: " + fault,
           "RE2 has no back-references and no look-around");
  }
}

}  // namespace

Checked Check(Node& root, std::string_view text, const Environment& environment, json::Arena& arena,
              Patterns& patterns, json::Issues& issues) {
  return Checker(text, environment, arena, patterns, issues).CheckAll(root);
}

}  // namespace mindgate::cel
