#include <gtest/gtest.h>

#include "admission/config_files.h"
#include "support/temp_folder.h"

namespace mindgate::admission {
namespace {

using mindgate::testing::TempFolder;

TEST(ReadPolicyTexts, FilesAndFolders) {
  const TempFolder folder;
  for (const char* name :
       {"all/b.yml", "all/a.yaml", "all/c.json", "all/notes.txt", "all/deep/d.yaml", "one.yaml"}) {
    folder.Write(name, name);
  }
  const auto texts = ReadPolicyTexts({"one.yaml", "all"}, folder.path());
  ASSERT_TRUE(texts.has_value());
  std::vector<std::string> found;
  for (const auto& text : *texts) {
    EXPECT_EQ(text.name, folder / text.text);
    found.push_back(text.text + (text.found_in_folder ? " in a folder" : ""));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"one.yaml", "all/a.yaml in a folder",
                                             "all/b.yml in a folder", "all/c.json in a folder"}));
}

TEST(ReadPolicyTexts, NamesWhatIsMissing) {
  const TempFolder folder;
  const auto texts = ReadPolicyTexts({"none.yaml"}, folder.path());
  ASSERT_FALSE(texts.has_value());
  EXPECT_EQ(texts.error().message(), (folder / "none.yaml") + ": no such file");
}

TEST(SetPolicies, WithoutTextsNothingChanges) {
  schemas::Config config;
  ASSERT_TRUE(SetPolicies({}, config).has_value());
  EXPECT_EQ(config, schemas::Config());
}

}  // namespace
}  // namespace mindgate::admission
