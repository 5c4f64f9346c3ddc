#include "faults/known_faults.h"

#include <map>

namespace mindgate::faults {

KnownFaults::Nodes KnownFaults::Look(const std::set<std::string>& nodes) {
  std::map<std::string, NodeFaults> changes;
  for (const std::string& node : nodes) {
    NodeFaults merged = told_.Merged(node, sources_);
    const auto before = faults_->find(node);
    if (merged == (before == faults_->end() ? NodeFaults() : before->second)) continue;
    changes.emplace(node, std::move(merged));
  }
  Nodes changed;
  if (changes.empty()) return changed;
  auto next = std::make_shared<FaultsByNode>(*faults_);
  for (auto& [node, merged] : changes) {
    changed.push_back(node);
    if (merged == NodeFaults()) {
      next->erase(node);
    } else {
      next->insert_or_assign(node, std::move(merged));
    }
  }
  faults_ = std::move(next);
  return changed;
}

std::optional<KnownFaults::Nodes> KnownFaults::Recount(Source source, Time now) {
  const FaultStore::TrustedSources counting = told_.ChooseSources(source, now);
  if (counting == sources_) return std::nullopt;
  sources_ = counting;
  return Look(told_.nodes());
}

}  // namespace mindgate::faults
