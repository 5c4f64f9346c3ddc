#include "what_if/hypothesis.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/resource.h"

namespace mindgate::what_if {
namespace {

using faults::CodeSource;
using faults::Effect;
using faults::FaultLevel;
using faults::NodeStatus;

// A message names no more nodes or chips than these.
constexpr size_t kMaxNamed = 5;

std::string FirstFew(const std::vector<std::string>& names) { return JoinFirst(names, kMaxNamed); }

class Reader {
 public:
  Reader(const ClusterSnapshot& snapshot, const Inventory& inventory)
      : snapshot_(snapshot), inventory_(inventory) {}

  tl::expected<Hypothesis, std::vector<Problem>> Read(const Question& question) {
    for (const std::string& node : question.nodes) {
      if (FindNode(node, "--node " + node)) hypothesis_.lost.push_back(node);
    }
    for (const std::string& card : question.cards) ReadCard(card);
    for (const std::string& fault : question.faults) ReadFault(fault);
    for (const std::string& selector : question.drains) ReadDrain(selector);
    if (!problems_.empty()) return tl::make_unexpected(std::move(problems_));
    return std::move(hypothesis_);
  }

 private:
  void Complain(std::string what, std::string hint) {
    problems_.push_back({std::move(what), std::move(hint)});
  }

  const Node* FindNode(const std::string& name, const std::string& where) {
    if (const auto found = inventory_.FindNode(name)) return &inventory_.nodes[*found];
    const auto left = std::count_if(inventory_.pods.begin(), inventory_.pods.end(),
                                    [&](const Pod& pod) { return pod.node == name; });
    if (left > 0) {
      Complain(where + ": the Node " + Quote(name) + " is no longer in the cluster, and " +
                   (left == 1 ? "a pod is" : std::to_string(left) + " pods are") +
                   " still bound to it",
               "leave it out: every forecast counts such pods as lost");
      return nullptr;
    }
    std::vector<std::string_view> known;
    for (const Node& node : inventory_.nodes) known.push_back(node.name);
    const auto near = NearestOf(name, known);
    std::vector<std::string> names(known.begin(), known.end());
    Complain(where + ": the cluster has no node " + Quote(name),
             near            ? "did you mean " + Quote(*near) + "?"
             : names.empty() ? "the cluster has no nodes at all"
                             : "its nodes are " + FirstFew(names));
    return nullptr;
  }

  // "5" or "Ascend910-5".
  std::optional<std::string> FindChip(const Node& node, const std::string& text,
                                      const std::string& where) {
    std::vector<std::string> all;
    for (const auto& [resource, chips] : node.chips) {
      for (const std::string& chip : chips) {
        if (chip == text || chip.substr(chip.rfind('-') + 1) == text) return chip;
        all.push_back(chip);
      }
    }
    Complain(where + ": " + node.name + " has no card " + Quote(text),
             all.empty() ? "it has no NPUs" : "its cards are " + all.front() + " to " + all.back());
    return std::nullopt;
  }

  void ReadCard(const std::string& text) {
    const std::string where = "--card " + text;
    const size_t slash = text.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
      Complain(where + ": this is not a card of a node", "write NODE/CARD, as in npu-3/5");
      return;
    }
    const Node* node = FindNode(text.substr(0, slash), where);
    if (node == nullptr) return;
    auto chip = FindChip(*node, text.substr(slash + 1), where);
    if (chip) hypothesis_.chips.push_back({node->name, *std::move(chip)});
  }

  const faults::FaultTable& Codes() {
    std::vector<std::string> reported_with_the_answer;
    if (!codes_) codes_ = CodesIn(snapshot_, reported_with_the_answer);
    return *codes_;
  }

  const faults::FaultCode* FindCode(const std::string& text, const std::string& where) {
    const faults::FaultTable& table = Codes();
    if (const faults::FaultCode* code = table.Find(text)) return code;
    std::vector<std::string_view> known;
    for (const faults::FaultCode& each : table.codes()) known.push_back(each.code);
    const auto near = NearestOf(text, known);
    Complain(where + ": " +
                 (table.IsOfCluster(CodeSource::kChip)
                      ? "ConfigMap " + std::string(faults::kConfigName) + " of this cluster has"
                      : "MindCluster " + std::string(table.release()) + " ships") +
                 " no level for fault code " + Quote(text),
             near ? "did you mean " + Quote(*near) + "?"
                  : "--card NODE/CARD supposes that the card is unhealthy, whatever the code");
    return nullptr;
  }

