#pragma once

#include <chrono>
#include <cstddef>

#include "http/event_loop.h"

namespace mindgate::webhook {

// The largest body that a loop's thread decides itself. The loop's other connections wait
// meanwhile, and a review of this size takes no longer than a handshake, which the loop does itself
// as well: half a millisecond. Ordinary reviews have 10 KB.
inline constexpr size_t kMaxInlineBytes = 32 * 1024;

// How long a loop decides while other connections wait: half of what one in a hundred reviews may
// take.
inline constexpr std::chrono::milliseconds kMaxTurn{1};

enum class Place {
  kLoop,  // where the request was read: no other thread is woken
  kPool,
};

// Where a review is decided. In the loop if its body is small, for handing it to another thread and
// the answer back takes more CPU than the decision; but nobody waits in a loop for longer than
// kMaxTurn and one decision.
Place PlaceOf(size_t body_bytes, const http::Arrival& arrival, size_t max_inline_bytes);

}  // namespace mindgate::webhook
