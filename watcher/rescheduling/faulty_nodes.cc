#include "watcher/rescheduling/faulty_nodes.h"

namespace mindgate::watcher::rescheduling {

void FaultyNodes::Changed(const std::string& node) {
  const auto keep = [&](bool in, std::set<std::string, std::less<>>& names) {
    if (in) {
      names.insert(node);
    } else {
      names.erase(node);
    }
  };
  // Seen under the lock: of two changes at once, the later look counts.
  const MutexLock lock(mutex_);
  const Seen seen = see_(node);
  // A node that is gone with all its pods takes nothing away, whatever reports of it are left.
  const bool vanished = !seen.exists && seen.has_pods;
  keep(vanished, vanished_);
  keep(vanished || (seen.exists && (!seen.ready || seen.reported)), faulty_);
}

FaultyNodes::Counts FaultyNodes::counts() const {
  const MutexLock lock(mutex_);
  return {faulty_.size(), vanished_.size()};
}

std::string FaultyNodes::WhyStopped(size_t nodes, int64_t max_percent) const {
  const Counts found = counts();
  const size_t all = nodes + found.vanished;
  if (found.faulty <= kFew || found.faulty * 100 <= all * static_cast<size_t>(max_percent)) {
    return "";
  }
  return std::to_string(found.faulty) + " of " + std::to_string(all) +
         " nodes are faulty, which is more than maxFaultyNodes (" + std::to_string(max_percent) +
         " %)";
}

}  // namespace mindgate::watcher::rescheduling
