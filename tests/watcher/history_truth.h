#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

// What is so in a random history, whatever anybody knows of it. Events are numbered.
namespace mindgate::watcher::rescheduling::histories {

inline constexpr size_t kNodes = 8;
inline constexpr size_t kJobs = 6;
inline constexpr size_t kPodsOfJob = 3;
inline constexpr size_t kReplicas = 2;
// Of a switch that stops something: since which event it is on.
struct Switch {
  std::optional<uint64_t> since{};
  bool IsOnBefore(uint64_t event) const { return since && *since < event; }
  void Set(bool on, uint64_t event) {
    if (!on) since.reset();
    if (on && !since) since = event;
  }
};

struct NodeTruth {
  bool there = true;
  bool ready = true;
  bool chip_bad = false;
  uint64_t healthy_since = 0;  // event
  std::string name{};
  bool IsHealthy() const { return there && ready && !chip_bad; }
};

struct PodTruth {
  std::string uid{};
  std::string node{};
  bool running = false;
  bool failed = false;
  bool goes = false;
  bool opted_out = false;
};

struct JobTruth {
  std::string ns;
  std::string name;
  bool restarting = false;  // a pod of it was deleted, and it has not run whole since
  Switch opted_out{};       // its PodGroup
  Switch owner_opted_out{};
  Switch pod_opted_out{};
  Switch without_policy{};  // fault-scheduling: off
  std::array<std::optional<PodTruth>, kPodsOfJob> pods{};
};

}  // namespace mindgate::watcher::rescheduling::histories
