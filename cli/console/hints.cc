#include "cli/console/hints.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/console/help.h"

namespace mindgate::cli {
namespace {

struct Instead {
  std::string_view word;
  std::string_view write;
};

// Commands of other tools, and what does the same here.
constexpr std::array kCommands = {
    Instead{"check", "apply -f PATH -o table"},
    Instead{"diff", "apply -f PATH -o diff"},
    Instead{"get", "status"},
    Instead{"init", "deploy --init ome"},
    Instead{"inject", "apply -f PATH"},
    Instead{"lint", "apply -f PATH -o table"},
    Instead{"render", "deploy -f FILE --dry-run"},
    Instead{"run", "watch"},
    Instead{"server", "webhook"},
    Instead{"template", "deploy -f FILE --dry-run"},
    Instead{"validate", "apply -f PATH -o table"},
};

// Flags of other tools, and ours. Only those that the command has are proposed.
constexpr std::array kFlags = {
    Instead{"--file", "--filename"},
    Instead{"--files", "--filename"},
    Instead{"--format", "--output"},
    Instead{"--label-selector", "--selector"},
    Instead{"--manifests", "--filename"},
    Instead{"--ns", "--namespace"},
    Instead{"--out", "--output"},
    Instead{"--path", "--filename"},
    Instead{"--kube-config", "--kubeconfig"},
    Instead{"--kube-context", "--context"},
};

// Flags for which there is a command of its own.
constexpr std::array kFlagsThatAreCommands = {
    Instead{"--cluster", "audit"},
};

std::optional<std::string> Find(std::span<const Instead> table, std::string_view word) {
  const auto found = std::ranges::find(table, word, &Instead::word);
  if (found == table.end()) return std::nullopt;
  return std::string(found->write);
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::string HelpHint(const CLI::App& app) {
  return "`" + FullName(app) + " --help` lists the flags and arguments";
}

Problem UnknownFlag(const CLI::App& app, const std::string& flag) {
  const std::string what = "unknown flag " + Quote(flag);
  if (const auto other = Find(kFlags, flag); other && app.get_option_no_throw(*other) != nullptr) {
    return {what, "write " + *other};
  }
  if (const auto command = Find(kFlagsThatAreCommands, flag)) {
    const CLI::App* program = &app;
    while (program->get_parent() != nullptr) program = program->get_parent();
    return {what, "write `" + FullName(*program) + " " + *command + "`"};
  }
  const std::vector<std::string> flags = FlagsOf(app);
  if (const auto near = NearestOf(flag, flags)) {
    return {what, "did you mean " + Quote(*near) + "?"};
  }
  return {what, HelpHint(app)};
}

Problem UnexpectedArgument(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> commands = CommandsOf(app);
  const std::string what = (commands.empty() || word.find('/') != std::string::npos || IsFile(word)
                                ? "unexpected argument "
                                : "unknown command ") +
                           Quote(word);
  if (const auto near = NearestOf(word, commands)) {
    return {what, "did you mean " + Quote(*near) + "?"};
  }
  if (app.get_parent() == nullptr) {
    const auto other = Find(kCommands, word);
    return {what, other ? "write `" + FullName(app) + " " + *other + "`" : HelpHint(app)};
  }
  const CLI::Option* filename = app.get_option_no_throw("--filename");
  // -f takes one path, as in kubectl, but a shell expands an unquoted * to several.
  if (filename != nullptr && filename->count() > 0) {
    return {what, "-f takes one path: repeat -f for each, or quote the pattern: -f '*.yaml'"};
  }
  if (filename != nullptr) return {what, "write -f " + word};
  return {what, HelpHint(app)};
}

// CLI11 wants them behind the command, and kubectl takes them in front of it, too.
std::optional<Problem> FlagBeforeCommand(const CLI::App& app, const CLI::App& chosen,
                                         const std::vector<std::string>& words) {
  if (&chosen == &app || words.empty() || !words.front().starts_with('-')) return std::nullopt;
  std::string before;
  for (const std::string& word : words) {
    if (word == app.get_subcommands().front()->get_name()) break;
    before += " " + word;
  }
  return Problem{"flags stand before the command:" + before,
                 "write `" + FullName(chosen) + before + "`"};
}

// "Could not convert: --days = x": CLI11's words for a value of the wrong type.
std::optional<Problem> WrongType(const CLI::App& app, std::string_view text) {
  constexpr std::string_view kBefore = "Could not convert: ";
  if (!text.starts_with(kBefore)) return std::nullopt;
  text.remove_prefix(kBefore.size());
  const size_t equals = text.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string name(text.substr(0, equals));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return std::nullopt;
  const std::string what = name + ": " + Quote(text.substr(equals + 3)) + " cannot be used";
  if (option->get_type_name().empty()) {
    return Problem{what, "write " + name + " or " + name + "=false"};
  }
  return Problem{what, "write " + name + " " + option->get_type_name()};
}

// Whether `word` gives the option, as "-o", "-oyaml", "--output" or "--output=yaml".
bool Gives(const std::string& word, const CLI::Option& option) {
  const auto is_long = [&word](const std::string& name) {
    return word == "--" + name || word.starts_with("--" + name + "=");
  };
  const auto is_short = [&word](const std::string& name) {
    return !word.starts_with("--") && word.starts_with("-" + name);
  };
  return std::ranges::any_of(option.get_lnames(), is_long) ||
         std::ranges::any_of(option.get_snames(), is_short);
}

// A message about an option that nobody typed is about its environment variable.
std::string WithVariable(const CLI::App& app, std::string what,
                         const std::vector<std::string>& words) {
  const size_t colon = what.find(": ");
  if (!what.starts_with("--") || colon == std::string::npos) return what;
  const CLI::Option* option = app.get_option_no_throw(what.substr(0, colon));
  if (option == nullptr || option->get_envname().empty()) return what;
  const bool typed =
      std::ranges::any_of(words, [option](const auto& word) { return Gives(word, *option); });
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
  if (typed || std::getenv(option->get_envname().c_str()) == nullptr) return what;
  return "variable " + option->get_envname() + what.substr(colon);
}

constexpr const char* kOldNamespace = "-ns";
constexpr const char* kOldName = "--app-name";
const std::string kOldNameWith = "--app-name=";

bool IsOldName(const std::string& word) {
  return word == kOldName || word.starts_with(kOldNameWith);
}

}  // namespace

bool IsFile(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

Problem Explain(const CLI::App& app, const CLI::ParseError& failure,
                const std::vector<std::string>& words) {
  const CLI::App& chosen = Chosen(app);
  const auto extra = chosen.remaining();
  if (!extra.empty()) {
    const std::string word = extra.front().substr(0, extra.front().find('='));
    return word.starts_with('-') ? UnknownFlag(chosen, word) : UnexpectedArgument(chosen, word);
  }
  if (!app.remaining().empty()) {
    if (auto fault = FlagBeforeCommand(app, chosen, words)) return *std::move(fault);
  }
  const std::string text = failure.what();
  if (auto fault = WrongType(chosen, text)) {
    return {WithVariable(chosen, std::move(fault->what), words), std::move(fault->hint)};
  }
  return {WithVariable(chosen, text, words), HelpHint(chosen)};
}

std::vector<std::string> WithoutOldFlags(const std::vector<std::string>& arguments) {
  const bool concerned =
      !arguments.empty() && (arguments.front() == "status" || arguments.front() == "delete") &&
      std::any_of(arguments.begin(), arguments.end(),
                  [](const std::string& word) { return word == kOldNamespace || IsOldName(word); });
  if (!concerned) return arguments;
  std::vector<std::string> words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == kOldNamespace) {
      words.emplace_back("--namespace");
    } else if (word.starts_with(kOldNameWith)) {
      words.push_back(word.substr(kOldNameWith.size()));
    } else if (word != "-n" && word != kOldName) {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace mindgate::cli
