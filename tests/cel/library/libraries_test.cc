#include "cel/library/libraries.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cel/function.h"

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

}  // namespace
}  // namespace mindgate
