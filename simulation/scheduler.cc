// The part of World that places pods, as Volcano does.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "schemas/names.h"
#include "simulation/fault_reporters.h"
#include "simulation/pod_text.h"
#include "simulation/world.h"

namespace mindgate::simulation {

using json::Json;

void World::WaitInTurn(size_t number, bool waits) {
  if (const auto turn = turns_.extract(number)) waiting_.erase(turn.mapped());
  if (!waits) return;
  const Gang& gang = gangs_[number];
  // A job was submitted at the start.
  const Turn turn{-gang.spec->priority, gang.observed ? gang.observed->since : Time(),
                  gang.observed ? gang.spec->name : std::string(), number};
  waiting_.insert(turn);
  turns_.emplace(number, turn);
}

// One that finds no room does not stop those behind it.
bool World::Schedule() {
  bool any = false;
  for (const auto& [priority, since, name, gang] : waiting_) {
    if (gangs_[gang].refused == cluster_.freed()) continue;
    if (PlaceGang(gang)) any = true;
  }
  return any;
}

// All pods of an instance or none; of a job as many as find room, once there are minMember with
// those that have a node.
bool World::PlaceGang(size_t number) {
  const Gang& gang = gangs_[number];
  const Time now = clock_.WallNow();
  std::vector<size_t> places;
  std::optional<size_t> beside;
  int64_t placed = 0;
  for (const size_t i : gang.places) {
    const Pod& pod = places_[i].pod;
    // An instance waits until it is whole.
    if (gang.instance != nullptr && (!pod.there || pod.gated())) return false;
    if (!pod.there || (gang.job != nullptr && pod.going)) continue;
    if (pod.node) {
      beside = pod.node;
      ++placed;
    } else if (!pod.going) {
      if (pod.eligible_at > now) return false;
      places.push_back(i);
    }
  }
  if (places.empty()) return false;
  const int64_t least = gang.job != nullptr ? MinMember(*gang.job) - placed : std::ssize(places);
  const PodNeeds needs{gang.spec->npus_per_pod, gang.spec->node_selector, gang.spec->one_super_pod};
  if (std::ssize(places) < least) return Refuse(number, {}, needs);
  auto nodes = FindNodes(places, needs, beside);
  if (!nodes && least < std::ssize(places)) {
    const int64_t room = cluster_.Room(needs, std::ssize(places));
    if (room < std::max<int64_t>(least, 1)) return Refuse(number, places, needs);
    places.resize(static_cast<size_t>(room));
    nodes = FindNodes(places, needs, beside);
  }
  if (!nodes) return Refuse(number, places, needs);
  for (size_t i = 0; i < places.size(); ++i) Bind(places[i], (*nodes)[i]);
  happened_(EventKind::kPlaced, gang, PlacedText(gang, places, *nodes));
  return true;
}

void World::Bind(size_t number, size_t node) {
  Place& place = places_[number];
  Gang& gang = gangs_[place.gang];
  const Time now = clock_.WallNow();
  place.pod.node = node;
  on_node_[node].insert(number);
  ++gang.with_node;
  if (gang.job != nullptr || gang.instance->ever_starts) {
    place.pod.runs_at = now + gang.spec->start_time.value_or(options_.start_time);
    Wake(number, *place.pod.runs_at);
  }
  std::vector<std::string> chips;
  if (!gang.phase.empty()) {
    for (const int64_t chip : cluster_.CardsOf(number)) chips.push_back(ChipName(chip));
  }
  server_.Update(ApiServer::PodName(place.name), [&](Json& pod) {
    SetPlaced(pod, scenario_.nodes[node].name, now);
    if (chips.empty()) return;
    pod["metadata"]["annotations"][std::string(schemas::kAscendReal)] = Join(chips, ",");
  });
}

// Returns whether a pod is marked that was not.
bool World::Refuse(size_t number, const std::vector<size_t>& places, const PodNeeds& needs) {
  const Gang& gang = gangs_[number];
  bool fresh = false;
  for (const size_t place : places) {
    if (gang.job != nullptr || places_[place].pod.state->unschedulable) continue;
    fresh = true;
    server_.Update(ApiServer::PodName(places_[place].name),
                   [&](Json& pod) { SetUnschedulable(pod, clock_.WallNow()); });
  }
  if (fresh) {
    const int64_t room = cluster_.Room(needs, gang.spec->pods);
    happened_(EventKind::kNoRoom, gang,
              PodsText(*gang.spec) + ", and there is room for " +
                  (room == 0 ? "none" : std::to_string(room)) +
                  (needs.one_super_pod ? " in one super pod" : ""));
  }
  gangs_[number].refused = cluster_.freed();
  return fresh;
}

// Without asking the cluster when others like them have found no room since room was freed.
std::optional<std::vector<size_t>> World::FindNodes(const std::vector<size_t>& places,
                                                    const PodNeeds& needs,
                                                    std::optional<size_t> beside) {
  if (no_room_since_ != cluster_.freed()) {
    no_room_.clear();
    no_room_since_ = cluster_.freed();
  }
  const std::tuple size(places.size(), needs,
                        beside ? scenario_.nodes[*beside].super_pod : std::string());
  if (no_room_.contains(size)) return std::nullopt;
  auto nodes = cluster_.Place(places, needs, beside);
  if (!nodes) no_room_.insert(size);
  return nodes;
}

std::string World::PlacedText(const Gang& gang, const std::vector<size_t>& places,
                              const std::vector<size_t>& nodes) const {
  std::vector<std::string> texts;
  if (gang.job != nullptr) {
    for (size_t i = 0; i < places.size(); ++i) {
      texts.push_back(places_[places[i]].name.name + " on " + scenario_.nodes[nodes[i]].name);
    }
    return Join(texts, ", ");
  }
  for (auto node = nodes.begin(); node != nodes.end();) {
    const auto end = std::upper_bound(node, nodes.end(), *node);
    const auto pods = end - node;
    texts.push_back(scenario_.nodes[*node].name +
                    (nodes.size() == 1 || pods == 1 ? "" : " (" + std::to_string(pods) + " pods)"));
    node = end;
  }
  return "on " + Join(texts, " and ");
}

}  // namespace mindgate::simulation
