#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/any_json.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/written_patch.h"

namespace mindgate::json {
namespace {

using ::mindgate::testing::AnyJson;
using Kind = Operation::Kind;

TEST(ToJsonPatch, WritesRfc6902) {
  struct Case {
    std::vector<Written> operations;
    std::string_view want;
  };
  const Case cases[] = {
      {{}, "[]"},
      {{{Kind::kAdd, "/metadata/labels", Json::object()},
        {Kind::kAdd, "/metadata/labels/a.b~1c", "x"},
        {Kind::kReplace, "/spec/replicas", 3},
        {Kind::kAdd, "/spec/list/-", nullptr}},
       R"([{"op":"add","path":"/metadata/labels","value":{}},)"
       R"({"op":"add","path":"/metadata/labels/a.b~1c","value":"x"},)"
       R"({"op":"replace","path":"/spec/replicas","value":3},)"
       R"({"op":"add","path":"/spec/list/-","value":null}])"},
      {{{Kind::kAdd, "/a\"b\\c\n", "d\"e\\f\tg\x01"}},
       R"([{"op":"add","path":"/a\"b\\c\n","value":"d\"e\\f\tg\u0001"}])"},
      {{{Kind::kAdd, "/\xc3\xa9", "\xe6\x96\x87"}},
       "[{\"op\":\"add\",\"path\":\"/\xc3\xa9\",\"value\":\"\xe6\x96\x87\"}]"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ToJsonPatch(PatchOf(c.operations)).dump(), c.want);
    EXPECT_EQ(PatchText(PatchOf(c.operations)), c.want);
  }
}

// The value after the patch as text, or what is wrong with the patch.
std::string Patched(std::string_view text, const std::vector<Written>& operations) {
  const auto document = Document::Decode(text).value();
  const std::string before = Dump(document.root());
  Arena arena(256);
  const auto patched = ApplyPatch(document.root(), PatchOf(operations), arena);
  EXPECT_EQ(Dump(document.root()), before) << "what is patched never changes";
  return patched ? Dump(*patched) : patched.error().message();
}

