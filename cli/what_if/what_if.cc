#include "cli/what_if/what_if.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/print.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "cli/status/status.h"
#include "offline/evaluate.h"
#include "offline/report.h"
#include "what_if/forecaster.h"
#include "what_if/survey.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using what_if::Impact;
using what_if::SingleLoss;
using what_if::StoppedInstance;

void PrintEachJson(const EachReport& report, std::ostream& out);

void PrintEach(const EachReport& report, bool wide, const Paint& paint, std::ostream& out);

// What fits on a screen; `-o wide` and JSON have all.
constexpr size_t kMaxRows = 20;
constexpr size_t kMaxStopped = 3;
constexpr size_t kMaxNames = 8;
constexpr size_t kAll = static_cast<size_t>(-1);

std::string TitleOf(const StoppedInstance& one) { return one.ns + "/" + one.owner; }

std::vector<std::string> CostFree(const EachReport& report) {
  std::vector<std::string> names;
  for (const Impact& impact : report.impacts) {
    if (impact.costs_nothing()) names.push_back(impact.name);
  }
  return names;
}

OrderedJson InstancesJson(const std::vector<StoppedInstance>& instances) {
  OrderedJson json = OrderedJson::array();
  for (const StoppedInstance& one : instances) {
    json.push_back({{"namespace", one.ns},
                    {"owner", one.owner},
                    {"podGroup", one.pod_group},
                    {"fate", what_if::OutcomeName(one.outcome)},
                    {"podsWithoutPlace", one.without_place}});
  }
  return json;
}

OrderedJson ImpactJson(const Impact& impact) {
  OrderedJson services = OrderedJson::array();
  for (const what_if::ServiceForecast& service : impact.shrunk) {
    services.push_back(ServiceJson(service));
  }
  OrderedJson missing = OrderedJson::object();
  for (const auto& [resource, npus] : impact.missing) missing[resource] = npus;
  return {{"name", impact.name},
          {"down", InstancesJson(impact.down)},
          {"degraded", InstancesJson(impact.degraded)},
          {"services", std::move(services)},
          {"moved", impact.moved},
          {"podsWithoutPlace", impact.without_place},
          {"missing", std::move(missing)}};
}

std::vector<SingleLoss> LossesOf(const EachOptions& each, const what_if::Inventory& inventory) {
  if (each.node) return EachNode(inventory);
  if (each.card) return EachCard(inventory);
  return EachValue(inventory, each.label);
}

// Nothing to lose.
int Complain(const EachOptions& each, const what_if::Inventory& inventory, Streams& io) {
  if (inventory.nodes.empty()) {
    PrintError(io.err, "the cluster has no nodes",
               "`kubectl get nodes` shows those of the cluster that is asked");
  } else if (each.card) {
    PrintError(io.err, "--each-card: no node has NPUs",
               "`kubectl describe nodes` shows what the device plugin reports");
  } else {
    PrintError(io.err, "--each " + each.label + ": no node has the label " + Quote(each.label),
               "`kubectl get nodes --show-labels` shows the labels of all nodes");
  }
  return kExitUnusable;
}

// Without those of nodes that are lost or drained in any case.
std::vector<SingleLoss> LossesBeside(const what_if::Hypothesis& base,
                                     std::vector<SingleLoss> losses) {
  auto gone = DrainedNodes(base);
  gone.insert(base.lost.begin(), base.lost.end());
  std::erase_if(losses, [&](const SingleLoss& loss) {
    const auto nodes = NodesOf(loss.hypothesis);
    return std::includes(gone.begin(), gone.end(), nodes.begin(), nodes.end());
  });
  return losses;
}

}  // namespace

std::string MissingText(const Impact& impact) {
  std::vector<std::string> texts;
  for (const auto& [resource, npus] : impact.missing) {
    texts.push_back(std::to_string(npus) + " " + resource);
  }
  return Join(texts, ", ");
}

