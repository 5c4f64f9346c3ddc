#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "cli/console/output.h"
#include "cli/console/print.h"
#include "cli/status/status.h"
#include "cli/what_if/what_if.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using what_if::Action;
using what_if::Forecast;
using what_if::GroupChange;
using what_if::Hit;
using what_if::InstanceForecast;
using what_if::Move;
using what_if::Outcome;
using what_if::ServiceForecast;

// A line names no more pods; JSON has them all.
constexpr size_t kMaxNamed = 8;

std::string Listed(const std::vector<std::string>& texts) { return JoinFirst(texts, kMaxNamed); }

// "MindCluster's plugin deletes 2 pods at once".
std::string StepText(const what_if::Step& step, std::chrono::seconds grace_over_time) {
  const std::string who(what_if::ActorText(step.due.by));
  const std::string pods = Counted(static_cast<int64_t>(step.pods.size()), "pod");
  const std::string when = what_if::WhenText(step.due);
  const bool later = step.due.within > std::chrono::seconds(0);
  switch (step.action) {
    case Action::kDeleted:
      return who + " deletes " + pods + " " + when;
    case Action::kEvicted:
      return who + " evicts " + pods + (later ? " " + when : "") + ", and deletes " +
             (step.pods.size() == 1 ? "it" : "them") + " by force " + AfterText(grace_over_time);
    case Action::kAnnotated:
      return who + " annotates " + pods + " " + when + ", for infer-operator to replace";
    case Action::kDrained:
      return who + " evicts " + pods;
    case Action::kMovedByKubernetes:
      return who + " evicts " + pods + " " + AfterText(step.due.within);
    case Action::kDeletedByKubernetes:
      return who + " deletes " + pods + " about a minute after the Node went";
    case Action::kRecreated:
      return who + " recreates " + pods;
    case Action::kUntouched:
      return who + " moves " + pods;
    case Action::kFails:
      return "MindCluster's plugin tries to restart " + pods + ", and cannot";
    case Action::kGivenUp:
      return who + " gives up " + pods + " " + when;
  }
  return "";
}

Color ColorOf(const InstanceForecast& instance) {
  if (instance.outcome == Outcome::kMoves) return Color::kGreen;
  return instance.outcome == Outcome::kPartly || instance.outcome == Outcome::kHeld ? Color::kYellow
                                                                                    : Color::kRed;
}

std::string Number(size_t count, const std::string& one, const std::string& several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

std::string ShapeText(const std::optional<size_t>& shape, size_t shapes) {
  return shape ? std::to_string(*shape + 1) + " of " + std::to_string(shapes) : "none";
}

// So many are shown whole, what is no trouble; more are counted.
constexpr size_t kMaxUnfolded = 3;

using Instances = std::vector<const InstanceForecast*>;

void PrintInstances(const Instances& instances, std::chrono::seconds grace_over_time,
                    const Paint& paint, std::ostream& out) {
  for (const InstanceForecast* instance : instances) {
    out << "\n"
        << paint(Color::kBold, InstanceTitle(*instance)) << ": "
        << paint(ColorOf(*instance), InstanceVerdict(*instance)) << "\n";
    for (const auto& [word, text] : InstanceRows(*instance, grace_over_time)) {
      out << "  " << Padded(word, 8) << text << "\n";
    }
  }
}

void PrintServices(const std::vector<ServiceForecast>& services, const Paint& paint,
                   std::ostream& out) {
  if (services.empty()) return;
  out << "\n";
  Table table({"SERVICE", "RULE", "SHAPE", "INSTANCES THAT RUN"});
  for (const ServiceForecast& service : services) {
    table.Add({service.service.ns + "/" + service.service.job_id, service.service.rule,
               ShapeChange(service), GroupChanges(service)});
  }
  table.Print(paint, out);
}

// The verdict, then what stays down, then the rest.
void PrintForecast(const std::string& title, const Forecast& forecast, const WhatIfReport& report,
                   const Paint& paint, std::ostream& out) {
  Instances bad;
  Instances good;
  Instances already;
  for (const InstanceForecast& instance : forecast.instances) {
    Instances& kind = instance.already ? already : instance.outcome == Outcome::kMoves ? good : bad;
    kind.push_back(&instance);
  }
  out << title << "\n\n"
      << paint(forecast.fine() ? Color::kGreen : Color::kRed, Summary(forecast)) << "\n";
  PrintInstances(bad, report.grace_over_time, paint, out);
  PrintServices(forecast.services, paint, out);
  const auto print_or_count = [&](const Instances& instances, std::string_view verb) {
    if (report.wide || instances.size() <= kMaxUnfolded) {
      PrintInstances(instances, report.grace_over_time, paint, out);
    } else {
      out << "\n" << instances.size() << " instances " << verb << ": -o wide shows them\n";
    }
  };
  print_or_count(good, "recover");
  print_or_count(already, "end as they do already");
}

// Why nodes take none of its pods.
OrderedJson NodesJson(const InstanceForecast& instance) {
  OrderedJson json = OrderedJson::array();
  if (!instance.shortage) return json;
  for (const what_if::LeftOut& one : instance.shortage->left_out) {
    json.push_back({{"why", one.why}, {"nodes", one.nodes}});
  }
  return json;
}

OrderedJson ForecastJson(const Forecast& forecast) {
  OrderedJson instances = OrderedJson::array();
  for (const InstanceForecast& instance : forecast.instances) {
    OrderedJson hits = OrderedJson::array();
    for (const Hit& hit : instance.hits) {
      hits.push_back({{"pod", hit.pod}, {"node", hit.node}, {"why", hit.why}});
    }
    OrderedJson steps = OrderedJson::array();
    for (const what_if::Step& step : instance.steps) {
      steps.push_back({{"step", what_if::ActionName(step.action)},
                       {"by", what_if::ActorName(step.due.by)},
                       {"withinSeconds", step.due.within.count()},
                       {"pods", step.pods},
                       {"why", step.why}});
    }
    OrderedJson moves = OrderedJson::array();
    for (const Move& move : instance.moves) {
      moves.push_back({{"pod", move.pod}, {"from", move.from}, {"to", move.to}});
    }
    instances.push_back({{"namespace", instance.ns},
                         {"owner", instance.owner},
                         {"podGroup", instance.pod_group},
                         {"pods", instance.pods},
                         {"new", instance.is_new},
                         {"already", instance.already},
                         {"hits", std::move(hits)},
                         {"steps", std::move(steps)},
                         {"moves", std::move(moves)},
                         {"fate", what_if::OutcomeName(instance.outcome)},
                         {"why", instance.why},
                         {"nodes", NodesJson(instance)},
                         {"fix", instance.fix}});
  }
  OrderedJson services = OrderedJson::array();
  for (const ServiceForecast& service : forecast.services) services.push_back(ServiceJson(service));
  return {{"fine", forecast.fine()},
          {"instances", std::move(instances)},
          {"services", std::move(services)},
          {"otherPods", forecast.others}};
}

}  // namespace

