#include "json/projection.h"

#include <algorithm>

namespace mindgate::json {
namespace {

// Steps of a path are looked up by key first: where a key and "*" stand side by side, what "*"
// wants must be below the key as well.
void Add(Projection::Node& node, const Projection::Path& path, size_t at) {
  if (at == path.size()) {
    node.whole = true;
    return;
  }
  auto& next = node.members[path[at]];
  if (next == nullptr) next = std::make_unique<Projection::Node>();
  Add(*next, path, at + 1);
  if (path[at] != "*") return;
  for (auto& [key, member] : node.members) {
    if (key != "*") Add(*member, path, at + 1);
  }
}

}  // namespace

Projection::Projection(const std::vector<Path>& paths) : paths_(paths) {
  // Those that name their keys come first, so that Add meets them when "*" comes.
  std::stable_sort(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
    return std::count(a.begin(), a.end(), "*") < std::count(b.begin(), b.end(), "*");
  });
  for (const Path& path : paths_) Add(root_, path, 0);
}

const Projection::Node* Projection::Node::Step(std::string_view key) const {
  auto found = members.find(key);
  if (found == members.end()) found = members.find("*");
  return found == members.end() ? nullptr : found->second.get();
}

Projection Projection::Below(const Path& above, const std::vector<Path>& besides) const {
  std::vector<Path> paths = besides;
  for (const Path& path : paths_) {
    Path longer = above;
    longer.insert(longer.end(), path.begin(), path.end());
    paths.push_back(std::move(longer));
  }
  return Projection(paths);
}

}  // namespace mindgate::json
