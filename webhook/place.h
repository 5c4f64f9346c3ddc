#pragma once

#include <cstddef>

#include "webhook/event_loop.h"

namespace mindgate::webhook {

// The largest body that a loop's thread decides itself. Its other connections wait meanwhile, and a
// handshake, which it does itself as well, takes as long as a review of this size: half a
// millisecond. Ordinary reviews have 10 KB.
inline constexpr size_t kMaxInlineBytes = 32 * 1024;

enum class Place {
  kLoop,  // where the request was read: no other thread is woken
  kPool,
};

// Where a review is decided. In a loop that has nothing else to do, if the body is small: handing
// it to another thread and its answer back costs more than the decision. As soon as others wait,
// the pool has it, so that no connection waits for more than one decision made for another.
Place PlaceOf(size_t body_bytes, const Arrival& arrival, size_t max_inline_bytes);

}  // namespace mindgate::webhook
