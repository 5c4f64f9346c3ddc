#include "cli/console/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"

namespace mindgate::cli {
namespace {

int RunHelp(const CLI::App& root, const std::vector<std::string>& words, Streams& io) {
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    const std::vector<std::string> names = CommandsOf(*app);
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      const auto near = NearestOf(word, names);
      PrintError(io.err, "unknown command " + Quote(FullName(*app) + " " + word),
                 near ? "did you mean " + Quote(*near) + "?"
                      : "`" + FullName(*app) + " --help` lists all commands");
      return kExitUnusable;
    }
    app = app->get_subcommand(word);
  }
  io.out << HelpOf(*app);
  return kExitDone;
}

}  // namespace

std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : FullName(*app.get_parent()) + " " + app.get_name();
}

const CLI::App& Chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : Chosen(*commands.front());
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

void AddHelp(CLI::App& parent, Streams& io, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = parent.add_subcommand("help", "Show the help of a command");
  command->add_option("COMMAND", *words, "Command, with its parent commands")->type_name("");
  command->footer("Examples:\n  mindgate help apply\n  mindgate help config validate");
  command->callback([words, &parent, &io, &exit_code] { exit_code = RunHelp(parent, *words, io); });
}

void AddOptions(CLI::App& parent, Streams& io, int& exit_code) {
  CLI::App* command = parent.add_subcommand(
      "options",
      "List the flags that select and connect to a cluster, for every command that does");
  command->footer("They are kubectl's, and mean the same.\n\nExample:\n  mindgate options");
  command->callback([&io, &exit_code] {
    CLI::App connecting;
    kube::AccessFlags flags;
    AddClusterFlags(connecting, flags);
    io.out << ConnectionHelpOf(connecting);
    exit_code = kExitDone;
  });
}

}  // namespace mindgate::cli
