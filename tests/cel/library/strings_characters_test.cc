#include <gtest/gtest.h>

#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelCharacters, AreCounted) {
  const std::string_view text = "a\xC3\xA9\xF0\x9F\x98\x80z";
  EXPECT_EQ(cel::CountCharacters(text), 4U);
  EXPECT_EQ(cel::CountCharacters("a\xFF\xFE"), 3U);
  EXPECT_EQ(cel::OffsetOf(text, 0), 0U);
  EXPECT_EQ(cel::OffsetOf(text, 2), 3U);
  EXPECT_EQ(cel::OffsetOf(text, 4), text.size());
  EXPECT_EQ(cel::OffsetOf(text, 5), std::nullopt);
  EXPECT_EQ(cel::LengthOfCharacter("\xC3\xA9"
                                   "a"),
            2U);
}

}  // namespace
}  // namespace mindgate
