#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/answers.h"
#include "http/request.h"
#include "http/response.h"

namespace mindgate::http {
namespace {

TEST(Refusal, EachHasItsExactAnswer) {
  struct Case {
    Refusal refusal;
    std::string status;
    std::string header;  // besides Content-Type, Content-Length and Connection
    std::string body;
  };
  const std::vector<Case> cases = {
      {Refusal::kRequestLine, "400 Bad Request", "",
       "malformed request line: want METHOD /path HTTP/1.1\n"},
      {Refusal::kVersion, "505 HTTP Version Not Supported", "", "only HTTP/1.1 is supported\n"},
      {Refusal::kNotPost, "405 Method Not Allowed", "Allow: POST",
       "method not allowed: send POST\n"},
      {Refusal::kNotGet, "405 Method Not Allowed", "Allow: GET, HEAD",
       "method not allowed: send GET\n"},
      {Refusal::kTargetTooLong, "414 URI Too Long", "",
       "request target too long: at most 2048 bytes\n"},
      {Refusal::kLineEnding, "400 Bad Request", "", "every line of the head must end in CR LF\n"},
      {Refusal::kControlByte, "400 Bad Request", "", "control byte in a header\n"},
      {Refusal::kHeaderName, "400 Bad Request", "",
       "malformed header: want a token followed at once by a colon\n"},
      {Refusal::kFoldedHeader, "400 Bad Request", "",
       "a header must not continue on the next line\n"},
      {Refusal::kTooManyHeaders, "431 Request Header Fields Too Large", "",
       "too many headers: at most 100\n"},
      {Refusal::kHeadTooLarge, "431 Request Header Fields Too Large", "",
       "request head too large: at most 16384 bytes\n"},
      {Refusal::kHost, "400 Bad Request", "", "want exactly one Host header\n"},
      {Refusal::kContentLength, "400 Bad Request", "",
       "want exactly one Content-Length, a decimal number\n"},
      {Refusal::kNoContentLength, "411 Length Required", "", "Content-Length is required\n"},
      {Refusal::kBodyTooLarge, "413 Payload Too Large", "",
       "request body too large: at most 7340032 bytes\n"},
      {Refusal::kLengthAndCoding, "400 Bad Request", "",
       "Content-Length and Transfer-Encoding exclude each other\n"},
      {Refusal::kTransferEncoding, "501 Not Implemented", "",
       "Transfer-Encoding is not supported: send Content-Length\n"},
      {Refusal::kContentEncoding, "415 Unsupported Media Type", "Accept-Encoding: identity",
       "Content-Encoding is not supported: send plain JSON\n"},
      {Refusal::kContentType, "415 Unsupported Media Type", "",
       "Content-Type must be application/json, with charset utf-8 if any\n"},
      {Refusal::kExpectation, "417 Expectation Failed", "",
       "the only expectation understood is 100-continue\n"},
      {Refusal::kUnexpectedBody, "400 Bad Request", "", "a request here must not have a body\n"},
      {Refusal::kTimeout, "408 Request Timeout", "", "the request did not arrive in time\n"},
      {Refusal::kNoMemory, "503 Service Unavailable", "Retry-After: 1",
       "too many bytes in flight, try again\n"},
      {Refusal::kTooLate, "503 Service Unavailable", "Retry-After: 1",
       "the caller's timeout left no room for a decision, try again\n"},
      {Refusal::kNotFound, "404 Not Found", "", "no such path\n"},
      {Refusal::kInternal, "500 Internal Server Error", "",
       "internal error, see the log of mindgate\n"},
  };
  ASSERT_EQ(cases.size(), kRefusalCount);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    EXPECT_EQ(c.refusal, static_cast<Refusal>(i));
    for (const bool close : {false, true}) {
      EXPECT_EQ(testing::RefusalAnswer(c.refusal, close),
                testing::TextAnswer(c.status, c.body, c.header, close));
    }
  }
}

TEST(Refusal, TheTableIsWhole) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < kRefusalCount; ++i) {
    const RefusalInfo& info = InfoOf(static_cast<Refusal>(i));
    EXPECT_NE(ReasonPhrase(info.status), "Error") << info.name;
    // Without an integer Retry-After the API server does not repeat a call.
    EXPECT_EQ(info.status == 503, info.header.starts_with("Retry-After: ")) << info.name;
    EXPECT_THAT(names, ::testing::Not(::testing::Contains(info.name)));
    EXPECT_THAT(texts, ::testing::Not(::testing::Contains(info.text)));
    names.push_back(info.name);
    texts.push_back(info.text);
  }
  const FramingLimits limits;
  EXPECT_EQ(limits.head_bytes, 16384);
  EXPECT_EQ(limits.headers, 100);
  EXPECT_EQ(limits.target_bytes, 2048);
  EXPECT_EQ(limits.body_bytes, 7340032) << "the refusals name these numbers";
}

}  // namespace
}  // namespace mindgate::http
