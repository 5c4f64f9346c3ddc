#include "cli/status/why.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "audit/collections.h"
#include "base/clock.h"
#include "base/problem.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/connection.h"
#include "cli/console/flags.h"
#include "cli/status/snapshot.h"
#include "cli/status/status.h"
#include "why/reader.h"

namespace mindgate::cli {
namespace {

using Json = nlohmann::ordered_json;

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
          WhyJson(*read, answer).dump(-1, ' ', false, Json::error_handler_t::replace);
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
