#include "watcher/frame/decision_log.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/text.h"

namespace mindgate::watcher {
namespace {

using Kind = DecisionKind;
using controllers::kEndedServers;
using controllers::kGangRepair;
using controllers::kRescheduling;
using controllers::kScaling;

constexpr auto kNormal = kube::EventRecord::Type::kNormal;
constexpr auto kWarning = kube::EventRecord::Type::kWarning;

constexpr DecisionWords kDecisionWords[] = {
    {Kind::kGranted, kScaling, "granted", "InstanceGranted", "Grant", kNormal},
    {Kind::kHeld, kScaling, "held", "InstanceHeld", "Hold", kNormal},
    {Kind::kNotEnqueued, kScaling, "not enqueued", "InstanceNotEnqueued", "Wait", kNormal},
    {Kind::kWithdrawn, kScaling, "withdrawn", "InstanceWithdrawn", "Withdraw", kNormal},
    {Kind::kGivenUp, kScaling, "given up", "InstanceGivenUp", "GiveUp", kWarning},
    {Kind::kRuleUnusable, kScaling, "held", "ScalingRuleUnusable", "Hold", kWarning},
    {Kind::kWouldGrant, kScaling, "would be granted", "InstanceWouldBeGranted", "Observe", kNormal},
    {Kind::kWouldHold, kScaling, "would be held", "InstanceWouldBeHeld", "Observe", kNormal},
    {Kind::kWouldWithdraw, kScaling, "would be withdrawn", "InstanceWouldBeWithdrawn", "Observe",
     kNormal},
    {Kind::kWouldGiveUp, kScaling, "would be given up", "InstanceWouldBeGivenUp", "Observe",
     kNormal},
    {Kind::kGangLowered, kGangRepair, "gang lowered", "GangLowered", "Lower", kNormal},
    {Kind::kGangRestored, kGangRepair, "gang restored", "GangRestored", "Restore", kNormal},
    {Kind::kWouldLowerGang, kGangRepair, "gang would be lowered", "GangLowered", "Lower", kNormal},
    {Kind::kWouldRestoreGang, kGangRepair, "gang would be restored", "GangRestored", "Restore",
     kNormal},
    {Kind::kServerSucceeded, kEndedServers, "server succeeded", "ServerSucceeded", "Watch",
     kWarning},
    {Kind::kRestarted, kRescheduling, "restarted", "JobRestarted", "Restart", kWarning},
    {Kind::kPodsMarked, kRescheduling, "pods marked", "PodsMarked", "Mark", kWarning},
    {Kind::kWouldRestart, kRescheduling, "would be restarted", "WouldRestart", "Restart", kWarning},
    {Kind::kWouldMarkPods, kRescheduling, "pods would be marked", "WouldRestart", "Restart",
     kWarning},
    {Kind::kRestartWaits, kRescheduling, "restart waits", "RestartWaits", "Restart", kWarning},
    {Kind::kNotRestarted, kRescheduling, "not restarted", "NotRestarted", "Restart", kWarning},
    {Kind::kPluginDiffers, kRescheduling, "the plugin differs", "PluginDiffers", "Compare",
     kWarning},
    {Kind::kNodeIsolated, kRescheduling, "isolated", "NodeIsolated", "Isolate", kWarning},
    {Kind::kNodeReleased, kRescheduling, "no longer isolated", "NodeReleased", "Release", kNormal},
    {Kind::kWouldIsolate, kRescheduling, "would be isolated", "WouldIsolate", "Isolate", kWarning},
    {Kind::kIsolationWaits, kRescheduling, "isolation waits", "IsolationWaits", "Isolate",
     kWarning},
};

static_assert(std::size(kDecisionWords) == static_cast<size_t>(Kind::kIsolationWaits) + 1);
static_assert(std::ranges::all_of(kDecisionWords, [](const DecisionWords& words) {
  return &words - kDecisionWords == static_cast<int>(words.kind);
}));

// "jobID" of JSON is "job_id" in the log.
std::string FieldName(std::string_view json_name) {
  std::string name;
  bool in_capitals = false;
  for (const char c : json_name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !in_capitals) name += '_';
    name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    in_capitals = capital;
  }
  return name;
}

}  // namespace

const DecisionWords& WordsOf(DecisionKind kind) {
  return kDecisionWords[static_cast<size_t>(kind)];
}

void DecisionLog::Report(DecisionRecord record) {
  const DecisionWords& words = WordsOf(record.kind);
  record.reason = Cut(std::move(record.reason), kMaxReason);
  for (auto& [name, value] : record.about) value = Cut(std::move(value), kMaxAbout);
  std::optional<int64_t> not_logged;
  {
    const MutexLock lock(mutex_);
    not_logged = TakeLine(record.ns);
  }
  if (not_logged) Log(record, *not_logged);
  if (!record.regarding.name.empty()) {
    recorder_.Record({.regarding = record.regarding,
                      .type = words.event_type,
                      .reason = std::string(words.event_reason),
                      .action = std::string(words.event_action),
                      .note = record.reason});
  }
  const MutexLock lock(mutex_);
  ++counts_[{words.controller, words.word}];
  if (entries_.size() == kMaxEntries) MakeRoom();
  ++of_namespace_[record.ns];
  entries_.push_back({clock_.WallNow(), std::move(record)});
}

std::optional<int64_t> DecisionLog::TakeLine(const std::string& ns) {
  const auto now = clock_.Now();
  const auto is_over = [now](const Lines& lines) {
    return now - lines.since >= std::chrono::minutes(1);
  };
  if (lines_.size() >= kMaxNamespaces && !lines_.contains(ns)) {
    std::erase_if(lines_, [&](const auto& pair) {
      return is_over(pair.second) && pair.second.not_logged == 0;
    });
  }
  Lines& lines = lines_[lines_.size() < kMaxNamespaces || lines_.contains(ns) ? ns : ""];
  if (lines.decisions == 0 || is_over(lines)) {
    lines.since = now;
    lines.decisions = 0;
  }
  ++lines.decisions;
  if (lines.decisions > kLogged && (lines.decisions - kLogged) % kEvery != 0) {
    ++lines.not_logged;
    return std::nullopt;
  }
  return std::exchange(lines.not_logged, 0);
}

void DecisionLog::Log(const DecisionRecord& record, int64_t not_logged) {
  const DecisionWords& words = WordsOf(record.kind);
  std::vector<log::Field> fields = {{"controller", words.controller},
                                    {"namespace", std::string_view(record.ns)}};
  std::vector<std::string> names;
  for (const auto& [name, value] : record.about) names.push_back(FieldName(name));
  for (size_t i = 0; i < names.size(); ++i) {
    fields.push_back({names[i], std::string_view(record.about[i].second)});
  }
  fields.push_back({"why", std::string_view(record.reason)});
  fields.push_back({"enforced", record.enforced});
  if (not_logged > 0) fields.push_back({"not_logged", not_logged});
  logger_.Log(log::Level::kInfo, words.word, fields);
}

void DecisionLog::MakeRoom() {
  const auto most =
      std::max_element(of_namespace_.begin(), of_namespace_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  entries_.erase(std::find_if(entries_.begin(), entries_.end(),
                              [&](const Entry& entry) { return entry.record.ns == most->first; }));
  if (--most->second == 0) of_namespace_.erase(most);
}

std::vector<DecisionLog::Entry> DecisionLog::entries() const {
  const MutexLock lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

DecisionLog::Counts DecisionLog::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace mindgate::watcher
