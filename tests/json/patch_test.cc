#include "json/patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/any_json.h"
#include "json/pointer.h"

namespace mindgate::json {
namespace {

using ::mindgate::testing::AnyJson;
using ::mindgate::testing::Identical;
using Kind = Operation::Kind;

TEST(ToJsonPatch, WritesRfc6902) {
  EXPECT_EQ(ToJsonPatch({}).dump(), "[]");
  const std::vector<Operation> operations = {
      {Kind::kAdd, "/metadata/labels", Json::object()},
      {Kind::kAdd, "/metadata/labels/a.b~1c", "x"},
      {Kind::kReplace, "/spec/replicas", 3},
      {Kind::kAdd, "/spec/list/-", nullptr},
  };
  EXPECT_EQ(ToJsonPatch(operations).dump(),
            R"([{"op":"add","path":"/metadata/labels","value":{}},)"
            R"({"op":"add","path":"/metadata/labels/a.b~1c","value":"x"},)"
            R"({"op":"replace","path":"/spec/replicas","value":3},)"
            R"({"op":"add","path":"/spec/list/-","value":null}])");
}

// The document after the patch, or what is wrong with the patch. Checks that a bad patch changes
// nothing.
std::string Patched(std::string_view document, std::string_view patch) {
  const Json before = Json::parse(document);
  Json target = before;
  const auto applied = ApplyPatch(target, Json::parse(patch));
  if (applied) return target.dump();
  EXPECT_TRUE(Identical(target, before)) << patch;
  return applied.error().message();
}

struct PatchCase {
  std::string_view document;
  std::string_view patch;
  std::string_view want;
};

TEST(ApplyPatch, DoesEveryOperation) {
  const PatchCase cases[] = {
      {"{}", "[]", "{}"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[1]}])", "[1]"},
      {R"({"a":1})", R"([{"op":"add","path":"/","value":2}])", R"({"":2,"a":1})"},
      {"[1,2]", R"([{"op":"add","path":"/0","value":0}])", "[0,1,2]"},
      {"[1,2]", R"([{"op":"add","path":"/1","value":0}])", "[1,0,2]"},
      {"[1,2]", R"([{"op":"add","path":"/2","value":0}])", "[1,2,0]"},
      {"[1,2]", R"([{"op":"add","path":"/-","value":0}])", "[1,2,0]"},
      {"[]", R"([{"op":"add","path":"/-","value":null}])", "[null]"},
      {R"({"a":{"b":[{}]}})", R"([{"op":"add","path":"/a/b/0/c~1d","value":1}])",
       R"({"a":{"b":[{"c/d":1}]}})"},
      {R"({"-":1})", R"([{"op":"add","path":"/-","value":2}])", R"({"-":2})"},
      {R"({"01":1})", R"([{"op":"replace","path":"/01","value":2}])", R"({"01":2})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
      {"[1,2]", R"([{"op":"replace","path":"/1","value":0}])", "[1,0]"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":2}])", "2"},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"({"a":null})", R"([{"op":"remove","path":"/a"}])", "{}"},
      {"[1,2,3]", R"([{"op":"remove","path":"/1"}])", "[1,3]"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {"[1,2,3]", R"([{"op":"move","from":"/0","path":"/2"}])", "[2,3,1]"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/a"}])", R"({"a":1})"},
      {R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":[1],"b":[1]})"},
      {R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/a/-"}])", R"({"a":[1,[1]]})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
      {R"({"a":[{"b":null}]})", R"([{"op":"test","path":"/a","value":[{"b":null}]}])",
       R"({"a":[{"b":null}]})"},
      {R"({"a":1})",
       R"([{"op":"add","path":"/b","value":{}},{"op":"add","path":"/b/c","value":1},{"op":"remove","path":"/a"}])",
       R"({"b":{"c":1}})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2,"comment":"more members are fine"}])",
       R"({"a":1,"b":2})"},
  };
  for (const auto& [document, patch, want] : cases)
    EXPECT_EQ(Patched(document, patch), want) << patch;
}

TEST(ApplyPatch, SaysWhatIsWrongAndChangesNothing) {
  const PatchCase cases[] = {
      {"{}", "{}", "a JSON patch must be a list of operations"},
      {"{}", "[1]", "while applying operation 1: an operation must be an object"},
      {"{}", "[{}]", "while applying operation 1: \"op\" is missing or not a string"},
      {"{}", R"([{"op":1}])", "while applying operation 1: \"op\" is missing or not a string"},
      {"{}", R"([{"op":"add"}])",
       "while applying operation 1: \"path\" is missing or not a string"},
      {"{}", R"([{"op":"add","path":1,"value":1}])",
       "while applying operation 1: \"path\" is missing or not a string"},
      {"{}", R"([{"op":"add","path":"/a"}])", "while applying operation 1: \"value\" is missing"},
      {"{}", R"([{"op":"move","path":"/a"}])",
       "while applying operation 1: \"from\" is missing or not a string"},
      {"{}", R"([{"op":"merge","path":"/a"}])",
       "while applying operation 1: unknown operation \"merge\""},
      {"{}", R"([{"op":"add","path":"a","value":1}])",
       "while applying operation 1: \"a\" is not a JSON pointer"},
      {"{}", R"([{"op":"add","path":"/~","value":1}])",
       "while applying operation 1: \"/~\" is not a JSON pointer"},
      {"{}", R"([{"op":"add","path":"/a/b","value":1}])",
       "while applying operation 1: there is no \"/a\""},
      {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
       "while applying operation 1: \"/a\" is neither an object nor a list"},
      {R"({"a":null})", R"([{"op":"add","path":"/a/b","value":1}])",
       "while applying operation 1: \"/a\" is neither an object nor a list"},
      {"[1]", R"([{"op":"add","path":"/2","value":1}])",
       "while applying operation 1: \"2\" is not a position in a list of 1 items"},
      {"[1]", R"([{"op":"add","path":"/-1","value":1}])",
       "while applying operation 1: \"-1\" is not a position in a list of 1 items"},
      {"[1]", R"([{"op":"add","path":"/00","value":1}])",
       "while applying operation 1: \"00\" is not a position in a list of 1 items"},
      {"[1]", R"([{"op":"add","path":"/99999999999999999999","value":1}])",
       "while applying operation 1: \"99999999999999999999\" is not a position in a list of 1 "
       "items"},
      {"[1]", R"([{"op":"add","path":"/x","value":1}])",
       "while applying operation 1: \"x\" is not a position in a list of 1 items"},
      {"{}", R"([{"op":"replace","path":"/a","value":1}])",
       "while applying operation 1: there is no \"/a\""},
      {"[1]", R"([{"op":"replace","path":"/-","value":1}])",
       "while applying operation 1: there is no \"/-\""},
      {"[1]", R"([{"op":"replace","path":"/-1","value":1}])",
       "while applying operation 1: there is no \"/-1\""},
      {"{}", R"([{"op":"remove","path":"/a"}])", "while applying operation 1: there is no \"/a\""},
      {"{}", R"([{"op":"remove","path":""}])",
       "while applying operation 1: the whole document cannot be removed"},
      {"[1]", R"([{"op":"remove","path":"/1"}])", "while applying operation 1: there is no \"/1\""},
      {"[1]", R"([{"op":"remove","path":"/-1"}])",
       "while applying operation 1: there is no \"/-1\""},
      {R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       "while applying operation 1: a value cannot be moved into itself"},
      {"{}", R"([{"op":"move","from":"","path":"/a"}])",
       "while applying operation 1: a value cannot be moved into itself"},
      {"{}", R"([{"op":"copy","from":"/a","path":"/b"}])",
       "while applying operation 1: there is no \"/a\""},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])",
       "while applying operation 1: the value differs"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])",
       "while applying operation 1: there is no \"/b\""},
      // what went before a bad operation is taken back
      {R"({"a":1,"l":[1,2,3],"o":{"x":{}}})",
       R"([{"op":"add","path":"/b","value":1},{"op":"add","path":"/a","value":2},
           {"op":"add","path":"/l/0","value":0},{"op":"add","path":"/l/-","value":9},
           {"op":"remove","path":"/l/2"},{"op":"replace","path":"/l/0","value":7},
           {"op":"move","from":"/o/x","path":"/l/1"},{"op":"copy","from":"/l","path":"/o/l"},
           {"op":"remove","path":"/a"},{"op":"replace","path":"","value":{"new":1}},
           {"op":"add","path":"/new","value":2},{"op":"remove","path":"/gone"}])",
       "while applying operation 12: there is no \"/gone\""},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       "while applying operation 1: there is no \"/c\""},
  };
  for (const auto& [document, patch, want] : cases)
    EXPECT_EQ(Patched(document, patch), want) << patch;
}

