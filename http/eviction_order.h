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
  kAwaited,    // its handshake is over, its first request has not begun
  kReading,    // a request is half read
  kIdle,       // between two requests
  kBusy,       // its request is being answered
};
inline constexpr size_t kStandingCount = 7;

// Which connection is closed to make room: one that lingers, else one that has been bare for longer
// than kBareGrace, else one that has been in its handshake, awaited or half read for longer than
// kGrace, else an idle one, and only then a younger one before its first request. Of these it is
// one of the address that has the most connections, and there the one that has stood so the
// longest. A client sends at once when it has connected, so whoever is bare or stalls for long
// wants no answer, and an honest newcomer is served before its turn comes. There is no cap for an
// address: all API servers may come from one. For one thread.
class EvictionOrder {
 public:
  // Handshake and first request of an honest client take milliseconds.
  static constexpr std::chrono::seconds kGrace{2};
  // A ClientHello follows the packet that completes the connection.
  static constexpr std::chrono::milliseconds kBareGrace{100};

  void Add(uint64_t id, const PeerAddress& address, Clock::Instant now);  // kBare
  // `now` never goes back. False when it stood so already.
  bool Set(uint64_t id, Standing standing, Clock::Instant now);
  void Remove(uint64_t id);

  // Nothing when all have a request under way.
  std::optional<uint64_t> Next(Clock::Instant now) const;
  std::optional<uint64_t> NextHandshake(Clock::Instant now) const {
    return First(Standing::kHandshake, now);
  }
  size_t handshakes() const { return handshakes_; }

 private:
  struct Place {
    uint64_t id;
    Clock::Instant since;
  };
  using Line = std::list<Place>;  // the longest first
  struct Peer {
    size_t connections = 0;
    std::array<Line, kStandingCount> lines;
    Line& Of(Standing standing) { return lines[static_cast<size_t>(standing)]; }
    const Line& Of(Standing standing) const { return lines[static_cast<size_t>(standing)]; }
  };
  using Peers = std::map<PeerAddress, Peer>;
  struct Member {
    Peers::iterator peer;
    Standing standing;
    Line::iterator place;
  };

  void Count(Standing standing, int change);
  // The first that has stood so since `before` or longer, of the largest address that has one.
  std::optional<uint64_t> First(Standing standing, Clock::Instant before) const;

  std::unordered_map<uint64_t, Member> members_;
  Peers peers_;
  size_t handshakes_ = 0;
};

}  // namespace mindgate::http
