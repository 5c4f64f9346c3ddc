#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace mindgate {
namespace {

TEST(NaturalLess, NumbersCountAsNumbers) {
  const std::vector<std::string> sorted = {"",       "Ascend910-2", "Ascend910-10", "npu",
                                           "npu-2",  "npu-02",      "npu-10",       "npu-10a",
                                           "npu-a2", "rack2-npu-9", "rack10-npu-1"};
  std::vector<std::string> names = sorted;
  std::ranges::reverse(names);
  std::sort(names.begin(), names.end(), NaturalOrder());
  // Of "2" and "02" the order is that of their bytes.
  std::vector<std::string> want = sorted;
  std::swap(want[4], want[5]);
  EXPECT_EQ(names, want);
}

std::string AnyName() {
  return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("019a-")));
}

RC_GTEST_PROP(NaturalLess, IsAStrictOrder, ()) {
  const std::string a = AnyName();
  const std::string b = AnyName();
  const std::string c = AnyName();
  RC_ASSERT(!NaturalLess(a, a));
  if (a != b) RC_ASSERT(NaturalLess(a, b) != NaturalLess(b, a));
  if (NaturalLess(a, b) && NaturalLess(b, c)) RC_ASSERT(NaturalLess(a, c));
}

}  // namespace
}  // namespace mindgate
