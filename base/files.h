#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace mindgate {

// One file whole, at most `limit` bytes. The message says what failed, without the name.
//
// Waits for whoever writes to it if it is a pipe: for what a user names, `<(command)` in a shell.
Result<std::string> ReadFile(const std::string& path, size_t limit);

// Never waits, and refuses anything but a regular file: for files that a program reads again and
// again. A relative `path` counts from the open folder `at`.
Result<std::string> ReadRegularFile(int at, const std::string& path, size_t limit);

// The same of a file by its path alone; the message begins with it.
Result<std::string> ReadNamedFile(const std::string& path, size_t limit);

// Where a file is: "." for a name without a folder.
std::string FolderOf(const std::string& path);

// The names of the files in a folder, in order, without hidden ones and those of sub-folders; links
// are followed. Nothing when the path is not a folder. More than `most` are an error. The message
// begins with the path.
Result<std::optional<std::vector<std::string>>> FilesIn(const std::string& path, size_t most);

struct FileToWrite {
  std::string name;  // within the folder
  std::string text;
  unsigned mode = 0644;
  // Whose the file shall be, as far as we may give it away; -1: ours.
  int64_t owner = -1;
  int64_t group = -1;
};

// Replaces files of one folder. Each is old or new and never half, also after a power cut: all are
// written under temporary names and synced, then renamed one right after the other, in this order.
// When writing fails nothing is replaced.
Result<void> WriteFiles(const std::string& folder, const std::vector<FileToWrite>& files);

// The text of an errno value.
std::string SystemReason(int error);

}  // namespace mindgate
