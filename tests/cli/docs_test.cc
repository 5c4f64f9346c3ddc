// The documents' examples are run: each fenced block of the language "console" holds commands after
// "$ " and what they print. MINDGATE_REWRITE=1 writes what they print now into the documents.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/cli.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::Shell;

// In the repository, with the binary under test first in PATH. Long lines of output stay as they
// are.
std::string OutputOf(const std::string& command) {
  const std::filesystem::path binary = MINDGATE_BINARY;
  return Shell("cd '" MINDGATE_SOURCE_DIR "' && PATH='" + binary.parent_path().string() +
               "':$PATH && unset NO_COLOR && { " + command + "\n} 2>&1")
      .out;
}

// The document as it would be if every block held what its commands print now.
std::string Refreshed(const std::string& document, int& commands) {
  std::istringstream lines(document);
  std::string out;
  bool in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```console") {
      in_block = true;
      out += line + "\n";
    } else if (in_block && line.starts_with("$ ")) {
      out += line + "\n" + OutputOf(line.substr(2));
      ++commands;
    } else if (!in_block || line == "```") {
      in_block = false;
      out += line + "\n";
    }
  }
  return out;
}

class Documents : public ::testing::TestWithParam<const char*> {};

TEST_P(Documents, PrintWhatTheyShow) {
  int commands = 0;
  ExpectGolden(GetParam(), Refreshed(ReadSource(GetParam()), commands));
  EXPECT_GT(commands, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Documents, ::testing::Values("README.md", "docs/user-guide.md"),
                         [](const auto& document) {
                           return std::string(document.param) == "README.md" ? "Readme"
                                                                             : "UserGuide";
                         });

// Links to files of the repository lead somewhere.
TEST(Links, OfAllDocumentsExist) {
  int links = 0;
  for (const char* name : {"README.md", "docs/user-guide.md", "docs/HACKING.md", "CHANGELOG.md"}) {
    const std::string text = ReadSource(name);
    const auto folder = std::filesystem::path(::mindgate::testing::SourcePath(name)).parent_path();
    for (size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
      at += 2;
      const std::string link = text.substr(at, text.find_first_of(")#", at) - at);
      if (link.empty() || link.starts_with("http")) continue;
      EXPECT_TRUE(std::filesystem::exists(folder / link)) << name << " links to " << link;
      ++links;
    }
  }
  EXPECT_GT(links, 5);
}

}  // namespace
}  // namespace mindgate::cli
