#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace mindgate::offline {

// The name of standard input in messages.
inline constexpr const char* kStdin = "<stdin>";

// One text that the user named: a file, or standard input.
struct InputText {
  std::string name;
  std::string text;
  std::string fault{};  // why it could not be read; then `text` is empty
  bool found = false;   // in a folder or by a pattern, not named itself
};

// Selects files in folders and patterns.
struct InputFilter {
  bool recursive = true;
  // Globs: without a slash for the name of any file or folder, else for the path relative to the
  // folder
  // that was named.
  std::vector<std::string> exclude{};
};

// What was skipped in folders.
struct Skipped {
  size_t documents = 0;  // not Kubernetes objects
  size_t templates = 0;  // templates of Helm charts, which are not YAML until they are rendered
  std::string chart{};   // the folder of the first such chart

  bool any() const { return documents + templates > 0; }
};

// Reads the paths of `-f`, each possibly a comma-separated list: files, folders (.yaml, .yml and
// .json in alphabetical order, without hidden entries), globs, http and https URLs, and "-" for
// `in`. An unreadable input becomes an InputText with a fault, so that the others are still
// reported. A text has at most 64 MiB. Templates of Helm charts are counted in `skipped` unless
// named directly.
std::vector<InputText> ReadInputs(const std::vector<std::string>& paths, std::istream& in,
                                  const InputFilter& filter = {}, Skipped* skipped = nullptr);

// The content of a file, at most 64 MiB. The error message does not include the name.
Result<std::string> ReadFile(const std::string& path);

// The output of `kustomize build FOLDER`, or of `kubectl kustomize FOLDER` if kustomize is not
// installed.
InputText BuildKustomization(const std::string& folder);

}  // namespace mindgate::offline
