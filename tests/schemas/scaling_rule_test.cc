#include "schemas/scaling_rule.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using Lines = std::vector<std::string>;

Lines Show(const json::Issues& issues) {
  Lines out;
  for (const json::Issue& issue : issues.items()) {
    EXPECT_FALSE(issue.hint.empty()) << issue.message;
    out.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + " " +
                  issue.field + ": " + issue.message);
  }
  return out;
}

// "[p=2x4 d=1x2] [p=1x4 d=1x2]": group_name=group_num x server_num_per_group, tier by tier.
std::string Show(const std::optional<ScalingRule>& rule) {
  if (!rule) return "none";
  std::string out;
  for (const ScalingTier& tier : rule->tiers) {
    out += out.empty() ? "[" : " [";
    for (const ScalingGroup& group : tier.groups) {
      if (out.back() != '[') out += ' ';
      out += group.group_name + "=" + std::to_string(group.group_num) + "x" +
             std::to_string(group.server_num_per_group);
    }
    out += "]";
  }
  return out;
}

struct RuleCase {
  std::string name;
  std::string text;
  std::string rule;
  Lines refused = {};
  Lines unworkable = {};
  Lines doubtful = {};
};

void ExpectReadings(const std::vector<RuleCase>& cases) {
  for (const RuleCase& c : cases) {
    SCOPED_TRACE(c.name);
    const ScalingRuleReading reading = ReadScalingRule(c.text);
    EXPECT_EQ(Show(reading.rule), c.rule);
    EXPECT_EQ(Show(reading.refused), c.refused);
    EXPECT_EQ(Show(reading.unworkable), c.unworkable);
    EXPECT_EQ(Show(reading.doubtful), c.doubtful);
  }
}

// A group as short text: {"group_name":"p","group_num":"2","server_num_per_group":"2"}.
std::string Group(const std::string& name, const std::string& num,
                  const std::string& servers = "2") {
  return R"({"group_name":")" + name + R"(","group_num":")" + num +
         R"(","server_num_per_group":")" + servers + R"("})";
}

// A rule with its tiers, and their groups, on lines of their own from the second line on.
std::string Rule(const std::vector<std::vector<std::string>>& tiers) {
  std::string out = "{\"version\":\"1.0\",\"elastic_scaling_list\":[";
  for (size_t i = 0; i < tiers.size(); ++i) {
    out += i == 0 ? "\n{\"group_list\":[" : ",\n{\"group_list\":[";
    for (size_t j = 0; j < tiers[i].size(); ++j) out += (j == 0 ? "\n" : ",\n") + tiers[i][j];
    out += "]}";
  }
  return out + "]}";
}

TEST(ScalingRule, WhatTheOperatorTakes) {
  ExpectReadings({
      {"the documents' example without its comments",
       Rule({{Group("group0", "2"), Group("group1", "1")},
             {Group("group0", "1"), Group("group1", "1")}}),
       "[group0=2x2 group1=1x2] [group0=1x2 group1=1x2]"},
      {"fields of MindIE's deploy script that the operator ignores",
       R"({"version":"1.0","status":"completed","elastic_scaling_list":[{"server_count":"6","group_list":[)" +
           Group("group0", "2") + "," + Group("group1", "1") + "]}]}",
       "[group0=2x2 group1=1x2]"},
      {"equal neighbouring tiers",
       Rule({{Group("p", "1"), Group("d", "1")}, {Group("p", "1"), Group("d", "1")}}),
       "[p=1x2 d=1x2] [p=1x2 d=1x2]"},
      {"numbers as strconv.Atoi takes them",
       Rule({{Group("p", "+2", "007"), Group("d", "1", "7")}}), "[p=2x7 d=1x7]"},
      {"the largest number", Rule({{Group("p", "9223372036854775807"), Group("d", "1")}}),
       "[p=9223372036854775807x2 d=1x2]"},
      {"version missing",
       R"({"elastic_scaling_list":[{"group_list":[)" + Group("p", "1") + "," + Group("d", "1") +
           "]}]}",
       "[p=1x2 d=1x2]"},
  });
}

