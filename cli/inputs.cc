#include "cli/inputs.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <set>
#include <system_error>

#include "base/files.h"
#include "json/limits.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 64 * 1024;

std::string TooLarge() {
  return "is larger than " + std::to_string(json::kLargestFile) + " bytes, the most that is read";
}

Result<std::string> ReadStream(std::istream& in) {
  std::string text;
  std::string chunk(kChunk, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk, 0, static_cast<size_t>(in.gcount()));
    if (text.size() > json::kLargestFile) return Fail(ErrorCode::kTooLarge, TooLarge());
  }
  return text;
}

bool IsManifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Symbolic links to folders are not followed, so that a loop of them ends.
Result<std::vector<std::string>> FilesUnder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (IsHidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (IsManifest(entry->path()) && entry->is_regular_file(ignored)) {
      files.push_back(entry->path().string());
    }
  }
  if (error) {
    return Fail(ErrorCode::kInvalidArgument, "the folder cannot be read: " + error.message());
  }
  if (files.empty()) {
    return Fail(ErrorCode::kNotFound, "the folder holds no .yaml, .yml or .json file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> FilesMatching(const std::string& pattern) {
  glob_t found{};
  // Not safe beside other threads; a command reads its input on one.
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);  // NOLINT(concurrency-mt-unsafe)
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0 && status != GLOB_NOMATCH) {
    return Fail(ErrorCode::kInvalidArgument, "the pattern cannot be followed");
  }
  if (paths.empty()) return Fail(ErrorCode::kNotFound, "the pattern matches no file");
  return paths;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  return mindgate::ReadFile(path, json::kLargestFile);
}

Result<std::vector<std::string>> ExpandPath(const std::string& path) {
  if (path == "-") return std::vector<std::string>{path};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return FilesUnder(path);
  const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
  if (!is_pattern || fs::exists(path, ignored)) return std::vector<std::string>{path};
  auto matches = FilesMatching(path);
  if (!matches) return matches;
  std::vector<std::string> files;
  for (const std::string& match : *matches) {
    if (!fs::is_directory(match, ignored)) {
      files.push_back(match);
    } else if (auto below = FilesUnder(match)) {  // a matched folder may well hold none
      files.insert(files.end(), below->begin(), below->end());
    }
  }
  if (files.empty()) return Fail(ErrorCode::kNotFound, "the pattern matches no file");
  return files;
}

std::vector<InputText> ReadInputs(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<InputText> texts;
  std::set<std::string> seen;  // `-f dir dir/a.yaml` names a.yaml once
  for (const std::string& path : paths) {
    const auto files = ExpandPath(path);
    if (!files) {
      texts.push_back({path, "", files.error().message()});
      continue;
    }
    for (const std::string& file : *files) {
      if (!seen.insert(file).second) continue;
      const bool is_stdin = file == "-";
      auto text = is_stdin ? ReadStream(in) : ReadFile(file);
      const std::string name = is_stdin ? kStdin : file;
      if (text) {
        texts.push_back({name, *std::move(text), ""});
      } else {
        texts.push_back({name, "", text.error().message()});
      }
    }
  }
  return texts;
}

}  // namespace mindgate::cli
