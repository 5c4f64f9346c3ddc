#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"

namespace mindgate::cli {
namespace {

struct Flag {
  std::vector<std::string> names;  // "--output", "-o"
  std::string description;
  bool takes_value;
  std::vector<std::string> choices;  // empty: files
};

struct Command {
  std::vector<std::string> path;  // {} for the program, {"config", "validate"}
  std::string description;
  std::vector<Flag> flags;
  std::vector<std::string> children;
  std::vector<std::string> choices;  // of its positional argument
  bool takes_files = false;
};

std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  std::vector<std::string> words;
  const std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return words;
  for (std::string_view word : Split(type, '|')) words.emplace_back(word);
  return words;
}

// The commands in the order of help; hidden ones are left out. As deep as our own commands are.
void Collect(const CLI::App& app, const std::vector<std::string>& path, std::vector<Command>& out) {
  Command command;
  command.path = path;
  command.description = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      command.choices = ChoicesOf(*option);
      command.takes_files = command.choices.empty();
      continue;
    }
    Flag flag{
        {}, option->get_description(), option->get_items_expected_max() > 0, ChoicesOf(*option)};
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    command.flags.push_back(std::move(flag));
  }
  const auto children =
      app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
  for (const CLI::App* child : children) command.children.push_back(child->get_name());
  out.push_back(std::move(command));
  for (const CLI::App* child : children) {
    auto below = path;
    below.push_back(child->get_name());
    Collect(*child, below, out);
  }
}

std::vector<std::string> FirstWords(const Command& command) {
  std::vector<std::string> words = command.children;
  words.insert(words.end(), command.choices.begin(), command.choices.end());
  return words;
}

// A shell function that finds the command from the words before the cursor, then offers what may
// follow. Written for bash; zsh runs it through bashcompinit.
std::string BashScript(const std::vector<Command>& commands, bool for_zsh) {
  std::string out = for_zsh ? "#compdef mindgate kubectl-mindgate\n"
                              "autoload -U +X bashcompinit && bashcompinit\n"
                            : "";
  out += R"(_mindgate() {
  local word previous path="" i
  word="${COMP_WORDS[COMP_CWORD]}"
  previous="${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
)";
  for (const Command& command : commands) {
    if (!command.path.empty()) {
      const std::string path = Join(command.path, " ");
      out += "      \" " + path + "\") path=\" " + path + "\" ;;\n";
    }
  }
  out += "    esac\n  done\n  case \"$path:$previous\" in\n";
  for (const Command& command : commands) {
    const std::string path = command.path.empty() ? "" : " " + Join(command.path, " ");
    for (const Flag& flag : command.flags) {
      if (!flag.takes_value) continue;
      std::string pattern;
      for (const std::string& name : flag.names) {
        pattern += (pattern.empty() ? "\"" : "|\"") + path + ":" + name + "\"";
      }
      out += "    " + pattern + ") COMPREPLY=($(compgen " +
             (flag.choices.empty() ? std::string("-f") : "-W \"" + Join(flag.choices, " ") + "\"") +
             " -- \"$word\")); return ;;\n";
    }
  }
  out += "  esac\n  case \"$path\" in\n";
  for (const Command& command : commands) {
    const std::string path = command.path.empty() ? "" : " " + Join(command.path, " ");
    std::vector<std::string> flags;
    for (const Flag& flag : command.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    }
    out += "    \"" + path + "\")\n      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"" +
           Join(flags, " ") + "\" -- \"$word\"))\n      else COMPREPLY=($(compgen " +
           (command.takes_files ? std::string("-f")
                                : "-W \"" + Join(FirstWords(command), " ") + "\"") +
           " -- \"$word\")); fi ;;\n";
  }
  out += "  esac\n}\ncomplete -o filenames -F _mindgate mindgate kubectl-mindgate\n";
  return out;
}

// Between single quotes in fish.
std::string FishQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string FishScript(const std::vector<Command>& commands) {
  std::string out;
  for (const char* program : {"mindgate", "kubectl-mindgate"}) {
    for (const Command& command : commands) {
      std::string seen;
      for (const std::string& word : command.path) {
        seen += (seen.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
      }
      const std::string begin = std::string("complete -c ") + program;
      std::string before_child = seen.empty() ? "__fish_use_subcommand" : seen;
      if (!seen.empty() && !command.children.empty()) {
        before_child += "; and not __fish_seen_subcommand_from " + Join(command.children, " ");
      }
      for (const Command& child : commands) {
        if (child.path.size() != command.path.size() + 1 ||
            !std::equal(command.path.begin(), command.path.end(), child.path.begin())) {
          continue;
        }
        out += begin + " -f -n " + FishQuoted(before_child) + " -a " + child.path.back() + " -d " +
               FishQuoted(child.description) + "\n";
      }
      for (const std::string& choice : command.choices) {
        out += begin + " -f -n " + FishQuoted(before_child) + " -a " + choice + "\n";
      }
      for (const Flag& flag : command.flags) {
        out += begin;
        if (!seen.empty()) out += " -n " + FishQuoted(seen);
        for (const std::string& name : flag.names) {
          out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        if (flag.takes_value) out += flag.choices.empty() ? " -r -F" : " -x";
        if (!flag.choices.empty()) out += " -a " + FishQuoted(Join(flag.choices, " "));
        out += " -d " + FishQuoted(flag.description) + "\n";
      }
    }
  }
  return out;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, Shell shell) {
  std::vector<Command> commands;
  Collect(app, {}, commands);
  if (shell == Shell::kFish) return FishScript(commands);
  return BashScript(commands, shell == Shell::kZsh);
}

void AddCompletion(CLI::App& parent, Streams& io, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("completion", "Print a completion script for a shell");
  SetChoices(*command->add_option("SHELL", *shell, "The shell")->required(),
             {"bash", "zsh", "fish"});
  command->footer(R"(Examples:
  source <(mindgate completion bash)
  mindgate completion zsh > "${fpath[1]}/_mindgate"
  mindgate completion fish > ~/.config/fish/completions/mindgate.fish)");
  command->callback([shell, &parent, &io, &exit_code] {
    const Shell wanted = *shell == "fish"  ? Shell::kFish
                         : *shell == "zsh" ? Shell::kZsh
                                           : Shell::kBash;
    io.out << CompletionScript(parent, wanted);
    exit_code = kExitDone;
  });
}

}  // namespace mindgate::cli
