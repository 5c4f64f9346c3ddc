#include "cli/status_app.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/print_error.h"
#include "cli/app_run.h"
#include "cli/connection.h"
#include "deploy/health.h"

namespace mindgate::cli {
namespace {

using deploy::Health;
using nlohmann::ordered_json;

constexpr std::chrono::milliseconds kWatchPause{2000};

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

void PrintHealth(const Health& health, bool wide, const Paint& paint, std::ostream& out) {
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

int PrintApp(const Health& health, const StatusOptions& options, Streams& io) {
  const Paint paint(options.color, io.out_is_terminal);
  const int code = PrintOutput(
      options.output,
      {.document = [&] { return HealthJson(health); },
       .names = [&] { return std::vector<std::string>{health.app}; },
       .text = [&](std::ostream& out, bool wide) { PrintHealth(health, wide, paint, out); }},
      io);
  io.out.flush();
  if (code != kExitDone) return code;
  return health.verdict == deploy::Verdict::kHealthy ? kExitDone : kExitDenied;
}

}  // namespace

std::optional<int> RunAppStatus(const StatusOptions& options, Streams& io) {
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  const std::string& app = options.names.front();
  const auto look = [&](const std::stop_token& stop) {
    return deploy::LookAtHealth(connection->client(), connection->ns(), app, stop);
  };
  auto health = look({});
  if (!health) {
    // Who may not list the objects of applications may still see services under scaling rules.
    if (health.error().reason == kube::Reason::kForbidden) return std::nullopt;
    PrintError(io.err, health.error().message);
    return kExitUnusable;
  }
  if (!health->has_value()) return std::nullopt;
  int code = PrintApp(**health, options, io);
  if (!options.watch) return code;
  const StopOnSignal signals;
  std::string shown = HealthJson(**health).dump();
  while (connection->sleeper().Sleep(kWatchPause, signals.token())) {
    health = look(signals.token());
    if (!health || !health->has_value()) break;
    std::string now = HealthJson(**health).dump();
    if (now == shown) continue;
    shown = std::move(now);
    if (options.output.Is("table") || options.output.Is("wide")) io.out << "\n";
    code = PrintApp(**health, options, io);
  }
  return code;
}

}  // namespace mindgate::cli
