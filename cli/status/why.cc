#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "audit/collections.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "cli/status/status.h"
#include "why/reader.h"

namespace mindgate::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMaxGroupsShown = 5;

Color ColorOfState(why::State state) {
  switch (state) {
    case why::State::kRunning:
    case why::State::kDone:
      return Color::kGreen;
    case why::State::kHanging:
      return Color::kRed;
    default:
      return Color::kYellow;
  }
}

std::string PodState(const why::PodFacts& pod) {
  if (pod.gone_by) return "Terminating";
  if (pod.gated() && pod.node.empty()) return "gated";
  return pod.phase == "Running" && !pod.ready ? "Running, not ready" : pod.phase;
}

// "Running 1, Pending 2".
std::map<std::string, size_t> PodCounts(const why::Facts& facts) {
  std::map<std::string, size_t> counts;
  for (const why::PodFacts& pod : facts.pods) ++counts[PodState(pod)];
  return counts;
}

std::string PodsCell(const why::Facts& facts) {
  std::string text = std::to_string(facts.pods.size() + facts.pods_left_out);
  if (facts.wanted) text += " of " + std::to_string(*facts.wanted);
  std::vector<std::string> parts;
  for (const auto& [state, count] : PodCounts(facts)) {
    parts.push_back(std::to_string(count) + " " + state);
  }
  return parts.empty() ? text : text + ": " + Join(parts, ", ");
}

std::string GroupCell(const why::GroupFacts& group) {
  if (!group.exists) return group.name + ": it does not exist";
  return group.name + ": minMember " + std::to_string(group.min_member) + ", K " +
         (group.k ? std::to_string(*group.k) : std::string("<none>")) + ", phase " +
         (group.phase.empty() ? "<none>" : group.phase) + ", " + Counted(group.pods, "pod") +
         ", of these " + std::to_string(group.placed) + " on nodes";
}

std::string QueueCell(const why::QueueFacts& queue) {
  return queue.name + ": " +
         (!queue.exists         ? "it does not exist"
          : queue.state.empty() ? "<unknown>"
                                : queue.state);
}

std::map<std::string, size_t> GateCounts(const why::Facts& facts) {
  std::map<std::string, size_t> counts;
  for (const why::PodFacts& pod : facts.pods) {
    for (const std::string& gate : pod.gates) ++counts[gate];
  }
  return counts;
}

std::string NodesCell(const why::PlacementFacts& placement) {
  std::map<std::string, size_t> counts;
  for (const why::NodeFacts& node : placement.nodes) {
    ++counts[node.why_not.empty() ? "room" : node.why_not];
  }
  std::vector<std::string> parts;
  for (const auto& [why, count] : counts) parts.push_back(why + " on " + std::to_string(count));
  const std::string asks =
      placement.npus > 0 ? std::to_string(placement.npus) + " " + placement.resource : "no NPUs";
  return "for a pod with " + asks + ": " + (parts.empty() ? "there are none" : Join(parts, ", "));
}

void PrintFacts(const why::Facts& facts, const Paint& paint, std::ostream& out) {
  Table table({"FACT", "VALUE"});
  table.Add({"pods", PodsCell(facts)});
  if (!facts.owners.empty()) table.Add({"owner", Join(facts.owners, ", of ")});
  for (size_t i = 0; i < std::min(facts.groups.size(), kMaxGroupsShown); ++i) {
    table.Add({"PodGroup", GroupCell(facts.groups[i])});
  }
  if (facts.groups.size() > kMaxGroupsShown) {
    table.Add(
        {"PodGroup", "and " + std::to_string(facts.groups.size() - kMaxGroupsShown) + " more"});
  }
  for (const why::QueueFacts& queue : facts.queues) table.Add({"queue", QueueCell(queue)});
  for (const auto& [gate, count] : GateCounts(facts)) {
    table.Add({"gate", gate + " on " + Counted(static_cast<int64_t>(count), "pod")});
  }
  for (const why::PlacementFacts& placement : facts.placements) {
    table.Add({"nodes", NodesCell(placement)});
  }
  table.Print(paint, out);
}