  void ReadFault(const std::string& text) {
    const std::string where = "--fault " + text;
    const size_t at = text.rfind('@');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      Complain(where + ": this is not a fault code with its place",
               "write CODE@NODE/CARD, as in 80E18005@npu-3/5, or CODE@NODE for a fault of the node "
               "or its switches");
      return;
    }
    const faults::FaultCode* code = FindCode(text.substr(0, at), where);
    const std::string place = text.substr(at + 1);
    const size_t slash = place.find('/');
    const Node* node = FindNode(place.substr(0, slash), where);
    std::optional<std::string> chip;
    if (node != nullptr && slash != std::string::npos) {
      chip = FindChip(*node, place.substr(slash + 1), where);
      if (!chip) return;
    }
    if (code == nullptr || node == nullptr) return;
    if (code->source == CodeSource::kChip && !chip) {
      Complain(where + ": " + code->code + " is a fault of a chip, and no chip is named",
               "write " + code->code + "@" + node->name + "/0 for the first");
      return;
    }
    const bool of_node = code->source == CodeSource::kNode || code->source == CodeSource::kSwitch;
    if (of_node && chip) {
      Complain(where + ": " + code->code + " is a fault of the whole node, not of one chip",
               "write " + code->code + "@" + node->name);
      return;
    }
    hypothesis_.codes.push_back({*code, node->name, chip.value_or("")});
  }

  // Names with commas between them, of which one at least is a node's.
  bool ReadDrainedNodes(const std::string& text) {
    std::vector<std::string> names;
    for (const std::string_view word : Split(text, ',')) names.emplace_back(Trim(word));
    const auto is_node = [&](const std::string& name) { return inventory_.FindNode(name); };
    if (std::none_of(names.begin(), names.end(), is_node)) return false;
    std::sort(names.begin(), names.end(), NaturalLess);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& name : names) FindNode(name, "--drain " + text);
    hypothesis_.drains.push_back({"", std::move(names)});
    return true;
  }

  void ReadDrain(const std::string& text) {
    if (ReadDrainedNodes(text)) return;
    const std::string where = "--drain " + Quote(text);
    const auto selector = kube::ParseLabelSelector(text);
    if (!selector) {
      Complain(where + ": " + selector.error().message(),
               "write names of nodes, as in npu-3,npu-4, or a label selector of them, as in "
               "pool=blue or 'zone in (a,b)'");
      return;
    }
    Drain drain{text, {}};
    for (const json::Value* object : snapshot_.nodes) {
      const json::Value* labels = json::FindPath(object, {"metadata", "labels"});
      const json::Json tree = labels == nullptr ? json::Json() : json::TreeOf(*labels);
      if (!kube::Selects(&*selector, &tree)) continue;
      drain.nodes.push_back(json::TextAt(object, {"metadata", "name"}));
    }
    if (drain.nodes.empty()) {
      // A word alone is a label's key, or the name of a node that is not there.
      if (text.find_first_of("=!()/, ") == std::string::npos) {
        FindNode(text, where);
        return;
      }
      Complain(where + ": no node has such labels",
               "`kubectl get nodes --show-labels` shows the labels of all nodes");
      return;
    }
    std::sort(drain.nodes.begin(), drain.nodes.end(), NaturalLess);
    hypothesis_.drains.push_back(std::move(drain));
  }

  const ClusterSnapshot& snapshot_;
  const Inventory& inventory_;
  std::shared_ptr<const faults::FaultTable> codes_;
  Hypothesis hypothesis_;
  std::vector<Problem> problems_;
};

// A fault that is supposed stays.
Effect EffectOfStaying(const faults::FaultCode& code) {
  return faults::EffectOf(code.code, code.source, faults::LevelIfItStays(code));
}

bool RunsNpuPods(const Inventory& inventory, const std::string& name) {
  const auto node = inventory.FindNode(name);
  if (!node) return false;
  const std::vector<size_t>& pods = inventory.pods_on[*node];
  return std::any_of(pods.begin(), pods.end(), [&](size_t pod) {
    return inventory.pods[pod].npus > 0 && !inventory.pods[pod].failed;
  });
}

void RaiseOnNode(const RaisedCode& raised, const Inventory& inventory, faults::NodeFaults& node) {
  faults::HardwareFaults& part =
      raised.code.source == CodeSource::kSwitch ? node.switches : node.machine;
  part.codes.push_back(raised.code.code);
  NodeStatus status = NodeStatus::kHealthy;
  switch (EffectOfStaying(raised.code)) {
    case Effect::kNone:
    case Effect::kChip:
      break;
    case Effect::kSubHealth:
      status = NodeStatus::kSubHealthy;
      break;
    case Effect::kNoNewPods:
      // ClusterD takes it for healthy while a pod with NPUs runs there, and else away.
      status =
          RunsNpuPods(inventory, raised.node) ? NodeStatus::kPreSeparate : NodeStatus::kUnhealthy;
      break;
    case Effect::kNode:
      status = NodeStatus::kUnhealthy;
      break;
  }
  part.status = std::max(part.status, status);
}

void RaiseOnChip(const RaisedCode& raised, const std::string& chip, faults::NodeFaults& node) {
  const Effect effect = EffectOfStaying(raised.code);
  if (effect == Effect::kNone) return;
  node.devices.faults.push_back(
      {chip, faults::LevelIfItStays(raised.code), {raised.code.code}, {}});
  if (effect == Effect::kChip) node.devices.unhealthy.insert(chip);
  if (effect == Effect::kNoNewPods || faults::IsNetworkCode(raised.code.code)) {
    node.devices.network_unhealthy.insert(chip);
  }
}

