#include "http/eviction_order.h"

namespace mindgate::http {

void EvictionOrder::Count(Standing standing, int change) {
  if (standing == Standing::kHandshake) handshakes_ += static_cast<size_t>(change);
}

void EvictionOrder::Add(uint64_t id, const PeerAddress& address, Clock::Instant now) {
  const auto peer = peers_.try_emplace(address).first;
  ++peer->second.connections;
  Line& line = peer->second.Of(Standing::kBare);
  members_.emplace(id, Member{peer, Standing::kBare, line.insert(line.end(), {id, now})});
}

bool EvictionOrder::Set(uint64_t id, Standing standing, Clock::Instant now) {
  Member& member = members_.find(id)->second;
  if (member.standing == standing) return false;
  Count(member.standing, -1);
  Count(standing, 1);
  Line& from = member.peer->second.Of(member.standing);
  Line& to = member.peer->second.Of(standing);
  to.splice(to.end(), from, member.place);  // allocates nothing
  member.place->since = now;
  member.standing = standing;
  return true;
}

void EvictionOrder::Remove(uint64_t id) {
  const auto found = members_.find(id);
  const Member member = found->second;
  Count(member.standing, -1);
  member.peer->second.Of(member.standing).erase(member.place);
  members_.erase(found);
  if (--member.peer->second.connections == 0) peers_.erase(member.peer);
}

std::optional<uint64_t> EvictionOrder::First(Standing standing, Clock::Instant before) const {
  const Peer* largest = nullptr;
  for (const auto& [address, peer] : peers_) {
    const Line& line = peer.Of(standing);
    if (line.empty() || line.front().since > before) continue;
    if (largest == nullptr || peer.connections > largest->connections) largest = &peer;
  }
  if (largest == nullptr) return std::nullopt;
  return largest->Of(standing).front().id;
}

std::optional<uint64_t> EvictionOrder::Next(Clock::Instant now) const {
  const struct {
    Standing standing;
    Clock::Instant before;
  } order[] = {{Standing::kLingering, now},
               {Standing::kBare, now - kBareGrace},
               {Standing::kHandshake, now - kGrace},
               {Standing::kAwaited, now - kGrace},
               {Standing::kReading, now - kGrace},
               {Standing::kIdle, now},
               {Standing::kBare, now},
               {Standing::kAwaited, now},
               {Standing::kHandshake, now}};
  for (const auto& [standing, before] : order) {
    if (const auto id = First(standing, before)) return id;
  }
  return std::nullopt;
}

}  // namespace mindgate::http
