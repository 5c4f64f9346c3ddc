#include "base/html.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate {

std::string HtmlEscaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    const std::string_view character = text.substr(i, std::max<size_t>(length, 1));
    i += character.size();
    if (length == 0 || IsControl(character)) {
      out += HexEscaped(character);
    } else if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "'") {
      out += "&#39;";
    } else {
      out += character;
    }
  }
  return out;
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
         "</style>\n</head>\n<body>\n<h1>" + std::string(title) + "</h1>\n";
}

}  // namespace mindgate
