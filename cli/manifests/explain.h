#pragma once

#include <string>
#include <vector>

#include "cli/manifests/apply.h"

namespace mindgate::cli {

struct ExplainOptions {
  offline::InputOptions input;  // with files: explains the effect on them
  // Else rules and mutators, by ID or name, or as rule/NAME and mutator/NAME. Empty: lists all.
  std::vector<std::string> topics;
  std::vector<std::string> fault_codes;  // explains these codes of MindCluster instead
  bool all = false;                      // for files: also rules that passed or do not apply
  std::string output = "text";           // or "json"
  std::string markdown_folder;           // writes the rule pages there instead
  ColorMode color = ColorMode::kAuto;
};

// Explains the effect of each rule on objects, or prints the documentation of rules.
int RunExplain(const ExplainOptions& options, Streams& io);

}  // namespace mindgate::cli
