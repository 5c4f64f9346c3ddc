#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "faults/node_faults.h"
#include "watcher/rescheduling/classification.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/job_index.h"

namespace mindgate::watcher::rescheduling {

// The NPUs of a node.
struct NodeNpus {
  std::string node{};
  int64_t offered = 0;  // that work; 0 where no new pods may go
  int64_t used = 0;     // of these, by pods of any job
  bool operator==(const NodeNpus&) const = default;
};

// What its Node and the reports say of a node. `allocatable` and `capacity` are the kubelet's,
// whose numbers follow a report by some seconds. `jobs` knows who uses chips: pods that no
// scheduler put into a PodGroup are not known, and their chips count as free.
NodeNpus NpusOf(const std::string& node, int64_t allocatable, int64_t capacity, bool usable,
                const faults::FaultsByNode& faults, const JobIndex& jobs);

// Why not all of these would find a place: `going`, pods of the job by their index that a restart
// takes, and the pods of it that wait. Empty: they would, or nobody knows how many NPUs they need.
// A pod counts as the largest of its job. Labels, taints and super pods are not considered: the
// scheduler may find less room, never more, so that a job is kept from a restart only when the
// restart would certainly leave pods without a place.
std::string WhyNoRoom(const Job& job, const std::vector<size_t>& going,
                      const faults::FaultsByNode& faults, std::span<const NodeNpus> nodes);

}  // namespace mindgate::watcher::rescheduling
