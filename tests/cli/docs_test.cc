// The documents' examples are run: each fenced block of the language "console" holds commands after
// "$ " and what they print. MINDGATE_REWRITE=1 writes what they print now into the documents. The
// commands of one document share a folder that is theirs alone; examples/ is there too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/fake_api_server.h"
#include "support/anchors.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/golden.h"
#include "support/places.h"
#include "support/temp_folder.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::AnchorsOf;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::Shell;
using ::mindgate::testing::TempFolder;

// With the binary under test first in PATH, and with `server` as the cluster. Long lines of output
// stay as they are.
std::string OutputOf(const std::string& command, const TempFolder& folder,
                     const std::string& server) {
  const std::filesystem::path binary = ::mindgate::testing::Program();
  return Shell("cd '" + folder.path() + "' && PATH='" + binary.parent_path().string() +
               "':$PATH && unset NO_COLOR && export MINDGATE_SERVER='" + server + "' && { " +
               command + "\n} 2>&1")
      .out;
}

// Takes out what follows `before`, as far as it is made of `characters`.
void Blank(std::string& text, std::string_view before, std::string_view characters) {
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
    at += before.size();
    const size_t end = std::min(text.find_first_not_of(characters, at), text.size());
    text.erase(at, end - at);
  }
}

// The text without what differs from run to run: times, and what new certificates differ by.
std::string Steady(std::string text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr size_t kTimeSize = std::string_view("2026-12-31T12:00:00Z").size();
  for (size_t at = 0; at + kTimeSize <= text.size(); ++at) {
    if (ParseTime(std::string_view(text).substr(at, kTimeSize)))
      text.replace(at, kTimeSize, "TIME");
  }
  Blank(text, "TIME, ", kDigits);  // "364 days left"
  Blank(text, "mindgate-ca@", kDigits);
  Blank(text, "SHA-256 ", "0123456789ABCDEF:");
  return text;
}

// The document as it would be if every block held what its commands print now. Outputs that differ
// only in what is different each time stay.
std::string Refreshed(const std::string& document, int& commands, const std::string& server = "") {
  const TempFolder folder;
  std::filesystem::create_symlink(std::string(::mindgate::testing::SourceFolder()) + "/examples",
                                  folder / "examples");
  std::istringstream lines(document);
  std::string out;
  std::string shown;                 // what the document has below a command
  std::optional<std::string> given;  // what the command prints
  const auto end_command = [&] {
    if (given) out += Steady(*given) == Steady(shown) ? shown : *given;
    given.reset();
    shown.clear();
  };
  bool in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```console") {
      in_block = true;
      out += line + "\n";
    } else if (in_block && line.starts_with("$ ")) {
      end_command();
      out += line + "\n";
      given = OutputOf(line.substr(2), folder, server);
      ++commands;
    } else if (!in_block || line == "```") {
      end_command();
      in_block = false;
      out += line + "\n";
    } else {
      shown += line + "\n";
    }
  }
  return out;
}

TEST(Refreshed, KeepsOutputsThatDifferOnlyInTimes) {
  int commands = 0;
  const auto document = [](const std::string& output) {
    return "```console\n$ echo until 2026-01-01T00:00:00Z, 7 days left; echo on\n" + output +
           "```\n";
  };
  const std::string same = document("until 2027-12-31T23:59:59Z, 8 days left\non\n");
  EXPECT_EQ(Refreshed(same, commands), same);
  const std::string now = document("until 2026-01-01T00:00:00Z, 7 days left\non\n");
  EXPECT_EQ(Refreshed(document("until 2027-12-31T23:59:59Z, 8 days left\noff\n"), commands), now);
  EXPECT_EQ(Refreshed(document(""), commands), now);
}

// README, CHANGELOG and the pages that stand directly in one of the folders, relative to the
// repository.
std::vector<std::string> Pages(std::initializer_list<const char*> folders) {
  std::vector<std::string> pages = {"README.md", "CHANGELOG.md"};
  for (const std::string folder : folders) {
    for (const auto& entry :
         std::filesystem::directory_iterator(::mindgate::testing::SourcePath(folder))) {
      if (entry.path().extension() == ".md")
        pages.push_back(folder + "/" + entry.path().filename().string());
    }
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::vector<std::string> PagesWithCommands() {
  std::vector<std::string> pages = Pages({"docs"});
  std::erase_if(pages, [](const std::string& page) {
    return ReadSource(page).find("\n```console\n") == std::string::npos;
  });
  return pages;
}

class Documents : public ::testing::TestWithParam<std::string> {};

TEST_P(Documents, PrintWhatTheyShow) {
  kube::testing::FakeApiServer server;  // without controllers
  mindgate::testing::Install(server);
  const bool on_cluster = GetParam() == "docs/deploy.md";
  int commands = 0;
  ExpectGolden(GetParam(),
               Refreshed(ReadSource(GetParam()), commands, on_cluster ? server.url() : ""));
  EXPECT_GT(commands, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Documents, ::testing::ValuesIn(PagesWithCommands()),
                         [](const auto& document) {
                           std::string name;
                           for (const char c : document.param) {
                             if (std::isalpha(static_cast<unsigned char>(c))) name += c;
                           }
                           return name;
                         });

// Links to files of the repository, and to their headings, lead somewhere.
TEST(Links, OfAllDocumentsExist) {
  int links = 0;
  int anchors = 0;
  std::map<std::string, std::set<std::string>> anchors_of;
  for (const std::string& name : Pages({"docs", "docs/design", "docs/runbooks", "docs/formats",
                                        "charts/mindgate", "examples"})) {
    const std::string text = ReadSource(name);
    const auto folder = std::filesystem::path(name).parent_path();
    for (size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
      at += 2;
      const std::string link = text.substr(at, text.find(')', at) - at);
      if (link.empty() || link.starts_with("http")) continue;
      const size_t hash = std::min(link.find('#'), link.size());
      const std::string path = hash == 0 ? name : (folder / link.substr(0, hash)).string();
      EXPECT_TRUE(std::filesystem::exists(::mindgate::testing::SourcePath(path)))
          << name << " links to " << link;
      ++links;
      if (hash == link.size()) continue;
      if (!anchors_of.contains(path)) anchors_of[path] = AnchorsOf(ReadSource(path));
      EXPECT_TRUE(anchors_of[path].contains(link.substr(hash + 1))) << name << " links to " << link;
      ++anchors;
    }
  }
  EXPECT_GT(links, 5);
  EXPECT_GT(anchors, 100);
}

TEST(Index, LeadsToEveryPage) {
  const std::string index = ReadSource("docs/README.md");
  for (const std::string& page : Pages({"docs"})) {
    const std::string name = std::filesystem::path(page).filename();
    if (!page.starts_with("docs/") || name == "README.md") continue;
    EXPECT_NE(index.find("](" + name + ")"), std::string::npos)
        << page << " has no row in docs/README.md";
  }
}

}  // namespace
}  // namespace mindgate::cli
