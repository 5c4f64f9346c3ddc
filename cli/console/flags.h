#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console/session.h"
#include "kube/access.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace mindgate::cli {

// Every flag has an environment variable: MINDGATE_ and the flag's long name. Commands share it if
// the flag has the same meaning (MINDGATE_CONTEXT); otherwise it includes the command
// (MINDGATE_STATUS_OUTPUT).

// An option with the variable MINDGATE_`variable`.
template <typename T>
CLI::Option* AddFlag(CLI::App& command, const std::string& name, T& value,
                     const std::string& description, const std::string& variable,
                     const std::string& type) {
  return command.add_option(name, value, description)
      ->capture_default_str()
      ->envname("MINDGATE_" + variable)
      ->type_name(type);
}

// The group of flags that `mindgate options` lists for all commands.
inline constexpr const char* kConnectionFlags = "Connection";

// A boolean flag.
inline CLI::Option* AddSwitch(CLI::App& command, const std::string& name, bool& value,
                              const std::string& description, const std::string& variable) {
  return command.add_flag(name, value, description)->envname("MINDGATE_" + variable);
}

// --dry-run as in kubectl: none, client or server; client if no value is given. Without `server`
// the command contacts no server, and that value is rejected.
enum class DryRun { kNone, kClient, kServer };
std::string_view DryRunName(DryRun dry_run);
CLI::Option* AddDryRun(CLI::App& command, DryRun& value, const std::string& description,
                       const std::string& variable, bool server);

void AddLogFlags(CLI::App& command, LogOptions& options);

// kubectl's flags for selecting a cluster.
// With `short_kubeconfig`, -k means --kubeconfig, as in mindcluster-deploy.
void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig = false);
// The same, and a namespace.
void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig = false);

// What is wrong with arguments that cannot be used. `app` is the program, whose command was chosen
// as far as the arguments say, and `words` are the arguments, for which `failure` was thrown.
Problem Explain(const CLI::App& app, const CLI::ParseError& failure,
                const std::vector<std::string>& words);

// Whether a word is the name of a manifest's file: "chat.yaml". A key may hold a slash as well.
bool IsFile(const std::string& word);

// The arguments of `status` and `delete` as the deploy tool of mindcluster-deploy takes them in
// ours: there -n and --app-name name the application and -ns the namespace. CLI11, like every
// parser of POSIX flags, reads -ns as -n with the value "s". Arguments with neither -ns nor
// --app-name are left alone: in those -n is the namespace, as in kubectl.
std::vector<std::string> WithoutOldFlags(const std::vector<std::string>& arguments);

}  // namespace mindgate::cli
