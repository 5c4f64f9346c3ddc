#include "deploy/rollback.h"

#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "deploy/cluster_fixture.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::testing::StatusAnswer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ApplyOptions kAtomic{.atomic = true, .timeout = std::chrono::seconds(20)};

// No controller makes pods, so nothing becomes healthy; what is deleted in the foreground goes in
// the first pause, unless a test keeps it.
struct RollbackTest : ClusterTest {
  std::string kept;  // a job with a finalizer of somebody who does not answer

  void Play() override {
    for (const std::string name :
         {"motor-coordinator", "motor-controller", "motor-p0", "motor-p1", "motor-d0"}) {
      const Json job = server.Find(resources::kAscendJobs, "mindie", name);
      if (name == kept || job.is_null()) continue;
      if (job["metadata"].contains("deletionTimestamp")) {
        server.Remove(resources::kAscendJobs, "mindie", name);
      }
    }
  }
  Json Job(const std::string& name) { return server.Find(resources::kAscendJobs, "mindie", name); }
  Json Table(const std::string& job) {
    return server.Find(kube::resources::kConfigMaps, "mindie", "rings-config-" + job);
  }
};

TEST_F(RollbackTest, WhatWasPrunedComesBack) {
  Deploy(kMindieConfig);
  const Json job = Job("motor-p1");
  Json table = Table("motor-p1");
  table["data"]["hccl.json"] = R"({"status":"completed"})";
  server.Put(kube::resources::kConfigMaps, table);
  steps.clear();
  const ApplyResult result = Deploy(With(kMindieConfig, "instances: 2", "instances: 1"), kAtomic);
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_TRUE(result.rolled_back);
  EXPECT_EQ(Comparable(Job("motor-p1")), Comparable(job));
  EXPECT_NE(UidOf(Job("motor-p1")), UidOf(job));
  // The addresses of the pods before are no longer true.
  EXPECT_EQ(Table("motor-p1")["data"]["hccl.json"], R"({"status":"initializing"})");
  EXPECT_THAT(
      steps,
      ElementsAre("ConfigMap motor-scaling-rule changed",
                  "AscendJob motor-p1 deleted: it is no longer part of the application",
                  "ConfigMap rings-config-motor-p1 deleted: it is no longer part of the "
                  "application",
                  "rolling back", "ConfigMap motor-scaling-rule restored",
                  "AscendJob motor-p1 restored", "ConfigMap rings-config-motor-p1 restored"));
  server.ForgetRequests();
  EXPECT_EQ(Deploy(kMindieConfig).written, 0u);
  EXPECT_THAT(Writes(), IsEmpty());
}

// An owner comes back before what it owns, with another uid.
TEST_F(RollbackTest, OwnersComeBackFirst) {
  const std::string elsewhere =
      With(With(kAibrixConfig, "app_name: q\n", "app_name: chat\n"), "app_namespace: llm\n",
           "app_namespace: llm\nframework: aibrix\n");
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    mindgate::testing::PlayDeployments(server, "llm", "chat");
    for (const auto& [resource, name] :
         {std::pair(resources::kInferenceServices, "chat"),
          std::pair(kube::resources::kDeployments, "chat-mf-store")}) {
      const Json object = server.Find(resource, "llm", name);
      if (object.is_object() && object["metadata"].contains("deletionTimestamp")) {
        server.Remove(resource, "llm", name);
      }
    }
  });
  Deploy(kOmeConfig);
  const ApplyResult result = Deploy(elsewhere, kAtomic);
  EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
  const std::string uid = UidOf(server.Find(resources::kInferenceServices, "llm", "chat"));
  EXPECT_EQ(server.Find(kube::resources::kDeployments, "llm",
                        "chat-mf-store")["metadata"]["ownerReferences"][0]["uid"],
            uid);
  EXPECT_THAT(Titles(), ElementsAre("InferenceService chat", "Deployment chat-mf-store",
                                    "Service chat-mf-store"));
}

