#include "cel/ast.h"

#include <gtest/gtest.h>

#include "cel/tree_text.h"
#include "cel/value.h"

namespace mindgate {
namespace {

TEST(CelAst, WritesLiterals) {
  const struct {
    cel::Value value;
    std::string_view want;
  } rows[] = {
      {cel::Value(), "null"},
      {cel::Value::OfBool(false), "false"},
      {cel::Value::OfInt(-3), "-3"},
      {cel::Value::OfUint(3), "3u"},
      {cel::Value::OfString("a\n"), "\"a\\n\""},
      {cel::Value::OfBytes("a"), "b\"a\""},
  };
  for (const auto& row : rows) {
    cel::Node node;
    node.value = row.value;
    EXPECT_EQ(testing::Dump(node), row.want);
  }
}

TEST(CelAst, KnowsWhatLoops) {
  EXPECT_TRUE(testing::IsComprehension(cel::NodeKind::kFilter));
  EXPECT_FALSE(testing::IsComprehension(cel::NodeKind::kBind));
}

}  // namespace
}  // namespace mindgate
