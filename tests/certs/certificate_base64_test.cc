#include <gtest/gtest.h>

#include "certs/certificate.h"

namespace mindgate::certs {
namespace {

// The test vectors of RFC 4648, section 10, and bytes that use the last two letters.
TEST(Base64, TheVectorsOfTheRfc) {
  const std::pair<std::string, std::string> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {std::string("\0\xff\xfe", 3), "AP/+"},
  };
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes) << text;
  }
}

TEST(Base64, LineEndsAreSkippedAndNothingElse) {
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYmFy\n"), "foobar");
  for (const char* text : {"Zg", "Zg=", "Zg===", "====", "Z===", "Zm9v YmFy", " Zm9v",
                           "Zm9v-A==", "Zm_v", "Zg==Zg==", "Zm9\x80"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mindgate::certs
