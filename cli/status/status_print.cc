#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/text.h"
#include "base/time.h"
#include "cli/console/output.h"
#include "cli/status/status.h"

namespace mindgate::cli {

std::string AfterText(std::chrono::seconds duration) {
  const auto minutes = duration.count() / 60;
  const bool whole = duration.count() % 60 == 0 && minutes > 0 && minutes < 60;
  return "after " + (whole ? Counted(minutes, "minute") : FormatDuration(duration));
}

namespace {

using OrderedJson = nlohmann::ordered_json;
using schemas::EnforcementMode;
using watcher::scaling::GroupCount;
using watcher::scaling::Verdict;

const char* NameOf(EnforcementMode mode) {
  return mode == EnforcementMode::kOff       ? "off"
         : mode == EnforcementMode::kObserve ? "observe"
                                             : "enforce";
}

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGrant:
      return "grant";
    case Verdict::kHold:
      return "hold";
    case Verdict::kWithdraw:
      return "withdraw";
    case Verdict::kGiveUp:
      return "give up";
    case Verdict::kKeep:
      break;
  }
  return "keep";
}

std::string ShapeOf(const Standing& standing, const std::optional<size_t>& shape,
                    const char* none) {
  if (standing.shapes == 0) return "no rule";
  return (shape ? std::to_string(*shape + 1) : none) + " of " + std::to_string(standing.shapes);
}

// Group counts; grants that nobody carries out are not counted as starting.
std::vector<GroupCount> GroupsOf(const Standing& standing, const std::optional<bool>& acts) {
  return acts.value_or(false) ? standing.decision.groups
                              : watcher::scaling::CountsWithoutGrants(standing.decision);
}

// Prefix of a reason.
std::string Prefix(Verdict verdict, const std::optional<bool>& acts) {
  if (!acts) return verdict == Verdict::kGrant ? "to be granted: " : "";
  if (*acts) return verdict == Verdict::kGrant ? "about to start: " : "";
  return verdict == Verdict::kGrant ? "would be granted: " : "would be held: ";
}

// The reason for a group: that of the first waiting instance, or of an instance that could be taken
// back.
std::string WhyOf(const Standing& standing, const std::string& group,
                  const std::optional<bool>& acts) {
  for (const watcher::scaling::Outcome& outcome : standing.decision.outcomes) {
    const bool waits = outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kGrant;
    if (outcome.group == group && waits) return Prefix(outcome.verdict, acts) + outcome.reason;
  }
  for (const watcher::scaling::Outcome& outcome : standing.decision.outcomes) {
    if (outcome.group != group || outcome.verdict != Verdict::kWithdraw) continue;
    return outcome.instance +
           (acts.value_or(false) ? " is about to be withdrawn: " : " could be withdrawn: ") +
           outcome.reason;
  }
  for (const watcher::scaling::Outcome& would : standing.decision.would) {
    if (would.group == group) return would.instance + " could be given up: " + would.reason;
  }
  return "";
}

std::string WaitingOf(const Standing& standing, const std::string& group) {
  std::vector<std::string> names;
  for (const watcher::scaling::Outcome& outcome : standing.decision.outcomes) {
    const bool waits = outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kGrant;
    if (outcome.group == group && waits) names.push_back(outcome.instance);
  }
  return names.empty() ? "<none>" : Join(names, ",");
}

// One group of one service.
struct GroupRow {
  const Standing& standing;
  const GroupCount& count;
  const std::optional<bool>& acts;
};

constexpr Column<GroupRow> kGroupColumns[] = {
    {nullptr, "group", [](const GroupRow& row) -> OrderedJson { return row.count.group; }},
    {"GROUP", nullptr,
     [](const GroupRow& row) -> OrderedJson {
       return row.count.group.empty() ? "(none)" : row.count.group;
     }},
    {"WANTED", "wanted", [](const GroupRow& row) -> OrderedJson { return row.count.wanted; }},
    {"RUNNING", "running", [](const GroupRow& row) -> OrderedJson { return row.count.running; }},
    {"STARTING", "starting", [](const GroupRow& row) -> OrderedJson { return row.count.starting; }},
    {"WAITING", "waiting", [](const GroupRow& row) -> OrderedJson { return row.count.held; }},
    {.title = "INSTANCES WAITING",
     .key = nullptr,
     .value = [](const GroupRow& row) -> OrderedJson {
       return WaitingOf(row.standing, row.count.group);
     },
     .wide = true},
    {"WHY", nullptr,
     [](const GroupRow& row) -> OrderedJson {
       return WhyOf(row.standing, row.count.group, row.acts);
     }},
};
constexpr std::span<const Column<GroupRow>> kGroups(kGroupColumns);

std::string ModeText(const doctor::WatcherState& watcher) {
  if (!watcher.mode) return "unknown: " + watcher.why_no_mode;
  std::string text = NameOf(*watcher.mode);
  if (*watcher.mode != EnforcementMode::kEnforce) text += ", so decisions are not carried out";
  if (!watcher.why_no_mode.empty()) text += " (" + watcher.why_no_mode + ")";
  return text;
}

