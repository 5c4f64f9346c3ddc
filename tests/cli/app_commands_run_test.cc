#include <gtest/gtest.h>

#include <sstream>

#include "cli/deploy/deploy.h"

namespace mindgate::cli {
namespace {

deploy::Health HealthOf(int64_t ready) {
  deploy::Health health;
  health.components = {{"engine", 2, ready, {}}, {"decoder", 1, 0, {}}};
  return health;
}

// What is written for a step, three looks of which two are the same, and another step.
std::string Shown(bool is_terminal, bool quiet, size_t width = 80) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io{in, out, err};
  io.out_is_terminal = is_terminal;
  io.width = width;
  {
    ProgressPrinter printer(io, quiet);
    const deploy::Progress progress = printer.progress();
    progress.step("Service chat-router created");
    for (const int64_t ready : {0, 0, 1}) progress.waiting(HealthOf(ready));
    progress.step("rolling back");
    progress.waiting({});
  }
  return out.str();
}

TEST(ProgressPrinter, InAPipeALineForEachChange) {
  EXPECT_EQ(Shown(false, false),
            "Service chat-router created\n"
            "waiting: engine 0/2, decoder 0/1\n"
            "waiting: engine 1/2, decoder 0/1\n"
            "rolling back\n"
            "waiting: no pods yet\n");
}

// The line is written over, ends before anything else is written, and fits.
TEST(ProgressPrinter, OnATerminalALineThatChanges) {
  EXPECT_EQ(Shown(true, false),
            "Service chat-router created\n"
            "\r\033[Kwaiting: engine 0/2, decoder 0/1"
            "\r\033[Kwaiting: engine 1/2, decoder 0/1\n"
            "rolling back\n"
            "\r\033[Kwaiting: no pods yet\n");
  EXPECT_EQ(Shown(true, false, 20).find("decoder"), std::string::npos);
}

TEST(ProgressPrinter, QuietIsQuiet) {
  for (const bool is_terminal : {false, true}) EXPECT_EQ(Shown(is_terminal, true), "");
}

}  // namespace
}  // namespace mindgate::cli
