#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <sstream>

#include "admission/mutators/mutator.h"
#include "audit/collections.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/help.h"
#include "kube/subprocess.h"
#include "offline/evaluate.h"
#include "policies/engine.h"
#include "policies/site/site_policies.h"
#include "schemas/names.h"

namespace mindgate::cli {
namespace {

// No completion is better than a shell that hangs.
constexpr std::chrono::seconds kPatience(2);

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Flags on the command line that select the cluster.
using ClusterFlags = std::vector<std::string>;

// What flags on the command line say of where names come from.
struct NameSources {
  ClusterFlags cluster{};
  std::string config_file{};
  std::vector<std::string> policies{};
};

// The defaults where it has a fault: completion has no way to show one.
schemas::Config ConfigOf(const NameSources& sources) {
  std::ostringstream faults;
  auto config = offline::LoadConfigFile(sources.config_file, faults, sources.policies);
  return config ? *std::move(config) : schemas::Config();
}

// The lines that kubectl prints. Empty without kubectl, a cluster or permission: completion has no
// way to show an error.
std::vector<std::string> AskKubectl(std::vector<std::string> arguments, const ClusterFlags& flags) {
  kube::Program program;
  program.command = "kubectl";
  program.arguments = std::move(arguments);
  program.arguments.insert(program.arguments.end(), flags.begin(), flags.end());
  program.environment = kube::WholeEnvironment();
  program.deadline = kPatience;
  const auto ended = kube::RunProgram(program);
  std::vector<std::string> lines;
  if (!ended || ended->exit_code != 0 || ended->signal != 0) return lines;
  for (std::string_view line : Split(ended->output, '\n')) {
    // A name with control characters is none of Kubernetes, and would not come out of a shell
    // whole.
    if (!line.empty() && line.find('\t') == line.npos && IsSafeText(line)) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

std::vector<std::string> Namespaces(const ClusterFlags& flags) {
  std::vector<std::string> names =
      AskKubectl({"get", "namespaces", "-o", "name", "--request-timeout=2s"}, flags);
  for (std::string& name : names) name.erase(0, name.find('/') + 1);
  return names;
}

// Collects the candidates for one word of a command line.
class Offer {
 public:
  explicit Offer(std::string typed) : typed_(std::move(typed)) {}

  void Word(std::string_view word, std::string_view meaning = "") {
    if (word.starts_with(typed_))
      completions_.words.emplace_back(before_ + std::string(word), meaning);
  }
  void Words(const std::vector<std::string>& words) {
    for (const std::string& word : words) Word(word);
  }

  void Commands(const CLI::App& app) {
    for (const std::string& name : CommandsOf(app)) {
      Word(name, app.get_subcommand(name)->get_description());
    }
  }

  void Flags(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group().empty() || option->get_positional()) continue;
      for (const std::string& name : option->get_lnames()) {
        Word("--" + name, option->get_description());
      }
      if (!typed_.starts_with("--")) {
        for (const std::string& name : option->get_snames()) {
          Word("-" + name, option->get_description());
        }
      }
    }
  }

  // The value of a flag, or a positional argument.
  void Value(const CLI::Option& option, const NameSources& sources) {
    const std::string type = option.get_type_name();
    const std::string name =
        option.get_positional() ? option.get_name(true) : option.get_lnames().front();
    if (type.find('|') != std::string::npos) {
      for (std::string_view word : Split(type, '|')) {
        // "jsonpath=..." is completed up to where the template begins.
        Word(word.substr(
            0, word.find('=') == std::string_view::npos ? word.size() : word.find('=') + 1));
      }
    } else if (name == "namespace") {
      Words(Namespaces(sources.cluster));
    } else if (name == "context") {
      Words(AskKubectl({"config", "get-contexts", "-o", "name"}, sources.cluster));
    } else if (name == "RULE") {
      Topics(ConfigOf(sources));
    } else if (type == "RULE") {
      Rules();
    } else if (type == "MUTATOR") {
      for (const auto& mutator : mutators::Mutators()) Word(mutator.name, mutator.summary);
    } else if (name == "KIND") {
      Words(audit::KindNames(ConfigOf(sources).kinds));
    } else if (type == "FILE" || type == "PATH" || name == "FILE" || name == "PATH") {
      completions_.files = Completions::Files::kFiles;
    } else if (type == "DIR" || name == "DIR" || name == "FOLDER") {
      completions_.files = Completions::Files::kFolders;
    }
  }

  // "--output=ya": each candidate keeps the flag as its prefix.
  void Keep(std::string before) {
    before_ = std::move(before);
    typed_.erase(0, before_.size());
  }

  Completions Take() { return std::move(completions_); }

 private:
  void Rules() {
    for (const policies::Rule* rule : policies::Catalogue()) {
      Word(rule->id, rule->name);
      Word(rule->name, rule->summary);
    }
  }

  void Topics(const schemas::Config& config) {
    Rules();
    for (const policies::Rule* rule : policies::Catalogue()) {
      if (typed_.starts_with("rule/")) Word("rule/" + std::string(rule->name), rule->summary);
    }
    if (config.policies != nullptr) {
      for (const policies::Rule* rule : config.policies->rules()) Word(rule->id, rule->summary);
    }
    for (const auto& mutator : mutators::Mutators()) {
      const bool also_rule = policies::FindRule(mutator.name) != nullptr;
      if (!also_rule) Word(mutator.name, mutator.summary);
      if (also_rule || typed_.starts_with("mutator/")) {
        Word("mutator/" + std::string(mutator.name), mutator.summary);
      }
    }
    if (typed_.empty()) return;  // there are many keys
    for (const schemas::KeyFact& fact : schemas::KeyFacts()) Word(fact.key, fact.effect);
  }

  std::string typed_;
  std::string before_;
  Completions completions_;
};

const CLI::Option* OptionNamed(const CLI::App& app, const std::string& word) {
  return app.get_option_no_throw(word.substr(0, word.find('=')));
}

// The parsed words before the one to complete.
struct Line {
  const CLI::App* app;
  const CLI::Option* waiting = nullptr;  // a flag that needs a value
  bool only_arguments = false;           // after "--"
  std::vector<std::string> arguments{};
  NameSources sources{};

