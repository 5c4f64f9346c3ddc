#include "json/yaml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/any_json.h"
#include "json/issues.h"
#include "json/texts.h"

namespace mindgate::json {
namespace {

using namespace std::string_literals;
using ::mindgate::testing::Identical;
using ::mindgate::testing::Repeat;
using ::mindgate::testing::Text;

// "fine" when there is no fault.
std::string YamlFaultOf(std::string_view text, const Limits& limits = {}) {
  const auto documents = DecodeYaml(text, limits);
  return documents ? "fine" : Text(documents.error());
}

// The values of all documents as one list; a fault as text.
Json ValuesOf(std::string_view text) {
  const auto documents = DecodeYaml(text);
  if (!documents) return "fault: " + YamlFaultOf(text);
  Json values = Json::array();
  for (const YamlDocument& document : *documents) values.push_back(document.value);
  return values;
}

// The table of https://yaml.org/spec/1.2.2, 10.3.2, and what YAML 1.1 makes something else of.
TEST(ResolveCoreScalar, FollowsYaml12) {
  const std::vector<std::pair<std::string, Json>> cases = {{"", nullptr},
                                                           {"~", nullptr},
                                                           {"null", nullptr},
                                                           {"Null", nullptr},
                                                           {"NULL", nullptr},
                                                           {"nUll", "nUll"},
                                                           {"true", true},
                                                           {"False", false},
                                                           {"on", "on"},
                                                           {"off", "off"},
                                                           {"yes", "yes"},
                                                           {"No", "No"},
                                                           {"y", "y"},
                                                           {"010", 10},
                                                           {"-0", 0},
                                                           {"+12", 12},
                                                           {"0o14", 12},
                                                           {"0x1F", 31},
                                                           {"0b11", "0b11"},
                                                           {"0o8", "0o8"},
                                                           {"0x-1", "0x-1"},
                                                           {"-0x1", "-0x1"},
                                                           {"1_000", "1_000"},
                                                           {"12:30:45", "12:30:45"},
                                                           {"1.5", 1.5},
                                                           {".5", 0.5},
                                                           {"1e3", 1000.0},
                                                           {"1.", 1.0},
                                                           {"1.2.3", "1.2.3"},
                                                           {"-", "-"},
                                                           {"2026-12-31", "2026-12-31"},
                                                           {"9223372036854775807", INT64_MAX},
                                                           {".5_0", ".5_0"}};
  for (const auto& [text, want] : cases) {
    const Json got = ResolveCoreScalar(text);
    EXPECT_EQ(got, want) << text;
    EXPECT_EQ(got.type(), want.type()) << text;
  }
  EXPECT_EQ(ResolveCoreScalar("-.INF"), -std::numeric_limits<double>::infinity());
}

TEST(DecodeCoreYaml, KeysAreTextAndTheRestIsAsInDecodeYaml) {
  const auto documents = DecodeCoreYaml(
      "a: &a {pod-rescheduling: on, on: 010, 010: x, ~: z}\nb: {<<: *a, \"q\": 'on', s: !!str "
      "1}\n");
  ASSERT_TRUE(documents);
  EXPECT_EQ((*documents)[0].value,
            Json::parse(R"({"a": {"pod-rescheduling": "on", "on": 10, "010": "x", "~": "z"},
                            "b": {"pod-rescheduling": "on", "on": 10, "010": "x", "~": "z",
                                  "q": "on", "s": "1"}})"));
  EXPECT_EQ((*documents)[0].positions.At("/a/on"), (Position{1, 34}));
}

TEST(ResolvePlainScalar, FollowsGoYaml) {
  struct Case {
    std::string text;
    Json want;
  };
  const Case cases[] = {
      // words
      {"", nullptr},
      {"~", nullptr},
      {"null", nullptr},
      {"Null", nullptr},
      {"NULL", nullptr},
      {"nULL", "nULL"},
      {"nil", "nil"},
      {"y", true},
      {"Y", true},
      {"yes", true},
      {"Yes", true},
      {"YES", true},
      {"yEs", "yEs"},
      {"on", true},
      {"On", true},
      {"ON", true},
      {"oN", "oN"},
      {"true", true},
      {"True", true},
      {"TRUE", true},
      {"tRUE", "tRUE"},
      {"n", false},
      {"N", false},
      {"no", false},
      {"No", false},
      {"NO", false},
      {"nO", "nO"},
      {"off", false},
      {"Off", false},
      {"OFF", false},
      {"false", false},
      {"False", false},
      {"FALSE", false},
      {"t", "t"},
      {"f", "f"},
      {"truex", "truex"},
      {"<<", "<<"},
      {"=", "="},
      // integers
      {"0", 0},
      {"-0", 0},
      {"+0", 0},
      {"1", 1},
      {"+1", 1},
      {"-1", -1},
      {"1_000", 1000},
      {"1_", 1},
      {"1__0", 10},
      {"_1", "_1"},
      {"012", 10},
      {"-012", -10},
      {"0_7", 7},
      {"00", 0},
      {"0o14", 12},
      {"0O14", 12},
      {"0o8", "0o8"},
      {"0x1F", 31},
      {"0X1f", 31},
      {"0x_1F", 31},
      {"-0x1F", -31},
      {"+0x1F", 31},
      {"0xg", "0xg"},
      {"0x", "0x"},
      {"0b101", 5},
      {"0B101", 5},
      {"-0b101", -5},
      {"0b-101", -5},
      {"0b+101", 5},
      {"0b102", "0b102"},
      {"0b", "0b"},
      {"0B-101", "0B-101"},
      {"9223372036854775807", INT64_MAX},
      {"9223372036854775808", 9223372036854775808u},
      {"18446744073709551615", UINT64_MAX},
      {"0xffffffffffffffff", UINT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"+-1", "+-1"},
      {"--1", "--1"},
      {"-", "-"},
      {"+", "+"},
      {"1a", "1a"},
      {"1 2", "1 2"},
      // floats
      {"1.0", 1.0},
      {"1.", 1.0},
      {".5", 0.5},
      {"+.5", 0.5},
      {"-.5", -0.5},
      {".5_0", 0.5},
      {"._5", "._5"},
      {".5_", ".5_"},
      {"1_0.5", 10.5},
      {"1e3", 1000.0},
      {"1E3", 1000.0},
      {"1e+3", 1000.0},
      {"1.5e-3", 0.0015},
      {"-0.0", -0.0},
      {"08", 8.0},
      {"09.5", 9.5},
      {"08e1", 80.0},
      {"1e", "1e"},
      {"e1", "e1"},
      {".e1", ".e1"},
      {".", "."},
      {"1.2.3", "1.2.3"},
      {"0x1p4", "0x1p4"},
      {"18446744073709551616", 18446744073709551616.0},
      {"+9223372036854775808", 9223372036854775808.0},
      {"-9223372036854775809", -9223372036854775809.0},
      {"1e999", "1e999"},
      {"-1e999", "-1e999"},
      {".5e999", ".5e999"},
      {"1e-999", 0.0},
      {"-1e-999", -0.0},
      {"0e999999999999999999999", 0.0},
      {"1e999999999999999999999", "1e999999999999999999999"},
      {"1e-999999999999999999999", 0.0},
      {"0." + Repeat("0", 400) + "1", 0.0},
      {"1" + Repeat("0", 400) + ".0", "1" + Repeat("0", 400) + ".0"},
      {"1" + Repeat("0", 400) + "e-400", 1.0},
      {"inf", "inf"},
      {"nan", "nan"},
      {".iNf", ".iNf"},
      // dates and times stay text
      {"2001-01-01", "2001-01-01"},
      {"2001-12-14T21:59:43.10Z", "2001-12-14T21:59:43.10Z"},
      {"12:30", "12:30"},
      {"12:30:45", "12:30:45"},
      // text
      {"abc", "abc"},
      {"故障", "故障"},
      {"v1", "v1"},
      {"1Gi", "1Gi"},
      {"8000m", "8000m"},
  };
  for (const auto& [text, want] : cases) {
    const Json value = ResolvePlainScalar(text);
    EXPECT_TRUE(Identical(value, want)) << text << " became " << value.dump();
  }
  for (const std::string_view text : {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"}) {
    EXPECT_EQ(ResolvePlainScalar(text), std::numeric_limits<double>::infinity()) << text;
  }
  for (const std::string_view text : {"-.inf", "-.Inf", "-.INF"}) {
    EXPECT_EQ(ResolvePlainScalar(text), -std::numeric_limits<double>::infinity()) << text;
  }
  for (const std::string_view text : {".nan", ".NaN", ".NAN"}) {
    EXPECT_TRUE(std::isnan(ResolvePlainScalar(text).get<double>())) << text;
  }
}

TEST(DecodeYaml, ReadsDocuments) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"", "[]"},
      {"\n\n", "[]"},
      {"# only a comment\n", "[]"},
      {"---\n", "[]"},
      {"---\n---\n# x\n---\n", "[]"},
      {"null\n", "[null]"},
      {"--- ~\n", "[null]"},
      {"''\n", "[\"\"]"},
      {"!!null ''\n", "[null]"},
      {"--- !!str\n", "[\"\"]"},
      {"--- &a\n", "[null]"},
      {"a\n", "[\"a\"]"},
      {"a: 1\n---\nb: 2\n", R"([{"a":1},{"b":2}])"},
      {"---\na: 1\n...\n---\nb: 2\n...\n", R"([{"a":1},{"b":2}])"},
      {"# x\n---\n# y\na: 1\n--- # z\n\n---\nb: 2\n# end\n", R"([{"a":1},{"b":2}])"},
      {"\xEF\xBB\xBF"
       "a: 1\n",
       R"([{"a":1}])"},
      {"%YAML 1.1\n---\na: 1\n", R"([{"a":1}])"},
      {"{\"a\": [1, 2.0, \"x\\u00e9\"]}", R"([{"a":[1,2.0,"xé"]}])"},
      {"a:\n- 1\n-\n- - x\n  - z\n", R"([{"a":[1,null,["x","z"]]}])"},
      {"a: 'it''s'\nb: \"\\x41\\u00e9\\U0001F600\\n\"\n", R"([{"a":"it's","b":"Aé😀\n"}])"},
      {"a: |\n  x\n   y\n\nb: >\n  x\n  y\n\nc: |-\n  x\nd: |+\n  x\n\n",
       R"([{"a":"x\n y\n","b":"x y\n","c":"x","d":"x\n\n"}])"},
      {"a: x\n  y\n\n  z\n", R"([{"a":"x y\nz"}])"},
      {"a: \"1\"\nb: '1'\nc: !!str 1\nd: ! 1\ne: &x ! 1\nf: ! '1'\n",
       R"([{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}])"},
      {"a: !!int '012'\nb: !!float 1\nc: !!bool 'yes'\nd: !!null ''\ne: !!map {}\nf: !!seq []\ng: "
       "!<tag:yaml.org,2002:int> \"1\"\n",
       R"([{"a":10,"b":1.0,"c":true,"d":null,"e":{},"f":[],"g":1}])"},
      {"a: !!binary aGVsbG8=\nb: !!binary |\n  aGVs\n  bG8=\nc: !!binary ''\nd: !!binary YQ==\n",
       R"([{"a":"hello","b":"hello","c":"","d":"a"}])"},
      {"a:\nb:\n", R"([{"a":null,"b":null}])"},
      {"a:\n! b: 1\n", R"([{"a":null,"b":1}])"},
      {"a: !\nb: &x !\n", R"([{"a":"","b":""}])"},
      {"? a\n: 1\n? b\n", R"([{"a":1,"b":null}])"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(ValuesOf(text).dump(), want) << text;
}

TEST(DecodeYaml, TurnsKeysIntoText) {
  struct Case {
    std::string_view key;
    std::string_view want;
  };
  const Case cases[] = {
      {"a", "a"},           {"'1'", "1"},
      {"1", "1"},           {"0x1F", "31"},
      {"-012", "-10"},      {"-9223372036854775808", "-9223372036854775808"},
      {"y", "true"},        {"On", "true"},
      {"off", "false"},     {"1.0", "1"},
      {"1.50", "1.5"},      {"3.14159265358979", "3.1415927"},  // sigs.k8s.io/yaml writes 32 bits
      {"1e5", "100000"},    {"1e6", "1e+06"},
      {"0.0001", "0.0001"}, {"0.00001", "1e-05"},
      {"-0.0", "-0"},       {"1e300", ".inf"},
      {".inf", ".inf"},     {"-.inf", "-.inf"},
      {".nan", ".nan"},     {"'~'", "~"},
      {"!!str 1.0", "1.0"}, {"!!int '0x10'", "16"},
      {"'<<'", "<<"},       {"\"<<\"", "<<"},
      {"!!str <<", "<<"},   {"2001-01-01", "2001-01-01"},
  };
  for (const auto& [key, want] : cases) {
    Json object = {{want, 1}};
    EXPECT_EQ(ValuesOf(std::string(key) + ": 1\n"), Json::array({object})) << key;
    EXPECT_EQ(ValuesOf("{" + std::string(key) + ": 1}"), Json::array({object})) << key;
  }
}

TEST(DecodeYaml, ExpandsAliasesAndMerges) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"a: &x 1\nb: *x\n", R"({"a":1,"b":1})"},
      {"a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n",
       R"({"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]},{"k":[1]}]})"},
      {"a: &x 1\nb: &x 2\nc: *x\n", R"({"a":1,"b":2,"c":2})"},
      {"a: &x [&x 1, *x]\nb: *x\n", R"({"a":[1,1],"b":1})"},
      {"&k a: 1\nb: *k\n", R"({"a":1,"b":"a"})"},
      {"a: &k b\n*k : 1\n", R"({"a":"b","b":1})"},
      {"a: &k 12\n*k : 1\n", R"({"12":1,"a":12})"},
      {"a: &x\nb: *x\n", R"({"a":null,"b":null})"},
      // merges
      {"a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  m: 3\n",
       R"({"a":{"k":1,"l":2},"b":{"k":1,"l":2,"m":3}})"},
      {"a: &x {k: 1}\nb: {<<: *x, k: 2}\nc: {k: 3, <<: *x}\n",
       R"({"a":{"k":1},"b":{"k":2},"c":{"k":3}})"},
      {"a: {<<: {k: 1}, l: 2}\n", R"({"a":{"k":1,"l":2}})"},
      {"a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y, {l: 3, m: 3}]}\n",
       R"({"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2,"m":3}})"},
      {"a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}\n",
       R"({"a":{"k":1},"b":{"k":1,"l":2},"c":{"k":1,"l":2}})"},
      {"a: &x {k: {p: 1}}\nb: {<<: *x, k: {q: 2}}\n", R"({"a":{"k":{"p":1}},"b":{"k":{"q":2}}})"},
      {"a: &x {1: 1}\nb: {<<: *x, '1': 2}\n", R"({"a":{"1":1},"b":{"1":2}})"},
      {"a: {<<: []}\n", R"({"a":{}})"},
      {"!!merge <<: {a: 1}\n", R"({"a":1})"},
      {"a: <<\n", R"({"a":"<<"})"},
      {"- <<\n", R"(["<<"])"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(ValuesOf(text).dump(), "[" + std::string(want) + "]") << text;
  }
}

