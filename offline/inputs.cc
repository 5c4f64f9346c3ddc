#include "offline/inputs.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <set>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "json/decode.h"
#include "kube/subprocess.h"
#include "kube/transport.h"

namespace mindgate::offline {
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

bool IsUrl(const std::string& path) {
  return path.starts_with("https://") || path.starts_with("http://");
}

bool Matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// Templates of a chart are not manifests until they are rendered.
bool HoldsChartTemplates(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() == "templates" &&
         fs::exists(folder.parent_path() / "Chart.yaml", ignored);
}

size_t ManifestsUnder(const fs::path& folder) {
  size_t count = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (IsManifest(entry->path())) ++count;
  }
  return count;
}

// Expands paths to files.
class Finder {
 public:
  Finder(const InputFilter& filter, Skipped& skipped) : filter_(filter), skipped_(skipped) {}

  // "-" and URLs are returned unchanged.
  Result<std::vector<std::string>> FilesOf(const std::string& path, bool& found) {
    std::error_code ignored;
    found = fs::is_directory(path, ignored);
    if (found) return Under(path);
    const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
    if (path == "-" || IsUrl(path) || !is_pattern || fs::exists(path, ignored)) {
      return std::vector<std::string>{path};
    }
    found = true;
    return Matching(path);
  }

 private:
  bool IsExcluded(const fs::path& path, const fs::path& root) const {
    return std::any_of(filter_.exclude.begin(), filter_.exclude.end(),
                       [&](const std::string& glob) {
                         return Matches(glob, glob.find('/') == std::string::npos
                                                  ? path.filename().string()
                                                  : path.lexically_relative(root).string());
                       });
  }

  // Symbolic links to folders are not followed, to avoid loops.
  Result<std::vector<std::string>> Under(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      const fs::path& path = entry->path();
      const bool is_folder = entry->is_directory(ignored);
      if (IsHidden(path) || IsExcluded(path, folder)) {
        entry.disable_recursion_pending();
      } else if (is_folder && !filter_.recursive) {
        entry.disable_recursion_pending();
      } else if (is_folder && HoldsChartTemplates(path)) {
        skipped_.templates += ManifestsUnder(path);
        if (skipped_.chart.empty()) skipped_.chart = path.parent_path().string();
        entry.disable_recursion_pending();
      } else if (IsManifest(path) && entry->is_regular_file(ignored)) {
        files.push_back(path.string());
      }
    }
    if (error) {
      return Fail(ErrorCode::kInvalidArgument, "the folder cannot be read: " + error.message());
    }
    if (files.empty() && skipped_.templates == 0) {
      return Fail(ErrorCode::kNotFound, "the folder contains no .yaml, .yml or .json file");
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  Result<std::vector<std::string>> Matching(const std::string& pattern) {
    glob_t matched{};
    // Not thread-safe; a command reads its input on one thread.
    const int status =
        ::glob(pattern.c_str(), 0, nullptr, &matched);  // NOLINT(concurrency-mt-unsafe)
    const std::vector<std::string> matches(matched.gl_pathv, matched.gl_pathv + matched.gl_pathc);
    ::globfree(&matched);
    if (status != 0 && status != GLOB_NOMATCH) {
      return Fail(ErrorCode::kInvalidArgument, "the pattern cannot be expanded");
    }
    std::vector<std::string> files;
    for (const std::string& match : matches) {
      std::error_code ignored;
      if (IsExcluded(match, "")) continue;
      if (!fs::is_directory(match, ignored)) {
        files.push_back(match);
      } else if (auto below = Under(match)) {  // a matched folder may be empty
        files.insert(files.end(), below->begin(), below->end());
      }
    }
    if (files.empty()) return Fail(ErrorCode::kNotFound, "the pattern matches no files");
    return files;
  }

  const InputFilter& filter_;
  Skipped& skipped_;
};

// "a,b" is two paths unless a file has that name.
std::vector<std::string> SplitAtCommas(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
      all.push_back(path);
      continue;
    }
    for (std::string_view part : Split(path, ',')) all.emplace_back(part);
  }
  return all;
}

Result<std::string> ReadOne(const std::string& path, std::istream& in) {
  if (path == "-") return ReadStream(in);
  if (IsUrl(path)) return kube::Download(path, UserAgent(), {.bytes = json::kLargestFile});
  return ReadFile(path);
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  return mindgate::ReadFile(path, json::kLargestFile);
}

std::vector<InputText> ReadInputs(const std::vector<std::string>& paths, std::istream& in,
                                  const InputFilter& filter, Skipped* skipped) {
  Skipped uncounted;
  Finder finder(filter, skipped != nullptr ? *skipped : uncounted);
  std::vector<InputText> texts;
  std::set<std::string> seen;  // `-f dir -f dir/a.yaml` reads a.yaml once
  for (const std::string& path : SplitAtCommas(paths)) {
    bool found = false;
    const auto files = finder.FilesOf(path, found);
    if (!files) {
      texts.push_back({path, "", files.error().message()});
      continue;
    }
    for (const std::string& file : *files) {
      if (!seen.insert(file).second) continue;
      InputText& text = texts.emplace_back();
      text.name = file == "-" ? kStdin : file;
      text.found = found;
      if (auto read = ReadOne(file, in)) {
        text.text = *std::move(read);
      } else {
        text.fault = read.error().message();
      }
    }
  }
  return texts;
}

namespace {

// Includes the time to clone remote bases.
constexpr std::chrono::minutes kMaxBuildTime(5);
constexpr size_t kMaxErrorOutput = 4096;

Result<kube::Ended> Built(const std::string& command, const std::string& verb,
                          const std::string& folder) {
  kube::Program program;
  program.command = command;
  program.arguments = {verb, folder};
  program.environment = kube::WholeEnvironment();
  program.output_limit = json::kLargestFile;
  program.error_limit = kMaxErrorOutput;
  program.deadline = kMaxBuildTime;
  return kube::RunProgram(program);
}

}  // namespace

InputText BuildKustomization(const std::string& folder) {
  std::string command = "kustomize build";
  auto ended = Built("kustomize", "build", folder);
  if (!ended && ended.error().code() == ErrorCode::kNotFound) {
    command = "kubectl kustomize";
    ended = Built("kubectl", "kustomize", folder);
  }
  InputText text;
  text.name = folder + " (" + command + ")";
  if (!ended && ended.error().code() == ErrorCode::kNotFound) {
    text.name = folder;
    text.fault =
        "cannot be built: neither kustomize nor kubectl is in PATH; install one of them, or pipe "
        "in output built elsewhere: kustomize build " +
        folder + " | mindgate apply -f -";
  } else if (!ended) {
    text.fault = ended.error().message();
  } else if (ended->exit_code != 0 || ended->signal != 0) {
    text.fault = "failed: " + std::string(Trim(ended->error));
  } else {
    text.text = std::move(ended->output);
  }
  return text;
}

}  // namespace mindgate::offline
