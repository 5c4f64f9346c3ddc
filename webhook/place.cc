#include "webhook/place.h"

namespace mindgate::webhook {

Place PlaceOf(size_t body_bytes, const http::Arrival& arrival, size_t max_inline_bytes) {
  const bool small = body_bytes <= max_inline_bytes && max_inline_bytes > 0;
  const bool turn_is_over = arrival.others_wait && arrival.busy >= kMaxTurn;
  return small && !turn_is_over ? Place::kLoop : Place::kPool;
}

}  // namespace mindgate::webhook
