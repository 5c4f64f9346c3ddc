#include "cli/deploy/deploy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/print.h"
#include "cli/console/session.h"
#include "deploy/application.h"
#include "deploy/apply.h"
#include "deploy/check.h"
#include "deploy/config.h"
#include "deploy/history.h"
#include "deploy/plan.h"
#include "json/yaml.h"
#include "kube/subprocess.h"
#include "offline/admission_function.h"
#include "offline/evaluate.h"
#include "offline/inputs.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using deploy::Action;
using deploy::PlannedObject;
using json::Json;
using nlohmann::ordered_json;

const char* WordFor(const PlannedObject& planned) {
  if (planned.replace) return "replace";
  switch (planned.action) {
    case Action::kCreate:
      return "create";
    case Action::kUpdate:
      return "change";
    case Action::kNone:
      return "none";
  }
  return "";
}

void PrintObjects(const std::vector<Json>& objects, std::ostream& out) {
  for (const Json& object : objects) out << "---\n" << json::EncodeYaml(object);
}

class Deployment {
 public:
  Deployment(const DeployOptions& options, Streams& io)
      : options_(options), io_(io), paint_(options.color, io.err_is_terminal) {}

  int Run() {
    if (!options_.rollback.empty()) return RollBack();
    const offline::InputText input =
        std::move(offline::ReadInputs({options_.file}, io_.in).front());
    if (!input.fault.empty()) {
      PrintError(io_.err, input.name + ": " + input.fault);
      return kExitUnusable;
    }
    name_ = input.name;
    text_ = input.text;
    if (const int code = Read(kube::Environment("SERVING_FRAMEWORK")); code != kExitDone) {
      return code;
    }
    if (options_.dry_run == DryRun::kClient) return PrintChecked();
    const StopOnSignal signals;
    const auto connection = Connect(options_.cluster, clock_, {}, io_);
    if (connection == nullptr) return kExitUnusable;
    const deploy::Application& application = configuration_.application;
    deploy::Hold hold(connection->client(), connection->sleeper(), clock_, application.ns,
                      application.name, HolderName());
    return OnCluster(*connection, hold, signals.token());
  }

 private:
  // Deploys a revision that the cluster has, as if it were the file.
  int RollBack() {
    const StopOnSignal signals;
    const auto connection = Connect(options_.cluster, clock_, {}, io_);
    if (connection == nullptr) return kExitUnusable;
    const std::string& ns = connection->ns();
    deploy::Hold hold(connection->client(), connection->sleeper(), clock_, ns, options_.rollback,
                      HolderName());
    // Before the revision is chosen: another run may be about to keep one more.
    if (const auto ends = Take(hold, options_.rollback, ns, signals.token())) return *ends;
    if (const int code = Fetch(connection->client(), ns, signals.token()); code != kExitDone) {
      return code;
    }
    // The file is what somebody who may write ConfigMaps there says.
    const deploy::Application& application = configuration_.application;
    if (application.name != options_.rollback || application.ns != ns) {
      PrintError(io_.err,
                 name_ + " is of application " + application.name + " in namespace " +
                     application.ns + ", not of " + options_.rollback + " in " + ns,
                 "deploy a file with -f");
      return kExitBlocked;
    }
    if (options_.dry_run == DryRun::kClient) return PrintChecked();
    return OnCluster(*connection, hold, signals.token());
  }

  // The exit code when another run has the hold. It is asked once, and not by what writes nothing.
  std::optional<int> Take(deploy::Hold& hold, const std::string& app, const std::string& ns,
                          const std::stop_token& stop) {
    if (asked_for_hold_ || !Writes()) return std::nullopt;
    asked_for_hold_ = true;
    return TakeHold(hold, app, ns, options_.wait_for_lock, io_, stop);
  }

  // Reads the revision.
  int Fetch(kube::Client& client, const std::string& ns, const std::stop_token& stop) {
    const auto revisions = deploy::Revisions(client, ns, options_.rollback, stop);
    if (!revisions) return PrintKubeFault(revisions.error(), io_);
    int64_t number = options_.revision;
    if (number == 0) {
      const auto before = deploy::RevisionBefore(client, ns, options_.rollback, *revisions, stop);
      if (!before) return PrintKubeFault(before.error(), io_);
      number = before->value_or(0);
    }
    const auto meant =
        std::find_if(revisions->begin(), revisions->end(),
                     [number](const deploy::Revision& each) { return each.number == number; });
    if (meant == revisions->end()) {
      PrintError(io_.err,
                 "application " + options_.rollback + " in namespace " + ns + " has no revision " +
                     (options_.revision == 0 ? "before the present one"
                                             : std::to_string(options_.revision)),
                 "`mindgate deploy history " + options_.rollback + " -n " + ns +
                     "` lists those that are kept");
      return kExitNotFound;
    }
    const auto file = deploy::FileOf(client, ns, options_.rollback, number, stop);
    if (!file) return PrintKubeFault(file.error(), io_);
    name_ = "revision " + std::to_string(number);
    note_ = "rollback to " + name_;
    text_ = *file;
    if (configuration_ns_.empty()) configuration_ns_ = ns;
    return Read(meant->framework);
  }