std::vector<std::string> ChipsOf(const Inventory& inventory, const std::string& name) {
  std::vector<std::string> all;
  const auto node = inventory.FindNode(name);
  if (!node) return all;
  for (const auto& [resource, chips] : inventory.nodes[*node].chips) {
    all.insert(all.end(), chips.begin(), chips.end());
  }
  return all;
}

std::string_view EffectText(Effect effect) {
  switch (effect) {
    case Effect::kNone:
      return "it is recorded, and nothing follows";
    case Effect::kNoNewPods:
      return "no new pods go there";
    case Effect::kSubHealth:
      return "subHealthyStrategy decides";
    case Effect::kChip:
      return "the pods that use it are faulty";
    case Effect::kNode:
      return "all pods of the node are faulty";
  }
  return "";
}

// "NotHandleFault, after 20s PreSeparateNPU"
std::string LevelText(const faults::FaultCode& code) {
  const FaultLevel in_the_end = faults::LevelIfItStays(code);
  std::string text(faults::FaultLevelName(code.level));
  if (in_the_end == code.level) return text;
  return text + ", after " + FormatDuration(code.lasts->time) + " " +
         std::string(faults::FaultLevelName(in_the_end));
}

}  // namespace

tl::expected<Hypothesis, std::vector<Problem>> ReadQuestion(const Question& question,
                                                            const ClusterSnapshot& snapshot,
                                                            const Inventory& inventory) {
  return Reader(snapshot, inventory).Read(question);
}

void Suppose(const Hypothesis& hypothesis, const Inventory& inventory, SurveyedFaults& faults) {
  faults.not_ready.insert(hypothesis.lost.begin(), hypothesis.lost.end());
  for (const FaultyChip& chip : hypothesis.chips) {
    faults.nodes[chip.node].devices.unhealthy.insert(chip.chip);
  }
  for (const RaisedCode& raised : hypothesis.codes) {
    faults::NodeFaults& node = faults.nodes[raised.node];
    if (raised.code.source == CodeSource::kNode || raised.code.source == CodeSource::kSwitch) {
      RaiseOnNode(raised, inventory, node);
    } else if (!raised.chip.empty()) {
      RaiseOnChip(raised, raised.chip, node);
    } else {
      for (const std::string& chip : ChipsOf(inventory, raised.node)) {
        RaiseOnChip(raised, chip, node);
      }
    }
  }
  for (const std::string& name : NodesOf(hypothesis)) {
    const auto node = faults.nodes.find(name);
    if (node != faults.nodes.end() && node->second.IsClean()) faults.nodes.erase(node);
  }
}

Hypothesis Together(Hypothesis one, const Hypothesis& other) {
  const auto append = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(one.lost, other.lost);
  append(one.chips, other.chips);
  append(one.codes, other.codes);
  append(one.drains, other.drains);
  return one;
}

std::set<std::string, std::less<>> DrainedNodes(const Hypothesis& hypothesis) {
  std::set<std::string, std::less<>> nodes;
  for (const Drain& drain : hypothesis.drains) nodes.insert(drain.nodes.begin(), drain.nodes.end());
  return nodes;
}

std::set<std::string, std::less<>> NodesOf(const Hypothesis& hypothesis) {
  std::set<std::string, std::less<>> nodes = DrainedNodes(hypothesis);
  nodes.insert(hypothesis.lost.begin(), hypothesis.lost.end());
  for (const FaultyChip& chip : hypothesis.chips) nodes.insert(chip.node);
  for (const RaisedCode& raised : hypothesis.codes) nodes.insert(raised.node);
  return nodes;
}

std::vector<size_t> NodesOf(const Hypothesis& hypothesis, const Inventory& inventory) {
  std::vector<size_t> nodes;
  for (const std::string& name : NodesOf(hypothesis)) {
    if (const auto node = inventory.FindNode(name)) nodes.push_back(*node);
  }
  return nodes;
}

Hypothesis DrainOf(const std::string& node) { return {.drains = {{"", {node}}}}; }

std::vector<std::string> Sentences(const Hypothesis& hypothesis) {
  std::vector<std::string> sentences;
  for (const std::string& node : hypothesis.lost) {
    sentences.push_back(node + " is lost (NotReady)");
  }
  for (const FaultyChip& chip : hypothesis.chips) {
    sentences.push_back(chip.chip + " of " + chip.node + " is unhealthy");
  }
  for (const RaisedCode& raised : hypothesis.codes) {
    const std::string place =
        raised.chip.empty() ? raised.node : raised.chip + " of " + raised.node;
    sentences.push_back(place + " has fault " + raised.code.code + " (" + LevelText(raised.code) +
                        "): " + std::string(EffectText(EffectOfStaying(raised.code))));
  }
  for (const Drain& drain : hypothesis.drains) {
    sentences.push_back(
        drain.selector.empty()
            ? FirstFew(drain.nodes) + (drain.nodes.size() == 1 ? " is" : " are") + " drained"
            : "the nodes with " + drain.selector + " are drained: " + FirstFew(drain.nodes));
  }
  return sentences;
}

}  // namespace mindgate::what_if
