#include "cli/status.h"

#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "base/text.h"
#include "base/thread.h"
#include "cli/commands.h"
#include "cli/evaluate.h"
#include "cli/flags.h"
#include "cli/kube_flags.h"
#include "cli/service.h"
#include "cli/version.h"
#include "watcher/scaling/service_feed.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using watcher::scaling::Decision;
using watcher::scaling::Outcome;
using watcher::scaling::ServiceFeed;
using watcher::scaling::ServiceKey;
using watcher::scaling::Verdict;

// Long enough for a big cluster, short enough for a person.
constexpr std::chrono::seconds kMaxList(60);
// Changes that come together are printed together.
constexpr int kTogetherMs = 500;

struct Standing {
  ServiceKey service;
  size_t shapes = 0;
  Decision decision;
};

// As the watcher sees them, by the same code; it may know of grants that no pod shows yet.
std::vector<Standing> StandingsOf(const watcher::scaling::ServiceIndex& index, Time now) {
  std::vector<Standing> standings;
  for (const ServiceKey& key : index.services()) {
    const auto view = index.Look(key);
    watcher::scaling::Service service{view.rule.rule, view.rule.why_not, {}};
    for (const auto& observed : watcher::scaling::Observe(view.pods)) {
      service.instances.push_back(observed.instance);
    }
    standings.push_back({key, service.rule ? service.rule->tiers.size() : 0,
                         watcher::scaling::Decide(service, {}, now)});
  }
  return standings;
}

std::string ShapeOf(const Standing& standing) {
  if (standing.shapes == 0) return "no rule";
  if (!standing.decision.reached) return "none of " + std::to_string(standing.shapes);
  return std::to_string(*standing.decision.reached + 1) + " of " + std::to_string(standing.shapes);
}

bool Waits(const Outcome& outcome) {
  return outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kGrant;
}

// What is to be said of a group: of the first that waits, or of what could be done for others.
std::string WhyOf(const Standing& standing, const std::string& group) {
  for (const Outcome& outcome : standing.decision.outcomes) {
    if (outcome.group != group || !Waits(outcome)) continue;
    return (outcome.verdict == Verdict::kGrant ? "about to start: " : "") + outcome.reason;
  }
  const auto& surplus = standing.decision.would_give_up;
  if (surplus && surplus->group == group) {
    return surplus->instance + " could be given up: " + surplus->reason;
  }
  return "";
}

void PrintTable(const std::vector<Standing>& standings, const Paint& paint, std::ostream& out) {
  if (standings.empty()) {
    out << "no pods are under a scaling rule\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "SERVICE", "RULE", "SHAPE", "GROUP",
                                                 "WANTED", "RUNNING", "STARTING", "WAITING",
                                                 "WHY"}};
  for (const Standing& standing : standings) {
    bool first = true;
    for (const auto& group : standing.decision.groups) {
      const auto once = [&](std::string text) { return first ? std::move(text) : std::string(); };
      rows.push_back({once(standing.service.ns), once(standing.service.job_id),
                      once(standing.service.rule), once(ShapeOf(standing)),
                      group.group.empty() ? "(none)" : group.group, std::to_string(group.wanted),
                      std::to_string(group.running), std::to_string(group.starting),
                      std::to_string(group.held), WhyOf(standing, group.group)});
      first = false;
    }
  }
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (size_t line = 0; line < rows.size(); ++line) {
    std::string text;
    for (size_t i = 0; i < rows[line].size(); ++i) {
      const bool last = i + 1 == rows[line].size();
      text += last ? rows[line][i] : Padded(rows[line][i], widths[i] + 2);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << (line == 0 ? paint(Color::kBold, text) : text) << "\n";
  }
}

void PrintJson(const std::vector<Standing>& standings, std::ostream& out) {
  const auto place = [](const std::optional<size_t>& tier) {
    return tier ? OrderedJson(*tier + 1) : OrderedJson(nullptr);
  };
  const auto told = [](const Outcome& outcome, const char* verdict) {
    return OrderedJson{{"instance", outcome.instance},
                       {"group", outcome.group},
                       {"verdict", verdict},
                       {"reason", outcome.reason}};
  };
  OrderedJson services = OrderedJson::array();
  for (const Standing& standing : standings) {
    OrderedJson groups = OrderedJson::array();
    for (const auto& group : standing.decision.groups) {
      groups.push_back({{"group", group.group},
                        {"wanted", group.wanted},
                        {"running", group.running},
                        {"starting", group.starting},
                        {"waiting", group.held}});
    }
    OrderedJson instances = OrderedJson::array();
    for (const Outcome& outcome : standing.decision.outcomes) {
      instances.push_back(told(outcome, outcome.verdict == Verdict::kHold    ? "hold"
                                        : outcome.verdict == Verdict::kGrant ? "grant"
                                                                             : "keep"));
    }
    OrderedJson service = {{"namespace", standing.service.ns},
                           {"jobID", standing.service.job_id},
                           {"rule", standing.service.rule},
                           {"shapes", standing.shapes},
                           {"shape", place(standing.decision.reached)},
                           {"aim", place(standing.decision.aim)},
                           {"groups", std::move(groups)},
                           {"instances", std::move(instances)}};
    if (const auto& surplus = standing.decision.would_give_up) {
      service["surplus"] = told(*surplus, "give up");
    }
    services.push_back(std::move(service));
  }
  out << OrderedJson{{"services", std::move(services)}}.dump(2) << "\n";
}

}  // namespace

