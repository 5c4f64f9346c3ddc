#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/apply.h"
#include "cli/decide.h"

namespace mindgate::cli {

// The inputs of one invocation and the decisions about them. Decisions point into the sources.
struct Evaluation {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::unique_ptr<Source>> old_sources;
  std::vector<Decision> decisions;  // about the objects that match the selector
  Skipped skipped;
};

// Reads and decodes the inputs, and decides about them. Nothing if the arguments are invalid;
// `io.err` says why.
std::optional<Evaluation> Evaluate(const InputOptions& options,
                                   const admission::Options& admission_options, Streams& io);

// The configuration in a file, the defaults for an empty path. Nothing if it is invalid; `err` says
// why.
std::optional<schemas::Config> LoadConfigFile(const std::string& path, std::ostream& err);

// Prints how many documents and files in folders were skipped, if any.
void PrintSkipped(const Skipped& skipped, std::ostream& err);

// Prints "error: <what>" and "hint: <hint>".
void PrintError(std::ostream& err, const std::string& what, const std::string& hint = "");

}  // namespace mindgate::cli
