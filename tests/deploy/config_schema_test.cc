// The schema of the configuration files and their reader agree, as python3-jsonschema reads the
// one: tests/oracle/deploy_schema.py stores its answers, and is run after a change of a schema.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deploy/config.h"
#include "json/decode.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using ::mindgate::testing::ReadSource;

TEST(ConfigurationSchemaOracle, AgreesOnEveryCase) {
  const auto answers = json::Decode(ReadSource("tests/oracle/deploy_schema_answers.json"));
  ASSERT_TRUE(answers) << answers.error().message;
  size_t good = 0;
  for (const Json& answer : *answers) {
    const auto read = ReadConfiguration(answer.at("value"), json::Positions(),
                                        answer.at("framework").get<std::string>());
    EXPECT_EQ(read.has_value(), answer.at("faults").empty())
        << answer.dump() << (read ? "" : "\n" + read.error().items().front().message);
    good += read.has_value();
  }
  EXPECT_GT(good, 8u);
  EXPECT_GT(answers->size(), good + 15);
}

TEST(ConfigurationSchemaOracle, TheSchemasThatWereAskedAboutAreTheCurrentOnes) {
  for (const Framework framework : kFrameworks) {
    const std::string file =
        "tests/golden/deploy/schema-" + std::string(FrameworkName(framework)) + ".json";
    EXPECT_EQ(ConfigurationSchema(framework).dump(2) + "\n", ReadSource(file)) << file;
  }
}

}  // namespace
}  // namespace mindgate::deploy
