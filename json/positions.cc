#include "json/positions.h"

#include <utility>

#include "json/pointer.h"

namespace mindgate::json {

size_t Positions::Add(size_t parent, std::string token, Position at) {
  nodes_.push_back(Node{parent, std::move(token), at});
  return nodes_.size() - 1;
}

size_t Positions::ChildOf(size_t parent, std::string_view token) const {
  for (size_t i = parent + 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == parent && nodes_[i].token == token) return i;
  }
  return 0;
}

void Positions::Set(std::string_view pointer, Position at) {
  auto tokens = Tokens(pointer);
  if (!tokens) return;
  size_t node = kRoot;
  for (std::string& token : *tokens) {
    const size_t child = ChildOf(node, token);
    node = child != 0 ? child : Add(node, std::move(token), Position{});
  }
  nodes_[node].at = at;
}

Position Positions::At(std::string_view pointer) const {
  Position nearest = nodes_[kRoot].at;
  const auto tokens = Tokens(pointer);
  if (!tokens) return nearest;
  size_t node = kRoot;
  for (const std::string& token : *tokens) {
    node = ChildOf(node, token);
    if (node == 0) break;
    if (nodes_[node].at != Position{}) nearest = nodes_[node].at;
  }
  return nearest;
}

}  // namespace mindgate::json
