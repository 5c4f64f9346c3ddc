#include <gtest/gtest.h>

#include <string>

#include "cel/type_system.h"
#include "json/arena.h"

namespace mindgate {
namespace {

TEST(CelTypes, ReadsWhatItWrites) {
  json::Arena arena(1024);
  cel::Types types(arena);
  for (const std::string_view text :
       {"int", "dyn", "list(int)", "map(string, list(dyn))", "optional_type(timestamp)", "duration",
        "kubernetes.Quantity", "type(int)"}) {
    const cel::Type* type = types.Parse(text);
    ASSERT_NE(type, nullptr) << text;
    EXPECT_EQ(cel::TextOf(*type), text);
  }
  EXPECT_EQ(cel::TextOf(*types.Parse("list")), "list(dyn)");
  EXPECT_EQ(cel::TextOf(*types.Parse("map")), "map(dyn, dyn)");
  for (const std::string_view text : {"", "list(", "list(int", "map(a,)", "int)", "a b", "(int)"}) {
    EXPECT_EQ(types.Parse(text), nullptr) << text;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "list(";
  EXPECT_EQ(types.Parse(deep), nullptr);
}

TEST(CelTypes, NumbersTheVariablesOfASignature) {
  json::Arena arena(1024);
  cel::Types types(arena);
  cel::Letters letters;
  uint32_t next = 7;
  EXPECT_EQ(cel::TextOf(*types.Parse("map(K, list(V))", &letters, &next)), "map(T7, list(T8))");
  EXPECT_EQ(cel::TextOf(*types.Parse("V", &letters, &next)), "T8");
  EXPECT_EQ(next, 9U);
}

TEST(CelTypes, KnowsTheKindOfValues) {
  json::Arena arena(1024);
  cel::Types types(arena);
  EXPECT_EQ(cel::KindOf(*types.Parse("timestamp")), cel::Kind::kTimestamp);
  EXPECT_EQ(cel::KindOf(*types.Parse("list(int)")), cel::Kind::kList);
  EXPECT_EQ(cel::KindOf(cel::kDyn), std::nullopt);
  EXPECT_EQ(cel::KindOf(*types.Variable(0)), std::nullopt);
  EXPECT_EQ(cel::TextOf(cel::TypeOfScalar(cel::Kind::kBytes)), "bytes");
}

}  // namespace
}  // namespace mindgate
