#include "cli/deploy/delete.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/problem.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/console/terminal.h"
#include "cli/deploy/app_run.h"
#include "cli/deploy/deploy.h"
#include "deploy/history.h"
#include "deploy/remove.h"

namespace mindgate::cli {
namespace {

// What is not deleted, and what may not stay deleted.
void PrintNotes(const deploy::RemovalPlan& plan, const std::string& app, std::ostream& err) {
  for (const std::string& title : plan.foreign) {
    err << "note: " << title
        << " carries the labels of the application, but mindgate deploy did not make it: it "
           "stays\n";
  }
  if (!plan.applied_by_others.empty()) {
    err << "note: applied by other means than mindgate deploy: "
        << Join(plan.applied_by_others, ", ")
        << "; what applies them, such as Argo CD, makes them again unless they are removed there "
           "too\n";
  }
  for (const deploy::Unread& unread : plan.unread) {
    err << "note: if application " << app << " has a " << unread.kind
        << ", it stays, for these may not be listed: " << unread.message << "\n";
  }
}

bool IsConfirmed(const DeleteOptions& options, const deploy::RemovalPlan& plan,
                 const std::string& ns, Streams& io) {
  std::vector<std::string> objects;
  for (const json::Json& object : plan.objects) objects.push_back(deploy::TitleOf(object));
  return IsConfirmed(objects, "Delete application " + options.name + " in namespace " + ns + "?",
                     io);
}

void Forget(kube::Client& client, const std::string& ns, const std::string& app, Streams& io) {
  const auto forgotten = deploy::ForgetRevisions(client, ns, app, {});
  if (forgotten) return;
  io.err << "note: revisions of application " << app
         << ", if there are any, stay: " << forgotten.error().message << "\n";
}

}  // namespace

int RunDelete(const DeleteOptions& options, Streams& io) {
  if (options.dry_run == DryRun::kNone && !options.yes && !io.in_is_terminal) {
    PrintError(io.err, "confirmation is not possible: standard input is not a terminal",
               "add --yes, or look first with --dry-run");
    return kExitUnusable;
  }
  const SystemClock clock;
  const StopOnSignal signals;
  const auto connection = Connect(options.cluster, clock, {}, io);
  if (connection == nullptr) return kExitUnusable;
  kube::Client& client = connection->client();
  const std::string& ns = connection->ns();
  auto plan = deploy::PlanRemoval(client, ns, options.name, options.keep_store, signals.token());
  if (!plan) return PrintKubeFault(plan.error(), io);
  PrintNotes(*plan, options.name, io.err);
  if (plan->objects.empty()) {
    io.out << "application " << options.name << " has no objects in namespace " << ns
           << ": nothing to delete\n";
    if (options.dry_run != DryRun::kNone) return kExitDone;
    // Its pods may still be going, and whoever deleted it by other means left its revisions.
    if (options.no_wait) {
      Forget(client, ns, options.name, io);
      return kExitDone;
    }
  }
  if (options.dry_run == DryRun::kClient) {
    for (const json::Json& object : plan->objects) {
      io.out << deploy::TitleOf(object) << " would be deleted\n";
    }
    return kExitDone;
  }
  const bool asks = options.dry_run == DryRun::kNone && !options.yes && !plan->objects.empty();
  if (asks && !IsConfirmed(options, *plan, ns, io)) {
    io.err << "canceled: nothing was deleted\n";
    return kExitDenied;
  }
  deploy::Hold hold(client, connection->sleeper(), clock, ns, options.name, HolderName());
  if (options.dry_run == DryRun::kNone && !plan->objects.empty()) {
    bool waited = false;
    if (const auto ends =
            TakeHold(hold, options.name, ns, options.wait_for_lock, waited, io, signals.token())) {
      return *ends;
    }
    if (waited) {
      plan = deploy::PlanRemoval(client, ns, options.name, options.keep_store, signals.token());
      if (!plan) return PrintKubeFault(plan.error(), io);
    }
  }
  deploy::ApplyResult result;
  {
    ProgressPrinter printer(io, false);
    result = deploy::Remove(client, connection->sleeper(), clock, ns, options.name, *plan,
                            {.keep_store = options.keep_store,
                             .wait = !options.no_wait,
                             .dry_run = options.dry_run == DryRun::kServer,
                             .timeout = options.timeout,
                             .hold = &hold,
                             .settled =
                                 [&] {
                                   if (options.dry_run != DryRun::kNone) return;
                                   Forget(client, ns, options.name, io);
                                   hold.Release();
                                 }},
                            printer.progress(), signals.token());
  }
  if (!result.message.empty()) {
    const std::string left = LeftText(result, "deleted");
    PrintError(io.err, result.message,
               (left.empty() ? "" : left + "; ") + "deleting again goes on from here");
  }
  return result.forbidden ? kExitBlocked : ExitCodeOf(result.outcome);
}

void AddDelete(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DeleteOptions>();
  CLI::App* command = parent.add_subcommand("delete", "Delete an application that deploy made");
  command->add_option("APP", options->name, "Name of the application")->required()->type_name("");
  AddSwitch(*command, "--keep-store", options->keep_store,
            "Leave the MemFabric store of an OME application", "DELETE_KEEP_STORE");
  AddSwitch(*command, "--no-wait", options->no_wait,
            "Do not wait until objects, pods and PodGroups are gone", "DELETE_NO_WAIT");
  AddTimeout(*command, options->timeout, "Time limit of waiting", "DELETE_TIMEOUT");
  AddWaitForLock(*command, options->wait_for_lock, "DELETE_WAIT_FOR_LOCK");
  AddDryRun(
      *command, options->dry_run,
      "Delete nothing: none, client (the default without a value) or server. client lists the "
      "objects, server also lets the API server try it",
      "DELETE_DRY_RUN", true);
  AddSwitch(*command, "-y,--yes", options->yes, "Do not ask for confirmation", "DELETE_YES");
  AddKubeFlags(*command, options->cluster, /*short_kubeconfig=*/true);
  command->footer(
      R"(What mindgate deploy made for the application is deleted, and nothing else, whatever its framework. It asks for
confirmation on a terminal. Deleting again is fine, and goes on where the first time ended: an application that does
not exist is gone.
Exit codes: 0 gone, 1 failed or canceled, 2 invalid arguments or the cluster cannot be reached, 4 a right is missing,
5 timed out.
Examples:
  mindgate delete chat -n llm --dry-run
  mindgate delete chat -n llm --yes)");
  command->callback([options, &io, &exit_code] { exit_code = RunDelete(*options, io); });
}

}  // namespace mindgate::cli
