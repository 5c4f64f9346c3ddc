#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "watcher/scaling/decision.h"

namespace mindgate::watcher::scaling {

// Whether what it has is on a node where others may be placed. So is that of one whose pods name no
// NPUs.
bool LeavesRoom(const Instance& instance, const std::set<std::string, std::less<>>& unusable_nodes);

// Which of `surplus`, the ones that are missed least first, go for `stranded`: one that leaves room
// for all of its pods that have no node, else as few as do together. What else is free is not
// known: where all of them together leave too little, the one goes that leaves room for most of the
// pods, and none where that is for no pod. NPUs on unusable nodes are no room. An instance whose
// pods name no NPUs fits anywhere.
std::vector<const Instance*> FewestThatFit(
    const std::vector<const Instance*>& surplus, const Instance& stranded,
    const std::set<std::string, std::less<>>& unusable_nodes);

}  // namespace mindgate::watcher::scaling
