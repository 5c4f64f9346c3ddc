#include "webhook/http_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "webhook/client.h"
#include "webhook/raw_requests.h"

namespace mindgate::webhook {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Post;

Request Framed(std::string_view bytes, Port port = Port::kAdmission) {
  Framer framer(port);
  framer.Consume(bytes);
  EXPECT_EQ(framer.state(), Framer::State::kComplete);
  return framer.Take();
}

struct Layer {
  Layer()
      : http([this](std::string_view what) { bugs.emplace_back(what); }, [this] { ++not_found; }) {
    http.Post("/echo", [](const HttpRequest& request) {
      return HttpResponse{.body = std::string(request.path) + "|" +
                                  std::string(request.traceparent) + "|" +
                                  (request.verbose ? "verbose|" : "|") + std::string(request.body)};
    });
    http.Get("/livez", [](const HttpRequest&) {
      return HttpResponse{.content_type = "text/plain", .body = "ok\n"};
    });
    http.Post("/throw", [](const HttpRequest&) -> HttpResponse {
      throw std::runtime_error("secret detail");
    });
    http.Post("/throw-int", [](const HttpRequest&) -> HttpResponse { throw 42; });
    http.Post("/busy", [](const HttpRequest&) { return RefusalResponse(Refusal::kQueueFull); });
  }

  std::string Serve(const Request& request, bool close = false) {
    const Answer answer = http.Serve(request, close);
    EXPECT_EQ(answer.close, close);
    return answer.bytes;
  }

  std::vector<std::string> bugs;
  int not_found = 0;
  HttpLayer http;
};

TEST(HttpLayer, WholeAnswers) {
  Layer layer;
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(
      layer.Serve(Framed(Post("{}", "traceparent: " + trace + "\r\n", "/echo?verbose&timeout=5s"))),
      "HTTP/1.1 200 OK\r\nContent-Length: 72\r\nContent-Type: application/json\r\n\r\n/echo|" +
          trace + "|verbose|{}");
  EXPECT_EQ(layer.Serve(Framed("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", Port::kProbe), true),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\nContent-Type: "
            "text/plain\r\n\r\nok\n");
  EXPECT_EQ(layer.Serve(Framed("HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n", Port::kProbe)),
            "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Length: 3\r\nContent-Type: "
            "text/plain\r\n\r\n");
  EXPECT_EQ(layer.Serve(Framed(Post("{}", "", "/nowhere"))),
            "HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\nContent-Type: text/plain; "
            "charset=utf-8\r\n\r\n"
            "no such path\n");
  EXPECT_EQ(layer.Serve(Framed(Post("{}", "", "/busy"))),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 36\r\nContent-Type: text/plain; "
            "charset=utf-8\r\n"
            "Retry-After: 1\r\n\r\ntoo many reviews waiting, try again\n");
}

TEST(HttpLayer, ExceptionsStayInside) {
  Layer layer;
  for (const char* path : {"/throw", "/throw-int"}) {
    const std::string answer = layer.Serve(Framed(Post("{}", "", path)));
    EXPECT_EQ(
        answer,
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 40\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n\r\ninternal error, see the log of mindgate\n")
        << path;
  }
  EXPECT_THAT(layer.bugs, ElementsAre("secret detail", "an exception of unknown type"));
}

TEST(HttpLayer, AnswersAreNeverCompressedAndRangesIgnored) {
  Layer layer;
  const std::string body(2000, 'x');
  const std::string answer =
      layer.Serve(Framed(Post(body, "Range: bytes=0-0\r\nAccept-Encoding: br\r\n", "/echo")));
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer, HasSubstr(body));
  EXPECT_THAT(answer, Not(HasSubstr("Content-Encoding")));
}

// Found by the fuzzer: the library takes a second question mark for a malformed request line.
TEST(HttpLayer, QuestionMarksInTheQueryAreNoBug) {
  Layer layer;
  for (const char* path : {"/echo?a?b", "/echo??", "/echo?verbose&a=??"}) {
    EXPECT_EQ(testing::StatusOf(layer.Serve(Framed(Post("{}", "", path)))), 200) << path;
  }
  EXPECT_TRUE(layer.bugs.empty());
}

TEST(HttpLayer, LongAndEncodedPathsAreJustNotFound) {
  Layer layer;
  for (const std::string& path :
       {"/" + std::string(2040, 'a'), std::string("/%65cho%00"), std::string("/echo%0d%0aX:y"),
        std::string("/../echo"), std::string("/echo/")}) {
    EXPECT_EQ(testing::StatusOf(layer.Serve(Framed(Post("{}", "", path)))), 404) << path;
  }
  EXPECT_EQ(layer.not_found, 5);
  EXPECT_EQ(testing::StatusOf(layer.Serve(Framed(Post("{}", "", "/%65cho")))), 200);
  EXPECT_TRUE(layer.bugs.empty());
}

TEST(HttpLayer, BodyOfSevenMebibytes) {
  Layer layer;
  const std::string body(7 * 1024 * 1024, 'x');
  EXPECT_THAT(layer.Serve(Framed(Post(body, "", "/echo"))).size(), ::testing::Gt(body.size()));
}

}  // namespace
}  // namespace mindgate::webhook
