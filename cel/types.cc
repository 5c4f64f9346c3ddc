#include "cel/types.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

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

}  // namespace mindgate::cel
