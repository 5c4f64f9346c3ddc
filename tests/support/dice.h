#pragma once

#include <cstddef>
#include <cstdint>

namespace mindgate::testing {

// SplitMix64, for its seed is one number and costs nothing.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15) {}

  size_t Below(size_t n) {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<size_t>((z ^ (z >> 31)) % n);
  }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace mindgate::testing
