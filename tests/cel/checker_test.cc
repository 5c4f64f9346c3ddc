#include <gtest/gtest.h>

#include <string>

#include "cel/evaluating.h"
#include "cel/program.h"
#include "cel/type_system.h"

namespace mindgate {
namespace {

cel::Environment Declared() {
  cel::Environment environment;
  environment.variables = {{"object", "dyn"},         {"params", "map(string, dyn)"},
                           {"names", "list(string)"}, {"count", "int"},
                           {"started", "timestamp"},  {"variables.replicas", "int"}};
  return environment;
}

// The type of an expression, or all that is wrong with it.
std::string TypeOfExpression(std::string_view text) {
  const auto program = cel::Compile(text, Declared());
  return program ? program->type() : json::Render(program.error(), "cel", text);
}

TEST(CelChecker, FindsTypes) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"object.spec.replicas", "dyn"},
      {"object.spec.replicas > 1", "bool"},
      {"params.limit", "dyn"},
      {"names[0]", "string"},
      {"names.map(n, n.size())", "list(int)"},
      {"names.filter(n, n != '')", "list(string)"},
      {"variables.replicas + 1", "int"},
      {"started - duration('1h')", "timestamp"},
      {"started.getHours()", "int"},
      {"[1, 2u]", "list(dyn)"},
      {"{'a': 1}.a", "int"},
      {"{'a': [1]}.?a", "optional_type(list(int))"},
      {"params.?a.orValue('x')", "dyn"},
      {"{1: 'a'}.transformMap(k, v, v.size())", "map(int, int)"},
      {"{1: 'a'}.transformMapEntry(k, v, {v: k})", "map(string, int)"},
      {"cel.bind(x, 1.5, x * x)", "double"},
      {"true ? 1 : 2", "int"},
      {"quantity('1').add(1)", "kubernetes.Quantity"},
      {"type(1)", "type(int)"},
      {"has(variables.replicas)", "bool"},
      {"[names, []]", "list(list(string))"},
      {"optional.none()", "optional_type(dyn)"},
      {"math.greatest(1, 2, 3)", "int"},
      {"names.sortBy(n, n.size())", "list(string)"},
      {"size(object)", "int"},
      {"1 < 1.5", "bool"},
  };
  for (const auto& row : rows) EXPECT_EQ(TypeOfExpression(row.text), row.want) << row.text;
}

TEST(CelChecker, ReportsAllThatIsWrongAtOnce) {
  EXPECT_EQ(TypeOfExpression("objct.spec.replicas > 1\n  && names.contain('a')\n  && count == '1'"),
            R"(cel:1:1: undeclared reference to 'objct'
objct.spec.replicas > 1
^
hint: did you mean object?
cel:2:12: there is no function 'contain'
  && names.contain('a')
           ^
hint: did you mean contains?
cel:3:12: no such overload: int == string
  && count == '1'
           ^
hint: there is T == T
)");
}

TEST(CelChecker, ReportsWhatToWriteInstead) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"authorizer.path('/healthz').check('get').allowed()",
       R"(cel:1:1: there is no authorizer here: no API server is asked while a policy is decided
