#include <gtest/gtest.h>

#include <string>

#include "cel/ast.h"
#include "cel/tree_text.h"

namespace mindgate {
namespace {

std::string Expanded(std::string_view text, bool blocks = false) {
  cel::ParserOptions options;
  options.blocks = blocks;
  return testing::Parsed(text, options);
}

TEST(CelMacros, BecomeNodes) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"has(a.b)", "(has (select a b))"},
      {"a.all(x, x > 1)", "(all x a (_>_ x 1))"},
      {"a.exists(k, v, k == v)", "(exists k,v a (_==_ k v))"},
      {"a.exists_one(x, x)", "(exists-one x a x)"},
      {"a.existsOne(x, x)", "(exists-one x a x)"},
      {"a.filter(x, x)", "(filter x a x)"},
      {"a.map(x, x)", "(transform x a x)"},
      {"a.map(x, x > 1, x)", "(transform x a (_>_ x 1) x)"},
      {"a.transformList(i, x, x)", "(transform i,x a x)"},
      {"a.transformList(i, x, i > 0, x)", "(transform i,x a (_>_ i 0) x)"},
      {"a.transformMap(k, v, v)", "(transform-map k,v a v)"},
      {"a.transformMapEntry(k, v, {v: k})", "(transform-map-entry k,v a (map v k))"},
      {"a.sortBy(x, x.n)", "(sort-by x a (select x n))"},
      {"cel.bind(x, a, x)", "(bind x a x)"},
      {"a.optMap(x, x)", "(opt-map x a x)"},
      {"a.optFlatMap(x, x)", "(opt-flat-map x a x)"},
      // Not macros: another number of arguments, or another receiver.
      {"a.has(b)", "(.has a b)"},
      {"all(a, b)", "(all a b)"},
      {"a.all(x)", "(.all a x)"},
      {"b.bind(x, a, x)", "(.bind b x a x)"},
      {"cel.block([1], 2)", "(.block cel (list 1) 2)"},
  };
  for (const auto& row : rows) EXPECT_EQ(Expanded(row.text), row.want) << row.text;
  EXPECT_EQ(Expanded("cel.block([1], cel.index(0))", true), "(block 1 @index0)");
  EXPECT_EQ(Expanded("a.all(cel.iterVar(0, 1), cel.iterVar(0, 1))", true), "(all @it0:1 a @it0:1)");
}

TEST(CelMacros, ReportHowTheyAreWritten) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"has(a)",
       "cel:1:5: has() asks for a member, and this is none\nhas(a)\n    ^\n"
       "hint: write has(object.member), or \"key\" in map\n"},
      {"a.all(x.y, true)",
       "cel:1:9: the name of a variable must stand here\na.all(x.y, true)\n        ^\n"
       "hint: write list.all(x, condition), or map.all(key, value, condition)\n"},
      {"a.exists(x, x, true)",
       "cel:1:13: the variables of exists have the same name\na.exists(x, x, true)\n"
       "            ^\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(Expanded(row.text), row.want) << row.text;
  EXPECT_EQ(cel::UsageOfMacro("filter"), "write list.filter(x, condition)");
  EXPECT_EQ(cel::UsageOfMacro("size"), "");
}

}  // namespace
}  // namespace mindgate
