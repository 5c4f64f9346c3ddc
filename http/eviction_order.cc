#include "http/eviction_order.h"

namespace mindgate::http {

EvictionOrder::Line& EvictionOrder::LineOf(const Member& member) {
  return member.standing == Standing::kIdle ? member.peer->second.idle
                                            : lines_[static_cast<size_t>(member.standing)];
}

void EvictionOrder::Add(uint64_t id, const PeerAddress& address, Clock::Instant now) {
  const auto peer = peers_.try_emplace(address).first;
  ++peer->second.connections;
  Member member{peer, Standing::kBare, {}};
  Line& line = LineOf(member);
  member.place = line.insert(line.end(), {id, now});
  members_.emplace(id, member);
}

bool EvictionOrder::Set(uint64_t id, Standing standing, Clock::Instant now) {
  Member& member = members_.find(id)->second;
  if (member.standing == standing) return false;
  Line& from = LineOf(member);
  member.standing = standing;
  Line& to = LineOf(member);
  to.splice(to.end(), from, member.place);  // allocates nothing
  member.place->since = now;
  return true;
}

void EvictionOrder::Remove(uint64_t id) {
  const auto found = members_.find(id);
  const Member member = found->second;
  LineOf(member).erase(member.place);
  members_.erase(found);
  if (--member.peer->second.connections == 0) peers_.erase(member.peer);
}

std::optional<uint64_t> EvictionOrder::First(Standing standing, Clock::Instant before) const {
  const Line& line = lines_[static_cast<size_t>(standing)];
  if (line.empty() || line.front().since > before) return std::nullopt;
  return line.front().id;
}

std::optional<uint64_t> EvictionOrder::NextHandshake(Clock::Instant now) const {
  return First(Standing::kHandshake, now - kGrace);
}

std::optional<uint64_t> EvictionOrder::Next(Clock::Instant now) const {
  if (const auto lingering = First(Standing::kLingering, now)) return lingering;
  if (const auto bare = First(Standing::kBare, now)) return bare;
  if (const auto slow = NextHandshake(now)) return slow;
  if (const auto slow = First(Standing::kAwaited, now - kGrace)) return slow;
  const Peer* largest = nullptr;
  for (const auto& [address, peer] : peers_) {
    if (peer.idle.empty()) continue;
    if (largest == nullptr || peer.connections > largest->connections) largest = &peer;
  }
  if (largest == nullptr) return std::nullopt;
  return largest->idle.front().id;
}

}  // namespace mindgate::http
