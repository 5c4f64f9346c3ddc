#include "admission/mutators/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/pointer.h"
#include "support/objects.h"

namespace mindgate::mutators {
namespace {

using json::Json;
using testing::Yaml;
using testing::YamlDocument;

// A place in `object` as an adapter would give it.
schemas::FieldView PlaceAt(const json::Value& object, std::string_view path) {
  const json::Value* value = json::Resolve(object, path);
  return {path, value == nullptr || value->is_null() ? nullptr : value};
}

// {"name": "e"}
constexpr json::Member kMember = {"name", json::Value::OfText("e")};
constexpr json::Value kItem = json::Value::OfMembers({&kMember, 1});

struct PatchCase {
  std::string name;
  std::string object;
  std::vector<std::pair<std::string, std::string>> sets;  // map path, key; the value is always "v"
  std::vector<std::string> appends;  // list paths; the item is always {"name":"e"}
  std::string want;
};

// An adapter that names no map must not have the object itself written.
TEST(Edits, APlaceThatWasNotSetIsNotWritten) {
  const auto object = YamlDocument("{kind: x}");
  Edits edits(object.root());
  edits.Set(schemas::FieldView(), "fault-scheduling", "force", "a reason");
  edits.Append(schemas::FieldView(), kItem, "a reason");
  EXPECT_TRUE(edits.empty());
}

TEST(Edits, BuildsTheSmallestPatch) {
  const std::vector<PatchCase> cases = {
      {"a missing member",
       "{labels: {b: x}}",
       {{"/labels", "a"}},
       {},
       R"([{"op":"add","path":"/labels/a","value":"v"}])"},
      {"a key with a slash in a map that is absent",
       "{}",
       {{"/annotations", "huawei.com/schedule_minAvailable"}},
       {},
       R"([{"op":"add","path":"/annotations","value":{"huawei.com/schedule_minAvailable":"v"}}])"},
      {"a key with a slash and a tilde in a map that exists",
       "{annotations: {}}",
       {{"/annotations", "a~b/c"}},
       {},
       R"([{"op":"add","path":"/annotations/a~0b~1c","value":"v"}])"},
      {"a parent that is null counts as absent",
       "{metadata: null}",
       {{"/metadata/labels", "a"}, {"/metadata/labels", "b"}},
       {},
       R"([{"op":"add","path":"/metadata","value":{"labels":{"a":"v","b":"v"}}}])"},
      {"a member that is null is added, not replaced",
       "{labels: {a: null}}",
       {{"/labels", "a"}},
       {},
       R"([{"op":"add","path":"/labels/a","value":"v"}])"},
      {"one missing parent is added once, whatever the order",
       "{spec: {}}",
       {{"/spec/metadata/labels", "b"}, {"/spec/x", "k"}, {"/spec/metadata/annotations", "a"}},
       {},
       R"([{"op":"add","path":"/spec/metadata","value":{"annotations":{"a":"v"},"labels":{"b":"v"}}},)"
       R"({"op":"add","path":"/spec/x","value":{"k":"v"}}])"},
      {"names that begin alike below a missing parent",
       "{}",
       {{"/a/m", "k"}, {"/a/m-b", "k"}, {"/a/m", "l"}, {"/a", "m~x"}},
       {"/a/list"},
       R"([{"op":"add","path":"/a","value":{"list":[{"name":"e"}],"m":{"k":"v","l":"v"},"m-b":{"k":"v"},"m~x":"v"}}])"},
      {"siblings whose names begin alike are not mixed up",
       "{a: {}, a-b: {}}",
       {{"/a/m", "k"}, {"/a-b/m", "k"}, {"/a/m", "l"}},
       {},
       R"([{"op":"add","path":"/a-b/m","value":{"k":"v"}},{"op":"add","path":"/a/m","value":{"k":"v","l":"v"}}])"},
      {"a present string is replaced",
       "{schedulerName: default-scheduler}",
       {{"", "schedulerName"}},
       {},
       R"([{"op":"replace","path":"/schedulerName","value":"v"}])"},
      {"an item is appended to the list that exists",
       "{env: [{name: x}]}",
       {},
       {"/env"},
       R"([{"op":"add","path":"/env/-","value":{"name":"e"}}])"},
      {"an item of a missing list",
       "{containers: [{}]}",
       {},
       {"/containers/0/env"},
       R"([{"op":"add","path":"/containers/0/env","value":[{"name":"e"}]}])"},
      {"an item of a list that is null",
       "{env: null}",
       {},
       {"/env"},
       R"([{"op":"add","path":"/env","value":[{"name":"e"}]}])"},
      {"a present value of another type stays",
       "{labels: {a: 3, b: true, c: {}}}",
       {{"/labels", "a"}, {"/labels", "b"}, {"/labels", "c"}},
       {},
       "[]"},
      {"nothing is written below a parent of another type",
       "{metadata: text, spec: [1], a: {b: 5}}",
       {{"/metadata/labels", "k"}, {"/spec/labels", "k"}, {"/a/b/c", "k"}},
       {"/metadata", "/a"},
       "[]"},
  };
  for (const PatchCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document document = testing::YamlDocument(c.object);
    const json::Value& object = document.root();
    Edits edits(object);
    edits.Begin("test");
    for (const auto& [path, key] : c.sets) edits.Set(PlaceAt(object, path), key, "v", "why");
    for (const std::string& path : c.appends) {
      edits.Append(PlaceAt(object, path), kItem, "why");
    }
    EXPECT_EQ(json::ToJsonPatch(edits.BuildPatch()).dump(), c.want);
    json::Arena arena(1024);
    EXPECT_TRUE(json::ApplyPatch(object, edits.BuildPatch(), arena));
    EXPECT_EQ(edits.empty(), c.want == "[]");
  }
}

TEST(Edits, TheFirstWriterOfAPlaceWins) {
  const auto object = json::Value::OfMembers({});
  Edits edits(object);
  edits.Begin("first");
  edits.Set(PlaceAt(object, "/labels"), "a", "1", "one");
  edits.Begin("second");
  edits.Set(PlaceAt(object, "/labels"), "a", "2", "two");
  edits.Set(PlaceAt(object, "/labels"), "b", "3", "three");
  EXPECT_THAT(edits.Changes(), ::testing::ElementsAre(Change{"first", "/labels/a", "one"},
                                                      Change{"second", "/labels/b", "three"}));
  EXPECT_EQ(json::TreeOf(edits.BuildPatch().begin()->value), Yaml("{a: '1', b: '3'}"));
}

TEST(Edits, PlacesOfAnotherTypeAreIgnored) {
  const auto object = json::Value::OfMembers({});
  Edits edits(object);
  edits.Set({"/labels", nullptr, true}, "a", "1", "");
  edits.Append({"/env", nullptr, true}, kItem, "");
  EXPECT_TRUE(edits.empty());
}

TEST(Edits, LaterMutatorsSeeEarlierOnes) {
  const json::Document object =
      YamlDocument("{spec: {template: {metadata: {labels: {stored: x, number: 3}}}}}");
  schemas::PodTemplateView pod;
  pod.labels = PlaceAt(object.root(), "/spec/template/metadata/labels");
  pod.annotations = PlaceAt(object.root(), "/spec/template/metadata/annotations");
  Edits edits(object.root());
  EXPECT_EQ(edits.Label(pod, "stored"), "x");
  EXPECT_EQ(edits.Label(pod, "number"), std::nullopt);
  EXPECT_EQ(edits.Label(pod, "new"), std::nullopt);
  edits.Set(pod.labels, "new", "y", "");
  edits.Set(pod.annotations, "a/b", "z", "");
  EXPECT_EQ(edits.Label(pod, "new"), "y");
  EXPECT_EQ(edits.Annotation(pod, "a/b"), "z");
  EXPECT_EQ(edits.Annotation(pod, "new"), std::nullopt);
  EXPECT_EQ(*edits.Pending(pod.labels, "new"), json::Value::OfText("y"));
  EXPECT_EQ(edits.Pending(pod.labels, "stored"), nullptr);
  EXPECT_EQ(edits.Pending(pod.annotations, "new"), nullptr);
}

TEST(Edits, WithheldNamesItsMutator) {
  const auto object = json::Value::OfMembers({});
  Edits edits(object);
  edits.Begin("min-available");
  edits.Withhold("/spec", "no");
  ASSERT_EQ(edits.withheld().size(), 1u);
  EXPECT_EQ(edits.withheld()[0].mutator, "min-available");
  EXPECT_EQ(edits.withheld()[0].path, "/spec");
  EXPECT_EQ(edits.withheld()[0].reason, "no");
  EXPECT_TRUE(edits.empty());
}

}  // namespace
}  // namespace mindgate::mutators
