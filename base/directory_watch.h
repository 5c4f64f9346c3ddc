#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"

namespace mindgate {

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