  int PrintChecked() {
    if (!Check({})) return kExitBlocked;
    std::vector<Json> objects;
    for (const auto& each : checked_.objects) objects.push_back(each.object);
    PrintObjects(objects, io_.out);
    return kExitDone;
  }

  int Read(const std::string& framework) {
    const auto config = offline::LoadConfigFile(options_.config_file, io_.err);
    if (!config) return kExitUnusable;
    config_ = *config;
    auto read = deploy::ReadConfiguration(text_, framework);
    if (!read) {
      Print(read.error());
      return kExitInvalidConfig;
    }
    configuration_ = *std::move(read);
    Print(configuration_.warnings);
    return ChooseNamespace();
  }

  // -n is for files that leave the namespace open.
  int ChooseNamespace() {
    // A revision is read in the namespace that has it.
    const std::string& asked =
        configuration_ns_.empty() ? options_.cluster.default_namespace : configuration_ns_;
    deploy::Application& application = configuration_.application;
    if (asked.empty() || asked == application.ns) return kExitDone;
    if (!configuration_.document.contains("app_namespace")) {
      application.ns = asked;
      return kExitDone;
    }
    if (!options_.rollback.empty()) return kExitDone;  // evaluated with the name
    PrintError(
        io_.err,
        "--namespace is " + asked + ", but app_namespace in " + name_ + " is " + application.ns,
        "leave one of them out");
    return kExitUnusable;
  }

  void Print(const json::Issues& issues) { io_.err << json::Render(issues, name_, text_); }

  bool Writes() const { return !options_.diff && options_.dry_run == DryRun::kNone; }

  bool Prunes() const { return options_.prune && !options_.no_prune; }

  // False after a rule denied an object.
  bool Check(const deploy::ClusterContext& cluster_context) {
    checked_ = deploy::Check(configuration_, deploy::Render(configuration_.application), config_,
                             cluster_context, clock_.WallNow());
    json::Issues issues = checked_.override_warnings;
    for (const deploy::CheckFinding& finding : checked_.findings) {
      if (finding.finding.mode == schemas::Mode::kAudit && !finding.Denies()) continue;
      issues.Add(IssueOf(finding, checked_));
    }
    Print(issues);
    return !checked_.denied();
  }

  bool PrintBlockers(const std::vector<Problem>& blockers) {
    for (const Problem& each : blockers) PrintError(io_.err, each);
    return !blockers.empty();
  }

  void PrintNotes(const std::vector<Problem>& notes) {
    for (const Problem& note : notes) {
      io_.err << "note: " << note.what << (note.hint.empty() ? "" : "; " + note.hint) << "\n";
    }
  }

  int OnCluster(Connection& connection, deploy::Hold& hold, const std::stop_token& stop) {
    kube::Client& client = connection.client();
    const deploy::Application& application = configuration_.application;
    const auto ahead = RunPreflight(client, application, deploy::Render(application), stop);
    if (!ahead) return PrintKubeFault(ahead.error(), io_);
    PrintNotes(ahead->notes);
    const bool admitted = Check(ahead->cluster_context);
    // Everything that is in the way is reported at once, and the API server is asked to try only
    // what would be sent.
    const bool possible = !PrintBlockers(ahead->blockers) && admitted;
    if (possible) {
      const auto ends = Take(hold, application.name, application.ns, stop);
      if (ends) return *ends;
    }
    auto plan = MakePlan(client, application, checked_.objects,
                         {.force = options_.force,
                          .replace = options_.replace,
                          .prune = Prunes(),
                          .try_out = possible},
                         stop);
    if (!plan) return possible ? PrintKubeFault(plan.error(), io_) : kExitBlocked;
    if (PrintBlockers(plan->blockers) || !possible) return kExitBlocked;
    // Nodes that are too few even when they are empty have been reported.
    if (plan->changes() && !ahead->outgrows_cluster) {
      std::vector<Json> objects = ahead->cluster_context.objects;
      for (const auto& each : checked_.objects) objects.push_back(each.object);
      PrintNotes(LackOfRoom(client, clock_.WallNow(), application, objects, stop));
    }
    if (options_.diff) return PrintDifferences(*plan);
    if (options_.dry_run == DryRun::kServer) {
      std::vector<Json> objects;
      for (PlannedObject& planned : plan->objects) {
        // What the API server would store, as one would write it.
        objects.push_back(deploy::Comparable(std::move(planned.after)));
      }
      PrintObjects(objects, io_.out);
      return kExitDone;
    }
    return Apply(connection, *plan, hold, stop);
  }

