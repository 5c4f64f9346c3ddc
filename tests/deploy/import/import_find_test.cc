#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "deploy/cluster_fixture.h"
#include "deploy/import/edits.h"
#include "deploy/import/import.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Why = NotImported::Why;

struct FindTest : ClusterTest {
  // What the old tool leaves, in a namespace and under a name.
  void PutOld(const std::string& file, const std::string& ns, const std::string& app = "my-test") {
    for (Json object : OldObjects(file)) {
      object["metadata"]["namespace"] = ns;
      std::string name = NameOf(object);
      object["metadata"]["name"] = name.replace(0, 7, app);
      if (object["metadata"].contains("labels") &&
          object["metadata"]["labels"].contains("storm-service-name")) {
        object["metadata"]["labels"]["storm-service-name"] = app;
      }
      server.Put(ResourceOf(object), object);
    }
  }

  std::vector<std::string> TitlesOf(const tl::expected<FoundApplication, NotImported>& found) {
    std::vector<std::string> titles;
    if (!found) return {"refused: " + found.error().reasons.front().what};
    for (const Json& each : found->objects) titles.push_back(TitleOf(each));
    return titles;
  }

  void ExpectRefusal(const tl::expected<FoundApplication, NotImported>& found, Why why,
                     const std::string& what, const std::string& hint) {
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().why, why);
    EXPECT_EQ(found.error().reasons.front().what, what);
    EXPECT_EQ(found.error().reasons.front().hint, hint);
  }

  auto Find(const std::string& ns, const std::string& app = "my-test",
            std::optional<Framework> framework = {}) {
    return FindOnCluster(client, ns, app, framework, {});
  }
};

TEST_F(FindTest, TheObjectsOfTheOldTool) {
  PutOld("ome-00-sample", "llm");
  PutOld("aibrix-00-sample", "mindie");
  server.Put(kube::resources::kServices,
             {{"metadata", {{"namespace", "mindie"}, {"name", "my-test"}}}});
  EXPECT_THAT(TitlesOf(Find("llm")),
              ElementsAre("InferenceService my-test", "Deployment my-test-mf-store",
                          "Service my-test-mf-store"));
  EXPECT_THAT(TitlesOf(Find("mindie")),
              ElementsAre("StormService my-test", "Service my-test-decode-0-0",
                          "Service my-test-decode-0-1", "Service my-test-prefill-0",
                          "Service my-test-prefill-1"));
  EXPECT_EQ(Find("mindie")->framework, Framework::kAibrix);
  EXPECT_THAT(Writes(), ElementsAre());
}

TEST_F(FindTest, NamesWhatThereIsInstead) {
  ExpectRefusal(Find("llm"), Why::kNotFound,
                "namespace llm has no InferenceService and no StormService my-test, and no "
                "AscendJobs with the label jobID=my-test",
                "choose another namespace with -n");
  PutOld("ome-00-sample", "llm", "another");
  ExpectRefusal(Find("llm"), Why::kNotFound,
                "namespace llm has no InferenceService and no StormService my-test, and no "
                "AscendJobs with the label jobID=my-test",
                "the namespace has another");
  PutOld("ome-00-sample", "mindie");
  EXPECT_EQ(Find("llm").error().reasons.front().hint,
            "there is one in namespace mindie: choose it with -n");
}

TEST_F(FindTest, RefusesTwoKindsOfOneName) {
  PutOld("ome-00-sample", "llm");
  PutOld("aibrix-00-sample", "llm");
  ExpectRefusal(
      Find("llm"), Why::kNotPossible,
      "namespace llm has InferenceService my-test and StormService my-test, each of which is an "
      "application",
      "set SERVING_FRAMEWORK=ome for the InferenceService, or aibrix for the StormService");
  EXPECT_EQ(Find("llm", "my-test", Framework::kAibrix)->framework, Framework::kAibrix);
  EXPECT_EQ(Find("llm", "my-test", Framework::kOme)->framework, Framework::kOme);
}

