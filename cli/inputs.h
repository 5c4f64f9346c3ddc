#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace mindgate::cli {

// The name under which standard input appears in messages.
inline constexpr const char* kStdin = "<stdin>";

// One text that the user named: a file, or standard input.
struct InputText {
  std::string name;
  std::string text;
  std::string fault{};  // why it could not be read; then there is no text
  bool found = false;   // in a folder or by a pattern: nobody named it
};

// Which files of folders and patterns are meant.
struct InputFilter {
  bool recursive = true;
  // Globs: without a slash of any file or folder on the way, else of the path below the folder
  // that was named.
  std::vector<std::string> exclude{};
};

// What folders hold that is not looked at.
struct Skipped {
  size_t documents = 0;  // that are not Kubernetes objects
  size_t templates = 0;  // files of Helm charts, which are no YAML before they are rendered
  std::string chart{};   // the folder of the first of these charts

  bool any() const { return documents + templates > 0; }
};

// Reads what `-f` names, several with commas between them: files, folders (.yaml, .yml and .json,
// hidden entries skipped, in the order of their names), globs, http and https addresses, and "-"
// for `in`. What cannot be read is an InputText with a fault, so that the others are still
// reported. A text has at most 64 MiB. The `templates` folders of Helm charts are counted in
// `skipped` unless they are named themselves.
std::vector<InputText> ReadInputs(const std::vector<std::string>& paths, std::istream& in,
                                  const InputFilter& filter = {}, Skipped* skipped = nullptr);

// One file whole, at most 64 MiB. The message says what failed, without the name.
Result<std::string> ReadFile(const std::string& path);

}  // namespace mindgate::cli
