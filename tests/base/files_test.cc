#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "support/temp_folder.h"

namespace mindgate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempFolder;

std::string Message(const TempFolder& folder, const std::string& name, size_t limit = 10) {
  const auto text = ReadRegularFile(AT_FDCWD, folder / name, limit);
  return text ? "read: " + *text : text.error().message();
}

std::vector<std::string> NamesIn(const TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(ReadRegularFile, ReadsUpToItsLimit) {
  const TempFolder folder;
  folder.Write("empty", "");
  folder.Write("ten", "0123456789");
  folder.Write("eleven", "0123456789a");
  EXPECT_EQ(Message(folder, "empty"), "read: ");
  EXPECT_EQ(Message(folder, "ten"), "read: 0123456789");
  EXPECT_EQ(Message(folder, "eleven"), "is larger than 10 bytes, the most that is read");
}

TEST(ReadRegularFile, NamesWhatIsNoFile) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "folder");
  EXPECT_EQ(Message(folder, "folder"), "is a folder, not a file");
  EXPECT_EQ(Message(folder, "missing"), "no such file");
}

TEST(ReadFile, ReadsWhateverCanBeRead) {
  const TempFolder folder;
  folder.Write("eleven", "0123456789a");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const auto message = [&](const std::string& name) {
    const auto text = ReadFile(folder / name, 11);
    return text ? "read: " + *text : text.error().message();
  };
  EXPECT_EQ(message("eleven"), "read: 0123456789a");
  EXPECT_EQ(message("missing"), "no such file");
  EXPECT_EQ(message("."), "cannot be read: Is a directory");
  EXPECT_EQ(message("eleven/a"), "cannot be opened: Not a directory");
  const std::jthread writer([&] { std::ofstream(folder / "fifo") << "through a pipe"; });
  EXPECT_EQ(message("fifo"), "is larger than 11 bytes, the most that is read");
}

TEST(ReadRegularFile, DoesNotWaitForTheWriterOfAFifo) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(Message(folder, "fifo"), "is not a regular file");
}

TEST(FilesIn, NamesFilesAndLinksInOrder) {
  const TempFolder folder;
  for (const char* name : {"b.yaml", "a.yaml", ".hidden", "deep/c.yaml"}) folder.Write(name, "x");
  std::filesystem::create_symlink("a.yaml", folder / "link.yaml");
  const auto names = FilesIn(folder.path(), 3);
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, (std::vector<std::string>{"a.yaml", "b.yaml", "link.yaml"}));
  const auto too_many = FilesIn(folder.path(), 2);
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error().message(), folder.path() + ": holds more than 2 files");
}

TEST(FilesIn, OfWhatIsNotAFolderIsNothing) {
  const TempFolder folder;
  folder.Write("a.yaml", "x");
  for (const char* name : {"a.yaml", "missing"}) {
    const auto names = FilesIn(folder / name, 3);
    ASSERT_TRUE(names.has_value()) << name;
    EXPECT_EQ(*names, std::nullopt) << name;
  }
}

TEST(WriteFiles, ReplacesWithTheModeAskedForAndLeavesNothingElse) {
  const TempFolder folder;
  folder.Write("a", "a longer text that was there");
  ASSERT_TRUE(WriteFiles(folder.path(), {{"a", "new", 0600}, {"b", "other", 0644}}));
  EXPECT_EQ(folder.Read("a"), "new");
  EXPECT_EQ(folder.Read("b"), "other");
  struct stat status{};
  ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_THAT(NamesIn(folder), ::testing::UnorderedElementsAre("a", "b"));
}

TEST(WriteFiles, WritesNothingWhenOneCannotBeWritten) {
  const TempFolder folder;
  folder.Write("a", "old");
  const auto done = WriteFiles(folder.path(), {{"a", "new"}, {"no/such/folder", "x"}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("no/such/folder cannot be written"));
  EXPECT_EQ(folder.Read("a"), "old");
  EXPECT_THAT(NamesIn(folder), ::testing::ElementsAre("a"));
}

TEST(WriteFiles, NamesAFolderThatIsMissing) {
  const TempFolder folder;
  const auto done = WriteFiles(folder / "missing", {{"a", "new"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(NamesIn(folder), IsEmpty());
}

}  // namespace
}  // namespace mindgate
