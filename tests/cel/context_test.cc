#include "cel/context.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cel/evaluating.h"
#include "cel/value.h"
#include "json/arena.h"

namespace mindgate {
namespace {

using cel::Value;

class CelContext : public ::testing::Test {
 protected:
  json::Arena arena_{1024};
  cel::Patterns patterns_;
  cel::Limits limits_{.cost = 100, .memory = 4096};
  cel::Context context_{arena_, limits_, patterns_};
};

TEST_F(CelContext, StopsAtTheLastStep) {
  EXPECT_TRUE(context_.Charge(60));
  EXPECT_TRUE(context_.ChargeText(640));
  EXPECT_EQ(context_.spent(), 100U);
  EXPECT_FALSE(context_.stopped());
  EXPECT_FALSE(context_.Charge(1));
  EXPECT_FALSE(context_.Charge(UINT64_MAX));
  EXPECT_TRUE(context_.stopped());
  const Value fault = context_.Stopped();
  EXPECT_EQ(fault.fault().message, "the expression takes more steps than it may");
  EXPECT_TRUE(fault.fault().beyond_limit);
}

TEST_F(CelContext, StopsAtTheLastByte) {
  EXPECT_NE(context_.Row<char>(4096), nullptr);
  EXPECT_EQ(context_.Row<char>(1), nullptr);
  EXPECT_EQ(context_.Row<Value>(SIZE_MAX), nullptr);
  EXPECT_EQ(context_.Stopped().fault().message,
            "the expression needs more memory than it may have");
}

TEST_F(CelContext, MakesTextsAndLists) {
  EXPECT_EQ(testing::Written(context_.Join({"a", "", "bc"})), "\"abc\"");
  EXPECT_EQ(context_.Fail({"no ", "key"}).fault().message, "no key");
  cel::TextBuilder text(context_);
  for (int i = 0; i < 50; ++i) text.Add("ab");
  EXPECT_EQ(text.Finish().text().size(), 100U);
  cel::ItemBuilder items(context_);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(items.Add(Value::OfInt(i)));
  EXPECT_EQ(items.Finish().At(19).integer(), 19);
}

TEST_F(CelContext, BuildersEndWithTheLimit) {
  cel::ItemBuilder items(context_);
  size_t added = 0;
  while (items.Add(Value())) ++added;
  EXPECT_LT(added, 4096 / sizeof(Value));
  EXPECT_TRUE(items.Finish().is_error());
  cel::TextBuilder text(context_);
  text.Add("a");
  EXPECT_TRUE(text.Finish().is_error());
}

TEST_F(CelContext, ComparesValuesAsEqualSignsDo) {
  const std::array items{Value::OfInt(1), Value::OfString("a")};
  const std::array others{Value::OfDouble(1), Value::OfString("a")};
  EXPECT_TRUE(context_.Equal(Value::OfItems(items), Value::OfItems(others)));
  EXPECT_FALSE(context_.Equal(Value::OfItems(items), Value::OfItems(std::span(items).first(1))));
  EXPECT_FALSE(context_.Equal(Value::OfInt(1), Value::OfString("1")));
  EXPECT_TRUE(context_.Equal(context_.Some(items[0]), context_.Some(others[0])));
  EXPECT_FALSE(context_.Equal(context_.Some(items[0]), cel::Context::None()));
  EXPECT_FALSE(context_.stopped());
  EXPECT_FALSE(context_.Charge(100));
  EXPECT_FALSE(context_.Equal(items[0], items[0]));  // stopped
}

TEST_F(CelContext, ComparesTextsForWhatTheyCost) {
  const std::string text(160, 'a');
  const std::array entries{cel::Entry{Value::OfString(text), Value::OfInt(1)}};
  EXPECT_EQ(context_.Order(Value::OfString(text), Value::OfString(text)), 0);
  EXPECT_EQ(context_.spent(), 10U);
  EXPECT_TRUE(context_.Lookup(Value::OfEntries(entries), Value::OfString(text)));
  EXPECT_EQ(context_.spent(), 20U);
}

TEST_F(CelContext, EndsWhereValuesAreTooDeep) {
  json::Arena arena(1024);
  const cel::Limits limits;
  cel::Context context(arena, limits, patterns_);
  std::vector<Value> nested(2000);
  for (size_t i = 1; i < nested.size(); ++i) nested[i] = Value::OfItems({&nested[i - 1], 1});
  EXPECT_TRUE(context.Equal(nested[500], nested[500]));
  EXPECT_FALSE(context.Equal(nested[1999], nested[1999]));
  EXPECT_EQ(context.Stopped().fault().message,
            "the expression compares values that are nested too deep");
}

}  // namespace
}  // namespace mindgate
