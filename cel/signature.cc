#include "cel/signature.h"

#include <cstdint>
#include <span>
#include <vector>

#include "base/text.h"

namespace mindgate::cel {
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

}  // namespace mindgate::cel
