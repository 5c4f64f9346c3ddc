#include "http/response.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/answers.h"

namespace mindgate::http {
namespace {

TEST(Response, WholeBytes) {
  struct Case {
    const char* name;
    Response response;
    bool head_only;
    std::string want;
  };
  const std::string text = "Content-Type: text/plain; charset=utf-8\r\n";
  const std::vector<Case> cases = {
      {"a review", Response{.body = "{}"}, false,
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
      {"nothing to say", Response{}, false,
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n"},
      {"text", PlainText(200, "ok\n"), false,
       "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 3\r\n\r\nok\n"},
      {"to a HEAD", PlainText(200, "ok\n"), true,
       "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 3\r\n\r\n"},
      {"the last of its connection", Response{.body = "{}", .close = true}, false,
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
       "Connection: close\r\n\r\n{}"},
      {"to be repeated",
       Response{.status = 503,
                .content_type = kTextType,
                .body = "busy\n",
                .header = "Retry-After: 1",
                .close = true},
       false,
       "HTTP/1.1 503 Service Unavailable\r\n" + text +
           "Content-Length: 5\r\nRetry-After: 1\r\nConnection: close\r\n\r\nbusy\n"},
      {"the longest reason", PlainText(431, ""), false,
       "HTTP/1.1 431 Request Header Fields Too Large\r\n" + text + "Content-Length: 0\r\n\r\n"},
      {"a status that nobody knows", PlainText(599, ""), false,
       "HTTP/1.1 599 Error\r\n" + text + "Content-Length: 0\r\n\r\n"},
      {"a body that looks like a head", PlainText(200, "\r\n\r\nHTTP/1.1 200 OK\r\n"), false,
       "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 21\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\n"},
      {"a body with a zero byte", PlainText(200, std::string("a\0b", 3)), false,
       "HTTP/1.1 200 OK\r\n" + text + "Content-Length: 3\r\n\r\n" + std::string("a\0b", 3)},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(testing::Formatted(c.response, c.head_only), c.want) << c.name;
  }
}

TEST(Response, FollowsWhatIsToBeWrittenAlready) {
  std::string out = "HTTP/1.1 100 Continue\r\n\r\n";
  AppendResponse(PlainText(200, "1"), false, out);
  AppendResponse(PlainText(200, "2"), false, out);
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1\r\n\r\n";
  EXPECT_EQ(out, "HTTP/1.1 100 Continue\r\n\r\n" + head + "1" + head + "2");
}

TEST(Response, BodyOfSevenMebibytes) {
  const std::string body(7 * 1024 * 1024, 'x');
  const std::string bytes = testing::Formatted(Response{.body = body});
  EXPECT_EQ(bytes,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7340032\r\n\r\n" +
                body);
}

}  // namespace
}  // namespace mindgate::http
