#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/fake_clock.h"
#include "watcher/frame/workers.h"

namespace mindgate::watcher {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

struct QueueKey {
  std::string ns;
  int number = 0;
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
  friend const std::string& NamespaceOf(const QueueKey& key) { return key.ns; }
};

struct WorkQueueTest : ::testing::Test {
  mindgate::testing::FakeClock clock;
  WorkQueue<QueueKey> queue{clock};

  // The next key that is due, "a1"; "-" when none is.
  std::string Take() {
    const auto work = queue.TakeDue();
    return work ? work->key.ns + std::to_string(work->key.number) : "-";
  }
  // The same, and done at once.
  std::string Handle() {
    const auto work = queue.TakeDue();
    if (!work) return "-";
    queue.Done(work->key);
    return work->key.ns + std::to_string(work->key.number);
  }
};

TEST_F(WorkQueueTest, AKeyIsQueuedOnce) {
  queue.Add({"a", 1});
  queue.Add({"a", 1});
  EXPECT_EQ(Handle(), "a1");
  EXPECT_EQ(Handle(), "-");
}

TEST_F(WorkQueueTest, TheEarliestTimeCounts) {
  queue.AddAfter({"a", 1}, seconds(10));
  queue.AddAfter({"a", 1}, seconds(5));
  queue.AddAfter({"a", 1}, seconds(20));
  EXPECT_EQ(queue.next_due(), clock.Now() + seconds(5));
  clock.Advance(seconds(4));
  EXPECT_EQ(Handle(), "-");
  clock.Advance(seconds(1));
  EXPECT_EQ(Handle(), "a1");
  clock.Advance(seconds(60));
  EXPECT_EQ(Handle(), "-");
  // Also of one that is due already and waits for a worker.
  queue.Add({"a", 2});
  queue.Add({"a", 3});
  EXPECT_EQ(Handle(), "a2");
  queue.Add({"a", 4});
  queue.AddAt({"a", 4}, clock.Now() - seconds(1));
  EXPECT_EQ(Handle(), "a4");
  EXPECT_EQ(Handle(), "a3");
  EXPECT_EQ(Handle(), "-");
}

TEST_F(WorkQueueTest, WhatIsAddedWhileItIsHandledComesAgain) {
  queue.Add({"a", 1});
  EXPECT_EQ(Take(), "a1");
  queue.Add({"a", 1});
  queue.AddAfter({"a", 1}, seconds(9));
  EXPECT_EQ(Take(), "-") << "one worker at a time";
  queue.Done({"a", 1});
  EXPECT_EQ(Handle(), "a1");
  clock.Advance(seconds(60));
  EXPECT_EQ(Handle(), "-");
}

// One tenant with many services must not make the others wait for all of them.
TEST_F(WorkQueueTest, NamespacesTakeTurns) {
  for (int i = 0; i < 4; ++i) queue.Add({"many", i});
  queue.Add({"few", 0});
  queue.Add({"few", 1});
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) order.push_back(Handle());
  EXPECT_THAT(order, ElementsAre("few0", "many0", "few1", "many1", "many2", "many3"));
}

// Nor may its slow keys take all workers while others wait.
TEST_F(WorkQueueTest, TheNamespaceWithTheFewestUnderWayIsNext) {
  for (int i = 0; i < 4; ++i) queue.Add({"slow", i});
  EXPECT_EQ(Take(), "slow0");
  EXPECT_EQ(Take(), "slow1");
  queue.Add({"other", 0});
  queue.Add({"other", 1});
  EXPECT_EQ(Take(), "other0");
  EXPECT_EQ(Take(), "other1");
  EXPECT_EQ(Take(), "slow2") << "nobody else waits";
}

// With one worker each of its turns ends with an empty share, which is forgotten.
TEST_F(WorkQueueTest, ANamespaceThatComesBackIsBehindThoseThatWait) {
  for (int i = 0; i < 3; ++i) queue.Add({"b", i});
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) {
    queue.Add({"a", 0});
    order.push_back(Handle());
  }
  EXPECT_THAT(order, ElementsAre("a0", "b0", "a0", "b1", "a0", "b2"));
}

// Not even by namespaces that nobody has seen before.
TEST_F(WorkQueueTest, ANamespaceThatIsNewWaitsOnceForEachOther) {
  queue.Add({"old", 0});
  queue.Add({"old", 1});
  EXPECT_EQ(Handle(), "old0");
  queue.Add({"z", 0});
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) {
    queue.Add({"fresh", i});
    queue.Add({"a" + std::to_string(i), 0});
    order.push_back(Handle());
  }
  EXPECT_THAT(order, ElementsAre("a00", "fresh0", "old1", "z0"));
}

// Whoever adds whatever, a namespace waits for at most one key of each other namespace.
TEST_F(WorkQueueTest, NobodyIsStarved) {
  uint64_t random = 1;
  const auto below = [&random](uint64_t n) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33) % n;
  };
  constexpr size_t kNamespaces = 5;
  std::vector<size_t> waited(kNamespaces, 0);
  std::vector<int> queued(kNamespaces, 0);
  for (int step = 0; step < 20'000; ++step) {
    const size_t to = below(10) == 0 ? below(kNamespaces) : 0;  // mostly the first
    const QueueKey key{std::string(1, static_cast<char>('a' + to)),
                       static_cast<int>(1'000'000 + step)};
    queue.Add(key);
    ++queued[to];
    clock.Advance(std::chrono::milliseconds(1));
    if (below(3) == 0) continue;
    const auto work = queue.TakeDue();
    ASSERT_TRUE(work);
    queue.Done(work->key);
    const auto served = static_cast<size_t>(work->key.ns[0] - 'a');
    --queued[served];
    for (size_t i = 0; i < kNamespaces; ++i) {
      waited[i] = i == served || queued[i] == 0 ? 0 : waited[i] + 1;
      ASSERT_LE(waited[i], kNamespaces) << "namespace " << i << " at step " << step;
    }
  }
}

}  // namespace
}  // namespace mindgate::watcher
