#include "cli/console/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/terminal.h"
#include "offline/report.h"

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

// The text of a help: what a command does, how it is called, examples, its arguments and flags.

namespace {

// Wide enough for a sentence beside a flag, and narrow enough for two windows side by side.
constexpr size_t kWidth = 110;
constexpr size_t kMeaning = 30;  // the column in which meanings begin

using Options = std::vector<const CLI::Option*>;

// "  -o, --output FORMAT   meaning", or the meaning below, wrapped.
std::string Entry(const std::string& what, const std::string& meaning) {
  const std::string margin(kMeaning, ' ');
  std::string wrapped = meaning.empty() ? "\n" : Wrapped(meaning, kWidth, margin);
  const std::string written = "  " + what;
  if (written.size() + 2 > kMeaning) return written + "\n" + (meaning.empty() ? "" : wrapped);
  wrapped.erase(0, std::min(written.size(), wrapped.size()));
  return written + wrapped;
}

// "FILE", "table|wide", "INT"; empty for a switch.
std::string TypeOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string type = option.get_type_name();
  return type.empty() || type == "TEXT" ? "VALUE" : type;
}

std::string NamesOf(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
  names.erase(names.size() - 2);
  const std::string type = TypeOf(option);
  if (!type.empty()) names += " " + type;
  return names;
}

std::string MeaningOf(const CLI::Option& option) {
  std::string meaning = option.get_description();
  const std::string standard = option.get_default_str();
  const bool is_none = standard.empty() || standard == "[]" || standard == "\"\"" ||
                       standard == "false" || meaning.find("(default") != std::string::npos;
  if (!is_none) meaning += " (default: " + standard + ")";
  if (!option.get_envname().empty()) meaning += " [$" + option.get_envname() + "]";
  return meaning;
}

// "NAME", or "NAME..." where several may follow.
std::string ArgumentOf(const CLI::Option& option) {
  return option.get_name(true) + (option.get_expected_max() > 1 ? "..." : "");
}

Options OptionsOf(const CLI::App& app, const std::function<bool(const CLI::Option&)>& wanted) {
  Options options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && wanted(*option)) options.push_back(option);
  }
  return options;
}

bool IsConnection(const CLI::Option& option) { return option.get_group() == kConnectionFlags; }

std::string UsageOf(const CLI::App& app) {
  std::string usage = "Usage: " + FullName(app);
  if (!CommandsOf(app).empty()) usage += " COMMAND";
  for (const CLI::Option* option : OptionsOf(app, [](const CLI::Option& one) {
         return !one.get_positional() && one.get_required();
       })) {
    usage += " --" + option->get_lnames().front() + " " + TypeOf(*option);
  }
  for (const CLI::Option* option :
       OptionsOf(app, [](const CLI::Option& one) { return one.get_positional(); })) {
    const std::string argument = ArgumentOf(*option);
    usage += option->get_required() ? " " + argument : " [" + argument + "]";
  }
  return usage + " [flags]\n";
}

// The commands of each group, in the order in which the groups appear.
std::string CommandsText(const CLI::App& app) {
  std::vector<std::string> groups;
  const auto commands =
      app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (const CLI::App* command : commands) {
    if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end()) {
      groups.push_back(command->get_group());
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + (group == "Subcommands" ? "Commands" : group) + ":\n";
    for (const CLI::App* command : commands) {
      if (command->get_group() != group) continue;
      text += Entry(command->get_name(), command->get_description());
    }
  }
  return text;
}

std::string FlagsText(const std::string& title, const Options& options) {
  if (options.empty()) return "";
  std::string text = "\n" + title + ":\n";
  for (const CLI::Option* option : options) {
    text += option->get_positional() ? Entry(ArgumentOf(*option), MeaningOf(*option))
                                     : Entry(NamesOf(*option), MeaningOf(*option));
  }
  return text;
}

struct Footer {
  std::string text;
  std::string examples;  // with its title
};

Footer FooterOf(const CLI::App& app) {
  const std::string footer = app.get_footer();
  for (const std::string_view title : {"Examples:\n", "Example:\n"}) {
    const size_t at = footer.find(title);
    if (at == std::string::npos || (at > 0 && footer[at - 1] != '\n')) continue;
    std::string text = footer.substr(0, at);
    while (text.ends_with('\n')) text.pop_back();
    return {text, footer.substr(at)};
  }
  return {footer, ""};
}

}  // namespace

std::string HelpOf(const CLI::App& app) {
  const auto [text, examples] = FooterOf(app);
  std::string help = app.get_description() + "\n\n" + UsageOf(app);
  if (!text.empty()) help += "\n" + text + "\n";
  if (!examples.empty()) help += "\n" + examples + "\n";
  help += CommandsText(app);
  help +=
      FlagsText("Arguments",
                OptionsOf(app, [](const CLI::Option& option) { return option.get_positional(); }));
  help += FlagsText("Flags", OptionsOf(app, [](const CLI::Option& option) {
                      return !option.get_positional() && !IsConnection(option);
                    }));
  const bool connects = !OptionsOf(app, IsConnection).empty();
  if (connects)
    help += "\n`mindgate options` lists the flags that select and connect to a cluster.\n";
  return help;
}

std::string ConnectionHelpOf(const CLI::App& app) {
  return FlagsText("Flags", OptionsOf(app, IsConnection)).substr(1);
}

namespace {

// "mindgate 0.2.0" and, in a second line, the commit, the architecture and the compiler; or all of
// it as a JSON object.
int PrintVersion(const std::string& output, Streams& io) {
  const Build build = ThisBuild();
  if (output == "json") {
    io.out << offline::Dump({{"version", build.version},
                             {"commit", build.commit},
                             {"architecture", build.architecture},
                             {"compiler", __VERSION__}})
           << "\n";
  } else {
    io.out << "mindgate " << build.version << "\ncommit " << build.commit << ", "
           << build.architecture << ", compiler " << __VERSION__ << "\n";
  }
  return kExitDone;
}

}  // namespace

void AddVersion(CLI::App& parent, Streams& io, int& exit_code) {
  auto output = std::make_shared<std::string>("text");
  CLI::App* command = parent.add_subcommand("version", "Print the version");
  SetChoices(*command->add_option("-o,--output", *output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_VERSION_OUTPUT"),
             {"text", "json"});
  command->footer("Example:\n  mindgate version -o json");
  command->callback([output, &io, &exit_code] { exit_code = PrintVersion(*output, io); });
}

}  // namespace mindgate::cli
