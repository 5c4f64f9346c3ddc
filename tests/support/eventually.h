#pragma once

#include <chrono>
#include <thread>

namespace mindgate::testing {

// Asks again and again for what another thread is about to bring about. False after a minute in
// which it had many chances: on a machine that does other work, one of the two is not enough. So
// many that also a condition that asks a server comes to an end before the test is ended (300 s).
template <typename Condition>
bool Eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int i = 0; i < 10'000 || std::chrono::steady_clock::now() < end; ++i) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace mindgate::testing
