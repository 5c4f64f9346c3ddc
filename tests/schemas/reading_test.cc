#include "schemas/reading.h"

#include <gtest/gtest.h>

namespace mindgate::schemas {
namespace {

TEST(RepeatedKeys, Table) {
  struct Case {
    std::string name;
    std::string text;
    std::vector<std::string> keys;  // "line:column name"
    std::string blanked;            // where there are any
  };
  const Case cases[] = {
      {"none", R"({"a":1,"b":{"a":2}})", {}, ""},
      {"the first goes", R"({"a":1,"b":2,"a":3})", {"1:14 a"}, R"({      "b":2,"a":3})"},
      {"three times", R"({"a":1,"a":2,"a":3})", {"1:8 a", "1:14 a"}, R"({            "a":3})"},
      {"over lines", "{\"a\":\n[1,\n2],\n\"a\":3}", {"4:1 a"}, "{    \n   \n   \n\"a\":3}"},
      {"with all that is in it",
       R"({"a":{"b":[1,2],"c":"},"},"a":{}})",
       {"1:27 a"},
       R"({                         "a":{}})"},
      {"of an object in a list",
       R"([{"a":1,"a":2},{"a":3}])",
       {"1:9 a"},
       R"([{      "a":2},{"a":3}])"},
      {"strings that are values", R"({"a":"a","b":["a","a"]})", {}, ""},
      {"quotes in a key",
       R"({"a\"":1,"a":2,"a\"":3})",
       {"1:16 a\\\""},
       R"({        "a":2,"a\"":3})"},
      {"not closed", R"({"a":1,"a":2)", {}, ""},
      {"an open string", R"({"a":1,"a)", {}, ""},
      {"closed by another bracket", R"({"a":1,"a":2])", {}, ""},
      {"too deep", std::string(65, '[') + R"({"a":1,"a":2})" + std::string(65, ']'), {}, ""},
      {"empty", "", {}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const RepeatedKeys found = FindRepeatedKeys(c.text);
    std::vector<std::string> keys;
    for (const auto& key : found.keys) {
      keys.push_back(std::to_string(key.at.line) + ":" + std::to_string(key.at.column) + " " +
                     std::string(key.name));
    }
    EXPECT_EQ(keys, c.keys);
    if (!c.keys.empty()) {
      EXPECT_EQ(found.blanked, c.blanked);
    }
  }
}

}  // namespace
}  // namespace mindgate::schemas
