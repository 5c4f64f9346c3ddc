#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "admission/config_files.h"
#include "cli/console/commands.h"
#include "support/workspace.h"

namespace mindgate::testing {

// Two faults: the value of fault-scheduling is misspelt, and no scheduler is named.
inline constexpr const char* kMisspeltPod = R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {fault-scheduling: Force}
spec:
  containers:
  - name: main
    resources: {limits: {huawei.com/Ascend910: 1}}
)";

// What a command leaves behind.
struct CliResult {
  int code = -1;
  std::string out;
  std::string err;
};

// Runs mindgate in this process.
inline CliResult Cli(const std::vector<std::string>& arguments, const std::string& in = "") {
  std::istringstream input(in);
  std::ostringstream out;
  std::ostringstream err;
  cli::Streams io{input, out, err};
  CliResult result;
  result.code = cli::Run(arguments, io);
  result.out = out.str();
  result.err = err.str();
  return result;
}

// Runs a command line in a shell; its standard output, and standard error where it is redirected
// there.
inline CliResult Shell(const std::string& line) {
  CliResult result;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return result;
  char chunk[4096];
  for (size_t count; (count = ::fread(chunk, 1, sizeof chunk, pipe)) > 0;) {
    result.out.append(chunk, count);
  }
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// A mindgate.yaml under which only the named mutators and rules do anything, so that a test of the
// command line does not change when the catalogue grows.
inline std::string OnlyConfig(const std::set<std::string_view>& mutators,
                              const std::set<std::string_view>& rules) {
  std::string text = "mutators:\n";
  for (const auto& mutator : admission::KnownNames().mutators) {
    text +=
        "  " + std::string(mutator.name) + (mutators.contains(mutator.name) ? ": on\n" : ": off\n");
  }
  text += "rules:\n  {";
  for (const auto& rule : admission::KnownNames().rules) {
    if (!rules.contains(rule.id)) text += std::string(rule.id) + ": off, ";
  }
  return text + "}\n";
}

}  // namespace mindgate::testing