std::string LeaderText(const StatusReport& report) {
  const doctor::WatcherState& watcher = report.watcher;
  if (!watcher.leader) {
    return (watcher.leader_is_unknown ? "unknown: " : "none, so decisions are not carried out: ") +
           watcher.why_no_leader;
  }
  std::string text = watcher.leader->identity;
  if (watcher.leader->since) text += ", for " + AgeText(report.now - *watcher.leader->since);
  return text;
}

OrderedJson WatcherJson(const doctor::WatcherState& watcher) {
  OrderedJson leader;
  if (watcher.leader) {
    leader = {{"identity", watcher.leader->identity},
              {"since", watcher.leader->since ? OrderedJson(FormatTime(*watcher.leader->since))
                                              : OrderedJson(nullptr)}};
  }
  return {{"mode", watcher.mode ? OrderedJson(NameOf(*watcher.mode)) : OrderedJson(nullptr)},
          {"leader", std::move(leader)}};
}

}  // namespace

void PrintStatusTable(const StatusReport& report, bool wide, const Paint& paint,
                      std::ostream& out) {
  const auto acts = report.watcher.acts();
  const auto line = [&](const char* what, const std::string& text) {
    out << paint(Color::kBold, what) << (acts.value_or(false) ? text : paint(Color::kYellow, text))
        << "\n";
  };
  line("mode:   ", ModeText(report.watcher));
  line("leader: ", LeaderText(report));
  out << "\n";
  if (report.standings.empty()) {
    out << "no pods are under a scaling rule\n";
    return;
  }
  std::vector<TableCell> header = {"NAMESPACE", "SERVICE", "RULE", "SHAPE"};
  if (wide) header.emplace_back("AIM");
  AddTitles(kGroups, wide, header);
  Table table(std::move(header));
  for (const Standing& standing : report.standings) {
    bool first = true;
    for (const GroupCount& group : GroupsOf(standing, acts)) {
      const auto once = [&](std::string text) {
        return TableCell(first ? std::move(text) : std::string());
      };
      std::vector<TableCell> row = {once(standing.service.ns), once(standing.service.job_id),
                                    once(standing.service.rule),
                                    once(ShapeOf(standing, standing.decision.reached, "none"))};
      if (wide) row.push_back(once(ShapeOf(standing, standing.decision.aim, "none")));
      AddCells(kGroups, wide, {standing, group, acts}, row);
      table.Add(std::move(row));
      first = false;
    }
  }
  table.Print(paint, out);
}

OrderedJson StatusJson(const StatusReport& report) {
  const auto acts = report.watcher.acts();
  const auto place = [](const std::optional<size_t>& tier) {
    return tier ? OrderedJson(*tier + 1) : OrderedJson(nullptr);
  };
  const auto told = [](const watcher::scaling::Outcome& outcome, const char* verdict) {
    return OrderedJson{{"instance", outcome.instance},
                       {"group", outcome.group},
                       {"verdict", verdict},
                       {"reason", outcome.reason}};
  };
  OrderedJson services = OrderedJson::array();
  for (const Standing& standing : report.standings) {
    OrderedJson groups = OrderedJson::array();
    for (const GroupCount& group : GroupsOf(standing, acts)) {
      groups.push_back(MembersOf(kGroups, {standing, group, acts}));
    }
    OrderedJson instances = OrderedJson::array();
    for (const watcher::scaling::Outcome& outcome : standing.decision.outcomes) {
      instances.push_back(told(outcome, NameOf(outcome.verdict)));
    }
    OrderedJson service = {{"namespace", standing.service.ns},
                           {"jobID", standing.service.job_id},
                           {"rule", standing.service.rule},
                           {"shapes", standing.shapes},
                           {"shape", place(standing.decision.reached)},
                           {"aim", place(standing.decision.aim)},
                           {"groups", std::move(groups)},
                           {"instances", std::move(instances)}};
    OrderedJson surplus = OrderedJson::array();
    for (const watcher::scaling::Outcome& would : standing.decision.would) {
      surplus.push_back(told(would, NameOf(would.verdict)));
    }
    if (!surplus.empty()) service["surplus"] = std::move(surplus);
    services.push_back(std::move(service));
  }
  return {{"watcher", WatcherJson(report.watcher)},
          // Whether decisions are carried out; null: unknown.
          {"enforced", acts ? OrderedJson(*acts) : OrderedJson(nullptr)},
          {"services", std::move(services)}};
}

std::string AgeText(std::chrono::seconds age) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace): days to seconds
  const auto two = [](int64_t large, const char* of_large, int64_t small, const char* of_small) {
    return std::to_string(large) + of_large +
           (small > 0 ? std::to_string(small) + of_small : std::string());
  };
  age = std::max(age, seconds(0));
  if (age < minutes(2)) return std::to_string(age.count()) + "s";
  if (age < minutes(10)) return two(age / minutes(1), "m", age % minutes(1) / seconds(1), "s");
  if (age < hours(3)) return two(age / minutes(1), "m", 0, "");
  if (age < hours(8)) return two(age / hours(1), "h", age % hours(1) / minutes(1), "m");
  if (age < hours(48)) return two(age / hours(1), "h", 0, "");
  if (age < days(8)) return two(age / days(1), "d", age % days(1) / hours(1), "h");
  return two(age / days(1), "d", 0, "");
}

}  // namespace mindgate::cli
