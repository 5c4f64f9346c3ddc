#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "watcher/frame/workers.h"

namespace mindgate::watcher {
namespace {

// Opens when `wanted` threads are in it at the same time.
class Door {
 public:
  explicit Door(size_t wanted) : wanted_(wanted) {}
  void Pass() {
    std::unique_lock lock(mutex_);
    if (++inside_ == wanted_) open_.notify_all();
    open_.wait(lock, [&] { return inside_ >= wanted_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable open_;
  const size_t wanted_;
  size_t inside_ = 0;
};

TEST(CallThreadsTest, DoesEachOnce) {
  CallThreads calls;
  for (const size_t count : {0, 1, 2, 7, 8, 9, 500}) {
    std::vector<int> done(count);
    calls.Run(count, [&](size_t i) { ++done[i]; });
    EXPECT_EQ(done, std::vector<int>(count, 1)) << count;
  }
}

TEST(CallThreadsTest, RunsAsManyAtTheSameTimeAsItMay) {
  CallThreads calls;
  Door door(3);
  calls.Run(3, [&](size_t) { door.Pass(); }, 3);
}

TEST(CallThreadsTest, OneAtATimeStaysInTheCallersThread) {
  CallThreads calls;
  std::vector<size_t> order;
  std::set<std::thread::id> threads;
  calls.Run(
      20,
      [&](size_t i) {
        order.push_back(i);
        threads.insert(std::this_thread::get_id());
      },
      1);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 20U);
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(CallThreadsTest, KeepsItsThreads) {
  CallThreads calls;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int round = 0; round < 200; ++round) {
    calls.Run(kAtOnce, [&](size_t) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
  }
  EXPECT_LE(threads.size(), CallThreads::kMost + 1);
}

// Whoever finds all threads taken does the work alone, also from within a call.
TEST(CallThreadsTest, NobodyWaitsForAThread) {
  CallThreads calls;
  std::vector<std::vector<int>> done(40, std::vector<int>(40));
  std::vector<std::jthread> callers;
  for (size_t caller = 0; caller < 40; caller += 10) {
    callers.emplace_back([&, caller] {
      calls.Run(10, [&, caller](size_t i) {
        std::vector<int>& row = done[caller + i];
        calls.Run(40, [&](size_t j) { ++row[j]; });
      });
    });
  }
  callers.clear();
  EXPECT_EQ(done, (std::vector<std::vector<int>>(40, std::vector<int>(40, 1))));
}

}  // namespace
}  // namespace mindgate::watcher
