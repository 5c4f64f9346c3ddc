#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/decode.h"
#include "kube/events.h"

namespace mindgate::kube {
namespace {

using json::Json;

TEST(EventTime, IsThatOfTheLastOccurrence) {
  struct Case {
    const char* name;
    Json event;
    const char* want;
  };
  const Json made = {{"creationTimestamp", "2026-01-01T00:00:01Z"}};
  const std::vector<Case> cases = {
      {"once, by a recorder of today",
       {{"metadata", made}, {"eventTime", "2026-01-01T00:00:02.000000Z"}},
       "2026-01-01T00:00:02.000000Z"},
      {"again and again",
       {{"metadata", made},
        {"eventTime", "2026-01-01T00:00:02.000000Z"},
        {"series", {{"count", 3}, {"lastObservedTime", "2026-01-01T00:00:09.000000Z"}}}},
       "2026-01-01T00:00:09.000000Z"},
      {"by an old recorder",
       {{"metadata", made},
        {"eventTime", nullptr},
        {"deprecatedFirstTimestamp", "2026-01-01T00:00:03Z"},
        {"deprecatedLastTimestamp", "2026-01-01T00:00:04Z"}},
       "2026-01-01T00:00:04Z"},
      {"it says nothing", {{"metadata", made}, {"eventTime", nullptr}}, "2026-01-01T00:00:01Z"},
      {"nothing is there", Json::object(), ""},
      {"not what it should be", {{"series", "x"}, {"eventTime", 1}, {"metadata", {1}}}, ""},
  };
  const json::Projection fields(LastTimeFields());
  for (const Case& c : cases) {
    EXPECT_EQ(LastTimeOf(c.event), c.want) << c.name;
    const std::string text = c.event.dump();
    json::Decoder decoder;
    const auto projected = decoder.Decode(json::Text(text), fields);
    ASSERT_TRUE(projected) << c.name;
    EXPECT_EQ(LastTimeOf(**projected), c.want) << c.name;
  }
}

}  // namespace
}  // namespace mindgate::kube
