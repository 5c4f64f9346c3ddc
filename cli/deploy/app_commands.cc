#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "cli/deploy/deploy.h"
#include "deploy/history.h"
#include "deploy/remove.h"
#include "kube/subprocess.h"

namespace mindgate::cli {
namespace {

// How soon a stopped command ends its thread.
constexpr int kLookMs = 100;

constexpr const char* kInterruptedEarly = "interrupted; nothing was changed";

// "engine 1/2, decoder 0/1"
std::string SummaryOf(const deploy::Health& health) {
  std::string text;
  for (const deploy::ComponentState& each : health.components) {
    if (!text.empty()) text += ", ";
    text += each.name + " " + std::to_string(each.ready) + "/" + std::to_string(each.wanted);
  }
  return text.empty() ? "no pods yet" : text;
}

void AddDuration(CLI::App& command, const std::string& flag, std::chrono::seconds& value,
                 const std::string& description, const std::string& variable) {
  command
      .add_option_function<std::string>(
          flag,
          [&value, flag](const std::string& text) {
            const auto duration = ParseDuration(text);
            if (!duration) {
              throw CLI::ValidationError(flag,
                                         Quote(text) + " is not a duration: write 90s, 5m or 1h");
            }
            value = *duration;
          },
          description)
      ->type_name("TIME")
      ->default_str(FormatDuration(value))
      ->envname("MINDGATE_" + variable);
}

}  // namespace

StopOnSignal::StopOnSignal()
    : signals_(CatchStopSignals()), watch_([this](const std::stop_token& end) {
        while (!end.stop_requested()) {
          pollfd signal{.fd = signals_.get(), .events = POLLIN, .revents = 0};
          if (::poll(&signal, 1, kLookMs) == 0) continue;
          stop_.request_stop();
          return;
        }
      }) {}

deploy::Progress ProgressPrinter::progress() {
  return {.step = [this](const std::string& line) { Step(line); },
          .waiting = [this](const deploy::Health& health) { Waiting(health); }};
}

void ProgressPrinter::Step(const std::string& line) {
  if (quiet_) return;
  EndLine();
  io_.out << line << std::endl;
}

void ProgressPrinter::Waiting(const deploy::Health& health) {
  const std::string summary = "waiting: " + SummaryOf(health);
  if (quiet_ || summary == shown_) return;
  shown_ = summary;
  if (io_.out_is_terminal) {
    io_.out << EmptyLine << Cut(summary, io_.width - 1) << std::flush;
    open_ = true;
  } else {
    io_.out << summary << std::endl;
  }
}

void ProgressPrinter::EndLine() {
  if (open_) io_.out << std::endl;
  open_ = false;
}

int PrintKubeFault(const kube::Fault& fault, Streams& io) {
  PrintError(io.err, fault.message);
  return fault.reason == kube::Reason::kForbidden ? kExitBlocked : kExitUnusable;
}

std::string HolderName() {
  std::string user = kube::Environment("USER");
  if (user.empty()) user = "uid " + std::to_string(::getuid());
  constexpr size_t kMostUser = 64;
  return user.substr(0, kMostUser) + "@" + kube::HostName() + "/" + std::to_string(::getpid());
}

std::optional<int> TakeHold(deploy::Hold& hold, const std::string& app, const std::string& ns,
                            std::chrono::seconds limit, Streams& io, const std::stop_token& stop) {
  using How = deploy::Hold::Taken::How;
  const auto by = [&](const deploy::Hold::Taken& other) {
    return "application " + app + " in namespace " + ns + " is being changed by " + other.who +
           " since " + other.since;
  };
  const auto taken = hold.Take(
      limit,
      [&](const deploy::Hold::Taken& other) {
        io.err << "note: " << by(other) << "; waiting for it" << std::endl;
      },
      stop);
  switch (taken.how) {
    case How::kHeld:
      return std::nullopt;
    case How::kUnprotected:
      io.err << "note: nothing keeps others from changing application " << app
             << " at the same time, since Lease " << hold.name()
             << " cannot be written: " << taken.why << "\n";
      return std::nullopt;
    case How::kByAnother:
      PrintError(io.err, by(taken),
                 "wait for it with --wait-for-lock 10m; of a run that was killed, Lease " +
                     hold.name() + " counts for nothing after " +
                     FormatDuration(deploy::Hold::kHoldTime));
      return limit.count() > 0 ? kExitTimedOut : kExitBlocked;
    case How::kFailed:
      PrintError(io.err, taken.why);
      return kExitUnusable;
    case How::kStopped:
      PrintError(io.err, kInterruptedEarly);
      return kExitDenied;
  }
  return kExitDenied;
}

std::string LeftText(const deploy::ApplyResult& result, const std::string& word) {
  constexpr size_t kMost = 5;
  if (result.left.empty()) return "";
  const size_t all = result.written + result.left.size();
  return std::to_string(result.written) + " of " + std::to_string(all) + " objects are " + word +
         ", not yet: " + JoinFirst(result.left, kMost);
}

void AddWaitForLock(CLI::App& command, std::chrono::seconds& limit, const std::string& variable) {
  AddDuration(command, "--wait-for-lock", limit,
              "How long to wait for another run that changes the application; 0s refuses at once",
              variable);
}

int ExitCodeOf(deploy::Outcome outcome) {
  switch (outcome) {
    case deploy::Outcome::kDone:
      return kExitDone;
    case deploy::Outcome::kFailed:
      return kExitDenied;
    case deploy::Outcome::kTimedOut:
      return kExitTimedOut;
  }
  return kExitDenied;
}

void AddTimeout(CLI::App& command, std::chrono::seconds& timeout, const std::string& description,
                const std::string& variable) {
  AddDuration(command, "--timeout", timeout, description, variable);
}

namespace {

using deploy::Revision;
using nlohmann::ordered_json;

int CannotRead(const kube::Fault& fault, Streams& io) {
  const int code = PrintKubeFault(fault, io);
  return fault.reason == kube::Reason::kNotFound ? kExitNotFound : code;
}

ordered_json HistoryJson(const std::string& app, const std::string& ns,
                         const std::vector<Revision>& revisions) {
  auto list = ordered_json::array();
  for (const Revision& each : revisions) {
    list.push_back({{"revision", each.number},
                    {"time", each.time},
                    {"by", each.by},
                    {"framework", each.framework},
                    {"outcome", each.outcome},
                    {"note", each.note}});
  }
  return {{"application", app}, {"namespace", ns}, {"revisions", std::move(list)}};
}

}  // namespace

int RunDeployHistory(const DeployHistoryOptions& options, Streams& io) {
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  const std::string& ns = connection->ns();
  if (options.revision > 0) {
    const auto file = deploy::FileOf(connection->client(), ns, options.name, options.revision, {});
    if (!file) return CannotRead(file.error(), io);
    io.out << *file;
    return kExitDone;
  }
  const auto revisions = deploy::Revisions(connection->client(), ns, options.name, {});
  if (!revisions) return CannotRead(revisions.error(), io);
  if (revisions->empty()) {
    PrintError(io.err,
               "no revision of an application " + options.name + " is kept in namespace " + ns,
               "`mindgate deploy` keeps one each time that it changes an application");
    return kExitNotFound;
  }
  const auto print = [&](std::ostream& out, bool) {
    Table table({"REVISION", "TIME", "OUTCOME", "BY", "NOTE"});
    for (const Revision& each : *revisions) {
      table.Add({std::to_string(each.number), each.time, each.outcome, each.by, each.note});
    }
    table.Print(Paint(options.color, io.out_is_terminal), out);
  };
  return PrintOutput(options.output,
                     {.document = [&] { return HistoryJson(options.name, ns, *revisions); },
                      .names =
                          [&] {
                            std::vector<std::string> names;
                            for (const Revision& each : *revisions) {
                              names.push_back(std::to_string(each.number));
                            }
                            return names;
                          },
                      .text = print},
                     io);
}

void AddDeployHistory(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<DeployHistoryOptions>();
  CLI::App* command = parent.add_subcommand(
      "history", "List the configurations that an application was deployed with");
  command->add_option("APP", options->name, "Name of the application")->required()->type_name("");
  command->add_option("REVISION", options->revision, "Print the file of this revision instead")
      ->check(CLI::PositiveNumber)
      ->type_name("");
  AddKubeFlags(*command, options->cluster, /*short_kubeconfig=*/true);
  AddOutputOption(*command, options->output, {"table", "json", "yaml", "name", "jsonpath"},
                  "DEPLOY_HISTORY_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(mindgate deploy keeps the newest 10 files that changed an application, each in a ConfigMap of its namespace.
Exit codes: 0 done, 2 invalid arguments or the cluster cannot be reached, 4 a right is missing, 6 there is none.
Examples:
  mindgate deploy history chat -n llm
  mindgate deploy history chat 3 -n llm > chat.yaml)");
  command->callback([options, &io, &exit_code] { exit_code = RunDeployHistory(*options, io); });
}

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
                 const std::string& ns, Streams& io, const std::stop_token& stop) {
  std::vector<std::string> objects;
  for (const json::Json& object : plan.objects) objects.push_back(deploy::TitleOf(object));
  return IsConfirmed(objects, "Delete application " + options.name + " in namespace " + ns + "?",
                     io, stop);
}

