#pragma once

#include <string>
#include <vector>

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

}  // namespace mindgate::cli
