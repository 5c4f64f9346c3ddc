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
  // Keys from the root down; "*" stands for every key and every element. What a path ends at is
  // kept whole, what no path leads to is left out, and a path that meets no such member keeps
  // nothing. Elements of a list keep their places.
  using Path = std::vector<std::string>;

  explicit Projection(const std::vector<Path>& paths, const Path& below = {});

  // One step down; null: everything from here on is kept.
  struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> members;
    bool whole = false;

    // Where `key` leads; null pointer: it is left out.
    const Node* Step(std::string_view key) const;
  };
  const Node& root() const { return root_; }

  // The same paths below another root: of the items of a list, of the object of an event.
  Projection Below(const Path& above, const std::vector<Path>& besides = {}) const;

 private:
  std::vector<Path> paths_;
  Node root_;
};

}  // namespace mindgate::json