TEST(ScalingRule, Trap1NumbersThatAreNoStrings) {
  ExpectReadings({
      {"numbers without quotes, all at once with their places",
       "{\"version\": 1.0,\n"
       " \"elastic_scaling_list\": [{\"group_list\": [\n"
       "  {\"group_name\": \"p\", \"group_num\": 2, \"server_num_per_group\": 4},\n"
       "  {\"group_name\": 7, \"group_num\": \"1\", \"server_num_per_group\": true}]}]}",
       "none",
       {"1:13 version: version is a number instead of a string in quotes, so the operator refuses "
        "the "
        "whole rule",
        "3:36 elastic_scaling_list[0].group_list[0].group_num: group_num is a number instead of a "
        "string in quotes, so the operator refuses the whole rule",
        "3:63 elastic_scaling_list[0].group_list[0].server_num_per_group: server_num_per_group is "
        "a "
        "number instead of a string in quotes, so the operator refuses the whole rule",
        "4:18 elastic_scaling_list[0].group_list[1].group_name: group_name is a number instead of "
        "a "
        "string in quotes, so the operator refuses the whole rule",
        "4:63 elastic_scaling_list[0].group_list[1].server_num_per_group: server_num_per_group is "
        "a "
        "boolean instead of a string in quotes, so the operator refuses the whole rule"}},
      {"strings that strconv.Atoi refuses",
       Rule({{Group("a", ""), Group("b", " 2"), Group("c", "2.0"), Group("d", "1_000"),
              Group("e", "0x2"), Group("f", "9223372036854775808")}}),
       "none",
       {"3:31 elastic_scaling_list[0].group_list[0].group_num: group_num is missing or empty, so "
        "the "
        "operator refuses the whole rule",
        "4:31 elastic_scaling_list[0].group_list[1].group_num: group_num \" 2\" is not a whole "
        "number in decimal digits, so the operator refuses the whole rule",
        "5:31 elastic_scaling_list[0].group_list[2].group_num: group_num \"2.0\" is not a whole "
        "number in decimal digits, so the operator refuses the whole rule",
        "6:31 elastic_scaling_list[0].group_list[3].group_num: group_num \"1_000\" is not a whole "
        "number in decimal digits, so the operator refuses the whole rule",
        "7:31 elastic_scaling_list[0].group_list[4].group_num: group_num \"0x2\" is not a whole "
        "number in decimal digits, so the operator refuses the whole rule",
        "8:31 elastic_scaling_list[0].group_list[5].group_num: group_num \"9223372036854775808\" "
        "is not a whole number in decimal digits, so the operator refuses the whole rule"}},
      {"a missing number is found at its group; null is missing",
       "{\"elastic_scaling_list\": [{\"group_list\": [\n"
       "  {\"group_name\": \"p\", \"server_num_per_group\": \"2\"},\n"
       "  {\"group_name\": \"d\", \"group_num\": \"1\", \"server_num_per_group\": null}]}]}",
       "none",
       {"2:3 elastic_scaling_list[0].group_list[0].group_num: group_num is missing or empty, so "
        "the "
        "operator refuses the whole rule",
        "3:65 elastic_scaling_list[0].group_list[1].server_num_per_group: server_num_per_group is "
        "missing or empty, so the operator refuses the whole rule"}},
  });
}

TEST(ScalingRule, Trap1Comments) {
  ExpectReadings({
      {"comments, and the fault that they would hide",
       "{\n"
       "  \"version\": \"1.0\",  # fixed\n"
       "  \"elastic_scaling_list\": [ // tiers\n"
       "    {\"group_list\": [ /* two\n"
       "       lines */ {\"group_name\": \"p#1//x\", \"group_num\": 2, \"server_num_per_group\": "
       "\"2\"},\n"
       "      " +
           Group("d", "1") + "]}]}",
       "none",
       {"2:22 : JSON does not allow comments, but there are some on lines 2, 3, 4, so the operator "
        "refuses "
        "the whole rule",
        "5:55 elastic_scaling_list[0].group_list[0].group_num: group_num is a number instead of a "
        "string in quotes, so the operator refuses the whole rule"},
       {"5:32 elastic_scaling_list[0].group_list[0].group_name: group_name \"p#1//x\" is not a "
        "valid label value, so no job can belong to it"}},
      {"a comment that swallowed a brace, as one documented sample has",
       "{\"elastic_scaling_list\": [\n{\"group_list\": [ # a ratio {\n\"group_name\": \"p\"}]}]}",
       "none",
       {"2:18 : JSON does not allow comments, but there are some on line 2, so the operator "
        "refuses the "
        "whole rule",
        "3:13 : not valid JSON: expected ',' or ']' after an item, found \":\", so the operator "
        "refuses the whole rule"}},
      {"hashes and slashes inside strings are no comments",
       R"({"note": "a # b // c \" # d", "elastic_scaling_list": [{"group_list": [)" +
           Group("p", "1") + "," + Group("d", "1") + "]}]}",
       "[p=1x2 d=1x2]"},
  });
}

