#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/thread.h"

namespace mindgate::watcher {

// Calls of one worker at the same time.
inline constexpr size_t kAtOnce = 8;

// Calls `work` for each of `count` in a few threads, `at_once` at most, in order.
inline void InParallel(size_t count, const std::function<void(size_t)>& work,
                       size_t at_once = kAtOnce) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < std::min(count, at_once); ++i) {
    threads.push_back(StartThread("watcher-call", run));
  }
  run();
}

}  // namespace mindgate::watcher
