#include "json/decode.h"

#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json/any_json.h"
#include "json/issues.h"
#include "json/scanner.h"
#include "json/texts.h"
#include "support/dice.h"

namespace mindgate::json {
namespace {

using namespace std::string_literals;
using ::mindgate::testing::AnyJson;
using ::mindgate::testing::Identical;
using ::mindgate::testing::Repeat;
using ::mindgate::testing::Text;

// "fine" when there is no fault.
std::string FaultOf(std::string_view text, const Limits& limits = {}) {
  const auto value = Decode(text, limits);
  return value ? "fine" : Text(value.error());
}

TEST(Decode, KeepsValuesAndTheirKinds) {
  struct Case {
    std::string text;
    Json want;
  };
  const Case cases[] = {
      {"null", nullptr},
      {" \t\r\n true \n", true},
      {"false", false},
      {"0", 0},
      {"-0", 0},
      {"1", 1},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"9223372036854775808", 9223372036854775808u},
      {"18446744073709551615", UINT64_MAX},
      {"1.0", 1.0},
      {"-0.0", -0.0},
      {"1e2", 100.0},
      {"1E+2", 100.0},
      {"1.5e-3", 0.0015},
      {"1e-999", 0.0},
      {"123456789012345678901234567890.0", 123456789012345678901234567890.0},
      {"0.2720500002000020000000", 0.27205000020000197},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {R"("")", ""},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {R"("\u0041\u00e9\u6545\ud83d\ude00")", "Aé故😀"},
      {R"("\u0000")", std::string(1, '\0')},
      {"\"\x7f é 故 😀\"", "\x7f é 故 😀"},
      {"{}", Json::object()},
      {"[]", Json::array()},
      {"[1, [], {}]", Json::array({1, Json::array(), Json::object()})},
      {R"({"b": 1, "a": {"": null}})", {{"a", {{"", nullptr}}}, {"b", 1}}},
      {"\xEF\xBB\xBF{}", Json::object()},
  };
  for (const auto& [text, want] : cases) {
    const auto value = Decode(text);
    ASSERT_TRUE(value) << text << ": " << value.error().message;
    EXPECT_TRUE(Identical(*value, want)) << text << " became " << value->dump();
  }
}

TEST(Decode, ReportsWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"", "1:1: expected a JSON value, but the text is empty"},
      {" \n ", "1:1: expected a JSON value, but the text is empty"},
      {"\xEF\xBB\xBF", "1:1: expected a JSON value, but the text is empty"},
      {"{} {}", "1:4: text after the end of the value, found \"{\""},
      {"[1]]", "1:4: text after the end of the value, found \"]\""},
      {"1 2", "1:3: text after the end of the value, found \"2\""},
      {"{}\n#", "2:1: JSON does not allow comments (remove the comment)"},
      {"{// x\n}", "1:2: JSON does not allow comments (remove the comment)"},
      {"[1, /* x */ 2]", "1:5: JSON does not allow comments (remove the comment)"},
      {"nul", "1:1: expected a value, found \"n\""},
      {"nulll", "1:5: text after the end of the value, found \"l\""},
      {"True", "1:1: expected a value, found \"T\""},
      {"故", "1:1: expected a value, found \"故\""},
      {"'a'", "1:1: expected a value, found \"'\" (JSON strings are written in double quotes)"},
      {"[", "1:2: expected a value, found the end of the text"},
      {"[1", "1:3: expected ',' or ']' after an item, found the end of the text"},
      {"[1 2]", "1:4: expected ',' or ']' after an item, found \"2\""},
      {"[1}", "1:3: expected ',' or ']' after an item, found \"}\""},
      {"[1,]", "1:4: expected an item after ',' (remove the comma before it)"},
      {"[,1]", "1:2: expected a value, found \",\""},
      {"[1,,2]", "1:4: expected a value, found \",\""},
      {"{", "1:2: expected a key in double quotes, found the end of the text"},
      {"{\"a\"", "1:5: expected ':' after a key, found the end of the text"},
      {"{\"a\" 1}", "1:6: expected ':' after a key, found \"1\""},
      {"{\"a\":", "1:6: expected a value, found the end of the text"},
      {"{\"a\":}", "1:6: expected a value, found \"}\""},
      {"{\"a\":1", "1:7: expected ',' or '}' after a member, found the end of the text"},
      {"{\"a\":1,}", "1:8: expected a member after ',' (remove the comma before it)"},
      {"{\"a\":1 \"b\":2}", "1:8: expected ',' or '}' after a member, found \"\\\"\""},
      {"{a: 1}", "1:2: expected a key in double quotes, found \"a\""},
      {"{'a': 1}",
       "1:2: expected a key in double quotes, found \"'\" (JSON strings are written in double "
       "quotes)"},
      {"{1: 1}", "1:2: expected a key in double quotes, found \"1\""},
      {"\"abc", "1:1: a string has no closing quote"},
      {"\"abc\\",
       "1:5: unknown escape after a backslash in a string "
       "(write a backslash as \\\\)"},
      {"[\"abc\n\"]", "1:2: a string has no closing quote on its line"},
      {"\"a\tb\"",
       "1:3: a string contains a control character "
       "(write it as an escape such as \\t)"},
      {"\""s + '\0' + "\"",
       "1:2: a string contains a control character "
       "(write it as an escape such as \\t)"},
      {"[]"s + '\0', "1:3: text after the end of the value, found \"\\x00\""},
      {R"("C:\x")",
       "1:4: unknown escape after a backslash in a string "
       "(write a backslash as \\\\)"},
      {R"("\u12g4")", "1:2: \\u takes four hexadecimal digits"},
      {R"("\u12")", "1:2: \\u takes four hexadecimal digits"},
      {R"("\ud800")",
       "1:2: this escape is half of a surrogate pair, not a character "
       "(write both halves, or the character itself)"},
      {R"("\udc00")",
       "1:2: this escape is half of a surrogate pair, not a character "
       "(write both halves, or the character itself)"},
      {R"("\ud800\u0041")",
       "1:2: this escape is half of a surrogate pair, not a character "
       "(write both halves, or the character itself)"},
      {R"("a\ud800\n")",
       "1:3: this escape is half of a surrogate pair, not a character "
       "(write both halves, or the character itself)"},
      {"-", "1:1: expected a digit after '-'"},
      {"+1", "1:1: expected a value, found \"+\""},
      {".5", "1:1: expected a value, found \".\""},
      {"01", "1:1: a number must not begin with 0 (remove the leading zeros)"},
      {"-01", "1:1: a number must not begin with 0 (remove the leading zeros)"},
      {"1.", "1:1: expected a digit after the point of a number"},
      {"1.e1", "1:1: expected a digit after the point of a number"},
      {"1e", "1:1: expected a digit in the exponent of a number"},
      {"1e+", "1:1: expected a digit in the exponent of a number"},
      {"0x1F", "1:2: text after the end of the value, found \"x\""},
      {"NaN", "1:1: expected a value, found \"N\""},
      {"1e999", "1:1: number \"1e999\" is out of range"},
      {"[-1e999]", "1:2: number \"-1e999\" is out of range"},
      {"18446744073709551616", "1:1: integer \"18446744073709551616\" does not fit in 64 bits"},
      {"-9223372036854775809", "1:1: integer \"-9223372036854775809\" does not fit in 64 bits"},
      {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
       "3:2: key \"a\" is written twice (remove one; the first is on line 1)"},
      {R"({"a": 1, "\u0061": 1})",
       "1:10: key \"a\" is written twice (remove one; the first is on line 1)"},
      {R"([{"x": {"": 1, "": 2}}])",
       "1:16: key \"\" is written twice (remove one; the first is on line 1)"},
      {"{\"é\": 1, x}", "1:11: expected a key in double quotes, found \"x\""},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(FaultOf(text), want) << text;
}