TEST(ScalingRule, NoJson) {
  const std::string end = ", so the operator refuses the whole rule";
  ExpectReadings({
      {"empty",
       "",
       "none",
       {"1:1 : not valid JSON: expected a JSON value, but the text is empty" + end}},
      {"trailing comma",
       "{\"elastic_scaling_list\": [],\n}",
       "none",
       {"2:1 : not valid JSON: expected a member after ','" + end}},
      {"text after the value",
       "{}\n{}",
       "none",
       {"2:1 : not valid JSON: text after the end of the value, found \"{\"" + end}},
      {"a key twice in what is not JSON",
       "{\"version\":\"1.0\",\n\"version\":\"1.0\",}",
       "none",
       {"2:17 : not valid JSON: expected a member after ','" + end}},
      {"a byte order mark",
       "\xEF\xBB\xBF" + Rule({{Group("p", "1"), Group("d", "1")}}),
       "none",
       {"1:1 : the text begins with a byte order mark" + end}},
      {"an open string",
       "{\"version\": \"1.0,\n}",
       "none",
       {"1:13 : not valid JSON: a string has no closing quote on its line" + end}},
  });
}

TEST(ScalingRule, OfAKeyThatIsWrittenTwiceTheLastCounts) {
  const std::string twice =
      "{\"elastic_scaling_list\": [{\"group_list\": [\n{\"group_name\": \"p\", \"group_num\": "
      "\"9\", "
      "\"server_num_per_group\": \"1\",\n\"group_num\": \"2\"}, " +
      Group("d", "1") + "]}]}";
  const ScalingRuleReading reading = ReadScalingRule(twice);
  ASSERT_TRUE(reading.rule);
  EXPECT_EQ(reading.rule->tiers.at(0).Find("p")->group_num, 2);
  EXPECT_EQ(Show(reading.refused), Lines());
  EXPECT_EQ(Show(reading.unworkable), Lines());
  EXPECT_EQ(
      Show(reading.doubtful).at(0),
      "3:1 : key \"group_num\" is written twice in one object, and the operator takes the last "
      "one");
}

TEST(ScalingRule, WrongTypes) {
  const std::string end = ", so the operator refuses the whole rule";
  ExpectReadings({
      {"the root", "[]", "none", {"1:1 : the rule is a list instead of an object" + end}},
      {"the list",
       R"({"elastic_scaling_list": {}})",
       "none",
       {"1:2 elastic_scaling_list: elastic_scaling_list is an object instead of a list" + end}},
      {"tiers, groups and lists of groups",
       "{\"elastic_scaling_list\": [\n\"x\",\n{\"group_list\": 3},\n{\"group_list\": [\"y\"]}]}",
       "none",
       {"2:1 elastic_scaling_list[0]: the tier is a string instead of an object" + end,
        "3:16 elastic_scaling_list[1].group_list: group_list is a number instead of a list" + end,
        "4:17 elastic_scaling_list[2].group_list[0]: the group is a string instead of an object" +
            end},
       {"1:2 elastic_scaling_list: no tier wants any job, so no job under this rule gets pods"}},
  });
}