TEST(DecodeYaml, ReportsWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    std::string want;
  };
  const std::string escape = " (save the file as UTF-8)";
  const Case cases[] = {
      // syntax
      {"a: [1, 2\nb: 1\n",
       "2:2: did not find expected ',' or ']' while parsing a flow sequence that begins on line 1"},
      {"a: b: c\n", "1:5: mapping values are not allowed in this context"},
      {"a: 1\n  b: 2\n", "2:4: mapping values are not allowed in this context"},
      {"a: 1\n b: 2\n", "2:3: mapping values are not allowed in this context"},
      {"a:\n\t- 1\n",
       "2:1: found character that cannot start any token while scanning for the next token (YAML "
       "is indented with spaces, not with tabs)"},
      {"a: 'x\n",
       "2:1: found unexpected end of stream while scanning a quoted scalar that begins on line 1"},
      {"a: \"\\q\"\n", "1:5: found unknown escape character while parsing a quoted scalar"},
      {"a: @x\n",
       "1:4: found character that cannot start any token while scanning for the next token"},
      {"- a\nb: 1\n",
       "2:1: did not find expected '-' indicator while parsing a block collection that begins on "
       "line 1"},
      {"a: 1\n- b\n",
       "2:1: did not find expected key while parsing a block mapping that begins on line 1"},
      {"a:\n    b: 1\n    c:\n      d: 1\n   e: 2\n",
       "5:4: did not find expected key while parsing a block mapping that begins on line 1 (no "
       "line above is indented by 3 spaces: write as many as before the key that it stands "
       "beside)"},
      {"- a: 1\n  b: 2\n - c: 1\n",
       "3:2: did not find expected '-' indicator while parsing a block collection that begins on "
       "line 1 (no line above is indented by 1 space: write as many as before the key that it "
       "stands beside)"},
      {"a: |  # text\n{\nb\n",
       "3:1: could not find expected ':' while scanning a simple key that begins on line 2 (indent "
       "the text that belongs to | or > deeper than its key)"},
      {"b: 1\na\nc: 1\n",
       "3:1: could not find expected ':' while scanning a simple key that begins on line 2"},
      {"é: 1\nö: [é\n",
       "3:1: did not find expected ',' or ']' while parsing a flow sequence that begins on line 2"},
      {"推理: 1\n推: 理: 1\n", "2:9: mapping values are not allowed in this context"},
      {"a: !<x\n", "1:7: did not find the expected '>' while scanning a tag"},
      {"a: !e!x 1\n", "1:4: found undefined tag handle while parsing a node"},
      {"%YAML 2.0\n---\na: 1\n", "1:1: found incompatible YAML document"},
      {"...\n", "1:1: did not find expected node content while parsing a block node"},
      {": 1\n", "1:1: did not find expected key while parsing a block mapping"},
      // keys
      {"a: 1\nb: 2\na: 3\n",
       "3:1: key \"a\" is written twice (remove one; the first is on line 1)"},
      {"1: a\n\"1\": b\n", "2:1: key \"1\" is written twice (remove one; the first is on line 1)"},
      {"1: a\n0x1: b\n", "2:1: key \"1\" is written twice (remove one; the first is on line 1)"},
      {"y: a\ntrue: b\n",
       "2:1: key \"true\" is written twice (remove one; the first is on line 1)"},
      {"x: {a: 1, a: 2}\n",
       "1:11: key \"a\" is written twice (remove one; the first is on line 1)"},
      {"a: &k a\n*k : 1\n", "2:1: key \"a\" is written twice (remove one; the first is on line 1)"},
      {"<<: {a: 1}\n<<: {b: 1}\n",
       "2:1: key \"<<\" is written twice (merge several maps with a list: <<: [*a, *b])"},
      {"x: {<<: {a: 1, a: 2}}\n",
       "1:16: key \"a\" is written twice (remove one; the first is on line 1)"},
      {"~: 1\n", "1:1: \"~\" cannot be a key (quote it if it is meant as text)"},
      {"? \n: 1\n", "1:2: \"\" cannot be a key (quote it if it is meant as text)"},
      {"18446744073709551615: 1\n",
       "1:1: \"18446744073709551615\" cannot be a key (quote it if it is meant as text)"},
      {"[a]: 1\n",
       "1:1: a key must be a scalar, not a list or a map (quote the text if it begins with a "
       "bracket or a brace)"},
      {"a: {{b}: 1}\n",
       "1:5: a key must be a scalar, not a list or a map (quote the text if it begins with a "
       "bracket or a brace)"},
      {"a: {{ .Values.x }}\n",
       "1:5: a key must be a scalar, not a list or a map (quote the text if it begins with a "
       "bracket or a brace)"},
      {"? - a\n: 1\n",
       "1:3: a key must be a scalar, not a list or a map (quote the text if it begins with a "
       "bracket or a brace)"},
      {"a: &l [1]\n? *l\n: 1\n", "2:3: a key must be a scalar, not a list or a map"},
      // values
      {"a: .inf\n",
       "1:4: \".inf\" is a number that JSON cannot hold (quote it if it is meant as text)"},
      {"a: [-.INF]\n",
       "1:5: \"-.INF\" is a number that JSON cannot hold (quote it if it is meant as text)"},
      {"a: .nan\n",
       "1:4: \".nan\" is a number that JSON cannot hold (quote it if it is meant as text)"},
      {"a: !!float .inf\n",
       "1:4: \".inf\" is a number that JSON cannot hold (quote it if it is meant as text)"},
      {"a: !!int x\n", "1:4: \"x\" is not a value for the tag !!int"},
      {"a: !!int 1.5\n", "1:4: \"1.5\" is not a value for the tag !!int"},
      {"a: !!float x\n", "1:4: \"x\" is not a value for the tag !!float"},
      {"a: !!float 18446744073709551615\n",
       "1:4: \"18446744073709551615\" is not a value for the tag !!float"},
      {"a: !!bool 1\n", "1:4: \"1\" is not a value for the tag !!bool"},
      {"a: !!null x\n", "1:4: \"x\" is not a value for the tag !!null"},
      {"!!int x: 1\n", "1:1: \"x\" is not a value for the tag !!int"},
      // tags
      {"a: !!binary aGk\n", "1:4: \"aGk\" is not base64, as the tag !!binary wants"},
      {"a: !!binary a=k=\n", "1:4: \"a=k=\" is not base64, as the tag !!binary wants"},
      {"a: !!binary a Gk=\n", "1:4: \"a Gk=\" is not base64, as the tag !!binary wants"},
      {"a: !!binary /w==\n",
       "1:4: the bytes under the tag !!binary are not UTF-8 text; in a ConfigMap write them as "
       "base64 under binaryData"},
      {"a: !!timestamp 2001-01-01\n", "1:4: tag \"!!timestamp\" is not supported (remove the tag)"},
      {"a: !Ref b\n", "1:4: tag \"!Ref\" is not supported (remove the tag)"},
      {"a: !Ref {b: 1}\n", "1:4: tag \"!Ref\" is not supported (remove the tag)"},
      {"a: !!set {b}\n", "1:4: tag \"!!set\" is not supported (remove the tag)"},
      {"a: !!map x\n", "1:4: tag \"!!map\" does not fit the value after it (remove the tag)"},
      {"a: !!map [x]\n", "1:4: tag \"!!map\" does not fit the value after it (remove the tag)"},
      {"a: !!seq {}\n", "1:4: tag \"!!seq\" does not fit the value after it (remove the tag)"},
      {"a: !!str {}\n", "1:4: tag \"!!str\" does not fit the value after it (remove the tag)"},
      {"a: !!merge x\n", "1:4: \"x\" is not a value for the tag !!merge"},
      // aliases
      {"a: *x\n", "1:4: alias *x has no anchor before it"},
      {"a: *x\nb: &x 1\n", "1:4: alias *x has no anchor before it"},
      {"a: &x 1\n---\nb: *x\n", "3:4: alias *x has no anchor before it"},
      {"a: &x [1, *x]\n", "1:11: alias *x is inside its own anchor"},
      {"&x a: {b: {c: *x}}\n", "fine"},
      {"--- &x\na: {b: *x}\n", "2:8: alias *x is inside its own anchor"},
      {"--- &x\n<<: *x\n", "2:5: alias *x is inside its own anchor"},
      {"<<: 1\n", "1:5: only a map or a list of maps can be merged with \"<<\""},
      {"<<: [1]\n", "1:6: only a map or a list of maps can be merged with \"<<\""},
      {"<<: [[{}]]\n", "1:6: only a map or a list of maps can be merged with \"<<\""},
      {"a: &x [1]\nb: {<<: *x}\n", "2:9: only a map or a list of maps can be merged with \"<<\""},
      {"<<:\n", "1:4: only a map or a list of maps can be merged with \"<<\""},
      // bytes
      {"a: \xff\n", "1:4: byte 0xFF is not UTF-8 text" + escape},
      {"a: 1\nb: \"\xC3\"\n", "2:5: byte 0xC3 is not UTF-8 text" + escape},
      {"\xFF\xFE"
       "a\0:\0"s,
       "1:1: the text is UTF-16" + escape},
      {"\xFE\xFF\0a\0:"s, "1:1: the text is UTF-16" + escape},
      {"\xFF\xFE\0\0"
       "a\0\0\0"s,
       "1:1: the text is UTF-32" + escape},
      {"a\0:\0"s, "1:2: control characters are not allowed"},
      {"é: 1\nb: \x01\n", "2:4: control characters are not allowed"},
      {"\xEF\xBB\xBF"
       "a: \x01\n",
       "1:4: control characters are not allowed"},
      {"a: \"\x7f\"\n", "1:5: control characters are not allowed"},
      {"\x89PNG\r\n\x1a\n"s, "1:1: byte 0x89 is not UTF-8 text" + escape},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(YamlFaultOf(text), want) << text;
}

