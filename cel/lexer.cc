#include "cel/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace mindgate::cel {
namespace {

constexpr std::string_view kEscapes = "abfnrtv\\?\"'`";
constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";

struct Escape {
  char32_t character = 0;
  size_t length = 0;     // with the backslash
  bool is_code = false;  // a number, which is a byte in bytes
};

std::optional<char32_t> Digits(std::string_view text, size_t count, int base) {
  if (text.size() < count) return std::nullopt;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + count, number, base);
  if (error != std::errc() || end != text.data() + count) return std::nullopt;
  return static_cast<char32_t>(number);
}

// The escape that the text begins with, or why it is none.
std::optional<Escape> EscapeOf(std::string_view text, bool bytes, std::string& fault) {
  const char c = text.size() > 1 ? text[1] : '\0';
  if (const size_t at = kEscapes.find(c); text.size() > 1 && at != std::string_view::npos) {
    return Escape{static_cast<char32_t>(kMeanings[at]), 2, false};
  }
  size_t digits = 0;
  if (c == 'x' || c == 'X') digits = 2;
  if (c == 'u') digits = 4;
  if (c == 'U') digits = 8;
  if (digits > 2 && bytes) {
    fault = "bytes have no escapes of characters";
    return std::nullopt;
  }
  const bool octal = c >= '0' && c <= '3';
  const auto number = octal ? Digits(text.substr(1), 3, 8) : Digits(text.substr(2), digits, 16);
  if ((digits == 0 && !octal) || !number) {
    fault = Quote(text.substr(0, std::min<size_t>(text.size(), 2))) + " is not a known escape";
    return std::nullopt;
  }
  if (*number > 0x10FFFF || (*number >= 0xD800 && *number < 0xE000)) {
    fault = "this escape is not a character of Unicode";
    return std::nullopt;
  }
  return Escape{*number, octal ? 4 : digits + 2, true};
}

}  // namespace

Unescaped Unescape(std::string_view content, bool bytes, json::Arena& arena) {
  Unescaped result;
  std::string out;
  for (size_t at = 0; at < content.size();) {
    if (content[at] != '\\') {
      out += content[at++];
      continue;
    }
    const auto escape = EscapeOf(content.substr(at), bytes, result.fault);
    if (!escape) {
      result.at = at;
      return result;
    }
    if (bytes && escape->is_code) {
      out += static_cast<char>(escape->character);
    } else {
      AppendUtf8(escape->character, out);
    }
    at += escape->length;
  }
  result.text = arena.Text(out);
  return result;
}

