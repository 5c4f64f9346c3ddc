#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mindgate::json {

// Which members of a value are worth a tree: a watcher of 100,000 pods keeps a few of each. Made
// once, then safe from many threads.
class Projection {
 public:
  // Keys from the root down; "*" means every key and every element. What a path ends at is kept
  // whole, what no path leads to is left out. Elements of a list keep their places.
  using Path = std::vector<std::string>;

  explicit Projection(const std::vector<Path>& paths);

  struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> members;
    bool whole = false;  // with all that is below it

    const Node* Step(std::string_view key) const;  // null: no path leads there
  };
  const Node& root() const { return root_; }

  // The same paths one root further up (the items of a list, the object of an event), and others
  // beside them.
  Projection Below(const Path& above, const std::vector<Path>& besides = {}) const;

 private:
  std::vector<Path> paths_;
  Node root_;
};

}  // namespace mindgate::json
