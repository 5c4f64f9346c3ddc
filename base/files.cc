#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

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

}  // namespace mindgate
