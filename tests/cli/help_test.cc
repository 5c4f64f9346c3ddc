// The help of every command is a file of tests/golden/help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "base/text.h"
#include "support/cli.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::SourcePath;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

std::string HelpOf(Words command) {
  command.emplace_back("--help");
  const auto help = Cli(command);
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  return help.out;
}

// The commands below one, as completion and its help offer them. What is not a command has
// another's help.
std::vector<Words> Below(const Words& command) {
  const std::string own = HelpOf(command);
  Words asked = {"__complete"};
  asked.insert(asked.end(), command.begin(), command.end());
  asked.emplace_back("");
  std::vector<Words> found;
  std::istringstream lines(Cli(asked).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(':')) break;
    Words child = command;
    child.push_back(line.substr(0, line.find('\t')));
    if (own.find("\n  " + child.back() + " ") == std::string::npos) continue;  // a value
    if (command == Words{"help"}) continue;
    if (HelpOf(child).find("\nUsage: mindgate " + Join(child, " ")) != std::string::npos) {
      found.push_back(child);
    }
  }
  return found;
}

std::vector<Words> AllCommands() {
  std::vector<Words> all = {{}};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const Words& child : Below(Words(all[i]))) all.push_back(child);
  }
  return all;
}

TEST(Help, OfEveryCommandIsAFile) {
  const auto commands = AllCommands();
  EXPECT_GT(commands.size(), 18u);
  std::set<std::string> want;
  for (const Words& command : commands) {
    const std::string name = command.empty() ? "mindgate" : Join(command, "-");
    want.insert(name + ".txt");
    ExpectGolden("tests/golden/help/" + name + ".txt", HelpOf(command));
  }
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(SourcePath("tests/golden/help"))) {
    files.insert(file.path().filename().string());
  }
  EXPECT_EQ(files, want) << "files of commands that are gone";
}

// What one call is to do, which a variable would make every call do.
const std::set<std::string> kWithoutVariable = {"--help", "--dev", "--all-namespaces", "--watch",
                                                "--dry-run"};

TEST(Help, HasExamplesAndVariables) {
  for (const Words& command : AllCommands()) {
    if (command.empty()) continue;
    const std::string help = HelpOf(command);
    SCOPED_TRACE(Join(command, " "));
    EXPECT_THAT(help, HasSubstr("Example"));
    EXPECT_THAT(help, HasSubstr("  mindgate " + command.front()));
    // Each flag from its name to the next one, or to the end of its section.
    for (size_t at = help.find("\n  -"); at != std::string::npos;) {
      const size_t next = std::min(help.find("\n  -", at + 1), help.find("\n\n", at + 1));
      const std::string entry = help.substr(at, next - at);
      const size_t name = entry.find("--");
      const std::string flag = entry.substr(name, entry.find_first_of(" \n", name) - name);
      if (!kWithoutVariable.contains(flag)) {
        EXPECT_THAT(entry, HasSubstr("[$MINDGATE_"));
      }
      at = help.find("\n  -", at + 1);
    }
  }
}

}  // namespace
}  // namespace mindgate::cli
