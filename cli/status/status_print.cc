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

std::string ShapeOf(const ServiceStatus& service_status, const std::optional<size_t>& shape,
                    const char* none) {
  if (service_status.shapes == 0) return "no rule";
  return (shape ? std::to_string(*shape + 1) : none) + " of " +
         std::to_string(service_status.shapes);
}

// Group counts; grants that nobody carries out are not counted as starting.
std::vector<GroupCount> GroupsOf(const ServiceStatus& service_status,
                                 const std::optional<bool>& acts) {
  return acts.value_or(false) ? service_status.decision.groups
                              : watcher::scaling::CountsWithoutGrants(service_status.decision);
}

// Prefix of a reason.
std::string Prefix(Verdict verdict, const std::optional<bool>& acts) {
  if (!acts) return verdict == Verdict::kGrant ? "to be granted: " : "";
  if (*acts) return verdict == Verdict::kGrant ? "about to start: " : "";
  return verdict == Verdict::kGrant ? "would be granted: " : "would be held: ";
}

// The reason for a group: that of the first waiting instance, or of an instance that could be taken
// back.
std::string WhyOf(const ServiceStatus& service_status, const std::string& group,
                  const std::optional<bool>& acts) {
  for (const watcher::scaling::Outcome& outcome : service_status.decision.outcomes) {
    const bool waits = outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kGrant;
    if (outcome.group == group && waits) return Prefix(outcome.verdict, acts) + outcome.reason;
  }
  for (const watcher::scaling::Outcome& outcome : service_status.decision.outcomes) {
    if (outcome.group != group || outcome.verdict != Verdict::kWithdraw) continue;
    return outcome.instance +
           (acts.value_or(false) ? " is about to be withdrawn: " : " could be withdrawn: ") +
           outcome.reason;
  }
  for (const watcher::scaling::Outcome& proposal : service_status.decision.proposed) {
    if (proposal.group == group)
      return proposal.instance + " could be given up: " + proposal.reason;
  }
  return "";
}

std::string WaitingOf(const ServiceStatus& service_status, const std::string& group) {
  std::vector<std::string> names;
  for (const watcher::scaling::Outcome& outcome : service_status.decision.outcomes) {
    const bool waits = outcome.verdict == Verdict::kHold || outcome.verdict == Verdict::kGrant;
    if (outcome.group == group && waits) names.push_back(outcome.instance);
  }
  return names.empty() ? "<none>" : Join(names, ",");
}

// One group of one service.
struct GroupRow {
  const ServiceStatus& service_status;
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
       return WaitingOf(row.service_status, row.count.group);
     },
     .wide = true},
    {"WHY", nullptr,
     [](const GroupRow& row) -> OrderedJson {
       return WhyOf(row.service_status, row.count.group, row.acts);
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
  if (report.services.empty()) {
    out << "no pods are under a scaling rule\n";
    return;
  }
  std::vector<TableCell> header = {"NAMESPACE", "SERVICE", "RULE", "SHAPE"};
  if (wide) header.emplace_back("AIM");
  AddTitles(kGroups, wide, header);
  Table table(std::move(header));
  for (const ServiceStatus& service_status : report.services) {
    bool first = true;
    for (const GroupCount& group : GroupsOf(service_status, acts)) {
      const auto once = [&](std::string text) {
        return TableCell(first ? std::move(text) : std::string());
      };
      std::vector<TableCell> row = {
          once(service_status.service.ns), once(service_status.service.job_id),
          once(service_status.service.rule),
          once(ShapeOf(service_status, service_status.decision.reached, "none"))};
      if (wide) row.push_back(once(ShapeOf(service_status, service_status.decision.aim, "none")));
      AddCells(kGroups, wide, {service_status, group, acts}, row);
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
  const auto reported = [](const watcher::scaling::Outcome& outcome, const char* verdict) {
    return OrderedJson{{"instance", outcome.instance},
                       {"group", outcome.group},
                       {"verdict", verdict},
                       {"reason", outcome.reason}};
  };
  OrderedJson services = OrderedJson::array();
  for (const ServiceStatus& service_status : report.services) {
    OrderedJson groups = OrderedJson::array();
    for (const GroupCount& group : GroupsOf(service_status, acts)) {
      groups.push_back(MembersOf(kGroups, {service_status, group, acts}));
    }
    OrderedJson instances = OrderedJson::array();
    for (const watcher::scaling::Outcome& outcome : service_status.decision.outcomes) {
      instances.push_back(reported(outcome, NameOf(outcome.verdict)));
    }
    OrderedJson service = {{"namespace", service_status.service.ns},
                           {"jobID", service_status.service.job_id},
                           {"rule", service_status.service.rule},
                           {"shapes", service_status.shapes},
                           {"shape", place(service_status.decision.reached)},
                           {"aim", place(service_status.decision.aim)},
                           {"groups", std::move(groups)},
                           {"instances", std::move(instances)}};
    OrderedJson surplus = OrderedJson::array();
    for (const watcher::scaling::Outcome& proposal : service_status.decision.proposed) {
      surplus.push_back(reported(proposal, NameOf(proposal.verdict)));
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
