#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "cli/console/commands.h"
#include "cli/console/complete.h"

namespace mindgate::cli {
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
