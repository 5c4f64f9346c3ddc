#include "watcher/frame/decision_log.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"

namespace mindgate::watcher {
namespace {

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

void DecisionLog::Report(DecisionRecord record) {
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
                      .type = record.type,
                      .reason = record.event_reason,
                      .action = record.event_action,
                      .note = record.reason});
  }
  const MutexLock lock(mutex_);
  ++counts_[{record.controller, record.what}];
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
  std::vector<log::Field> fields = {{"controller", std::string_view(record.controller)},
                                    {"namespace", std::string_view(record.ns)}};
  std::vector<std::string> names;
  for (const auto& [name, value] : record.about) names.push_back(FieldName(name));
  for (size_t i = 0; i < names.size(); ++i) {
    fields.push_back({names[i], std::string_view(record.about[i].second)});
  }
  fields.push_back({"why", std::string_view(record.reason)});
  fields.push_back({"enforced", record.enforced});
  if (not_logged > 0) fields.push_back({"not_logged", not_logged});
  logger_.Log(log::Level::kInfo, record.what, fields);
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