void Forget(kube::Client& client, const std::string& ns, const std::string& app, Streams& io) {
  const auto forgotten = deploy::ForgetRevisions(client, ns, app, {});
  if (forgotten) return;
  io.err << "note: revisions of application " << app
         << ", if there are any, stay: " << forgotten.error().message << "\n";
}

// The exit code when nothing is to be sent: nothing is there or confirmed, or it was only asked
// for.
std::optional<int> EndsBefore(const DeleteOptions& options, const deploy::RemovalPlan& plan,
                              kube::Client& client, const std::string& ns, Streams& io,
                              const std::stop_token& stop) {
  if (plan.objects.empty()) {
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
    for (const json::Json& object : plan.objects) {
      io.out << deploy::TitleOf(object) << " would be deleted\n";
    }
    return kExitDone;
  }
  const bool asks = options.dry_run == DryRun::kNone && !options.yes && !plan.objects.empty();
  if (asks && !IsConfirmed(options, plan, ns, io, stop)) {
    if (stop.stop_requested()) {
      PrintError(io.err, kInterruptedEarly);
    } else {
      io.err << "canceled: nothing was deleted\n";
    }
    return kExitDenied;
  }
  return std::nullopt;
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
  deploy::Hold hold(client, connection->sleeper(), clock, ns, options.name, HolderName());
  // Before the plan: of an application that another run is about to create there is nothing yet.
  if (options.dry_run == DryRun::kNone) {
    const auto ends = TakeHold(hold, options.name, ns, options.wait_for_lock, io, signals.token());
    if (ends) return *ends;
  }
  const auto plan =
      deploy::PlanRemoval(client, ns, options.name, options.keep_store, signals.token());
  if (!plan) return PrintKubeFault(plan.error(), io);
  PrintNotes(*plan, options.name, io.err);
  if (const auto ends = EndsBefore(options, *plan, client, ns, io, signals.token())) {
    return *ends;
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
  if (!result.message.empty() && options.dry_run != DryRun::kNone) {
    PrintError(io.err, result.message, "nothing was deleted: this was a dry run");
  } else if (!result.message.empty()) {
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
