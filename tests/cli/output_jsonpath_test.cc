#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/console/output.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The text of a template for a value, or the fault.
std::string Printed(const std::string& text, const OrderedJson& value) {
  const auto path = JsonPath::Parse(text);
  if (!path) return "fault: " + path.error().message();
  const auto printed = path->Print(value);
  return printed ? *printed : "fault: " + printed.error().message();
}

// The shape of the example in kubectl's documentation.
const OrderedJson& List() {
  static const OrderedJson list = OrderedJson::parse(R"({
    "kind": "List", "empty": [], "nothing": null, "yes": true, "ratio": 1.5,
    "items": [
      {"kind": "None", "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "a"}},
       "status": {"capacity": {"cpu": "4"}, "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.1"}], "ports": 3}},
      {"kind": "None", "metadata": {"name": "127.0.0.2", "labels": {"kubernetes.io/hostname": "b"}},
       "status": {"capacity": {"cpu": "8"}, "ready": true, "ports": 12,
                  "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.2"}, {"type": "another", "address": "127.0.0.3"}]}}],
    "users": [{"name": "myself", "user": {}}, {"name": "e2e", "user": {"username": "admin", "password": "secret"}}]})");
  return list;
}

TEST(JsonPath, PrintsWhatKubectlPrints) {
  struct Case {
    const char* text;
    const char* printed;
  };
  const Case cases[] = {
      {"", ""},
      {"plain text } here", "plain text } here"},
      {"kind is {.kind}", "kind is List"},
      {"{.kind}{'\\n'}", "List\n"},
      {"{.kind}{\"\\t|\\\\|\\\"\"}", "List\t|\\|\""},
      {"{@.kind} {$.kind} {['kind']} {.['kind']} {$['kind']}", "List List List List List"},
      {"{ .kind }", "List"},
      {"{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"},
      {"{.items..metadata.name}", "127.0.0.1 127.0.0.2"},
      {"{..name}", "127.0.0.1 127.0.0.2 myself e2e"},
      {"{.items[0].metadata.name} {.items[-1].metadata.name}", "127.0.0.1 127.0.0.2"},
      {"{.items[0:1].metadata.name}", "127.0.0.1"},
      {"{.items[:].kind}|{.items[1:].kind}|{.items[-1:].kind}|{.items[0:2:2].kind}|{.items[1:1]."
       "kind}",
       "None None|None|None|None|"},
      {"{.items[0,1].metadata.name}", "127.0.0.1 127.0.0.2"},
      {"{.items[*]['metadata.name', 'kind']}", "None None"},
      {"{.users[*]['name']}", "myself e2e"},
      {"{.users[*]['name', 'user']}", R"(myself e2e {} {"username":"admin","password":"secret"})"},
      {"{.users[?(@.name==\"e2e\")].user.password}", "secret"},
      {"{.users[?(@.name!='e2e')].name}", "myself"},
      {"{.users[?(@.user.password)].name}", "e2e"},
      {"{.items[?(@.status.ports>3)].metadata.name}", "127.0.0.2"},
      {"{.items[?(@.status.ports >= 3)].status.ports}", "3 12"},
      {"{.items[?(@.status.ports<12)].status.ports}", "3"},
      {"{.items[?(@.status.ports<=2.5)].status.ports}", ""},
      {"{.items[?(@.status.ready==true)].metadata.name}", "127.0.0.2"},
      {"{.items[?(@.metadata.name<\"127.0.0.2\")].metadata.name}", "127.0.0.1"},
      {"{.items[?(@.status.addresses[0].address==@.metadata.name)].kind}", "None None"},
      {"{.items[*].status.addresses[?(@.type==\"another\")].address}", "127.0.0.3"},
      {"{.items[?(@.status.addresses[?(@.type==\"another\")])].metadata.name}", "127.0.0.2"},
      {"{.items[0].metadata.labels.kubernetes\\.io/hostname}", "a"},
      {"{.items[1].metadata.labels['kubernetes.io/hostname']}", "b"},
      {"{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
       R"([127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] )"},
      {"{range .items[*]}{.kind}:{range .status.addresses[*]} {.address}{end};{end}done",
       "None: 127.0.0.1;None: 127.0.0.2 127.0.0.3;done"},
      {"{range .empty[*]}never{end}after", "after"},
      {"{.yes} {.ratio} {.nothing}{.missing.of.it} {.empty} {.users[1].user.*}",
       "true 1.5 null [] admin secret"},
      {"{.users[0]}", R"({"name":"myself","user":{}})"},
      {"{.items[0].status.addresses}", R"([{"type":"LegacyHostIP","address":"127.0.0.1"}])"},
  };
  for (const Case& c : cases) EXPECT_EQ(Printed(c.text, List()), c.printed) << c.text;
  for (const char* all : {"{.}", "{@}", "{$}", "{}"}) {
    EXPECT_EQ(Printed(all, OrderedJson::parse(R"({"a": [1]})")), R"({"a":[1]})") << all;
  }
}

