#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/scenario.h"
#include "watcher/scaling/decision.h"

namespace mindgate::simulation {

// What a play of a scenario leaves behind, and how it is shown.

enum class EventKind : uint8_t {
  kSubmitted,
  kDeleted,
  kBroken,
  kRepaired,
  kCordoned,
  kUncordoned,
  kNotReady,
  kReady,
  kRollout,
  kRule,
  kOptions,
  kCalls,
  kLeader,
  kHeld,
  kGranted,
  kPlaced,
  kNoRoom,
  kRunning,
  kKept,
  kLost,
  kWithdrawn,
  kGivenUp,
  kWouldGiveUp,
  kShape,
  kReported,
  kChanged,
  kRestarted,
  kMarked,
  kWaits,
  kUntouched,
  kWouldRestart,
  kExpected,
  kNotMet,
  kStopped,
};
std::string_view EventName(EventKind kind);  // "granted", "no room"

struct Event {
  std::chrono::seconds at{0};  // from the start
  EventKind kind = EventKind::kSubmitted;
  std::string service;  // its jobID; empty: it concerns the cluster
  std::string subject;  // the instance, node, rule, service, or the line of an expectation
  std::string reason;   // for people
  bool operator==(const Event&) const = default;
};

// One thing that was expected.
struct CheckResult {
  std::chrono::seconds at{0};
  int line = 0;  // of the entry in the file
  std::string service;
  std::string what;      // "running", "shape", "never"
  std::string expected;  // for people, as `found`
  std::string found;
  bool met = false;
};

// The state of a service at the end.
struct ServiceEnd {
  std::string job_id;
  std::optional<size_t> reached;  // the largest tier that runs whole
  size_t shapes = 0;              // tiers of the rule; 0: it has none that can be used
  std::vector<watcher::scaling::GroupCount> groups;
};

// The state of a job at the end, and what the watcher did to its pods.
struct JobEnd {
  std::string job;
  int64_t pods = 0;
  int64_t running = 0;
  int64_t restarted = 0;  // pods that were deleted or evicted
  int64_t marked = 0;
  int64_t retries_used = 0;
};

// For how long an instance was in a state.
struct Span {
  enum class State : uint8_t { kHeld, kNoRoom, kStarting, kRunning, kEnding };
  std::string service{};
  std::string instance{};
  State state = State::kHeld;
  std::vector<std::string> nodes{};  // of its pods, each once
  std::chrono::seconds from{0};
  std::chrono::seconds to{0};
  bool operator==(const Span&) const = default;
};
std::string_view SpanName(Span::State state);  // "no room"

// Since when a service runs in a shape.
struct ShapeChange {
  std::chrono::seconds at{0};
  std::string service{};
  size_t reached = 0;  // 1 is the largest; 0: none
  std::string text{};  // for people
  bool operator==(const ShapeChange&) const = default;
};

// For how long a node was not whole, and in which way.
struct Outage {
  std::string node{};
  std::string what{};  // "broken", "6 of 8 NPUs work", "not Ready"
  std::chrono::seconds from{0};
  std::chrono::seconds to{0};
  bool operator==(const Outage&) const = default;
};

struct Playback {
  std::vector<Event> events;
  std::vector<CheckResult> checks;
  std::vector<ServiceEnd> services;
  std::vector<JobEnd> jobs;
  std::vector<Span> spans;  // in the order of their ends; none of no length
  std::vector<ShapeChange> shapes;
  std::vector<Outage> outages;  // in the order of their ends; none of no length
  std::chrono::seconds end{0};
  bool stopped = false;  // before its end, for the reason in the last event

  size_t NotMet() const;
  bool Passed() const { return !stopped && NotMet() == 0; }
};

// One line an event, in columns, and a closing summary. `title` is the first line.
std::string TimelineText(const std::string& title, const Playback& playback);

// {"scenario", "file", "events", "expectations", "summary"}; times in seconds.
nlohmann::ordered_json TimelineJson(const std::string& name, const std::string& file,
                                    const Playback& playback);

struct PlayedScenario {
  std::string name;
  std::string file;
  Playback playback;
};

// One HTML page about the plays that needs nothing else: no script, no style sheet, no image, no
// link. All text is escaped. What is too much to show is left out, and the page has its number.
std::string TimelinePage(const std::vector<PlayedScenario>& played);

// After the last entry a play goes on until nothing more happens, but at most for so long.
inline constexpr std::chrono::seconds kAfterLast = std::chrono::hours(1);

// A play that passes one of these stops, with an event; others would fill memory or never end.
struct PlayLimits {
  // About 200 MB. Each entry of a timeline may move many instances.
  size_t events = 1'000'000;
  // At one moment. Each round grants whatever may be granted, so that there is about one for each
  // shape; more only where nothing takes time, or the decision never comes to rest.
  int rounds = 1'000;
};

// Plays a scenario: the watcher's own reconcilers (Replica) and those who make, place and run pods
// (World) at one API server. At each moment all of them act until none changes anything; what
// is due between two seconds is due at the later one. Deterministic: no clock, no threads, no
// randomness. Takes what ReadScenarios found without faults.
Playback Play(const Scenario& scenario, const PlayLimits& limits = {});

}  // namespace mindgate::simulation
