#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "support/hostile.h"
#include "webhook/admission_review.h"

namespace mindgate::webhook {
namespace {

using mindgate::testing::HostileShape;
using mindgate::testing::HostileShapes;
using mindgate::testing::HostileText;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Lt;

constexpr size_t kBytes = 20'000;

// "StormService CREATE", or why there is no review.
std::string ReviewIn(const std::string& text) {
  json::Decoder decoder({}, kNotDecoded);
  const auto review = DecodeReview(decoder, text, Time());
  if (!review) return std::string(InfoOf(review.error().refusal).name);
  return review->kind + " " + std::string(schemas::OperationName(review->request.operation));
}

TEST(HostileTexts, AreReviewsOfTheirKindUnlessTheTextItselfIsHostile) {
  const std::map<std::string_view, std::string_view> refused = {
      {"unread: one key many times", "undecodable"}, {"unread: nested without end", "undecodable"},
      {"body: [0,0,...]", "not_admission_review"},   {"body: [[[...", "undecodable"},
      {"body: a text without end", "undecodable"},   {"body: empty lines", "empty_body"}};
  for (const HostileShape& shape : HostileShapes()) {
    const auto refusal = refused.find(shape.name);
    EXPECT_EQ(ReviewIn(HostileText(shape, kBytes)),
              refusal != refused.end()
                  ? std::string(refusal->second)
                  : std::string(shape.kind) + (shape.old_members ? " UPDATE" : " CREATE"))
        << shape.name;
  }
}

TEST(HostileTexts, AreAsLongAsAskedFor) {
  for (const HostileShape& shape : HostileShapes()) {
    for (const size_t bytes : {kBytes, 4 * kBytes, 16 * kBytes}) {
      EXPECT_THAT(HostileText(shape, bytes).size(), AllOf(Ge(bytes), Lt(bytes + 1'500)))
          << shape.name;
    }
  }
}

TEST(HostileTexts, HaveReadableTextsInConfigMaps) {
  for (const HostileShape& shape : HostileShapes()) {
    if (shape.kind != "ConfigMap" || shape.name == "rule: comments") continue;
    const auto review = nlohmann::json::parse(HostileText(shape, kBytes));
    for (const auto& [key, text] : review["request"]["object"]["data"].items()) {
      EXPECT_TRUE(nlohmann::json::accept(text.get<std::string>())) << shape.name << ": " << key;
    }
  }
}

}  // namespace
}  // namespace mindgate::webhook
