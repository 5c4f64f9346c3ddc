#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/result.h"

namespace mindgate::kube {

// A variable of the environment; empty when it is not set. Nothing in this program changes the
// environment while threads run.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// All of it, as programs that we start get it: "NAME=value".
inline std::vector<std::string> WholeEnvironment() {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

// The name of the machine or container; empty when it has none.
inline std::string HostName() {
  std::array<char, 256> name{};  // Linux has at most 64 characters
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return name.data();
}

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
