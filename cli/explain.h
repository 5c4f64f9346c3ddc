#pragma once

#include <string>

#include "cli/apply.h"

namespace mindgate::cli {

struct ExplainOptions {
  InputOptions input;           // with files: explains what happens to them
  std::string topic;            // else a rule or mutator, by id or name; empty: lists all
  std::string output = "text";  // or "json"
  std::string markdown_folder;  // writes the rule pages there instead
  ColorMode color = ColorMode::kAuto;
};

// Rule by rule what happened to objects and why, or the documentation of rules.
int RunExplain(const ExplainOptions& options, Streams& io);

}  // namespace mindgate::cli
