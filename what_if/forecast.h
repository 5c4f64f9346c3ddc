#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/config.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "what_if/actors.h"
#include "what_if/hypothesis.h"
#include "what_if/manifest.h"
#include "what_if/shortage.h"

// What would become of a cluster if something happened to it. Pure: a snapshot and a hypothesis
// give the same forecast always, and nothing is written anywhere.
namespace mindgate::what_if {

// What is done to pods, and by whom.
enum class Action : uint8_t {
  kDeleted,              // at once, with grace period 0
  kEvicted,              // with their grace period, and by force after graceOverTime
  kAnnotated,            // for infer-operator, which replaces them
  kDrained,              // evicted by who drains the node
  kMovedByKubernetes,    // from a node that is lost, after its toleration of 300 s
  kDeletedByKubernetes,  // by force, as its Node is no longer in the cluster
  kRecreated,            // with others of their group, by LeaderWorkerSet
  kUntouched,            // they are faulty, and nobody does anything
  kFails,                // likewise: the plugin tries in every session, and cannot
  kGivenUp,              // by elastic scaling, so that another instance finds room
};
std::string_view ActionName(Action action);  // "deleted", as in JSON

struct Step {
  Action action = Action::kDeleted;
  std::vector<std::string> pods{};  // by name
  std::string why{};                // a sentence without its full stop
  Due due{};                        // by whom, and when
  bool operator==(const Step&) const = default;
};

// What takes a pod away.
struct Hit {
  std::string pod;
  std::string node;
  // As the plugin calls it ("CardUnhealthy"), "NodeGone" where the Node is no longer in the
  // cluster, or "Drained".
  std::string why;
  bool operator==(const Hit&) const = default;
};

struct Move {
  std::string pod;
  std::string from{};  // empty: it was nowhere
  std::string to{};    // empty: it finds no place
  bool operator==(const Move&) const = default;
};

// How it ends, once everything has come to rest.
enum class Outcome : uint8_t {
  kMoves,   // all of its pods have a place
  kPartly,  // some have none, and the others serve
  kNoRoom,  // it is down: its pods, or too few of them, have a place
  kHeld,    // it waits behind the gate of elastic scaling
  kBroken,  // it stays on faulty hardware
  kLost,    // nobody makes its pods again
};
std::string_view OutcomeName(Outcome outcome);

// The pods of a PodGroup. Those in none: of a group of a LeaderWorkerSet, else of one owner.
struct InstanceForecast {
  std::string ns;
  std::string owner;      // "Deployment/chat"
  std::string pod_group;  // empty: it has none
  size_t pods = 0;        // all that it has
  bool is_new = false;    // of a manifest
  bool already = false;   // it ends so without the hypothesis, too
  std::vector<Hit> hits{};
  std::vector<Step> steps{};
  std::vector<Move> moves{};
  Outcome outcome = Outcome::kMoves;
  std::string why{};                   // it has no place; a sentence without its full stop
  std::string fix{};                   // what would help, empty when nothing is missing
  std::optional<Shortage> shortage{};  // what its pods lack that found no room
  size_t without_place() const;        // pods that find none
  bool operator==(const InstanceForecast&) const = default;
};

struct GroupChange {
  std::string group;
  int64_t before = 0;  // instances that run
  int64_t after = 0;
  bool operator==(const GroupChange&) const = default;
};

// A service under a scaling rule of which something changes.
struct ServiceForecast {
  watcher::scaling::ServiceKey service;
  size_t shapes = 0;               // of its rule; 0: it has none that can be used
  std::optional<size_t> before{};  // the largest shape that is complete, from 0; nothing: none
  std::optional<size_t> after{};
  std::vector<GroupChange> groups{};
  bool shrinks() const;
  bool operator==(const ServiceForecast&) const = default;
};

struct Forecast {
  std::vector<InstanceForecast> instances{};  // by namespace, owner and PodGroup
  std::vector<ServiceForecast> services{};
  // Pods that need no NPUs and are in no PodGroup, which go: their owners recreate them.
  size_t others = 0;

  // Whether everything recovers. What ends no better without the hypothesis does not
  // count.
  bool fine() const;
  bool operator==(const Forecast&) const = default;
};

// The hypothesis as of the snapshot: what is broken or waits in it takes part.
Forecast ForecastOf(const ClusterSnapshot& snapshot, const Hypothesis& hypothesis);

struct Answer {
  std::optional<Forecast> applied{};    // of the manifests alone; nothing without any
  std::optional<Forecast> happens{};    // of the hypothesis, once they run; nothing without one
  std::vector<std::string> problems{};  // what could not be taken into account, for people

  bool fine() const { return (!applied || applied->fine()) && (!happens || happens->fine()); }
};

// A cluster once manifests are applied and what they make is placed.
struct WithManifests {
  ClusterSnapshot snapshot;
  Forecast applied{};                   // what became of it
  std::vector<std::string> problems{};  // what could not be taken into account, for people
};
WithManifests RunManifests(const ClusterSnapshot& snapshot,
                           const std::vector<ManifestObject>& manifests,
                           const schemas::ViewOptions& options = {});

// First the manifests are applied, then the hypothesis comes true. `options` as for Apply.
Answer AnswerOf(const ClusterSnapshot& snapshot, const std::vector<ManifestObject>& manifests,
                const Hypothesis& hypothesis, const schemas::ViewOptions& options = {});

}  // namespace mindgate::what_if