TEST(Decode, RefusesWhatIsNotUtf8) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"\"\xff\"", "1:2: byte 0xFF is not UTF-8 text (save the file as UTF-8)"},
      {"[\n\"a\x80\"]", "2:3: byte 0x80 is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xC3\"", "1:2: byte 0xC3 is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xC0\xAF\"", "1:2: byte 0xC0 is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xE0\x80\x80\"", "1:2: byte 0xE0 is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xED\xA0\x80\"", "1:2: byte 0xED is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xF4\x90\x80\x80\"", "1:2: byte 0xF4 is not UTF-8 text (save the file as UTF-8)"},
      {"\"\xF0\x9F\x98", "1:2: byte 0xF0 is not UTF-8 text (save the file as UTF-8)"},
      {"\xEF\xBB\xBF\"\xff\"", "1:2: byte 0xFF is not UTF-8 text (save the file as UTF-8)"},
      {"\xFF\xFE{\0}\0"s, "1:1: the text is UTF-16 (save the file as UTF-8)"},
      {"\xFE\xFF\0{\0}"s, "1:1: the text is UTF-16 (save the file as UTF-8)"},
      {"\xFF\xFE\0\0{\0\0\0}\0\0\0"s, "1:1: the text is UTF-32 (save the file as UTF-8)"},
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s,
       "1:1: byte 0x89 is not UTF-8 text (save the file as UTF-8)"},
      {"\x7f"
       "ELF\x02\x01\x01"s,
       "1:1: expected a value, found \"\\x7f\""},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(FaultOf(text), want) << text;
}