TEST(ApplyPatch, DoesOurOperations) {
  struct Case {
    std::string_view text;
    std::vector<Written> operations;
    std::string_view want;
  };
  const Case cases[] = {
      {R"({"a":1})", {}, R"({"a":1})"},
      {R"({"a":1})", {{Kind::kReplace, "", 2}}, "2"},
      {R"({"b":1})", {{Kind::kAdd, "/a", 2}, {Kind::kAdd, "/c", 3}}, R"({"a":2,"b":1,"c":3})"},
      {R"({"a":null})", {{Kind::kAdd, "/a", {{"b", "c"}}}}, R"({"a":{"b":"c"}})"},
      {R"({"a":1})", {{Kind::kReplace, "/a", "x"}}, R"({"a":"x"})"},
      {R"({"l":[{},{"a":1}]})",
       {{Kind::kAdd, "/l/-", 2}, {Kind::kAdd, "/l/0/b~1c", 3}, {Kind::kReplace, "/l/1/a", 4}},
       R"({"l":[{"b/c":3},{"a":4},2]})"},
      {R"({"l":[]})", {{Kind::kAdd, "/l/-", 1}, {Kind::kAdd, "/l/-", 2}}, R"({"l":[1,2]})"},
      {R"({"l":[1,2]})", {{Kind::kReplace, "/l/1", 3}}, R"({"l":[1,3]})"},
      {R"({"":{"":1}})", {{Kind::kReplace, "//", 2}}, R"({"":{"":2}})"},
      // Sorted as text, "/a-b/x" stands between the two of "/a".
      {R"({"a":{"x":0},"a-b":{}})",
       {{Kind::kReplace, "/a/x", 1}, {Kind::kAdd, "/a-b/x", 2}, {Kind::kAdd, "/a/y", 3}},
       R"({"a":{"x":1,"y":3},"a-b":{"x":2}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(Patched(c.text, c.operations), c.want) << c.text;
}

TEST(ApplyPatch, ReportsWhatIsWrong) {
  struct Case {
    std::string_view text;
    Written operation;
    std::string_view want;
  };
  const Case cases[] = {
      {"{}", {Kind::kAdd, "a", 1}, R"("a" is not a JSON pointer)"},
      {"{}", {Kind::kAdd, "/a~2", 1}, R"("/a~2" is not a JSON pointer)"},
      {"{}", {Kind::kReplace, "/a", 1}, R"("/a" is not there: "a" is missing)"},
      {"{}", {Kind::kAdd, "/a/b", 1}, R"("/a/b" is not there: "a" is missing)"},
      {R"({"a":null})",
       {Kind::kAdd, "/a/b", 1},
       R"("/a/b" leads through a value that is neither an object nor a list)"},
      {"[1]", {Kind::kReplace, "/1", 1}, R"("/1" is not there: the list has 1 items)"},
      {"[1]", {Kind::kReplace, "/-1", 1}, R"("/-1" is not there: the list has 1 items)"},
      {"[1]", {Kind::kReplace, "/01", 1}, R"("/01" is not there: the list has 1 items)"},
      {"[1]", {Kind::kAdd, "/-/a", 1}, R"("/-/a" leads below a new item)"},
  };
  for (const Case& c : cases) EXPECT_EQ(Patched(c.text, {c.operation}), c.want) << c.text;
}

TEST(ApplyPatch, SharesWhatItDoesNotChange) {
  const auto document = Document::Decode(R"({"a":{"x":[1,2]},"b":{"y":[3]}})").value();
  Arena arena(256);
  const auto patched =
      ApplyPatch(document.root(), PatchOf({{Kind::kAdd, "/b/z", 4}}), arena).value();
  EXPECT_EQ(FindPath(patched, {"a", "x"})->begin(), FindPath(document.root(), {"a", "x"})->begin());
  EXPECT_EQ(FindPath(patched, {"b", "y"})->begin(), FindPath(document.root(), {"b", "y"})->begin());
  EXPECT_NE(Find(patched, "b")->members().data(), Find(document.root(), "b")->members().data());
}

// A place that is there, or a new member or item of one that is there.
rc::Gen<std::string> AnyTarget(const Json& root) {
  return rc::gen::exec([&root] {
    std::string pointer;
    const Json* value = &root;
    while (value->is_structured() && !value->empty() && *rc::gen::inRange(0, 4) > 0) {
      const auto step = *rc::gen::inRange<size_t>(0, value->size());
      auto member = value->begin();
      std::advance(member, step);
      pointer = value->is_object() ? Child(pointer, member.key()) : Child(pointer, step);
      value = &*member;
    }
    if (value->is_object()) return Child(pointer, *rc::gen::element<std::string>("new", "~/"));
    return value->is_array() ? pointer + "/-" : pointer;
  });
}

RC_GTEST_PROP(ApplyPatchProperty, AgreesWithNlohmann, ()) {
  const Json before = *AnyJson();
  std::vector<Written> written;
  std::set<std::string> paths;
  const int size = *rc::gen::inRange(0, 5);
  for (int i = 0; i < size; ++i) {
    const std::string path = *AnyTarget(before);
    const bool independent =
        std::none_of(paths.begin(), paths.end(), [&](const std::string& other) {
          return path.starts_with(other) || other.starts_with(path);
        });
    if (!independent) continue;
    paths.insert(path);
    const Json* there = Resolve(before, path);
    written.push_back({there == nullptr ? Kind::kAdd : Kind::kReplace, path, *AnyJson(1)});
  }
  const Patch operations = PatchOf(written);
  RC_LOG() << before << "\n" << ToJsonPatch(operations);
  const Document document(before);
  Arena arena(256);
  const auto patched = ApplyPatch(document.root(), operations, arena);
  RC_ASSERT(patched.has_value());
  RC_ASSERT(TreeOf(*patched) == before.patch(ToJsonPatch(operations)));
  RC_ASSERT(TreeOf(document.root()) == before);
}

}  // namespace
}  // namespace mindgate::json