// The pods of before are ready, and say nothing of the new image.
TEST_F(RollbackTest, PodsOfTheImageBeforeDoNotMakeItHealthy) {
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    mindgate::testing::PlayControllers(server);
  });
  ASSERT_EQ(Deploy(kOmeConfig, {.wait = true}).outcome, Outcome::kDone);
  Json pod = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  pod["spec"]["containers"] = Json::array(
      {server.Find(resources::kInferenceServices, "llm", "chat")["spec"]["engine"]["runner"]});
  server.Put(kube::resources::kPods, pod);
  ASSERT_EQ(Deploy(kOmeConfig, kAtomic).outcome, Outcome::kDone);
  const std::string changed =
      With(kOmeConfig, "    image: r/s:1\n    npu_num", "    image: r/s:broken\n    npu_num");
  const ApplyResult result = Deploy(changed, kAtomic);
  EXPECT_EQ(result.outcome, Outcome::kTimedOut);
  EXPECT_EQ(result.message,
            "the application was not healthy within 20 s: engine has 0/1 pods ready; the others "
            "are of the configuration before");
  EXPECT_TRUE(result.rolled_back);
  EXPECT_EQ(server.Find(resources::kInferenceServices, "llm",
                        "chat")["spec"]["engine"]["runner"]["image"],
            "r/s:1");
}

TEST_F(RollbackTest, AReplacedJobThatCannotBeSubmittedComesBack) {
  Deploy(kMindieConfig);
  const Json before = Job("motor-coordinator");
  const std::string changed = With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1");
  const Configuration configuration = Read(changed);
  const Plan plan = PlanOf(changed, {.replace = true});
  server.AnswerNext(1, {.method = "PATCH", .target_part = "ascendjobs/motor-coordinator"},
                    StatusAnswer(403, "Forbidden", "admission says no"));
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan, kAtomic,
               {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  EXPECT_THAT(result.message, HasSubstr("admission says no"));
  EXPECT_TRUE(result.rolled_back);
  EXPECT_EQ(Comparable(Job("motor-coordinator")), Comparable(before));
}

// The time limit of deploying is over by then; undoing has its own, and says what it did not do.
TEST_F(RollbackTest, WhatIsNotUndoneIsNamed) {
  Deploy(kMindieConfig);
  kept = "motor-coordinator";
  const ApplyResult result =
      Deploy(With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1"), kAtomic, {.replace = true});
  EXPECT_EQ(result.message, "AscendJob motor-coordinator was not gone within 20 s");
  EXPECT_FALSE(result.rolled_back);
  EXPECT_THAT(result.not_undone, ElementsAre("AscendJob motor-coordinator"));
  EXPECT_THAT(steps, Contains("AscendJob motor-coordinator not undone: AscendJob "
                              "motor-coordinator was not gone within 300 s"));
}

TEST_F(RollbackTest, AReplacedJobComesBackAfterAnInterruption) {
  Deploy(kMindieConfig);
  std::map<std::string, Json> before;
  for (const std::string name : {"motor-coordinator", "motor-controller", "motor-p0"}) {
    before[name] = Comparable(Job(name));
  }
  const std::string changed = With(kMindieConfig, "mindie:1.0.0", "mindie:1.0.1");
  for (const char* moment :
       {"AscendJob motor-coordinator deleted, to be submitted again",
        "AscendJob motor-coordinator submitted again", "AscendJob motor-controller submitted again",
        "AscendJob motor-p0 submitted again"}) {
    const Configuration configuration = Read(changed);
    const Plan plan = PlanOf(changed, {.replace = true});
    std::stop_source stop;
    const ApplyResult result =
        CarryOut(client, sleeper, clock, configuration.application, plan, {.atomic = true},
                 {.step =
                      [&](const std::string& line) {
                        if (line == moment) stop.request_stop();
                      }},
                 stop.get_token());
    EXPECT_EQ(result.message, "interrupted");
    EXPECT_TRUE(result.rolled_back) << moment;
    for (const auto& [name, job] : before) EXPECT_EQ(Comparable(Job(name)), job) << moment;
  }
}

// The connection broke, and the object was made all the same.
TEST_F(RollbackTest, WhatWasMadeWithoutAnAnswerIsUndone) {
  const Configuration configuration = Read(kAibrixConfig);
  const Plan plan = PlanOf(kAibrixConfig);
  server.LoseAnswers(3, {.method = "PATCH", .target_part = "services/q-prefill-0"});
  std::stop_source stop;
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan, {.atomic = true},
               {.step =
                    [&](const std::string& line) {
                      steps.push_back(line);
                      stop.request_stop();
                    }},
               stop.get_token());
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(steps[0], HasSubstr("trying again: "));
  EXPECT_TRUE(result.rolled_back);
  EXPECT_TRUE(server.Find(kube::resources::kServices, "llm", "q-prefill-0").is_null());
}

// An API server that restarts is back soon.
TEST_F(RollbackTest, FailuresThatPassAreCarriedOver) {
  const Configuration configuration = Read(kAibrixConfig);
  const Plan plan = PlanOf(kAibrixConfig);
  server.LoseAnswers(3, {.method = "PATCH", .target_part = "services/q-prefill-0"});
  server.AnswerNext(2, {.method = "GET", .target_part = "/pods?"},
                    StatusAnswer(503, "ServiceUnavailable", "the server is starting"));
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan,
               {.wait = true, .timeout = std::chrono::seconds(40)},
               {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  EXPECT_EQ(result.message,
            "the application was not healthy within 40 s: prefill has 0/1 pods "
            "ready");
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                          [](const auto& line) { return line.starts_with("trying again: "); }),
            2);
}

