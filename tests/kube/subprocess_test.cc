#include "kube/subprocess.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "base/threads.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::Eventually;
using ::mindgate::testing::TempFolder;

std::string Show(const Result<Ended>& ended) {
  if (!ended) return ended.error().message();
  return "code " + std::to_string(ended->exit_code) + " signal " + std::to_string(ended->signal) +
         " out <" + ended->output + "> err <" + ended->error + ">";
}

Program Shell(const std::string& script) {
  return {.command = "sh",
          .arguments = {"-c", script},
          .environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"}};
}

TEST(Subprocess, ReturnsWhatItPrintedAndHowItEnded) {
  EXPECT_EQ(Show(RunProgram(Shell("echo $COLOUR; echo oops >&2; exit 3"))),
            "code 3 signal 0 out <blue\n> err <oops\n>");
  EXPECT_EQ(Show(RunProgram(Shell("cat; echo end"))), "code 0 signal 0 out <end\n> err <>")
      << "standard input is empty";
  EXPECT_EQ(Show(RunProgram(Shell("kill -9 $$"))), "code 0 signal 9 out <> err <>");
  EXPECT_EQ(Show(RunProgram({.command = "/usr/bin/env", .environment = {"A=1", "B=2 3"}})),
            "code 0 signal 0 out <A=1\nB=2 3\n> err <>");
  EXPECT_EQ(Show(RunProgram({.command = "printf",
                             .arguments = {"[%s]", "a b", "$HOME;`id`", ""},
                             .environment = {}})),
            "code 0 signal 0 out <[a b][$HOME;`id`][]> err <>")
      << "no shell looks at arguments";
}

TEST(Subprocess, WhatCannotBeStarted) {
  const TempFolder folder;
  folder.Write("text", "hello");
  EXPECT_EQ(Show(RunProgram({.command = "mindgate-no-such-program"})), "no such program");
  EXPECT_EQ(RunProgram({.command = folder / "gone"}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Show(RunProgram({.command = folder / "text"})), "cannot be started: Permission denied");
  ::chmod((folder / "text").c_str(), 0755);
  EXPECT_EQ(Show(RunProgram({.command = folder / "text"})), "cannot be started: Exec format error")
      << "no shell takes it for a script";
}

TEST(Subprocess, TooMuchOutputEndsIt) {
  Program program = Shell("printf 12345");
  program.output_limit = 5;
  EXPECT_EQ(Show(RunProgram(program)), "code 0 signal 0 out <12345> err <>");
  program.output_limit = 4;
  EXPECT_EQ(Show(RunProgram(program)), "wrote more than 4 bytes to standard output and was killed");
  program = {.command = "cat", .arguments = {"/dev/zero"}};
  EXPECT_EQ(Show(RunProgram(program)),
            "wrote more than 1048576 bytes to standard output and was killed");
}

TEST(Subprocess, OnlyTheBeginningOfStandardErrorIsKept) {
  Program program = Shell("head -c 100000 /dev/zero | tr '\\0' x >&2; echo done");
  program.error_limit = 10;
  EXPECT_EQ(Show(RunProgram(program)), "code 0 signal 0 out <done\n> err <xxxxxxxxxx>");
}

TEST(Subprocess, TheDeadlineEndsIt) {
  Program program = {.command = "sleep", .arguments = {"600"}};
  program.deadline = std::chrono::milliseconds(50);
  EXPECT_EQ(Show(RunProgram(program)), "did not end within 50 ms and was killed");
  program = Shell("exec >&- 2>&-; sleep 600");
  program.deadline = std::chrono::milliseconds(50);
  EXPECT_EQ(Show(RunProgram(program)), "did not end within 50 ms and was killed")
      << "also when nothing more can come from it";
}

TEST(Subprocess, AllThatItStartedEndsWithIt) {
  const TempFolder folder;
  const Program program = Shell("sleep 600 & echo $! > " + folder.path() + "/pid; cat /dev/zero");
  EXPECT_EQ(Show(RunProgram(program)),
            "wrote more than 1048576 bytes to standard output and was killed");
  const std::string pid = folder.Read("pid").substr(0, folder.Read("pid").find('\n'));
  ASSERT_NE(pid, "");
  // Dead, or dead and not yet reaped by whoever adopted it.
  EXPECT_TRUE(Eventually([&] {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string number, name, state;
    return !(stat >> number >> name >> state) || state == "Z" || state == "X";
  })) << "process "
      << pid << " lives on";
}

TEST(Subprocess, WhatItLeavesRunningIsNotWaitedFor) {
  const TempFolder folder;
  // The process that stays behind holds both pipes open until the test lets it go.
  ASSERT_EQ(::mkfifo((folder / "gate").c_str(), 0600), 0);
  EXPECT_EQ(Show(RunProgram(Shell("(read x < " + folder.path() + "/gate) & echo started"))),
            "code 0 signal 0 out <started\n> err <>");
  std::ofstream(folder / "gate") << "go\n";
}

TEST(Subprocess, SignalsAreAsAProgramExpects) {
  // A thread of ours blocks all signals, and a server ignores SIGPIPE.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> shown;
  StartThread("spawner", [&shown] {
    for (const char* signal : {"PIPE", "TERM"}) {
      shown.push_back(Show(RunProgram(Shell("kill -" + std::string(signal) + " $$; echo lives"))));
    }
  }).join();
  std::signal(SIGPIPE, before);
  EXPECT_EQ(shown, (std::vector<std::string>{"code 0 signal 13 out <> err <>",
                                             "code 0 signal 15 out <> err <>"}));
}

TEST(Subprocess, OurDescriptorsAreNotPassedOn) {
  const int open = ::dup(STDERR_FILENO);  // not marked to be closed
  EXPECT_EQ(Show(RunProgram({.command = "ls", .arguments = {"/proc/self/fd"}})),
            "code 0 signal 0 out <0\n1\n2\n3\n> err <>")
      << "3 is the folder that ls reads";
  ::close(open);
}

}  // namespace
}  // namespace mindgate::kube
