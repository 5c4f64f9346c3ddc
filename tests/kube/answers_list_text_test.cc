#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kube/answers.h"

namespace mindgate::kube {
namespace {

using Parts = std::vector<std::string>;

// Metadata and items, or why there are none.
Parts PartsOf(std::string_view text) {
  auto list = ListText::Of(text);
  if (!list) return {list.error()};
  Parts parts = {std::string(list->metadata())};
  while (const auto item = list->Next()) parts.emplace_back(*item);
  return parts;
}

TEST(ListText, IsCutIntoItsParts) {
  struct Case {
    const char* what;
    std::string text;
    Parts parts;
  };
  const std::vector<Case> cases = {
      {"as Go writes it",
       R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},)"
       R"("items":[{"a":1},{"b":[{"c":"}"}]}]})"
       "\n",
       {R"({"resourceVersion":"7"})", R"({"a":1})", R"({"b":[{"c":"}"}]})"}},
      {"in another order, with space",
       "\n{ \"items\" : [ { } , [ ] ] , \"kind\" : \"PodList\" , \"metadata\" : { } }",
       {"{ }", "{ }", "[ ]"}},
      {"strings with quotes and brackets",
       R"({"items":["\"]","\\","a\\\"}",{"\\\"":"]"}],"kind":"PodList"})",
       {"", R"("\"]")", R"("\\")", R"("a\\\"}")", R"({"\\\"":"]"})"}},
      {"scalars",
       R"({"items":[1, -2.5e3 ,null,true],"kind":"PodList"})",
       {"", "1", "-2.5e3", "null", "true"}},
      {"no items", R"({"items":[ ],"kind":"PodList","metadata":{}})", {"{}"}},
      {"null for no items", R"({"items":null,"kind":"PodList"})", {""}},
      {"no member for no items", R"({"kind":"PodList"})", {""}},
      {"other members", R"({"x":{"items":[1]},"kind":"PodList","y":[],"items":[2]})", {"", "2"}},
      // What a decoder would refuse is an item of its own, or one without a text.
      {"no JSON within",
       R"({"kind":"PodList","items":[{"a":nonsense},{]]})",
       {"", R"({"a":nonsense})", "{]"}},
      {"a comma too many", R"({"kind":"PodList","items":[1,]})", {"", "1", ""}},
      {"a comma before all", R"({"kind":"PodList","items":[,1]})", {"", ""}},
      {"only a comma", R"({"kind":"PodList","items":[,]})", {"", ""}},
      {"a comma that is missing",
       R"({"kind":"PodList","items":[{"a":1} {"b":2}]})",
       {"", R"({"a":1})", ""}},
      {"a list where a comma should be", R"({"kind":"PodList","items":[1 [2]]})", {"", "1", ""}},

      {"nothing", "", {"it is not an object"}},
      {"null", "null", {"it is not an object"}},
      {"a list", "[]", {"it is not an object"}},
      {"text", "hello", {"it is not an object"}},
      {"empty", "{}", {"its kind is not that of a list"}},
      {"one object", R"({"kind":"Pod","metadata":{}})", {"its kind is not that of a list"}},
      {"a kind of another type",
       R"({"kind":["PodList"],"items":[]})",
       {"its kind is not that of a list"}},
      {"items by name", R"({"kind":"PodList","items":{"a":1}})", {"its items are not a list"}},
      {"items that end otherwise",
       R"({"kind":"PodList","items":[}})",
       {"its items are not a list"}},
      {"items twice", R"({"kind":"PodList","items":[1],"items":[2]})", {"a member is there twice"}},
      {"a hidden name", R"({"kind":"PodList","it\u0065ms":[1]})", {"a name is escaped"}},
      {"cut in a string", R"({"kind":"PodL)", {"it is not JSON"}},
      {"cut behind a backslash", R"({"kind":"PodList\)", {"it is not JSON"}},
      {"cut in an item", R"({"kind":"PodList","items":[{"a":1},{"b")", {"it is not JSON"}},
      {"cut before the end", R"({"kind":"PodList","items":[])", {"it is not JSON"}},
      {"cut behind a name", R"({"kind":)", {"it is not JSON"}},
      {"no colon", R"({"kind" "PodList"})", {"it is not JSON"}},
      {"no name", R"({7:"PodList"})", {"it is not JSON"}},
      {"no value", R"({"kind":,"items":[]})", {"it is not JSON"}},
      {"a comma at the end", R"({"kind":"PodList",})", {"it is not JSON"}},
      {"more behind the end", R"({"kind":"PodList"} {})", {"it is not JSON"}},
  };
  for (const Case& c : cases) EXPECT_EQ(PartsOf(c.text), c.parts) << c.what;
}

// However it is cut, it is no list.
TEST(ListText, NoHalfIsAWhole) {
  const std::string text =
      R"({"kind":"PodList","metadata":{"continue":"a"},"items":[{"a":"\\\""},{"b":[1,2]}]})";
  ASSERT_EQ(PartsOf(text).size(), 3u);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(PartsOf(std::string_view(text).substr(0, size)).size(), 1u) << size;
  }
}

}  // namespace
}  // namespace mindgate::kube
