#include <gtest/gtest.h>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelEncoders, WriteAndReadBase64) {
  testing::ExpectValues({
      {"['', 'a', 'ab', 'abc', 'abcd'].map(t, base64.encode(bytes(t)))",
       "[\"\", \"YQ==\", \"YWI=\", \"YWJj\", \"YWJjZA==\"]"},
      {"['', 'YQ==', 'YQ', 'YWI=', 'YWJj', '/+8='].map(t, base64.decode(t))",
       "[b\"\", b\"a\", b\"a\", b\"ab\", b\"abc\", b\"\\xff\\xef\"]"},
  });
  testing::ExpectFailures({
      {"base64.decode('Y')", "the text is not base64"},
      {"base64.decode('YQ=')", "the text is not base64"},
      {"base64.decode('Y_Q=')", "the text is not base64"},
      {"base64.decode('=')", "the text is not base64"},
  });
  EXPECT_TRUE(cel::IsBase64("YQ=="));
  EXPECT_FALSE(cel::IsBase64("YQ"));
}

}  // namespace
}  // namespace mindgate
