#include "json/pointer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mindgate::json {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsIdentifier(std::string_view key) {
  if (key.empty() || !IsLetter(key.front())) return false;
  for (char c : key) {
    if (!IsLetter(c) && !IsDigit(c)) return false;
  }
  return true;
}

const Json* Step(const Json& value, std::string_view token) {
  if (const auto* object = value.get_ptr<const Json::object_t*>()) {
    const auto found = object->find(token);
    return found == object->end() ? nullptr : &found->second;
  }
  if (const auto* array = value.get_ptr<const Json::array_t*>()) {
    const auto index = ListIndex(token);
    return index && *index < array->size() ? &(*array)[*index] : nullptr;
  }
  return nullptr;
}

const Value* Step(const Value& value, std::string_view token) {
  if (value.is_object()) return value.Lookup(token);
  const auto index = value.is_array() ? ListIndex(token) : std::nullopt;
  return index && *index < value.size() ? &value[*index] : nullptr;
}

template <typename Tree>
const Tree* ResolveIn(const Tree& root, std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') return nullptr;
  const Tree* value = &root;
  for (size_t begin = 0, end = 0; begin < pointer.size() && value != nullptr; begin = end) {
    end = TokenEnd(pointer, begin);
    const std::string_view token = pointer.substr(begin + 1, end - begin - 1);
    if (token.find('~') == std::string_view::npos) {
      value = Step(*value, token);
    } else {
      std::string unescaped;
      value = Unescape(token, unescaped) ? Step(*value, unescaped) : nullptr;
    }
  }
  return value;
}

template <typename Tree>
std::string FieldPathIn(const Tree& root, std::string_view pointer) {
  const auto tokens = Tokens(pointer);
  if (!tokens) return std::string(pointer);
  std::string out;
  const Tree* value = &root;
  for (const std::string& token : *tokens) {
    const bool in_list = value != nullptr && value->is_array();
    if (in_list || !IsIdentifier(token)) {
      out += "[" + token + "]";
    } else {
      if (!out.empty()) out += '.';
      out += token;
    }
    if (value != nullptr) value = Step(*value, token);
  }
  return out;
}

}  // namespace

std::string Child(std::string_view pointer, std::string_view key) {
  std::string out;
  out.reserve(pointer.size() + 2 + key.size());
  out += pointer;
  out += '/';
  for (size_t special = 0; (special = key.find_first_of("~/")) != std::string_view::npos;) {
    out += key.substr(0, special);
    out += key[special] == '~' ? "~0" : "~1";
    key.remove_prefix(special + 1);
  }
  out += key;
  return out;
}

std::string Child(std::string_view pointer, size_t index) {
  return Child(pointer, std::to_string(index));
}

size_t TokenEnd(std::string_view pointer, size_t begin) {
  return std::min(pointer.find('/', begin + 1), pointer.size());
}

bool Unescape(std::string_view token, std::string& out) {
  for (size_t escape = 0; (escape = token.find('~')) != std::string_view::npos;) {
    out += token.substr(0, escape);
    token.remove_prefix(escape + 1);
    if (!token.starts_with('0') && !token.starts_with('1')) return false;
    out += token.front() == '0' ? '~' : '/';
    token.remove_prefix(1);
  }
  out += token;
  return true;
}

std::optional<std::vector<std::string>> Tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  if (pointer.front() != '/') return std::nullopt;
  for (size_t begin = 0, end = 0; begin < pointer.size(); begin = end) {
    end = TokenEnd(pointer, begin);
    if (!Unescape(pointer.substr(begin + 1, end - begin - 1), tokens.emplace_back())) {
      return std::nullopt;
    }
  }
  return tokens;
}

