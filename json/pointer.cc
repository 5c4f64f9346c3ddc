#include "json/pointer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

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

}  // namespace mindgate::json
