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
  std::string fault;  // why it could not be read; then there is no text
};

// Reads what `-f` names: files, folders (recursively .yaml, .yml and .json, hidden entries skipped,
// in the order of their names), globs, and "-" for `in`. What cannot be read is an InputText with a
// fault, so that the others are still reported. A text has at most 64 MiB.
std::vector<InputText> ReadInputs(const std::vector<std::string>& paths, std::istream& in);

// One file whole, at most 64 MiB. The message says what failed, without the name.
Result<std::string> ReadFile(const std::string& path);

// The files that a path stands for, as above; "-" stays itself.
Result<std::vector<std::string>> ExpandPath(const std::string& path);

}  // namespace mindgate::cli
