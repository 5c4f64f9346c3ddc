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

// The help text of one command, with its full name in the usage line.
std::string HelpOf(const CLI::App& app);

// The names of the direct subcommands, without hidden ones.
std::vector<std::string> CommandsOf(const CLI::App& app);

}  // namespace mindgate::cli
