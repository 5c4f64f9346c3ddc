#include "base/lookalikes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "base/text.h"

namespace mindgate {
namespace {

struct Row {
  uint32_t code;
  std::string_view name;
  std::string_view instead;
  bool invisible;
};

// The Unicode Character Database, version 15. By code.
constexpr std::array<Row, 20> kRows = {{
    {0x00A0, "NO-BREAK SPACE", " ", true},
    {0x2009, "THIN SPACE", " ", true},
    {0x200B, "ZERO WIDTH SPACE", "", true},
    {0x200C, "ZERO WIDTH NON-JOINER", "", true},
    {0x200D, "ZERO WIDTH JOINER", "", true},
    {0x2010, "HYPHEN", "-", false},
    {0x2013, "EN DASH", "-", false},
    {0x2014, "EM DASH", "-", false},
    {0x2018, "LEFT SINGLE QUOTATION MARK", "'", false},
    {0x2019, "RIGHT SINGLE QUOTATION MARK", "'", false},
    {0x201C, "LEFT DOUBLE QUOTATION MARK", "\"", false},
    {0x201D, "RIGHT DOUBLE QUOTATION MARK", "\"", false},
    {0x202F, "NARROW NO-BREAK SPACE", " ", true},
    {0x2060, "WORD JOINER", "", true},
    {0x2212, "MINUS SIGN", "-", false},
    {0x3000, "IDEOGRAPHIC SPACE", " ", true},
    {0x3001, "IDEOGRAPHIC COMMA", ",", false},
    {0x3002, "IDEOGRAPHIC FULL STOP", ".", false},
    {0x3010, "LEFT BLACK LENTICULAR BRACKET", "[", false},
    {0xFEFF, "ZERO WIDTH NO-BREAK SPACE", "", true},
}};

// U+FF01 to U+FF5E stand for ASCII 0x21 to 0x7E.
constexpr uint32_t kFullwidthBegin = 0xFF01;
constexpr uint32_t kFullwidthEnd = 0xFF5E;

constexpr std::array<std::string_view, 10> kDigits = {"ZERO", "ONE", "TWO",   "THREE", "FOUR",
                                                      "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"};
struct Mark {
  char ascii;
  std::string_view name;
};
constexpr std::array<Mark, 32> kMarks = {{
    {'!', "EXCLAMATION MARK"},
    {'"', "QUOTATION MARK"},
    {'#', "NUMBER SIGN"},
    {'$', "DOLLAR SIGN"},
    {'%', "PERCENT SIGN"},
    {'&', "AMPERSAND"},
    {'\'', "APOSTROPHE"},
    {'(', "LEFT PARENTHESIS"},
    {')', "RIGHT PARENTHESIS"},
    {'*', "ASTERISK"},
    {'+', "PLUS SIGN"},
    {',', "COMMA"},
    {'-', "HYPHEN-MINUS"},
    {'.', "FULL STOP"},
    {'/', "SOLIDUS"},
    {':', "COLON"},
    {';', "SEMICOLON"},
    {'<', "LESS-THAN SIGN"},
    {'=', "EQUALS SIGN"},
    {'>', "GREATER-THAN SIGN"},
    {'?', "QUESTION MARK"},
    {'@', "COMMERCIAL AT"},
    {'[', "LEFT SQUARE BRACKET"},
    {'\\', "REVERSE SOLIDUS"},
    {']', "RIGHT SQUARE BRACKET"},
    {'^', "CIRCUMFLEX ACCENT"},
    {'_', "LOW LINE"},
    {'`', "GRAVE ACCENT"},
    {'{', "LEFT CURLY BRACKET"},
    {'|', "VERTICAL LINE"},
    {'}', "RIGHT CURLY BRACKET"},
    {'~', "TILDE"},
}};

uint32_t CodeOf(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default:
      return 0;
  }
}

bool IsFullwidth(uint32_t code) { return code >= kFullwidthBegin && code <= kFullwidthEnd; }

// Null pointer for all others.
const Row* RowOf(uint32_t code) {
  if (code < kRows.front().code) return nullptr;  // as nearly every character
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [code](const Row& each) { return each.code == code; });
  return row == kRows.end() ? nullptr : &*row;
}

std::string NameOfAscii(char ascii) {
  if (ascii >= '0' && ascii <= '9') return "DIGIT " + std::string(kDigits[ascii - '0']);
  if (ascii >= 'A' && ascii <= 'Z') return std::string("LATIN CAPITAL LETTER ") + ascii;
  if (ascii >= 'a' && ascii <= 'z') {
    return std::string("LATIN SMALL LETTER ") + static_cast<char>(ascii - 'a' + 'A');
  }
  const auto mark = std::find_if(kMarks.begin(), kMarks.end(),
                                 [ascii](const Mark& each) { return each.ascii == ascii; });
  return std::string(mark->name);
}

std::string Named(uint32_t code, std::string_view name) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X ", code);
  return text.data() + std::string(name);
}

}  // namespace

std::optional<Lookalike> LookalikeOf(std::string_view character) {
  const uint32_t code = CodeOf(character);
  if (IsFullwidth(code)) {
    const char ascii = static_cast<char>(code - kFullwidthBegin + 0x21);
    return Lookalike{Named(code, "FULLWIDTH " + NameOfAscii(ascii)), std::string(1, ascii), false};
  }
  const Row* row = RowOf(code);
  if (row == nullptr) return std::nullopt;
  return Lookalike{Named(code, row->name), std::string(row->instead), row->invisible};
}

std::optional<FoundLookalike> FindLookalike(std::string_view line, size_t near) {
  std::string_view nearest;
  size_t at = 0;
  const auto distance = [near](size_t offset) {
    return offset > near ? offset - near : near - offset;
  };
  char quote = 0;
  for (size_t i = 0; i < line.size();) {
    const size_t length = std::max<size_t>(1, Utf8Length(line.substr(i)));
    const std::string_view character = line.substr(i, length);
    const char c = character.front();
    if (quote != 0) {
      if (c == '\\' && quote == '"') {
        i += 2;
        continue;
      }
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') &&
               (i == 0 ||
                std::string_view(" \t:[{,-").find(line[i - 1]) != std::string_view::npos)) {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      break;
    } else if (const uint32_t code = CodeOf(character); IsFullwidth(code) || RowOf(code)) {
      if (nearest.empty() || distance(i) < distance(at)) {
        nearest = character;
        at = i;
      }
    }
    i += length;
  }
  if (nearest.empty()) return std::nullopt;
  return FoundLookalike{at, *LookalikeOf(nearest)};
}

}  // namespace mindgate
