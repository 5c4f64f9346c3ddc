// Every flag of every command has an environment variable, named by one rule (cli/flags.h).
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <map>
#include <set>
#include <sstream>

#include "support/cli.h"

namespace mindgate::cli {
namespace {

// The commands as `Run` adds them.
struct Program {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io{in, out, err};
  int exit_code = 0;
  CLI::App app{"", "mindgate"};

  Program() {
    for (const auto add : {AddApply,    AddExplain,      AddTest,         AddSimulate, AddConfig,
                           AddExport,   AddKinds,        AddFix,          AddWebhook,  AddWatch,
                           AddDeploy,   AddDelete,       AddStatus,       AddAudit,    AddWhatIf,
                           AddSnapshot, AddReleaseGates, AddReleaseNodes, AddCerts,    AddDoctor,
                           AddVersion,  AddHelp,         AddCompletion,   AddOptions,  AddWhy}) {
      add(app, io, exit_code);
    }
  }
};

std::string Upper(std::string text) {
  for (char& c : text) c = c == '-' || c == ' ' ? '_' : c >= 'a' && c <= 'z' ? c - 32 : c;
  return text;
}

// Calls `look` for each flag of each command but --help; `path` is as in "certs manage".
void Walk(const CLI::App& app, const std::string& path,
          const std::function<void(const std::string&, const CLI::Option&)>& look) {
  for (const CLI::Option* option : app.get_options()) {
    const bool flag = !option->get_positional() && !option->get_lnames().empty();
    if (flag && option != app.get_help_ptr() && !option->get_group().empty()) look(path, *option);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    Walk(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), look);
  }
}

// Those that have the same meaning wherever they are.
const std::set<std::string> kShared = {
    // kubectl's
    "KUBECONFIG", "CONTEXT", "CLUSTER", "USER", "SERVER", "NAMESPACE", "TOKEN", "AS", "AS_GROUP",
    "AS_UID", "CERTIFICATE_AUTHORITY", "CLIENT_CERTIFICATE", "CLIENT_KEY", "TLS_SERVER_NAME",
    "INSECURE_SKIP_TLS_VERIFY", "REQUEST_TIMEOUT",
    // of what reads documents
    "FILENAME", "OPERATION", "OLD", "NAMESPACE_LABELS", "CONFIG", "COLOR", "RECURSIVE", "EXCLUDE",
    "KUSTOMIZE", "SELECTOR", "STRICT", "POLICIES",
    // of what runs until SIGTERM
    "LOG_FORMAT", "LOG_LEVEL", "PROBE_LISTEN", "LEADER_ELECT", "LEASE", "IDENTITY",
    // of deploying a file and an earlier one
    "DEPLOY_DRY_RUN", "DEPLOY_DIFF", "DEPLOY_WAIT", "DEPLOY_TIMEOUT", "DEPLOY_WAIT_FOR_LOCK",
    "DEPLOY_ATOMIC", "DEPLOY_PRUNE", "DEPLOY_NO_PRUNE", "DEPLOY_FORCE", "DEPLOY_REPLACE",
    "DEPLOY_OUTPUT",
    // of certificates
    "CERTS_DAYS", "CERTS_CA_DAYS", "CERTS_SECRET", "CERTS_MANAGE_SERVICE", "MUTATING_WEBHOOK",
    "VALIDATING_WEBHOOK", "CERTS_PUBLISH_TIME", "CERTS_OVERLAP", "CERTS_DNS", "CERTS_IP",
    "CERTS_SERVICE", "CERTS_DIR", "CERTS_FORCE", "CERTS_OUTPUT",
    // of what is exported to a cluster
    "CONTROLLER_NAMESPACE", "CONTROLLER_USER", "EXCLUDE_NAMESPACE", "NAMESPACE_SELECTOR",
    "EXPORT_LIST"};

TEST(Environment, EveryFlagOfEveryCommandHasAVariable) {
  const Program program;
  std::map<std::string, std::set<std::string>> users;  // of a variable: the commands
  Walk(program.app, "", [&](const std::string& command, const CLI::Option& option) {
    const std::string flag = option.get_lnames().front();
    const std::string variable = option.get_envname();
    const std::string where = command + " --" + flag + ": " + variable;
    EXPECT_TRUE(variable.starts_with("MINDGATE_")) << where << " has no variable";
    if (!variable.starts_with("MINDGATE_")) return;
    users[variable.substr(9)].insert(command);
    // MINDGATE_FLAG, or MINDGATE_COMMAND_FLAG; `watch` has those of `certs manage`.
    std::set<std::string> names = {Upper(flag), Upper(command + " " + flag),
                                   Upper(command.substr(0, command.find(' ')) + " " + flag)};
    if (command == "watch") {
      names.insert({Upper("certs " + flag), Upper("certs manage " + flag)});
    }
    EXPECT_TRUE(names.contains(variable.substr(9))) << where << " is not named by the rule";
  });
  for (const auto& [variable, commands] : users) {
    EXPECT_TRUE(commands.size() == 1 || kShared.contains(variable))
        << variable << " of " << *commands.begin() << " and " << *commands.rbegin()
        << " may mean two things";
  }
  EXPECT_FALSE(users.contains("DOCTOR_NAMESPACE") && users["NAMESPACE"].contains("doctor"));
}

TEST(Environment, TheTestKnowsAllCommands) {
  const Program program;
  std::istringstream help(testing::Cli({"--help"}).out);
  std::set<std::string> listed;
  bool below = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Manifests:" || line == "Flags:") {
      below = line != "Flags:";
    } else if (below && line.starts_with("  ") && line.size() > 2 && line[2] != ' ') {
      listed.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  std::set<std::string> known;
  for (const CLI::App* command :
       program.app.get_subcommands([](const CLI::App*) { return true; })) {
    known.insert(command->get_name());
  }
  EXPECT_EQ(listed, known);
}

}  // namespace
}  // namespace mindgate::cli
