#include "base/foreign_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <vector>

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

namespace {

// Of a sequence of two or three bytes.
uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return ((byte(0) & 0x1Fu) << 6) | (byte(1) & 0x3Fu);
  return ((byte(0) & 0x0Fu) << 12) | ((byte(1) & 0x3Fu) << 6) | (byte(2) & 0x3Fu);
}

constexpr uint32_t kUnsafe[] = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};

bool Passes(std::string_view character) {
  return character == "\n" || character == "\t" || !IsUnsafe(character);
}

}  // namespace

bool IsUnsafe(std::string_view character) {
  if (Utf8Length(character) == 0 || IsControl(character)) return true;
  if (character.size() != 2 && character.size() != 3) return false;
  return std::binary_search(std::begin(kUnsafe), std::end(kUnsafe), CodePoint(character));
}

std::string Escaped(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (Utf8Length(character) == 0 || first < 0x20) return HexEscaped(character);
  const uint32_t code = character.size() == 1 ? first : CodePoint(character);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\\u";
  for (const int shift : {12, 8, 4, 0}) out += kHex[(code >> shift) & 0xF];
  return out;
}

bool IsSafeText(std::string_view text) {
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    if (!Passes(character)) return false;
    text.remove_prefix(character.size());
  }
  return true;
}

std::string ForTerminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    if (Passes(character)) {
      out += character;
    } else {
      out += Escaped(character);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string_view MarkupEntity(std::string_view character) {
  if (character == "&") return "&amp;";
  if (character == "<") return "&lt;";
  if (character == ">") return "&gt;";
  if (character == "\"") return "&quot;";
  return "";
}

std::string HtmlEscaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (Utf8Length(character) == 0 || IsControl(character)) {
      out += HexEscaped(character);
    } else if (const auto entity = MarkupEntity(character); !entity.empty()) {
      out += entity;
    } else if (character == "'") {
      out += "&#39;";
    } else {
      out += character;
    }
  }
  return out;
}

std::string HtmlName(std::string_view name) {
  constexpr size_t kLongest = 48;  // characters
  constexpr size_t kKept = 23;     // at each end
  std::vector<size_t> starts;
  for (size_t i = 0; i < name.size(); i += FirstCharacter(name.substr(i)).size()) {
    starts.push_back(i);
  }
  if (starts.size() <= kLongest) return HtmlEscaped(name);
  return "<span title=\"" + HtmlEscaped(name) + "\">" + HtmlEscaped(name.substr(0, starts[kKept])) +
         "&hellip;" + HtmlEscaped(name.substr(starts[starts.size() - kKept])) + "</span>";
}

const std::string_view kHtmlStyle =
    R"(:root { color-scheme: light dark; --page: #fcfcfb; --ink: #0b0b0b; --soft: #52514e; --line: #d5d4cc; --good: #0f6b43; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --line: #4a4a46; --good: #3fc48b; --bad: #ff8a80; } }
body { background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, "Noto Sans CJK SC", "Noto Sans SC", sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; } h2 { border-top: 1px solid var(--line); margin-top: 2em; padding-top: 1em; } h3 { margin-bottom: .2em; }
a { color: inherit; } table { border-collapse: collapse; } td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top; }
td:first-child, .soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
summary { cursor: pointer; }
@media (max-width: 40rem) { table, tbody, tr, td, th { display: block; } tr { border-top: 1px solid var(--line); padding: .3em 0; } tr.head { display: none; } td[data-title]::before { content: attr(data-title) ": "; color: var(--soft); } }
@media print { :root { --page: #ffffff; --ink: #000000; --soft: #444444; --line: #999999; --good: #0f6b43; --bad: #b3261e; } body { max-width: none; padding: 0; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
)";

std::string HtmlRow(std::span<const std::string> titles, std::span<const std::string> cells,
                    std::string_view attributes) {
  std::string html = "<tr" + (attributes.empty() ? "" : " " + std::string(attributes)) + ">";
  for (size_t i = 0; i < cells.size(); ++i) {
    html += "<td data-title=\"" + titles[i] + "\">" + cells[i] + "</td>";
  }
  return html + "</tr>\n";
}

std::string HtmlTitles(std::span<const std::string> titles) {
  std::string html = "<tr class=\"head\">";
  for (const std::string& title : titles) html += "<th scope=\"col\">" + title + "</th>";
  return html + "</tr>\n";
}

std::string HtmlPageStart(std::string_view title, std::string_view style) {
  return R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>)" +
         std::string(title) + "</title>\n<style>\n" + std::string(style) +
         "</style>\n</head>\n<body>\n<main>\n<h1>" + std::string(title) + "</h1>\n";
}

std::string_view HtmlPageEnd() { return "</main>\n</body>\n</html>\n"; }

}  // namespace mindgate