  void Read(const std::string& word) {
    if (waiting != nullptr) {
      Note(word);
      waiting = nullptr;
    } else if (!only_arguments && word == "--") {
      only_arguments = true;
    } else if (!only_arguments && word.size() > 1 && word.starts_with('-')) {
      const CLI::Option* option = OptionNamed(*app, word);
      if (option == nullptr || !TakesValue(*option)) return;
      waiting = option;
      const size_t equals = word.find('=');
      if (equals == std::string::npos) return;
      Note(word.substr(equals + 1));
      waiting = nullptr;
    } else if (const auto names = CommandsOf(*app);
               std::find(names.begin(), names.end(), word) != names.end()) {
      app = app->get_subcommand(word);
    } else {
      arguments.push_back(word);
    }
  }

 private:
  void Note(const std::string& value) {
    if (waiting->check_lname("config")) sources.config_file = value;
    if (waiting->check_lname("policies")) sources.policies.push_back(value);
    // kubectl accepts these as well.
    for (const char* name : {"kubeconfig", "context", "cluster", "user", "server"}) {
      if (waiting->check_lname(name)) {
        sources.cluster.push_back("--" + std::string(name) + "=" + value);
      }
    }
  }
};

// The positional argument at an index; the last one may take all that follow.
const CLI::Option* ArgumentAt(const CLI::App& app, size_t place) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<size_t>(std::max(option->get_items_expected_max(), 1));
    if (place < most) return option;
    place -= most;
  }
  return nullptr;
}

}  // namespace

Completions Complete(const CLI::App& app, const std::vector<std::string>& words) {
  Line line{&app};
  for (size_t i = 0; i + 1 < words.size(); ++i) line.Read(words[i]);
  const std::string typed = words.empty() ? "" : words.back();
  Offer offer(typed);
  if (line.waiting != nullptr) {
    offer.Value(*line.waiting, line.sources);
  } else if (!line.only_arguments && typed.starts_with('-')) {
    const size_t equals = typed.find('=');
    const CLI::Option* option =
        equals == std::string::npos ? nullptr : OptionNamed(*line.app, typed);
    if (option != nullptr) {
      offer.Keep(typed.substr(0, equals + 1));
      offer.Value(*option, line.sources);
    } else {
      offer.Flags(*line.app);
    }
  } else if (line.app->get_name() == "help") {
    Line asked{&app};
    for (const std::string& word : line.arguments) asked.Read(word);
    offer.Commands(*asked.app);
  } else {
    offer.Commands(*line.app);
    if (const CLI::Option* option = ArgumentAt(*line.app, line.arguments.size())) {
      offer.Value(*option, line.sources);
    }
  }
  return offer.Take();
}

int RunComplete(const CLI::App& app, const std::vector<std::string>& words, Streams& io) {
  const Completions completions = Complete(app, words);
  for (const auto& [word, meaning] : completions.words) {
    io.out << word;
    if (!meaning.empty()) io.out << "\t" << meaning;
    io.out << "\n";
  }
  // Shell completion directives of Cobra, which kubectl uses.
  switch (completions.files) {
    case Completions::Files::kNone:
      io.out << ":4\n";
      break;
    case Completions::Files::kFiles:
      io.out << ":0\n";
      break;
    case Completions::Files::kFolders:
      io.out << ":16\n";
      break;
  }
  return kExitDone;
}