void PrintReason(size_t number, const why::Reason& reason, const Paint& paint, size_t width,
                 std::ostream& out) {
  const std::string margin = "   ";
  const std::string what = Wrapped(reason.what + " [" + reason.id + "]", width, margin);
  const std::string numbered = std::to_string(number) + ". ";
  out << "\n"
      << paint(Color::kBold, numbered) << what.substr(std::min(numbered.size(), what.size()));
  if (!reason.why.empty()) out << Wrapped(reason.why, width, margin);
  for (const std::string& line : reason.evidence) out << Wrapped("- " + line, width, margin);
  if (!reason.fix.empty()) out << Wrapped("fix: " + reason.fix, width, margin);
}

}  // namespace

void PrintWhy(const why::Facts& facts, const why::Answer& answer, const Paint& paint, size_t width,
              std::ostream& out) {
  out << facts.kind << "/" << facts.name << (facts.ns.empty() ? "" : " in namespace " + facts.ns)
      << ": " << paint(ColorOfState(answer.state), std::string(why::StateName(answer.state)))
      << "\n\n";
  PrintFacts(facts, paint, out);
  size_t number = 0;
  for (const why::Reason& reason : answer.reasons) {
    PrintReason(++number, reason, paint, width, out);
  }
  if (!facts.unread.empty()) out << "\nNot read:\n";
  for (const why::UnreadFacts& unread : facts.unread) {
    out << Wrapped("- " + unread.what + ": " + unread.why, width);
  }
}

ordered_json WhyJson(const why::Facts& facts, const why::Answer& answer) {
  auto groups = ordered_json::array();
  for (const why::GroupFacts& group : facts.groups) {
    groups.push_back({{"name", group.name},
                      {"exists", group.exists},
                      {"minMember", group.min_member},
                      {"k", group.k ? ordered_json(*group.k) : ordered_json(nullptr)},
                      {"phase", group.phase},
                      {"queue", group.queue},
                      {"pods", group.pods},
                      {"gated", group.gated},
                      {"placed", group.placed}});
  }
  auto queues = ordered_json::array();
  for (const why::QueueFacts& queue : facts.queues) {
    queues.push_back({{"name", queue.name}, {"exists", queue.exists}, {"state", queue.state}});
  }
  auto nodes = ordered_json::array();
  for (const why::PlacementFacts& placement : facts.placements) {
    std::map<std::string, size_t> counts;
    for (const why::NodeFacts& node : placement.nodes) ++counts[node.why_not];
    nodes.push_back({{"pods", placement.pods},
                     {"resource", placement.resource},
                     {"npus", placement.npus},
                     {"room", counts[""]},
                     {"why", ordered_json::object()}});
    for (const auto& [why, count] : counts) {
      if (!why.empty()) nodes.back()["why"][why] = count;
    }
  }
  auto reasons = ordered_json::array();
  for (const why::Reason& reason : answer.reasons) {
    reasons.push_back({{"id", reason.id},
                       {"state", why::StateName(reason.state)},
                       {"what", reason.what},
                       {"why", reason.why},
                       {"fix", reason.fix},
                       {"evidence", reason.evidence}});
  }
  auto unread = ordered_json::array();
  for (const why::UnreadFacts& one : facts.unread) {
    unread.push_back({{"what", one.what}, {"why", one.why}});
  }
  return {{"kind", facts.kind},
          {"namespace", facts.ns},
          {"name", facts.name},
          {"state", why::StateName(answer.state)},
          {"owners", facts.owners},
          {"wanted", facts.wanted ? ordered_json(*facts.wanted) : ordered_json(nullptr)},
          {"pods", PodCounts(facts)},
          {"podGroups", std::move(groups)},
          {"queues", std::move(queues)},
          {"gates", GateCounts(facts)},
          {"nodes", std::move(nodes)},
          {"reasons", std::move(reasons)},
          {"unread", std::move(unread)}};
}

