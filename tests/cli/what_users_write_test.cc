// What `mindgate apply` answers to the manifests of tests/fixtures/seeds-by-row and
// tests/fixtures/real, with and without injection: a file of tests/golden for each.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/text.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/samples.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;

using ::mindgate::testing::Cases;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSample;
using ::mindgate::testing::Sample;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;

std::string AnswerFileOf(const Sample& sample) {
  return fs::path("tests/golden/" + sample.name).replace_extension(".txt").string();
}

// The command, what it prints and its exit code.
std::string TableOf(std::vector<std::string> command) {
  command.insert(command.end(), {"-o", "table"});
  const CliResult result = Cli(command);
  return "$ mindgate " + Join(command, " ") + "\n" + result.out + result.err + "exit code " +
         std::to_string(result.code) + "\n";
}

// Findings with their fixes, every change, and the findings where nothing is injected.
std::string AnswerTo(const std::string& file) {
  std::vector<std::string> command = {"apply", "-f", file};
  std::string answer = TableOf(command);
  const std::string diff = Cli({"apply", "-f", file, "-o", "diff"}).out;
  if (!diff.empty()) answer += "\n$ mindgate apply -f " + file + " -o diff\n" + diff;
  command.insert(command.end(), {"--namespace-labels", "mindgate.io/inject=disabled"});
  return answer + "\n" + TableOf(command);
}

TEST(WhatUsersWrite, AnswersAsRecorded) {
  const Workspace workspace;
  for (const Sample& sample : Cases()) {
    const std::string file = workspace.Write(sample.path.filename(), ReadSample(sample));
    ExpectGolden(AnswerFileOf(sample), AnswerTo(file));
  }
}

TEST(WhatUsersWrite, EachAnswerHasItsCase) {
  std::set<fs::path> wanted;
  for (const Sample& sample : Cases()) wanted.insert(SourcePath(AnswerFileOf(sample)));
  EXPECT_GE(wanted.size(), 86U);
  std::set<fs::path> found;
  for (const char* folder : {"tests/golden/real", "tests/golden/seeds-by-row"}) {
    for (const auto& entry : fs::directory_iterator(SourcePath(folder))) found.insert(entry.path());
  }
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace mindgate::cli
