#include <gtest/gtest.h>

#include <map>
#include <random>

#include "kube/reflector.h"

namespace mindgate::kube {
namespace {

using Numbers = Collection<int>;

Numbers::EntryPtr Entry(const std::string& key, int value) {
  return std::make_shared<const Numbers::Entry>(key, value);
}

std::map<std::string, int> Content(const Numbers& numbers) {
  std::map<std::string, int> content;
  numbers.ForEach([&](const std::string& key, int value) { content[key] = value; });
  return content;
}

TEST(Collection, AChangeLeavesEarlierCollectionsAsTheyWere) {
  const Numbers none;
  const Numbers one = none.With(Entry("ns/a", 1));
  const Numbers replaced = one.With(Entry("ns/a", 2));
  const Numbers gone = replaced.Without("ns/a");

  EXPECT_EQ(Content(none), (std::map<std::string, int>{}));
  EXPECT_EQ(Content(one), (std::map<std::string, int>{{"ns/a", 1}}));
  EXPECT_EQ(Content(replaced), (std::map<std::string, int>{{"ns/a", 2}}));
  EXPECT_EQ(Content(gone), (std::map<std::string, int>{}));
}

TEST(Collection, TheLastOfAKeyCounts) {
  const Numbers numbers = Numbers::Of({Entry("ns/a", 1), Entry("ns/b", 2), Entry("ns/a", 3)});
  EXPECT_EQ(Content(numbers), (std::map<std::string, int>{{"ns/a", 3}, {"ns/b", 2}}));
  EXPECT_EQ(numbers.size(), 2);
}

TEST(Collection, AMissingKeyIsNotFoundAndNotRemoved) {
  const Numbers numbers = Numbers::Of({Entry("ns/a", 1)});
  EXPECT_EQ(numbers.Find("ns/b"), nullptr);
  EXPECT_EQ(numbers.Without("ns/b").size(), 1);
}

TEST(Collection, IsAMapAfterAnyHistory) {
  std::minstd_rand random(7);
  Numbers numbers;
  std::map<std::string, int> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = Numbers::KeyOf("ns", "pod-" + std::to_string(random() % 700));
    if (random() % 3 == 0) {
      numbers = numbers.Without(key);
      model.erase(key);
    } else {
      numbers = numbers.With(Entry(key, step));
      model[key] = step;
    }
  }
  EXPECT_EQ(Content(numbers), model);
  EXPECT_EQ(numbers.size(), model.size());
  for (const auto& [key, value] : model) {
    const int* found = numbers.Find(key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(*found, value) << key;
  }
}

}  // namespace
}  // namespace mindgate::kube
