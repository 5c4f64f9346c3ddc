#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cel/library/libraries.h"
#include "cel/type_system.h"
#include "json/arena.h"

namespace mindgate {
namespace {

TEST(CelSignature, ReadsSignatures) {
  json::Arena arena(1024);
  cel::Types types(arena);
  uint32_t next = 0;
  const auto signature = cel::ParseSignature("map(K, V).(K, list(V)): V", types, next);
  ASSERT_TRUE(signature);
  EXPECT_TRUE(signature->is_member);
  EXPECT_EQ(signature->size, 3U);
  EXPECT_EQ(cel::TextOf(*signature->arguments[0]), "map(T0, T1)");
  EXPECT_EQ(cel::TextOf(*signature->arguments[2]), "list(T1)");
  EXPECT_EQ(cel::TextOf(*signature->result), "T1");
  for (const std::string_view text :
       {"", "int", "(int)", "(int: int", "(a b): int", "(int, int, int, int, int): int"}) {
    EXPECT_FALSE(cel::ParseSignature(text, types, next)) << text;
  }
}

// A signature that cannot be read would be a function without a caller.
TEST(CelSignature, ReadsThoseOfAllLibraries) {
  json::Arena arena(1024);
  cel::Types types(arena);
  uint32_t next = 0;
  size_t count = 0;
  for (const auto& library : cel::Libraries()) {
    for (const cel::Overload& overload : library) {
      EXPECT_TRUE(cel::ParseSignature(overload.signature, types, next)) << overload.name;
      EXPECT_NE(overload.function, nullptr) << overload.name;
      ++count;
    }
  }
  EXPECT_GT(count, 300U);
}

TEST(CelSignature, WritesCalls) {
  EXPECT_EQ(cel::UsageOf({"contains", "string.(string): bool", nullptr}),
            "string.contains(string)");
  EXPECT_EQ(cel::UsageOf({"_+_", "(int, int): int", nullptr}), "int + int");
  EXPECT_EQ(cel::UsageOf({"!_", "(bool): bool", nullptr}), "!bool");
  EXPECT_EQ(cel::UsageOf({"@in", "(T, map(T, U)): bool", nullptr}), "T in map(T, U)");
  EXPECT_EQ(cel::UsageOf({"math.abs", "(int): int", nullptr}), "math.abs(int)");
  EXPECT_EQ(cel::SignOf("_<=_"), "<=");
  EXPECT_EQ(cel::ShapeOf("string.(string, int): bool").size, 3U);
}

}  // namespace
}  // namespace mindgate
