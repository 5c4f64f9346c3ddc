#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace mindgate::kube {

// A program to run, without a shell. Its standard input is empty.
struct Program {
  std::string command{};  // a path, or a name to be found in PATH
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // all of it: "NAME=value"
  size_t output_limit = 1024 * 1024;       // more is a failure
  size_t error_limit = 1024;               // more is thrown away
  std::chrono::milliseconds deadline{60'000};
};

struct Ended {
  int exit_code = 0;  // when no signal ended it
  int signal = 0;
  std::string output;
  std::string error;  // the beginning of what it wrote to standard error
};

// Runs it to its end. It is killed, with all that it started and that has not left its process
// group, when it takes longer than the deadline or writes too much. What it leaves running is not
// waited for. Failures: kNotFound when there is no such program, kTooLarge, else kInvalidArgument.
// Blocks; safe from many threads.
Result<Ended> RunProgram(const Program& program);

}  // namespace mindgate::kube
