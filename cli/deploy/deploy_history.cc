#include "cli/deploy/deploy_history.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/problem.h"
#include "cli/console/commands.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/deploy/app_run.h"
#include "cli/deploy/deploy.h"
#include "deploy/history.h"

namespace mindgate::cli {
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

}  // namespace mindgate::cli
