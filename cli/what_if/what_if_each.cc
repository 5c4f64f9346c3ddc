#include "cli/what_if/what_if_each.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/connection.h"
#include "cli/console/output.h"
#include "cli/console/progress.h"
#include "cli/what_if/what_if_print.h"
#include "offline/results_json.h"
#include "what_if/forecaster.h"
#include "what_if/survey.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using what_if::Impact;
using what_if::SingleLoss;
using what_if::StoppedInstance;

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
    const what_if::Ground ground(snapshot);
    const std::vector<SingleLoss> losses = LossesBeside(base, LossesOf(each, ground.inventory));
    if (losses.empty()) return Complain(each, ground.inventory, io);
    report.problems = ground.reported.problems;
    if (!base.codes.empty()) CodesIn(snapshot, report.problems);
    for (const what_if::Node& node : ground.inventory.nodes) nodes.push_back(node.name);
    what_if::Forecaster forecaster(ground, base);
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

}  // namespace mindgate::cli
