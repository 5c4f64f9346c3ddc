#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "cli/manifests/fix.h"
#include "json/limits.h"

namespace mindgate::cli {

namespace {

tl::unexpected<Error> CannotWrite(const std::string& why) {
  return Fail(ErrorCode::kInvalidArgument, "cannot be written: " + why);
}

}  // namespace

Result<void> WriteFixed(const offline::FixedFile& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file.name, error);
  if (error) return CannotWrite(error.message());
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return CannotWrite(SystemReason(errno));
  if (!S_ISREG(status.st_mode)) return CannotWrite("it is not a regular file");
  constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((status.st_mode & kWritable) == 0 || ::access(path.c_str(), W_OK) != 0) {
    return CannotWrite("it is read-only; `chmod u+w` allows it");
  }
  const auto now = ReadFile(path.string(), json::kLargestFile);
  if (!now) return CannotWrite(now.error().message());
  if (*now == file.after) return {};  // by another name
  if (*now != file.before) return CannotWrite("it has changed since it was read; run it again");
  FileToWrite whole;
  whole.name = path.filename().string();
  whole.text = file.after;
  whole.mode = status.st_mode & 07777;
  whole.owner = status.st_uid;
  whole.group = status.st_gid;
  return WriteFiles(path.parent_path().string(), {whole});
}

}  // namespace mindgate::cli
