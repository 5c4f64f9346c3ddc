#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "json/decode.h"
#include "json/pointer.h"
#include "schemas/config.h"
#include "schemas/config_table.h"
#include "support/golden.h"

namespace mindgate::schemas {
namespace {

using json::Json;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;

// Answers of python3-jsonschema, stored by tests/oracle/config_schema.py: run it after a rewrite.

const KnownNames& OracleNames() {
  static const KnownNames names = {{{"wrong-type", "MG001", "Types."}},
                                   {{"scheduler-name", "", "Scheduler."}}};
  return names;
}

// jsonschema reports a missing or unknown member at the object that lacks or holds it.
std::string PlaceAsOracle(const ReadContext::LocatedIssue& fault) {
  const std::string& message = fault.issue.message;
  const bool at_parent = message.starts_with("unknown key") || message.ends_with("is missing");
  return at_parent ? fault.path.substr(0, fault.path.rfind('/')) : fault.path;
}

TEST(ConfigSchemaOracle, TheSchemaThatWasAskedAboutIsTheCurrentOne) {
  ExpectGolden("tests/oracle/config_schema.json", ConfigSchema(OracleNames()).dump(1) + "\n");
}

TEST(ConfigSchemaOracle, AgreesOnEveryCase) {
  const Type<Config> table = ConfigTable(OracleNames());
  const auto answers = json::Decode(ReadSource("tests/oracle/config_schema_answers.json"));
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_GT(answers->size(), 40u);
  int good = 0;
  for (const Json& answer : *answers) {
    const Json& value = *json::Resolve(answer, "/value");  // may be null
    std::set<std::string> ours;
    const json::Positions positions;
    ReadContext reading(value, positions);
    Config config;
    Read(table, {value, "", reading}, config);
    for (const ReadContext::LocatedIssue& fault : reading.found_faults())
      ours.insert(PlaceAsOracle(fault));
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