namespace {

// The kinds that have pods, and PodGroups.
constexpr schemas::KindSet kAskedKinds =
    schemas::kScheduled -
    schemas::KindSet{schemas::Kind::kServingRuntime, schemas::Kind::kClusterServingRuntime};

struct Asked {
  std::string kind{};  // as written
  std::string name{};
};

std::optional<Asked> ReadAsked(const std::vector<std::string>& words, Streams& io) {
  Asked asked{.kind = "pod"};
  if (words.size() == 2) {
    asked.kind = words[0];
    asked.name = words[1];
  } else {
    const size_t slash = words.front().find('/');
    if (slash != words.front().npos) asked.kind = words.front().substr(0, slash);
    asked.name = words.front().substr(slash == words.front().npos ? 0 : slash + 1);
  }
  if (!asked.name.empty() && asked.name.find('/') == asked.name.npos) return asked;
  PrintError(io.err, Quote(asked.name) + " is not the name of an object",
             "write KIND/NAME, KIND NAME, or the name of a pod");
  return std::nullopt;
}

// The kinds with pods that a user names, built in or of the site. Empty if there is none; `io.err`
// says so.
why::KindRows KindsAsked(const std::string& word, const schemas::SiteKinds& site, Streams& io) {
  why::KindRows kinds = audit::KindsNamed(word, site);
  std::erase_if(kinds, [](const schemas::KindInfo* info) { return !kAskedKinds.Has(info->kind); });
  if (!kinds.empty()) return kinds;
  const std::vector<std::string> names = audit::KindNames(site);
  const auto near = NearestOf(ToLower(word), names);
  PrintError(
      io.err, Quote(word) + " is not a kind with pods that mindgate knows",
      (near ? "did you mean " + Quote(*near) + "? " : "") + "`mindgate kinds` lists all of them");
  return kinds;
}

int ReportMissing(kube::Client& client, const Asked& asked, const why::KindRows& kinds,
                  const std::string& ns, const kube::Fault& fault, Streams& io) {
  if (fault.reason != kube::Reason::kNotFound) {
    PrintError(io.err, asked.kind + "/" + asked.name + " cannot be read: " + fault.message);
    return kExitUnusable;
  }
  const std::vector<std::string> there = why::NamesThere(client, kinds, ns);
  const auto near = NearestOf(asked.name, there);
  std::string hint;
  if (near) {
    hint = "did you mean " + Quote(*near) + "?";
  } else if (there.empty()) {
    hint = "the namespace has no " + asked.kind + "; name another one with -n";
  } else {
    hint = "there are " + JoinFirst(there, 5);
  }
  PrintError(io.err, "there is no " + asked.kind + " " + Quote(asked.name) + " in namespace " + ns,
             hint);
  return kExitNotFound;
}

why::ReadOptions ReadOptionsOf(const doctor::WatcherState& watcher, Time now) {
  why::ReadOptions options{.now = now, .snapshot = SnapshotOptionsOf(watcher)};
  options.scaling = watcher.config.elastic_scaling;
  options.watcher.known = watcher.mode.has_value() && !watcher.leader_is_unknown;
  options.watcher.leads = watcher.leader && watcher.leader->current;
  options.watcher.acts = watcher.acts().value_or(false);
  if (watcher.mode) {
    options.watcher.mode = *watcher.mode == schemas::EnforcementMode::kOff ? "off" : "observe";
  }
  return options;
}

// What is known of it now; nothing: `code` says why, and it was reported.
class Why {
 public:
  Why(const WhyOptions& options, const Asked& asked, Connection& connection, Streams& io)
      : options_(options), asked_(asked), connection_(connection), io_(io) {}

