#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mindgate {

// Owns one open file descriptor, or none (-1).
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

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

// Reports when files of some folders may have changed: soon after the kernel reports it (inotify),
// and every `poll_every` in any case, because reports get lost on network file systems, when a
// folder is replaced by another, and when the kernel's queue overflows. The callback must therefore
// check for itself whether anything is new.
//
// Folders are watched and not files: in a mounted Secret or ConfigMap files are links into ..data,
// which is replaced as a whole; a watch on the file itself would report that once and then never
// again. A missing folder is watched as soon as it appears.
//
// One thread at a time.
class DirectoryWatch {
 public:
  struct Options {
    std::vector<std::string> folders;
    std::chrono::milliseconds poll_every = std::chrono::seconds(10);
    // A change is reported when nothing happened for this long, so that a pair of files written one
    // after the other is read once; but no later than `max_delay` after it began.
    std::chrono::milliseconds quiet = std::chrono::milliseconds(100);
    std::chrono::milliseconds max_delay = std::chrono::seconds(1);
    // An eventfd that does not block, which somebody else writes to when something changed that is
    // not in a folder; it must outlive the watch. Below 0: there is none.
    int others = -1;
  };

  // `clock` must outlive it. `changed` is first called after something happened or `poll_every`
  // passed: what is there now is the caller's to read, after making the watch.
  DirectoryWatch(Options options, const Clock& clock, std::function<void()> changed);

  // Readable when the kernel has something to report; -1 when it gave us no inotify.
  int fd() const { return inotify_.get(); }
  // Options::others.
  int others_fd() const { return options_.others; }

  // Takes in what the kernel reports, calls back when it is time, and says how long at most until
  // it wants to be called again.
  std::chrono::milliseconds Step();

 private:
  struct Folder {
    std::string path;
    int watch = -1;
    // Which folder it was when the watch was placed.
    uint64_t device = 0;
    uint64_t inode = 0;
  };

  bool TakeReports();
  bool PlaceWatches();
  void LoseWatch(int watch);

  const Options options_;
  const Clock& clock_;
  const std::function<void()> changed_;
  FileDescriptor inotify_;
  std::vector<Folder> folders_;
  Clock::Instant polled_;                       // when changed_ was last called, or the beginning
  std::optional<Clock::Instant> change_began_;  // reported and not yet passed on
  Clock::Instant last_report_;
};

// A thread that steps a watch until it is destroyed. The callback runs on it.
class DirectoryWatchThread {
 public:
  DirectoryWatchThread(DirectoryWatch::Options options, const Clock& clock,
                       std::function<void()> changed);
  ~DirectoryWatchThread();
  DirectoryWatchThread(const DirectoryWatchThread&) = delete;
  DirectoryWatchThread& operator=(const DirectoryWatchThread&) = delete;

 private:
  void Run();

  DirectoryWatch watch_;
  std::stop_source stop_;
  FileDescriptor wake_;  // eventfd
  std::jthread thread_;
};

}  // namespace mindgate
