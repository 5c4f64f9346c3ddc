#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/console/terminal.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// "mindgate config validate".
std::string FullName(const CLI::App& app);

// The subcommand that was chosen, however deep; the program itself if none was.
const CLI::App& Chosen(const CLI::App& app);

// The help text of one command: what it does, its usage line with its full name and what it needs,
// examples, commands in their groups, arguments and flags.
std::string HelpOf(const CLI::App& app);

// The flags of the command that HelpOf leaves to `mindgate options`, from "Flags:" on.
std::string ConnectionHelpOf(const CLI::App& app);

// The names of the direct subcommands, without hidden ones.
std::vector<std::string> CommandsOf(const CLI::App& app);

// The hidden command that shells call with the words of the command line.
inline constexpr const char* kCompleteCommand = "__complete";

// Candidates for the last word of a command line.
struct Completions {
  enum class Files { kNone, kFiles, kFolders };

  std::vector<std::pair<std::string, std::string>> words{};  // each with its description
  Files files = Files::kNone;                                // the shell adds these
};

// `words` follow the program name; the last one, which may be empty, is to be completed. Names of
// contexts and namespaces come from kubectl, if installed, within two seconds; kinds and policies
// of the site from the files of --config and --policies before it.
Completions Complete(const CLI::App& app, const std::vector<std::string>& words);

// Prints them in the format that kubectl and the completion scripts read: one line
// "word<tab>description" each, then ":4" (nothing else), ":0" (also files) or ":16" (also folders).
int RunComplete(const CLI::App& app, const std::vector<std::string>& words, Streams& io);

// kKubectl is the program that kubectl calls to complete `kubectl mindgate ...`.
enum class Shell { kBash, kZsh, kFish, kKubectl };

// The script that makes a shell use `mindgate __complete`.
std::string CompletionScript(Shell shell);

}  // namespace mindgate::cli
