#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

// What is known of one workload, pod or PodGroup: all that reasons are found in. Plain values, so
// that a reason can be tested without a cluster.
namespace mindgate::why {

struct ContainerFacts {
  std::string name{};
  bool init = false;
  bool ready = false;
  std::string state{};    // "waiting", "running", "terminated"; empty: the kubelet reports none
  std::string reason{};   // of the state: "ImagePullBackOff"
  std::string message{};  // likewise
  std::optional<int64_t> exit_code{};  // with which it ended the last time
  std::string ended_because{};         // likewise: "OOMKilled", "Error"
  int64_t restarts = 0;
};

struct PodFacts {
  std::string name{};
  std::string phase{};
  std::string reason{};  // of the phase: "Evicted"
  std::string message{};
  std::string node{};  // empty: it is not placed
  std::string scheduler{};
  std::string pod_group{};
  std::optional<Time> created{};
  std::optional<Time> gone_by{};  // its deletion was asked for
  std::vector<std::string> finalizers{};
  std::vector<std::string> gates{};
  std::string rule{};              // mind-cluster/scaling-rule
  std::string group{};             // mind-cluster/group-name
  std::string job_id{};            // jobID
  std::string fault_scheduling{};  // the label
  std::string resource{};
  int64_t npus = 0;
  bool ready = false;
  bool scheduler_reported = false;           // it has a condition PodScheduled
  std::string unscheduled{};                 // the message of that condition, while it is False
  std::vector<ContainerFacts> containers{};  // init containers first
  std::vector<std::string> claims{};         // PersistentVolumeClaims

  bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
  bool gated() const { return !gates.empty(); }
  // A gate of that name keeps schedulers away from it.
  bool is_behind(std::string_view gate) const {
    return node.empty() && std::find(gates.begin(), gates.end(), gate) != gates.end();
  }
  // A scheduler may place it, and has not.
  bool waits_for_a_node() const {
    return node.empty() && !gated() && !ended() && !gone_by.has_value();
  }
};

struct GroupFacts {
  std::string name{};
  bool exists = true;
  int64_t min_member = 1;
  std::optional<int64_t> k{};  // huawei.com/schedule_minAvailable of the PodGroup, else of a pod
  std::string phase{};
  std::string queue{};
  std::map<std::string, int64_t> min_resources{};
  std::string condition{};  // "reason: message" of the newest that is Unschedulable
  int64_t pods = 0;         // that have not ended
  int64_t gated = 0;        // of these
  int64_t placed = 0;       // of these

  std::optional<int64_t> retries_left{};  // as the plugin noted
  std::optional<Time> restarted{};        // by the plugin, the last time
  std::set<std::string> restarted_for{};  // pods that it called faulty

