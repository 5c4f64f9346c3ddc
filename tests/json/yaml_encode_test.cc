#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json/any_json.h"
#include "json/yaml.h"

namespace mindgate::json {
namespace {

using namespace std::string_literals;
using ::mindgate::testing::AnyJson;
using ::mindgate::testing::AnyText;
using ::mindgate::testing::Identical;

TEST(EncodeYaml, WritesBlocksInOrderOfTheKeys) {
  const Json pod = Json::parse(R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"name": "推理-0", "labels": {}, "annotations": {"huawei.com/Ascend910": "0,1"}},
    "spec": {
      "containers": [
        {"name": "a", "args": ["-c", "--x"], "ports": [], "tty": true, "weight": 1.0},
        {"command": ["sh", "-c", "set -e\necho \"hi\"\n  exec ./run\n"], "name": "b"}],
      "matrix": [[1, 2], [[]], {}],
      "nodeName": null, "priority": -5
    }})");
  EXPECT_EQ(EncodeYaml(pod),
            "apiVersion: v1\n"
            "kind: Pod\n"
            "metadata:\n"
            "  annotations:\n"
            "    huawei.com/Ascend910: 0,1\n"
            "  labels: {}\n"
            "  name: 推理-0\n"
            "spec:\n"
            "  containers:\n"
            "  - args:\n"
            "    - -c\n"
            "    - --x\n"
            "    name: a\n"
            "    ports: []\n"
            "    tty: true\n"
            "    weight: 1.0\n"
            "  - command:\n"
            "    - sh\n"
            "    - -c\n"
            "    - |\n"
            "      set -e\n"
            "      echo \"hi\"\n"
            "        exec ./run\n"
            "    name: b\n"
            "  matrix:\n"
            "  - - 1\n"
            "    - 2\n"
            "  - - []\n"
            "  - {}\n"
            "  nodeName: null\n"
            "  priority: -5\n");
}

TEST(EncodeYaml, WritesScalars) {
  struct Case {
    Json value;
    std::string_view want;
  };
  const Case cases[] = {
      {nullptr, "null\n"},
      {true, "true\n"},
      {0, "0\n"},
      {INT64_MIN, "-9223372036854775808\n"},
      {UINT64_MAX, "18446744073709551615\n"},
      {1.0, "1.0\n"},
      {-0.0, "-0.0\n"},
      {0.1, "0.1\n"},
      {1e300, "1e+300\n"},
      {"a", "a\n"},
      {"a b", "a b\n"},
      {"故障", "故障\n"},
      {"/usr/bin:/bin", "/usr/bin:/bin\n"},
      {"a,b", "a,b\n"},
      {Json::object(), "{}\n"},
      {Json::array(), "[]\n"},
  };
  for (const auto& [value, want] : cases) EXPECT_EQ(EncodeYaml(value), want);
}

