#include "offline/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "offline/evaluate.h"
#include "schemas/raw_objects.h"

namespace mindgate::offline {
namespace {

using ::testing::ElementsAre;

std::string PlaceOf(json::Position at) {
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

// "LINE:COLUMN apiVersion Kind name", or "LINE:COLUMN! field: message (hint)".
std::vector<std::string> ObjectsOfText(const std::string& name, const std::string& text,
                                       bool found = false) {
  InputText input;
  input.name = name;
  input.text = text;
  input.found = found;
  const auto source = Decode(std::move(input));
  std::vector<std::string> out;
  for (const InputObject& object : ObjectsIn(*source)) {
    if (object.fault) {
      const json::Issue& fault = *object.fault;
      out.push_back(PlaceOf(fault.at) + "! " + fault.field + ": " + fault.message +
                    (fault.hint.empty() ? "" : " (" + fault.hint + ")"));
      continue;
    }
    out.push_back(PlaceOf(object.document->At(object.path + "/metadata/name")) + " " +
                  ApiVersionOf(*object.object) + " " + KindOf(*object.object) + " " +
                  schemas::ObjectName(*object.object));
  }
  return out;
}

std::string PodText(const std::string& name) {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name + "\"}}";
}

TEST(Documents, JsonObjectsMayFollowEachOther) {
  const std::string two = PodText("a") + "\n" + PodText("b") + "\n";
  for (const char* name : {"a.json", kStdin, "a.yaml"}) {
    EXPECT_THAT(ObjectsOfText(name, two), ElementsAre("1:58 v1 Pod a", "2:58 v1 Pod b")) << name;
  }
  EXPECT_THAT(ObjectsOfText("a.json", PodText("a") + " " + PodText("]\\\"{") + PodText("c")),
              ElementsAre("1:58 v1 Pod a", "1:121 v1 Pod ]\"{", "1:186 v1 Pod c"));
  EXPECT_THAT(ObjectsOfText("a.json", PodText("a") + "\n{\"kind\": }\n" + PodText("c")),
              ElementsAre("1:58 v1 Pod a", ::testing::StartsWith("2:10! "), "3:58 v1 Pod c"));
  EXPECT_THAT(ObjectsOfText("a.json", PodText("a") + "}"), ElementsAre(::testing::HasSubstr("! ")))
      << "what is no object belongs to the one before it";
}

TEST(Documents, ItemsOfATypedListAreNamedByIt) {
  EXPECT_THAT(
      ObjectsOfText("a.yaml", R"(apiVersion: apps/v1
kind: DeploymentList
items:
- metadata: {name: a}
- {apiVersion: v1, kind: Pod, metadata: {name: b}}
- {kind: Pod, metadata: {name: c}}
)"),
      ElementsAre("4:20 apps/v1 Deployment a", "5:48 v1 Pod b", "6:32 apps/v1 Deployment c"));
  EXPECT_THAT(ObjectsOfText("a.json", R"({"apiVersion": "v1", "kind": "PodList",
"items": [{"metadata": {"name": "a"}}]})"),
              ElementsAre("2:33 v1 Pod a"));
  EXPECT_THAT(ObjectsOfText("a.yaml", "{apiVersion: v1, kind: List, items: [{metadata: {}}]}"),
              ElementsAre(::testing::HasSubstr("apiVersion is missing")));
}

TEST(Documents, ARecordedReviewHasHowItWasSent) {
  InputText input;
  input.name = "review.json";
  input.text = R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request":
{"operation": "CREATE", "dryRun": true, "options": {"kind": "CreateOptions"}, "userInfo":
{"username": "ann"}, "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}})";
  const auto source = Decode(std::move(input));
  const auto objects = ObjectsIn(*source);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_TRUE(objects[0].dry_run);
  EXPECT_EQ(json::FindString(objects[0].options, "kind"), "CreateOptions");
  EXPECT_EQ(json::FindString(objects[0].user_info, "username"), "ann");
}

TEST(Documents, AnObjectHasAName) {
  const std::string why =
      "metadata.name: metadata.name is missing, and so is generateName (add one of them; kubectl "
      "rejects the object as well)";
  const std::string pod = "apiVersion: v1\nkind: Pod\n";
  EXPECT_THAT(ObjectsOfText("a.yaml", pod), ElementsAre("1:1! " + why));
  EXPECT_THAT(ObjectsOfText("a.yaml", pod + "metadata: {namespace: x}\n"),
              ElementsAre("3:1! " + why));
  EXPECT_THAT(ObjectsOfText("a.yaml", pod + "metadata: {name\uFF1A a}\n"),
              ElementsAre(::testing::HasSubstr("! ")));
  EXPECT_THAT(ObjectsOfText("a.yaml", "apiVersion: ray.io/v1\nkind: RayCluster\n"),
              ElementsAre("1:1! " + why));
  EXPECT_THAT(ObjectsOfText("a.yaml", pod + "metadata: {generateName: a-}\n"),
              ElementsAre("3:1 v1 Pod a-*****"));
  const std::string patch = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
  EXPECT_THAT(ObjectsOfText("a.yaml", patch, /*found=*/true), ::testing::SizeIs(1));
  EXPECT_THAT(ObjectsOfText("a.yaml", "{apiVersion: v1, kind: List, items: []}"),
              ::testing::SizeIs(1));
}

TEST(Documents, NamesOfKindsThatNobodyEvaluatesAreTexts) {
  const std::string service = "apiVersion: ray.io/v1\nkind: RayCluster\n";
  EXPECT_THAT(ObjectsOfText("a.yaml", service + "metadata: {name: a, namespace: no}\n"),
              ElementsAre("3:32! metadata.namespace: namespace must be a string, not a boolean "
                          "(write namespace: \"no\")"));
  EXPECT_THAT(ObjectsOfText("a.yaml", service + "metadata: {name: 0755}\n"),
              ElementsAre("3:18! metadata.name: name must be a string, not an integer (write "
                          "name: \"0755\")"));
  EXPECT_THAT(ObjectsOfText("a.yaml", service + "metadata: text\n"),
              ElementsAre("3:11! metadata: metadata must be an object (write metadata: {name: "
                          "...})"));
}

// The fixes of MG001 in an object that is read from standard input.
std::vector<std::string> FixesIn(const std::string& text) {
  std::istringstream in(text);
  std::ostringstream err;
  InputOptions options;
  options.files = {"-"};
  const auto evaluation = Evaluate(options, {}, in, err);
  if (!evaluation) return {err.str()};
  std::vector<std::string> fixes;
  for (const auto& finding : evaluation->decisions.at(0).verdict.findings) {
    if (finding.rule != nullptr && finding.rule->id == "MG001") fixes.push_back(finding.fix);
  }
  return fixes;
}

TEST(Documents, FixesQuoteWhatTheAuthorWrote) {
  EXPECT_THAT(FixesIn(R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: on
  namespace: no
  labels: {a: 1.10, b: 0755, c: 12345678901234567890123, canary: yes}
  annotations:
    d: !!float 2
    e: &e 1_000
    f: *e
)"),
              ElementsAre(R"(write name: "on")", R"(write namespace: "no")", R"(write a: "1.10")",
                          R"(write b: "0755")", R"(write c: "12345678901234567890123")",
                          R"(write canary: "yes")", R"(write d: "2.0")", R"(write e: "1000")",
                          R"(write f: "1000")"));
  EXPECT_THAT(FixesIn(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
"labels": {"a": 1.10, "b": true}}})"),
              ElementsAre(R"(write a: "1.10")", R"(write b: "true")"));
}

}  // namespace
}  // namespace mindgate::offline
