// What the API server of Kubernetes answered to expressions (tests/e2e/test_cel.py asks it again).
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "cel/context.h"
#include "cel/program.h"
#include "cel/value.h"
#include "json/decode.h"
#include "json/value.h"
#include "support/golden.h"

namespace mindgate {
namespace {

using json::Json;

// Where the answers differ, and are meant to.
struct Difference {
  std::string_view part;  // of the expression
  std::string_view why;
};
constexpr Difference kDifferences[] = {
    {"cel.bind(", "Kubernetes has no such macro"},
    {"base64.", "Kubernetes has no such functions"},
    {"math.", "Kubernetes has no such functions"},
    {".reverse()", "Kubernetes has no such function for texts"},
    {".`", "Kubernetes knows no quoted members"},
    {"'%.f'", "Kubernetes wants digits behind the point"},
    {"'%s'.format(['x', 'y'])", "Kubernetes refuses values that no clause writes"},
    {"'%s'.format([object.spec.replicas, 1])", "Kubernetes refuses values that no clause writes"},
    {"optional.of(1)]", "Kubernetes finds it earlier"},
    {"\"%d\".format([double(", "Kubernetes finds it earlier"},
    {"[dyn(b'')]", "Kubernetes finds it earlier"},
    {".validate('A').value()", "what is wrong with a name is in mindgate's own words"},
    {".validate('x').value()", "what is wrong with a name is in mindgate's own words"},
    {"{1: 'a', 1u: 'b'}", "one number is one key, whatever its type"},
    {"{0: 1, 0u: 2}", "one number is one key, whatever its type"},
};

const Difference* FindDifference(std::string_view expression) {
  const auto* const found = std::ranges::find_if(kDifferences, [&](const Difference& each) {
    return expression.find(each.part) != expression.npos;
  });
  return found == std::end(kDifferences) ? nullptr : found;
}

// How test_cel.py makes a text of a value.
std::string AsText(std::string_view way, const std::string& expression) {
  const std::string text =
      way == "string" ? "string(" + expression + ")" : "'%s'.format([" + expression + "])";
  return text + ".replace('\\n', '<line break>')";
}

std::string Answered(const std::string& text, const json::Value& object) {
  cel::Environment environment;
  environment.variables = {{"object", "dyn"}, {"oldObject", "dyn"}};
  const auto program = cel::Compile(text, environment);
  if (!program) return "refused";
  const cel::Value row[] = {cel::Value::Of(object), cel::Value()};
  cel::Values values(row);
  json::Arena arena(4096);
  const auto value = program->Evaluate(values, arena);
  return value ? "value " + std::string(value->text()) : "fails";
}

std::string Recorded(const Json& answer) {
  if (answer.value("refused", false)) return "refused";
  if (answer.value("fails", false)) return "fails";
  return "value " + answer.at("value").get<std::string>();
}

TEST(CelApiServer, AgreesWithKubernetes) {
  const Json recorded =
      Json::parse(testing::ReadSource("tests/oracle/cel/api_server_answers.json"));
  const auto object = json::Document::Decode(recorded.at("object").dump());
  ASSERT_TRUE(object);
  std::set<const Difference*> met;
  size_t differing = 0;
  for (const Json& answer : recorded.at("answers")) {
    const std::string expression = answer.at("expression");
    const std::string theirs = Recorded(answer);
    const std::string ours =
        Answered(AsText(answer.value("as", "string"), expression), object->root());
    if (ours == theirs) continue;
    ++differing;
    const Difference* const known = FindDifference(expression);
    EXPECT_TRUE(known) << expression << "\n  ours: " << ours << "\n  theirs: " << theirs;
    met.insert(known);
  }
  for (const Difference& each : kDifferences) {
    EXPECT_TRUE(met.contains(&each)) << each.part << " makes no difference any more";
  }
  const std::string page = testing::ReadSource("docs/cel.md");
  const std::string count = std::to_string(recorded.at("answers").size() - differing) + " of " +
                            std::to_string(recorded.at("answers").size()) + " expressions";
  EXPECT_NE(page.find(count), page.npos) << "docs/cel.md: " << count;
}

}  // namespace
}  // namespace mindgate
