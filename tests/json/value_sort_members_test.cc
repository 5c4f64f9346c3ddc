#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mindgate::json {
namespace {

struct KeysCase {
  std::string_view name;
  std::string (*key)(size_t i);
};

constexpr KeysCase kKeysCases[] = {
    {"numbers", [](size_t i) { return std::to_string(i); }},
    {"a long common beginning",
     [](size_t i) { return std::string(200, 'k') + std::to_string(i) + "/x"; }},
    {"one is the beginning of the next", [](size_t i) { return std::string(i, 'a'); }},
    {"the same with NUL", [](size_t i) { return "a" + std::string(i, '\0'); }},
    {"few beginnings, long and different in each",
     [](size_t i) { return std::string(1 + i % 3 * 40, 'a') + "b" + std::to_string(i); }},
    {"one more letter differs in each round",
     [](size_t i) {
       return i < 8 ? std::string(4 * i, 'a') + "b" : std::string(40, 'a') + std::to_string(i);
     }},
    {"bytes above 0x7F",
     [](size_t i) { return std::string{static_cast<char>(i), static_cast<char>(i >> 8), '\x80'}; }},
};

TEST(SortMembers, OrdersRowsOfAnyWidthByKey) {
  for (const KeysCase& c : kKeysCases) {
    for (const size_t width : {1, 2, 16, 511, 512, 3000}) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < width; ++i) keys.push_back(c.key(i));
      std::shuffle(keys.begin(), keys.end(), std::mt19937(1));
      std::vector<Member> row;
      for (size_t i = 0; i < width; ++i) {
        row.push_back({keys[i], Value::OfInt(static_cast<int64_t>(i))});
      }
      EXPECT_TRUE(SortMembers(row)) << c.name << ", " << width;
      EXPECT_TRUE(std::is_sorted(row.begin(), row.end(),
                                 [](const Member& a, const Member& b) { return a.key < b.key; }))
          << c.name << ", " << width;
      for (const Member& member : row) {
        EXPECT_EQ(keys[static_cast<size_t>(*member.value.int64())], member.key) << c.name;
      }
    }
  }
}

TEST(SortMembers, FindsAKeyThatIsThereTwice) {
  for (const KeysCase& c : kKeysCases) {
    for (const size_t width : {2, 16, 512, 3000}) {
      std::vector<std::string> keys;
      for (size_t i = 1; i < width; ++i) keys.push_back(c.key(i));
      keys.push_back(keys[width / 3]);
      std::shuffle(keys.begin(), keys.end(), std::mt19937(1));
      std::vector<Member> row;
      for (const std::string& key : keys) row.push_back({key, Value()});
      EXPECT_FALSE(SortMembers(row)) << c.name << ", " << width;
    }
  }
}

}  // namespace
}  // namespace mindgate::json