std::string InstanceTitle(const InstanceForecast& instance) {
  return instance.ns + "/" + instance.owner +
         (instance.pod_group.empty() ? "" : " (PodGroup " + instance.pod_group + ")");
}

std::string InstanceVerdict(const InstanceForecast& instance) {
  std::string verdict;
  switch (instance.outcome) {
    case Outcome::kMoves:
      verdict = instance.is_new ? "fits" : instance.moves.empty() ? "is not affected" : "recovers";
      break;
    case Outcome::kPartly:
      verdict = "has places for " + std::to_string(instance.pods - instance.without_place()) +
                " of " + Counted(static_cast<int64_t>(instance.pods), "pod");
      break;
    case Outcome::kNoRoom:
      verdict = instance.is_new ? "does not fit" : "stays down";
      break;
    case Outcome::kHeld:
      verdict = "waits behind the gate";
      break;
    case Outcome::kBroken:
      verdict = "stays broken";
      break;
    case Outcome::kLost:
      verdict = "is gone";
      break;
  }
  return verdict + (instance.already ? ", as it is already" : "");
}

std::vector<std::pair<std::string, std::string>> InstanceRows(
    const InstanceForecast& instance, std::chrono::seconds grace_over_time) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::vector<std::string> hits;
  for (const Hit& hit : instance.hits) {
    hits.push_back(hit.pod + " on " + hit.node + " (" + hit.why + ")");
  }
  if (!hits.empty()) {
    rows.emplace_back("hit", std::to_string(hits.size()) + " of " +
                                 Counted(static_cast<int64_t>(instance.pods), "pod") + ": " +
                                 Listed(hits));
  }
  for (const what_if::Step& step : instance.steps) {
    rows.emplace_back(
        "then", StepText(step, grace_over_time) + " (" + step.why + "): " + Listed(step.pods));
  }
  std::vector<std::string> placed;
  std::vector<std::string> homeless;
  for (const Move& move : instance.moves) {
    if (move.to.empty()) {
      homeless.push_back(move.pod);
    } else {
      placed.push_back(move.pod + " on " + move.to);
    }
  }
  if (!placed.empty()) rows.emplace_back("fits", Listed(placed));
  if (!homeless.empty()) rows.emplace_back("waits", Listed(homeless));
  if (!instance.why.empty()) rows.emplace_back("why", instance.why);
  if (instance.shortage) {
    if (const std::string nodes = LeftOutText(*instance.shortage); !nodes.empty()) {
      rows.emplace_back("nodes", nodes);
    }
  }
  if (!instance.fix.empty()) rows.emplace_back("fix", instance.fix);
  return rows;
}

