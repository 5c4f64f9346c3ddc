#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/console/service.h"
#include "kube/access.h"

// Every flag has an environment variable: MINDGATE_ and the flag's long name. Commands share it if
// the flag has the same meaning (MINDGATE_CONTEXT); otherwise it includes the command
// (MINDGATE_STATUS_OUTPUT).
namespace mindgate::cli {

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

}  // namespace mindgate::cli
