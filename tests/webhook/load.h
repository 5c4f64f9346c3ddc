#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.h"

namespace mindgate::webhook::testing {

// Callers that call without pause, each in a thread of its own, until the end.
class Load {
 public:
  // Each returns what went wrong, or nothing.
  using Call = std::function<std::string()>;

  explicit Load(std::vector<Call> calls) : done_(calls.size()) {
    for (auto& count : done_) count = std::make_unique<std::atomic<int>>(0);
    for (size_t i = 0; i < calls.size(); ++i) {
      threads_.emplace_back([this, i, call = std::move(calls[i])] {
        while (!stop_) {
          if (const std::string fault = call(); !fault.empty()) {
            const std::lock_guard lock(mutex_);
            faults_.push_back(fault);
          }
          ++*done_[i];
        }
      });
    }
  }
  ~Load() { Stop(); }

  // Waits until each caller has ended so many calls more; with two or more, the last of them began
  // after this was asked. False when a call has failed.
  bool EachCallsAgain(int times = 2) {
    std::vector<int> want;
    for (const auto& count : done_) want.push_back(*count + times);
    const bool called = mindgate::testing::Eventually([&] {
      for (size_t i = 0; i < done_.size(); ++i) {
        if (*done_[i] < want[i]) return false;
      }
      return true;
    });
    return called && Faults().empty();
  }

  void Stop() {
    stop_ = true;
    threads_.clear();
  }
  std::vector<std::string> Faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

 private:
  std::vector<std::unique_ptr<std::atomic<int>>> done_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::string> faults_;  // guarded by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace mindgate::webhook::testing
