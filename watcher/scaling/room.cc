#include "watcher/scaling/room.h"

#include <algorithm>
#include <map>

namespace mindgate::watcher::scaling {
namespace {

using Room = std::map<std::string, int64_t>;  // NPUs by node

void Add(const Instance& instance, const std::set<std::string, std::less<>>& unusable, Room& room) {
  for (const auto& [node, npus] : instance.npus) {
    if (!unusable.contains(node)) room[node] += npus;
  }
}

// How many pods find a place. `needs` are in descending order: each goes to the first node that has
// so much left, and what is largest finds its place first.
std::ptrdiff_t Placed(const std::vector<int64_t>& needs, Room room) {
  return std::count_if(needs.begin(), needs.end(), [&](int64_t need) {
    const auto node = std::find_if(room.begin(), room.end(),
                                   [&](const auto& each) { return each.second >= need; });
    if (node == room.end()) return false;
    node->second -= need;
    return true;
  });
}

}  // namespace

bool LeavesRoom(const Instance& instance,
                const std::set<std::string, std::less<>>& unusable_nodes) {
  return instance.npus.empty() ||
         std::any_of(instance.npus.begin(), instance.npus.end(),
                     [&](const auto& of_node) { return !unusable_nodes.contains(of_node.first); });
}

std::vector<const Instance*> FewestThatFit(
    const std::vector<const Instance*>& surplus, const Instance& stranded,
    const std::set<std::string, std::less<>>& unusable_nodes) {
  const auto placed = [&](const std::vector<const Instance*>& given_up) {
    Room room;
    for (const Instance* instance : given_up) Add(*instance, unusable_nodes, room);
    return Placed(stranded.needs, std::move(room));
  };
  const auto fits = [&](const std::vector<const Instance*>& given_up) {
    return placed(given_up) == std::ssize(stranded.needs);
  };
  if (surplus.empty()) return {};
  const bool is_known = std::any_of(stranded.needs.begin(), stranded.needs.end(),
                                    [](int64_t need) { return need > 0; });
  if (!is_known) return {surplus.front()};
  for (const Instance* instance : surplus) {
    if (fits({instance})) return {instance};
  }
  std::vector<const Instance*> together;
  for (const Instance* instance : surplus) {
    together.push_back(instance);
    if (!fits(together)) continue;
    // Without those that were not needed.
    for (size_t i = 0; i < together.size();) {
      std::vector<const Instance*> fewer = together;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (fits(fewer)) {
        together = std::move(fewer);
      } else {
        ++i;
      }
    }
    return together;
  }
  const Instance* most = nullptr;
  std::ptrdiff_t pods = 0;
  for (const Instance* instance : surplus) {
    if (const auto has_room = placed({instance}); has_room > pods) {
      most = instance;
      pods = has_room;
    }
  }
  if (most == nullptr) return {};
  return {most};
}

}  // namespace mindgate::watcher::scaling