void PrintDrainOrder(const what_if::DrainOrder& drains, bool wide, std::ostream& out) {
  const size_t most = wide ? drains.order.size() + drains.stopping.size() : kMaxNamed;
  out << "\nDrained one after the other, each back in service before the next one goes:\n";
  const auto row = [&](std::string_view word, const std::string& text) {
    out << "  " << Padded(word, 17) << text << "\n";
  };
  row("stop nothing", drains.order.empty() ? "none" : JoinFirst(drains.order, most));
  if (!drains.stopping.empty()) row("stop something", JoinFirst(drains.stopping, most));
  if (drains.untried > 0) {
    row("not tried", Counted(static_cast<int64_t>(drains.untried), "node") +
                         ": ask again when these are drained");
  }
}

OrderedJson DrainOrderJson(const what_if::DrainOrder& drains) {
  return {{"order", drains.order}, {"stopping", drains.stopping}, {"untried", drains.untried}};
}

OrderedJson ServiceJson(const ServiceForecast& service) {
  const auto shape = [](const std::optional<size_t>& of) {
    return of ? OrderedJson(*of + 1) : OrderedJson(nullptr);
  };
  OrderedJson groups = OrderedJson::array();
  for (const GroupChange& group : service.groups) {
    groups.push_back({{"group", group.group}, {"before", group.before}, {"after", group.after}});
  }
  return {{"namespace", service.service.ns}, {"jobID", service.service.job_id},
          {"rule", service.service.rule},    {"shapes", service.shapes},
          {"before", shape(service.before)}, {"after", shape(service.after)},
          {"shrinks", service.shrinks()},    {"groups", std::move(groups)}};
}

std::string ShapeChange(const ServiceForecast& service) {
  const std::string before = ShapeText(service.before, service.shapes);
  const std::string after = ShapeText(service.after, service.shapes);
  return before == after ? before : before + " -> " + after;
}

std::string GroupChanges(const ServiceForecast& service) {
  std::vector<std::string> texts;
  for (const GroupChange& group : service.groups) {
    texts.push_back(group.group + " " + std::to_string(group.before) +
                    (group.before == group.after ? "" : " -> " + std::to_string(group.after)));
  }
  return Join(texts, ", ");
}

std::string Summary(const Forecast& forecast) {
  size_t good = 0;
  size_t bad = 0;
  for (const InstanceForecast& instance : forecast.instances) {
    if (instance.already) continue;
    (instance.outcome == Outcome::kMoves ? good : bad) += 1;
  }
  const auto shrinking =
      static_cast<size_t>(std::count_if(forecast.services.begin(), forecast.services.end(),
                                        [](const auto& service) { return service.shrinks(); }));
  if (good + bad + shrinking + forecast.others == 0) return "Nothing changes.";
  std::vector<std::string> texts;
  if (good > 0) texts.push_back(Number(good, "instance recovers", "instances recover"));
  if (bad > 0) texts.push_back(Number(bad, "instance stays down", "instances stay down"));
  if (shrinking > 0)
    texts.push_back(Number(shrinking, "service runs degraded", "services run degraded"));
  if (forecast.others > 0) {
    texts.push_back(Number(forecast.others, "pod without NPUs goes, which its owner makes again",
                           "pods without NPUs go, which their owners make again"));
  }
  return Join(texts, "; ") + ".";
}

std::string AppliedTitle(const WhatIfReport& report) {
  return "If " + Listed(report.manifests) + " were applied:";
}

std::string SupposedTitle(const WhatIfReport& report) {
  std::string title = report.manifests.empty() ? "Suppose that:" : "Suppose that then:";
  for (const std::string& sentence : report.supposed) title += "\n  " + sentence;
  return title;
}

void PrintWhatIf(const WhatIfReport& report, const Paint& paint, std::ostream& out) {
  const auto& [applied, happens, problems] = report.answer;
  if (applied) PrintForecast(AppliedTitle(report), *applied, report, paint, out);
  if (applied && happens) out << "\n";
  if (happens) PrintForecast(SupposedTitle(report), *happens, report, paint, out);
  if (report.drains) PrintDrainOrder(*report.drains, report.wide, out);
}

void PrintWhatIfJson(const WhatIfReport& report, std::ostream& out) {
  const what_if::Answer& answer = report.answer;
  OrderedJson json = {{"taken", FormatTime(report.taken)},
                      {"fine", answer.fine()},
                      {"supposed", report.supposed},
                      {"manifests", report.manifests}};
  json["applied"] = answer.applied ? ForecastJson(*answer.applied) : OrderedJson(nullptr);
  json["happens"] = answer.happens ? ForecastJson(*answer.happens) : OrderedJson(nullptr);
  if (report.drains) json["drainOrder"] = DrainOrderJson(*report.drains);
  json["problems"] = answer.problems;
  out << offline::Dump(json) << "\n";
}

}  // namespace mindgate::cli
