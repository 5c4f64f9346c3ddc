#include "base/html.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace mindgate {

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
