#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "http/request.h"
#include "http/response.h"

namespace mindgate::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct RouterFixture {
  Response Serve(const std::string& target, Method method = Method::kPost) {
    Request request;
    request.method = method;
    request.target = target;
    request.body = "{}";
    request.traceparent = "trace";
    return router.Serve(request);
  }

  static Response Echo(const Request& request) {
    return PlainText(200, std::string(request.path()) + "|" + std::string(request.query()) + "|" +
                              request.traceparent + "|" + request.body);
  }

  std::vector<std::string> bugs;
  int not_found = 0;
  Router router{
      {{"/echo", Echo},
       {"/", [](const Request&) { return PlainText(200, "root"); }},
       {"/echo/more", [](const Request&) { return PlainText(200, "more"); }},
       {"/busy", [](const Request&) { return RefusalResponse(Refusal::kNoMemory); }},
       {"/throw", [](const Request&) -> Response { throw std::runtime_error("secret detail"); }},
       {"/throw-int", [](const Request&) -> Response { throw 42; }}},
      [this](std::string_view what) { bugs.emplace_back(what); },
      [this] { ++not_found; }};
};

TEST(Router, ExactPaths) {
  const Response missing = RefusalResponse(Refusal::kNotFound);
  struct Case {
    std::string target;
    Response want;
  };
  const std::vector<Case> cases = {
      {"/echo", PlainText(200, "/echo||trace|{}")},
      {"/echo?", PlainText(200, "/echo||trace|{}")},
      {"/echo?verbose&a=/b?c", PlainText(200, "/echo|verbose&a=/b?c|trace|{}")},
      {"/echo/more", PlainText(200, "more")},
      {"/", PlainText(200, "root")},
      {"/?/echo", PlainText(200, "root")},
      {"/busy", RefusalResponse(Refusal::kNoMemory)},
      // Escapes are decoded, once.
      {"/%65cho", PlainText(200, "/%65cho||trace|{}")},
      {"/echo%2Fmore", PlainText(200, "more")},
      {"/echo%2fmore", PlainText(200, "more")},
      {"/%2565cho", missing},
      {"/%65cho%00", missing},
      {"/%6", missing},
      {"/%", missing},
      {"/%6zcho", missing},
      {"/ech%6f%", missing},
      {"/echo%0d%0aX:y", missing},
      {"/echo%3Fverbose", missing},
      // Nothing is resolved or guessed.
      {"/echo/", missing},
      {"//echo", missing},
      {"/Echo", missing},
      {"/../echo", missing},
      {"/./echo", missing},
      {"/ech", missing},
      {"/echoes", missing},
      {"/echo/mor.", missing},
      {"/" + std::string(2040, 'a'), missing},
  };
  RouterFixture fixture;
  int not_found = 0;
  for (const Case& c : cases) {
    EXPECT_EQ(fixture.Serve(c.target), c.want) << c.target;
    not_found += c.want.status == 404 ? 1 : 0;
    EXPECT_EQ(fixture.not_found, not_found) << c.target;
  }
  EXPECT_THAT(fixture.bugs, IsEmpty());
}

TEST(Router, AnswersAHeadLikeItsGet) {
  RouterFixture fixture;
  EXPECT_EQ(fixture.Serve("/echo", Method::kHead), fixture.Serve("/echo", Method::kGet));
}

TEST(Router, ExceptionsStayInside) {
  RouterFixture fixture;
  for (const char* target : {"/throw", "/throw-int"}) {
    EXPECT_EQ(fixture.Serve(target), RefusalResponse(Refusal::kInternal)) << target;
  }
  EXPECT_THAT(fixture.bugs, ElementsAre("secret detail", "an exception of unknown type"));
  EXPECT_EQ(fixture.not_found, 0);
}

}  // namespace
}  // namespace mindgate::http
