#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "http/answers.h"
#include "http/raw_requests.h"
#include "http/request.h"

namespace mindgate::http {
namespace {

using testing::Head;
using testing::Post;
using testing::RawRequest;
using testing::RawRequests;

// Feeds pieces of the given sizes, the last one repeated, and reports the outcome in the words of
// RawRequest::want.
std::string Outcome(Port port, std::string_view bytes, const std::vector<size_t>& sizes) {
  Framer framer(port);
  std::vector<std::string> words;
  size_t piece = 0;
  bool under_way = false;  // whether a request has begun and not ended
  while (!bytes.empty()) {
    std::string_view rest = bytes.substr(0, sizes[std::min(piece++, sizes.size() - 1)]);
    bytes.remove_prefix(rest.size());
    while (!rest.empty() || framer.state() == Framer::State::kComplete) {
      const size_t consumed = framer.Consume(rest);
      rest.remove_prefix(consumed);
      under_way = under_way || consumed > 0;
      if (framer.state() == Framer::State::kRefused) {
        words.push_back("!" + std::string(InfoOf(framer.refusal()).name));
        return Join(words, ", ");
      }
      if (framer.state() != Framer::State::kComplete) break;
      words.push_back(testing::Described(framer.Take()));
      under_way = false;
    }
  }
  if (under_way || words.empty()) words.push_back("...");
  return Join(words, ", ");
}

TEST(Framing, RawRequestsSentWhole) {
  for (const RawRequest& raw : RawRequests()) {
    EXPECT_EQ(Outcome(raw.port, raw.bytes, {raw.bytes.size() + 1}), raw.want) << raw.name;
  }
}

TEST(Framing, RawRequestsByteByByte) {
  for (const RawRequest& raw : RawRequests()) {
    EXPECT_EQ(Outcome(raw.port, raw.bytes, {1}), raw.want) << raw.name;
  }
}

TEST(Framing, RawRequestsCutAtEveryByte) {
  for (const RawRequest& raw : RawRequests()) {
    // The heads of 16 KiB differ only in filler: every seventh place will do there.
    const size_t step = raw.bytes.size() > 4096 ? 7 : 1;
    for (size_t cut = 1; cut < raw.bytes.size(); cut += step) {
      ASSERT_EQ(Outcome(raw.port, raw.bytes, {cut, raw.bytes.size()}), raw.want)
          << raw.name << ", cut at " << cut;
    }
  }
}

TEST(Framing, RawRequestsPipelinedAfterAGoodOne) {
  for (const RawRequest& raw : RawRequests()) {
    const bool probe = raw.port == Port::kGets;
    const std::string first = probe ? Head({"GET /livez HTTP/1.1", "Host: a"}) : Post("{}");
    const std::string word = probe ? "GET /livez|" : "POST /mutate?timeout=5s|{}";
    const std::string want = raw.bytes.empty() ? word : word + ", " + raw.want;
    EXPECT_EQ(Outcome(raw.port, first + raw.bytes, {first.size() + raw.bytes.size()}), want)
        << raw.name;
  }
}

TEST(Framing, HandlersGetNothingElseOfTheHead) {
  Framer framer(Port::kPosts);
  framer.Consume(Post("{}",
                      "Range: bytes=0-0\r\nREMOTE_ADDR: 6.6.6.6\r\nX-A: %0D%0AX: y\r\n"
                      "Expect: 100-continue\r\nConnection: keep-alive, Close\r\n"
                      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"));
  ASSERT_EQ(framer.state(), Framer::State::kComplete);
  const Request want = {
      .method = Method::kPost,
      .target = "/mutate?timeout=5s",
      .body = "{}",
      .traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      .close = true,
  };
  EXPECT_EQ(framer.Take(), want);
  EXPECT_EQ(framer.state(), Framer::State::kHead);
}

TEST(Request, PathAndQuery) {
  struct Case {
    std::string target;
    std::string path;
    std::string query;
  };
  const std::vector<Case> cases = {
      {"/", "/", ""},
      {"/readyz", "/readyz", ""},
      {"/readyz?", "/readyz", ""},
      {"/readyz?verbose", "/readyz", "verbose"},
      {"/mutate?timeout=5s&a=/b?c", "/mutate", "timeout=5s&a=/b?c"},
      {"/?/", "/", "/"},
  };
  for (const Case& c : cases) {
    Request request;
    request.target = c.target;
    EXPECT_EQ(request.path(), c.path) << c.target;
    EXPECT_EQ(request.query(), c.query) << c.target;
  }
}

TEST(Request, QueryValue) {
  struct Case {
    std::string query;
    std::optional<std::string> want;
  };
  const std::vector<Case> cases = {
      {"", std::nullopt},
      {"&", std::nullopt},
      {"key", ""},
      {"key=", ""},
      {"key=5s", "5s"},
      {"key=a=b?c", "a=b?c"},
      {"a&key=5s&b", "5s"},
      {"&&key=5s", "5s"},
      {"key=1&key=2", "1"},
      {"keys=5s", std::nullopt},
      {"a=key", std::nullopt},
      {"KEY=5s", std::nullopt},
      {"%6bey=5s", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(QueryValue(c.query, "key"), c.want) << c.query;
}

TEST(Framing, ContinueIsAwaitedFromTheHeadToTheFirstByteOfTheBody) {
  Framer framer(Port::kPosts);
  const std::string head =
      Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
            "Content-Length: 2", "Expect: 100-continue"});
  framer.Consume(std::string_view(head).substr(0, head.size() - 1));
  EXPECT_FALSE(framer.awaits_continue());
  framer.Consume("\n");
  EXPECT_TRUE(framer.awaits_continue());
  framer.Consume("{");
  EXPECT_FALSE(framer.awaits_continue());
  framer.Consume("}");
  EXPECT_EQ(framer.state(), Framer::State::kComplete);
}

TEST(Framing, BodyOfSevenMebibytesIsTakenAndHoldsNoMoreThanThat) {
  const size_t size = FramingLimits{}.body_bytes;
  Framer framer(Port::kPosts);
  framer.Consume(Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                       "Content-Length: " + std::to_string(size)}));
  const size_t promised_only = framer.held();
  EXPECT_LT(promised_only, 1024) << "memory is taken for bytes that arrive, not for promises";
  const std::string piece(16 * 1024, ' ');
  for (size_t sent = 0; sent < size; sent += piece.size()) framer.Consume(piece);
  ASSERT_EQ(framer.state(), Framer::State::kComplete);
  EXPECT_LE(framer.held(), size + kBodyRoom + 64);
  EXPECT_EQ(framer.Take().body.size(), size);
}

TEST(Framing, Traceparent) {
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_TRUE(IsTraceparent("00-" + id + "-00f067aa0ba902b7-01"));
  for (const std::string& bad :
       {std::string(), "01-" + id + "-00f067aa0ba902b7-01", "00-" + id + "-00f067aa0ba902b7-0",
        "00-" + id + "-00f067aa0ba902b7-01-x",
        "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
        "00-" + id + "-" + std::string(16, '0') + "-01", "00-" + id + "-00F067AA0BA902B7-01",
        "00-" + id + "_00f067aa0ba902b7-01"}) {
    EXPECT_FALSE(IsTraceparent(bad)) << bad;
  }
}

}  // namespace
}  // namespace mindgate::http
