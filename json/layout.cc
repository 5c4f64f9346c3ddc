#include "json/layout.h"

#include <simdjson.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::json::internal {
namespace {

// Hardly any character is as small as these, so that one comparison is mostly enough.
bool IsBlank(char c) {
  return static_cast<unsigned char>(c) <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

// An integer by the letter of RFC 8259: no plus, no zeros before other digits.
bool IsInteger(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return false;
  for (const char c : token) {
    if (!IsDigit(c)) return false;
  }
  return true;
}

// Whether keys stand in this order; mostly their first characters say so.
bool IsBefore(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.empty() && !b.empty();
  const auto first = static_cast<unsigned char>(a.front());
  const auto second = static_cast<unsigned char>(b.front());
  return first != second ? first < second : a < b;
}

template <typename Number>
bool Parse(std::string_view token, Number& number) {
  const char* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

Escapes::Escapes(std::string_view text)
    : end_(text.data() + text.size()), next_(From(text.data())) {}

const char* Escapes::From(const char* begin) const {
  const void* found = std::memchr(begin, '\\', static_cast<size_t>(end_ - begin));
  return found == nullptr ? end_ : static_cast<const char*>(found);
}

Layout::Layout(std::string_view text, const simdjson::internal::dom_parser_implementation& parser,
               const Limits& limits, std::string_view left_out, const Rows& rows)
    : text_(text),
      parser_(parser),
      next_(parser.structural_indexes.get()),
      end_(next_ + parser.n_structural_indexes),
      max_depth_(limits.depth),
      max_values_(limits.elements),
      left_out_(left_out),
      escapes_(text),
      rows_(rows) {}

bool Layout::Root(Value& out, const Projection::Node* kept) {
  Cursor at = next_;
  out = Build(at, 0, kept);
  return !failed_ && at == end_;
}

// What begins at the next place, without the blanks after it. There is one.
inline std::string_view Layout::Token(Cursor& at) const {
  const char* const begin = text_.data() + *at++;
  const char* end = text_.data() + *at;
  while (end > begin + 1 && IsBlank(end[-1])) --end;
  return {begin, static_cast<size_t>(end - begin)};
}

// Behind the strings that were unescaped before: none becomes longer.
std::string_view Layout::Unescape(std::string_view text) {
  auto* const begin = reinterpret_cast<uint8_t*>(rows_.unescaped);
  uint8_t* const end = parser_.parse_string(reinterpret_cast<const uint8_t*>(text.data()), begin);
  if (end == nullptr) {
    Fail();
    return {};
  }
  const std::string_view unescaped(rows_.unescaped, static_cast<size_t>(end - begin));
  rows_.unescaped += unescaped.size();
  has_unescaped_ = true;
  return unescaped;
}

// The string that begins at the next place.
inline std::string_view Layout::Quoted(Cursor& at) {
  std::string_view text = Token(at);
  if (text.size() < 2 || text.back() != '"') {
    Fail();
    return {};
  }
  text = {text.data() + 1, text.size() - 2};
  return escapes_.Within(text) ? Unescape(text) : text;
}

inline const Projection::Node* Layout::Step(const Projection::Node* kept,
                                            std::string_view key) const {
  if (kept == nullptr) return nullptr;
  const Projection::Node* below = kept->Step(key);
  return below == nullptr ? &nothing_ : below;
}

// `kept`: what of the value is; null means all of it. What is not is read all the same, so that no
// fault passes, but takes no row.
inline Value Layout::Build(Cursor& at, size_t depth, const Projection::Node* kept) {
  if (kept != nullptr && kept->whole) kept = nullptr;
  if (kept != &nothing_ && ++values_ > max_values_) return Fail();
  const auto below = [&](auto&& build) {
    next_ = at;
    const Value value = build();
    at = next_;
    return value;
  };
  switch (Peek(at)) {
    case '"': {
      const std::string_view text = Quoted(at);
      return failed_ ? Value() : Value::OfText(text);
    }
    case '{':
      return below([&] { return Object(depth, kept); });
    case '[':
      return below([&] { return List(depth, kept); });
    case 't':
      return Token(at) == "true" ? Value::OfBool(true) : Fail();
    case 'f':
      return Token(at) == "false" ? Value::OfBool(false) : Fail();
    case 'n':
      return Token(at) == "null" ? Value() : Fail();
    default:
      return Peek(at) == '-' || IsDigit(Peek(at)) ? below([&] { return Number(); }) : Fail();
  }
}

// Floats are rare, so nlohmann reads them, but for NUL, which it takes for the end.
Value Layout::Number() {
  const std::string_view token = Token(next_);
  if (IsInteger(token)) {
    int64_t number = 0;
    if (Parse(token, number)) return Value::OfInt(number);
    uint64_t large = 0;
    return Parse(token, large) ? Value::OfUnsigned(large) : Fail();
  }
  if (token.find('\0') != token.npos) return Fail();
  const Json number = Json::parse(token, nullptr, /*allow_exceptions=*/false);
  return number.is_number_float() ? Value::OfDouble(number.get<double>()) : Fail();
}

Value Layout::Object(size_t depth, const Projection::Node* kept) {
  if (depth >= max_depth_) return Fail();
  Cursor at = next_ + 1;
  const size_t begin = rows_.members.size();
  bool in_order = true;
  std::string_view last;
  for (bool more = !Skip(at, '}'); more;) {
    if (Peek(at) != '"') return Fail();
    const std::string_view key = Quoted(at);
    if (failed_ || !Skip(at, ':')) return Fail();
    const Projection::Node* below = Step(kept, key);
    const bool emptied = !left_out_.empty() && key == left_out_;
    const Value value = Build(at, depth + 1, emptied ? &nothing_ : below);
    if (failed_) return {};
    if (below != &nothing_) {
      in_order = in_order && (rows_.members.size() == begin || IsBefore(last, key));
      last = key;
      rows_.members.Push(key, emptied ? Value() : value);
    }
    more = Skip(at, ',');
    if (!more && !Skip(at, '}')) return Fail();
  }
  next_ = at;
  if (!in_order && !SortMembers(rows_.members.From(begin))) return Fail();
  return Value::OfMembers(rows_.members.End(begin, rows_.arena));
}

Value Layout::List(size_t depth, const Projection::Node* kept) {
  if (depth >= max_depth_) return Fail();
  Cursor at = next_ + 1;
  const size_t begin = rows_.items.size();
  const Projection::Node* below = Step(kept, "*");
  for (bool more = !Skip(at, ']'); more;) {
    const Value item = Build(at, depth + 1, below);
    if (failed_) return {};
    if (kept != &nothing_) rows_.items.Push(below == &nothing_ ? Value() : item);
    more = Skip(at, ',');
    if (!more && !Skip(at, ']')) return Fail();
  }
  next_ = at;
  return Value::OfItems(rows_.items.End(begin, rows_.arena));
}

}  // namespace mindgate::json::internal
