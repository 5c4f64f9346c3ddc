#include "cel/type_system.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mindgate::cel {
namespace {

constexpr int kMaxDepthOfType = 16;

// Names that are written shorter than `type(x)` gives them.
constexpr std::array<std::pair<std::string_view, Kind>, 2> kShortNames{
    {{"timestamp", Kind::kTimestamp}, {"duration", Kind::kDuration}}};

constexpr std::array kScalars{
    Type{"null_type", {}, {}}, Type{"bool", {}, {}},   Type{"int", {}, {}},   Type{"uint", {}, {}},
    Type{"double", {}, {}},    Type{"string", {}, {}}, Type{"bytes", {}, {}},
};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

void SkipBlanks(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
}

}  // namespace

std::string TextOf(const Type& type) {
  if (type.variable) return "T" + std::to_string(*type.variable);
  std::string out(type.name);
  for (const auto& [name, kind] : kShortNames) {
    if (type.name == NameOf(kind)) out = name;
  }
  for (size_t i = 0; i < type.of.size(); ++i) {
    out += (i == 0 ? "(" : ", ") + TextOf(*type.of[i]);
  }
  return type.of.empty() ? out : out + ")";
}

std::optional<Kind> KindOf(const Type& type) {
  if (type.variable) return std::nullopt;
  for (int i = 0; i < static_cast<int>(Kind::kError); ++i) {
    if (type.name == NameOf(static_cast<Kind>(i))) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

const Type& TypeOfScalar(Kind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kScalars.size() ? kScalars[index] : kDyn;
}

const Type* Types::Named(std::string_view name, std::initializer_list<const Type*> of) {
  Type type;
  type.name = name;
  return With(type, std::span(of.begin(), of.size()));
}

const Type* Types::With(const Type& type, std::span<const Type* const> of) {
  const auto** row = arena_.Row<const Type*>(of.size());
  std::ranges::copy(of, row);
  Type* made = new (arena_.Row<Type>(1)) Type(type);
  made->of = std::span<const Type* const>(row, of.size());
  return made;
}

const Type* Types::Variable(uint32_t number) {
  Type* made = new (arena_.Row<Type>(1)) Type();
  made->variable = number;
  return made;
}

const Type* Types::Parse(std::string_view text, Letters* letters, uint32_t* next) {
  const Type* type = ParseOne(text, letters, next, 0);
  SkipBlanks(text);
  return text.empty() ? type : nullptr;
}

const Type* Types::ParseOne(std::string_view& rest, Letters* letters, uint32_t* next, int depth) {
  SkipBlanks(rest);
  size_t length = 0;
  while (length < rest.size() && IsNameCharacter(rest[length])) ++length;
  std::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  if (name.empty() || depth > kMaxDepthOfType) return nullptr;
  if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z' && letters != nullptr) {
    const Type*& letter = letters->of[name[0] - 'A'];
    if (letter == nullptr) letter = Variable((*next)++);
    return letter;
  }
  for (const auto& [short_name, kind] : kShortNames) {
    if (name == short_name) name = NameOf(kind);
  }
  std::array<const Type*, 4> of{};
  size_t count = 0;
  if (rest.starts_with('(')) {
    do {
      rest.remove_prefix(1);
      if (count == of.size()) return nullptr;
      of[count] = ParseOne(rest, letters, next, depth + 1);
      if (of[count++] == nullptr) return nullptr;
      SkipBlanks(rest);
    } while (rest.starts_with(','));
    if (!rest.starts_with(')')) return nullptr;
    rest.remove_prefix(1);
  } else if (name == "list" || name == "optional_type" || name == "type") {
    of[count++] = &kDyn;
  } else if (name == "map") {
    of[count++] = &kDyn;
    of[count++] = &kDyn;
  }
  Type type;
  type.name = arena_.Text(name);
  return With(type, std::span(of.data(), count));
}

namespace {

struct Parts {
  std::string_view receiver;
  std::vector<std::string_view> arguments;
  std::string_view result;
};

// Where the list of arguments begins: the bracket after a dot, or the first character.
size_t ArgumentsAt(std::string_view text) {
  if (text.starts_with('(')) return 0;
  const size_t dot = text.find(".(");
  return dot == std::string_view::npos ? dot : dot + 1;
}

std::optional<Parts> SplitSignature(std::string_view text) {
  const size_t begin = ArgumentsAt(text);
  const size_t end = text.rfind("): ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  Parts parts;
  if (begin > 0) parts.receiver = text.substr(0, begin - 1);
  parts.result = text.substr(end + 3);
  const std::string_view list = text.substr(begin + 1, end - begin - 1);
  size_t at = 0;
  int open = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '(') ++open;
    if (c == ')') --open;
    if (c != ',' || open > 0) continue;
    if (i > at) parts.arguments.push_back(Trim(list.substr(at, i - at)));
    at = i + 1;
  }
  return parts;
}

}  // namespace

Shape ShapeOf(std::string_view signature) {
  const auto parts = SplitSignature(signature);
  if (!parts) return {};
  const bool is_member = !parts->receiver.empty();
  return {is_member, parts->arguments.size() + (is_member ? 1 : 0)};
}

