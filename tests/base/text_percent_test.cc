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

TEST(Percent, WhatAUrlGivesAMeaningIsEncoded) {
  EXPECT_EQ(PercentEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncoded("a/b c%?\xC3\xA9"), "a%2Fb%20c%25%3F%C3%A9");
  EXPECT_EQ(PercentEncoded("a/b:c", "/"), "a/b%3Ac");
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(PercentDecoded(PercentEncoded(bytes)), bytes);
}

}  // namespace
}  // namespace mindgate