// Ascend Operator may fill a rank table between plan and apply.
TEST_F(RollbackTest, WhatIsWrittenBetweenPlanAndApplyStays) {
  Deploy(kMindieConfig);
  const std::string changed =
      With(kMindieConfig, "  decode:\n", "  decode:\n    distributed: true\n");
  for (const bool force : {false, true}) {
    const Configuration configuration = Read(changed);
    Plan plan = PlanOf(changed, {.force = force, .replace = true});
    // So that the table is applied, whatever else the change is about.
    for (PlannedObject& planned : plan.objects) {
      if (planned.rendered.seeded) planned.action = Action::kUpdate;
    }
    const std::string filled = R"({"status":"completed","force":)" + std::to_string(force) + "}";
    Value(client.MergePatch(kube::resources::kConfigMaps, "mindie", "rings-config-motor-p0",
                            {{"data", {{"hccl.json", filled}}}},
                            {.field_manager = "ascend-operator"}));
    const ApplyResult result =
        CarryOut(client, sleeper, clock, configuration.application, plan, {.force = force},
                 {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
    EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
    EXPECT_EQ(Table("motor-p0")["data"]["hccl.json"], filled);
  }
}

// --- what somebody does between a deployment and its undoing
// ---------------------------------------

// As another run would that is not kept away, since Leases may not be written.
struct CrossedTest : RollbackTest {
  const std::string first = With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1",
                                 "  routing:\n    image: vllm-ascend:11");
  const std::string second = With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1",
                                  "  routing:\n    image: vllm-ascend:12");
  const std::string third = With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1",
                                 "  routing:\n    image: vllm-ascend:13");

  ApplyResult DeployWhile(std::string_view config, std::function<void()> happens) {
    bool done = false;
    sleeper.Then([this, &done, happens = std::move(happens)] {
      clock.Advance(kPollTime);
      if (!std::exchange(done, true)) happens();
    });
    steps.clear();
    return Deploy(config, kAtomic);
  }
  std::string Image() {
    const Json storm = server.Find(resources::kStormServices, "llm", "q");
    if (storm.is_null()) return "";
    for (const Json& role : storm["spec"]["template"]["spec"]["roles"]) {
      if (role["name"] == "routing") {
        return role["template"]["spec"]["containers"][0]["image"];
      }
    }
    return "";
  }
};