std::optional<Signature> ParseSignature(std::string_view text, Types& types, uint32_t& next) {
  auto parts = SplitSignature(text);
  if (!parts) return std::nullopt;
  Signature signature;
  signature.is_member = !parts->receiver.empty();
  if (signature.is_member) parts->arguments.insert(parts->arguments.begin(), parts->receiver);
  signature.size = parts->arguments.size();
  if (signature.size > kMostArguments) return std::nullopt;
  Letters letters;
  const uint32_t first = next;
  for (size_t i = 0; i < signature.size; ++i) {
    signature.arguments[i] = types.Parse(parts->arguments[i], &letters, &next);
    if (signature.arguments[i] == nullptr) return std::nullopt;
  }
  signature.result = types.Parse(parts->result, &letters, &next);
  if (signature.result == nullptr) return std::nullopt;
  signature.is_generic = next != first;
  return signature;
}

std::string_view SignOf(std::string_view function) {
  if (function == "@in") return "in";
  if (function == "!_") return "!";
  if (function == "-_") return "-";
  const bool is_operator = function.starts_with('_') && function.ends_with('_');
  return is_operator ? function.substr(1, function.size() - 2) : function;
}

std::string CallOf(std::string_view function, bool is_member, std::span<const std::string> types) {
  const std::string sign(SignOf(function));
  if (sign != function) {
    if (types.size() == 1) return sign + types[0];
    if (types.size() == 2) return types[0] + " " + sign + " " + types[1];
  }
  if (!is_member) return sign + "(" + Join(types, ", ") + ")";
  return types[0] + "." + sign + "(" + Join(types.subspan(1), ", ") + ")";
}

std::string UsageOf(const Overload& overload) {
  const auto parts = SplitSignature(overload.signature);
  if (!parts) return "";
  std::vector<std::string> types;
  if (!parts->receiver.empty()) types.emplace_back(parts->receiver);
  for (const std::string_view type : parts->arguments) types.emplace_back(type);
  return CallOf(overload.name, !parts->receiver.empty(), types);
}

namespace {

// Null may stand for what is neither a plain value nor a collection.
bool IsNullable(const Type& type) {
  return !type.variable && &TypeOfScalar(KindOf(type).value_or(Kind::kError)) == &kDyn &&
         !type.is("list") && !type.is("map") && !type.is("type") && !type.is_dyn();
}

}  // namespace

const Type* Unifier::Resolve(const Type* type) const {
  while (type->variable) {
    const Type* bound = BoundTo(*type->variable);
    if (bound == nullptr) return type;
    type = bound;
  }
  return type;
}

void Unifier::Bind(uint32_t variable, const Type* type) {
  if (variable >= bound_.size()) bound_.resize(variable + 1);
  trail_.emplace_back(variable, bound_[variable]);
  bound_[variable] = type;
}

void Unifier::Undo(size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    bound_[trail_.back().first] = trail_.back().second;
  }
}

bool Unifier::Contains(const Type* type, uint32_t variable) const {
  type = Resolve(type);
  if (type->variable) return *type->variable == variable;
  for (const Type* part : type->of) {
    if (Contains(part, variable)) return true;
  }
  return false;
}

bool Unifier::AssignVariable(uint32_t variable, const Type* other, bool variable_is_to) {
  const Type* bound = BoundTo(variable);
  if (bound == nullptr) {
    other = Resolve(other);
    if (other->variable == variable) return true;
    if (Contains(other, variable)) return false;
    Bind(variable, other);
    return true;
  }
  if (!(variable_is_to ? Assignable(bound, other) : Assignable(other, bound))) return false;
  const Type* resolved = Resolve(other);
  if (IsLessSpecific(resolved, Resolve(bound)) && !Contains(resolved, variable)) {
    Bind(variable, resolved);
  }
  return true;
}

bool Unifier::Assignable(const Type* to, const Type* from) {
  if (to == from) return true;
  if (to->variable) return AssignVariable(*to->variable, from, true);
  if (from->variable) return AssignVariable(*from->variable, to, false);
  if (to->is_dyn() || from->is_dyn()) return true;
  if (from->is("null_type") && IsNullable(*to)) return true;
  if (to->is("null_type") && IsNullable(*from)) return true;
  if (to->name != from->name) return false;
  if (to->is("type")) return true;
  if (to->of.size() != from->of.size()) return false;
  for (size_t i = 0; i < to->of.size(); ++i) {
    if (!Assignable(to->of[i], from->of[i])) return false;
  }
  return true;
}

bool Unifier::IsLessSpecific(const Type* a, const Type* b) const {
  a = Resolve(a);
  b = Resolve(b);
  if (a->variable || a->is_dyn()) return true;
  if (b->variable || b->is_dyn()) return false;
  if (b->is("null_type") && IsNullable(*a)) return true;
  if (a->name != b->name || a->of.size() != b->of.size()) return false;
  for (size_t i = 0; i < a->of.size(); ++i) {
    if (!IsLessSpecific(a->of[i], b->of[i])) return false;
  }
  return true;
}

const Type* Unifier::Join(const Type* a, const Type* b) {
  const size_t mark = Mark();
  if (!Assignable(a, b)) {
    Undo(mark);
    return &kDyn;
  }
  return IsLessSpecific(a, b) ? a : b;
}

const Type* Unifier::Apply(const Type* type) {
  type = Resolve(type);
  if (type->variable) return &kDyn;
  if (type->of.empty()) return type;
  std::vector<const Type*> of;
  for (const Type* part : type->of) of.push_back(Apply(part));
  return types_.With(*type, of);
}

}  // namespace mindgate::cel
