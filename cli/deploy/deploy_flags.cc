#include <CLI/CLI.hpp>
#include <memory>

#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/deploy/deploy.h"
#include "deploy/application.h"

// The flags and help texts of `deploy` and `deploy rollback`.
namespace mindgate::cli {
namespace {

// What deploying a file and rolling back share.
void AddApplyFlags(CLI::App& command, DeployOptions& options) {
  AddDryRun(command, options.dry_run,
            "Print the objects as YAML and change nothing: none, client (the default without a "
            "value) or server. client needs no cluster, server lets the API server try them",
            "DEPLOY_DRY_RUN", true);
  AddSwitch(command, "--diff", options.diff,
            "Print what deploying would change, and change nothing", "DEPLOY_DIFF");
  AddSwitch(command, "--wait", options.wait, "Wait until every pod is ready", "DEPLOY_WAIT");
  AddTimeout(command, options.timeout, "Time limit of all waiting together", "DEPLOY_TIMEOUT");
  AddWaitForLock(command, options.wait_for_lock, "DEPLOY_WAIT_FOR_LOCK");
  AddSwitch(command, "--atomic", options.atomic,
            "Undo everything when something fails or is not ready in time; implies --wait",
            "DEPLOY_ATOMIC");
  CLI::Option* prune = AddSwitch(
      command, "--prune", options.prune,
      "Delete objects of the application that its configuration no longer has; the default",
      "DEPLOY_PRUNE");
  AddSwitch(command, "--no-prune", options.no_prune,
            "Keep objects of the application that its configuration no longer has",
            "DEPLOY_NO_PRUNE")
      ->excludes(prune);
  AddSwitch(command, "--force", options.force, "Take over objects and fields of others",
            "DEPLOY_FORCE");
  AddSwitch(
      command, "--replace", options.replace,
      "Delete AscendJobs that changed and submit them again: Ascend Operator reads a job once",
      "DEPLOY_REPLACE");
  AddFlag(command, "--config", options.config_file,
          "Configuration file of mindgate, mindgate.yaml (default: built-in defaults)", "CONFIG",
          "FILE");
}

void AddRollback(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DeployOptions>();
  CLI::App* command = parent.add_subcommand(
      "rollback", "Deploy again a configuration that an application had before");
  command->add_option("APP", options->rollback, "Name of the application")
      ->required()
      ->type_name("");
  command
      ->add_option("REVISION", options->revision,
                   "Its number (default: the newest that differs from the present one)")
      ->check(CLI::PositiveNumber)
      ->type_name("");
  AddApplyFlags(*command, *options);
  AddKubeFlags(*command, options->cluster, /*short_kubeconfig=*/true);
  AddOutputOption(*command, options->output, {"text", "json"}, "DEPLOY_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(The file of the revision is deployed as `mindgate deploy -f` does it, with this program and its rules, and becomes
a revision of its own. It must be of the same application and namespace.
Exit codes: those of `mindgate deploy`, and 6 where there is no such revision.
Examples:
  mindgate deploy history chat -n llm
  mindgate deploy rollback chat -n llm --diff
  mindgate deploy rollback chat 3 -n llm --atomic)");
  command->callback([options, &io, &exit_code] { exit_code = RunDeploy(*options, io); });
}

}  // namespace

void AddDeploy(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DeployOptions>();
  CLI::App* command = parent.add_subcommand(
      "deploy", "Deploy an application with prefill and decode instances from a short file");
  AddFlag(*command, "-f,-c,--filename", options->file,
          "Configuration of the application: a file, a URL, or - for standard input", "FILENAME",
          "FILE");
  CLI::Option* init = command->add_option_function<std::string>(
      "--init",
      [options](const std::string& word) { options->init = deploy::FrameworkNamed(word); },
      "Print a configuration to start from, and do nothing else");
  init->envname("MINDGATE_DEPLOY_INIT");
  SetChoices(*init, {"ome", "aibrix", "mindie"});
  AddSwitch(*command, "--scripts", options->scripts,
            "With --init aibrix: print a ConfigMap with the start scripts of its pods instead",
            "DEPLOY_SCRIPTS");
  CLI::Option* schema = command->add_option_function<std::string>(
      "--schema",
      [options](const std::string& word) { options->schema = deploy::FrameworkNamed(word); },
      "Print the JSON Schema of a configuration, for editors, and do nothing else");
  schema->envname("MINDGATE_DEPLOY_SCHEMA");
  SetChoices(*schema, {"ome", "aibrix", "mindie"});
  AddFlag(
      *command, "--import", options->import,
      "Print a configuration of this application, which mindcluster-deploy's tool deployed, and "
      "what deploying it would change; change nothing. It is read on the cluster, or with -f in "
      "files of its objects",
      "DEPLOY_IMPORT", "APP");
  AddSwitch(*command, "--function", options->function,
            "Be a KRM function: read a ResourceList with the configuration from standard input and "
            "print it with the objects, for kustomize and kpt",
            "DEPLOY_FUNCTION");
  AddApplyFlags(*command, *options);
  AddKubeFlags(*command, options->cluster, /*short_kubeconfig=*/true);
  AddOutputOption(*command, options->output, {"text", "json"}, "DEPLOY_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Before anything is written, every object runs through mindgate's rules, the cluster is checked, and the API
server tries every object. The store comes first and must be ready, then the rest. Deploying again changes
what the file changed and nothing else; objects of others are refused. While one run changes an application, a second
one is refused, or waits with --wait-for-lock.
SERVING_FRAMEWORK chooses the framework of files without the key framework.
Exit codes: 0 done, 1 failed (or, with --diff, something differs), 2 invalid arguments or the cluster cannot be
reached, 3 invalid configuration, 4 denied by a rule or not possible on this cluster, 5 timed out; of --import also
6, there is no such application.
Examples:
  mindgate deploy --init ome > chat.yaml
  mindgate deploy --import chat -n llm > chat.yaml
  mindgate deploy --init aibrix --scripts | kubectl apply -n llm -f -
  mindgate deploy -f chat.yaml --dry-run | kubectl diff -f -
  mindgate deploy -f chat.yaml --diff
  mindgate deploy -f chat.yaml --wait --timeout 20m
  mindgate deploy -f chat.yaml --atomic
  mindgate deploy history chat
  mindgate deploy rollback chat --atomic)");
  AddDeployHistory(*command, io, exit_code);
  AddRollback(*command, io, exit_code);
  command->callback([options, command, &io, &exit_code] {
    // CLI11 calls this after the callback of a subcommand.
    if (command->get_subcommands().empty()) exit_code = RunDeploy(*options, io);
  });
}

}  // namespace mindgate::cli
