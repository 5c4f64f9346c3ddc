#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/session.h"
#include "cli/status/status.h"
#include "json/value.h"
#include "kube/events.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "what_if/survey.h"

namespace mindgate::cli {
namespace {

// What rescheduling reports.
constexpr std::array<std::string_view, 6> kReasons = {
    "JobRestarted", "NotRestarted", "PluginDiffers", "PodsMarked", "RestartWaits", "WouldRestart"};

}  // namespace

kube::Answer<std::vector<WatcherEvent>> ReadFaultEvents(kube::Client& client) {
  std::vector<WatcherEvent> newest;
  const auto keep_newest = [&newest] {
    std::stable_sort(newest.begin(), newest.end(),
                     [](const WatcherEvent& a, const WatcherEvent& b) { return a.time < b.time; });
    if (newest.size() > kMaxWatcherEvents) {
      newest.erase(newest.begin(), newest.end() - kMaxWatcherEvents);
    }
  };
  std::vector<json::Projection::Path> members = kube::LastTimeFields();
  members.insert(members.end(),
                 {{"reason"}, {"note"}, {"regarding", "kind"}, {"regarding", "name"}});
  const auto fields = kube::WithIdentity(std::move(members));
  // kube-apiserver selects Events by it (k8s.io/kubernetes pkg/apis/events/v1/conversion.go).
  const std::string selector = "reportingController=" + std::string(schemas::kWatcherReporter);
  const auto listed = client.ListAll(
      kube::resources::kEvents, "", {.field_selector = selector}, &fields,
      {.started = [&newest] { newest.clear(); },
       .item =
           [&](const json::Value& event) {
             std::string reason = json::TextAt(event, {"reason"});
             if (std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end()) return;
             newest.push_back({kube::LastTimeOf(event),
                               json::TextAt(event, {"metadata", "namespace"}),
                               json::TextAt(event, {"regarding", "kind"}) + " " +
                                   json::TextAt(event, {"regarding", "name"}),
                               std::move(reason), json::TextAt(event, {"note"})});
             if (newest.size() >= 10 * kMaxWatcherEvents) keep_newest();
           }});
  if (!listed) return tl::make_unexpected(listed.error());
  keep_newest();
  return newest;
}

namespace {

using OrderedJson = nlohmann::ordered_json;
using faults::ChipFault;
using faults::HardwareFaults;
using faults::NodeFaults;
using faults::NodeStatus;
using schemas::FaultSource;
using watcher::rescheduling::PluginRestart;
using watcher::rescheduling::Response;
using watcher::rescheduling::Step;
using what_if::Survey;
using what_if::SurveyedJob;
using what_if::SurveyedPod;

// One faulty part of a node.
struct FaultyPart {
  std::string what;   // "node", "switch", "Ascend910-3"
  std::string state;  // "NotReady", "UnHealthy", "RestartNPU"
  std::vector<std::string> codes{};
  std::optional<Time> since{};
  // The pods that are faulty because of it.
  std::vector<const SurveyedPod*> pods{};
};

std::vector<const SurveyedPod*> PodsOn(const Survey& survey, const std::string& node,
                                       std::string_view chip = "") {
  std::vector<const SurveyedPod*> pods;
  for (const SurveyedPod& pod : survey.pods) {
    if (pod.task.node != node) continue;
    if (chip.empty() || pod.task.chips.contains(chip)) pods.push_back(&pod);
  }
  return pods;
}

// A chip's worst level, or in which list it stands.
FaultyPart PartOf(const Survey& survey, const std::string& node, const std::string& chip,
                  const faults::DeviceFaults& devices) {
  FaultyPart part{.what = chip, .state = ""};
  auto level = faults::FaultLevel::kNormal;
  for (const ChipFault& fault : devices.faults) {
    if (fault.chip != chip) continue;
    level = std::max(level, fault.level);
    part.codes.insert(part.codes.end(), fault.codes.begin(), fault.codes.end());
    if (fault.since) part.since = std::min(part.since.value_or(*fault.since), *fault.since);
  }
  const bool unhealthy = devices.unhealthy.contains(chip);
  const bool network = devices.network_unhealthy.contains(chip);
  part.state = level != faults::FaultLevel::kNormal ? std::string(faults::FaultLevelName(level))
               : unhealthy                          ? "Unhealthy"
               : network                            ? "NetworkUnhealthy"
                                                    : "Recovering";
  if (unhealthy) part.pods = PodsOn(survey, node, chip);
  return part;
}

void AddHardware(const Survey& survey, const std::string& node, const char* what,
                 const HardwareFaults& faults, std::vector<FaultyPart>& parts) {
  if (faults.status == NodeStatus::kHealthy && faults.codes.empty()) return;
  FaultyPart part{.what = what,
                  .state = std::string(faults::NodeStatusName(faults.status)),
                  .codes = faults.codes,
                  .since = faults.since};
  if (faults.status == NodeStatus::kUnhealthy) part.pods = PodsOn(survey, node);
  parts.push_back(std::move(part));
}

std::vector<FaultyPart> PartsOf(const Survey& survey, const std::string& node) {
  std::vector<FaultyPart> parts;
  if (survey.not_ready.contains(node)) {
    const char* state = survey.gone.contains(node) ? "Gone" : "NotReady";
    parts.push_back({.what = "node", .state = state, .pods = PodsOn(survey, node)});
  }
  const auto found = survey.nodes.find(node);
  if (found == survey.nodes.end()) return parts;
  const NodeFaults& faults = found->second;
  AddHardware(survey, node, "node", faults.machine, parts);
  AddHardware(survey, node, "switch", faults.switches, parts);
  std::set<std::string, NaturalOrder> chips;
  for (const auto* list :
       {&faults.devices.unhealthy, &faults.devices.network_unhealthy, &faults.devices.recovering}) {
    chips.insert(list->begin(), list->end());
  }
  for (const ChipFault& fault : faults.devices.faults) chips.insert(fault.chip);
  for (const std::string& chip : chips) {
    FaultyPart part = PartOf(survey, node, chip, faults.devices);
    if (chip.empty()) part.what = "all chips";
    parts.push_back(std::move(part));
  }
  return parts;
}

std::set<std::string, NaturalOrder> NodesOf(const Survey& survey) {
  std::set<std::string, NaturalOrder> nodes = {survey.not_ready.begin(), survey.not_ready.end()};
  for (const auto& [node, faults] : survey.nodes) nodes.insert(node);
  return nodes;
}

std::string PodText(const SurveyedPod& pod) {
  return pod.ns + "/" + pod.task.pod + (pod.pod_group.empty() ? " (no PodGroup)" : "");
}

std::string SourceText(const Survey& survey, FaultSource source) {
  const std::string reports = Counted(static_cast<int64_t>(survey.reports), "ConfigMap");
  if (survey.by_clusterd) return "Reported by ClusterD, in " + reports;
  if (survey.reports > 0) {
    return "Reported by the nodes themselves, in " + reports + ": " +
           (survey.clusterd_is_gone         ? "ClusterD is gone and left its own"
            : source == FaultSource::kNodes ? "faultSource is nodes"
                                            : "ClusterD reports nothing");
  }
  switch (source) {
    case FaultSource::kClusterD:
      return "No fault reports found: there is no ConfigMap of ClusterD";
    case FaultSource::kNodes:
      return "No fault reports found: there is no ConfigMap of Ascend Device Plugin or NodeD";
    case FaultSource::kAuto:
      break;
  }
  return "No fault reports found: there is no ConfigMap of ClusterD, Ascend Device Plugin or NodeD";
}

// A code that is reported, and what raises its level.
struct CodeToRise {
  std::string code;
  std::vector<std::string> what;
};

std::vector<CodeToRise> CodesToRise(const Survey& survey, const faults::FaultTable& table) {
  std::set<std::string> codes;
  for (const auto& [node, faults] : survey.nodes) {
    codes.insert(faults.machine.codes.begin(), faults.machine.codes.end());
    codes.insert(faults.switches.codes.begin(), faults.switches.codes.end());
    for (const ChipFault& fault : faults.devices.faults) {
      codes.insert(fault.codes.begin(), fault.codes.end());
    }
  }
  std::vector<CodeToRise> rising;
  for (const std::string& code : codes) {
    const faults::FaultCode* known = table.Find(code);
    if (known == nullptr) continue;
    auto what = faults::EscalationsOf(*known);
    if (!what.empty()) rising.push_back({code, std::move(what)});
  }
  return rising;
}

void PrintCodesToRise(const std::vector<CodeToRise>& codes, const Paint& paint, std::ostream& out) {
  Table table({"CODE", "WHAT MAKES IT WORSE"});
  for (const CodeToRise& code : codes) {
    bool first = true;
    for (const std::string& what : code.what) {
      table.Add({first ? code.code : "", what});
      first = false;
    }
  }
  if (table.empty()) return;
  out << "\n";
  table.Print(paint, out);
}

OrderedJson CodesToRiseJson(const std::vector<CodeToRise>& codes) {
  OrderedJson all = OrderedJson::array();
  for (const CodeToRise& code : codes) {
    all.push_back({{"code", code.code}, {"whatMakesItWorse", code.what}});
  }
  return all;
}

// The pods that go.
std::vector<std::string> PodsOf(const SurveyedJob& job) {
  std::vector<std::string> pods;
  for (const size_t i : job.response.tasks) pods.push_back(job.tasks[i].pod);
  return pods;
}

// "MindCluster's plugin evicts 2 of 4 pods (fault-scheduling is grace): p0, p1"
std::string WhatHappens(const SurveyedJob& job, std::chrono::seconds grace_over_time) {
  const Response& response = job.response;
  const std::vector<std::string> pods = PodsOf(job);
  const std::string who(what_if::ActorText(job.due.by));
  const std::string count =
      std::to_string(pods.size()) + " of " + Counted(std::ssize(job.tasks), "pod");
  const std::string when = " " + what_if::WhenText(job.due);
  const bool later = job.due.within > std::chrono::seconds(0);
  const std::string why = " (" + response.why + (job.due.why.empty() ? "" : "; " + job.due.why) +
                          "): " + Join(pods, ", ");
  switch (response.step) {
    case Step::kNothing:
      return "nothing: " + response.why;
    case Step::kDelete:
      return who + " deletes " + count + when + why;
    case Step::kEvict:
      return who + " evicts " + count + (later ? when : "") + ", and deletes " +
             (pods.size() == 1 ? "it" : "them") + " by force " + AfterText(grace_over_time) + why;
    case Step::kAnnotate:
      return who + " annotates " + count + when + why;
    case Step::kFails:
      return "it cannot be restarted: " + response.why;
  }
  return "";
}

std::string_view StepName(Step step) {
  switch (step) {
    case Step::kNothing:
      return "nothing";
    case Step::kDelete:
      return "delete";
    case Step::kEvict:
      return "evict";
    case Step::kAnnotate:
      return "annotate";
    case Step::kFails:
      return "fails";
  }
  return "";
}

// "3m ago: p0, p1"
std::string RecordText(const std::optional<PluginRestart>& restart, Time now) {
  if (!restart) return "<no record>";
  const std::vector<std::string> pods(restart->faulty.begin(), restart->faulty.end());
  return AgeText(now - restart->time) + " ago" + (pods.empty() ? "" : ": " + Join(pods, ", "));
}

OrderedJson RecordJson(const std::optional<PluginRestart>& restart) {
  if (!restart) return nullptr;
  return {{"time", FormatTime(restart->time)}, {"faultyPods", restart->faulty}};
}

void PrintJobTable(const Survey& survey, std::chrono::seconds grace_over_time, Time now,
                   const Paint& paint, std::ostream& out) {
  Table table({"JOB", "FAULT", "PLUGIN RESTARTED", "WHAT HAPPENS"});
  for (const SurveyedJob& job : survey.jobs) {
    table.Add({job.ns + "/" + job.pod_group,
               std::string(watcher::rescheduling::FaultTypeName(job.response.reason)),
               RecordText(job.plugin_restarted, now), WhatHappens(job, grace_over_time)});
  }
  if (table.empty()) return;
  out << "\n";
  table.Print(paint, out);
}

// What the watcher did about faults, or why not.
struct FaultDecisions {
  std::vector<WatcherEvent> events{};
  std::string unread{};  // why they are not known; empty: they are
};

FaultDecisions FaultDecisionsOf(kube::Client& client) {
  auto events = ReadFaultEvents(client);
  if (events) return {.events = *std::move(events)};
  return {.unread = events.error().message};
}

void PrintFaultDecisions(const FaultDecisions& decisions, Time now, const Paint& paint,
                         std::ostream& out) {
  if (!decisions.unread.empty()) {
    out << "\nWhat mindgate did is not known, as Events cannot be read: " << decisions.unread
        << "\n";
  }
  Table table({"AGE", "OBJECT", "MINDGATE", "WHY"});
  for (const WatcherEvent& event : decisions.events) {
    const auto time = ParseTimestamp(event.time);
    table.Add({time ? AgeText(now - *time) : "<unknown>", event.ns + "/" + event.about,
               event.reason, event.note});
  }
  if (table.empty()) return;
  out << "\n";
  table.Print(paint, out);
}

OrderedJson FaultDecisionsJson(const FaultDecisions& decisions) {
  if (!decisions.unread.empty()) return nullptr;
  OrderedJson events = OrderedJson::array();
  for (const WatcherEvent& event : decisions.events) {
    events.push_back({{"time", event.time},
                      {"namespace", event.ns},
                      {"object", event.about},
                      {"decision", event.reason},
                      {"why", event.note}});
  }
  return events;
}

OrderedJson JobJson(const SurveyedJob& job) {
  return {{"namespace", job.ns},
          {"podGroup", job.pod_group},
          {"pods", job.tasks.size()},
          {"fault", watcher::rescheduling::FaultTypeName(job.response.reason)},
          {"step", StepName(job.response.step)},
          {"of", PodsOf(job)},
          {"why", job.response.why},
          {"by", what_if::ActorName(job.due.by)},
          {"withinSeconds", job.due.within.count()},
          {"later", job.due.why},
          {"pluginRestarted", RecordJson(job.plugin_restarted)}};
}

}  // namespace

Survey Concerning(Survey survey, const std::string& ns, const std::set<std::string>& pods,
                  const std::set<std::string>& nodes) {
  const auto is_ours = [&](const std::string& of, const watcher::rescheduling::Task& task) {
    return of == ns && pods.contains(task.pod);
  };
  std::erase_if(survey.pods, [&](const SurveyedPod& pod) { return !is_ours(pod.ns, pod.task); });
  std::erase_if(survey.jobs, [&](const SurveyedJob& job) {
    return std::none_of(job.tasks.begin(), job.tasks.end(),
                        [&](const auto& task) { return is_ours(job.ns, task); });
  });
  std::erase_if(survey.nodes, [&](const auto& node) { return !nodes.contains(node.first); });
  std::erase_if(survey.not_ready, [&](const auto& node) { return !nodes.contains(node); });
  return survey;
}

void PrintFaultTable(const Survey& survey, FaultSource source, std::chrono::seconds grace_over_time,
                     Time now, const Paint& paint, std::ostream& out) {
  out << SourceText(survey, source) << ".\n";
  Table table({"NODE", "PART", "STATE", "CODES", "SINCE", "FAULTY PODS"});
  for (const std::string& node : NodesOf(survey)) {
    bool first = true;
    for (const FaultyPart& part : PartsOf(survey, node)) {
      std::vector<std::string> pods;
      for (const SurveyedPod* pod : part.pods) pods.push_back(PodText(*pod));
      table.Add({first ? node : "", part.what, part.state,
                 part.codes.empty() ? "<none>" : Join(part.codes, ","),
                 part.since ? AgeText(now - *part.since) : "<unknown>",
                 pods.empty() ? "<none>" : Join(pods, ", ")});
      first = false;
    }
  }
  if (table.empty()) {
    out << "No faulty nodes and chips.\n";
  } else {
    table.Print(paint, out);
  }
  PrintJobTable(survey, grace_over_time, now, paint, out);
}

OrderedJson FaultJson(const Survey& survey) {
  OrderedJson nodes = OrderedJson::array();
  for (const std::string& node : NodesOf(survey)) {
    OrderedJson parts = OrderedJson::array();
    for (const FaultyPart& part : PartsOf(survey, node)) {
      OrderedJson pods = OrderedJson::array();
      for (const SurveyedPod* pod : part.pods) {
        pods.push_back(
            {{"namespace", pod->ns}, {"name", pod->task.pod}, {"podGroup", pod->pod_group}});
      }
      parts.push_back(
          {{"part", part.what},
           {"state", part.state},
           {"codes", part.codes},
           {"since", part.since ? OrderedJson(FormatTime(*part.since)) : OrderedJson(nullptr)},
           {"faultyPods", std::move(pods)}});
    }
    nodes.push_back({{"node", node}, {"parts", std::move(parts)}});
  }
  OrderedJson jobs = OrderedJson::array();
  for (const SurveyedJob& job : survey.jobs) jobs.push_back(JobJson(job));
  return {{"reportedBy", survey.by_clusterd   ? "clusterd"
                         : survey.reports > 0 ? "nodes"
                                              : "nobody"},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)},
          {"problems", survey.problems}};
}

