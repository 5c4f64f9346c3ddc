#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/manifests/report_ci.h"

namespace mindgate::cli {
namespace {

std::string Printed(const std::vector<JunitSuite>& suites) {
  std::ostringstream out;
  PrintJunit(suites, out);
  return out.str();
}

constexpr const char* kXmlStart = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";

TEST(Junit, WholeReport) {
  JunitCase passed;
  passed.name = "good";
  passed.class_name = "c";
  JunitCase failed = passed;
  failed.name = "bad";
  failed.file = "a.yaml";
  failed.line = 3;
  failed.failures = {{"denied", "line 1\nline 2\n"}, {"without text", ""}};
  failed.output = "what else\n";
  JunitCase broken = passed;
  broken.name = "broken";
  broken.errors = {{"unreadable", ""}};
  JunitCase left_out = passed;
  left_out.name = "other";
  left_out.skipped = "not handled";
  EXPECT_EQ(
      Printed({{"s", "a.yaml", {passed, failed, broken, left_out}}, {"empty", "b.yaml", {}}}),
      kXmlStart +
          std::string(
              R"(  <testsuite name="s" file="a.yaml" tests="4" failures="1" errors="1" skipped="1">
    <testcase name="good" classname="c"/>
    <testcase name="bad" classname="c" file="a.yaml" line="3">
      <failure message="denied">line 1
line 2
</failure>
      <failure message="without text"/>
      <system-out>what else
</system-out>
    </testcase>
    <testcase name="broken" classname="c">
      <error message="unreadable"/>
    </testcase>
    <testcase name="other" classname="c">
      <skipped message="not handled"/>
    </testcase>
  </testsuite>
  <testsuite name="empty" file="b.yaml" tests="0" failures="0" errors="0">
  </testsuite>
</testsuites>
)"));
}

TEST(Junit, WhatXmlCannotHoldIsEscaped) {
  const struct {
    const char* name;
    std::string text;
    std::string attribute;
    std::string content;
  } cases[] = {
      {"markup", "<a href=\"x\">&amp;</a>", "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;",
       "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;"},
      {"the end of a section", "]]>", "]]&gt;", "]]&gt;"},
      {"lines and tabs", "a\n\tb", "a&#10;&#9;b", "a\n\tb"},
      {"control characters", std::string("a\r\x1b[31m\0b\x7f", 10), "a\\x0d\\x1b[31m\\x00b\\x7f",
       "a\\x0d\\x1b[31m\\x00b\\x7f"},
      {"C1 controls", "a\xC2\x9B", "a\\xc2\\x9b", "a\\xc2\\x9b"},
      {"bytes that are not UTF-8", "caf\xE9", "caf\\xe9", "caf\\xe9"},
      {"a surrogate", "\xED\xA0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"},
      {"characters that are none", "\xEF\xBF\xBE\xEF\xBF\xBF", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf",
       "\\xef\\xbf\\xbe\\xef\\xbf\\xbf"},
      {"other scripts", "推理 é 🚀", "推理 é 🚀", "推理 é 🚀"},
  };
  for (const auto& c : cases) {
    JunitCase test;
    test.name = c.text;
    test.class_name = "c";
    test.output = c.text;
    EXPECT_EQ(Printed({{"s", "f", {test}}}),
              kXmlStart +
                  std::string("  <testsuite name=\"s\" file=\"f\" tests=\"1\" failures=\"0\" "
                              "errors=\"0\">\n    <testcase name=\"") +
                  c.attribute + "\" classname=\"c\">\n      <system-out>" + c.content +
                  "</system-out>\n    </testcase>\n  </testsuite>\n</testsuites>\n")
        << c.name;
  }
}

}  // namespace
}  // namespace mindgate::cli