TEST(EncodeYaml, QuotesWhatWouldBeReadAsSomethingElse) {
  struct Case {
    std::string text;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "''\n"},
      {"true", "'true'\n"},
      {"y", "'y'\n"},
      {"No", "'No'\n"},
      {"~", "'~'\n"},
      {"null", "'null'\n"},
      {"1", "'1'\n"},
      {"1_000", "'1_000'\n"},
      {"1e3", "'1e3'\n"},
      {"0x1F", "'0x1F'\n"},
      {".inf", "'.inf'\n"},
      {"<<", "'<<'\n"},
      {"=", "=\n"},
      {"1e999", "1e999\n"},
      {"2001-01-01", "'2001-01-01'\n"},
      {"2001-01-01T00:00:00Z", "'2001-01-01T00:00:00Z'\n"},
      {"12:30", "'12:30'\n"},
      {"10.0.0.1", "10.0.0.1\n"},
      {"it's", "it's\n"},
      {"'a'", "'''a'''\n"},
      {"a: b", "'a: b'\n"},
      {"a #b", "'a #b'\n"},
      {"#a", "'#a'\n"},
      {"- a", "'- a'\n"},
      {"[a", "'[a'\n"},
      {"*a", "'*a'\n"},
      {"&a", "'&a'\n"},
      {"!a", "'!a'\n"},
      {"%a", "'%a'\n"},
      {"@a", "'@a'\n"},
      {"---", "'---'\n"},
      {" a", "' a'\n"},
      {"a ", "'a '\n"},
      {"a\tb", "\"a\\tb\"\n"},
      {"\n", "\"\\n\"\n"},
      {"a\r\nb", "\"a\\r\\nb\"\n"},
      {"\0"s, "\"\\0\"\n"},
      {"\x7f", "\"\\x7F\"\n"},
      {"a\xC2\x85", "\"a\\N\"\n"},
      {"\xEF\xBB\xBF", "\"\\uFEFF\"\n"},
      {"😀", "\"\\U0001F600\"\n"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(EncodeYaml(text), want) << text;
}

TEST(EncodeYaml, WritesTextOfManyLinesAsABlock) {
  struct Case {
    std::string text;
    std::string_view want;
  };
  const Case cases[] = {
      {"a\nb", "k: |-\n  a\n  b\n"},
      {"a\nb\n", "k: |\n  a\n  b\n"},
      {"a\n\n  b: c # d\n", "k: |\n  a\n\n    b: c # d\n"},
      {"---\n...\n", "k: |\n  ---\n  ...\n"},
      // what a block would change, or show badly
      {"a\nb\n\n", "k: \"a\\nb\\n\\n\"\n"},
      {" a\nb", "k: \" a\\nb\"\n"},
      {"\na", "k: \"\\na\"\n"},
      {"a\n\tb", "k: \"a\\n\\tb\"\n"},
      {"a \nb", "k: \"a \\nb\"\n"},
      {"a\r\nb\n", "k: \"a\\r\\nb\\n\"\n"},
      {"a\nb\x01", "k: \"a\\nb\\x01\"\n"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(EncodeYaml({{"k", text}}), want) << text;
}

TEST(EncodeYaml, FoldsNoLongText) {
  const std::string words = "some words " + std::string(500, 'x') + " and more words";
  EXPECT_EQ(EncodeYaml({{"k", words}}), "k: " + words + "\n");
  EXPECT_EQ(EncodeYaml({{"k", "# " + words}}), "k: '# " + words + "'\n");
  EXPECT_EQ(EncodeYaml({{"k", words + "\x7f"}}), "k: \"" + words + "\\x7F\"\n");
}

TEST(EncodeYaml, WritesKeysThatAreReadBack) {
  const std::string long_key(200, 'k');
  const Json keys = {{"", 1},     {"1", 1},    {"<<", 1},           {"a: b", 1},       {"a\nb", 1},
                     {"null", 1}, {"true", 1}, {"huawei.com/x", 1}, {long_key, {1, 2}}};
  EXPECT_EQ(EncodeYaml(keys),
            "'': 1\n"
            "'1': 1\n"
            "'<<': 1\n"
            "? \"a\\nb\"\n"
            ": 1\n"
            "'a: b': 1\n"
            "huawei.com/x: 1\n"
            "? " +
                long_key +
                "\n"
                ": - 1\n"
                "  - 2\n"
                "'null': 1\n"
                "'true': 1\n");
}

TEST(EncodeYaml, ReplacesWhatJsonCannotHold) {
  EXPECT_EQ(EncodeYaml(Json::array({"a\xff"
                                    "b\xC3",
                                    "\xED\xA0\x80"})),
            "- a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\n- \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n");
  EXPECT_EQ(EncodeYaml(std::numeric_limits<double>::infinity()), "null\n");
}

TEST(EncodeYaml, TakesAnyDepth) {
  Json deep = 1;
  for (int i = 0; i < 100'000; ++i) deep = Json::array({std::move(deep)});
  const std::string text = EncodeYaml(deep);
  EXPECT_TRUE(text.starts_with("- - - - "));
  EXPECT_TRUE(text.ends_with("- 1\n"));
}

// What DecodeYaml makes of the YAML of a value; null when it is not one document.
Json ReadBack(const std::string& yaml) {
  const auto documents = DecodeYaml(yaml);
  if (!documents || documents->size() != 1) return "not one document: " + yaml;
  return documents->front().value;
}

TEST(EncodeFlowYaml, IsOneLineThatFitsInBrackets) {
  const Json value = {
      {"a", {1, "b, c", "x\ny", Json::object()}}, {"on", "on"}, {"d", {{"e", true}}}};
  EXPECT_EQ(EncodeFlowYaml(value), R"({a: [1, 'b, c', "x\ny", {}], d: {e: true}, 'on': 'on'})");
  EXPECT_EQ(EncodeFlowYaml("a"), "a");
  EXPECT_EQ(EncodeFlowYaml("a]"), "'a]'");
  EXPECT_EQ(EncodeFlowYaml("中\t文"), "\"中\\t文\"");
  EXPECT_EQ(EncodeFlowYaml(nullptr), "null");
}

RC_GTEST_PROP(EncodeFlowYamlProperty, IsReadBackAsTheSameValue, ()) {
  const Json value = *AnyJson();
  const auto decoded = DecodeYaml("[" + EncodeFlowYaml(value) + ", " + EncodeFlowYaml(value) + "]");
  RC_ASSERT(decoded);
  RC_ASSERT(decoded->front().value == Json::array({value, value}));
}

RC_GTEST_PROP(EncodeYamlProperty, IsReadBackAsTheSameValue, ()) {
  const Json value = *AnyJson();
  const std::string yaml = EncodeYaml(value);
  RC_LOG() << yaml;
  RC_ASSERT(Identical(ReadBack(yaml), value));
  RC_ASSERT(yaml.ends_with('\n'));
  RC_ASSERT(!yaml.starts_with("---"));
}

RC_GTEST_PROP(EncodeYamlProperty, KeepsAnyTextWhereverItStands, ()) {
  const std::string text = *AnyText();
  const Json places[] = {text,
                         {{text, text}},
                         Json::array({text, text}),
                         {{"a", {{text, {{"b", text}}}}}},
                         Json::array({Json::array({text}), {{text, Json::array({text})}}})};
  for (const Json& value : places) {
    const std::string yaml = EncodeYaml(value);
    RC_LOG() << yaml;
    RC_ASSERT(Identical(ReadBack(yaml), value));
  }
}

}  // namespace
}  // namespace mindgate::json