std::vector<std::string> StoppedTexts(const Impact& impact) {
  std::vector<std::string> texts;
  for (const what_if::ServiceForecast& service : impact.shrunk) {
    texts.push_back("service " + service.service.ns + "/" + service.service.job_id + " (" +
                    ShapeChange(service) + ")");
  }
  for (const StoppedInstance& one : impact.down) texts.push_back(TitleOf(one));
  for (const StoppedInstance& one : impact.degraded) texts.push_back(TitleOf(one));
  // Of one owner there may be many instances.
  std::vector<std::string> once;
  for (std::string& text : texts) {
    if (once.empty() || once.back() != text) once.push_back(std::move(text));
  }
  return once;
}

std::string AllOf(const std::string& what, size_t count) {
  const auto number = static_cast<int64_t>(count);
  if (what == "node" || what == "card") return Counted(number, what);
  return Counted(number, "value") + " of " + what;
}

namespace {

// `mindgate what-if --each-node` and its like, each loss in addition to `base`. Returns kExitDenied
// if one of them stops something.
int RunEach(const EachOptions& each, const what_if::ClusterSnapshot& snapshot,
            const what_if::Hypothesis& base, const std::string& output, ColorMode color,
            Streams& io) {
  EachReport report{.taken = snapshot.taken,
                    .supposed = what_if::Sentences(base),
                    .what = each.node   ? "node"
                            : each.card ? "card"
                                        : each.label};
  std::vector<std::string> nodes;
  {
    const what_if::InitialState initial(snapshot);
    const std::vector<SingleLoss> losses = LossesBeside(base, LossesOf(each, initial.inventory));
    if (losses.empty()) return Complain(each, initial.inventory, io);
    report.problems = initial.reported.problems;
    if (!base.codes.empty()) CodesIn(snapshot, report.problems);
    for (const what_if::Node& node : initial.inventory.nodes) nodes.push_back(node.name);
    what_if::Forecaster forecaster(initial, base);
    Progress progress(io, "losses");
    for (const SingleLoss& loss : losses) {
      report.impacts.push_back(ImpactOf(loss.name, forecaster.Of(loss.hypothesis)));
      progress.Show(report.impacts.size(), losses.size());
    }
  }
  if (each.node && base.empty()) {
    Progress progress(io, "drains");
    size_t done = 0;
    report.drains = OrderOfDrains(snapshot, nodes, what_if::kMaxReadAgain,
                                  [&] { progress.Show(++done, nodes.size()); });
  }
  Rank(report.impacts);
  const WarningSink warn = PrintWarnings(io.err);
  for (const std::string& problem : report.problems) warn(problem);
  if (output == "json") {
    PrintEachJson(report, io.out);
  } else if (output == "html") {
    io.out << EachPage(report);
  } else {
    PrintEach(report, output == "wide", Paint(color, io.out_is_terminal), io.out);
  }
  return CostFree(report).size() == report.impacts.size() ? kExitDone : kExitDenied;
}

void PrintEach(const EachReport& report, bool wide, const Paint& paint, std::ostream& out) {
  const std::vector<std::string> free = CostFree(report);
  const size_t stopping = report.impacts.size() - free.size();
  const std::string all = AllOf(report.what, report.impacts.size());
  for (const std::string& sentence : report.supposed) out << "Supposed: " << sentence << ".\n";
  if (stopping == 0) {
    out << paint(Color::kGreen, "Nothing stops") << ", whichever of " << all << " is lost.\n";
  } else {
    out << paint(Color::kRed, std::to_string(stopping) + " of " + all)
        << (stopping == 1 ? " stops" : " stop") << " something when lost alone; "
        << std::to_string(free.size()) << (free.size() == 1 ? " costs" : " cost")
        << " nothing.\n\n";
    Table table({"LOST", "DOWN", "DEGRADED", "PODS WITHOUT A PLACE", "NPUS MISSING", "WHAT STOPS"});
    size_t rows = 0;
    for (const Impact& impact : report.impacts) {
      if (impact.costs_nothing() || (!wide && rows == kMaxRows)) break;
      ++rows;
      table.Add({impact.name, std::to_string(impact.down.size()),
                 std::to_string(impact.degraded.size()), std::to_string(impact.without_place),
                 impact.missing.empty() ? "0" : MissingText(impact),
                 JoinFirst(StoppedTexts(impact), wide ? kAll : kMaxStopped)});
    }
    table.Print(paint, out);
    if (rows < stopping) out << "and " << stopping - rows << " more, which -o wide lists\n";
  }
  if (!free.empty() && stopping > 0) {
    out << "\nCost nothing: " << JoinFirst(free, wide ? kAll : kMaxNames) << "\n";
  }
  if (report.drains) PrintDrainOrder(*report.drains, wide, out);
}

void PrintEachJson(const EachReport& report, std::ostream& out) {
  OrderedJson losses = OrderedJson::array();
  for (const Impact& impact : report.impacts) {
    if (!impact.costs_nothing()) losses.push_back(ImpactJson(impact));
  }
  OrderedJson json = {{"taken", FormatTime(report.taken)},
                      {"supposed", report.supposed},
                      {"each", report.what},
                      {"fine", losses.empty()},
                      {"losses", std::move(losses)},
                      {"costNothing", CostFree(report)}};
  if (report.drains) json["drainOrder"] = DrainOrderJson(*report.drains);
  json["problems"] = report.problems;
  out << offline::Dump(json) << "\n";
}

// The cluster, and the namespace of objects that do not set one.
struct Inputs {
  what_if::ClusterSnapshot snapshot;
  std::string ns;
  schemas::Config config;
};

std::optional<Inputs> ReadInputs(const WhatIfOptions& options, Streams& io) {
  auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return std::nullopt;
  const std::string& given = options.cluster.default_namespace;
  if (!options.snapshot.empty()) {
    auto snapshot = ReadSnapshotFile(options.snapshot, io);
    if (!snapshot) return std::nullopt;
    if (!options.config_file.empty()) snapshot->watcher = what_if::SettingsOf(*config);
    return Inputs{*std::move(snapshot), given.empty() ? "default" : given, *std::move(config)};
  }
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return std::nullopt;
  const Time now = clock.WallNow();
  kube::Client& client = connection->client();
  auto snapshot = ReadCluster(client, now, SnapshotOptionsOf(WatcherOf(client, now)), io);
  if (!snapshot) return std::nullopt;
  if (!options.config_file.empty()) snapshot->watcher = what_if::SettingsOf(*config);
  return Inputs{*std::move(snapshot), connection->ns(), *std::move(config)};
}

// The manifests after admission; nothing if one is invalid or would be denied. Nothing that is
// denied can fail.
std::optional<offline::Evaluation> Admit(const WhatIfOptions& options, const Inputs& inputs,
                                         Streams& io) {
  offline::InputOptions input;
  input.files = options.manifests;
  input.ns = inputs.ns;
  input.config_file = options.config_file;
  input.now = inputs.snapshot.taken;
  auto evaluation = offline::Evaluate(input, {}, io.in, io.err);
  if (!evaluation) return std::nullopt;
  if (ExitCode(evaluation->decisions) == kExitDone) return evaluation;
  PrintFaults(evaluation->decisions, io.err);
  PrintFindings(evaluation->decisions, false, Paint(options.color, io.err_is_terminal), io.err);
  PrintError(io.err, "the manifest would not be admitted, so nothing can be said of it",
             "`mindgate apply -f FILE -o table` shows all findings");
  return std::nullopt;
}

std::vector<what_if::ManifestObject> ObjectsOf(
    const std::optional<offline::Evaluation>& evaluation) {
  std::vector<what_if::ManifestObject> objects;
  if (!evaluation) return objects;
  for (const offline::Decision& decision : evaluation->decisions) {
    if (decision.ObjectAfter() != nullptr) {
      objects.push_back({decision.ObjectAfter(), decision.ns});
    }
  }
  return objects;
}

// Where nodes cannot be drained all at once.
std::optional<what_if::DrainOrder> DrainsOneByOne(const WhatIfOptions& options,
                                                  const Inputs& inputs,
                                                  const what_if::Hypothesis& hypothesis,
                                                  const what_if::Answer& answer) {
  const auto drained = what_if::DrainedNodes(hypothesis);
  const bool drains_only =
      hypothesis.chips.empty() && hypothesis.lost.empty() && hypothesis.codes.empty();
  if (!drains_only || drained.size() < 2 || !options.manifests.empty() || answer.fine()) {
    return std::nullopt;
  }
  return what_if::OrderOfDrains(inputs.snapshot, {drained.begin(), drained.end()});
}

// Whether something is asked, and only one thing.
bool IsQuestion(const WhatIfOptions& options, Streams& io) {
  const EachOptions& each = options.each;
  if (!each.any() && options.question.empty() && options.manifests.empty()) {
    PrintError(io.err, "there is no scenario",
               "specify --node, --card, --fault, --drain, --manifest or --each-node");
    return false;
  }
  if (!each.any()) return true;
  const int kinds = (each.node ? 1 : 0) + (each.card ? 1 : 0) + (each.label.empty() ? 0 : 1);
  if (kinds > 1) {
    PrintError(io.err, "--each-node, --each-card and --each suppose one loss at a time",
               "give one of the three");
    return false;
  }
  return true;
}

}  // namespace