  int Run(kube::Sleeper& pauses) {
    // Reading a large cluster takes a second or two.
    constexpr std::chrono::milliseconds kPause(5'000);
    std::string printed;
    for (;;) {
      const auto read = Read();
      if (!read) return code_;
      const why::Answer answer = why::WhyIsIt(*read);
      const std::string now =
          WhyJson(*read, answer).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
      if (now != printed) {
        if (!printed.empty() && options_.output.Is("text")) io_.out << "\n";
        if (const int code = Print(*read, answer); code != kExitDone) return code;
        printed = now;
      }
      if (why::IsSettled(answer)) return kExitDone;
      // What has failed for good does not change any more either.
      if (!options_.wait || answer.reasons.front().id == "refused") return kExitDenied;
      if (!pauses.Sleep(kPause, {})) return kExitDenied;
    }
  }

 private:
  std::optional<why::Facts> Read() {
    kube::Client& client = connection_.client();
    const Time now = clock_.WallNow();
    const doctor::WatcherState watcher = WatcherOf(client, now);
    const schemas::SiteKinds& site = watcher.config.kinds;
    const why::KindRows kinds = KindsAsked(asked_.kind, site, io_);
    if (kinds.empty()) {
      code_ = kExitUnusable;
      return std::nullopt;
    }
    const auto subject = why::FindSubject(client, kinds, site, connection_.ns(), asked_.name);
    if (!subject) {
      code_ = ReportMissing(client, asked_, kinds, connection_.ns(), subject.error(), io_);
      return std::nullopt;
    }
    return why::ReadFacts(client, *subject, ReadOptionsOf(watcher, now));
  }

  int Print(const why::Facts& facts, const why::Answer& answer) {
    const int code = PrintOutput(
        options_.output,
        {.document = [&] { return WhyJson(facts, answer); },
         .names =
             [&] {
               std::vector<std::string> ids;
               for (const why::Reason& reason : answer.reasons) {
                 ids.push_back(reason.id);
               }
               return ids;
             },
         .text =
             [&](std::ostream& out, bool) {
               PrintWhy(facts, answer, Paint(options_.color, io_.out_is_terminal), io_.width, out);
             }},
        io_);
    io_.out.flush();
    return code;
  }

  const WhyOptions& options_;
  const Asked& asked_;
  Connection& connection_;
  Streams& io_;
  const SystemClock clock_;
  int code_ = kExitDone;
};

}  // namespace

int RunWhy(const WhyOptions& options, Streams& io, kube::Sleeper* pauses) {
  const auto asked = ReadAsked(options.object, io);
  if (!asked) return kExitUnusable;
  const SystemClock clock;
  const auto connection = Connect(options.cluster, clock, ForPeople(), io);
  if (connection == nullptr) return kExitUnusable;
  return Why(options, *asked, *connection, io).Run(pauses ? *pauses : connection->sleeper());
}

void AddWhy(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = parent.add_subcommand(
      "why", "Find out why a workload is pending, gated, hanging or restarted, and what to do");
  command
      ->add_option("OBJECT", options->object,
                   "KIND/NAME or KIND NAME, kinds as kubectl takes them, or the name of a pod")
      ->type_name("")
      ->required()
      ->expected(1, 2);
  AddSwitch(*command, "--wait", options->wait,
            "Read again every 5 seconds and print what changes, until it runs or has ended",
            "WHY_WAIT");
  AddOutputOption(*command, options->output, {"text", "name", "yaml", "json", "jsonpath"},
                  "WHY_OUTPUT");
  AddColorOption(*command, options->color);
  AddKubeFlags(*command, options->cluster);
  command->footer(
      R"(Shows in one screen what holds a workload, a pod or a PodGroup: missing pods, PodGroup, queue and quota, gates
and scaling rules, nodes against what its pods ask for, faulty chips, restarts, and containers that wait. Reasons
are numbered, the most likely first, each with a fix. Nothing is written. What may not be read is named below the
reasons, and the rest is used; nodes and faults take the rights of `mindgate snapshot`.
Exit codes: 0 it runs or has ended, 1 it does not, 2 the cluster or the arguments are unusable, 6 no such object.

Examples:
  mindgate why deployment/chat -n infer
  mindgate why ascendjob train --wait
  mindgate why chat-7d9c5-x2x4p                  a pod
  mindgate why podgroup/podgroup-3f0c -o json | jq -r '.reasons[0].fix')");
  command->callback([options, &io, &exit_code] { exit_code = RunWhy(*options, io); });
}

}  // namespace mindgate::cli