TEST(ScalingRule, RulesThatLetNoJobStart) {
  const std::string missing =
      "elastic_scaling_list is missing or empty, so no job under this rule gets pods";
  ExpectReadings({
      {"null", "null", "", {}, {"1:1 elastic_scaling_list: " + missing}},
      {"no list", "{}", "", {}, {"1:1 elastic_scaling_list: " + missing}},
      {"null list",
       R"({"elastic_scaling_list": null})",
       "",
       {},
       {"1:26 elastic_scaling_list: " + missing}},
      {"no list under a key of another case",
       R"({"Elastic_scaling_list": null})",
       "",
       {},
       {"1:1 elastic_scaling_list: " + missing},
       {"1:26 Elastic_scaling_list: the key is \"Elastic_scaling_list\" instead of "
        "\"elastic_scaling_list\", which the operator reads but MindIE's controller does not"}},
      {"a nameless group twice",
       Rule({{Group("", "1"), Group("", "2")}}),
       "[=2x2]",
       {},
       {"3:15 elastic_scaling_list[0].group_list[0].group_name: group_name is missing or empty, so "
        "no job can belong to the group",
        "4:1 elastic_scaling_list[0].group_list[1]: group \"\" is written twice in one group_list, "
        "and the last one silently wins",
        "4:15 elastic_scaling_list[0].group_list[1].group_name: group_name is missing or empty, so "
        "no job can belong to the group"}},
      {"empty list",
       R"({"elastic_scaling_list": []})",
       "",
       {},
       {"1:2 elastic_scaling_list: " + missing}},
      {"zeros only",
       Rule({{Group("p", "0"), Group("d", "0")}}),
       "[p=0x2 d=0x2]",
       {},
       {"1:18 elastic_scaling_list: no tier wants any job, so no job under this rule gets pods"}},
      {"a null tier has no groups",
       R"({"elastic_scaling_list": [null]})",
       "[]",
       {},
       {"1:2 elastic_scaling_list: no tier wants any job, so no job under this rule gets pods"}},
      {"names that no job can carry",
       Rule({{Group("", "1"), Group("a b", "1"), Group(std::string(64, 'x'), "1")}}),
       "[=1x2 a b=1x2 " + std::string(64, 'x') + "=1x2]",
       {},
       {"3:15 elastic_scaling_list[0].group_list[0].group_name: group_name is missing or empty, so "
        "no "
        "job can belong to the group",
        "4:15 elastic_scaling_list[0].group_list[1].group_name: group_name \"a b\" is not a valid "
        "label value, so no job can belong to it",
        "5:15 elastic_scaling_list[0].group_list[2].group_name: group_name \"" +
            std::string(64, 'x') + "\" is not a valid label value, so no job can belong to it"}},
      {"less than nothing",
       Rule({{Group("p", "1"), Group("d", "-1", "-2")}}),
       "[p=1x2 d=-1x-2]",
       {},
       {"4:31 elastic_scaling_list[0].group_list[1].group_num: group_num is -1, less than 0",
        "4:59 elastic_scaling_list[0].group_list[1].server_num_per_group: server_num_per_group is "
        "-2, "
        "less than 0"}},
  });
}

TEST(ScalingRule, Tiers) {
  const std::string end = ", so the operator refuses the whole rule";
  ExpectReadings({
      {"a group that a later tier adds",
       Rule({{Group("p", "2"), Group("d", "1")},
             {Group("p", "1"), Group("d", "1"), Group("x", "1")}}),
       "none",
       {"8:1 elastic_scaling_list[1].group_list[2]: group \"x\" is not in the tier before this "
        "one" +
        end}},
      {"a number that grows",
       Rule({{Group("p", "1"), Group("d", "1")}, {Group("p", "2"), Group("d", "1")}}),
       "none",
       {"6:31 elastic_scaling_list[1].group_list[0].group_num: group_num of \"p\" grows from 1 to "
        "2" +
        end}},
      {"server_num_per_group may not grow",
       Rule({{Group("p", "2", "2"), Group("d", "1")}, {Group("p", "1", "4"), Group("d", "1")}}),
       "none",
       {"6:58 elastic_scaling_list[1].group_list[0].server_num_per_group: server_num_per_group of "
        "\"p\" "
        "grows from 2 to 4" +
        end}},
      {"it may shrink in code, against the documents",
       Rule({{Group("p", "2", "4"), Group("d", "1")}, {Group("p", "1", "2"), Group("d", "1")}}),
       "[p=2x4 d=1x2] [p=1x2 d=1x2]",
       {},
       {},
       {"6:58 elastic_scaling_list[1].group_list[0].server_num_per_group: server_num_per_group of "
        "\"p\" is 2 after 4; the documents require the same number in all tiers, the operator only "
        "forbids growth"}},
      {"a group that a smaller shape leaves out",
       Rule({{Group("p", "2"), Group("d", "1"), Group("x", "1")},
             {Group("p", "1"), Group("d", "1")}}),
       "[p=2x2 d=1x2 x=1x2] [p=1x2 d=1x2]",
       {},
       {"6:2 elastic_scaling_list[1].group_list: group \"x\" is missing from this tier; once the "
        "service has shrunk to it, a job of the group crashes the operator"}},
      {"and that comes back",
       Rule({{Group("p", "2"), Group("d", "1")},
             {Group("p", "1")},
             {Group("p", "1"), Group("d", "1")}}),
       "none",
       {"9:1 elastic_scaling_list[2].group_list[1]: group \"d\" is not in the tier before this "
        "one" +
        end},
       {"5:2 elastic_scaling_list[1].group_list: group \"d\" is missing from this tier; once the "
        "service has shrunk to it, a job of the group crashes the operator"}},
      {"an empty tier is never aimed at, so nothing can crash there",
       Rule({{Group("p", "2"), Group("d", "1")}, {}}),
       "[p=2x2 d=1x2] []",
       {},
       {},
       {"5:2 elastic_scaling_list[1].group_list: the tier has no groups, so the operator never "
        "targets it"}},
      {"a group written twice: the last wins",
       Rule({{Group("p", "2"), Group("d", "1"), Group("p", "1")},
             {Group("p", "1"), Group("d", "1")}}),
       "[d=1x2 p=1x2] [p=1x2 d=1x2]",
       {},
       {"5:1 elastic_scaling_list[0].group_list[2]: group \"p\" is written twice in one "
        "group_list, and the last one silently wins"}},
  });
}

