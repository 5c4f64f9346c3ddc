#include <gtest/gtest.h>

#include "cel/context.h"
#include "cel/resolution.h"
#include "json/arena.h"

namespace mindgate {
namespace {

TEST(CelNames, AreLookedForInTheContainerFirst) {
  json::Arena arena(1024);
  cel::Environment environment;
  environment.variables = {{"x", "int"}, {"a.b.x", "int"}, {"a.y", "int"}};
  environment.functions = {{"a.f", "(int): int"}};
  environment.container = "a.b";
  cel::Names names(environment, arena);
  EXPECT_EQ(names.Variable("x"), 1U);
  EXPECT_EQ(names.Variable(".x"), 0U);
  EXPECT_EQ(names.Variable("y"), 2U);
  EXPECT_EQ(names.Variable("z"), std::nullopt);
  EXPECT_EQ(names.Overloads("f").size(), 1U);
  EXPECT_EQ(names.Overloads("g").size(), 0U);
  EXPECT_EQ(names.Overloads("startsWith").size(), 1U);
  EXPECT_EQ(names.TypeName("net.IP"), "net.IP");
  EXPECT_EQ(names.TypeName("dyn"), std::nullopt);
}

TEST(CelNames, FindWhatWasMeant) {
  json::Arena arena(1024);
  cel::Environment environment;
  environment.variables = {{"object"}, {"oldObject"}, {"variables.count"}};
  const cel::Names names(environment, arena);
  EXPECT_EQ(names.NearestVariable("oldobject.spec", {}), "did you mean oldObject?");
  EXPECT_EQ(names.NearestVariable("variables.cout", {}), "did you mean variables.count?");
  EXPECT_EQ(names.NearestVariable("elemnt", {"element"}), "did you mean element?");
  EXPECT_EQ(names.NearestVariable("strin", {}), "did you mean string?");
  EXPECT_EQ(names.NearestVariable("unlike", {}), "");
  EXPECT_EQ(names.NearestFunction("startswith"), "did you mean startsWith?");
  EXPECT_EQ(names.NearestFunction("exist"), "did you mean exists?");
}

}  // namespace
}  // namespace mindgate
