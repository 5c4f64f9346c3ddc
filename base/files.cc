#include "base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/threads.h"

namespace mindgate {
namespace {

constexpr size_t kChunk = 64 * 1024;

tl::unexpected<Error> FailBecause(const std::string& what, int error) {
  return Fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
              what + ": " + SystemReason(error));
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

tl::unexpected<Error> CannotOpen(int error) {
  if (error == ENOENT) return Fail(ErrorCode::kNotFound, "no such file");
  return FailBecause("cannot be opened", error);
}

Result<std::string> ReadWhole(int file, size_t limit) {
  std::string text;
  std::string chunk(kChunk, '\0');
  for (;;) {
    const ssize_t count = ::read(file, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailBecause("cannot be read", errno);
    if (count == 0) return text;
    text.append(chunk, 0, static_cast<size_t>(count));
    if (text.size() > limit) {
      return Fail(ErrorCode::kTooLarge,
                  "is larger than " + std::to_string(limit) + " bytes, the most that is read");
    }
  }
}

// Two writers must not share one temporary file.
std::string TemporaryName(const std::string& name) {
  return "." + name + "." + std::to_string(::getpid()) + ".tmp";
}

Result<void> WriteTemporary(int folder, const FileToWrite& file) {
  const std::string name = TemporaryName(file.name);
  ::unlinkat(folder, name.c_str(), 0);  // of a process with our number that was killed
  // Only the owner may look at it before its mode is set.
  const FileDescriptor out(
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.valid()) return FailBecause(file.name + " cannot be written", errno);
  // Only root may give a file away: then it stays ours.
  if ((file.owner >= 0 || file.group >= 0) &&
      ::fchown(out.get(), static_cast<uid_t>(file.owner), static_cast<gid_t>(file.group)) != 0 &&
      errno != EPERM) {
    return FailBecause(file.name + " cannot be written", errno);
  }
  if (!WriteAll(out.get(), file.text) || ::fchmod(out.get(), file.mode) != 0 ||
      ::fsync(out.get()) != 0) {
    return FailBecause(file.name + " cannot be written", errno);
  }
  return {};
}

}  // namespace

std::string SystemReason(int error) { return std::generic_category().message(error); }

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return CannotOpen(errno);
  return ReadWhole(file.get(), limit);
}

Result<std::string> ReadRegularFile(int at, const std::string& path, size_t limit) {
  const FileDescriptor file(::openat(at, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return CannotOpen(errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return FailBecause("cannot be read", errno);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument,
                S_ISDIR(status.st_mode) ? "is a folder, not a file" : "is not a regular file");
  }
  return ReadWhole(file.get(), limit);
}

Result<std::string> ReadNamedFile(const std::string& path, size_t limit) {
  auto text = ReadRegularFile(AT_FDCWD, path, limit);
  if (text) return text;
  return Fail(text.error().code(), path + ": " + text.error().message());
}

Result<std::optional<std::vector<std::string>>> FilesIn(const std::string& path, size_t most) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::optional<std::vector<std::string>>();
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.') || !fs::is_regular_file(entry->path(), ignored)) continue;
    names.push_back(name);
    if (names.size() > most) {
      return Fail(ErrorCode::kTooLarge,
                  path + ": holds more than " + std::to_string(most) + " files");
    }
  }
  if (error) return FailBecause(path + ": cannot be listed", error.value());
  std::sort(names.begin(), names.end());
  return std::optional(std::move(names));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> WriteFiles(const std::string& folder, const std::vector<FileToWrite>& files) {
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return FailBecause(folder + " cannot be opened", errno);
  Result<void> done;
  for (const FileToWrite& file : files) {
    done = WriteTemporary(directory.get(), file);
    if (!done) break;
  }
  for (const FileToWrite& file : files) {
    const std::string temporary = TemporaryName(file.name);
    if (done &&
        ::renameat(directory.get(), temporary.c_str(), directory.get(), file.name.c_str()) != 0) {
      done = FailBecause(file.name + " cannot be replaced", errno);
    }
    if (!done) ::unlinkat(directory.get(), temporary.c_str(), 0);
  }
  if (done && ::fsync(directory.get()) != 0)
    done = FailBecause(folder + " cannot be synced", errno);
  return done;
}

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
