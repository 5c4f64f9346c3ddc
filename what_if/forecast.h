#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/config.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/pod.h"
#include "what_if/hypothesis.h"
#include "what_if/inventory.h"
#include "what_if/snapshot.h"

namespace mindgate::what_if {

// Why nodes take none of the pods, as a scheduler says it: "full", "cordoned", "taint dedicated",
// "label pool=blue". A node counts once.
struct LeftOut {
  std::string why;
  size_t nodes = 0;
  bool operator==(const LeftOut&) const = default;
};

// What would have to be there for pods that found no room.
struct Shortage {
  int64_t pods = 0;
  int64_t npus = 0;  // of each
  std::string resource{};
  Labels node_selector{};
  bool one_super_pod = false;
  std::vector<LeftOut> left_out{};  // most nodes first; empty: nobody asked
  // What no node has: "no node has pool=red: they have blue, green", "no node offers
  // huawei.com/Ascend910B3: they offer huawei.com/Ascend910".
  std::vector<std::string> unknown{};
  bool operator==(const Shortage&) const = default;
};

// "room for 1 more pod with 8 huawei.com/Ascend910 on a node with pool=blue".
std::string ShortageText(const Shortage& shortage);

// "full on 12, taint dedicated on 6, cordoned on 1; no node has pool=red: ...". Empty: nobody
// asked.
std::string LeftOutText(const Shortage& shortage);

// What would become of a cluster if something happened to it. Pure: a snapshot and a hypothesis
// give the same forecast always, and nothing is written anywhere.

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

// What becomes of a pod before anything is placed.
enum class Loss : uint8_t {
  kStays,
  kGoes,     // and its owner makes it again
  kLost,     // and nobody does
  kBroken,   // it stays on faulty hardware
  kWaits,    // it had no place before
  kIgnored,  // it has ended, or another one comes for it already
};

struct PodLoss {
  Loss loss = Loss::kStays;
  std::string hit{};  // Hit::why; empty: nothing hits it
  std::optional<Action> action{};
  std::string why{};      // of the action
  Due due{};              // likewise
  std::string fix{};      // of one that is broken or lost
  bool is_other = false;  // it counts for Forecast::others
};

// Whether the pod is on a node and keeps its chips.
inline bool KeepsItsPlace(Loss loss) { return loss == Loss::kStays || loss == Loss::kBroken; }

// The reason of pods that go because their job did not run again without its faulty pods.
inline constexpr const char* kWithoutWholeJob = "it did not run again without the whole job";
inline constexpr const char* kWithoutRackBlock = "it did not run again without its rack blocks";

// What is supposed, and what came of it so far. The references must outlive it.
struct Situation {
  const SurveyedFaults& faults;
  const std::set<std::string, std::less<>>& drained;
  // Jobs that did not run again without their faulty pods, so that the pods of the widest scope
  // go, mostly all of theirs.
  std::set<GroupName> widened{};
  // Why nodes take none of the pods that find no place: it takes time for each of these.
  bool explains = false;
  // Pods of instances that elastic scaling gives up, and why.
  std::map<size_t, std::string> given_up{};
  std::chrono::seconds rebalance_after{0};
};

// Writes into `losses`, which has a place for each pod of the inventory, who of `pods` goes and
// why. Whoever is among them needs all pods of its PodGroup and of its group of a LeaderWorkerSet
// there. Returns the jobs that lose some of their pods, and more of them when that does not help.
std::set<GroupName> DecideLosses(const Inventory& inventory, const Jobs& jobs,
                                 const Situation& situation, std::span<const size_t> pods,
                                 std::vector<PodLoss>& losses);

// Whether a pod may go or break when its node gets a fault, or is drained. Others on the node
// count for Forecast::others at most.
bool IsConcerned(const Inventory& inventory, const Pod& pod, bool drained);

}  // namespace mindgate::what_if