TEST(DecodeYaml, RefusesTheWholeStreamForOneBadDocument) {
  EXPECT_EQ(YamlFaultOf("a: 1\n---\nb: [\n---\nc: 1\n"),
            "4:1: did not find expected node content while parsing a flow node");
  EXPECT_EQ(YamlFaultOf("a: 1\n---\nb: 1\nb: 2\n"),
            "4:1: key \"b\" is written twice (remove one; the first is on line 3)");
}

TEST(DecodeYaml, GivesThePlaceOfEveryValue) {
  const auto documents = DecodeYaml(
      "# comment\n"
      "---\n"
      "apiVersion: v1\n"
      "spec:\n"
      "  containers:\n"
      "  - name: é\n"
      "    args: [1, true, \"é\", x]\n"
      "  -   - a\n"
      "  - 7\n"
      "  empty:\n"
      "  block: |\n"
      "    text\n"
      "  'a/b~c': !!str 1\n"
      "  anchored: &x {k: {l: 1}}\n"
      "  alias: *x\n"
      "  items: [*x, 2]\n"
      "  merged:\n"
      "    <<: [*x, {m: 1}]\n"
      "    own: 1\n"
      "  1: 2\n"
      "---\n"
      "second: 2\n");
  ASSERT_TRUE(documents) << documents.error().message;
  ASSERT_EQ(documents->size(), 2u);
  const Positions& places = documents->front().positions;
  const std::vector<std::pair<std::string, Position>> want = {
      {"", {3, 1}},
      {"/apiVersion", {3, 13}},
      {"/spec", {4, 1}},
      {"/spec/containers", {5, 3}},
      {"/spec/containers/0", {6, 5}},
      {"/spec/containers/0/name", {6, 11}},
      {"/spec/containers/0/args", {7, 5}},
      {"/spec/containers/0/args/0", {7, 12}},
      {"/spec/containers/0/args/2", {7, 21}},
      {"/spec/containers/0/args/3", {7, 27}},  // after two bytes of é
      {"/spec/containers/1", {8, 7}},
      {"/spec/containers/1/0", {8, 9}},
      {"/spec/containers/2", {9, 5}},
      {"/spec/empty", {10, 9}},
      {"/spec/block", {11, 10}},
      {"/spec/a~1b~0c", {13, 12}},
      {"/spec/anchored", {14, 3}},
      {"/spec/anchored/k", {14, 17}},
      {"/spec/anchored/k/l", {14, 24}},
      // an alias gives its own place to all that it pulls in
      {"/spec/alias", {15, 10}},
      {"/spec/alias/k", {15, 10}},
      {"/spec/alias/k/l", {15, 10}},
      {"/spec/items", {16, 3}},
      {"/spec/items/0", {16, 11}},
      {"/spec/items/0/k/l", {16, 11}},
      {"/spec/items/1", {16, 15}},
      {"/spec/merged", {17, 3}},
      {"/spec/merged/k", {18, 10}},
      {"/spec/merged/k/l", {18, 10}},
      {"/spec/merged/m", {18, 18}},
      {"/spec/merged/own", {19, 10}},
      {"/spec/1", {20, 6}},
      // what is not there has the place of where it would be
      {"/spec/nodeName", {4, 1}},
      {"/metadata/name", {3, 1}},
  };
  for (const auto& [pointer, at] : want) EXPECT_EQ(places.At(pointer), at) << pointer;
  EXPECT_EQ(documents->front().line, 3);
  EXPECT_EQ(documents->back().line, 22);
  EXPECT_EQ(documents->back().positions.At("/second"), (Position{22, 9}));
}

