#include "schemas/field_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "json/yaml.h"

namespace mindgate::schemas {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAreArray;

// What a text gave: the value when it has no fault, and "line:column: message (hint)" of each
// fault and warning.
template <typename T>
struct Outcome {
  std::optional<T> value;
  std::vector<std::string> faults;
  std::vector<std::string> warnings;
};

std::vector<std::string> Shown(const json::Issues& issues) {
  std::vector<std::string> out;
  for (const json::Issue& issue : issues.items()) {
    out.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + ": " +
                  issue.message + (issue.hint.empty() ? "" : " (" + issue.hint + ")"));
  }
  return out;
}

template <typename T>
Outcome<T> ReadText(const Type<T>& type, const std::string& yaml) {
  const auto documents = json::DecodeYaml(yaml);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "not one YAML document: " << yaml;
    return {};
  }
  const json::YamlDocument& document = documents->front();
  ReadContext reading(document.value, document.positions);
  Outcome<T> outcome;
  T value{};
  if (Read(type, {document.value, "", reading}, value)) outcome.value = std::move(value);
  outcome.faults = Shown(reading.Faults());
  outcome.warnings = Shown(reading.Warnings());
  return outcome;
}

struct FaultCase {
  const char* text;
  std::vector<std::string> want;  // faults; none: it is read
};

template <typename T>
void ExpectFaults(const Type<T>& type, const std::vector<FaultCase>& cases) {
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(c.text);
    const Outcome<T> outcome = ReadText(type, c.text);
    EXPECT_THAT(outcome.faults, ElementsAreArray(c.want));
    EXPECT_EQ(outcome.value.has_value(), c.want.empty());
  }
}

TEST(FieldTypes, Texts) {
  ExpectFaults(Text(), {{"text", {}},
                        {"''", {}},
                        {"3", {"1:1: must be a string, not an integer (quote it: \"3\")"}},
                        {"true", {"1:1: must be a string, not a boolean (quote it: \"true\")"}},
                        {"null", {"1:1: must be a string, not null"}},
                        {"[]", {"1:1: must be a string, not a list"}}});
  ExpectFaults(NonEmptyText(), {{"text", {}}, {"''", {"1:1: must not be empty"}}});
}

TEST(FieldTypes, WholeNumbers) {
  ExpectFaults(Whole(2, 4), {{"2", {}},
                             {"3.0", {}},
                             {"3.5", {"1:1: must be an integer, not a number"}},
                             {"'3'", {"1:1: must be an integer, not a string"}},
                             {"1", {"1:1: 1 is too small (write 2 or more)"}},
                             {"5", {"1:1: 5 is too large (write 4 or less)"}},
                             {"-1.0e300", {"1:1: -1e+300 is too small (write 2 or more)"}},
                             {"1.0e300", {"1:1: 1e+300 is too large (write 4 or less)"}},
                             {"18446744073709551615",
                              {"1:1: 18446744073709551615 is too large (write 4 or less)"}}});
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ReadText(Whole(0, kMax), "9223372036854775807").value, kMax);
  EXPECT_EQ(ReadText(Whole(0, kMax), "9223372036854775808").value, std::nullopt);
  EXPECT_EQ(ReadText(Whole(0, kMax), "9223372036854775808.0").value, std::nullopt);
}

