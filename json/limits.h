#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace mindgate::json {

// What a document may cost. An API server takes at most 3 MiB in one object, and an AdmissionReview
// holds two of them and the rest of the request: 7 MiB is the ceiling that controller-runtime uses
// too.
struct Limits {
  // Of its text. YAML aliases may add as much again, in texts and keys, over a whole stream.
  size_t bytes = 7 * 1024 * 1024;
  // Objects and lists inside each other. The deepest real CRD has under 40; nlohmann::json copies
  // and prints recursively and overflows the stack far beyond this.
  size_t depth = 128;
  // Values in one document after aliases are expanded. Also what aliases may pull in over a whole
  // stream of documents.
  size_t elements = 500'000;
  // Of a JSON text, beyond its first 32 Ki values: at most one for so many bytes. Compact JSON of
  // real objects has 25 bytes a value, managedFields by themselves 12; a list of digits has 2, and
  // would take 20 times its text while it is decoded. What a projection leaves out counts as well,
  // since all of it is read. 0: no such limit.
  size_t bytes_a_value = 16;

  // The values that a JSON text of so many bytes may have: of all of it, and of what is kept.
  size_t ValuesIn(size_t text_bytes) const {
    if (bytes_a_value == 0) return std::numeric_limits<size_t>::max();
    return 32 * 1024 + text_bytes / bytes_a_value;
  }
  size_t ElementsIn(size_t text_bytes) const { return std::min(elements, ValuesIn(text_bytes)); }
};

// The text of one file, which may hold many documents.
inline constexpr size_t kLargestFile = 64 * 1024 * 1024;

}  // namespace mindgate::json
