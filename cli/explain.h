#pragma once

#include <string>
#include <vector>

#include "cli/apply.h"

namespace mindgate::cli {

struct ExplainOptions {
  InputOptions input;  // with files: explains what happens to them
  // Else rules and mutators, by id or name; rule/NAME and mutator/NAME are one of them. Empty:
  // lists all.
  std::vector<std::string> topics;
  bool all = false;             // of files: also the rules that passed or do not apply
  std::string output = "text";  // or "json"
  std::string markdown_folder;  // writes the rule pages there instead
  ColorMode color = ColorMode::kAuto;
};

// Rule by rule what happened to objects and why, or the documentation of rules.
int RunExplain(const ExplainOptions& options, Streams& io);

}  // namespace mindgate::cli