TEST_F(CrossedTest, ALaterDeploymentOfANewApplicationStays) {
  const ApplyResult result = DeployWhile(second, [this] { Deploy(third); });
  EXPECT_EQ(Image(), "vllm-ascend:13");
  EXPECT_FALSE(result.rolled_back);
  EXPECT_EQ(result.message,
            "the application does not become healthy: StormService q was changed meanwhile by "
            "another mindgate deploy");
  EXPECT_THAT(result.not_undone, ElementsAre("StormService q"));
  EXPECT_THAT(steps, Contains("StormService q not undone: changed meanwhile by another mindgate "
                              "deploy"));
}

TEST_F(CrossedTest, ALaterDeploymentOfAnOldApplicationStays) {
  Deploy(first);
  const ApplyResult result = DeployWhile(second, [this] { Deploy(third); });
  EXPECT_EQ(Image(), "vllm-ascend:13");
  EXPECT_THAT(result.not_undone, ElementsAre("StormService q"));
}

TEST_F(CrossedTest, WhatPeopleChangedStays) {
  Deploy(first);
  const ApplyResult result = DeployWhile(second, [this] {
    Json storm = server.Find(resources::kStormServices, "llm", "q");
    storm["spec"]["template"]["spec"]["roles"][0]["replicas"] = 5;
    Value(client.Update(resources::kStormServices, "llm", "q", storm,
                        {.field_manager = "kubectl-edit"}));
  });
  EXPECT_THAT(result.message, HasSubstr("StormService q was changed meanwhile by kubectl-edit"));
  EXPECT_EQ(Image(), "vllm-ascend:12");
  EXPECT_EQ(server.Find(resources::kStormServices, "llm",
                        "q")["spec"]["template"]["spec"]["roles"][0]["replicas"],
            5);
  EXPECT_THAT(steps, Contains("StormService q not undone: changed meanwhile by kubectl-edit"));
}

TEST_F(CrossedTest, WhatSomebodyRecreatedStays) {
  Deploy(first);
  const ApplyResult result = DeployWhile(second, [this] {
    Json storm = server.Find(resources::kStormServices, "llm", "q");
    storm["metadata"]["uid"] = "another";
    server.Put(resources::kStormServices, storm);
  });
  EXPECT_FALSE(result.rolled_back);
  EXPECT_THAT(steps, Contains("StormService q not undone: somebody deleted it meanwhile and made "
                              "another one"));
}

// Controllers report and annotate all the time.
TEST_F(CrossedTest, WhatControllersWriteIsNoChange) {
  Deploy(first);
  sleeper.Then([this] {
    clock.Advance(kPollTime);
    Value(client.MergePatch(
        resources::kStormServices, "llm", "q",
        {{"metadata",
          {{"annotations", {{"aibrix.ai/seen", "1"}}}, {"finalizers", {"aibrix.ai/hold"}}}},
         {"status", {{"observedGeneration", 7}}}},
        {.field_manager = "aibrix"}));
  });
  const ApplyResult result = Deploy(second, kAtomic);
  EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
  EXPECT_EQ(Image(), "vllm-ascend:11");
}

