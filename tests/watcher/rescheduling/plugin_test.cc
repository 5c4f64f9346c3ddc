#include "watcher/rescheduling/plugin.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "faults/reports.h"
#include "kube/fake_api_server.h"
#include "watcher/rescheduling_direct.h"

// Jobs with subHealthyStrategy graceExit are asked to end before their pods are evicted.
namespace mindgate::watcher::rescheduling {
namespace {

using kube::testing::StatusAnswer;
using kube::testing::When;
namespace resources = kube::resources;

// As ascend-operator and the device plugin write it.
constexpr const char* kReset =
    R"({"RankList":[],"UpdateTime":1767225600,"RetryTime":0,"FaultFlushing":false,)"
    R"("GracefulExit":0,"RestartFaultProcess":false})";
constexpr const char* kAsked =
    R"({"RankList":[],"UpdateTime":1767225600,"RetryTime":0,"FaultFlushing":false,)"
    R"("GracefulExit":1,"RestartFaultProcess":false})";

Json ConfigMapWith(const std::string& reset) {
  return {{"metadata",
           {{"namespace", kNs},
            {"name", "reset-config-train"},
            {"labels", {{"reset", "true"}, {"team", "a"}}},
            {"resourceVersion", "7"}}},
          {"data", {{"reset.json", reset}, {"checkCode", "x"}, {"restartType", "hotReset"}}}};
}

// The text that is written; empty: nothing is.
std::string Written(const std::string& reset, bool exits) {
  const auto patch = GracefulExitPatch(json::Document(ConfigMapWith(reset)).root(), exits);
  if (!patch) return "";
  EXPECT_EQ((*patch)["metadata"], (Json{{"resourceVersion", "7"}}));
  const std::string text = (*patch)["data"]["reset.json"].get<std::string>();
  EXPECT_EQ((*patch)["data"], (Json{{"reset.json", text}, {"checkCode", faults::Sha256Hex(text)}}))
      << "the rest stays";
  return text;
}

TEST(GracefulExit, OnlyTheNumberAndTheCodeChange) {
  EXPECT_EQ(Written(kReset, true), kAsked);
  EXPECT_EQ(Written(kAsked, false), kReset);
  EXPECT_EQ(Written(kAsked, true), "");
  EXPECT_EQ(Written(kReset, false), "");
  // An earlier MindCluster has no such member.
  EXPECT_EQ(Written(R"({"RankList":[],"RetryTime":0})", true),
            R"({"RankList":[],"RetryTime":0,"GracefulExit":1})");
  EXPECT_EQ(Written("{}", true), R"({"GracefulExit":1})");
  EXPECT_EQ(Written(R"({"RankList":[]})", false), "");
  // A member of a member is another one, and blanks stay.
  EXPECT_EQ(Written(R"({"a": {"GracefulExit":0}, "GracefulExit": 0 })", true),
            R"({"a": {"GracefulExit":0}, "GracefulExit": 1 })");
}

TEST(GracefulExit, WhatIsNotUnderstoodStays) {
  for (const char* text : {"", "[]", "1", "{", R"({"GracefulExit":0)", R"({"GracefulExit":0}})",
                           R"("GracefulExit")"}) {
    EXPECT_EQ(Written(text, true), "") << text;
  }
  EXPECT_EQ(GracefulExitPatch(json::Document(Json::object()).root(), true), std::nullopt);
}

// A job of four pods on four nodes; the switches of the last one work less well than it should.
struct Training : Direct {
  explicit Training(const char* strategy = "graceExit", const Json& more = Json::object()) {
    settings.graceful_exit = true;
    Json labels = {{"fault-scheduling", "grace"}, {"subHealthyStrategy", strategy}};
    labels.update(more);
    cluster.PutJob("train", labels);
    cluster.server.Put(resources::kConfigMaps, ConfigMapWith(kReset));
    Weaken(true);
  }
  void Weaken(bool weak) {
    reported.clear();
    if (weak) reported["n3"].switches.status = faults::NodeStatus::kSubHealthy;
  }
  std::string Reset() const {
    return cluster.server.Find(resources::kConfigMaps, kNs,
                               "reset-config-train")["data"]["reset.json"];
  }
  // All of its pods are replaced.
  void Replace() {
    for (int i = 0; i < 4; ++i) {
      const std::string name = "train-" + std::to_string(i);
      cluster.server.Remove(resources::kPods, kNs, name);
      cluster.PutPod("train", name, "n0");
    }
  }
};

TEST(GracefulExit, IsAskedForBeforePodsGoAndTakenBackWhenTheyAreThereAgain) {
  Training training;
  const auto gate = training.cluster.server.Hold(kDeletes);
  std::jthread look([&] { training.Reconcile("train", {}); });
  ASSERT_TRUE(gate->WaitUntilHeld());
  EXPECT_EQ(training.Reset(), kAsked) << "before the first pod is deleted";
  gate->Release();
  look.join();
  EXPECT_EQ(training.Deletes(), 4U) << training.decisions.last();
  training.Weaken(false);
  training.Reconcile("train", {});
  EXPECT_EQ(training.Reset(), kAsked) << "its old pods are still going";
  training.Replace();
  training.Restart();  // the next leader knows that the job was asked
  training.Reconcile("train", {});
  EXPECT_EQ(training.Reset(), kReset);
  EXPECT_FALSE(training.cluster.Kept().dump().find("SubHealthFault") != std::string::npos);
}

TEST(GracefulExit, IsAskedForByNoOtherComponent) {
  const std::pair<const char*, Json> cases[] = {
      {"forceExit", Json::object()},
      {"graceExit", {{"process-recover-enable", "on"}}},
  };
  for (const auto& [strategy, more] : cases) {
    Training training(strategy, more);
    training.Reconcile("train", {});
    EXPECT_GT(training.Deletes(), 0U) << strategy << more;
    EXPECT_EQ(training.Reset(), kReset) << strategy << more;
  }
  Training broken;
  broken.reported["n3"].devices.unhealthy = {"Ascend910-0"};
  broken.Reconcile("train", {});
  EXPECT_EQ(broken.Deletes(), 4U);
  EXPECT_EQ(broken.Reset(), kReset) << "a chip that is broken";
  Training off;
  off.settings.graceful_exit = false;
  off.Reconcile("train", {});
  EXPECT_EQ(off.Deletes(), 4U);
  EXPECT_EQ(off.Reset(), kReset) << "without the option";
  Training observed;
  observed.settings.mode = schemas::ReschedulingMode::kObserve;
  observed.Reconcile("train", {});
  EXPECT_EQ(observed.Reset(), kReset) << "who observes";
}

TEST(GracefulExit, AJobThatCannotBeAskedLosesItsPodsAllTheSame) {
  const When writes{.method = "PATCH", .target_part = "/configmaps/reset-config-train"};
  Training refused;
  refused.cluster.server.AnswerNext(10, writes, StatusAnswer(403, "Forbidden", "no"));
  refused.Reconcile("train", {});
  EXPECT_EQ(refused.Deletes(), 4U);
  Training none;
  none.cluster.server.Remove(resources::kConfigMaps, kNs, "reset-config-train");
  none.Reconcile("train", {});
  EXPECT_EQ(none.Deletes(), 4U);
  Training broken;
  broken.cluster.server.AnswerNext(10, writes, StatusAnswer(500, "InternalError", "no"));
  broken.Reconcile("train", {});
  EXPECT_EQ(broken.Deletes(), 4U);
}

// Somebody else wrote to it between reading and patching.
TEST(GracefulExit, AConflictIsReadAgain) {
  Training training;
  const When writes{.method = "PATCH", .target_part = "/configmaps/reset-config-train"};
  training.cluster.server.AnswerNext(2, writes, StatusAnswer(409, "Conflict", "changed"));
  training.Reconcile("train", {});
  EXPECT_EQ(training.Reset(), kAsked);
  EXPECT_EQ(training.Deletes(), 4U);
}

// The number would stay 1, and the new pods be asked to end.
TEST(GracefulExit, TakingItBackIsTriedAgain) {
  Training training;
  training.Reconcile("train", {});
  training.Weaken(false);
  training.Replace();
  const When writes{.method = "PATCH", .target_part = "/configmaps/reset-config-train"};
  training.cluster.server.AnswerNext(1, writes, StatusAnswer(500, "InternalError", "no"));
  EXPECT_TRUE(training.Reconcile("train", {}).failed);
  EXPECT_EQ(training.Reset(), kAsked);
  EXPECT_FALSE(training.Reconcile("train", {}).failed);
  EXPECT_EQ(training.Reset(), kReset);
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