TEST(Decode, HoldsToTheLimitOfBytes) {
  const Limits limits{.bytes = 10};
  EXPECT_EQ(FaultOf("[12345678]", limits), "fine");
  EXPECT_EQ(FaultOf("[123456789]", limits), "0:0: the document is larger than 10 bytes");
  const std::string gigantic(Limits{}.bytes + 1, ' ');
  EXPECT_EQ(FaultOf(gigantic), "0:0: the document is larger than 7340032 bytes");
}

TEST(Decode, HoldsToTheLimitOfDepth) {
  const Limits limits{.depth = 3};
  EXPECT_EQ(FaultOf("[[[1]]]", limits), "fine");
  EXPECT_EQ(FaultOf("[[[]]]", limits), "fine");
  EXPECT_EQ(FaultOf("[[[[]]]]", limits), "1:4: objects and lists are nested deeper than 3 levels");
  EXPECT_EQ(FaultOf(R"({"a":{"b":{"c":1}}})", limits), "fine");
  EXPECT_EQ(FaultOf(R"({"a":{"b":{"c":{}}}})", limits),
            "1:16: objects and lists are nested deeper than 3 levels");
  for (const size_t depth : {127u, 128u}) {
    EXPECT_EQ(FaultOf(Repeat("[", depth) + Repeat("]", depth)), "fine") << depth;
    EXPECT_EQ(FaultOf(Repeat("{\"a\":", depth) + "1" + Repeat("}", depth)), "fine") << depth;
  }
  EXPECT_EQ(FaultOf(Repeat("[", 129) + Repeat("]", 129)),
            "1:129: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(FaultOf(Repeat("[", 150'000)),
            "1:129: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(FaultOf(Repeat("{\"a\":", 150'000) + "1" + Repeat("}", 150'000)),
            "1:641: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(FaultOf("1", {.depth = 0}), "fine");
  EXPECT_EQ(FaultOf("[]", {.depth = 0}), "1:1: objects and lists are nested deeper than 0 levels");
}

// The first fault is reported, and a key that came twice is one although its object ends later.
TEST(Decode, ReportsTheFirstOfManyFaults) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1,"b":2,"a":3,"b":4})",
       R"(1:14: key "a" is written twice (remove one; the first is on line 1))"},
      {R"({"a":1,"a":2,"b":x})",
       R"(1:8: key "a" is written twice (remove one; the first is on line 1))"},
      {R"({"b":x,"a":1,"a":2})", R"(1:6: expected a value, found "x")"},
      {R"({"a":1,"a":{"c":1,"c":2}})",
       R"(1:8: key "a" is written twice (remove one; the first is on line 1))"},
      {R"({"a":{"c":1,"c":2},"a":1})",
       R"(1:13: key "c" is written twice (remove one; the first is on line 1))"},
      {R"({"a":1,"\u0061":2})",
       R"(1:8: key "a" is written twice (remove one; the first is on line 1))"},
      {R"([{"a":1},{"a":1}])", "fine"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(FaultOf(text), want) << text;
}

