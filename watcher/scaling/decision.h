#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "schemas/config.h"
#include "schemas/scaling_rule.h"

// Which instances of an inference service may run, as its scaling rule says (mind-cluster:
// component/ascend-operator/pkg/controllers/scaling). Pure: the same input gives the same decision,
// whatever the order of the instances.
namespace mindgate::watcher::scaling {

// How far an instance has come.
enum class Phase : uint8_t {
  kQueued,    // it has no pods, because Volcano has not enqueued its PodGroup, or only just has
  kHeld,      // its pods are behind the gate
  kStarting,  // it was granted, and not all of the pods that it needs run
  kRunning,
};

// What the rule counts: an AscendJob, a vcjob, one group of a LeaderWorkerSet, one PodSet, one
// replica of a Deployment. Times of the watcher's own clock, but `since`.
struct Instance {
  std::string name;   // no other instance of the service has it
  std::string group;  // mind-cluster/group-name; empty: it has none
  // Instances of one workload that differ in their revision: those of the newer take the place of
  // the others. Empty: nothing is known of that.
  std::string workload{};
  std::string revision{};
  Phase phase = Phase::kHeld;
  Time since{};  // when its oldest pod was created, by the API server's clock
  std::optional<Time>
      granted{};  // of a held one: when we took its gate away, which is not seen yet
  // Of a granted one: a call was not answered, so that the gates of some of its pods may be open.
  bool unanswered = false;
  std::optional<Time> started{};  // since when one of its pods is without a gate
  // Since when the scheduler has no room for one of its pods that may be scheduled; of a queued
  // one, for its PodGroup.
  std::optional<Time> unschedulable{};
  int64_t ready = 0;          // how many of its pods are ready
  int64_t placed = 0;         // how many of its pods have a node
  int64_t gated = 0;          // how many of its pods are behind the gate
  bool came_ungated = false;  // one of its pods was made without our gate
  // Its pods lack the labels of the rule: it is known by its PodGroup, counts, and is left alone.
  bool unlabelled = false;
  std::vector<int64_t> needs{};           // NPUs of each pod that has no node, the most first
  std::map<std::string, int64_t> npus{};  // of its pods, by their nodes
  bool operator==(const Instance&) const = default;
};

// Instances of one namespace, rule and jobID.
struct Service {
  std::optional<schemas::ScalingRule> rule;
  std::string no_rule;  // why there is none, for people: "ConfigMap scaling-rule is not there"
  std::vector<Instance> instances;
  // Until when pods that are being deleted may still leave room.
  std::optional<Time> leaving_until{};
  std::set<std::string, std::less<>> unusable_nodes{};  // NotReady, cordoned or going
  // The instance for which others were given up the last time, as it was found then: while it is
  // the same, giving up more would not help it either.
  std::optional<Instance> futile{};
};

// `mode` and `give_ups_per_minute` are for those who carry a decision out.
using Options = schemas::ElasticScaling;

enum class Verdict : uint8_t {
  kGrant,     // a held one may start; also: the rest of its gates goes
  kHold,      // it waits behind the gate, or the rest of its pods do
  kKeep,      // it runs or starts, and is left alone
  kWithdraw,  // it found no room and is not wanted: its pods go back behind the gate
  kGiveUp,    // its pods go, so that a wanted instance finds room
};

struct Outcome {
  std::string instance;
  std::string group;
  Verdict verdict = Verdict::kKeep;
  std::string reason;  // a sentence for people, without the instance's name
  bool operator==(const Outcome&) const = default;
};

struct GroupCount {
  std::string group;
  int64_t wanted = 0;  // by the shape that is aimed at, else by the largest one
  int64_t running = 0;
  int64_t starting = 0;  // granted, seen in the pods or not
  int64_t held = 0;      // those that are queued, too
  bool operator==(const GroupCount&) const = default;
};

struct Decision {
  std::optional<size_t> aim;       // the tier that is not reached, the smallest such
  std::optional<size_t> reached;   // the largest tier that runs whole
  std::vector<GroupCount> groups;  // by name
  std::vector<Outcome> outcomes;   // one for each instance, by name
  std::vector<Outcome> proposed;   // who would be given up, were rebalancing enforced; by name
  std::string beneficiary;         // the instance that others are given up for
  std::optional<Time> requeue_at;  // when time alone may make it another one
  bool operator==(const Decision&) const = default;
};

// The groups of a decision of which nothing is done: what it would grant waits still.
std::vector<GroupCount> CountsWithoutGrants(const Decision& decision);

// `last_given_up`: when instances of the service were given up the last time; after a start or a
// change of leader, that time.
Decision Decide(const Service& service, const Options& options, Time now,
                std::optional<Time> last_given_up = std::nullopt);

}  // namespace mindgate::watcher::scaling
