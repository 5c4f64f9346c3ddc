#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "cli/console/session.h"
#include "cli/deploy/deploy.h"
#include "cli/status/status.h"
#include "deploy/health.h"
#include "what_if/snapshot.h"
#include "what_if/survey.h"

namespace mindgate::cli {
namespace {

using deploy::Health;
using nlohmann::ordered_json;
using what_if::Survey;

constexpr std::chrono::milliseconds kWatchPause{2000};

// How many looks at the application one look at services and faults is worth, which reads much
// more.
constexpr int kLooksPerDecision = 5;

// What is known of an application besides its own objects.
struct Decisions {
  std::optional<StatusReport> scaling{};  // nothing: it cannot be read
  std::optional<Survey> faults{};
  schemas::FaultSource fault_source = schemas::FaultSource::kAuto;           // of the watcher
  std::chrono::seconds grace_over_time = schemas::Config().grace_over_time;  // likewise
  std::vector<std::string> unknown{};  // what cannot be read and why
};

// The faults that concern the pods of the application, and what MindCluster does about them.
std::optional<Survey> FaultsOf(kube::Client& client, const Health& health, Time now,
                               const what_if::SnapshotOptions& reports, const std::stop_token& stop,
                               std::string& why_not) {
  const auto text = what_if::TakeSnapshot(client, now, reports, stop);
  if (!text) {
    why_not = text.error().message;
    return std::nullopt;
  }
  const auto snapshot = what_if::ReadSnapshot(*text);
  if (!snapshot) {
    why_not = json::Render(snapshot.error(), "the cluster", *text);
    return std::nullopt;
  }
  std::set<std::string> pods;
  std::set<std::string> nodes;
  for (const deploy::ComponentState& component : health.components) {
    for (const deploy::PodState& pod : component.pods) {
      pods.insert(pod.name);
      nodes.insert(pod.node);
    }
  }
  return Concerning(what_if::SurveyOf(*snapshot, what_if::FaultsIn(*snapshot)), health.ns, pods,
                    nodes);
}

Decisions DecisionsOf(Connection& connection, const Health& health, Time now,
                      const std::stop_token& stop) {
  Decisions decisions;
  // A MindIE service may have no pod yet: the gate of Ascend Operator holds its jobs.
  const bool by_name = health.framework == deploy::Framework::kMindie;
  auto scaling = LookAtScaling(connection, health.ns, by_name ? health.app : "",
                               deploy::PodSelector(health.framework, health.app));
  if (scaling) {
    decisions.scaling = *std::move(scaling);
  } else {
    decisions.unknown.push_back("scaling is not known: " + scaling.error());
  }
  std::string why_not;
  what_if::SnapshotOptions reports{.scaling_rules = false};
  if (decisions.scaling) {
    const doctor::WatcherState& of_watcher = decisions.scaling->watcher;
    decisions.fault_source = of_watcher.config.rescheduling.fault_source;
    decisions.grace_over_time = of_watcher.config.grace_over_time;
    reports = SnapshotOptionsOf(of_watcher);
    reports.scaling_rules = false;
  }
  reports.fault_source = decisions.fault_source;
  decisions.faults = FaultsOf(connection.client(), health, now, reports, stop, why_not);
  if (!decisions.faults) decisions.unknown.push_back("faults of nodes are not known: " + why_not);
  return decisions;
}

ordered_json HealthJson(const Health& health) {
  auto components = ordered_json::array();
  for (const deploy::ComponentState& component : health.components) {
    auto pods = ordered_json::array();
    for (const deploy::PodState& pod : component.pods) {
      pods.push_back({{"name", pod.name},
                      {"ready", pod.ready},
                      {"state", pod.state},
                      {"reason", pod.reason},
                      {"restarts", pod.restarts},
                      {"npus", pod.npus},
                      {"node", pod.node},
                      {"ip", pod.ip},
                      {"created", pod.created}});
    }
    components.push_back({{"name", component.name},
                          {"wanted", component.wanted},
                          {"ready", component.ready},
                          {"pods", std::move(pods)}});
  }
  auto services = ordered_json::array();
  for (const deploy::ServiceState& service : health.services) {
    services.push_back(
        {{"name", service.name}, {"address", service.address}, {"entry", service.is_entry}});
  }
  auto events = ordered_json::array();
  for (const deploy::EventState& event : health.events) {
    events.push_back({{"time", event.time},
                      {"type", event.type},
                      {"reason", event.reason},
                      {"about", event.about},
                      {"reporter", event.reporter},
                      {"message", event.message}});
  }
  return {{"application", health.app},
          {"namespace", health.ns},
          {"framework", FrameworkName(health.framework)},
          {"verdict", VerdictName(health.verdict)},
          {"reason", health.why},
          {"url", health.url},
          {"components", std::move(components)},
          {"services", std::move(services)},
          {"objects", health.objects},
          {"events", std::move(events)}};
}

// Null stands for what is not known.
ordered_json AppJson(const Health& health, const Decisions& decisions) {
  ordered_json document = HealthJson(health);
  document["scaling"] = decisions.scaling ? StatusJson(*decisions.scaling) : ordered_json(nullptr);
  document["faults"] = decisions.faults ? FaultJson(*decisions.faults) : ordered_json(nullptr);
  return document;
}

void PrintDecisions(const Decisions& decisions, bool wide, Time now, const Paint& paint,
                    std::ostream& out) {
  if (decisions.scaling && !decisions.scaling->services.empty()) {
    out << "\n";
    PrintStatusTable(*decisions.scaling, wide, paint, out);
  }
  const auto& faults = decisions.faults;
  if (faults && !(faults->nodes.empty() && faults->not_ready.empty() && faults->jobs.empty())) {
    out << "\nFaults. ";
    PrintFaultTable(*faults, decisions.fault_source, decisions.grace_over_time, now, paint, out);
  }
}

Color ColorOfHealth(deploy::Verdict verdict) {
  switch (verdict) {
    case deploy::Verdict::kHealthy:
      return Color::kGreen;
    case deploy::Verdict::kFailed:
      return Color::kRed;
    default:
      return Color::kYellow;
  }
}

std::string OrNone(const std::string& text) { return text.empty() ? "<none>" : text; }

void PrintHealth(const Health& health, const Decisions& decisions, bool wide, Time now,
                 const Paint& paint, std::ostream& out) {
  out << "Application " << health.app << " (" << FrameworkName(health.framework)
      << ") in namespace " << health.ns << ": "
      << paint(ColorOfHealth(health.verdict), VerdictName(health.verdict)) << ", " << health.why
      << "\n";
  if (!health.url.empty()) out << "Entry: " << health.url << "\n";
  out << "\n";
  std::vector<TableCell> header = {"COMPONENT", "POD",  "READY", "STATUS",
                                   "RESTARTS",  "NPUS", "NODE"};
  if (wide) header.insert(header.end(), {"IP", "CREATED"});
  Table table(header);
  for (const deploy::ComponentState& component : health.components) {
    const std::string count =
        std::to_string(component.ready) + "/" + std::to_string(component.wanted);
    const bool complete = component.ready >= component.wanted;
    std::vector<TableCell> row = {component.name,
                                  "",
                                  TableCell(count, complete ? Color::kGreen : Color::kYellow),
                                  "",
                                  "",
                                  "",
                                  ""};
    if (wide) row.insert(row.end(), {"", ""});
    table.Add(row);
    for (const deploy::PodState& pod : component.pods) {
      row = {"",
             pod.name,
             pod.ready ? "yes" : "no",
             pod.reason.empty() ? TableCell(pod.state) : TableCell(pod.state, Color::kRed),
             std::to_string(pod.restarts),
             std::to_string(pod.npus),
             OrNone(pod.node)};
      if (wide) row.insert(row.end(), {OrNone(pod.ip), pod.created});
      table.Add(row);
    }
  }
  table.Print(paint, out);
  if (!health.services.empty()) {
    out << "\n";
    Table services({"SERVICE", "ADDRESS"});
    for (const deploy::ServiceState& service : health.services) {
      services.Add({service.name, service.address});
    }
    services.Print(paint, out);
  }
  PrintDecisions(decisions, wide, now, paint, out);
  if (!health.events.empty()) {
    out << "\n";
    Table events({"TIME", "TYPE", "REASON", "OBJECT", "MESSAGE"});
    for (const deploy::EventState& event : health.events) {
      events.Add({event.time,
                  event.type == "Warning" ? TableCell(event.type, Color::kYellow) : event.type,
                  event.reason, event.about, event.message});
    }
    events.Print(paint, out);
  }
}

int PrintApp(const Health& health, const Decisions& decisions, const StatusOptions& options,
             Time now, Streams& io) {
  const Paint paint(options.color, io.out_is_terminal);
  const int code = PrintOutput(
      options.output,
      {.document = [&] { return AppJson(health, decisions); },
       .names = [&] { return std::vector<std::string>{health.app}; },
       .text = [&](std::ostream& out,
                   bool wide) { PrintHealth(health, decisions, wide, now, paint, out); }},
      io);
  io.out.flush();
  if (code != kExitDone) return code;
  return health.verdict == deploy::Verdict::kHealthy ? kExitDone : kExitDenied;
}

// Prints the application each time that it changes, until `stop` or until it is gone. A look that
// fails is reported, once, and tried again: an API server that restarts ends nothing.
int Follow(Connection& connection, kube::Sleeper& pauses, Health health, Decisions decisions,
           const StatusOptions& options, const Clock& clock, int code, const std::stop_token& stop,
           Streams& io) {
  std::string shown = AppJson(health, decisions).dump();
  std::string fault;
  for (int looks = 1; pauses.Sleep(kWatchPause, stop); ++looks) {
    auto next = deploy::LookAtHealth(connection.client(), health.ns, health.app, stop);
    if (!next) {
      if (stop.stop_requested()) break;
      if (next.error().message != fault) PrintError(io.err, next.error().message);
      fault = next.error().message;
      continue;
    }
    fault.clear();
    if (!next->has_value()) {
      PrintError(io.err, "application " + health.app + " in namespace " + health.ns + " is gone");
      return kExitNotFound;
    }
    health = **std::move(next);
    const Time now = clock.WallNow();
    if (looks % kLooksPerDecision == 0) decisions = DecisionsOf(connection, health, now, stop);
    std::string document = AppJson(health, decisions).dump();
    if (document == shown) continue;
    shown = std::move(document);
    if (options.output.Is("table") || options.output.Is("wide")) io.out << "\n";
    code = PrintApp(health, decisions, options, now, io);
  }
  return code;
}

}  // namespace

std::optional<int> RunAppStatus(const StatusOptions& options, Streams& io, kube::Sleeper* pauses) {
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  auto health =
      deploy::LookAtHealth(connection->client(), connection->ns(), options.names.front(), {});
  if (!health) {
    // Who may not list the objects of applications may still see services under scaling rules.
    if (health.error().reason == kube::Reason::kForbidden) return std::nullopt;
    PrintError(io.err, health.error().message);
    return kExitUnusable;
  }
  if (!health->has_value()) return std::nullopt;
  const Time now = clock.WallNow();
  Decisions decisions = DecisionsOf(*connection, **health, now, {});
  for (const std::string& unknown : decisions.unknown) io.err << "note: " << unknown << "\n";
  const int code = PrintApp(**health, decisions, options, now, io);
  if (!options.watch) return code;
  const StopOnSignal signals;
  return Follow(*connection, pauses != nullptr ? *pauses : connection->sleeper(),
                **std::move(health), std::move(decisions), options, clock, code, signals.token(),
                io);
}

}  // namespace mindgate::cli