int RunWhatIf(const WhatIfOptions& options, Streams& io) {
  if (!IsQuestion(options, io)) return kExitUnusable;
  auto inputs = ReadInputs(options, io);
  if (!inputs) return kExitUnusable;
  const auto hypothesis = what_if::ReadQuestion(options.question, inputs->snapshot,
                                                what_if::TakeInventory(inputs->snapshot));
  if (!hypothesis) {
    for (const Problem& problem : hypothesis.error()) PrintError(io.err, problem);
    return kExitUnusable;
  }
  std::optional<offline::Evaluation> evaluation;
  if (!options.manifests.empty()) {
    evaluation = Admit(options, *inputs, io);
    if (!evaluation) return kExitUnusable;
  }
  const schemas::ViewOptions view{.scheduler = inputs->config.scheduler,
                                  .npu_resources = inputs->config.npu_resources,
                                  .kinds = inputs->config.kinds};
  const WarningSink warn = PrintWarnings(io.err);
  if (options.each.any()) {
    if (evaluation) {
      auto with = what_if::RunManifests(inputs->snapshot, ObjectsOf(evaluation), view);
      for (const std::string& problem : with.problems) warn(problem);
      if (!with.applied.fine()) {
        warn("not all that the manifests make finds a place, and what has none cannot be lost: " +
             Summary(with.applied));
      }
      inputs->snapshot = std::move(with.snapshot);
    }
    return RunEach(options.each, inputs->snapshot, *hypothesis, options.output, options.color, io);
  }
  const what_if::Answer answer =
      what_if::AnswerOf(inputs->snapshot, ObjectsOf(evaluation), *hypothesis, view);
  for (const std::string& problem : answer.problems) warn(problem);
  const WhatIfReport report{inputs->snapshot.taken,
                            what_if::Sentences(*hypothesis),
                            options.manifests,
                            answer,
                            inputs->snapshot.watcher.grace_over_time,
                            options.output == "wide",
                            DrainsOneByOne(options, *inputs, *hypothesis, answer)};
  if (options.output == "json") {
    PrintWhatIfJson(report, io.out);
  } else if (options.output == "html") {
    io.out << WhatIfPage(report);
  } else {
    PrintWhatIf(report, Paint(options.color, io.out_is_terminal), io.out);
  }
  return answer.fine() ? kExitDone : kExitDenied;
}