// --force takes fields from others. Their values come back, and stay when the file before, which
// does not have them, is deployed again.
TEST_F(CrossedTest, WhatWasTakenFromOthersComesBack) {
  Deploy(first);
  const auto change = [this](const Json& patch) {
    Value(client.MergePatch(resources::kStormServices, "llm", "q", patch,
                            {.field_manager = "kubectl-edit"}));
  };
  change({{"metadata", {{"annotations", {{"team", "a"}, {"theirs", "kept"}}}}},
          {"spec", {{"updateStrategy", {{"maxUnavailable", 7}}}}}});
  const std::string forced = second + R"(patches:
- kind: StormService
  patch: {metadata: {annotations: {team: b, new: c}}, spec: {updateStrategy: {maxUnavailable: 1}}}
)";
  const auto now = [this](const char* at) {
    return server.Find(resources::kStormServices, "llm", "q").value(Json::json_pointer(at), Json());
  };
  const ApplyOptions options{.force = true, .atomic = true, .timeout = std::chrono::seconds(20)};
  for (const bool is_lost : {false, true}) {
    const Configuration configuration = Read(forced);
    const Plan plan = Value(MakePlan(client, configuration.application,
                                     Render(configuration.application), {.force = true}, {}));
    if (is_lost) {
      server.AnswerLate(1, {.method = "PATCH", .target_part = "stormservices/q?"},
                        StatusAnswer(500, "InternalError", "etcdserver: request timed out"));
    }
    const ApplyResult result =
        CarryOut(client, sleeper, clock, configuration.application, plan, options,
                 {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
    EXPECT_NE(result.outcome, Outcome::kDone);
    EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
    for (int deployed = 0; deployed < 2; ++deployed) {
      EXPECT_EQ(Image(), "vllm-ascend:11");
      EXPECT_EQ(now("/metadata/annotations/team"), "a");
      EXPECT_EQ(now("/metadata/annotations/theirs"), "kept");
      EXPECT_EQ(now("/metadata/annotations/new"), Json());
      EXPECT_EQ(now("/spec/updateStrategy/maxUnavailable"), 7);
      EXPECT_EQ(Deploy(first).written, 0u);
    }
  }
}

// Between the look and the write as well: the resourceVersion goes along.
TEST_F(CrossedTest, UndoingLooksAgainWhenItsWriteCrossesAnother) {
  Deploy(first);
  server.AnswerNext(2, {.method = "PATCH", .target_part = "force=true"},
                    StatusAnswer(409, "Conflict", "the object has been modified"));
  const ApplyResult result = Deploy(second, kAtomic);
  EXPECT_TRUE(result.rolled_back) << ::testing::PrintToString(steps);
  EXPECT_EQ(Image(), "vllm-ascend:11");
}

// What was pruned, and somebody made since.
TEST_F(RollbackTest, WhatWasPrunedAndMadeBySomebodyElseStays) {
  Deploy(kMindieConfig);
  bool made = false;
  sleeper.Then([this, &made] {
    clock.Advance(kPollTime);
    Play();
    if (!Job("motor-p1").is_null() || std::exchange(made, true)) return;
    Value(client.Create(resources::kAscendJobs, "mindie",
                        {{"apiVersion", "mindxdl.gitee.com/v1"},
                         {"kind", "AscendJob"},
                         {"metadata", {{"name", "motor-p1"}}},
                         {"spec", {{"mine", true}}}}));
  });
  const ApplyResult result = Deploy(With(kMindieConfig, "instances: 2", "instances: 1"), kAtomic);
  EXPECT_THAT(result.not_undone, ElementsAre("AscendJob motor-p1"));
  EXPECT_EQ(Job("motor-p1")["spec"]["mine"], true);
  EXPECT_THAT(steps,
              Contains("AscendJob motor-p1 not undone: somebody made another one meanwhile"));
}

// A webhook that is updated answers nothing for a while.
TEST_F(RollbackTest, AWebhookThatIsAwayIsAskedAgain) {
  const Configuration configuration = Read(kAibrixConfig);
  const Plan plan = PlanOf(kAibrixConfig);
  server.AnswerNext(2, {.method = "PATCH", .target_part = "services/q-prefill-0"},
                    StatusAnswer(500, "InternalError",
                                 "Internal error occurred: failed calling webhook \"a.b\": dial "
                                 "tcp 10.0.0.1:443: connect: connection refused"));
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan, {},
               {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.message;
  EXPECT_THAT(steps[0], HasSubstr("trying again: "));
}

// What a plain deployment leaves when it fails.
TEST_F(RollbackTest, WhatIsLeftIsNamed) {
  const Configuration configuration = Read(kAibrixConfig);
  const Plan plan = PlanOf(kAibrixConfig);
  server.AnswerNext(1, {.method = "PATCH", .target_part = "services/q-decode-0-1"},
                    StatusAnswer(403, "Forbidden", "admission says no"));
  const ApplyResult result =
      CarryOut(client, sleeper, clock, configuration.application, plan, {},
               {.step = [this](const std::string& line) { steps.push_back(line); }}, {});
  EXPECT_EQ(result.written, 2u);
  EXPECT_THAT(result.left,
              ElementsAre("Service q-decode-0-1", "Service q-router", "StormService q"));
}

}  // namespace
}  // namespace mindgate::deploy