TEST(ApplyPatch, TakesOurOwnOperations) {
  Json target = Json::parse(R"({"metadata":{"name":"a"},"spec":{"list":[1]}})");
  const std::vector<Operation> good = {
      {Kind::kAdd, "/metadata/labels", Json::object()},
      {Kind::kAdd, "/metadata/labels/huawei.com~1x", "y"},
      {Kind::kReplace, "/spec/list/0", 2},
      {Kind::kAdd, "/spec/list/-", 3},
  };
  ASSERT_TRUE(ApplyPatch(target, good));
  const Json after = Json::parse(
      R"({"metadata":{"labels":{"huawei.com/x":"y"},"name":"a"},"spec":{"list":[2,3]}})");
  EXPECT_EQ(target, after);

  const std::vector<Operation> bad = {
      {Kind::kAdd, "/metadata/labels/z", "z"},
      {Kind::kReplace, "/spec/absent", 1},
  };
  const auto applied = ApplyPatch(target, bad);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(applied.error().message(), "while applying operation 2: there is no \"/spec/absent\"");
  EXPECT_EQ(target, after);
}

TEST(ApplyPatch, HoldsToTheLimits) {
  // Each copy would double the document.
  Json doubling = Json::array();
  for (int i = 0; i < 64; ++i) {
    doubling.push_back({{"op", "copy"}, {"from", ""}, {"path", "/" + std::to_string(i)}});
  }
  EXPECT_EQ(Patched(R"({"a":1})", doubling.dump()),
            "while applying operation 18: copies more than 500000 values");

  // Each round puts what there is one level deeper.
  Json nesting = Json::array();
  for (int i = 0; i < 200; ++i) {
    nesting.push_back({{"op", "add"}, {"path", "/b"}, {"value", Json::object()}});
    nesting.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b/a"}});
    nesting.push_back({{"op", "move"}, {"from", "/b"}, {"path", "/a"}});
  }
  EXPECT_EQ(
      Patched(R"({"a":1})", nesting.dump()),
      "while applying operation 383: objects and lists would be nested deeper than 128 levels");

  Json deep = Json::object();
  for (int i = 0; i < 100'000; ++i) deep = Json::array({std::move(deep)});
  Json target = Json::object();
  const std::vector<Operation> operations = {{Kind::kAdd, "/a", nullptr}};
  EXPECT_TRUE(ApplyPatch(target, operations));
  Json patch = Json::array({{{"op", "add"}, {"path", "/a"}}});
  patch[0]["value"] = std::move(deep);
  EXPECT_EQ(ApplyPatch(target, patch).error().message(),
            "while applying operation 1: objects and lists would be nested deeper than 128 levels");
}

// Pointers that mostly mean something in `root`.
rc::Gen<std::string> AnyPointer(const Json& root) {
  return rc::gen::exec([&root] {
    std::string pointer;
    const Json* value = &root;
    while (*rc::gen::inRange(0, 4) > 0) {
      if (value != nullptr && value->is_object() && !value->empty() &&
          *rc::gen::inRange(0, 5) > 0) {
        auto member = value->begin();
        std::advance(member, *rc::gen::inRange<size_t>(0, value->size()));
        pointer = Child(pointer, member.key());
        value = &*member;
      } else if (value != nullptr && value->is_array() && *rc::gen::inRange(0, 5) > 0) {
        const size_t index = *rc::gen::inRange<size_t>(0, value->size() + 1);
        pointer = Child(pointer, index);
        value = index < value->size() ? &(*value)[index] : nullptr;
      } else {
        pointer += *rc::gen::element<std::string>("/-", "/0", "/a", "/-1", "/01", "/");
        value = nullptr;
      }
    }
    return pointer;
  });
}

rc::Gen<Json> AnyPatch(const Json& root) {
  return rc::gen::exec([&root] {
    Json patch = Json::array();
    const int size = *rc::gen::inRange(0, 4);
    for (int i = 0; i < size; ++i) {
      Json operation = {{"op", *rc::gen::element<std::string>("add", "replace", "remove", "move",
                                                              "copy", "test")},
                        {"path", *AnyPointer(root)},
                        {"from", *AnyPointer(root)}};
      const Json* same = Resolve(root, operation["path"].get<std::string>());
      operation["value"] = same != nullptr && *rc::gen::inRange(0, 2) > 0 ? *same : *AnyJson(1);
      patch.push_back(std::move(operation));
    }
    return patch;
  });
}

// Only where ours succeeds: nlohmann takes some patches that RFC 6902 does not (it removes members
// of numbers), and aborts on others.
RC_GTEST_PROP(ApplyPatchProperty, AgreesWithNlohmann, ()) {
  const Json before = *AnyJson();
  const Json patch = *AnyPatch(before);
  RC_LOG() << before << "\n" << patch;
  Json target = before;
  if (ApplyPatch(target, patch)) {
    RC_ASSERT(Identical(target, before.patch(patch)));
  } else {
    RC_ASSERT(Identical(target, before));
  }
}

RC_GTEST_PROP(ApplyPatchProperty, UndoesADiff, ()) {
  const Json from = *AnyJson();
  const Json to = *AnyJson();
  Json target = from;
  RC_ASSERT(ApplyPatch(target, Json::diff(from, to)).has_value());
  RC_ASSERT(target == to);  // diff sees no difference between 1 and 1.0
}

RC_GTEST_PROP(ApplyPatchProperty, TakesAnyPatch, ()) {
  Json target = *AnyJson();
  (void)ApplyPatch(target, *AnyJson());
}

RC_GTEST_PROP(ApplyPatchProperty, OperationsAreTheirJson, ()) {
  const Json before = *AnyJson();
  std::vector<Operation> operations;
  const int size = *rc::gen::inRange(0, 5);
  for (int i = 0; i < size; ++i) {
    operations.push_back(
        {*rc::gen::element(Kind::kAdd, Kind::kReplace), *AnyPointer(before), *AnyJson(1)});
  }
  Json one = before;
  Json other = before;
  RC_ASSERT(ApplyPatch(one, operations).has_value() ==
            ApplyPatch(other, ToJsonPatch(operations)).has_value());
  RC_ASSERT(Identical(one, other));
}

}  // namespace
}  // namespace mindgate::json