TEST(ScalingRule, AgainstDocumentsAndMindieController) {
  ExpectReadings({
      {"keys in another case",
       "{\"Version\":\"1.0\",\n\"Elastic_Scaling_List\":[{\"group_list\":[\n"
       "{\"GROUP_NAME\":\"p\",\"group_num\":\"1\",\"server_num_per_group\":\"2\"}," +
           Group("d", "1") + "]}]}",
       "[p=1x2 d=1x2]",
       {},
       {},
       {"1:12 Version: the key is \"Version\" instead of \"version\", which the operator reads but "
        "MindIE's controller does not",
        "2:1 Elastic_Scaling_List: the key is \"Elastic_Scaling_List\" instead of "
        "\"elastic_scaling_list\", which the operator reads but MindIE's controller does not",
        "3:15 Elastic_Scaling_List[0].group_list[0].GROUP_NAME: the key is \"GROUP_NAME\" instead "
        "of "
        "\"group_name\", which the operator reads but MindIE's controller does not"}},
      {"another version",
       R"({"version":"2.0","elastic_scaling_list":[{"group_list":[)" + Group("p", "1") + "," +
           Group("d", "1") + "]}]}",
       "[p=1x2 d=1x2]",
       {},
       {},
       {"1:12 version: version is \"2.0\", but only \"1.0\" is documented; the operator does not "
        "check it"}},
      {"the minimal shape without a group",
       Rule({{Group("p", "2"), Group("d", "1")}, {Group("p", "1"), Group("d", "0")}}),
       "[p=2x2 d=1x2] [p=1x2 d=0x2]",
       {},
       {},
       {"7:31 elastic_scaling_list[1].group_list[1].group_num: the minimal shape wants no job of "
        "group "
        "\"d\", so one starts only when the rest of this tier runs"}},
      {"a group of no jobs at all",
       Rule({{Group("p", "2"), Group("d", "0")}, {Group("p", "1"), Group("d", "0")}}),
       "[p=2x2 d=0x2] [p=1x2 d=0x2]",
       {},
       {},
       {"4:31 elastic_scaling_list[0].group_list[1].group_num: no tier wants a job of group "
        "\"d\", so "
        "none of its jobs gets pods"}},
      {"jobs of no pods",
       Rule({{Group("p", "1", "0"), Group("d", "1")}}),
       "[p=1x0 d=1x2]",
       {},
       {},
       {"3:58 elastic_scaling_list[0].group_list[0].server_num_per_group: server_num_per_group is "
        "0, "
        "but a job has pods"}},
      {"one group only",
       Rule({{Group("p", "1")}}),
       "[p=1x2]",
       {},
       {},
       {"2:2 elastic_scaling_list[0].group_list: the first tier has one group, but MindIE's "
        "controller "
        "reads two: prefill first, then decode"}},
      {"decode before prefill",
       Rule({{Group("my-decode", "1"), Group("Prefill", "1")}}),
       "[my-decode=1x2 Prefill=1x2]",
       {},
       {},
       {"3:1 elastic_scaling_list[0].group_list[0]: group \"my-decode\" is listed before "
        "\"Prefill\", but "
        "MindIE's controller takes the first group for prefill and the second for decode"}},
      {"the deploy script's names the other way round",
       Rule({{Group("group1", "1"), Group("group0", "1")}}),
       "[group1=1x2 group0=1x2]",
       {},
       {},
       {"3:1 elastic_scaling_list[0].group_list[0]: group \"group1\" is listed before \"group0\", "
        "but "
        "MindIE's controller takes the first group for prefill and the second for decode"}},
      {"names that say nothing", Rule({{Group("b", "1"), Group("a", "1")}}), "[b=1x2 a=1x2]"},
  });
}