void AddWhatIf(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* command = parent.add_subcommand(
      "what-if", "Show what would become of the cluster if a node or a card failed");
  const auto add_list = [&](const std::string& name, std::vector<std::string>& values,
                            const std::string& description, const std::string& variable,
                            const std::string& type) {
    command->add_option(name, values, description)
        ->allow_extra_args(false)
        ->type_name(type)
        ->envname("MINDGATE_WHAT_IF_" + variable);
  };
  add_list("--node", options->question.nodes, "A node that is lost; may be repeated", "NODE",
           "NODE");
  add_list("--card", options->question.cards,
           "A card that becomes unhealthy, as in npu-3/5; may be repeated", "CARD", "NODE/CARD");
  add_list("--fault", options->question.faults,
           "A fault code of MindCluster: CODE@NODE/CARD of a chip, CODE@NODE of a node or its "
           "switches; may be repeated",
           "FAULT", "CODE@PLACE");
  add_list("--drain", options->question.drains,
           "Nodes that are cordoned and emptied, with commas, or a label selector of them; may be "
           "repeated",
           "DRAIN", "NODES");
  add_list("--manifest", options->manifests,
           "File, folder, glob, http(s) URL, or -, with objects that count as applied before "
           "anything fails; may be repeated",
           "MANIFEST", "PATH");
  AddSwitch(*command, "--each-node", options->each.node,
            "Suppose the loss of each node alone, and show the worst first (N-1)",
            "WHAT_IF_EACH_NODE");
  AddSwitch(*command, "--each-card", options->each.card, "Likewise of each card",
            "WHAT_IF_EACH_CARD");
  AddFlag(*command, "--each", options->each.label,
          "Likewise of all nodes with the same value of a label, such as their rack",
          "WHAT_IF_EACH", "LABEL");
  AddFlag(*command, "--snapshot", options->snapshot,
          "File of `mindgate snapshot`, or - for standard input, instead of the live cluster",
          "WHAT_IF_SNAPSHOT", "FILE");
  AddFlag(*command, "--config", options->config_file,
          "Configuration file for the admission of manifests, mindgate.yaml (default: built-in "
          "defaults)",
          "CONFIG", "FILE");
  SetChoices(
      *AddFlag(*command, "-o,--output", options->output, "Output format", "WHAT_IF_OUTPUT", "TEXT"),
      {"text", "wide", "json", "html"});
  AddColorOption(*command, options->color);
  AddKubeFlags(*command, options->cluster);
  command->footer(
      R"(Everything that is given happens at once. MindCluster's decisions, LeaderWorkerSet, the rules of elastic scaling and
the scheduler of `mindgate simulate` then act until nothing moves any more. Nothing is written to the cluster.
Processors, memory, affinity, disruption budgets and the links between chips are not considered.
--each-node, --each-card and --each answer one question after the other, each about one loss beside what else is given.
Exit codes: 0 everything recovers, 1 something stays down, is broken or shrinks, 2 the arguments, the
snapshot or a manifest are invalid, or the cluster cannot be read.

Examples:
  mindgate what-if --node npu-3
  mindgate what-if --card npu-3/5 --card npu-4/0
  mindgate what-if --fault 80E18005@npu-3/5 -o json
  mindgate what-if --drain pool=blue && kubectl drain -l pool=blue --ignore-daemonsets
  mindgate what-if --drain npu-3,npu-4
  mindgate what-if --each-node
  mindgate what-if --each topology.kubernetes.io/zone -o wide
  mindgate what-if --manifest chat.yaml --each-node -o html > losses.html
  mindgate what-if --manifest chat.yaml --node npu-3 --snapshot cluster.json)");
  command->callback([options, &io, &exit_code] { exit_code = RunWhatIf(*options, io); });
}

}  // namespace mindgate::cli
