// What scenarios can say: each file of tests/simulation/scenarios shows some of it, and its play is
// the file beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "simulation/player.h"
#include "support/golden.h"

namespace mindgate::simulation {
namespace {

using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SourcePath;
using ::testing::HasSubstr;
using ::testing::Not;

Scenario OnlyScenario(const std::string& text) {
  const ScenarioReading reading = ReadScenarios(text);
  EXPECT_TRUE(reading.issues.empty()) << json::Render(reading.issues, "scenario.yaml", text);
  EXPECT_EQ(reading.scenarios.size(), 1u);
  return reading.scenarios.empty() ? Scenario() : reading.scenarios.front();
}

TEST(Vocabulary, IsPlayedAsDescribed) {
  const std::string folder = "tests/simulation/scenarios";
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath(folder))) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    const Scenario scenario = OnlyScenario(ReadSource(folder + "/" + name + ".yaml"));
    const Playback playback = Play(scenario);
    EXPECT_EQ(playback.Passed(), name != "not-met");
    ExpectGolden(folder + "/" + name + ".txt", TimelineText(scenario.name, playback));
    ++files;
  }
  EXPECT_GE(files, 15u);
}

constexpr const char* kSmall = R"(name: NAME
nodes: [{prefix: npu-, count: 2, npus: 8}]
rules: [{name: rule, text: {elastic_scaling_list: [{group_list: [
  {group_name: g0, group_num: "2", server_num_per_group: "1"}]}]}}]
services: [{jobID: "JOB", rule: rule, instances: [{name: "P0", group: g0}, {name: p1, group: g0}]}]
timeline:
  - {at: 2m, breakNode: npu-0}
  - {at: 5m, expect: {running: {g0: 2}}}
)";

std::string With(std::string text, const std::string& word, const std::string& by) {
  return text.replace(text.find(word), word.size(), by);
}

TEST(TimelinePage, ShowsWhatHappenedWithoutAnythingFromElsewhere) {
  const Scenario scenario = OnlyScenario(kSmall);
  const std::string page = TimelinePage({{scenario.name, "small.yaml", Play(scenario)}});
  ExpectGolden("tests/simulation/scenarios/page.html", page);
  for (const char* word : {"<script", "href=", "src=", "url(", "http:", "https:", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

TEST(TimelinePage, EscapesAllThatItWasGiven) {
  const std::string hostile = "<script>alert(1)</script>'&\\\"\\e";
  const std::string text =
      With(With(With(kSmall, "JOB", hostile), "P0", hostile), "NAME", '"' + hostile + '"');
  const Scenario scenario = OnlyScenario(text);
  const std::string page = TimelinePage({{scenario.name, "<b>.yaml", Play(scenario)}});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  const std::string escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;&quot;\\x1b";
  EXPECT_THAT(page, HasSubstr("<h2 id=\"scenario-0\">" + escaped + "</h2>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">" + escaped + "</th>"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;.yaml"));
}

// What did not pass comes first, and the beginning leads to each.
TEST(TimelinePage, LeadsToEachScenarioAndToFailuresFirst) {
  const Playback passed;
  Playback failed;
  failed.stopped = true;
  const std::string page = TimelinePage({{"good", "a.yaml", passed}, {"broken", "b.yaml", failed}});
  EXPECT_THAT(page, HasSubstr("<p class=\"bad\">1 of 2 scenarios passed.</p>\n<nav><ul>\n"
                              "<li><a href=\"#scenario-0\">broken</a>: <span class=\"bad\">"
                              "failed</span></li>\n<li><a href=\"#scenario-1\">good</a></li>"));
  EXPECT_LT(page.find("<h2 id=\"scenario-0\">broken"), page.find("<h2 id=\"scenario-1\">good"));
}

// A node that is not whole is drawn, for as long as it is so.
TEST(TimelinePage, DrawsWhatIsWrongWithNodes) {
  Playback playback;
  playback.end = std::chrono::seconds(100);
  playback.outages = {
      {"npu-0", "6 of 8 NPUs work", std::chrono::seconds(20), std::chrono::seconds(45)}};
  EXPECT_THAT(TimelinePage({{"one", "a.yaml", playback}}),
              HasSubstr("<span class=\"broken\" style=\"left:20.000%;width:25.000%;top:0px\" "
                        "title=\"6 of 8 NPUs work, 20s to 45s\">6 of 8 NPUs work</span>"));
}

TEST(TimelinePage, LeavesOutWhatIsTooMuchToLookAt) {
  Playback playback;
  playback.end = std::chrono::seconds(60);
  for (int i = 0; i < 600; ++i) {
    playback.spans.push_back({.service = "s",
                              .instance = "p" + std::to_string(i),
                              .from = std::chrono::seconds(0),
                              .to = std::chrono::seconds(60)});
  }
  EXPECT_THAT(TimelinePage({{"many", "many.yaml", playback}}), HasSubstr("<p>and 100 more</p>"));
}

}  // namespace
}  // namespace mindgate::simulation
