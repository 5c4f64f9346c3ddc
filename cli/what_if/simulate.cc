#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/console/commands.h"
#include "cli/what_if/what_if.h"
#include "offline/inputs.h"
#include "offline/report.h"
#include "simulation/player.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Prints each scenario as soon as it ends: there may be many long timelines.
class Printer {
 public:
  Printer(const SimulateOptions& options, std::ostream& out)
      : json_(options.output == "json"), html_(options.output == "html"), out_(out) {}

  void Add(const simulation::Scenario& scenario, const std::string& file) {
    simulation::Playback playback = simulation::Play(scenario);
    ++played_;
    if (!playback.Passed()) ++failed_;
    const std::string name = scenario.name.empty() ? file : scenario.name;
    if (json_) {
      objects_.push_back(simulation::TimelineJson(name, file, playback));
      return;
    }
    if (html_) {
      pages_.push_back({name, file, std::move(playback)});
      return;
    }
    if (played_ > 1) out_ << "\n";
    out_ << simulation::TimelineText(name == file ? file : name + " (" + file + ")", playback);
  }

  void Finish() {
    if (json_) {
      if (played_ > 0) out_ << offline::Dump(played_ == 1 ? objects_.front() : objects_) << "\n";
    } else if (html_) {
      out_ << simulation::TimelinePage(pages_);
    } else if (played_ > 1) {
      out_ << "\n"
           << played_ << " scenarios: " << played_ - failed_ << " passed, " << failed_
           << " failed\n";
    }
  }

  bool failed() const { return failed_ > 0; }

 private:
  bool json_;
  bool html_;
  std::ostream& out_;
  OrderedJson objects_ = OrderedJson::array();
  std::vector<simulation::PlayedScenario> pages_;
  size_t played_ = 0;
  size_t failed_ = 0;
};

}  // namespace

int RunSimulate(const SimulateOptions& options, Streams& io) {
  if (options.paths.empty()) {
    PrintError(io.err, "no scenarios to run",
               "give files or folders with -f, or - for standard input");
    return kExitUnusable;
  }
  Printer printer(options, io.out);
  bool bad = false;
  for (const offline::InputText& input : offline::ReadInputs(options.paths, io.in)) {
    if (!input.fault.empty()) {
      PrintError(io.err, input.name + ": " + input.fault);
      bad = true;
      continue;
    }
    const simulation::ScenarioReading reading = simulation::ReadScenarios(input.text);
    if (!reading.issues.empty()) {
      io.err << json::Render(reading.issues, input.name, input.text);
      bad = true;
    }
    io.err << json::Render(reading.warnings, input.name, input.text);
    for (const simulation::Scenario& scenario : reading.scenarios) {
      printer.Add(scenario, input.name);
    }
  }
  printer.Finish();
  return bad ? kExitUnusable : printer.failed() ? kExitDenied : kExitDone;
}

void AddSimulate(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      parent.add_subcommand("simulate", "Simulate how the watcher reacts to faults");
  command
      ->add_option("-f,--filename", options->paths,
                   "File, folder, glob, http(s) URL, or - for standard input. Separate several "
                   "with commas, or repeat -f")
      ->allow_extra_args(false)
      ->type_name("PATH")
      ->envname("MINDGATE_SIMULATE_FILENAME");
  SetChoices(*command->add_option("-o,--output", options->output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_SIMULATE_OUTPUT"),
             {"text", "json", "html"});
  command->footer(R"(A scenario:
  name: a node breaks
  nodes: [{prefix: npu-, count: 2, npus: 8}]
  rules:
    - name: rule
      text: {version: "1.0", elastic_scaling_list: [{group_list: [
        {group_name: g0, group_num: "1", server_num_per_group: "1"}]}]}
  services:
    - {jobID: chat, rule: rule, instances: [{name: p0, group: g0, npusPerPod: 8}]}
  timeline:
    - {at: 1m, expect: {running: [p0], shape: 1}}
    - {at: 90s, breakNode: npu-0}
    - {at: 3m, expect: {running: {g0: 1}}}

With jobs instead of rules and services it is about pods that are restarted because of faults:
  name: a chip fails
  nodes: [{prefix: npu-, count: 2, npus: 8}]
  options: {rescheduling: {mode: enforce}}
  jobs: [{name: train, labels: {fault-scheduling: force}}]
  timeline:
    - {at: 2m, report: {node: npu-0, unhealthy: [3]}}
    - {at: 2m, expectJob: {deleted: {2m: [train-0]}}}

The simulation runs the watcher's own code on simulated pods and a simulated clock. It does not contact a cluster.
Exit codes: 0 all expectations are met, 1 an expectation is not met, 2 a scenario is invalid.

Examples:
  mindgate simulate -f examples/scenarios
  mindgate simulate -f scenario.yaml -o html > scenario.html
  mindgate simulate -f scenario.yaml -o json | jq '.events[] | select(.event == "granted")')");
  command->callback([options, &io, &exit_code] { exit_code = RunSimulate(*options, io); });
}

}  // namespace mindgate::cli