TEST(Decode, HoldsToTheLimitOfValues) {
  const Limits limits{.elements = 4};
  EXPECT_EQ(FaultOf("[1,2,3]", limits), "fine");
  EXPECT_EQ(FaultOf("[1,2,3,4]", limits), "1:8: the document has more than 4 values");
  EXPECT_EQ(FaultOf(R"({"a":{"b":1,"c":2}})", limits), "fine");
  EXPECT_EQ(FaultOf(R"({"a":{"b":1,"c":[{}]}})", limits),
            "1:18: the document has more than 4 values");
  const std::string many = "[" + Repeat("0,", 499'999) + "0]";
  EXPECT_EQ(FaultOf(many, {.bytes_a_value = 0}),
            "1:1000000: the document has more than 500000 values");
}

// A small value costs far more than its text while it is decoded.
TEST(Decode, RefusesATextThatIsAllValues) {
  const std::string many = "[" + Repeat("0,", 99'999) + "0]";
  EXPECT_EQ(FaultOf(many), "1:90536: the document has more than 45268 values");
  EXPECT_EQ(FaultOf("[" + Repeat("\"0123456789\",", 99'999) + "0]"), "fine");
  EXPECT_EQ(FaultOf("\"" + Repeat(",[{", 99'999) + "\""), "fine") << "a text is one value";
  EXPECT_EQ(FaultOf("[" + Repeat("0,", 30'000) + "0]"), "fine") << "small enough all the same";
}

TEST(Decode, RefusesEveryPrefixOfADocument) {
  const std::string text =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"推理-\u00e9","labels":{"a":"b"}},)"
      R"("spec":{"containers":[{"name":"c","resources":{"limits":{"huawei.com/Ascend910":8}},)"
      R"("env":[{"name":"A","value":"-1.5e3"},{"name":"B","value":null}],"tty":true,"x":-1.5e3}]}})";
  ASSERT_EQ(FaultOf(text), "fine");
  for (size_t length = 0; length < text.size(); ++length) {
    const auto value = Decode(text.substr(0, length));
    ASSERT_FALSE(value) << length;
    EXPECT_GT(value.error().at.line, 0) << length;
    EXPECT_FALSE(value.error().message.empty()) << length;
  }
}

TEST(Decode, AnswersWhateverAByteBecomes) {
  const std::string text = R"({"a":[1,-2.5,"\u00e9",true,null,{"b":{}}],"c":"é"})";
  for (size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      const auto value = Decode(changed);
      EXPECT_TRUE(value || value.error().at.line > 0) << at << " " << byte;
      EXPECT_TRUE(!value || Json::accept(changed)) << at << " " << byte;
    }
  }
}

// Of what nlohmann takes, keys that come twice and integers of more than 64 bits are refused.
bool IsStricter(const Issue& issue) {
  return issue.message.ends_with(" is written twice") ||
         issue.message.ends_with(" does not fit in 64 bits");
}

// Any sequence of the parts that JSON is made of, and of some that it is not, is taken exactly when
// nlohmann takes it, with the same value.
TEST(DecodeProperty, TakesWhatNlohmannTakes) {
  constexpr std::string_view kParts[] = {
      "{",    "}",        "[",     "]",           ",",         ":",       "\"a\"",
      "\"\"", "\"b\\n\"", "1",     "-1",          "-0",        "01",      "1.5",
      "1.",   "-",        "1e5",   "\"\\u00e9\"", "true",      "nul",     "false",
      "null", " ",        "\n",    "\t",          "x",         "\"\\x\"", "\"é\"",
      "\xff", "\"\x01\"", "\"",    "\\",          "{\"a\":1}", "[1,2]",   "18446744073709551615",
      "{}",   "[]",       "\"a\":"};
  constexpr size_t kMost = 9;
  ::mindgate::testing::Dice dice(7);
  size_t taken = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string text;
    const size_t parts = dice.Below(kMost) + 1;
    for (size_t part = 0; part < parts; ++part) text += kParts[dice.Below(std::size(kParts))];
    const auto got = Decode(text);
    const Json want = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!got && IsStricter(got.error())) continue;
    ASSERT_EQ(got.has_value(), !want.is_discarded()) << text;
    if (!got) continue;
    ASSERT_EQ(*got, want) << text;
    ++taken;
  }
  EXPECT_GT(taken, 1'000u);
}

// Texts that a grammar makes, with one part left out, doubled or replaced.
TEST(DecodeProperty, TakesNoTextThatIsNearlyRight) {
  ::mindgate::testing::Dice dice(8);
  const std::string text =
      R"({"a" : [1, -2.5e3 ,"\u00e9\\",true ,null,{"b":{}},[ ]],"c":"é","d":[{"e":0},{"e":""}] })";
  for (int i = 0; i < 30'000; ++i) {
    std::string changed = text;
    const size_t at = dice.Below(text.size());
    switch (dice.Below(3)) {
      case 0:
        changed.erase(at, dice.Below(3) + 1);
        break;
      case 1:
        changed.insert(at, text.substr(dice.Below(text.size()), dice.Below(3) + 1));
        break;
      default:
        changed[at] = text[dice.Below(text.size())];
    }
    const auto got = Decode(changed);
    const Json want = Json::parse(changed, nullptr, /*allow_exceptions=*/false);
    if (!got && IsStricter(got.error())) continue;
    ASSERT_EQ(got.has_value(), !want.is_discarded()) << changed;
    if (!got) continue;
    ASSERT_EQ(*got, want) << changed;
  }
}

TEST(Decoder, LeavesMembersOut) {
  Decoder decoder({}, "managedFields");
  const auto value = decoder.Decode(
      R"({"metadata":{"managedFields":[{"f:spec":{}}],"name":"a"},"managedFields":1,"b":["managedFields"]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(
      Dump(**value),
      R"({"b":["managedFields"],"managedFields":null,"metadata":{"managedFields":null,"name":"a"}})");
  EXPECT_FALSE(decoder.Decode(R"({"managedFields":1,"managedFields":2})")) << "still a duplicate";
  EXPECT_FALSE(decoder.Decode(R"({"managedFields":[1)"));
}

// Whether `part` is a view of `whole`.
bool IsWithin(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

TEST(Decoder, InPlaceTextsAreViewsOfTheTextIfItHasRoom) {
  struct Case {
    const char* text;
    bool room;
    bool in_place;
  };
  for (const Case& c : {Case{R"({"k":"plain"})", true, true},
                        {R"({"k":"plain"})", false, false},
                        {"\xEF\xBB\xBF{\"k\":\"plain\"}", true, true},
                        {R"({"k":"esc\u0061ped \" "})", true, false}}) {
    std::string text(c.text);
    text.shrink_to_fit();
    if (c.room) text.reserve(text.size() + json::Text::kPadding);
    Decoder decoder;
    const auto value = decoder.Decode(json::Text::InPlace(text));
    ASSERT_TRUE(value) << c.text;
    const Member& member = (*value)->members().front();
    EXPECT_EQ(IsWithin(member.value.text(), text), c.in_place) << c.text;
    EXPECT_EQ(member.key, "k");
    EXPECT_EQ(TreeOf(**value), Json::parse(text)) << c.text;
  }
}

// Rows that are copied where they end and rows that take the stack's memory along, inside each
// other in every order.
TEST(Decoder, RowsOfEveryWidthInsideEachOther) {
  const auto object = [](size_t members, const Json& last) {
    Json made = Json::object();
    for (size_t i = 0; i < members; ++i) made["k" + std::to_string(i)] = i;
    made["last"] = last;
    return made;
  };
  const auto list = [](size_t items, const Json& last) {
    Json made = Json::array();
    for (size_t i = 0; i < items; ++i) made.push_back(i);
    made.push_back(last);
    made.push_back("behind");
    return made;
  };
  Decoder decoder({.bytes_a_value = 0});
  for (const auto& [outer, inner] : std::vector<std::pair<size_t, size_t>>{
           {1, 5000}, {5000, 1}, {5000, 5000}, {3000, 6000}, {6000, 3000}, {2047, 2048}}) {
    for (const Json& tree :
         {object(outer, object(inner, "x")), list(outer, list(inner, "x")),
          object(outer, list(inner, object(inner, "x"))), list(outer, object(inner, list(3, 4)))}) {
      const auto value = decoder.Decode(tree.dump());
      ASSERT_TRUE(value);
      EXPECT_TRUE(TreeOf(**value) == tree) << outer << " around " << inner;
    }
  }
}

TEST(Decoder, GivesTheSameForManyTextsInTurn) {
  Decoder decoder;
  const std::string large = "[" + Repeat("\"0123456789\",", 40'000) + "1]";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(Dump(*decoder.Decode(R"({"a":[1,2]})").value()), R"({"a":[1,2]})");
    EXPECT_EQ(decoder.Decode("[1,").error().message, "expected a value, found the end of the text");
    EXPECT_EQ(decoder.Decode(large).value()->size(), 40'001u);
    EXPECT_EQ(decoder.Decode(Repeat("[", 129)).error().message,
              "objects and lists are nested deeper than 128 levels");
    EXPECT_EQ(decoder.Decode("").error().message, "expected a JSON value, but the text is empty");
  }
  Decoder moved = std::move(decoder);
  EXPECT_TRUE(moved.Decode("[]").value()->is_array());
}

RC_GTEST_PROP(DecodeProperty, ReadsBackWhatNlohmannPrints, ()) {
  const Json value = *AnyJson();
  const auto plain = Decode(value.dump());
  RC_ASSERT(plain && Identical(*plain, value));
  const auto ascii = Decode(value.dump(2, ' ', true));
  RC_ASSERT(ascii && Identical(*ascii, value));
}

// Two ways to count the same.
RC_GTEST_PROP(DecodeProperty, CountsValuesAsTheScannerDoes, ()) {
  const std::string text = (*AnyJson()).dump(*rc::gen::inRange(-1, 3));
  for (size_t values = 0;; ++values) {
    const Limits limits{.elements = values};
    const auto counted = internal::CountValues(text, limits);
    const auto scanned = internal::Scan(text, limits, nullptr);
    RC_ASSERT(counted.has_value() == scanned.has_value());
    if (!counted) break;
    RC_ASSERT(Text(*counted) == Text(*scanned));
  }
}

RC_GTEST_PROP(DecodeProperty, TakesAnyBytes, (const std::string& text)) {
  const auto value = Decode(text);
  if (!value) RC_ASSERT(!value.error().message.empty());
}

RC_GTEST_PROP(DecodeProperty, TakesAnyMixOfTokens, ()) {
  const auto tokens = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "-", "1.5",
                                    "null", " ", "\n", "\\", "\""));
  std::string text;
  for (const std::string& token : tokens) text += token;
  const auto value = Decode(text);
  if (value) {
    RC_ASSERT(Identical(*value, Json::parse(text)));
  } else {
    RC_ASSERT(value.error().at.line > 0);
  }
}

}  // namespace
}  // namespace mindgate::json
