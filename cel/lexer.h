#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"
#include "json/arena.h"
#include "json/issues.h"

namespace mindgate::cel {

// What stands between the quotes of a literal, without its escapes.
struct Unescaped {
  std::string_view text;  // in the arena
  std::string fault;      // why it is not a text, or empty
  size_t at = 0;          // of the fault
};

// In bytes, \x and octal escapes are bytes, and \u is refused; in strings they are characters.
Unescaped Unescape(std::string_view content, bool bytes, json::Arena& arena);

// Appends a Unicode character. At most 4 bytes.
void AppendUtf8(char32_t character, std::string& out);

// The character that a text begins with, which is well-formed.
char32_t CharacterAt(std::string_view text);

// Whether a number with a point or an exponent is nearer to zero than any double: "1e-400".
bool IsTooSmall(std::string_view number);

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,    // also reserved words; `text`
    kQuoted,  // `name`; `text` without the quotes
    kNumber,  // `value`; one that begins with '-' is made by the parser
    kText,    // string or bytes; `value`
    kSign,    // an operator or bracket; `text`
    kFault,   // reported
  };

  Kind kind = Kind::kEnd;
  uint32_t at = 0;        // offset
  std::string_view text;  // as written
  Value value;

  bool is(std::string_view sign) const { return kind == Kind::kSign && text == sign; }
  bool is_name(std::string_view name) const { return kind == Kind::kName && text == name; }
};

// Splits an expression. Texts with escapes are laid out in the arena. What it does not understand
// is an issue, and the end.
class Lexer {
 public:
  Lexer(std::string_view text, json::Arena& arena, json::Issues& issues)
      : text_(text), arena_(arena), issues_(issues) {}

  Token Next();

 private:
  void SkipBlanks();
  Token Fail(size_t at, std::string_view message, std::string_view hint = {});
  Token Take(Token::Kind kind, size_t length);
  Token Number();
  Token Text(size_t prefix);
  Token Quoted();
  Token Sign();

  std::string_view text_;
  json::Arena& arena_;
  json::Issues& issues_;
  size_t at_ = 0;
};

// The number that a token of only digits is, with a sign before it: "0x1F", "12u", "1.5e3".
// Nothing when no int, uint or double holds it.
std::optional<Value> NumberOf(std::string_view text, bool negative);

json::Position PositionOf(std::string_view text, size_t offset);

}  // namespace mindgate::cel