  bool runs() const { return phase == "Running" || phase == "Completed"; }
};

struct QueueFacts {
  std::string name{};
  bool exists = true;
  std::string state{};  // "Open", "Closed", "Closing", "Unknown"
  std::map<std::string, int64_t> capability{};
  std::map<std::string, int64_t> allocated{};
};

struct QuotaFacts {
  std::string name{};
  std::map<std::string, int64_t> hard{};
  std::map<std::string, int64_t> used{};
};

struct EventFacts {
  std::string about{};  // "Pod/chat-0"
  std::string reason{};
  std::string note{};
  std::string reporter{};
  std::string time{};  // of the last occurrence, as written
  bool warning = false;
};

struct ClaimFacts {
  std::string name{};
  bool exists = true;
  std::string phase{};
  std::string storage_class{};
};

// What a scaling rule means for pods that are behind mindgate's gate.
struct HeldFacts {
  std::vector<std::string> pods{};
  std::string rule{};
  bool rule_exists = true;
  std::string problem{};   // why no rule can be had from it; empty: one can
  std::string instance{};  // "AscendJob/server-p0"
  std::string group{};
  bool granted = false;  // it may start: the watcher opens the gate
  std::string waits{};   // a sentence
};

// A node, for pods that have none.
struct NodeFacts {
  std::string name{};
  std::string why_not{};  // as what-if has it: "full", "taint x", "label a=b"; empty: it takes one
  bool offers = false;    // it has the resource
  int64_t free = 0;       // NPUs
  int64_t all = 0;        // NPUs, whatever uses them
  std::vector<std::string> unmet{};   // "pool=red": of the pods' nodeSelector
  std::vector<std::string> faulty{};  // chips that reports keep from new pods, without a pod
};

// Waiting pods with the same needs.
struct PlacementFacts {
  std::vector<std::string> pods{};
  std::string resource{};
  int64_t npus = 0;
  std::map<std::string, std::string> node_selector{};
  std::vector<NodeFacts> nodes{};
  std::vector<std::string> unknown{};  // "no node has pool=red: they have blue"
  std::string gang_lacks{};  // what its gang lacks, though a node takes one pod; empty: nothing
};

// A faulty part of a node that matters: a pod of ours is on it, or a node with it takes none.
struct FaultFacts {
  std::string node{};
  std::string part{};  // "node", "switch", "Ascend910-3", "all chips"
  std::string level{};
  std::vector<std::string> codes{};
};

// Pods of ours that hardware makes faulty, and what follows.
struct HitFacts {
  std::vector<std::string> pods{};
  std::string node{};
  std::string fault{};             // as the plugin calls it: "CardUnhealthy"
  std::string fault_scheduling{};  // the label; empty: there is none
  bool in_pod_group = true;        // else nothing acts, whatever its labels say
  std::string by{};                // who acts; empty: nothing happens
  bool by_plugin = false;          // it is MindCluster's, whom opting out does not keep away
  std::string when{};              // "at once", "in 30s at the latest"
  std::string why{};               // a sentence without its full stop
};

// A node in the plugin's own cache (vcjob-fault-npu-cm, fault-node).
struct CachedFacts {
  std::string node{};
  std::string state{};
  std::vector<std::string> chips{};
  bool reported = true;  // the reports have a fault of the node, too
};

struct WatcherFacts {
  bool known = false;
  bool leads = false;  // one holds the Lease
  bool acts = false;   // it does what it decides about elastic scaling
  std::string mode{};  // of elastic scaling
};

struct UnreadFacts {
  std::string what{};
  std::string why{};
};

struct Facts {
  std::string kind{};
  std::string resource{};  // as kubectl takes it: "deployment", "jobs.batch.volcano.sh"
  std::string name{};
  std::string ns{};
  Time now{};
  std::vector<std::string> owners{};      // "Deployment/chat", the nearest first
  std::vector<std::string> made_by_it{};  // objects between it and its pods
  std::optional<int64_t> wanted{};        // pods; nothing: it does not say
  // Of a job, which replaces no pod that succeeded: how many did, by its status.
  std::optional<int64_t> succeeded{};
  // A StatefulSet that makes a pod once the one before it is Ready.
  bool makes_in_order = false;
  bool suspended = false;
  bool ended = false;            // as its own conditions say
  bool deleting = false;         // its deletion was asked for
  std::string condition{};       // of the object, that says why it failed
  std::string opted_out{};       // who keeps the watcher away; empty: nothing does
  std::vector<PodFacts> pods{};  // by name
  size_t pods_left_out = 0;      // beyond kMaxPods
  std::vector<GroupFacts> groups{};
  std::vector<QueueFacts> queues{};
  std::vector<QuotaFacts> quotas{};
  std::vector<EventFacts> events{};  // the oldest first
  std::vector<ClaimFacts> claims{};
  std::vector<HeldFacts> held{};
  std::vector<PlacementFacts> placements{};
  std::vector<FaultFacts> faults{};
  std::vector<HitFacts> hits{};
  std::vector<CachedFacts> cached{};
  std::set<std::string> lost_nodes{};  // not Ready, or gone, with pods of ours
  WatcherFacts watcher{};
  std::vector<UnreadFacts> unread{};

  // No pods are to come any more.
  bool is_over() const { return ended || deleting; }

  const GroupFacts* FindGroup(const std::string& of) const {
    for (const GroupFacts& one : groups) {
      if (one.name == of) return &one;
    }
    return nullptr;
  }
  const QueueFacts* FindQueue(const std::string& of) const {
    for (const QueueFacts& one : queues) {
      if (one.name == of) return &one;
    }
    return nullptr;
  }
};

// Of one subject. What a screen shows of more is their number.
inline constexpr size_t kMaxPods = 2'000;
inline constexpr size_t kMaxEvents = 500;

}  // namespace mindgate::why
