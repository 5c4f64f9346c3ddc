#include <limits>

#include "json/decode.h"
#include "json/scanner.h"

namespace mindgate::json {

Positions Locate(std::string_view text) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  constexpr size_t kMaxDepth = 1000;  // far beyond what Decode takes; every level costs memory
  Positions places;
  // The text was accepted before, so a fault can only mean that a caller passed another one.
  (void)internal::Scan(text, Limits{kAny, kMaxDepth, kAny}, &places);
  return places;
}

}  // namespace mindgate::json