std::optional<size_t> ListIndex(std::string_view token) {
  if (token.empty() || !IsDigit(token.front())) return std::nullopt;
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

const Json* Resolve(const Json& root, std::string_view pointer) { return ResolveIn(root, pointer); }
const Value* Resolve(const Value& root, std::string_view pointer) {
  return ResolveIn(root, pointer);
}

std::string FieldPath(const Json& root, std::string_view pointer) {
  return FieldPathIn(root, pointer);
}
std::string FieldPath(const Value& root, std::string_view pointer) {
  return FieldPathIn(root, pointer);
}

namespace {

std::string_view NameOf(Operation::Kind kind) {
  return kind == Operation::Kind::kAdd ? "add" : "replace";
}

struct Target {
  std::vector<std::string> tokens;
  const Operation* operation = nullptr;
};

tl::unexpected<Error> Refused(const Target& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, Quote(step.operation->path) + " " + std::string(why));
}

// Applies steps that agree in their first `depth` tokens, in the order of their tokens.
class Rebuilder {
 public:
  explicit Rebuilder(Arena& arena) : arena_(arena) {}

  Result<Value> Rebuild(const Value& value, std::span<const Target> steps, size_t depth) {
    if (steps.front().tokens.size() == depth) {
      return CopyOf(steps.front().operation->value, arena_);
    }
    if (value.is_object()) return Object(value, steps, depth);
    if (value.is_array()) return List(value, steps, depth);
    return Refused(steps.front(), "leads through a value that is neither an object nor a list");
  }

 private:
  // The steps at the front that agree in the token at `depth`.
  static std::span<const Target> TakeGroup(std::span<const Target>& steps, size_t depth) {
    const std::string& token = steps.front().tokens[depth];
    size_t count = 1;
    while (count < steps.size() && steps[count].tokens[depth] == token) ++count;
    const auto group = steps.first(count);
    steps = steps.subspan(count);
    return group;
  }

  Result<Value> Object(const Value& value, std::span<const Target> steps, size_t depth) {
    const auto members = value.members();
    Member* const row = arena_.Row<Member>(members.size() + steps.size());
    std::copy(members.begin(), members.end(), row);
    size_t count = members.size();
    while (!steps.empty()) {
      const auto group = TakeGroup(steps, depth);
      const std::string& token = group.front().tokens[depth];
      const bool is_target = group.front().tokens.size() == depth + 1;
      const Value* found = value.Lookup(token);
      if (found == nullptr) {
        if (!is_target || group.front().operation->kind != Operation::Kind::kAdd) {
          return Refused(group.front(), "is not there: " + Quote(token) + " is missing");
        }
        row[count++] = {arena_.Text(token), CopyOf(group.front().operation->value, arena_)};
        continue;
      }
      auto rebuilt = Rebuild(*found, group, depth + 1);
      if (!rebuilt) return rebuilt;
      const auto at = value.MembersFrom(token).data() - members.data();
      row[at].value = *rebuilt;
    }
    SortMembers({row, count});
    return Value::OfMembers({row, count});
  }

  Result<Value> List(const Value& value, std::span<const Target> steps, size_t depth) {
    Value* const row = arena_.Row<Value>(value.size() + steps.size());
    std::copy(value.begin(), value.end(), row);
    size_t count = value.size();
    while (!steps.empty()) {
      const auto group = TakeGroup(steps, depth);
      const std::string& token = group.front().tokens[depth];
      if (token == "-") {
        for (const Target& step : group) {
          if (step.tokens.size() != depth + 1) return Refused(step, "leads below a new item");
          row[count++] = CopyOf(step.operation->value, arena_);
        }
        continue;
      }
      const auto index = ListIndex(token);
      if (!index || *index >= value.size()) {
        return Refused(group.front(),
                       "is not there: the list has " + std::to_string(value.size()) + " items");
      }
      auto rebuilt = Rebuild(value[*index], group, depth + 1);
      if (!rebuilt) return rebuilt;
      row[*index] = *rebuilt;
    }
    return Value::OfItems({row, count});
  }

  Arena& arena_;
};

}  // namespace

Json ToJsonPatch(std::span<const Operation> operations) {
  Json patch = Json::array();
  for (const Operation& operation : operations) {
    Json& entry = patch.emplace_back(Json::object());
    entry["op"] = NameOf(operation.kind);
    entry["path"] = operation.path;
    entry["value"] = TreeOf(operation.value);
  }
  return patch;
}

std::string PatchText(std::span<const Operation> operations) {
  std::string text = "[";
  for (const Operation& operation : operations) {
    if (text.size() > 1) text += ',';
    text += R"({"op":")";
    text += NameOf(operation.kind);
    text += R"(","path":)";
    AppendDump(Value::OfText(operation.path), text);
    text += R"(,"value":)";
    AppendDump(operation.value, text);
    text += '}';
  }
  return text += ']';
}

Result<Value> ApplyPatch(const Value& value, std::span<const Operation> operations, Arena& arena) {
  if (operations.empty()) return value;
  std::vector<Target> steps;
  steps.reserve(operations.size());
  for (const Operation& operation : operations) {
    auto tokens = Tokens(operation.path);
    if (!tokens) {
      return Fail(ErrorCode::kInvalidArgument, Quote(operation.path) + " is not a JSON pointer");
    }
    steps.push_back({*std::move(tokens), &operation});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Target& a, const Target& b) { return a.tokens < b.tokens; });
  return Rebuilder(arena).Rebuild(value, steps, 0);
}

}  // namespace mindgate::json
