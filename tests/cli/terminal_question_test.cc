#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/console/terminal.h"

namespace mindgate::cli {
namespace {

// Somebody is asked who has typed `types` and nothing else yet.
struct Question {
  int pipe[2] = {-1, -1};
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io;

  explicit Question(const std::string& types)
      : in(types), io(in, out, err, false, false, kDefaultWidth, true, OpenPipe()) {}
  ~Question() {
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  int OpenPipe() {
    EXPECT_EQ(::pipe(pipe), 0);
    return pipe[0];
  }
  bool Ask(const std::stop_token& stop) { return IsConfirmed({"pod/a"}, "Delete?", io, stop); }
};

TEST(IsConfirmed, EndsWhenTheCommandIsStopped) {
  std::stop_source stop;
  Question question("");
  const std::jthread stops([&stop] { stop.request_stop(); });
  EXPECT_FALSE(question.Ask(stop.get_token()));
  // What follows begins a line of its own.
  EXPECT_EQ(question.err.str(), "pod/a\nDelete? [y/N] \n");
}

// Nobody has to have read the answer by then.
TEST(IsConfirmed, AStopCountsMoreThanAnAnswer) {
  std::stop_source stop;
  stop.request_stop();
  Question question("yes\n");
  EXPECT_FALSE(question.Ask(stop.get_token()));
}

TEST(IsConfirmed, AnswersAreReadWhileItMayBeStopped) {
  const std::stop_source stop;
  EXPECT_TRUE(Question("yes\n").Ask(stop.get_token()));
  EXPECT_FALSE(Question("no\n").Ask(stop.get_token()));
  Question ended("");  // as with Ctrl-D
  ::close(ended.pipe[1]);
  ended.pipe[1] = -1;
  EXPECT_FALSE(ended.Ask(stop.get_token()));
}

}  // namespace
}  // namespace mindgate::cli
