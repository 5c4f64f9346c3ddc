#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/decode.h"
#include "kube/answers.h"

namespace mindgate::kube {
namespace {

using json::Json;

const std::string kLongText(300, 'n');
const std::string kHuge(700'000, 'v');

TEST(Understood, NamesAndValuesHaveBounds) {
  struct Case {
    std::string text;
    bool name;
    bool value;
  };
  const std::vector<Case> cases = {
      {"", true, true},
      {"llm-0", true, true},
      {"\xE4\xB8\xAD", true, true},
      {std::string(253, 'a'), true, true},
      {std::string(254, 'a'), false, true},
      {std::string(1024, 'a'), false, true},
      {std::string(1025, 'a'), false, false},
      {"a\nb\tc\r", false, true},
      {"a\x1b[2K", false, false},
      {"a\x07", false, false},
      {std::string("a\0b", 3), false, false},
      {"a\x7f", false, false},
      {"a\xC2\x9B", false, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsName(c.text), c.name) << json::Json(c.text).dump();
    EXPECT_EQ(IsValue(c.text), c.value) << json::Json(c.text).dump();
  }
}

Json Pod() {
  return {{"metadata",
           {{"namespace", "a"},
            {"name", "b"},
            {"labels", {{"x", "1"}}},
            {"annotations", {{"note", "two\nlines"}, {"scheduling.k8s.io/group-name", "g"}}},
            {"ownerReferences",
             {{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "o"}, {"uid", "u"}}}}}},
          {"spec", {{"nodeName", "n"}, {"priority", 7}}}};
}

TEST(Understood, AnHonestObjectStaysAsItIs) {
  const json::Document pod(Pod());
  json::Arena rows(1024);
  const Understood read = Understand(pod.root(), rows);
  ASSERT_TRUE(read.object);
  EXPECT_EQ(*read.object, pod.root());
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(rows.used(), 0u) << "nothing is copied";
  EXPECT_EQ(read.bytes, std::string("ab1two\nlinesgapps/v1ReplicaSetoun").size());
}

TEST(Understood, TextsThatAreNotUnderstoodAreAbsent) {
  struct Case {
    const char* at;
    std::string text;
    const char* absent;  // what is null then
    std::string problem;
  };
  const std::vector<Case> cases = {
      {"/metadata/annotations/note", kHuge, "/metadata/annotations/note",
       "metadata.annotations.note has 700000 bytes, more than 1024"},
      {"/metadata/annotations/note", "\x1b]0;owned\x07", "/metadata/annotations/note",
       "metadata.annotations.note has control characters"},
      {"/metadata/annotations/scheduling.k8s.io~1group-name", kLongText,
       "/metadata/annotations/scheduling.k8s.io~1group-name",
       "metadata.annotations.scheduling.k8s.io/group-name has 300 bytes, more than 253"},
      {"/metadata/ownerReferences/0/name", kLongText, "/metadata/ownerReferences/0",
       "metadata.ownerReferences[0].name has 300 bytes, more than 253"},
      {"/metadata/ownerReferences/0/kind", "Pod\n", "/metadata/ownerReferences/0",
       "metadata.ownerReferences[0].kind has control characters"},
      {"/spec/nodeName", "n\x1b", "/spec/nodeName", "spec.nodeName has control characters"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.problem);
    Json want = Pod();
    Json given = want;
    given[Json::json_pointer(c.at)] = c.text;
    want[Json::json_pointer(c.absent)] = nullptr;
    const json::Document pod(given);
    json::Arena rows(1024);
    const Understood read = Understand(pod.root(), rows);
    ASSERT_TRUE(read.object);
    EXPECT_EQ(json::TreeOf(*read.object), want);
    EXPECT_EQ(read.problem, c.problem);
    EXPECT_LT(rows.used(), 1024u);
  }
}

TEST(Understood, AnObjectWithoutANameIsNone) {
  for (const char* key : {"name", "namespace"}) {
    Json given = Pod();
    given["metadata"][key] = kLongText;
    const json::Document pod(given);
    json::Arena rows(1024);
    EXPECT_FALSE(Understand(pod.root(), rows).object) << key;
  }
}

TEST(Understood, KeysHaveABoundToo) {
  Json given = Pod();
  given["metadata"]["labels"][kHuge] = "x";
  const json::Document pod(given);
  json::Arena rows(1024);
  const Understood read = Understand(pod.root(), rows);
  EXPECT_EQ(read.problem, "metadata.labels.a key of 700000 bytes has 700000 bytes, more than 1024");
  EXPECT_TRUE(json::FindPath(*read.object, {"metadata", "labels"})->Lookup(kHuge)->is_null());
}

TEST(Understood, DataOfAConfigMapIsADocument) {
  const Json map = {{"metadata", {{"namespace", "a"}, {"name", "b"}}}, {"data", {{"x", kHuge}}}};
  const json::Document document(map);
  json::Arena rows(1024);
  const Understood read = Understand(document.root(), rows);
  EXPECT_EQ(*read.object, document.root());
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.bytes, 2u);
}

}  // namespace
}  // namespace mindgate::kube
