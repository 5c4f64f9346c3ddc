#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/streams.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// The hidden command that shells call; it takes the words of the line as they are.
inline constexpr const char* kCompleteCommand = "__complete";

// What may stand in the place of the last word of a line.
struct Completions {
  enum class Files { kNone, kFiles, kFolders };

  std::vector<std::pair<std::string, std::string>> words{};  // with what each means
  Files files = Files::kNone;                                // the shell offers these besides
};

// `words` follow the name of the program; the last one, perhaps empty, is the one to complete.
// Names of contexts and namespaces are asked of kubectl, when there is one, for at most two
// seconds.
Completions Complete(const CLI::App& app, const std::vector<std::string>& words);

// Prints them as kubectl and the shells' scripts read them: a line "word<tab>meaning" each, then
// ":4" (nothing else), ":0" (files too) or ":16" (folders too).
int RunComplete(const CLI::App& app, const std::vector<std::string>& words, Streams& io);

}  // namespace mindgate::cli
