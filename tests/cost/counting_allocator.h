#pragma once

#include <cstddef>

namespace mindgate::testing {

// What `operator new` gave this thread since the last Begin.
struct Allocations {
  size_t count = 0;
  size_t live = 0;  // bytes not given back yet
  size_t peak = 0;  // the most that `live` was

  static void Begin();
  static Allocations SoFar();
};

}  // namespace mindgate::testing
