#include "cel/program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cel/context.h"
#include "cel/evaluating.h"
#include "cel/value.h"
#include "json/arena.h"
#include "json/decode.h"
#include "support/golden.h"

namespace mindgate {
namespace {

using testing::Evaluated;

std::string Times(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(CelProgram, IsEvaluatedByManyThreads) {
  cel::Environment environment;
  environment.variables = {{"object", "dyn"}};
  const std::string text =
      "object.items.filter(x, x.name.matches('^a.*[0-9]$')).map(x, x.name + '!').size()";
  const auto program = cel::Compile(text, environment);
  ASSERT_TRUE(program);
  const auto document =
      json::Document::Decode(R"({"items": [{"name": "a1"}, {"name": "b"}, {"name": "ab2"}]})");
  std::vector<int64_t> sizes(4);
  std::vector<std::thread> threads;
  for (int64_t& size : sizes) {
    threads.emplace_back([&size, &document, copy = *program] {
      const cel::Value row[] = {cel::Value::Of(document->root())};
      cel::Values values(row);
      json::Arena arena(1024);
      for (int i = 0; i < 200; ++i) {
        const auto value = copy.Evaluate(values, arena);
        size = value ? value->integer() : -1;
        arena.Clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 2, 2, 2}));
}

// Variables that are computed when an expression reads them.
class Counting final : public cel::Activation {
 public:
  cel::Value Get(size_t variable, cel::Context& context) override {
    ++asked[variable];
    if (variable == 1) return context.Fail("the second variable failed");
    return cel::Value::OfInt(7);
  }
  std::vector<int> asked{0, 0};
};

TEST(CelProgram, AsksForVariablesWhenItReadsThem) {
  cel::Environment environment;
  environment.variables = {{"variables.a", "int"}, {"variables.b", "int"}};
  json::Arena arena(1024);
  Counting counting;
  const auto either = cel::Compile("variables.a == 7 ? 'x' : string(variables.b)", environment);
  ASSERT_TRUE(either);
  const auto value = either->Evaluate(counting, arena);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->text(), "x");
  EXPECT_EQ(counting.asked, (std::vector<int>{1, 0}));

  const auto both = cel::Compile("variables.a + variables.b", environment);
  const auto fault = both->Evaluate(counting, arena);
  ASSERT_FALSE(fault);
  EXPECT_EQ(json::Render(fault.error(), "cel", both->text()),
            "cel:1:25: the second variable failed\nvariables.a + variables.b\n"
            "                        ^\n");
}

TEST(CelProgram, ReportsWhatTheDocumentShows) {
  cel::Environment environment;
  environment.variables = {{"object", "dyn"}};
  const std::string text = "objct.spec.replicas > 1 && object.metadata.name.startWith('a')";
  const auto program = cel::Compile(text, environment);
  ASSERT_FALSE(program);
  const std::string page = testing::ReadSource("docs/cel.md");
  EXPECT_NE(page.find(json::Render(program.error(), "policy", text)), std::string::npos)
      << json::Render(program.error(), "policy", text);
}

TEST(CelProgram, ReportsThatAVariableHasNoValue) {
  cel::Environment environment;
  environment.variables = {{"a", "int"}};
  const auto program = cel::Compile("a + 1", environment);
  cel::Values none({});
  json::Arena arena(1024);
  const auto value = program->Evaluate(none, arena);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().message, "this variable has no value here");
  EXPECT_EQ(value.error().at, (json::Position{1, 1}));
}

TEST(CelProgram, EndsWhatCostsTooMuch) {
  const std::string nested =
      "object.items.all(a, object.items.all(b, object.items.all(c, object.items.all(d, a <= 99 || "
      "b + c + d > 0))))";
  std::string items = "0";
  for (int i = 1; i < 100; ++i) items += "," + std::to_string(i);
  const std::string object = "{\"items\": [" + items + "]}";
  const std::string over = Evaluated(nested, object);
  EXPECT_EQ(over.substr(over.find(' ') + 1, over.find('\n') - over.find(' ') - 1),
            "the expression takes more steps than it may");
  EXPECT_NE(over.find("hint: put the cheapest condition first"), std::string::npos);
  // || does not make anything of it.
  EXPECT_EQ(Evaluated("(" + nested + ") || true", object).substr(0, 4), "cel:");
  EXPECT_EQ(Evaluated("object.items.all(a, a < 100)", object, {.cost = 100}).substr(0, 3), "cel");
  EXPECT_EQ(Evaluated("object.items.all(a, a < 100)", object, {.cost = 1000}), "true");
}

// What grows without loops over a document: doubling, and values of values.
TEST(CelProgram, EndsWhatGrowsTooMuch) {
  std::string doubled = "'0123456789'";
  for (int i = 0; i < 40; ++i) doubled = "cel.bind(x, " + doubled + ", x + x)";
  EXPECT_NE(Evaluated(doubled).find("than it may"), std::string::npos);
  std::string lists = "[1]";
  for (int i = 0; i < 60; ++i) lists = "cel.bind(x, " + lists + ", [x, x])";
  EXPECT_EQ(Evaluated("size(" + lists + ")"), "2");
  EXPECT_NE(Evaluated("cel.bind(y, " + lists + ", y == y)").find("than it may"), std::string::npos);
  EXPECT_NE(Evaluated("'%s'.format([" + lists + "])").find("than it may"), std::string::npos);
  EXPECT_NE(Evaluated(lists + ".flatten(64)").find("than it may"), std::string::npos);
  EXPECT_NE(Evaluated("lists.range(1000000000)").find("than it may"), std::string::npos);
  EXPECT_NE(Evaluated("lists.range(3000).distinct()").find("than it may"), std::string::npos);
  EXPECT_NE(Evaluated("'" + Times("a", 20'000) + "'.replace('', '" + Times("b", 20'000) + "')")
                .find("than it may"),
            std::string::npos);
  EXPECT_NE(Evaluated("'" + Times("a", 10'000) + "'.split('').map(x, '" + Times("(a|b)*", 600) +
                      "' + x).all(p, 'a'.matches(p))")
                .find("than it may"),
            std::string::npos);
}

// One long text of an object, compared and searched again and again.
TEST(CelProgram, EndsWhatTakesLongBetweenSteps) {
  const std::string big(1'000'000, 'a');
  const std::string object = R"({"t": ")" + big + R"(", "m": {")" + big + R"(": 1}})";
  for (const std::string_view text :
       {"lists.range(30000).map(x, object.t).sort().size() > 0",
        "lists.range(30000).map(x, object.t).isSorted()",
        "lists.range(30000).map(x, object.t).max() == ''",
        "lists.range(30000).all(x, object.t in object.m)",
        "lists.range(30000).all(x, object.m[object.t] == 1)",
        "lists.range(30000).all(x, object.m == {object.t: 1})",
        "object.t.replace(object.t.substring(500000) + 'b', '') == ''",
        "object.t.split(object.t.substring(500000) + 'b').size() == 1",
        "object.t.contains(object.t.substring(500000) + 'b')",
        "lists.range(3000).all(x, object.t.matches('(a?){300}b'))",
        "lists.range(3000).all(x, object.t.size() > 0)",
        "lists.range(3000).all(x, object.t.endsWith(object.t))"}) {
    EXPECT_NE(Evaluated(text, object).find("than it may"), std::string::npos) << text;
  }
}

TEST(CelProgram, EvaluatesTheDeepestTree) {
  EXPECT_EQ(Evaluated(Times("[", 198) + "1" + Times("]", 198) + " == []"), "false");
  EXPECT_EQ(Evaluated(Times("(1 + ", 198) + "1" + Times(")", 198)), "199");
  EXPECT_EQ(Evaluated(Times("true ? 1 : ", 190) + "2"), "1");
  std::string loops = "true";
  for (int i = 0; i < 60; ++i) loops = "[1].all(x, " + loops + ")";
  EXPECT_EQ(Evaluated(loops), "true");
}

}  // namespace
}  // namespace mindgate