int RunStatus(const StatusOptions& options, Streams& io) {
  const FileDescriptor signals = CatchStopSignals();
  const SystemClock clock;
  auto access = kube::FindAccess(options.cluster, clock);
  if (!access) {
    PrintError(io.err, access.error().message);
    return kExitUnusable;
  }
  ServiceFeed::Options of_feed;
  if (!options.all_namespaces) of_feed.ns = access->default_namespace;
  std::atomic<uint64_t> changes = 0;
  of_feed.changed = [&changes](const ServiceKey&) { ++changes; };
  std::atomic<bool> refused = false;
  std::mutex mutex;
  std::string fault_text;
  std::stop_source stop;
  of_feed.failed = [&](const char* what, const kube::Fault& fault, std::chrono::milliseconds) {
    {
      const std::lock_guard lock(mutex);
      fault_text = std::string(what) + " cannot be read: " + fault.message;
    }
    refused = true;
  };
  of_feed.seed = std::random_device()();
  const auto transport = kube::MakeTransport(*std::move(access), UserAgent());
  kube::RealSleeper sleeper;
  kube::Client client(*transport, sleeper, {.retries = 1, .timeout = std::chrono::seconds(15)});
  ServiceFeed feed(client, sleeper, clock, of_feed);
  std::jthread thread = StartThread("feed", [&] { feed.Run(stop.get_token()); });
  const auto end = [&](int code) {
    stop.request_stop();
    thread.join();
    return code;
  };

  // A fault is said at once and not after the longest wait: a person can do something about it.
  for (auto waited = std::chrono::milliseconds(0); !feed.synced();
       waited += std::chrono::milliseconds(100)) {
    if (refused || waited >= kMaxList) {
      const std::lock_guard lock(mutex);
      PrintError(io.err, fault_text.empty() ? "the API server does not answer" : fault_text);
      return end(kExitUnusable);
    }
    feed.WaitSynced(std::chrono::milliseconds(100), stop.get_token());
  }
  const Paint paint(options.color, io.out_is_terminal);
  const auto print = [&] {
    const auto standings = StandingsOf(feed.index(), clock.WallNow());
    if (options.output == "json") {
      PrintJson(standings, io.out);
    } else {
      PrintTable(standings, paint, io.out);
    }
    io.out.flush();
  };
  uint64_t printed = changes;
  print();
  while (options.watch) {
    pollfd signal{.fd = signals.get(), .events = POLLIN, .revents = 0};
    if (::poll(&signal, 1, kTogetherMs) != 0) break;
    if (printed == changes) continue;
    printed = changes;
    if (options.output != "json") io.out << "\n";
    print();
  }
  return end(kExitDone);
}

void AddStatus(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = parent.add_subcommand(
      "status", "Show the services under scaling rules: what runs, what waits and why");
  AddKubeFlags(*command, options->cluster);
  command->add_flag("-A,--all-namespaces", options->all_namespaces, "Services of all namespaces");
  command->add_flag("-w,--watch", options->watch, "Print again whenever something changes");
  SetChoices(*command->add_option("-o,--output", options->output, "What to print")
                  ->capture_default_str()
                  ->envname("MINDGATE_STATUS_OUTPUT"),
             {"table", "json"});
  AddColorOption(*command, options->color);
  command->footer(
      R"(A service is what has one scaling rule (label mind-cluster/scaling-rule) and one jobID in a namespace.
Shape 1 is the rule's first, the fullest. The decisions themselves are Events:
  kubectl events --types=Normal,Warning | grep Instance
Exit codes: 0 printed, 2 the cluster cannot be asked.
Examples:
  mindgate status -n serving
  mindgate status -A -w
  mindgate status -A -o json | jq '.services[] | select(.aim != null)')");
  command->callback([options, &io, &exit_code] { exit_code = RunStatus(*options, io); });
}

}  // namespace mindgate::cli
