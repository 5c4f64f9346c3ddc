#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "http/peer_address.h"

namespace mindgate::http {

// What a connection is worth when there is no room for one more.
enum class Standing {
  kLingering,  // its last answer is written
  kBare,       // not one whole message has come: no ClientHello, without TLS not one byte
  kHandshake,  // begun and not finished
  kAwaited,    // its first request has not begun, or one is half read
  kIdle,       // between two requests
  kBusy,       // its request is being answered
};
inline constexpr size_t kStandingCount = 6;

// Which connection is closed to make room: one that lingers, else one that is bare, else one that
// has been in its handshake or awaited for longer than kGrace, else an idle one of the address that
// has the most connections; of these always the one that has stood so the longest. A client sends
// at once when it has connected, so whoever is bare for long wants no answer. There is no cap for
// an address: all API servers may come from one. For one thread.
class EvictionOrder {
 public:
  // Handshake and first request of an honest client take milliseconds.
  static constexpr std::chrono::seconds kGrace{2};

  void Add(uint64_t id, const PeerAddress& address, Clock::Instant now);  // kBare
  // `now` never goes back. False when it stood so already.
  bool Set(uint64_t id, Standing standing, Clock::Instant now);
  void Remove(uint64_t id);

  // Nothing when all are to be spared.
  std::optional<uint64_t> Next(Clock::Instant now) const;
  // The same among handshakes alone.
  std::optional<uint64_t> NextHandshake(Clock::Instant now) const;
  size_t handshakes() const { return lines_[static_cast<size_t>(Standing::kHandshake)].size(); }

 private:
  struct Place {
    uint64_t id;
    Clock::Instant since;
  };
  using Line = std::list<Place>;  // the longest first
  struct Peer {
    size_t connections = 0;
    Line idle;
  };
  using Peers = std::map<PeerAddress, Peer>;
  struct Member {
    Peers::iterator peer;
    Standing standing;
    Line::iterator place;
  };

  Line& LineOf(const Member& member);
  std::optional<uint64_t> First(Standing standing, Clock::Instant before) const;

  std::unordered_map<uint64_t, Member> members_;
  Peers peers_;
  std::array<Line, kStandingCount> lines_;  // kIdle's are those of the peers
};

}  // namespace mindgate::http