void AppendUtf8(char32_t character, std::string& out) {
  const auto tail = [&out, character](int shift) {
    out += static_cast<char>(0x80 | ((character >> shift) & 0x3F));
  };
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0 | (character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    out += static_cast<char>(0xE0 | (character >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char32_t CharacterAt(std::string_view text) {
  const auto byte = [text](size_t at) { return static_cast<unsigned char>(text[at]); };
  switch (Utf8Length(text)) {
    case 2:
      return static_cast<char32_t>((byte(0) & 0x1F) << 6 | (byte(1) & 0x3F));
    case 3:
      return static_cast<char32_t>((byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 |
                                   (byte(2) & 0x3F));
    case 4:
      return static_cast<char32_t>((byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                                   (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F));
    default:
      return byte(0);
  }
}

bool IsTooSmall(std::string_view number) {
  const size_t at = number.find_first_of("eE");
  if (at != std::string_view::npos) return number.substr(at + 1).starts_with('-');
  return number.starts_with('.') || number.starts_with("0");
}

namespace {

// The longest first.
constexpr std::array<std::string_view, 25> kSigns{"==", "!=", "<=", ">=", "&&", "||", "[", "]", "(",
                                                  ")",  "{",  "}",  ".",  ",",  "-",  "!", "?", ":",
                                                  "+",  "*",  "/",  "%",  "<",  ">",  "="};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The length of an exponent at the beginning, or 0.
size_t ExponentLength(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  size_t length = 1;
  if (length < text.size() && (text[length] == '+' || text[length] == '-')) ++length;
  const size_t digits = length;
  while (length < text.size() && IsDigit(text[length])) ++length;
  return length == digits ? 0 : length;
}

size_t DigitsLength(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && IsDigit(text[length])) ++length;
  return length;
}

size_t NumberLength(std::string_view text) {
  size_t length = 0;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    length = 2;
    while (length < text.size() && IsHex(text[length])) ++length;
  } else {
    length = DigitsLength(text);
    bool whole = true;
    if (length < text.size() && text[length] == '.') {
      const size_t digits = DigitsLength(text.substr(length + 1));
      if (digits > 0) {
        length += 1 + digits;
        whole = false;
      }
    }
    const size_t exponent = ExponentLength(text.substr(length));
    length += exponent;
    if (!whole || exponent > 0) return length;
  }
  if (length < text.size() && (text[length] == 'u' || text[length] == 'U')) ++length;
  return length;
}

// "b", "R", "bR" and so on before a quote: its length. Nothing when this is not the beginning of a
// text.
std::optional<size_t> PrefixLength(std::string_view text) {
  size_t length = 0;
  bool raw = false;
  bool bytes = false;
  for (; length < text.size() && length < 2; ++length) {
    const char c = text[length];
    if ((c == 'r' || c == 'R') && !raw) {
      raw = true;
    } else if ((c == 'b' || c == 'B') && !bytes) {
      bytes = true;
    } else {
      break;
    }
  }
  if (length < text.size() && (text[length] == '"' || text[length] == '\'')) return length;
  return std::nullopt;
}

std::string_view HintForSign(std::string_view rest) {
  if (rest.starts_with('&')) return "write && for a logical and, math.bitAnd for bits";
  if (rest.starts_with('|')) return "write || for a logical or, math.bitOr for bits";
  if (rest.starts_with('#')) return "a comment begins with //";
  if (rest.starts_with(';')) return "an expression is one value: combine conditions with &&";
  if (rest.starts_with('$')) return "write the name of the variable alone";
  return {};
}

}  // namespace

std::optional<Value> NumberOf(std::string_view text, bool negative) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (!hex && text.find_first_of(".eE") != std::string_view::npos) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // What is too small is zero; what is too large has no value.
    const bool small = error == std::errc::result_out_of_range && IsTooSmall(text);
    if ((error != std::errc() && !small) || end != text.data() + text.size()) return std::nullopt;
    if (small) number = 0;
    return Value::OfDouble(negative ? -number : number);
  }
  const bool is_unsigned = text.ends_with('u') || text.ends_with('U');
  std::string_view digits = text;
  if (is_unsigned) digits.remove_suffix(1);
  if (hex) digits.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (is_unsigned) return negative ? std::nullopt : std::optional(Value::OfUint(number));
  constexpr uint64_t kMost = uint64_t{1} << 63;
  if (number > kMost || (number == kMost && !negative)) return std::nullopt;
  return Value::OfInt(static_cast<int64_t>(negative ? 0 - number : number));
}

json::Position PositionOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  json::Position position;
  position.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  const size_t line = before.rfind('\n');
  position.column =
      1 + static_cast<int>(before.size() - (line == std::string_view::npos ? 0 : line + 1));
  return position;
}

Token Lexer::Fail(size_t at, std::string_view message, std::string_view hint) {
  json::Issue issue;
  issue.at = PositionOf(text_, at);
  issue.message = message;
  issue.hint = hint;
  issues_.Add(std::move(issue));
  Token token;
  token.kind = Token::Kind::kFault;
  token.at = static_cast<uint32_t>(at);
  return token;
}

Token Lexer::Take(Token::Kind kind, size_t length) {
  Token token;
  token.kind = kind;
  token.at = static_cast<uint32_t>(at_);
  token.text = text_.substr(at_, length);
  at_ += length;
  return token;
}

void Lexer::SkipBlanks() {
  constexpr std::string_view kBlanks = " \t\n\f\r";
  while (at_ < text_.size()) {
    const std::string_view rest = text_.substr(at_);
    if (kBlanks.find(rest[0]) != std::string_view::npos) {
      ++at_;
    } else if (rest.starts_with("//")) {
      at_ += std::min(rest.find('\n'), rest.size());
    } else {
      return;
    }
  }
}

Token Lexer::Next() {
  SkipBlanks();
  if (at_ >= text_.size()) return Take(Token::Kind::kEnd, 0);
  const std::string_view rest = text_.substr(at_);
  if (const auto prefix = PrefixLength(rest)) return Text(*prefix);
  if (IsLetter(rest[0])) {
    size_t length = 1;
    while (length < rest.size() && (IsLetter(rest[length]) || IsDigit(rest[length]))) ++length;
    return Take(Token::Kind::kName, length);
  }
  if (IsDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && IsDigit(rest[1]))) return Number();
  return rest[0] == '`' ? Quoted() : Sign();
}

