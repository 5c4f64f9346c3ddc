#include "simulation/recorder.h"

namespace mindgate::simulation {

void Recorder::Note(EventKind kind, std::string of, std::string subject, std::string reason) {
  if (playback_.stopped) return;
  if (playback_.events.size() == limits_.events) {
    Stop("there are more than " + std::to_string(limits_.events) + " events");
    return;
  }
  playback_.events.push_back({at(), kind, std::move(of), std::move(subject), std::move(reason)});
}

void Recorder::Stop(std::string reason) {
  playback_.stopped = true;
  playback_.events.push_back({at(), EventKind::kStopped, "", "", std::move(reason)});
}

void Recorder::Check(CheckResult check) {
  std::string text = check.what + ": " + check.expected;
  if (!check.met) text = check.what + ": expected " + check.expected + ", found " + check.found;
  Note(check.met ? EventKind::kExpected : EventKind::kNotMet, check.service,
       "line " + std::to_string(check.line), std::move(text));
  playback_.checks.push_back(std::move(check));
}

void Recorder::Follow(const Key& key, std::optional<Span> next) {
  const auto open = open_.find(key);
  if (open != open_.end()) {
    Span& span = open->second;
    if (next && span.state == next->state && span.nodes == next->nodes) return;
    if (span.from < at() && playback_.spans.size() < limits_.events) {
      span.to = at();
      playback_.spans.push_back(std::move(span));
    }
    open_.erase(open);
  }
  if (!next) return;
  next->from = at();
  open_.emplace(key, *std::move(next));
}

void Recorder::FollowJobs(std::map<std::string, Span> next) {
  std::map<std::string, std::optional<Span>> all;
  for (const auto& [key, span] : open_) {
    if (key.first == 0) all[key.second];
  }
  for (auto& [pod, span] : next) all[pod] = std::move(span);
  for (auto& [pod, span] : all) Follow({0, pod}, std::move(span));
}

void Recorder::FollowNode(const std::string& node, std::string what) {
  const auto open = outages_.find(node);
  if (open != outages_.end()) {
    if (open->second.what == what) return;
    Outage& outage = open->second;
    outage.to = at();
    if (outage.from < outage.to) playback_.outages.push_back(std::move(outage));
    outages_.erase(open);
  }
  if (!what.empty()) outages_[node] = {node, std::move(what), at(), at()};
}

Playback Recorder::Finish() {
  playback_.end = at();
  while (!outages_.empty()) FollowNode(std::string(outages_.begin()->first), "");
  while (!open_.empty()) Follow(Key(open_.begin()->first), std::nullopt);
  return std::move(playback_);
}

}  // namespace mindgate::simulation