TEST_F(FindTest, RefusesWhatMindgateMade) {
  Deploy(kOmeConfig);
  ExpectRefusal(
      Find("llm", "chat"), Why::kNotPossible,
      "`mindgate deploy` made InferenceService chat in namespace llm, which therefore has "
      "a file already",
      "`mindgate deploy history chat -n llm` lists its files, and `mindgate deploy history "
      "chat -n llm REVISION` prints one");
}

TEST_F(FindTest, RefusesWhatTheOldToolDidNotMake) {
  server.Put(resources::kInferenceServices,
             {{"metadata", {{"namespace", "llm"}, {"name", "my-test"}}},
              {"spec", {{"engine", {{"runner", {{"name", "ome-container"}}}}}}}});
  ExpectRefusal(Find("llm"), Why::kNotPossible,
                "InferenceService my-test in namespace llm is not of mindcluster-deploy's "
                "k8s-deploy-tool: its spec.engine has no runner with the variables DP_SIZE and "
                "TP_SIZE",
                "`mindgate deploy --init ome` writes a file to start from");
  server.Put(resources::kStormServices,
             {{"metadata", {{"namespace", "mindie"}, {"name", "my-test"}}}, {"spec", {{"a", 1}}}});
  EXPECT_EQ(Find("mindie").error().reasons.front().hint,
            "`mindgate deploy --init aibrix` writes a file to start from");
}

TEST_F(FindTest, RefusesJobsOfMindieMotor) {
  for (const char* name : {"mindie-server-p0", "my-test-controller"}) {
    server.Put(resources::kAscendJobs,
               {{"metadata",
                 {{"namespace", "mindie"}, {"name", name}, {"labels", {{"jobID", "my-test"}}}}}});
  }
  const auto found = Find("mindie");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().why, Why::kNotPossible);
  EXPECT_THAT(found.error().reasons.front().what,
              HasSubstr("is of MindIE Motor (AscendJob mindie-server-p0, AscendJob "
                        "my-test-controller), whose deployer gives"));
}

TEST_F(FindTest, NamesEachRightThatIsMissing) {
  PutOld("ome-00-sample", "llm");
  server.Forbid("get", "deployments");
  server.Forbid("get", "services");
  const auto found = Find("llm");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().why, Why::kUnreadable);
  ASSERT_EQ(found.error().reasons.size(), 2u);
  EXPECT_THAT(found.error().reasons[0].what, HasSubstr("deployments"));
  EXPECT_THAT(found.error().reasons[1].what, HasSubstr("services"));
}

TEST_F(FindTest, NeedsNoRightsOfOtherFrameworks) {
  PutOld("ome-00-sample", "llm");
  server.Forbid("*", "stormservices");
  server.Forbid("*", "ascendjobs");
  EXPECT_TRUE(Find("llm").has_value());
  EXPECT_EQ(Find("mindie").error().why, Why::kUnreadable);
}

TEST(FindAmong, ChoosesTheNamespace) {
  std::vector<Json> objects = OldObjects("ome-00-sample");
  for (Json each : OldObjects("ome-00-sample")) {
    each["metadata"]["namespace"] = "llm";
    objects.push_back(each);
  }
  const auto ambiguous = FindAmong(objects, "", "my-test", {});
  ASSERT_FALSE(ambiguous.has_value());
  EXPECT_EQ(ambiguous.error().reasons.front().what,
            "application my-test is in namespaces default, llm");
  EXPECT_EQ(ambiguous.error().reasons.front().hint, "choose one with -n");
  const auto chosen = FindAmong(objects, "llm", "my-test", {});
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(chosen->ns, "llm");
  EXPECT_EQ(chosen->objects.size(), 3u);
  EXPECT_EQ(FindAmong(objects, "", "other", {}).error().reasons.front().hint,
            "there are default/my-test, llm/my-test");
}

}  // namespace
}  // namespace mindgate::deploy
