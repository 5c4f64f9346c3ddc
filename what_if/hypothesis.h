#pragma once

#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/result.h"
#include "faults/codes.h"
#include "what_if/inventory.h"
#include "what_if/survey.h"

// What is supposed to happen to a cluster.
namespace mindgate::what_if {

// As people write it.
struct Question {
  std::vector<std::string> nodes{};   // "npu-3": it is lost
  std::vector<std::string> cards{};   // "npu-3/5", "npu-3/Ascend910-5": it breaks
  std::vector<std::string> faults{};  // "80E18005@npu-3/5", "2C000031@npu-3"
  std::vector<std::string> drains{};  // "npu-3,npu-4", or label selectors of nodes

  bool empty() const { return nodes.empty() && cards.empty() && faults.empty() && drains.empty(); }
};

struct FaultyChip {
  std::string node;
  std::string chip;  // "Ascend910-5"
};

// A fault that stays: it has the level that it gets in time.
struct RaisedCode {
  faults::FaultCode code;
  std::string node;
  std::string chip{};  // empty: the node, or all of its chips for a public fault
};

struct Drain {
  std::string selector;            // empty: they are named one by one
  std::vector<std::string> nodes;  // by name
};

struct Hypothesis {
  std::vector<std::string> lost{};
  std::vector<FaultyChip> chips{};
  std::vector<RaisedCode> codes{};
  std::vector<Drain> drains{};

  bool empty() const { return lost.empty() && chips.empty() && codes.empty() && drains.empty(); }
};

// Finds what a question names in a cluster, or says of every part what is wrong with it. Fault
// codes are those of the cluster (CodesIn).
tl::expected<Hypothesis, std::vector<Problem>> ReadQuestion(const Question& question,
                                                            const ClusterSnapshot& snapshot,
                                                            const Inventory& inventory);

// Adds what is supposed to the faults that are reported. A fault of a level that nothing follows
// from changes nothing. Only the faults of NodesOf change.
void Suppose(const Hypothesis& hypothesis, const Inventory& inventory, SurveyedFaults& faults);

// All of both.
Hypothesis Together(Hypothesis one, const Hypothesis& other);

std::set<std::string, std::less<>> DrainedNodes(const Hypothesis& hypothesis);
// All that it names.
std::set<std::string, std::less<>> NodesOf(const Hypothesis& hypothesis);
// Of these, the places of those that the inventory has.
std::vector<size_t> NodesOf(const Hypothesis& hypothesis, const Inventory& inventory);

// That one node is drained, and nothing else.
Hypothesis DrainOf(const std::string& node);

// One sentence without its full stop for each supposition: "npu-3 is lost: Kubernetes calls it not
// Ready".
std::vector<std::string> Sentences(const Hypothesis& hypothesis);

}  // namespace mindgate::what_if
