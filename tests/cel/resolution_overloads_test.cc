#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "cel/context.h"
#include "cel/resolution.h"
#include "cel/type_system.h"
#include "json/arena.h"

namespace mindgate {
namespace {

class CelOverloads : public ::testing::Test {
 protected:
  // The type of a call with arguments of these types, and how many overloads it may mean.
  std::string Found(std::string_view name, bool is_member, std::vector<std::string_view> types) {
    std::vector<cel::Node> args(types.size());
    std::vector<cel::Node*> row;
    for (size_t i = 0; i < types.size(); ++i) {
      args[i].type = types_.Parse(types[i]);
      row.push_back(&args[i]);
    }
    cel::Node call;
    call.name = name;
    call.is_member = is_member;
    call.args = row;
    const cel::Type* type = finder_.Find(call, names_.Overloads(name));
    if (type == nullptr) return "none";
    return cel::TextOf(*unifier_.Apply(type)) + " " + std::to_string(call.candidates.size());
  }

  json::Arena arena_{1024};
  const cel::Environment environment_;
  cel::Types types_{arena_};
  cel::Unifier unifier_{types_};
  cel::Names names_{environment_, arena_};
  cel::OverloadFinder finder_{types_, unifier_, arena_};
};

TEST_F(CelOverloads, AreFoundByTypes) {
  EXPECT_EQ(Found("_+_", false, {"int", "int"}), "int 1");
  EXPECT_EQ(Found("_+_", false, {"int", "dyn"}), "int 1");
  EXPECT_EQ(Found("_+_", false, {"dyn", "dyn"}), "dyn 9");
  EXPECT_EQ(Found("_+_", false, {"list(int)", "list(int)"}), "list(int) 1");
  EXPECT_EQ(Found("_+_", false, {"int", "string"}), "none");
  EXPECT_EQ(Found("size", true, {"string"}), "int 1");
  EXPECT_EQ(Found("size", false, {"dyn"}), "int 4");
  EXPECT_EQ(Found("size", false, {"int"}), "none");
  EXPECT_EQ(Found("startsWith", false, {"string", "string"}), "none");  // a member
  EXPECT_EQ(Found("orValue", true, {"optional_type(int)", "int"}), "int 1");
  EXPECT_EQ(Found("indexOf", true, {"dyn", "dyn"}), "int 2");
}

TEST_F(CelOverloads, AreShownWhenNoneFits) {
  cel::Node call;
  call.name = "startsWith";
  call.is_member = true;
  const std::array<std::string, 2> types{"string", "int"};
  EXPECT_EQ(cel::NoSuchOverload(call, types), "no such overload: string.startsWith(int)");
  EXPECT_EQ(cel::UsagesOf(names_.Overloads("startsWith")), "there is string.startsWith(string)");
  EXPECT_EQ(
      cel::UsagesOf(names_.Overloads("_<_")),
      "there is int < int, uint < uint, double < double, int < uint, int < double, uint < int "
      "and 8 more");
}

}  // namespace
}  // namespace mindgate
