#include "json/positions.h"

#include <utility>

#include "json/pointer.h"

namespace mindgate::json {

size_t Positions::Add(size_t parent, std::string token, Position at) {
  places_.push_back(at);
  children_.try_emplace(Name{parent, std::move(token)}, places_.size() - 1);
  return places_.size() - 1;
}

size_t Positions::ChildOf(size_t parent, std::string_view token) const {
  const auto found = children_.find(NameView(parent, token));
  return found == children_.end() ? kRoot : found->second;
}

void Positions::Set(std::string_view pointer, Position at) {
  auto tokens = Tokens(pointer);
  if (!tokens) return;
  size_t node = kRoot;
  for (std::string& token : *tokens) {
    const size_t child = ChildOf(node, token);
    node = child != kRoot ? child : Add(node, std::move(token), Position{});
  }
  places_[node] = at;
}

Position Positions::At(std::string_view pointer) const {
  Position nearest = places_[kRoot];
  const auto tokens = Tokens(pointer);
  if (!tokens) return nearest;
  size_t node = kRoot;
  for (const std::string& token : *tokens) {
    node = ChildOf(node, token);
    if (node == kRoot) break;
    if (places_[node] != Position{}) nearest = places_[node];
  }
  return nearest;
}

}  // namespace mindgate::json
