#pragma once

#include <thread>

namespace mindgate::testing {

// Asks again and again for what another thread is about to bring about; false after some tens of
// seconds. No sleeping, and no clock that a slow machine could race against.
template <typename Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 30'000'000; ++i) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace mindgate::testing
