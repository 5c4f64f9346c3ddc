#include <gtest/gtest.h>

#include "kube/events.h"

namespace mindgate::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Clock::Instant kStart{std::chrono::hours(1)};
constexpr Time kWall{seconds(1767225600)};

EventRecord About(const std::string& pod, const std::string& note = "") {
  return {.regarding = {"v1", "Pod", "ns", pod, "uid-" + pod},
          .reason = "Held",
          .action = "Hold",
          .note = note};
}

// A book and a clock that tests move.
struct BookFixture : ::testing::Test {
  EventBook book;
  std::chrono::milliseconds since{};

  Clock::Instant now() const { return kStart + since; }
  // Whether it became an Event of its own, which is written at once.
  bool Add(const EventRecord& record) {
    EventBook::Entry* entry = book.Add(record, now(), kWall + std::chrono::floor<seconds>(since));
    if (entry != nullptr) book.Written(*entry, now());
    return entry != nullptr;
  }
  // "pod: count" of the series that are due, which are written.
  std::vector<std::string> WriteDue(bool even_early = false) {
    std::vector<std::string> due;
    for (EventBook::Entry* entry : book.Due(now(), even_early)) {
      due.push_back(entry->record.regarding.name + ": " + std::to_string(entry->count));
      book.Written(*entry, now());
    }
    return due;
  }
};

using Texts = std::vector<std::string>;

TEST_F(BookFixture, EqualHappeningsAreCounted) {
  EXPECT_TRUE(Add(About("a")));
  EXPECT_FALSE(Add(About("a")));
  EXPECT_TRUE(Add(About("b")));
  EXPECT_TRUE(Add(About("a", "another note")));
  EventRecord warning = About("a");
  warning.type = EventRecord::Type::kWarning;
  EXPECT_TRUE(Add(warning));
  EventRecord successor = About("a");
  successor.regarding.uid = "uid-of-its-successor";
  EXPECT_TRUE(Add(successor));
  EXPECT_FALSE(Add(About("a")));
  EXPECT_EQ(WriteDue(true), Texts{"a: 3"});
}

TEST_F(BookFixture, ASeriesIsWrittenAtMostOnceIn10Seconds) {
  EXPECT_EQ(book.NextDue(), std::nullopt);
  EXPECT_TRUE(Add(About("a")));
  EXPECT_EQ(book.NextDue(), std::nullopt) << "a single event has nothing more to say";
  since = seconds(3);
  EXPECT_FALSE(Add(About("a")));
  EXPECT_EQ(book.NextDue(), kStart + seconds(10));
  since = std::chrono::milliseconds(9999);
  EXPECT_EQ(WriteDue(), Texts());
  since = seconds(10);
  EXPECT_EQ(WriteDue(), Texts{"a: 2"});
  EXPECT_EQ(WriteDue(), Texts()) << "it is known now";
  since = seconds(11);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(Add(About("a")));
  since = seconds(12);
  EXPECT_EQ(WriteDue(), Texts());
  EXPECT_EQ(WriteDue(true), Texts{"a: 1002"});
}

TEST_F(BookFixture, ASeriesEndsAfter6MinutesOfQuiet) {
  EXPECT_TRUE(Add(About("a")));
  since = minutes(6) - seconds(1);
  EXPECT_FALSE(Add(About("a")));
  since += minutes(6) - seconds(1);
  EXPECT_FALSE(Add(About("a"))) << "it counts from the last time";
  since += minutes(6);
  EXPECT_TRUE(Add(About("a")));
}

TEST_F(BookFixture, WhatCouldNotBeWrittenIsForgotten) {
  EventBook::Entry* entry = book.Add(About("a"), now(), kWall);
  ASSERT_NE(entry, nullptr);
  book.Forget(*entry);
  EXPECT_EQ(book.size(), 0u);
  EXPECT_TRUE(Add(About("a")));
}

TEST_F(BookFixture, NewEventsAboutOneObjectAreLimited) {
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(Add(About("a", std::to_string(i))));
  for (int i = 25; i < 30; ++i) EXPECT_FALSE(Add(About("a", std::to_string(i))));
  EXPECT_EQ(book.limited(), 5u);
  EXPECT_TRUE(Add(About("b"))) << "others are not";
  EXPECT_FALSE(Add(About("a", "3"))) << "a known one is counted";
  EXPECT_EQ(book.limited(), 5u);
  EXPECT_EQ(WriteDue(true), Texts{"a: 2"});

  since = std::chrono::milliseconds(4999);
  EXPECT_FALSE(Add(About("a", "x")));
  since = seconds(5);
  EXPECT_TRUE(Add(About("a", "y")));
  EXPECT_FALSE(Add(About("a", "z")));
  since = seconds(5 + 24 * 5);
  for (int i = 100; i < 124; ++i) EXPECT_TRUE(Add(About("a", std::to_string(i))));
  EXPECT_FALSE(Add(About("a", "124")));
  since += minutes(60);
  for (int i = 200; i < 225; ++i) EXPECT_TRUE(Add(About("a", std::to_string(i))));
  EXPECT_FALSE(Add(About("a", "225"))) << "never more than a burst";
}

TEST_F(BookFixture, MemoryIsBounded) {
  for (size_t i = 0; i < EventBook::kMax; ++i) {
    since += seconds(5);  // so that no bucket is in the way
    EXPECT_TRUE(Add(About("pod-" + std::to_string(i))));
  }
  // Those of the last 6 minutes are kept, older singles go.
  EXPECT_EQ(book.size(), EventBook::kMax);
  EXPECT_TRUE(Add(About("one-more")));
  EXPECT_EQ(book.size(), 6 * 60 / 5 + 1u);
  EXPECT_FALSE(Add(About("pod-4095")));
}

TEST_F(BookFixture, MemoryIsBoundedInABurstToo) {
  const auto add = [this](size_t i) { return Add(About("pod-" + std::to_string(i))); };
  for (size_t i = 0; i < EventBook::kMax; ++i) EXPECT_TRUE(add(i));
  EXPECT_FALSE(add(EventBook::kMax)) << "too many objects at once";
  EXPECT_EQ(book.limited(), 1u);
  since = seconds(5);
  EXPECT_TRUE(add(EventBook::kMax)) << "in the place of the oldest";
  EXPECT_EQ(book.size(), EventBook::kMax);
}

}  // namespace
}  // namespace mindgate::kube