authorizer.path('/healthz').check('get').allowed()
^
hint: leave checks of permissions to RBAC or to a ValidatingAdmissionPolicy
)"},
      {"variables.replica > 1",
       "cel:1:1: undeclared reference to 'variables'\nvariables.replica > 1\n^\n"
       "hint: did you mean variables.replicas?\n"},
      {"names.all(n)",
       "cel:1:7: there is no function 'all'\nnames.all(n)\n      ^\n"
       "hint: write list.all(x, condition), or map.all(key, value, condition)\n"},
      {"1 + 'a'",
       "cel:1:3: no such overload: int + string\n1 + 'a'\n  ^\n"
       "hint: there is int + int, uint + uint, double + double, string + string, bytes + bytes, "
       "list(T) + list(T) and 3 more\n"},
      {"names[0].startsWith('a', 'b')",
       "cel:1:10: no such overload: string.startsWith(string, string)\n"
       "names[0].startsWith('a', 'b')\n         ^\nhint: there is string.startsWith(string)\n"},
      {"contains(names[0], 'a')",
       "cel:1:1: no such overload: contains(string, string)\ncontains(names[0], 'a')\n^\n"
       "hint: there is string.contains(string)\n"},
      {"count.spec",
       "cel:1:7: a value of type int has no members, such as 'spec'\ncount.spec\n      ^\n"},
      {"names['a']",
       "cel:1:6: the index of a list is an int, and not of type string\nnames['a']\n     ^\n"},
      {"params[1]",
       "cel:1:7: the keys of this map are of type string, not int\nparams[1]\n      ^\n"},
      {"count[0]", "cel:1:6: a value of type int has no [index]\ncount[0]\n     ^\n"},
      {"count.all(x, true)",
       "cel:1:1: this loops over a list or a map, not over a value of type int\n"
       "count.all(x, true)\n^\n"},
      {"names.all(n, n)",
       "cel:1:14: the condition must be of type bool, and is of type string\nnames.all(n, n)\n"
       "             ^\n"},
      {"true && count",
       "cel:1:9: what stands beside && must be of type bool, and is of type int\ntrue && count\n"
       "        ^\n"},
      {"true ? 1 : 'a'",
       "cel:1:6: the values around : have different types, int and string\ntrue ? 1 : 'a'\n"
       "     ^\nhint: write dyn(...) around one of them if that is intended\n"},
      {"{1.5: 2}",
       "cel:1:2: the key of a map is a string, an int, a uint or a bool, and not of type "
       "double\n{1.5: 2}\n"
       " ^\n"},
      {"[?1]",
       "cel:1:3: behind ? stands an optional value, and not one of type int\n[?1]\n  ^\n"
       "hint: write optional.of(...), or leave the ? out\n"},
      {"count.optMap(x, x)",
       "cel:1:7: optMap and optFlatMap are called on an optional value, and not on one of type "
       "int\n"
       "count.optMap(x, x)\n      ^\nhint: write optional.of(...), or .? before the member\n"},
      {"v1.Pod{a: 1}",
       "cel:1:4: there are no messages here, such as v1.Pod\nv1.Pod{a: 1}\n   ^\n"
       "hint: write a map: {\"field\": value}\n"},
      {"names[0].matches('a(')",
       "cel:1:18: this is not a regular expression of RE2: missing ): a(\n"
       "names[0].matches('a(')\n                 ^\n"
       "hint: RE2 has no back-references and no look-around\n"},
      {"siz(names)",
       "cel:1:1: there is no function 'siz'\nsiz(names)\n^\nhint: did you mean size?\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(TypeOfExpression(row.text), row.want) << row.text;
}

TEST(CelChecker, ReportsThatTheTypeOfAVariableIsNone) {
  cel::Environment environment;
  environment.variables = {{"a", "list(int"}};
  const auto program = cel::Compile("a", environment);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().items()[0].message,
            "the type of the variable \"a\" is not one: \"list(int\"");
}

TEST(CelChecker, LeavesFaultsToTheEvaluationWhereItIsAsked) {
  cel::Environment environment = Declared();
  environment.check_types = false;
  const auto program = cel::Compile("nothing || f(1) || count == 'a' || true", environment);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->type(), "dyn");
}

// Each name is found in time that does not grow with the square of the text.
TEST(CelChecker, TakesLongExpressions) {
  std::string text = "count > 0";
  while (text.size() < 90'000) text += " || names.exists(n, n == 'a' + string(count))";
  EXPECT_EQ(TypeOfExpression(text), "bool");
  std::string wrong = "a";
  while (wrong.size() < 90'000) wrong += " || a";
  const auto program = cel::Compile(wrong, Declared());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().items().size(), 50U);
}

}  // namespace
}  // namespace mindgate
