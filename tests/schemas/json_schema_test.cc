#include "schemas/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "json/decode.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "schemas/config_schema.h"
#include "support/golden.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using json::Json;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::Yaml;
using ::testing::ElementsAreArray;

JsonSchema Compile(const char* yaml) {
  auto schema = JsonSchema::Compile(Yaml(yaml));
  EXPECT_TRUE(schema) << schema.error().message();
  return *std::move(schema);
}

std::vector<std::string> Faults(const JsonSchema& schema, const char* yaml) {
  std::vector<std::string> out;
  for (const SchemaFault& fault : schema.Validate(Yaml(yaml))) {
    out.push_back(fault.path + ": " + fault.message +
                  (fault.hint.empty() ? "" : " (" + fault.hint + ")"));
  }
  return out;
}

TEST(JsonSchema, Keywords) {
  const struct {
    const char* schema;
    const char* value;
    std::vector<std::string> want;
  } cases[] = {
      {"{}", "anything", {}},
      {"{type: string}", "text", {}},
      {"{type: string}", "3", {": must be a string, not an integer (quote it: \"3\")"}},
      {"{type: string}", "true", {": must be a string, not a boolean (quote it: \"true\")"}},
      {"{type: string}", "null", {": must be a string, not null"}},
      {"{type: array}", "{}", {": must be a list, not an object"}},
      {"{type: object}", "[]", {": must be an object, not a list"}},
      {"{type: integer}", "3.0", {}},
      {"{type: integer}", "3.5", {": must be an integer, not a number"}},
      {"{type: integer}", "1.0e300", {}},
      {"{type: number}", "3", {}},
      {"{type: [integer, string, 'null']}", "~", {}},
      {"{type: [integer, string, 'null']}", "[]", {": must be an integer or a string, not a list"}},
      {"{type: 'null'}", "1", {": must be null, not an integer"}},
      {"{enum: [a, b, 3]}", "3", {}},
      {"{enum: [apple, pear]}",
       "aple",
       {": \"aple\" is not allowed here: must be \"apple\" or \"pear\" (did you mean \"apple\"?)"}},
      {"{enum: [apple, pear]}",
       "{}",
       {": an object is not allowed here: must be \"apple\" or \"pear\""}},
      {"{enum: [0]}", "false", {": false is not allowed here: must be 0"}},
      {"{minLength: 1}", "''", {": must not be empty"}},
      {"{minLength: 1}", "[]", {}},
      {"{minimum: 2, maximum: 4}", "2", {}},
      {"{minimum: 2, maximum: 4}", "1.5", {": 1.5 is too small (write 2 or more)"}},
      {"{minimum: 2, maximum: 4}", "5", {": 5 is too large (write 4 or less)"}},
      {"{minimum: 2}", "text", {}},
      {"{minimum: -1}", "18446744073709551615", {}},
      {"{maximum: -1}",
       "18446744073709551615",
       {": 18446744073709551615 is too large (write -1 or less)"}},
      {"{minItems: 2}", "[1]", {": needs at least 2 items"}},
      {"{items: {type: string}}",
       "[a, 1, b, 2]",
       {"/1: must be a string, not an integer (quote it: \"1\")",
        "/3: must be a string, not an integer (quote it: \"2\")"}},
      {"{required: [a, b]}", "{b: null}", {"/a: \"a\" is missing (add a:)"}},
      {"{properties: {a: {type: string}}}", "{other: 1}", {}},
      {"{properties: {apple: {}}, additionalProperties: false}",
       "{Apple: 1, x~/y: 2}",
       {"/Apple: unknown key \"Apple\" (did you mean \"apple\"?)",
        "/x~0~1y: unknown key \"x~/y\" (known keys: apple)"}},
      {"{properties: {a: {}}, additionalProperties: {type: integer}}",
       "{a: x, b: 1, c: x}",
       {"/c: must be an integer, not a string"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.schema) + " on " + c.value);
    EXPECT_THAT(Faults(Compile(c.schema), c.value), ElementsAreArray(c.want));
  }
}

TEST(JsonSchema, SchemasThatDoNotCompile) {
  const struct {
    const char* schema;
    const char* want;
  } cases[] = {
      {"{pattern: a}", "schema at \"\": unknown keyword \"pattern\""},
      {"{properties: {a: {items: {const: 1}}}}",
       "schema at \"/properties/a/items\": unknown keyword \"const\""},
      {"{type: text}", "schema at \"\": \"type\" must be the name of a type, or a list of these"},
      {"{enum: []}", "schema at \"\": \"enum\" must be a list with at least one value"},
      {"{required: [1]}", "schema at \"\": \"required\" must be a list of strings"},
      {"{properties: []}", "schema at \"\": \"properties\" must be an object"},
      {"{items: [{}]}", "schema at \"/items\": must be an object"},
      {"{additionalProperties: 1}", "schema at \"/additionalProperties\": must be an object"},
      {"{minItems: -1}", "schema at \"\": \"minItems\" must be a whole number, 0 or more"},
      {"{minLength: 2}", "schema at \"\": \"minLength\" must be 1: only emptiness is checked"},
      {"{minimum: 1.5}", "schema at \"\": \"minimum\" must be a whole number"},
  };
  for (const auto& c : cases) {
    const auto schema = JsonSchema::Compile(Yaml(c.schema));
    ASSERT_FALSE(schema) << c.schema;
    EXPECT_EQ(schema.error().message(), c.want);
  }
  Json deep = Json::object();
  for (int i = 0; i < 100; ++i) deep = {{"items", std::move(deep)}};
  EXPECT_FALSE(JsonSchema::Compile(deep));
}

// Answers of python3-jsonschema, stored by tests/oracle/config_schema.py: run it after a rewrite.

const KnownNames& OracleNames() {
  static const KnownNames names = {{{"wrong-type", "MG001", "Types."}},
                                   {{"scheduler-name", "", "Scheduler."}}};
  return names;
}

// jsonschema reports a missing or unknown member at the object that lacks or holds it.
std::string PlaceAsOracle(const SchemaFault& fault) {
  const bool at_parent =
      fault.message.starts_with("unknown key") || fault.message.ends_with("is missing");
  return at_parent ? fault.path.substr(0, fault.path.rfind('/')) : fault.path;
}

TEST(JsonSchemaOracle, TheSchemaThatWasAskedAboutIsTheCurrentOne) {
  ExpectGolden("tests/oracle/config_schema.json", ConfigSchema(OracleNames()).dump(1) + "\n");
}

TEST(JsonSchemaOracle, AgreesOnEveryCase) {
  const auto schema = JsonSchema::Compile(Json(ConfigSchema(OracleNames())));
  ASSERT_TRUE(schema) << schema.error().message();
  const auto answers = json::Decode(ReadSource("tests/oracle/config_schema_answers.json"));
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_GT(answers->size(), 40u);
  int good = 0;
  for (const Json& answer : *answers) {
    const Json& value = *json::Resolve(answer, "/value");  // may be null
    std::set<std::string> ours;
    for (const SchemaFault& fault : schema->Validate(value)) ours.insert(PlaceAsOracle(fault));
    std::set<std::string> theirs;
    for (const Json& path : *json::Find(answer, "faults")) theirs.insert(path.get<std::string>());
    EXPECT_EQ(ours, theirs) << value.dump();
    good += theirs.empty() ? 1 : 0;
  }
  EXPECT_GT(good, 10);
  EXPECT_GT(static_cast<int>(answers->size()) - good, 20);
}

}  // namespace
}  // namespace mindgate::schemas