TEST(FieldTypes, Booleans) {
  const struct {
    const char* text;
    std::optional<bool> want;
    std::vector<std::string> warnings;
    std::vector<std::string> faults;
  } cases[] = {
      {"true", true, {}, {}},
      {"on", true, {}, {}},  // YAML reads it as true
      {"no", false, {}, {}},
      {"\"on\"", true, {"1:1: warning: \"on\" is an old spelling (write true)"}, {}},
      {"\"off\"", false, {"1:1: warning: \"off\" is an old spelling (write false)"}, {}},
      {"maybe", {}, {}, {"1:1: \"maybe\" is not allowed here: must be true or false"}},
      {"\"true\"",
       {},
       {},
       {"1:1: \"true\" is not allowed here: must be true or false (write it without quotes)"}},
      {"1", {}, {}, {"1:1: 1 is not allowed here: must be true or false"}},
      {"null", {}, {}, {"1:1: null is not allowed here: must be true or false"}},
      {"{}", {}, {}, {"1:1: an object is not allowed here: must be true or false"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Outcome<bool> outcome = ReadText(Boolean(), c.text);
    EXPECT_EQ(outcome.value, c.want);
    EXPECT_EQ(outcome.warnings, c.warnings);
    EXPECT_EQ(outcome.faults, c.faults);
  }
}

TEST(FieldTypes, Durations) {
  const char* how = " (write 90s, 5m, 1h or 1m30s)";
  const struct {
    const char* text;
    std::optional<seconds> want;
    std::vector<std::string> warnings;
    std::vector<std::string> faults;
  } cases[] = {
      {"10s", seconds(10), {}, {}},
      {"60m", seconds(3600), {}, {}},
      {"1m30s", seconds(90), {}, {}},
      {"90",
       seconds(90),
       {"1:1: warning: 90 has no unit and is read as seconds (write 1m30s)"},
       {}},
      {"90.0",
       seconds(90),
       {"1:1: warning: 90.0 has no unit and is read as seconds (write 1m30s)"},
       {}},
      {"9s", {}, {}, {"1:1: \"9s\" is too short (write 10s or more)"}},
      {"1h1s", {}, {}, {"1:1: \"1h1s\" is too long (write 1h or less)"}},
      {"-5", {}, {}, {"1:1: -5 is too short (write 10s or more)"}},
      {"18446744073709551615",
       {},
       {},
       {"1:1: 18446744073709551615 is too long (write 1h or less)"}},
      {"'90'", {}, {}, {std::string("1:1: \"90\" is not a duration of at most a year") + how}},
      {"2 minutes",
       {},
       {},
       {std::string("1:1: \"2 minutes\" is not a duration of at most a year") + how}},
      {"9000h", {}, {}, {std::string("1:1: \"9000h\" is not a duration of at most a year") + how}},
      {"1.5", {}, {}, {std::string("1:1: must be a duration, not a number") + how}},
      {"null", {}, {}, {std::string("1:1: must be a duration, not null") + how}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Outcome<seconds> outcome = ReadText(Duration(seconds(10), seconds(3600)), c.text);
    EXPECT_EQ(outcome.value, c.want);
    EXPECT_EQ(outcome.warnings, c.warnings);
    EXPECT_EQ(outcome.faults, c.faults);
  }
}

TEST(FieldTypes, Choices) {
  const std::string fruits = " is not allowed here: must be \"apple\" or \"pear\"";
  ExpectFaults(Word({"apple", "pear"}),
               {{"apple", {}},
                {"aple", {"1:1: \"aple\"" + fruits + " (did you mean \"apple\"?)"}},
                {"3", {"1:1: 3" + fruits}},
                {"{}", {"1:1: an object" + fruits}},
                {"on",
                 {"1:1: true is not allowed here (YAML reads on, yes and true as true): "
                  "must be \"apple\" or \"pear\""}}});
  const Type<std::string> modes = Word({"off", "observe", "enforce"});
  EXPECT_EQ(ReadText(modes, "off").value, "off") << "though YAML reads it as false";
  EXPECT_EQ(ReadText(modes, "'off'").value, "off");
  ExpectFaults(modes, {{"on",
                        {"1:1: true is not allowed here (YAML reads on, yes and true as true): "
                         "must be \"off\", \"observe\" or \"enforce\" (write \"observe\" or "
                         "\"enforce\" to switch it on)"}}});
  EXPECT_EQ(ReadText(Word({"", "on", "off"}), "yes").value, "on");
  const std::vector<std::string> many = {"a1", "b1", "c1", "d1", "e1", "f1", "g1",
                                         "h1", "i1", "j1", "k1", "l1", "m1"};
  ExpectFaults(Word(many), {{"other", {"1:1: \"other\" is not allowed here"}}});
}

TEST(FieldTypes, ListsAndMaps) {
  ExpectFaults(List(Text(), 2), {{"[a, b]", {}},
                                 {"{}", {"1:1: must be a list, not an object"}},
                                 {"[a]", {"1:1: needs at least 2 items"}},
                                 {"[a, 1, b, 2]",
                                  {"1:5: must be a string, not an integer (quote it: \"1\")",
                                   "1:11: must be a string, not an integer (quote it: \"2\")"}}});
  EXPECT_EQ(ReadText(ListInto<std::set<int64_t>>(Whole(1, 9)), "[3, 1, 3]").value,
            (std::set<int64_t>{1, 3}));
  EXPECT_EQ(ReadText(List(Text()).OrNull(), "null").value, std::vector<std::string>());
  ExpectFaults(List(Text()).OrNull(), {{"3", {"1:1: must be a list, not an integer"}}});
  ExpectFaults(Map(Whole(0, 9)), {{"{a: 1, b: 2}", {}},
                                  {"{a: 1, b: x}", {"1:11: must be an integer, not a string"}}});
}

TEST(FieldTypes, EitherOfTwo) {
  using Names = std::vector<std::string>;
  const auto one =
      Parsed<Names>(Text(), [](const std::string& text, const Field&) { return Names{text}; });
  const Type<Names> type = Either(one, List(Text()));
  EXPECT_EQ(ReadText(type, "a").value, Names{"a"});
  EXPECT_EQ(ReadText(type, "[a, b]").value, (Names{"a", "b"}));
  ExpectFaults(type, {{"3", {"1:1: must be a string or a list, not an integer (quote it: \"3\")"}},
                      {"[3]", {"1:2: must be a string, not an integer (quote it: \"3\")"}}});
}

struct Fruit {
  std::string name;
  int64_t weight = 100;
  std::optional<std::string> colour;
  bool operator==(const Fruit&) const = default;
};

Type<Fruit> FruitTable() {
  return Object<Fruit>({{"name", "Its name.", &Fruit::name, NonEmptyText(), {.required = true}},
                        {"weight", "In grams.", &Fruit::weight, Whole(1, 9000), {.example = "7"}},
                        {"colour", "Of its skin.", &Fruit::colour, Word({"red", "green"})}},
                       [](Fruit& fruit, const Field& field) {
                         if (fruit.name == "stone") field.Fault("a stone is not a fruit");
                       });
}

TEST(FieldTypes, Objects) {
  EXPECT_EQ(ReadText(FruitTable(), "{name: pear}").value, (Fruit{"pear", 100, {}}));
  EXPECT_EQ(ReadText(FruitTable(), "{name: pear, weight: 90, colour: green}").value,
            (Fruit{"pear", 90, "green"}));
  ExpectFaults(FruitTable(),
               {{"[]", {"1:1: must be an object, not a list"}},
                {"{}", {"1:1: \"name\" is missing (add name:)"}},
                {"{name: pear, weight: null}", {"1:22: must be an integer, not null"}},
                {"{name: stone}", {"1:1: a stone is not a fruit"}},
                {"{weight: 0, Name: a, x~/y: 2}",
                 {"1:1: \"name\" is missing (add name:)", "1:10: 0 is too small (write 1 or more)",
                  "1:19: unknown key \"Name\" (did you mean \"name\"?)",
                  "1:28: unknown key \"x~/y\" (known keys: colour, name, weight)"}}});
}

struct Basket {
  std::string owner;
  std::vector<Fruit> fruits;
  std::string lid;
};

Type<Basket> BasketTable() {
  const Type<std::string> lid = Object<std::string>(
      {{"material", "Of it.", [](std::string& s) -> auto& { return s; }, Text()},
       {"shape", "Of it.", [](std::string& s) -> auto& { return s; }, Text()}});
  return Object<Basket>(
      {{"owner", "Whose it is.", &Basket::owner, Text()},
       {"fruits", "In it.", &Basket::fruits, List(FruitTable())},
       {"lid", "Over it.", &Basket::lid, lid},
       {"inner", "Within it.", &Basket::lid,
        Object<std::string>(
            {{"shape", "Of it.", [](std::string& s) -> auto& { return s; }, Text()}})}});
}

// A key that the document has in one other place.
TEST(FieldTypes, KeysInTheWrongPlace) {
  const auto documents = json::DecodeYaml(
      "{weight: 1, material: a, shape: b, lid: {owner: c}, fruits: [{name: d, material: e}]}");
  ASSERT_TRUE(documents);
  const json::YamlDocument& document = documents->front();
  ReadContext reading(document.value, document.positions);
  Basket basket;
  EXPECT_FALSE(ReadDocument(BasketTable(), document.value, reading, basket));
  EXPECT_EQ(Shown(reading.Faults()),
            (std::vector<std::string>{
                "1:10: unknown key \"weight\" (write it in an item of fruits)",
                "1:23: unknown key \"material\" (write it under lid)",
                "1:33: unknown key \"shape\" (known keys: fruits, inner, lid, owner)",
                "1:49: unknown key \"owner\" (write it at the top)",
                "1:82: unknown key \"material\" (write it under lid)"}));
}

TEST(FieldTypes, SchemaOfATable) {
  EXPECT_EQ(List(FruitTable(), 1).OrNull().Schema(), OrderedJson::parse(R"({
    "type": ["array", "null"], "minItems": 1, "items": {
      "type": "object", "additionalProperties": false, "required": ["name"], "properties": {
        "name": {"description": "Its name.", "type": "string", "minLength": 1},
        "weight": {"description": "In grams.", "type": "integer", "minimum": 1, "maximum": 9000,
                   "default": 100, "examples": [7]},
        "colour": {"description": "Of its skin.", "enum": ["red", "green"]}}}})"));
  EXPECT_EQ(Duration(seconds(1), seconds(60)).Schema(), OrderedJson::parse(R"({
    "type": ["string", "integer"], "pattern": "^([0-9]+[hms])+$", "minimum": 1, "maximum": 60})"));
  EXPECT_EQ(Word({"on", "off"}).Schema(),
            OrderedJson::parse(R"({"enum": ["on", "off", true, false]})"));
}

// The text of a stranger may hold millions of faults.
TEST(ReadContext, KeepsABoundedNumberOfFaults) {
  std::string text = "[";
  for (int i = 0; i < 3000; ++i) text += "1,";
  const auto documents = json::DecodeYaml(text + "]");
  ASSERT_TRUE(documents);
  ReadContext reading(documents->front().value, documents->front().positions);
  std::vector<std::string> out;
  EXPECT_FALSE(Read(List(Text()), {documents->front().value, "", reading}, out));
  EXPECT_EQ(reading.fault_count(), 3000u);
  EXPECT_EQ(reading.found_faults().size(), 1000u);
  EXPECT_EQ(reading.Faults().items().size(), json::Issues::kMax);
  EXPECT_EQ(reading.Faults().items().size() + reading.Faults().dropped(), 3000u);
}

}  // namespace
}  // namespace mindgate::schemas