int RunFaultStatus(const StatusOptions& options, Streams& io) {
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  const Time now = clock.WallNow();
  const doctor::WatcherState of_watcher = WatcherOf(connection->client(), now);
  what_if::SnapshotOptions reports = SnapshotOptionsOf(of_watcher);
  reports.scaling_rules = false;
  const FaultSource source =
      options.fault_source.value_or(of_watcher.config.rescheduling.fault_source);
  reports.fault_source = source;
  const auto snapshot = ReadCluster(connection->client(), now, reports, io);
  if (!snapshot) return kExitUnusable;
  Survey survey = what_if::SurveyOf(*snapshot, what_if::FaultsIn(*snapshot));
  const auto table = what_if::CodesIn(*snapshot, survey.problems);
  const std::vector<CodeToRise> rising = CodesToRise(survey, *table);
  const WarningSink warn = PrintWarnings(io.err);
  for (const std::string& problem : survey.problems) warn(problem);
  const FaultDecisions decisions = FaultDecisionsOf(connection->client());
  const Paint paint(options.color, io.out_is_terminal);
  return PrintOutput(options.output,
                     {.document =
                          [&] {
                            OrderedJson document = FaultJson(survey);
                            document["codes"] = CodesToRiseJson(rising);
                            document["decisions"] = FaultDecisionsJson(decisions);
                            return document;
                          },
                      .names =
                          [&] {
                            std::vector<std::string> names;
                            for (const std::string& node : NodesOf(survey)) {
                              names.push_back("node/" + node);
                            }
                            return names;
                          },
                      .text =
                          [&](std::ostream& out, bool) {
                            PrintFaultTable(survey, source, of_watcher.config.grace_over_time, now,
                                            paint, out);
                            PrintCodesToRise(rising, paint, out);
                            PrintFaultDecisions(decisions, now, paint, out);
                          }},
                     io);
}

}  // namespace mindgate::cli
