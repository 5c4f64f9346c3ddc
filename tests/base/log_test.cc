#include "base/log.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/fake_clock.h"

namespace mindgate::log {
namespace {

struct Lines {
  explicit Lines(Format format, Level level = Level::kInfo)
      : logger(format, level, clock, [this](std::string_view line) { lines.emplace_back(line); }) {}

  testing::FakeClock clock;
  std::vector<std::string> lines;
  Logger logger;
};

TEST(Log, JsonLine) {
  Lines log(Format::kJson);
  log.logger.Info("review",
                  {{"uid", "u-1"}, {"count", int64_t{3}}, {"share", 0.25}, {"dry_run", true}});
  ASSERT_EQ(log.lines.size(), 1);
  EXPECT_EQ(log.lines[0],
            "{\"time\":\"2026-01-01T00:00:00Z\",\"level\":\"info\",\"message\":\"review\",\"uid\":"
            "\"u-1\","
            "\"count\":3,\"share\":0.25,\"dry_run\":true}\n");
}

TEST(Log, TextLine) {
  Lines log(Format::kText);
  log.logger.Warning("two\nlines", {{"name", "a b"}, {"count", int64_t{-1}}});
  ASSERT_EQ(log.lines.size(), 1);
  EXPECT_EQ(log.lines[0], "2026-01-01T00:00:00Z warning two\\u000alines name=\"a b\" count=-1\n");
}

TEST(Log, ValuesCannotForgeLines) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\"}\n{\"level\":\"error", R"("a\"}\u000a{\"level\":\"error")"},
      {"\\", R"("\\")"},
      {std::string("\0\x1b[2J\x7f", 6), R"("\u0000\u001b[2J\u007f")"},
      {"{} %v {:d}", "\"{} %v {:d}\""},
      {"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\""},
      // Not UTF-8: a lone byte, a cut character, an overlong slash, a surrogate, beyond the last.
      {"\xff", R"("\ufffd")"},
      {"\xe4\xb8", R"("\ufffd\ufffd")"},
      {"\xc0\xaf", R"("\ufffd\ufffd")"},
      {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
      {"\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
  };
  for (const auto& [text, want] : cases) {
    Lines log(Format::kJson);
    log.logger.Error("x", {{"value", text}});
    ASSERT_EQ(log.lines.size(), 1);
    EXPECT_EQ(
        log.lines[0],
        "{\"time\":\"2026-01-01T00:00:00Z\",\"level\":\"error\",\"message\":\"x\",\"value\":" +
            want + "}\n");
  }
}

TEST(Log, Levels) {
  Lines log(Format::kJson, Level::kWarning);
  log.logger.Debug("no");
  log.logger.Info("no");
  log.logger.Warning("yes");
  log.logger.Error("yes");
  EXPECT_EQ(log.lines.size(), 2);
  EXPECT_FALSE(log.logger.Wants(Level::kInfo));
  EXPECT_TRUE(log.logger.Wants(Level::kWarning));
}

TEST(Sampler, FirstOnesThenEveryNthInEachSecond) {
  testing::FakeClock clock;
  Sampler sampler(2, 3, clock);
  std::string admitted;
  for (int second = 0; second < 2; ++second) {
    for (int i = 0; i < 9; ++i) admitted += sampler.Admit() ? '1' : '0';
    admitted += ' ';
    clock.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(admitted, "110010010 110010010 ");
}

}  // namespace
}  // namespace mindgate::log
