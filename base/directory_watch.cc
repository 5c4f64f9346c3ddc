#include "base/directory_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/thread.h"

namespace mindgate {
namespace {

// Everything that can change what a name in the folder holds, and the end of the folder itself.
// IN_ATTRIB: a file that we could not read may have become readable.
constexpr uint32_t kReports = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                              IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// After these the watch is gone, or stays with a folder that no longer has this name.
constexpr uint32_t kLost = IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT;

}  // namespace

DirectoryWatch::DirectoryWatch(Options options, const Clock& clock, std::function<void()> changed)
    : options_(std::move(options)),
      clock_(clock),
      changed_(std::move(changed)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      polled_(clock.Now()) {
  for (const std::string& path : options_.folders) {
    const bool known = std::any_of(folders_.begin(), folders_.end(),
                                   [&](const Folder& folder) { return folder.path == path; });
    if (!known) folders_.push_back({.path = path});
  }
  PlaceWatches();
}

std::chrono::milliseconds DirectoryWatch::Step() {
  const auto poll_due = [this] { return polled_ + options_.poll_every; };
  const auto change_due = [this] {
    return std::min(last_report_ + options_.quiet, *change_began_ + options_.max_delay);
  };
  const bool reported = TakeReports();
  const auto now = clock_.Now();
  // A folder that was swapped by renaming one above it, or a link to it, reports nothing: looked
  // for at each poll.
  const bool replaced = (reported || now >= poll_due()) && PlaceWatches();
  if (reported || replaced) {
    last_report_ = now;
    if (!change_began_) change_began_ = now;
  }
  if ((change_began_ && now >= change_due()) || now >= poll_due()) {
    polled_ = now;
    change_began_.reset();
    changed_();
  }
  const auto next = change_began_ ? std::min(change_due(), poll_due()) : poll_due();
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(next - now));
}

bool DirectoryWatch::TakeReports() {
  uint64_t writes = 0;
  bool any = options_.others >= 0 &&
             ::read(options_.others, &writes, sizeof writes) == static_cast<ssize_t>(sizeof writes);
  if (!inotify_.valid()) return any;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (count <= 0) return any;
    any = true;  // an overflow of the queue is a report too
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(count);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if ((event.mask & kLost) != 0) LoseWatch(event.wd);
      at += sizeof event + event.len;
    }
  }
}

void DirectoryWatch::LoseWatch(int watch) {
  for (Folder& folder : folders_) {
    if (folder.watch != watch) continue;
    ::inotify_rm_watch(inotify_.get(), watch);  // fails when the kernel has done it
    folder.watch = -1;
  }
}

// Watches each folder that has the name now. True when one of them is another than before.
bool DirectoryWatch::PlaceWatches() {
  if (!inotify_.valid()) return false;
  bool replaced = false;
  for (Folder& folder : folders_) {
    struct stat status{};
    const bool exists = ::stat(folder.path.c_str(), &status) == 0;
    const bool same = exists && folder.watch >= 0 && folder.device == status.st_dev &&
                      folder.inode == status.st_ino;
    if (same) continue;
    if (folder.watch >= 0) {
      ::inotify_rm_watch(inotify_.get(), folder.watch);
      folder.watch = -1;
      replaced = true;
    }
    if (!exists) continue;
    folder.watch = ::inotify_add_watch(inotify_.get(), folder.path.c_str(), kReports);
    if (folder.watch < 0) continue;  // no more watches for this user: polling remains
    folder.device = status.st_dev;
    folder.inode = status.st_ino;
    replaced = true;
  }
  return replaced;
}

DirectoryWatchThread::DirectoryWatchThread(DirectoryWatch::Options options, const Clock& clock,
                                           std::function<void()> changed)
    : watch_(std::move(options), clock, std::move(changed)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_(StartThread("watch-files", [this] { Run(); })) {}

DirectoryWatchThread::~DirectoryWatchThread() {
  stop_.request_stop();
  const uint64_t one = 1;
  // Without a descriptor to wake it by, the thread stops at its next poll.
  if (::write(wake_.get(), &one, sizeof one) < 0) return;
}

void DirectoryWatchThread::Run() {
  while (!stop_.stop_requested()) {
    const auto wait = watch_.Step();
    // poll() leaves out descriptors below 0.
    std::array<pollfd, 3> wanted = {
        {{watch_.fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {watch_.others_fd(), POLLIN, 0}}};
    ::poll(wanted.data(), wanted.size(), static_cast<int>(wait.count()));
  }
}

}  // namespace mindgate
