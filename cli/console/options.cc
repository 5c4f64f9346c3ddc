#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"

namespace mindgate::cli {

void SetChoices(CLI::Option& option, std::vector<std::string> words) {
  option.type_name(Join(words, "|"));
  option.check(
      [words = std::move(words)](const std::string& word) {
        const std::vector<std::string_view> known(words.begin(), words.end());
        if (std::find(known.begin(), known.end(), word) != known.end()) return std::string();
        const auto near = NearestOf(word, known);
        return Quote(word) + " is not supported: write " + OneOf(known) +
               (near ? "; did you mean " + Quote(*near) + "?" : "");
      },
      "");
}

namespace {

void AddFolderOptions(CLI::App& command, offline::InputOptions& options) {
  command
      .add_flag("-R,--recursive", options.recursive,
                "Read folders recursively (the default). --recursive=false reads one level only")
      ->envname("MINDGATE_RECURSIVE");
  command
      .add_option("--exclude", options.exclude,
                  "Files and folders to skip: a glob for names or, with a slash, for paths "
                  "relative to the folder given with -f. May be repeated")
      ->allow_extra_args(false)
      ->type_name("GLOB")
      ->envname("MINDGATE_EXCLUDE");
}

void AddSelectorOption(CLI::App& command, offline::InputOptions& options) {
  command
      .add_option(
          "-l,--selector", options.selector,
          "Label selector for objects. Supports a=b, a!=b, 'a in (b,c)', 'a notin (b)', a and !a")
      ->type_name("SELECTOR")
      ->envname("MINDGATE_SELECTOR");
}

void AddSettingOptions(CLI::App& command, offline::InputOptions& options) {
  command
      .add_option("-n,--namespace", options.ns,
                  "Namespace of objects that do not set one (default: default)")
      ->type_name("NAME")
      ->envname("MINDGATE_NAMESPACE");
  command
      .add_option("--namespace-labels", options.namespace_labels,
                  "Labels of the namespace. mindgate.io/inject=disabled turns injection off")
      ->type_name("KEY=VALUE,...")
      ->envname("MINDGATE_NAMESPACE_LABELS");
  command
      .add_option("--config", options.config_file,
                  "Configuration file, mindgate.yaml (default: built-in defaults)")
      ->type_name("FILE")
      ->envname("MINDGATE_CONFIG");
  AddPoliciesOption(command, options.policies);
}

void AddFileOption(CLI::App& command, offline::InputOptions& options,
                   const std::string& description) {
  command.add_option("-f,--filename", options.files, description)
      ->allow_extra_args(false)
      ->type_name("PATH")
      ->envname("MINDGATE_FILENAME");
}

}  // namespace

void AddInputOptions(CLI::App& command, offline::InputOptions& options) {
  AddFileOption(command, options,
                "File, folder, glob, http(s) URL, or - for standard input. Separate several with "
                "commas, or repeat -f");
  AddFolderOptions(command, options);
  command
      .add_option("-k,--kustomize", options.kustomizations,
                  "Folder with a kustomization, built with kustomize or kubectl")
      ->allow_extra_args(false)
      ->type_name("DIR")
      ->envname("MINDGATE_KUSTOMIZE");
  AddSelectorOption(command, options);
  SetChoices(
      *command
           .add_option(
               "--operation", options.operation,
               "Operation of the request (default: UPDATE for objects found in --old, else CREATE)")
           ->envname("MINDGATE_OPERATION"),
      {"CREATE", "UPDATE"});
  command
      .add_option("--old", options.old_file,
                  "The objects before the update: file, folder or - for standard input")
      ->type_name("PATH")
      ->envname("MINDGATE_OLD");
  AddSettingOptions(command, options);
}

void AddWritableInputOptions(CLI::App& command, offline::InputOptions& options) {
  AddFileOption(command, options,
                "File, folder, glob, or - for standard input. Separate several with commas, or "
                "repeat -f");
  AddFolderOptions(command, options);
  AddSelectorOption(command, options);
  AddSettingOptions(command, options);
}

void AddLogFlags(CLI::App& command, LogOptions& options) {
  SetChoices(*AddFlag(command, "--log-format", options.format, "Format of log lines", "LOG_FORMAT",
                      "TEXT"),
             {"json", "text"});
  SetChoices(
      *AddFlag(command, "--log-level", options.level, "Lowest level to log", "LOG_LEVEL", "TEXT"),
      {"debug", "info", "warning", "error"});
}

void AddPoliciesOption(CLI::App& command, std::vector<std::string>& policies) {
  command
      .add_option("--policies", policies,
                  "File or folder with policies of your own (ValidatingAdmissionPolicy), beside "
                  "those of the configuration. Repeat it for several")
      ->allow_extra_args(false)
      ->type_name("PATH")
      ->envname("MINDGATE_POLICIES");
}

void AddColorOption(CLI::App& command, ColorMode& color) {
  CLI::Option* option = command.add_option_function<std::string>(
      "--color",
      [&color](const std::string& word) {
        color = word == "always"  ? ColorMode::kAlways
                : word == "never" ? ColorMode::kNever
                                  : ColorMode::kAuto;
      },
      "Colored output. auto uses color on a terminal unless NO_COLOR is set or TERM is dumb");
  option->envname("MINDGATE_COLOR");
  SetChoices(*option, {"auto", "always", "never"});
}

}  // namespace mindgate::cli