namespace {

// Bash also splits words at = and :, so the words are taken from the line itself, and the part that
// bash treats as a separate word is removed from each candidate. Names come from the kubeconfigs
// and clusters of others, so each is quoted: what TAB puts on the line must not run. Works with
// bash 3.2 of macOS.
constexpr const char* kBash = R"(# bash completion of mindgate
_mindgate() {
  local line word cut tab directive candidate
  local -a words lines
  line="${COMP_LINE:0:COMP_POINT}"
  tab=$'\t'
  read -ra words <<<"$line"
  case "$line" in *[[:space:]]) words+=("") ;; esac
  word="${words[${#words[@]} - 1]}"
  cut="${word%"${COMP_WORDS[COMP_CWORD]}"}"
  [ "${COMP_WORDS[COMP_CWORD]}" = "=" ] && cut="$word"
  lines=()
  while IFS= read -r candidate; do
    lines+=("$candidate")
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  [ ${#lines[@]} -gt 0 ] || return 0
  directive="${lines[${#lines[@]} - 1]}"
  unset "lines[${#lines[@]} - 1]"
  for candidate in "${lines[@]}"; do
    candidate="${candidate%%"$tab"*}"
    candidate="${candidate#"$cut"}"
    [ -n "$candidate" ] || continue
    printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done
  case "$directive" in
    :0) directive=-f ;;
    :16) directive=-d ;;
    *) return 0 ;;
  esac
  compopt -o filenames 2>/dev/null
  case "$word" in --*=*) word="${word#*=}" ;; esac
  while IFS= read -r candidate; do
    COMPREPLY+=("$candidate")
  done < <(compgen "$directive" -- "$word")
}
complete -F _mindgate mindgate kubectl-mindgate
)";

// An autoloaded file is the body of the function for its first call, and defines it for the others.
constexpr const char* kZsh = R"(#compdef mindgate kubectl-mindgate
# zsh completion of mindgate
_mindgate() {
  local directive line word
  local -a lines offers
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  directive="${lines[-1]}"
  shift -p lines
  for line in "${lines[@]}"; do
    word="${${line%%$'\t'*}//:/\\:}"
    if [[ "$line" == *$'\t'* ]]; then
      offers+=("$word:${line#*$'\t'}")
    else
      offers+=("$word")
    fi
  done
  (( ${#offers} )) && _describe -V mindgate offers
  case "$directive" in
    :0 | :16)
      compset -P '--*='
      [[ "$directive" == :16 ]] && _files -/ || _files
      ;;
  esac
}
if [ "${funcstack[1]}" = "_mindgate" ]; then
  _mindgate "$@"
else
  compdef _mindgate mindgate kubectl-mindgate
fi
)";

constexpr const char* kFish = R"(# fish completion of mindgate
function __mindgate_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l lines ($program __complete $words "$word" 2>/dev/null)
    set -q lines[1]; or return
    set -l directive $lines[-1]
    set -e lines[-1]
    for line in $lines
        echo $line
    end
    switch $directive
        case :0
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- $word)
        case :16
            __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $word)
    end
end
complete -c mindgate -f -a '(__mindgate_complete)'
complete -c kubectl-mindgate -f -a '(__mindgate_complete)'
)";

constexpr const char* kKubectl = R"(#!/bin/sh
# kubectl runs this to complete `kubectl mindgate`. Install it in PATH as kubectl_complete-mindgate.
exec kubectl-mindgate __complete "$@"
)";

}  // namespace

std::string CompletionScript(Shell shell) {
  switch (shell) {
    case Shell::kBash:
      return kBash;
    case Shell::kZsh:
      return kZsh;
    case Shell::kFish:
      return kFish;
    case Shell::kKubectl:
      return kKubectl;
  }
  return "";
}

void AddCompletion(CLI::App& parent, Streams& io, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("completion", "Print a completion script for a shell");
  SetChoices(
      *command
           ->add_option("SHELL", *shell,
                        "Shell to generate the script for; kubectl generates a plugin completion")
           ->required(),
      {"bash", "zsh", "fish", "kubectl"});
  command->footer(R"(`make install` installs the scripts where the shells look for them.

Examples:
  source <(mindgate completion bash)
  mindgate completion zsh > "${fpath[1]}/_mindgate"
  mindgate completion fish > ~/.config/fish/completions/mindgate.fish
  mindgate completion kubectl > kubectl_complete-mindgate   # then chmod +x and move it to a folder in PATH)");
  command->callback([shell, &io, &exit_code] {
    io.out << CompletionScript(*shell == "fish"      ? Shell::kFish
                               : *shell == "zsh"     ? Shell::kZsh
                               : *shell == "kubectl" ? Shell::kKubectl
                                                     : Shell::kBash);
    exit_code = kExitDone;
  });
}

}  // namespace mindgate::cli