Token Lexer::Number() {
  const size_t at = at_;
  const size_t length = NumberLength(text_.substr(at_));
  const std::string_view after = text_.substr(at_ + length);
  if (!after.empty() && (IsLetter(after[0]) || IsDigit(after[0]))) {
    return Fail(at, "a letter follows a number",
                "names begin with a letter, and a text stands in quotes");
  }
  Token token = Take(Token::Kind::kNumber, length);
  // 2^63 is an int only behind a minus; the parser asks again.
  if (const auto value = NumberOf(token.text, false)) {
    token.value = *value;
  } else if (!NumberOf(token.text, true)) {
    return Fail(at, "the number " + Quote(token.text) + " is too large",
                "an int has 64 bits; 1e30 is a double");
  } else {
    token.value = Value();  // null
  }
  return token;
}

Token Lexer::Text(size_t prefix) {
  const size_t at = at_;
  std::string_view rest = text_.substr(at_ + prefix);
  const char quote = rest[0];
  const std::string triple(3, quote);
  const std::string_view mark =
      rest.starts_with(triple) ? std::string_view(triple) : rest.substr(0, 1);
  const std::string_view letters = text_.substr(at_, prefix);
  const bool raw = letters.find_first_of("rR") != std::string_view::npos;
  const bool bytes = letters.find_first_of("bB") != std::string_view::npos;
  size_t end = mark.size();
  while (end < rest.size() && rest.substr(end, mark.size()) != mark) {
    if (mark.size() == 1 && (rest[end] == '\n' || rest[end] == '\r')) {
      return Fail(at, "this text has no end on its line",
                  "close the quotes, or write a text of several lines in triple quotes");
    }
    end += rest[end] == '\\' && !raw ? 2 : 1;
  }
  if (end >= rest.size()) return Fail(at, "this text has no end", "close the quotes");
  const std::string_view content = rest.substr(mark.size(), end - mark.size());
  Token token = Take(Token::Kind::kText, prefix + end + mark.size());
  if (raw || content.find('\\') == std::string_view::npos) {
    token.value = bytes ? Value::OfBytes(content) : Value::OfString(content);
    return token;
  }
  const Unescaped text = Unescape(content, bytes, arena_);
  if (!text.fault.empty()) {
    return Fail(at + prefix + mark.size() + text.at, text.fault, "write \\\\ for a backslash");
  }
  token.value = bytes ? Value::OfBytes(text.text) : Value::OfString(text.text);
  return token;
}

Token Lexer::Quoted() {
  const size_t end = text_.find('`', at_ + 1);
  if (end == std::string_view::npos) return Fail(at_, "this name has no end", "close the `");
  const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
  const bool plain = std::ranges::all_of(name, [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
  });
  if (name.empty() || !plain) {
    return Fail(at_, "between ` and ` are letters, digits and _ . - / and spaces alone",
                "write [\"...\"] for any other member");
  }
  Token token = Take(Token::Kind::kQuoted, name.size() + 2);
  token.text = name;
  return token;
}

Token Lexer::Sign() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view sign : kSigns) {
    if (rest.starts_with(sign)) return Take(Token::Kind::kSign, sign.size());
  }
  return Fail(at_, Quote(FirstCharacter(rest)) + " has no meaning here", HintForSign(rest));
}

}  // namespace mindgate::cel
