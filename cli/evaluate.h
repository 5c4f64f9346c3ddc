#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/apply.h"
#include "cli/decide.h"

namespace mindgate::cli {

// The inputs of one invocation and what was decided about them. Decisions point into the sources.
struct Evaluation {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::unique_ptr<Source>> old_sources;
  std::vector<Decision> decisions;  // about the objects that the selector selects
  Skipped skipped;
};

// Reads, decodes and decides what the options name. Nothing when the arguments are unusable: then
// `io.err` says why.
std::optional<Evaluation> Evaluate(const InputOptions& options,
                                   const admission::Options& admission_options, Streams& io);

// The configuration in a file, the defaults for an empty path; nothing when it is unusable, which
// `err` then explains.
std::optional<schemas::Config> LoadConfigFile(const std::string& path, std::ostream& err);

// What folders hold that was not looked at, when there is such.
void PrintSkipped(const Skipped& skipped, std::ostream& err);

// "error: <what> (<hint>)", the way every command says that it cannot start.
void PrintError(std::ostream& err, const std::string& what, const std::string& hint = "");

}  // namespace mindgate::cli
