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

// Appends what the escaped token stands for; false when it is not a valid token.
bool Unescape(std::string_view token, std::string& out) {
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return false;
    out += token[i] == '0' ? '~' : '/';
  }
  return true;
}

}  // namespace

std::string Child(std::string_view pointer, std::string_view key) {
  std::string out;
  out.reserve(pointer.size() + 1 + key.size());
  out += pointer;
  out += '/';
  for (char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Child(std::string_view pointer, size_t index) {
  return std::string(pointer) + "/" + std::to_string(index);
}

size_t TokenEnd(std::string_view pointer, size_t begin) {
  return std::min(pointer.find('/', begin + 1), pointer.size());
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

const Json* Resolve(const Json& root, std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') return nullptr;
  const Json* value = &root;
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

std::string FieldPath(const Json& root, std::string_view pointer) {
  const auto tokens = Tokens(pointer);
  if (!tokens) return std::string(pointer);
  std::string out;
  const Json* value = &root;
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

}  // namespace mindgate::json
