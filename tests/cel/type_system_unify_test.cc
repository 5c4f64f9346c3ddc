#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cel/type_system.h"
#include "json/arena.h"

namespace mindgate {
namespace {

class CelUnify : public ::testing::Test {
 protected:
  // Single letters are variables, the same in every call.
  const cel::Type* Type(std::string_view text) {
    return types_.Parse(text, &letters_, &unifier_.next());
  }
  std::string Joined(std::string_view a, std::string_view b) {
    return cel::TextOf(*unifier_.Apply(unifier_.Join(Type(a), Type(b))));
  }

  json::Arena arena_{1024};
  cel::Types types_{arena_};
  cel::Unifier unifier_{types_};
  cel::Letters letters_;
};

TEST_F(CelUnify, AssignsWhatFits) {
  const struct {
    std::string_view to;
    std::string_view from;
    bool want;
  } rows[] = {
      {"int", "int", true},
      {"int", "uint", false},
      {"dyn", "int", true},
      {"int", "dyn", true},
      {"list(int)", "list(dyn)", true},
      {"list(int)", "list(string)", false},
      {"type(int)", "type(string)", true},
      {"timestamp", "null_type", true},
      {"int", "null_type", false},
      {"map(string, int)", "list(int)", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(unifier_.Assignable(Type(row.to), Type(row.from)), row.want) << row.to << row.from;
  }
}

TEST_F(CelUnify, LearnsWhatVariablesStandFor) {
  EXPECT_TRUE(unifier_.Assignable(Type("list(A)"), Type("list(int)")));
  EXPECT_EQ(cel::TextOf(*unifier_.Apply(Type("map(A, B)"))), "map(int, dyn)");
  EXPECT_FALSE(unifier_.Assignable(Type("A"), Type("string")));
  const size_t mark = unifier_.Mark();
  EXPECT_TRUE(unifier_.Assignable(Type("B"), Type("string")));
  unifier_.Undo(mark);
  EXPECT_TRUE(unifier_.Assignable(Type("B"), Type("int")));
  // What would be a part of itself is refused.
  EXPECT_FALSE(unifier_.Assignable(Type("C"), Type("list(C)")));
}

TEST_F(CelUnify, JoinsTypes) {
  EXPECT_EQ(Joined("int", "int"), "int");
  EXPECT_EQ(Joined("int", "string"), "dyn");
  EXPECT_EQ(Joined("dyn", "int"), "dyn");
  EXPECT_EQ(Joined("list(X)", "list(int)"), "list(int)");
  EXPECT_EQ(Joined("optional_type(int)", "null_type"), "optional_type(int)");
}

}  // namespace
}  // namespace mindgate
