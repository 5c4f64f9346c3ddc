#include "cel/library/libraries.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cel/context.h"
#include "cel/type_system.h"
#include "support/golden.h"

namespace mindgate {
namespace {

TEST(CelLibraries, HaveEachSignatureOnce) {
  std::set<std::string> seen;
  for (const auto& library : cel::Libraries()) {
    EXPECT_FALSE(library.empty());
    for (const cel::Overload& overload : library) {
      const std::string whole = std::string(overload.name) + " " + std::string(overload.signature);
      EXPECT_TRUE(seen.insert(whole).second) << whole;
    }
  }
}

// docs/cel.md names what can be called.
TEST(CelLibraries, AreDocumented) {
  const std::string page = testing::ReadSource("docs/cel.md");
  for (const auto& library : cel::Libraries()) {
    for (const cel::Overload& overload : library) {
      if (overload.name != cel::SignOf(overload.name)) continue;  // an operator
      EXPECT_NE(page.find("`" + std::string(overload.name) + "`"), std::string::npos)
          << overload.name;
    }
  }
}

}  // namespace
}  // namespace mindgate
