#include "schemas/names.h"

#include <gtest/gtest.h>

#include <string_view>

// What MindCluster reads of what users write.
namespace mindgate::schemas {
namespace {

TEST(KeyFacts, AreInOrderEachOnceAndWhole) {
  std::string_view before;
  for (const KeyFact& fact : KeyFacts()) {
    EXPECT_LT(before, fact.key);
    before = fact.key;
    for (const std::string_view text : {fact.place, fact.values, fact.reader, fact.effect}) {
      EXPECT_FALSE(text.empty()) << fact.key;
      EXPECT_EQ(text.find('|'), std::string_view::npos) << fact.key << " breaks the table";
    }
    EXPECT_FALSE(fact.effect.ends_with('.')) << fact.key;
  }
}

TEST(KeyFacts, AreFoundByTheirWholeKey) {
  ASSERT_NE(KeyNamed(kSpBlock), nullptr);
  EXPECT_EQ(KeyNamed(kSpBlock)->where, KeyWhere::kAnnotation);
  EXPECT_EQ(KeyNamed(kFaultScheduling)->where, KeyWhere::kLabel);
  for (const char* key : {"", "sp-bloc", "SP-BLOCK", "huawei.com/sp-block"}) {
    EXPECT_EQ(KeyNamed(key), nullptr) << key;
  }
}

}  // namespace
}  // namespace mindgate::schemas