TEST(DecodeYaml, CountsLinesAsEditorsDo) {
  // YAML 1.1 ends lines at these characters too, and libyaml counts characters, not bytes.
  const auto documents =
      DecodeYaml("a: \"x\xE2\x80\xA8y\xC2\x85z\"\nb: 故障 # 😀\r\nc: {推: [理, 1]}\n");
  ASSERT_TRUE(documents) << documents.error().message;
  const Positions& places = documents->front().positions;
  EXPECT_EQ(places.At("/a"), (Position{1, 4}));
  EXPECT_EQ(places.At("/b"), (Position{2, 4}));
  EXPECT_EQ(places.At("/c"), (Position{3, 1}));
  EXPECT_EQ(places.At("/c/推"), (Position{3, 5}));
  EXPECT_EQ(places.At("/c/推/1"), (Position{3, 16}));
  EXPECT_EQ(DecodeYaml("\xEF\xBB\xBF"
                       "a: 1")
                ->front()
                .positions.At("/a"),
            (Position{1, 4}));
}

TEST(DecodeYaml, PlacesAreRightFarIntoALongText) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "键" + std::to_string(i) + ": 值\n";
  const auto documents = DecodeYaml(text);
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->front().positions.At("/键0"), (Position{1, 7}));
  EXPECT_EQ(documents->front().positions.At("/键999"), (Position{1000, 9}));
}

