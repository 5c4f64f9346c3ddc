#include <gtest/gtest.h>

#include <string>

#include "cel/ast.h"
#include "cel/tree_text.h"

namespace mindgate {
namespace {

using testing::Parsed;

TEST(CelParser, BuildsTrees) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"1 + 2 * 3 - 4", "(_-_ (_+_ 1 (_*_ 2 3)) 4)"},
      {"a || b && c || d", "(or a (and b c) d)"},
      {"a ? b : c ? d : e", "(if a b (if c d e))"},
      {"!a == -b", "(_==_ (!_ a) (-_ b))"},
      {"-1 - -2", "(_-_ -1 -2)"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"a in b in c", "(@in (@in a b) c)"},
      {"a.b.?c[?0][1]", "(index (index? (select? (select a b) c) 0) 1)"},
      {"a.b(c, d).e()", "(.e (.b a c d))"},
      {"f()", "(f)"},
      {".a.b", "(select .a b)"},
      {"a.`b-c`", "(select a b-c)"},
      {"[1, ?a, 'b',]", "(list 1 ?a \"b\")"},
      {"{'a': 1, ?b: 2}", "(map \"a\" 1 ?b 2)"},
      {"a.b.C{d: 1}", "(struct a.b.C 1)"},
      {"a.if.else", "(select (select a if) else)"},
      {"1.0 < 2u", "(_<_ 1.000000 2u)"},
      {"(((a)))", "a"},
  };
  for (const auto& row : rows) EXPECT_EQ(Parsed(row.text), row.want) << row.text;
}

TEST(CelParser, ReportsWhereTextIsWrong) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"", "cel:1:1: the expression ends too early: a value must stand here\n"},
      {"a = b",
       "cel:1:3: \"=\" cannot stand here: the expression ends before it\na = b\n  ^\n"
       "hint: write == to compare\n"},
      {"a and b",
       "cel:1:3: \"and\" cannot stand here: the expression ends before it\na and b\n  ^\n"
       "hint: write && for a logical and\n"},
      {"(a", "cel:1:3: the expression ends too early: \")\" must stand here\n(a\n  ^\n"},
      {"a.",
       "cel:1:3: the expression ends too early: the name of a member must stand after the "
       "dot\na.\n  ^\n"},
      {"a.in", "cel:1:3: \"in\" cannot stand here: write [\"in\"] for this member\na.in\n  ^\n"},
      {"f(a,, b)", "cel:1:5: \",\" cannot stand here: a value must stand here\nf(a,, b)\n    ^\n"},
      {"{a}", "cel:1:3: \"}\" cannot stand here: \":\" must stand here\n{a}\n  ^\n"},
      {"a ? b", "cel:1:6: the expression ends too early: \":\" must stand here\na ? b\n     ^\n"},
      {"if == 1",
       "cel:1:1: \"if\" cannot stand here: the word is reserved\nif == 1\n^\n"
       "hint: write condition ? value : other\n"},
      {"9223372036854775808",
       "cel:1:1: the number \"9223372036854775808\" is too large\n9223372036854775808\n^\n"
       "hint: the largest int is 9223372036854775807; a uint has a u behind it\n"},
      {"1 + (2){a: 3}",
       "cel:1:8: \"{\" cannot stand here: an operator must stand between two values\n"
       "1 + (2){a: 3}\n       ^\n"},
      {"a\xFF", "cel:1:2: the expression is not UTF-8\na?\n ^\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(Parsed(row.text), row.want) << row.text;
}

std::string Repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(CelParser, EndsWhereAnExpressionIsTooDeepOrTooLong) {
  const std::string_view deep = "the expression is nested more than 200 deep";
  for (const std::string& text :
       {Repeated("(", 300) + "1" + Repeated(")", 300), Repeated("[", 50'000), Repeated("!", 9000),
        Repeated("-", 90'000), "a" + Repeated(".b", 300), "a" + Repeated("[0]", 300),
        "1" + Repeated(" + 1", 300), Repeated("a ? b : ", 5000) + "c", Repeated("f(", 9000),
        Repeated("{1: ", 9000)}) {
    json::Arena arena(1024);
    json::Issues issues;
    EXPECT_EQ(cel::Parse(text, {}, arena, issues), nullptr);
    ASSERT_EQ(issues.items().size(), 1U) << text.substr(0, 20);
    EXPECT_EQ(issues.items()[0].message, deep) << text.substr(0, 20);
  }
  // A long chain is not deep.
  EXPECT_EQ(Parsed("a" + Repeated(" || a", 5000)).substr(0, 10), "(or a a a ");
  EXPECT_EQ(Parsed(Repeated("a", 100'001)).substr(0, 70),
            "cel:1:1: the expression has 100001 bytes; at most 100000 are read\naaaa");
}

}  // namespace
}  // namespace mindgate
