#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json/decode.h"

namespace mindgate::json {
namespace {

constexpr const char* kPod = R"({
  "metadata": {"name": "a", "labels": {"app": "x", "tier": "y"}, "managedFields": [{"manager": "z"}]},
  "spec": {"containers": [{"name": "c", "env": [{"name": "E"}]}, {"name": "d", "image": "i"}], "nodeName": "n"},
  "status": {"phase": "Running"}
})";

const std::vector<Projection::Path> kName = {{"metadata", "name"}};

TEST(Projection, KeepsWhatPathsLeadToAndNothingElse) {
  struct Case {
    std::vector<Projection::Path> paths;
    const char* kept;
  };
  const Case cases[] = {
      {{}, "{}"},
      {{{}}, kPod},
      {{{"status"}}, R"({"status": {"phase": "Running"}})"},
      {{{"metadata", "labels", "app"}, {"spec", "nodeName"}},
       R"({"metadata": {"labels": {"app": "x"}}, "spec": {"nodeName": "n"}})"},
      {{{"metadata", "labels", "*"}}, R"({"metadata": {"labels": {"app": "x", "tier": "y"}}})"},
      {{{"spec", "containers", "*", "name"}},
       R"({"spec": {"containers": [{"name": "c"}, {"name": "d"}]}})"},
      // Of a list that only something else leads through, the places remain.
      {{{"spec", "containers", "first"}}, R"({"spec": {"containers": [null, null]}})"},
      {{{"*", "name"}}, R"({"metadata": {"name": "a"}, "spec": {}, "status": {}})"},
      // A key and "*" beside it: both count.
      {{{"*", "name"}, {"metadata", "labels", "app"}},
       R"({"metadata": {"name": "a", "labels": {"app": "x"}}, "spec": {}, "status": {}})"},
      {{{"status", "phase", "below-a-text"}}, R"({"status": {"phase": "Running"}})"},
      {{{"no", "such"}}, "{}"},
      {{{"metadata"}, {"metadata", "name"}},
       R"({"metadata": {"name": "a", "labels": {"app": "x", "tier": "y"},
           "managedFields": [{"manager": "z"}]}})"},
  };
  for (const Case& c : cases) {
    const Projection projection(c.paths);
    Decoder decoder;
    const auto decoded = decoder.Decode(kPod, projection);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(TreeOf(**decoded), Json::parse(c.kept)) << c.kept;
  }
}

TEST(Projection, BelowMovesEveryPathAndAddsOthers) {
  const Projection projection(kName);
  const std::string list =
      std::string(R"({"metadata": {"continue": "t"}, "items": [)") + kPod + "]}";
  Decoder decoder;
  const auto decoded =
      decoder.Decode(list, projection.Below({"items", "*"}, {{"metadata", "continue"}}));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(
      TreeOf(**decoded),
      Json::parse(R"({"metadata": {"continue": "t"}, "items": [{"metadata": {"name": "a"}}]})"));
}

TEST(Projection, LimitsHoldForWhatIsKept) {
  const Projection names(kName);
  Decoder few({.bytes = 4096, .depth = 8, .elements = 3});
  EXPECT_FALSE(few.Decode(kPod));
  EXPECT_TRUE(few.Decode(kPod, names));
  EXPECT_FALSE(few.Decode("{\"metadata\": {\"name\": \"a\"", names));  // cut short
}

// It takes no row, but memory while it is read.
TEST(Projection, WhatIsLeftOutMayNotBeAllValues) {
  const Projection names(kName);
  std::string text = R"({"metadata":{"name":"a"},"left out":[0)";
  for (int i = 0; i < 100'000; ++i) text += ",0";
  text += "]}";
  const auto refused = Decoder().Decode(text, names);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the document has more than 45270 values");
  Decoder without_limit({.bytes_a_value = 0});
  EXPECT_TRUE(without_limit.Decode(text, names));
}

}  // namespace
}  // namespace mindgate::json