  // As kubectl diff: exit code 1 when something differs.
  int PrintDifferences(const deploy::Plan& plan) {
    const Paint paint(options_.color, io_.out_is_terminal);
    const auto print = [&](const std::string& title, const Json& before, const Json& after) {
      const auto text = [](const Json& object) {
        return object.is_null() ? "" : json::EncodeYaml(deploy::Comparable(object));
      };
      const std::string difference = UnifiedDiff(text(before), text(after), paint);
      if (difference.empty()) return false;
      io_.out << "--- " << title << " on the cluster\n+++ " << title << " deployed\n" << difference;
      return true;
    };
    bool any = false;
    for (const PlannedObject& planned : plan.objects) {
      any = print(planned.Title(), planned.live, planned.after) || any;
    }
    for (const Json& object : plan.surplus) {
      if (Prunes()) any = print(deploy::TitleOf(object), object, nullptr) || any;
    }
    return any ? kExitDenied : kExitDone;
  }

  int Apply(Connection& connection, const deploy::Plan& plan, deploy::Hold& hold,
            const std::stop_token& stop) {
    const deploy::Application& application = configuration_.application;
    const bool json_output = options_.output.Is("json");
    deploy::ApplyResult result;
    {
      ProgressPrinter printer(io_, json_output);
      result = CarryOut(connection.client(), connection.sleeper(), clock_, application, plan,
                        {.force = options_.force,
                         .prune = Prunes(),
                         .wait = options_.wait,
                         .atomic = options_.atomic,
                         .timeout = options_.timeout,
                         .hold = &hold,
                         .settled =
                             [&] {
                               Keep(connection.client(), deploy::kDeployed);
                               hold.Release();
                             }},
                        printer.progress(), stop);
      // What is neither deployed nor as before is a state that somebody may look for.
      if (!settled_ && !options_.atomic && result.written > 0) {
        Keep(connection.client(), deploy::kNotDeployed);
      }
    }
    hold.Release();
    if (!kept_note_.empty()) io_.err << kept_note_ << "\n";
    if (!result.message.empty()) PrintError(io_.err, result.message, RollbackText(result));
    if (json_output) {
      io_.out << offline::Dump(ResultJson(plan, result)) << "\n";
    } else if (result.outcome == deploy::Outcome::kDone) {
      io_.out << "application " << application.name << " in namespace " << application.ns
              << (result.written == 0 ? " is as configured: nothing was changed"
                  : options_.wait || options_.atomic
                      ? " is healthy"
                      : " is deployed; `mindgate status " + application.name + " -n " +
                            application.ns + "` shows how it is")
              << "\n";
    }
    return ExitCodeOf(result.outcome);
  }

  // Keeps the file in the cluster. A deployment whose file cannot be kept has not failed.
  void Keep(kube::Client& client, const char* outcome) {
    settled_ = true;
    const deploy::Application& application = configuration_.application;
    const auto kept =
        deploy::KeepRevision(client, application.ns, application.name,
                             {.time = FormatTime(clock_.WallNow()),
                              .by = HolderName(),
                              .framework = std::string(FrameworkName(application.framework())),
                              .outcome = outcome,
                              .note = note_},
                             text_, {});
    if (kept) {
      revision_ = *kept;
    } else {
      kept_note_ = "note: this configuration is not kept for `mindgate deploy rollback`: " +
                   kept.error().message;
    }
  }

  // What a failure leaves, and what goes on from there.
  std::string RollbackText(const deploy::ApplyResult& result) const {
    if (!options_.atomic) {
      if (result.left.empty()) {
        return "all objects are written; `mindgate status " + configuration_.application.name +
               " -n " + configuration_.application.ns + "` shows how it is";
      }
      return LeftText(result, "written") + "; deploying again goes on from here";
    }
    if (result.rolled_back) return "everything is as it was before";
    return "not as it was before: " + Join(result.not_undone, ", ");
  }