TEST(ScalingRule, GroupsOfARule) {
  const auto rule = ReadScalingRule(Rule({{Group("p", "3"), Group("d", "1"), Group("x", "1")},
                                          {Group("p", "2"), Group("d", "1")},
                                          {}}))
                        .rule;
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->HasGroup("x"));
  EXPECT_FALSE(rule->HasGroup("X"));
  EXPECT_EQ(rule->TierWithout("p"), std::nullopt);
  EXPECT_EQ(rule->TierWithout("x"), 1u);
  EXPECT_EQ(rule->TierWithout("y"), 0u);
  EXPECT_EQ(rule->tiers[1].Find("p")->group_num, 2);
  EXPECT_EQ(rule->tiers[1].Find("x"), nullptr);
  EXPECT_TRUE(rule->tiers[1].CanBeAimedAt());
  EXPECT_FALSE(rule->tiers[2].CanBeAimedAt());
  EXPECT_FALSE(ScalingRule().HasGroup("p"));
  EXPECT_EQ(ScalingRule().TierWithout("p"), std::nullopt);
}

TEST(ScalingRule, ManyFaultsAreCounted) {
  std::vector<std::string> groups;
  for (int i = 0; i < 60; ++i) groups.push_back(Group("g" + std::to_string(i), "x"));
  const auto reading = ReadScalingRule(Rule({groups}));
  EXPECT_EQ(reading.refused.items().size(), json::Issues::kMax);
  EXPECT_EQ(reading.refused.dropped(), 60 - json::Issues::kMax);
}

// Whatever the bytes: an answer, and either a rule or a reason.
TEST(ScalingRule, EveryPrefixAndEveryByteReplaced) {
  const std::string text =
      "{\"version\":\"1.0\", # x\n\"elastic_scaling_list\":[{\"group_list\":[" + Group("p", "1") +
      "]}]}";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto prefix = ReadScalingRule(text.substr(0, i));
    EXPECT_EQ(prefix.rule.has_value(), prefix.refused.empty()) << i;
    for (char c : {'\0', '"', '\\', '{', ']', '#', '/', '\n', '\xff', '9'}) {
      std::string changed = text;
      changed[i] = c;
      const auto reading = ReadScalingRule(changed);
      EXPECT_EQ(reading.rule.has_value(), reading.refused.empty()) << i << " " << c;
    }
  }
}

TEST(ScalingRuleText, OnlyTextUnderTheKey) {
  EXPECT_EQ(ScalingRuleText(testing::YamlDocument("data: {elastic_scaling.json: '{}'}").root()),
            "{}");
  EXPECT_EQ(ScalingRuleText(testing::YamlDocument("data: {elastic_scaling.json: {}}").root()),
            std::nullopt);
  EXPECT_EQ(ScalingRuleText(testing::YamlDocument("data: {Elastic_scaling.json: '{}'}").root()),
            std::nullopt);
  EXPECT_EQ(ScalingRuleText(testing::YamlDocument("data: []").root()), std::nullopt);
  EXPECT_EQ(ScalingRuleText(json::Value()), std::nullopt);
}

TEST(ScalingRuleSize, TiersAndGroups) {
  struct Case {
    size_t tiers, groups;
    std::string want;
  };
  for (const Case& c : std::vector<Case>{
           {64, 64, ""},
           {65, 1, "elastic_scaling_list has 65 items, more than the 64 that mindgate reads"},
           {1, 65, "group_list has 65 items, more than the 64 that mindgate reads"},
           {1, 10'000, "group_list has 10000 items, more than the 64 that mindgate reads"},
           {1, 30'000,
            "the rule is larger than mindgate reads: the document has more than 20000 values"},
           {1, 100'000,
            "the rule is larger than mindgate reads: it has 300043 bytes, and 64 tiers of 64 "
            "groups need fewer than 262144"},
       }) {
    SCOPED_TRACE(std::to_string(c.tiers) + " x " + std::to_string(c.groups));
    const json::Json groups(std::vector<json::Json>(c.groups, json::Json::object()));
    const json::Json tiers(std::vector<json::Json>(c.tiers, {{"group_list", groups}}));
    const json::Json rule = {{"elastic_scaling_list", tiers}};
    const auto reading = ReadScalingRule(rule.dump());
    std::string got;
    for (const auto& issue : reading.refused.items()) {
      if (issue.message.find("mindgate reads") != std::string::npos) got = issue.message;
    }
    EXPECT_EQ(got, c.want);
  }
}

}  // namespace
}  // namespace mindgate::schemas
