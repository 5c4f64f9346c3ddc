#include "offline/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "json/decode.h"
#include "kube/http_server.h"
#include "support/workspace.h"

namespace mindgate::offline {
namespace {

using ::mindgate::testing::Workspace;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// "name: text" or "name! fault".
std::vector<std::string> Read(const std::vector<std::string>& paths, const std::string& in = "",
                              const InputFilter& filter = {}) {
  std::istringstream input(in);
  std::vector<std::string> out;
  for (const InputText& text : ReadInputs(paths, input, filter)) {
    out.push_back(text.fault.empty() ? text.name + ": " + text.text
                                     : text.name + "! " + text.fault);
  }
  return out;
}

TEST(ReadInputs, FilesStdinFoldersAndGlobs) {
  const Workspace workspace;
  for (const char* name : {"dir/b.yml", "dir/a.yaml", "dir/sub/c.json", "dir/.hidden.yaml",
                           "dir/.git/d.yaml", "dir/readme.md", "one.txt", "dir/sub/deep/e.yaml"}) {
    workspace.Write(name, "x");
  }
  std::filesystem::create_directory("dir/folder.yaml");
  EXPECT_THAT(Read({"one.txt"}), ElementsAre("one.txt: x"));
  EXPECT_THAT(Read({"-"}, "from stdin"), ElementsAre("<stdin>: from stdin"));
  EXPECT_THAT(Read({"dir"}), ElementsAre("dir/a.yaml: x", "dir/b.yml: x", "dir/sub/c.json: x",
                                         "dir/sub/deep/e.yaml: x"));
  EXPECT_THAT(Read({"dir/*.y*ml"}), ElementsAre("dir/a.yaml: x", "dir/b.yml: x"));
  EXPECT_THAT(Read({"d?r/[s]ub"}), ElementsAre("dir/sub/c.json: x", "dir/sub/deep/e.yaml: x"));
  EXPECT_THAT(Read({"dir/b.yml", "dir/a.yaml", "dir/*.yml", "-", "-"}, "y"),
              ElementsAre("dir/b.yml: x", "dir/a.yaml: x", "<stdin>: y"))
      << "each once, in the order in which they are named";
}

TEST(ReadInputs, WhatCannotBeReadIsNamedAndTheRestIsRead) {
  const Workspace workspace;
  workspace.Write("good.yaml", "x");
  workspace.Write("empty/readme.md", "x");
  workspace.Write("file[1].yaml", "brackets");
  EXPECT_THAT(Read({"missing.yaml", "empty", "*.json", "good.yaml", "good.yaml/x"}),
              ElementsAre("missing.yaml! no such file",
                          "empty! the folder contains no .yaml, .yml or .json file",
                          "*.json! the pattern matches no files", "good.yaml: x",
                          "good.yaml/x! cannot be opened: Not a directory"));
  EXPECT_THAT(Read({"file[1].yaml"}), ElementsAre("file[1].yaml: brackets"))
      << "a file of that very name is not a pattern";
}

TEST(ReadInputs, CommasSeparateAsInKubectl) {
  const Workspace workspace;
  for (const char* name : {"a.yaml", "b.yaml", "c,d.yaml"}) workspace.Write(name, "x");
  EXPECT_THAT(Read({"a.yaml,b.yaml"}), ElementsAre("a.yaml: x", "b.yaml: x"));
  EXPECT_THAT(Read({"a.yaml,-"}, "y"), ElementsAre("a.yaml: x", "<stdin>: y"));
  EXPECT_THAT(Read({"c,d.yaml"}), ElementsAre("c,d.yaml: x")) << "a file of that very name";
  EXPECT_THAT(Read({"a.yaml,gone.yaml"}), ElementsAre("a.yaml: x", "gone.yaml! no such file"));
}

TEST(ReadInputs, FoldersCanBeReadInPart) {
  const Workspace workspace;
  for (const char* name :
       {"dir/a.yaml", "dir/b.yaml", "dir/sub/a.yaml", "dir/sub/c.yaml", "dir/sub/deep/d.yaml"}) {
    workspace.Write(name, "x");
  }
  EXPECT_THAT(Read({"dir"}, "", {.recursive = false}),
              ElementsAre("dir/a.yaml: x", "dir/b.yaml: x"));
  const struct {
    std::vector<std::string> exclude;
    std::vector<std::string> left;
  } cases[] = {
      {{"a.yaml"}, {"dir/b.yaml: x", "dir/sub/c.yaml: x", "dir/sub/deep/d.yaml: x"}},
      {{"sub"}, {"dir/a.yaml: x", "dir/b.yaml: x"}},
      {{"sub/a.yaml"},
       {"dir/a.yaml: x", "dir/b.yaml: x", "dir/sub/c.yaml: x", "dir/sub/deep/d.yaml: x"}},
      {{"sub/*"}, {"dir/a.yaml: x", "dir/b.yaml: x"}},
      {{"[ab].yaml", "deep"}, {"dir/sub/c.yaml: x"}},
      {{"dir/a.yaml"},
       {"dir/a.yaml: x", "dir/b.yaml: x", "dir/sub/a.yaml: x", "dir/sub/c.yaml: x",
        "dir/sub/deep/d.yaml: x"}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Read({"dir"}, "", {.exclude = c.exclude}), c.left) << c.exclude.front();
  }
  EXPECT_THAT(Read({"dir/*.yaml"}, "", {.exclude = {"b.yaml"}}), ElementsAre("dir/a.yaml: x"));
  EXPECT_THAT(Read({"dir/a.yaml"}, "", {.exclude = {"a.yaml"}}), ElementsAre("dir/a.yaml: x"))
      << "what is named is meant";
}

TEST(ReadInputs, AddressesAreFetched) {
  kube::testing::HttpServer server({}, [](const kube::testing::HttpRequest& request) {
    return request.path == "/a.yaml" ? kube::testing::HttpResponse{.body = "kind: Pod"}
                                     : kube::testing::HttpResponse{.status = 404};
  });
  const std::string at = "http://127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(Read({at + "/a.yaml"}), ElementsAre(at + "/a.yaml: kind: Pod"));
  EXPECT_THAT(Read({at + "/a.yaml?x=*," + at + "/b.yaml"}),
              ElementsAre(at + "/a.yaml?x=*: kind: Pod",
                          at + "/b.yaml! the server answered with status 404, not 200"));
}

TEST(ReadInputs, LoopsOfSymbolicLinksEnd) {
  const Workspace workspace;
  workspace.Write("dir/a.yaml", "x");
  std::filesystem::create_directory_symlink("..", "dir/loop");
  std::filesystem::create_symlink("a.yaml", "dir/b.yaml");
  EXPECT_THAT(Read({"dir"}), ElementsAre("dir/a.yaml: x", "dir/b.yaml: x"));
}

TEST(ReadInputs, AFileHasAtMost64MiB) {
  const Workspace workspace;
  workspace.Write("largest.yaml", "");
  std::filesystem::resize_file("largest.yaml", json::kLargestFile);
  workspace.Write("larger.yaml", "");
  std::filesystem::resize_file("larger.yaml", json::kLargestFile + 1);
  std::istringstream nothing;
  const auto texts = ReadInputs({"largest.yaml", "larger.yaml", "/dev/zero"}, nothing);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].text.size(), json::kLargestFile);
  EXPECT_EQ(texts[1].fault, "is larger than 67108864 bytes, the most that is read");
  EXPECT_EQ(texts[2].fault, texts[1].fault) << "an endless file ends";
  std::istringstream endless(std::string(json::kLargestFile + 1, ' '));
  EXPECT_EQ(ReadInputs({"-"}, endless).front().fault, texts[1].fault);
}

}  // namespace
}  // namespace mindgate::offline
