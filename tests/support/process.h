#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/places.h"

namespace mindgate::testing {

// mindgate in a process of its own; what it prints to either stream is read together.
class Running {
 public:
  explicit Running(const std::string& arguments) {
    const std::string command = "exec " + std::string(Program()) + " " + arguments + " 2>&1";
    int pipe[2];
    if (::pipe(pipe) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe[1], 1);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(pipe[1]);
    output_ = ::fdopen(pipe[0], "r");
  }
  // One that still runs is asked to end.
  ~Running() {
    if (pid_ > 0) {
      Signal(SIGTERM);
      const std::string printed = ReadUntil("\n\n");  // to its end: no line has two
      EXPECT_EQ(ExitCode(), 0) << "after SIGTERM: " << printed;
    }
    if (output_ != nullptr) std::fclose(output_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // All it printed up to and with the line that holds `text`, or to its end.
  std::string ReadUntil(const std::string& text) {
    std::string all;
    char line[8192];
    while (std::fgets(line, sizeof line, output_) != nullptr) {
      all += line;
      if (std::string_view(line).find(text) != std::string_view::npos) break;
    }
    return all;
  }
  void Signal(int signal) const { ::kill(pid_, signal); }
  int ExitCode() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
};

}  // namespace mindgate::testing