TEST(DecodeYaml, HoldsToTheLimitOfBytesForADocument) {
  const Limits limits{.bytes = 20};
  EXPECT_EQ(YamlFaultOf("a: 345678901234567\n", limits), "fine");
  EXPECT_EQ(YamlFaultOf("a: 34567890123456789012\n", limits),
            "1:4: the document is larger than 20 bytes");
  EXPECT_EQ(YamlFaultOf("a: 345678901234567\n---\nb: 345678901234\n", limits), "fine");
  EXPECT_EQ(YamlFaultOf(std::string(kLargestFile + 1, ' ')),
            "0:0: the file is larger than 67108864 bytes");
}

TEST(DecodeYaml, HoldsToTheLimitOfDepth) {
  const Limits limits{.depth = 3};
  EXPECT_EQ(YamlFaultOf("[[[1]]]", limits), "fine");
  EXPECT_EQ(YamlFaultOf("[[[[]]]]", limits),
            "1:4: objects and lists are nested deeper than 3 levels");
  EXPECT_EQ(YamlFaultOf("a:\n  b:\n    c: 1\n", limits), "fine");
  EXPECT_EQ(YamlFaultOf("a:\n  b:\n    c:\n    - 1\n", limits),
            "4:5: objects and lists are nested deeper than 3 levels");
  EXPECT_EQ(YamlFaultOf("a: &x [1]\nb: [*x]\n", limits), "fine");
  EXPECT_EQ(YamlFaultOf("a: &x [[1]]\nb: [*x]\n", limits),
            "2:5: objects and lists are nested deeper than 3 levels");
  EXPECT_EQ(YamlFaultOf(Repeat("[", 128) + Repeat("]", 128)), "fine");
  EXPECT_EQ(YamlFaultOf(Repeat("[", 150'000)),
            "1:129: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(YamlFaultOf(Repeat("{a: ", 150'000)),
            "1:513: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(YamlFaultOf(Repeat("- ", 150'000)),
            "1:257: objects and lists are nested deeper than 128 levels");
  std::string steps;
  for (size_t i = 0; i < 600; ++i) steps += Repeat(" ", i) + "a:\n";
  EXPECT_EQ(YamlFaultOf(steps), "129:129: objects and lists are nested deeper than 128 levels");
  EXPECT_EQ(YamlFaultOf(Repeat("? ", 150'000)),
            "1:3: a key must be a scalar, not a list or a map "
            "(quote the text if it begins with a bracket or a brace)");
}

TEST(DecodeYaml, HoldsToTheLimitOfDepthInChainsOfMerges) {
  std::string chain = "m0: &m0 {a: 1}\n";
  for (int i = 1; i < 20'000; ++i) {
    chain += "m" + std::to_string(i) + ": &m" + std::to_string(i) + " {<<: *m" +
             std::to_string(i - 1) + "}\n";
  }
  EXPECT_EQ(YamlFaultOf(chain), "130:18: objects and lists are nested deeper than 128 levels");
}

TEST(DecodeYaml, HoldsToTheLimitOfValues) {
  const Limits limits{.elements = 4};
  EXPECT_EQ(YamlFaultOf("[1, 2, 3]", limits), "fine");
  EXPECT_EQ(YamlFaultOf("[1, 2, 3, 4]", limits), "1:11: the document has more than 4 values");
  EXPECT_EQ(YamlFaultOf("{a: {b: 1, c: 2}}", limits), "fine");
  EXPECT_EQ(YamlFaultOf("[1, 2, 3]\n---\n[1, 2, 3]\n", limits), "fine");
  EXPECT_EQ(YamlFaultOf("[&a 1, *a, *a]", limits), "fine");
  EXPECT_EQ(YamlFaultOf("[&a [1, 2], *a]", limits), "1:13: the document has more than 4 values");
}

// a0 holds ten texts, a1 ten times a0, and so on.
std::string Laughs(int levels) {
  std::string text = "a0: &a0 [" + Repeat("lol, ", 9) + "lol]\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string last = std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    text += name + ": &" + name + " [" + Repeat("*a" + last + ", ", 9) + "*a" + last + "]\n";
  }
  return text;
}

TEST(DecodeYaml, CapsWhatAliasesExpandTo) {
  EXPECT_EQ(YamlFaultOf(Laughs(3)), "fine");
  EXPECT_EQ(YamlFaultOf(Laughs(9)), "6:25: the document has more than 500000 values");
  // Texts are counted by their bytes, in keys too.
  const std::string million(1'000'000, 'x');
  EXPECT_EQ(YamlFaultOf("a: &a " + million + "\nb: [" + Repeat("*a, ", 7) + "1]\n"), "fine");
  EXPECT_EQ(YamlFaultOf("a: &a " + million + "\nb: [" + Repeat("*a, ", 10'000) + "1]\n"),
            "2:33: aliases expand to more than 500000 values or 7340032 bytes of text");
  EXPECT_EQ(YamlFaultOf("a: &a {? " + million + " : 1}\nb: [" + Repeat("*a, ", 10'000) + "1]\n"),
            "2:33: aliases expand to more than 7340032 bytes of text");
  EXPECT_EQ(YamlFaultOf("a: &a " + million + "\nb: [" + Repeat("{*a : 1}, ", 10'000) + "1]\n"),
            "2:76: aliases expand to more than 7340032 bytes of text");
  // Many documents together may not expand more than one.
  EXPECT_EQ(YamlFaultOf(Repeat("---\n" + Laughs(4), 20)),
            "29:30: aliases expand to more than 500000 values or 7340032 bytes of text");
}

TEST(DecodeYaml, CapsTheWorkOfMerges) {
  // Each level merges the one before twice; the result stays small, the work would double.
  std::string text = "m0: &m0 {a: 1}\n";
  for (int i = 1; i < 100; ++i) {
    const std::string last = "*m" + std::to_string(i - 1);
    text += "m" + std::to_string(i) + ": &m" + std::to_string(i) + " {<<: [" + last + ", " + last +
            "]}\n";
  }
  EXPECT_EQ(YamlFaultOf(text), "18:17: the document has more than 500000 values");
}

TEST(DecodeYaml, CapsTheDirectives) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "%TAG !a" + std::to_string(i) + "! x\n";
  EXPECT_EQ(YamlFaultOf(text + "---\na: 1 # %TAG\n"), "fine");
  EXPECT_EQ(YamlFaultOf(text + "%TAG !b! x\n---\na: 1\n"), "1001:1: too many %TAG directives");
}

TEST(DecodeYaml, TakesEveryPrefixOfADocument) {
  const std::string text =
      "apiVersion: v1 # 注释\n"
      "kind: \"Po\\u0064\"\n"
      "metadata: {name: '推理', labels: {a: b}}\n"
      "spec:\n"
      "  containers:\n"
      "  - &c\n"
      "    name: c\n"
      "    command: [sh, -c, |]\n"
      "  - <<: *c\n"
      "    args:\n"
      "    - |-\n"
      "      set -e\n"
      "      run\n"
      "    - >+2\n"
      "       folded\n"
      "    ? key\n"
      "    : !!str 1\n"
      "---\n"
      "x: 1.5e3\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    const auto documents = DecodeYaml(prefix);
    if (documents) continue;
    EXPECT_GT(documents.error().at.line, 0) << prefix;
    EXPECT_GT(documents.error().at.column, 0) << prefix;
    EXPECT_FALSE(documents.error().message.empty()) << prefix;
  }
}

RC_GTEST_PROP(DecodeYamlProperty, TakesAnyBytes, (const std::string& text)) {
  const auto documents = DecodeYaml(text);
  if (!documents) RC_ASSERT(!documents.error().message.empty());
}

RC_GTEST_PROP(DecodeYamlProperty, TakesAnyMixOfTokens, ()) {
  const auto tokens = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "b", "1", ": ", "- ", "? ", "\n", "\n  ", "\n    ", "[", "]", "{", "}", ", ", "&a ",
      "*a ", "<<", "!!str ", "! ", "'", "\"", "|\n", ">\n", "#", "---\n", "...\n", "%YAML 1.1\n",
      "\t", "é"));
  std::string text;
  for (const std::string& token : tokens) text += token;
  const auto documents = DecodeYaml(text);
  if (!documents) {
    RC_ASSERT(documents.error().at.line > 0 && documents.error().at.column > 0);
    return;
  }
  for (const YamlDocument& document : *documents) {
    const auto again = DecodeYaml(EncodeYaml(document.value));
    RC_ASSERT(again && again->size() == 1);
    RC_ASSERT(Identical(again->front().value, document.value));
    RC_ASSERT(document.positions.At("").line >= 1);
  }
}

RC_GTEST_PROP(DecodeYamlProperty, ReadsJsonAsJson, ()) {
  // JSON is YAML but for texts that YAML reads otherwise: it folds no escapes that JSON writes in
  // ASCII.
  const Json value = *::mindgate::testing::AnyJson();
  const auto documents = DecodeYaml(value.dump(-1, ' ', true));
  RC_PRE(documents.has_value());
  RC_ASSERT(documents->size() == 1);
  RC_ASSERT(Identical(documents->front().value, value));
}

}  // namespace
}  // namespace mindgate::json
