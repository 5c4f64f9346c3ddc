#pragma once

#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/value.h"

namespace mindgate::testing {

// Text that decoders and encoders get wrong: words and numbers of YAML, its indicators, line ends
// of all kinds, characters at the edges of UTF-8.
inline rc::Gen<std::string> AnyText() {
  static const std::vector<std::string> kPieces = {"a",
                                                   "b",
                                                   "Z",
                                                   "0",
                                                   "1",
                                                   "9",
                                                   ".",
                                                   "-",
                                                   "+",
                                                   "_",
                                                   "e",
                                                   "E",
                                                   "x",
                                                   "o",
                                                   ":",
                                                   "#",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\r",
                                                   "\t",
                                                   ",",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   "&",
                                                   "*",
                                                   "!",
                                                   "|",
                                                   ">",
                                                   "'",
                                                   "\"",
                                                   "%",
                                                   "@",
                                                   "`",
                                                   "?",
                                                   "=",
                                                   "<",
                                                   "~",
                                                   "/",
                                                   "\\",
                                                   "---",
                                                   "...",
                                                   ": ",
                                                   " #",
                                                   "- ",
                                                   "\n\n",
                                                   "\n ",
                                                   " \n",
                                                   "\r\n",
                                                   std::string(1, '\0'),
                                                   "\x01",
                                                   "\x1b",
                                                   "\x7f",
                                                   "\xC2\x80",
                                                   "\xC2\x85",
                                                   "\xC2\xA0",
                                                   "é",
                                                   "故障",
                                                   "\xE2\x80\xA8",
                                                   "\xE2\x80\xA9",
                                                   "\xED\x9F\xBF",
                                                   "\xEE\x80\x80",
                                                   "\xEF\xBB\xBF",
                                                   "\xEF\xBF\xBD",
                                                   "\xEF\xBF\xBE",
                                                   "\xEF\xBF\xBF",
                                                   "\xF0\x90\x80\x80",
                                                   "\xF0\x9F\x98\x80",
                                                   "\xF4\x8F\xBF\xBF"};
  static const std::vector<std::string> kWords = {
      "",       "y",    "No",         "on",
      "OFF",    "true", "False",      "~",
      "null",   "NULL", ".inf",       "-.Inf",
      ".NaN",   "<<",   "0x1F",       "0o14",
      "0b101",  "012",  "08",         "1_000",
      "1e3",    "1.0",  "2001-01-01", "12:30",
      "1e999",  "-0",   "+1",         "=",
      "-",      "?",    ":",          "!",
      "&a",     "*a",   "---",        "...",
      "# a",    "a: b", "a #b",       "a\n",
      "a\nb\n", "\na",  " a\n b\n",   "a\n\n",
      "|\n",    "[a",   "{a",         "- a",
      "a ",     " a",   "%YAML",      "18446744073709551616"};
  return rc::gen::exec([] {
    if (*rc::gen::inRange(0, 3) == 0) return *rc::gen::elementOf(kWords);
    std::string text;
    const int length = *rc::gen::inRange(0, 12);
    for (int i = 0; i < length; ++i) text += *rc::gen::elementOf(kPieces);
    return text;
  });
}

inline rc::Gen<double> AnyDouble() {
  return rc::gen::exec([] {
    using Limits = std::numeric_limits<double>;
    if (*rc::gen::inRange(0, 3) == 0) {
      return *rc::gen::element(0.0, -0.0, 1.0, -1.0, 0.1, 1e3, 1e15, 1e16, 1e17, 1e21, 1e100,
                               5e-324, Limits::max(), Limits::lowest(), Limits::min(), 123456789.5);
    }
    const double value = *rc::gen::arbitrary<double>();
    return std::isfinite(value) ? value : 0.5;
  });
}

// Any JSON value of at most `depth` objects and lists inside each other.
inline rc::Gen<json::Json> AnyJson(int depth = 4) {
  return rc::gen::exec([depth]() -> json::Json {
    switch (*rc::gen::inRange(0, depth > 0 ? 10 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return *rc::gen::arbitrary<bool>();
      case 2:
        return *rc::gen::arbitrary<int64_t>();
      case 3:
        return *rc::gen::arbitrary<uint64_t>();
      case 4:
        return *AnyDouble();
      case 5:
        return *AnyText();
      case 6:
      case 7: {
        json::Json object = json::Json::object();
        const int size = *rc::gen::inRange(0, 5);
        for (int i = 0; i < size; ++i) object[*AnyText()] = *AnyJson(depth - 1);
        return object;
      }
      default: {
        json::Json list = json::Json::array();
        const int size = *rc::gen::inRange(0, 5);
        for (int i = 0; i < size; ++i) list.push_back(*AnyJson(depth - 1));
        return list;
      }
    }
  });
}

// Equal in value and in kind: 1 is not 1.0, and 0.0 is not -0.0.
inline bool Identical(const json::Json& a, const json::Json& b) {
  return a == b && a.dump() == b.dump();
}

}  // namespace mindgate::testing
