#include "cel/value.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>

#include "cel/evaluating.h"
#include "json/decode.h"

namespace mindgate {
namespace {

using cel::Entry;
using cel::Value;

TEST(CelValue, ReadsJsonWhereItStands) {
  const auto document = json::Document::Decode(
      R"({"a": [1, 2.5, "x", null, true], "b": {"c": -3}, "big": 18446744073709551615})");
  ASSERT_TRUE(document);
  const Value value = Value::Of(document->root());
  EXPECT_EQ(testing::Written(value),
            "{\"a\": [1, double 2.5, \"x\", null, true], \"b\": {\"c\": -3}, \"big\": double "
            "1.8446744073709552e+19}");
  const auto list = value.Lookup("a");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->At(2).text().data(), document->root().Lookup("a")->items()[2].text().data());
  EXPECT_FALSE(value.Lookup("d"));
  EXPECT_FALSE(value.Lookup(Value::OfInt(1)));
}

TEST(CelValue, FindsKeysOfAllKinds) {
  std::array<Entry, 5> entries{{{Value::OfString("b"), Value::OfInt(1)},
                                {Value::OfUint(7), Value::OfInt(2)},
                                {Value::OfBool(true), Value::OfInt(3)},
                                {Value::OfString("a"), Value::OfInt(4)},
                                {Value::OfInt(-2), Value::OfInt(5)}}};
  EXPECT_FALSE(cel::SortEntries(entries));
  const Value map = Value::OfEntries(entries);
  EXPECT_EQ(testing::Written(map), "{true: 3, -2: 5, 7u: 2, \"a\": 4, \"b\": 1}");
  EXPECT_EQ(testing::Written(*map.Lookup(Value::OfInt(7))), "2");
  EXPECT_EQ(testing::Written(*map.Lookup(Value::OfDouble(7))), "2");
  EXPECT_EQ(testing::Written(*map.Lookup("b")), "1");
  EXPECT_FALSE(map.Lookup(Value::OfDouble(7.5)));
  EXPECT_FALSE(map.Lookup(Value::OfDouble(1e300)));
  EXPECT_FALSE(map.Lookup(Value::OfDouble(NAN)));
  EXPECT_FALSE(map.Lookup(Value()));

  entries[0].key = Value::OfInt(7);
  entries[1].key = Value::OfUint(7);
  EXPECT_EQ(cel::SortEntries(entries)->as_double(), 7);
}

TEST(CelValue, ComparesNumbersOfAllKinds) {
  const struct {
    Value a;
    Value b;
    std::optional<int> want;
  } rows[] = {
      {Value::OfInt(-1), Value::OfUint(UINT64_MAX), -1},
      {Value::OfUint(UINT64_MAX), Value::OfInt(INT64_MAX), 1},
      {Value::OfInt(1), Value::OfDouble(1), 0},
      {Value::OfUint(2), Value::OfDouble(1.5), 1},
      {Value::OfDouble(NAN), Value::OfInt(1), std::nullopt},
      {Value::OfString("a"), Value::OfString("b"), -1},
      {Value::OfString("a"), Value::OfBytes("a"), std::nullopt},
      {Value::OfBool(false), Value::OfBool(true), -1},
      {Value::OfTimestamp(1, 5), Value::OfTimestamp(1, 4), 1},
      {Value::OfDuration(1), Value::OfDuration(1), 0},
      {Value(), Value(), std::nullopt},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(cel::Compare(row.a, row.b), row.want)
        << testing::Written(row.a) << " " << testing::Written(row.b);
  }
}

TEST(CelValue, HasANameForEachKind) {
  EXPECT_EQ(cel::NameOf(cel::Kind::kTimestamp), "google.protobuf.Timestamp");
  EXPECT_EQ(cel::NameOf(cel::Kind::kQuantity), "kubernetes.Quantity");
  EXPECT_EQ(cel::NameOf(cel::Kind::kNull), "null_type");
}

}  // namespace
}  // namespace mindgate