  ordered_json ResultJson(const deploy::Plan& plan, const deploy::ApplyResult& result) {
    const deploy::Application& application = configuration_.application;
    auto objects = ordered_json::array();
    for (const PlannedObject& planned : plan.objects) {
      objects.push_back({{"kind", planned.rendered.Kind()},
                         {"namespace", planned.rendered.Namespace()},
                         {"name", planned.rendered.Name()},
                         {"action", WordFor(planned)}});
    }
    for (const Json& object : plan.surplus) {
      objects.push_back({{"kind", deploy::KindOf(object)},
                         {"namespace", deploy::NamespaceOf(object)},
                         {"name", deploy::NameOf(object)},
                         {"action", Prunes() ? "delete" : "none"}});
    }
    const char* outcome = result.outcome == deploy::Outcome::kDone     ? "done"
                          : result.outcome == deploy::Outcome::kFailed ? "failed"
                                                                       : "timedOut";
    return {{"application", application.name},
            {"namespace", application.ns},
            {"framework", FrameworkName(application.framework())},
            {"outcome", outcome},
            {"message", result.message},
            {"rolledBack", result.rolled_back},
            {"notUndone", result.not_undone},
            {"written", result.written},
            {"left", result.left},
            {"revision", revision_ ? ordered_json(*revision_) : ordered_json(nullptr)},
            {"objects", std::move(objects)}};
  }

  const DeployOptions& options_;
  Streams& io_;
  const Paint paint_;
  const SystemClock clock_{};
  std::string name_;
  std::string text_;
  std::string note_;              // of the revision that is kept
  std::string configuration_ns_;  // of a revision
  bool asked_for_hold_ = false;
  bool settled_ = false;
  std::optional<int64_t> revision_;
  std::string kept_note_;
  schemas::Config config_;
  deploy::Configuration configuration_;
  deploy::CheckedApplication checked_;
};

// A KRM function: a ResourceList in, a ResourceList out. Its functionConfig chooses what is done.
int RunAsFunction(const DeployOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  const offline::InputText input = std::move(offline::ReadInputs({"-"}, io.in).front());
  auto list = schemas::ResourceList::Read(input.text);
  if (!list) {
    PrintError(io.err, list.error());
    return kExitUnusable;
  }
  const Time now = SystemClock().WallNow();
  const auto answer = offline::IsAdmission(*list)
                          ? offline::RunAdmissionFunction(*std::move(list), *config, now)
                          : deploy::RunFunction(*std::move(list), *config, now);
  for (const std::string& line : answer.lines) io.err << line << "\n";
  io.out << answer.output;
  return answer.failed ? kExitDenied : kExitDone;
}

}  // namespace

int RunDeploy(const DeployOptions& options, Streams& io) {
  if (options.function) return RunAsFunction(options, io);
  if (!options.import.empty() && (options.init || options.schema)) {
    PrintError(io.err, "--import, --init and --schema each print something else",
               "give one of the three");
    return kExitUnusable;
  }
  if (options.init) {
    if (options.scripts && *options.init != deploy::Framework::kAibrix) {
      PrintError(io.err, "--scripts: only pods of aibrix run start scripts",
                 "write --init aibrix --scripts");
      return kExitUnusable;
    }
    io.out << (options.scripts ? deploy::StartScripts() : deploy::StarterOf(*options.init));
    return kExitDone;
  }
  if (options.schema) {
    io.out << deploy::ConfigurationSchema(*options.schema).dump(2) << "\n";
    return kExitDone;
  }
  if (!options.import.empty()) {
    if (options.diff || options.dry_run != DryRun::kNone) {
      PrintError(io.err, "--import writes a file and deploys nothing",
                 "deploy the file that it writes with --diff or --dry-run");
      return kExitUnusable;
    }
    return RunDeployImport(options, io);
  }
  if (options.file.empty() && options.rollback.empty()) {
    const bool is_old_flag = !options.config_file.empty();  // that of mindcluster-deploy
    PrintError(io.err, "no configuration",
               is_old_flag
                   ? "--config is mindgate.yaml; name the file of the application with -f or -c"
                   : "name a file with -f; `mindgate deploy --init ome` writes one to start from");
    return kExitUnusable;
  }
  if (options.diff && options.dry_run != DryRun::kNone) {
    PrintError(io.err, "--diff and --dry-run print different things", "leave out one of them");
    return kExitUnusable;
  }
  return Deployment(options, io).Run();
}

}  // namespace mindgate::cli
