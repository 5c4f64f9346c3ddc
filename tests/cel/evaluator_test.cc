#include "cel/evaluator.h"

#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

using testing::Evaluated;

constexpr std::string_view kPod = R"({
  "metadata": {"name": "a", "labels": {"app": "x", "app.kubernetes.io/name": "y"}},
  "spec": {"replicas": 3, "hostNetwork": false, "nodeName": null,
           "containers": [{"name": "c", "image": "r/i:1", "resources": {"limits": {"cpu": "500m"}}},
                          {"name": "d", "image": "r/j"}]}})";

TEST(CelEvaluator, ReadsObjects) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"object.spec.replicas", "3"},
      {"object.spec.containers[1].name", "\"d\""},
      {"object.metadata.labels['app.kubernetes.io/name']", "\"y\""},
      {"object.metadata.labels.`app.kubernetes.io/name`", "\"y\""},
      {"has(object.spec.replicas) && !has(object.spec.paused)", "true"},
      {"has(object.spec.nodeName)", "true"},
      {"object.spec.nodeName == null", "true"},
      {"'app' in object.metadata.labels", "true"},
      {"object.spec.containers.all(c, c.image.startsWith('r/'))", "true"},
      {"object.spec.containers.filter(c, has(c.resources)).map(c, c.name)", "[\"c\"]"},
      {"object.metadata.?annotations.?a.orValue('none')", "\"none\""},
      {"object.?spec.?replicas.hasValue()", "true"},
      {"object.spec.containers[?7]", "none"},
      {"object[?'spec'].replicas", "some 3"},
      {"quantity(object.spec.containers[0].resources.limits.cpu).isLessThan(quantity('1'))",
       "true"},
      {"object.spec.replicas > 2 ? 'many' : 'few'", "\"many\""},
      {"object.metadata.labels.map(k, k)", "[\"app\", \"app.kubernetes.io/name\"]"},
      {"size(object.spec.containers) == 2 || object.nothing", "true"},
      {"type(object.spec.replicas) == int && type(object) == map", "true"},
      {"[object.metadata.name, 'b'].join('-')", "\"a-b\""},
      {"{'n': object.metadata.name, ?'m': object.?nothing}", "{\"n\": \"a\"}"},
      {"[?object.?nothing, 1]", "[1]"},
      {"object.metadata == {'name': 'a', 'labels': object.metadata.labels}", "true"},
  };
  for (const auto& row : rows) EXPECT_EQ(Evaluated(row.text, kPod), row.want) << row.text;
}

TEST(CelEvaluator, ReportsWhereAndWhyThereIsNoValue) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"object.spec.paused == true",
       "cel:1:13: no such key: 'paused'\nobject.spec.paused == true\n            ^\n"
       "hint: ask with has(), or write .? or [?] and orValue() for what may be missing\n"},
      {"object.metadata.name.first",
       "cel:1:22: no such key: a value of type string has no members, such as 'first'\n"
       "object.metadata.name.first\n                     ^\n"},
      {"object.spec.containers[2]",
       "cel:1:23: the index 2 is beyond a list of 2 items\nobject.spec.containers[2]\n"
       "                      ^\n"},
      {"object.spec.containers['a']",
       "cel:1:23: the index of a list is a whole number, not 'a'\n"
       "object.spec.containers['a']\n                      ^\n"},
      {"object.spec.replicas[0]",
       "cel:1:21: a value of type int has no [index]\nobject.spec.replicas[0]\n"
       "                    ^\n"},
      {"object.spec.replicas +\n  object.metadata.name",
       "cel:1:22: no such overload: int + string\nobject.spec.replicas +\n"
       "                     ^\n"},
      {"object.spec.replicas && true",
       "cel:1:13: no such overload: a condition is true or false, and this is of type int\n"
       "object.spec.replicas && true\n            ^\n"},
      {"object.metadata.name ? 1 : 2",
       "cel:1:22: no such overload: a condition is true or false, and this is of type string\n"
       "object.metadata.name ? 1 : 2\n                     ^\n"},
      {"{object.spec.containers: 1}",
       "cel:1:1: the key of a map is a string, an int, a uint or a bool, and not of type list\n"
       "{object.spec.containers: 1}\n^\n"},
      {"{1: 2, 1u: 3}", "cel:1:1: the key 1u is there twice\n{1: 2, 1u: 3}\n^\n"},
      {"[?object.metadata.name]",
       "cel:1:1: behind ? stands no optional value\n[?object.metadata.name]\n^\n"},
      {"object.metadata.name.optMap(x, x)",
       "cel:1:22: no such overload: optMap and optFlatMap are called on an optional value, not on "
       "one of type string\nobject.metadata.name.optMap(x, x)\n                     ^\n"},
      {"object.metadata.name.matches(object.metadata.name + '(')",
       "cel:1:22: this is not a regular expression of RE2: missing ): a(\n"
       "object.metadata.name.matches(object.metadata.name + '(')\n                     ^\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(Evaluated(row.text, kPod), row.want) << row.text;
}

TEST(CelEvaluator, DoesWithoutWhatFailsWhereItMay) {
  testing::ExpectValues({
      {"has({'a': dyn('b')}.a.x)", "false"},
      {"object.a || true", "true"},
      {"false && object.a", "false"},
      {"object.a && false", "false"},
      {"cel.bind(x, object.a, true || x)", "true"},
      {"cel.bind(x, 1 / 0, 5)", "5"},
  });
  testing::ExpectFailures({
      {"object.a || false", "no such key: 'a'"},
      {"object.a && true", "no such key: 'a'"},
      {"cel.bind(x, 1 / 0, x)", "divide by zero"},
      {"1 / 0 > 0 || object.a", "divide by zero"},
  });
}

TEST(CelEvaluator, BindsNames) {
  testing::ExpectValues({
      {"cel.bind(x, 2, cel.bind(y, x * x, x + y))", "6"},
      {"cel.bind(x, 1, [2, 3].map(x, x))", "[2, 3]"},
      {"[1, 2].map(x, [3, 4].map(y, x * y))", "[[3, 4], [6, 8]]"},
      {"optional.of(2).optMap(x, x + 1)", "some 3"},
      {"optional.of(2).optFlatMap(x, optional.none())", "none"},
      {"optional.none().optMap(x, x + 1)", "none"},
  });
}

}  // namespace
}  // namespace mindgate
