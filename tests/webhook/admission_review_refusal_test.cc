#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "webhook/admission_review.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

TEST(WebhookRefusal, EachHasItsExactAnswer) {
  struct Case {
    Refusal refusal;
    std::string status;
    std::string header;  // besides Content-Type, Content-Length and Connection
    std::string body;
  };
  const std::vector<Case> cases = {
      {Refusal::kQueueFull, "503 Service Unavailable", "Retry-After: 1",
       "too many reviews waiting, try again\n"},
      {Refusal::kDraining, "503 Service Unavailable", "Retry-After: 0",
       "shutting down, try another replica\n"},
      {Refusal::kNotReady, "503 Service Unavailable", "Retry-After: 1",
       "no configuration or certificate loaded yet, try again\n"},
      {Refusal::kEmptyBody, "400 Bad Request", "", "empty body: want an AdmissionReview\n"},
      {Refusal::kUndecodable, "400 Bad Request", "", "the body is not valid JSON\n"},
      {Refusal::kNotAdmissionReview, "400 Bad Request", "",
       "want an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1\n"},
      {Refusal::kNoRequest, "400 Bad Request", "", "the AdmissionReview has no request\n"},
      {Refusal::kBadRequest, "400 Bad Request", "",
       "the request of the AdmissionReview is malformed\n"},
  };
  ASSERT_EQ(cases.size(), kRefusalCount);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    EXPECT_EQ(c.refusal, static_cast<Refusal>(i));
    EXPECT_EQ(testing::RefusalAnswer(c.refusal, false),
              http::testing::TextAnswer(c.status, c.body, c.header));
  }
}

// Both kinds of refusals share a metric.
TEST(WebhookRefusal, NoNameIsTakenTwice) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < http::kRefusalCount; ++i) {
    names.insert(InfoOf(static_cast<http::Refusal>(i)).name);
  }
  for (size_t i = 0; i < kRefusalCount; ++i) {
    const http::RefusalInfo& info = InfoOf(static_cast<Refusal>(i));
    names.insert(info.name);
    // Without an integer Retry-After the API server does not repeat a call.
    EXPECT_EQ(info.status == 503, info.header.starts_with("Retry-After: ")) << info.name;
  }
  EXPECT_EQ(names.size(), http::kRefusalCount + kRefusalCount);
}

}  // namespace
}  // namespace mindgate::webhook
