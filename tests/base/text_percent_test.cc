#include <gtest/gtest.h>

#include "base/text.h"

namespace mindgate {
namespace {

TEST(Percent, EscapesAreDecodedAndWhatIsNoneStays) {
  EXPECT_EQ(PercentDecoded("/mut%61te"), "/mutate");
  EXPECT_EQ(PercentDecoded("a%2Fb%2fc"), "a/b/c");
  EXPECT_EQ(PercentDecoded("100%"), "100%");
  EXPECT_EQ(PercentDecoded("%4"), "%4");
  EXPECT_EQ(PercentDecoded("%zz%41"), "%zzA");
  EXPECT_EQ(PercentDecoded("%25%34%31"), "%41");  // once, not until nothing is left
  EXPECT_EQ(PercentDecoded("a+b"), "a+b");
  EXPECT_EQ(PercentDecoded(""), "");
}

}  // namespace
}  // namespace mindgate