TEST(JsonPath, FaultsNameTheColumn) {
  struct Case {
    const char* text;
    const char* fault;
  };
  const Case cases[] = {
      {"{.kind", "column 1: unclosed brace: add }"},
      {"{kind}",
       "column 2: unexpected \"k\": write a path such as {.metadata.name}, text such as "
       "{\"\\n\"}, {range PATH} or {end}"},
      {"{.items[}",
       "column 9: expected an index such as [0], a range such as [1:3], [*], a name "
       "such as ['a'] or a filter such as [?(@.a==\"b\")]"},
      {"{.items[0}", "column 10: unexpected \"}\" in brackets"},
      {"{.items[0", "column 8: unclosed bracket: add ]"},
      {"{.items[0:2:0]}", "column 13: a step must be 1 or more"},
      {"{.items[99999999999999]}", "column 9: \"99999999999999\" is not an index"},
      {"{'a}", "column 2: unclosed quote"},
      {"a{end}", "column 2: {end} without a {range}"},
      {"{range .items[*]}{.kind}", "column 17: this {range} has no {end}"},
      {"{.items[?@.a]}", "column 10: expected ( after ?: write [?(@.a==\"b\")]"},
      {"{.items[?(@.a=~'b')]}",
       "column 14: \"=~\" is not supported: write ==, !=, <, <=, > or >=; for "
       "regular expressions use -o json and jq"},
      {"{.items[?(@.a==b)]}",
       "column 16: expected a path such as @.a, text in quotes, a number, true or false"},
      {"{.items[?(@.a==1e)]}", "column 16: \"1e\" is not a number"},
      {"{.items[?(@.a==1]}", "column 17: expected )] at the end of a filter"},
      {"{.a..}", "column 4: \"..\" needs a name, * or [ after it"},
      // These fit a template and not the value.
      {"{.items[2].kind}", "column 9: the list has 2 elements, so index 2 is out of range"},
      {"{.items[-3].kind}", "column 9: the list has 2 elements, so index -3 is out of range"},
      {"{.items[1:5].kind}", "column 9: the list has 2 elements, so 1:5 is out of range"},
      {"{.kind[0]}", "column 8: this is a string, but an index needs a list"},
      {"{.kind[?(@.a)]}", "column 7: this is a string, but a filter needs a list"},
      {"{.items[?(@.kind<3)]}",
       "column 8: this is a string and this is a number cannot be ordered"},
      {"{.items[?(@..address=='a')]}",
       "column 8: a filter compares single values, but this path matches several"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Printed(c.text, List()), std::string("fault: jsonpath template, ") + c.fault)
        << c.text;
  }
}

TEST(JsonPath, IsBounded) {
  EXPECT_EQ(Printed(std::string(JsonPath::kMaxTemplate + 1, 'x'), {}),
            "fault: jsonpath template: 4097 bytes are more than 4096");
  std::string ranges;
  for (size_t i = 0; i < JsonPath::kMaxDepth; ++i) ranges += "{range .a}";
  EXPECT_EQ(Printed(ranges, {}),
            "fault: jsonpath template, column 311: more than 31 nested ranges and filters");
  std::string filters = "{.a";
  for (size_t i = 0; i < JsonPath::kMaxDepth; ++i) filters += "[?(@";
  EXPECT_EQ(Printed(filters, {}),
            "fault: jsonpath template, column 128: more than 31 nested ranges and filters");
  OrderedJson deep = 1;
  for (int i = 0; i < 60; ++i) deep = OrderedJson{{"a", std::move(deep)}};
  std::string descents = "{";
  for (int i = 0; i < 12; ++i) descents += "..*";
  EXPECT_EQ(Printed(descents + "}", deep).substr(0, 24), "fault: jsonpath template");
  const OrderedJson large = {{"a", std::string(JsonPath::kMaxOutput / 2, 'x')}};
  EXPECT_EQ(Printed("{.a}{.a}", large).size(), JsonPath::kMaxOutput);
  EXPECT_EQ(
      Printed("{.a}{.a} ", large),
      "fault: jsonpath template: the output is larger than 67108864 bytes; select fewer fields");
}

}  // namespace
}  // namespace mindgate::cli
