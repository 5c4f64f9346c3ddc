#include "cli/console/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/help.h"

namespace mindgate::cli {

std::string_view DryRunName(DryRun dry_run) {
  return dry_run == DryRun::kClient ? "client" : dry_run == DryRun::kServer ? "server" : "none";
}

CLI::Option* AddDryRun(CLI::App& command, DryRun& value, const std::string& description,
                       const std::string& variable, bool server) {
  const auto read = [&value, server](const CLI::results_t& words) {
    const std::string& word = words.front();
    if (word == "client" || word == "true") {
      value = DryRun::kClient;
    } else if (word == "none" || word == "false") {
      value = DryRun::kNone;
    } else if (word == "server" && server) {
      value = DryRun::kServer;
    } else if (word == "server") {
      throw CLI::ValidationError(
          "--dry-run",
          "this command does not contact a server: write --dry-run or --dry-run=client");
    } else {
      throw CLI::ValidationError("--dry-run", Quote(word) +
                                                  " is not supported: write --dry-run=none, " +
                                                  (server ? "client or server" : "or client") +
                                                  "; --dry-run alone means client");
    }
    return true;
  };
  CLI::Option* option = command.add_option("--dry-run", read, description);
  // The value must follow "=": the next argument may be a name.
  option->type_size(0)->expected(0);
  return option->envname("MINDGATE_" + variable);
}

void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig) {
  const size_t before = command.get_options().size();
  // KUBECONFIG, which may list several files, means the same as for kubectl.
  AddFlag(command, short_kubeconfig ? "-k,--kubeconfig" : "--kubeconfig", flags.kubeconfig,
          "Path to the kubeconfig file (default: $KUBECONFIG, then ~/.kube/config, then the pod's "
          "service account)",
          "KUBECONFIG", "FILE");
  AddFlag(command, "--context", flags.context, "Name of the kubeconfig context to use", "CONTEXT",
          "NAME");
  AddFlag(command, "--cluster", flags.cluster, "Name of the kubeconfig cluster to use", "CLUSTER",
          "NAME");
  AddFlag(command, "--user", flags.user, "Name of the kubeconfig user to use", "USER", "NAME");
  AddFlag(command, "-s,--server", flags.server, "URL of the API server", "SERVER", "URL");
  // No capture_default_str: help would print the token from the environment.
  command.add_option("--token", flags.token, "Bearer token for authentication to the API server")
      ->type_name("TOKEN")
      ->envname("MINDGATE_TOKEN");
  AddFlag(command, "--as", flags.impersonation.user, "User to impersonate", "AS", "NAME");
  command
      .add_option("--as-group", flags.impersonation.groups, "Group to impersonate; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->envname("MINDGATE_AS_GROUP");
  AddFlag(command, "--as-uid", flags.impersonation.uid, "UID to impersonate", "AS_UID", "UID");
  AddFlag(command, "--certificate-authority", flags.certificate_authority,
          "Path to the CA certificate of the API server", "CERTIFICATE_AUTHORITY", "FILE");
  AddFlag(command, "--client-certificate", flags.client_certificate,
          "Path to a client certificate for TLS", "CLIENT_CERTIFICATE", "FILE");
  AddFlag(command, "--client-key", flags.client_key, "Path to the key of the client certificate",
          "CLIENT_KEY", "FILE");
  AddFlag(command, "--tls-server-name", flags.tls_server_name,
          "Server name for validating the API server's certificate (default: the host of its URL)",
          "TLS_SERVER_NAME", "NAME");
  AddSwitch(command, "--insecure-skip-tls-verify", flags.insecure,
            "Do not verify the API server's certificate. This makes the connection insecure",
            "INSECURE_SKIP_TLS_VERIFY");
  AddFlag(command, "--request-timeout", flags.request_timeout,
          "Timeout of a single request, such as 30s or 2m; 0 means no timeout (default: depends on "
          "the command)",
          "REQUEST_TIMEOUT", "TIME");
  const std::vector<CLI::Option*> options = command.get_options();
  for (size_t i = before; i < options.size(); ++i) options[i]->group(kConnectionFlags);
}

void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig) {
  AddClusterFlags(command, flags, short_kubeconfig);
  AddFlag(command, "-n,--namespace", flags.default_namespace,
          "Namespace (default: that of the context)", "NAMESPACE", "NAME");
}

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
