#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console/flags.h"
#include "cli/console/help.h"
#include "cli/console/terminal.h"

// The text of a help: what a command does, how it is called, examples, its arguments and flags.
namespace mindgate::cli {
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
  const bool says_none = standard.empty() || standard == "[]" || standard == "\"\"" ||
                         standard == "false" || meaning.find("(default") != std::string::npos;
  if (!says_none) meaning += " (default: " + standard + ")";
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

}  // namespace mindgate::cli
