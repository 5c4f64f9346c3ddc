// Jobs that Volcano has not enqueued: they have a PodGroup and no pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "support/objects.h"
#include "support/scaling.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using ::mindgate::testing::Eventually;
using ::testing::ElementsAre;
using namespace ::mindgate::testing;  // NOLINT(google-build-using-namespace): Held, Running, ...
namespace resources = kube::resources;

// --- what is read --------------------------------------------------------------------------------

// As ascend-operator makes it for job d0.
Json QueuedPodGroup(const std::string& phase) {
  return {{"metadata",
           {{"namespace", "ns"},
            {"name", "d0-u"},
            {"uid", "pg"},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"labels",
             {{"jobID", "s"},
              {"mind-cluster/scaling-rule", "rule"},
              {"mind-cluster/group-name", "g1"}}},
            {"ownerReferences",
             {{{"apiVersion", "mindxdl.gitee.com/v1"},
               {"kind", "AscendJob"},
               {"name", "d0"},
               {"uid", "u"},
               {"controller", true}}}}}},
          {"spec", {{"minMember", 3}, {"minResources", {{"huawei.com/Ascend910", "16"}}}}},
          {"status", {{"phase", phase}}}};
}

std::string ShowPodGroup(const Json& object) {
  const auto state = PodGroupOf(json::Document(object).root());
  if (!state) return "nothing";
  return state->service.ns + "/" + state->service.rule + "/" + state->service.job_id + " " +
         state->instance + " of " + state->group +
         (state->has_room() ? state->phase == PodGroupPhase::kRunning ? " runs" : " runs in part"
          : state->waits()  ? " waits"
                            : " is enqueued") +
         ", " + std::to_string(state->pods) + " pods, " + std::to_string(state->npus_of_group) +
         " NPUs, about " + state->regarding.kind + " " + state->regarding.uid;
}

TEST(ScalingPodGroups, WhatIsKeptOfThem) {
  const auto with = [](const char* pointer, const Json& value) {
    Json object = QueuedPodGroup("Pending");
    object[Json::json_pointer(pointer)] = value;
    return object;
  };
  const std::string about =
      "ns/rule/s AscendJob/d0 of g1 waits, 3 pods, 16 NPUs, about AscendJob u";
  const std::vector<std::tuple<std::string, Json, std::string>> table = {
      {"not enqueued", QueuedPodGroup("Pending"), about},
      {"enqueued", QueuedPodGroup("Inqueue"),
       "ns/rule/s AscendJob/d0 of g1 is enqueued, 3 pods, 16 NPUs, about AscendJob u"},
      {"it runs", QueuedPodGroup("Running"),
       "ns/rule/s AscendJob/d0 of g1 runs, 3 pods, 16 NPUs, about AscendJob u"},
      {"some of its pods are gone", QueuedPodGroup("Unknown"),
       "ns/rule/s AscendJob/d0 of g1 runs in part, 3 pods, 16 NPUs, about AscendJob u"},
      {"Volcano has not seen it", QueuedPodGroup(""), "nothing"},
      {"it has ended", QueuedPodGroup("Completed"), "nothing"},
      {"it goes", with("/metadata/deletionTimestamp", "2026-01-01T00:00:00Z"), "nothing"},
      {"no rule", with("/metadata/labels", {{"jobID", "s"}}), "nothing"},
      {"no service", with("/metadata/labels", {{"mind-cluster/scaling-rule", "rule"}}), "nothing"},
      {"a vcjob",
       with("/metadata/ownerReferences/0", {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                                            {"kind", "Job"},
                                            {"name", "v"},
                                            {"uid", "w"},
                                            {"controller", true}}),
       "ns/rule/s Job.batch.volcano.sh/v of g1 waits, 3 pods, 16 NPUs, about Job w"},
      {"a kind whose pods come first", with("/metadata/ownerReferences/0/kind", "ReplicaSet"),
       "nothing"},
      {"an owner that does not control it", with("/metadata/ownerReferences/0/controller", false),
       "nothing"},
      {"numbers of another type", with("/spec", {{"minMember", "x"}, {"minResources", "y"}}),
       "ns/rule/s AscendJob/d0 of g1 waits, 0 pods, 0 NPUs, about AscendJob u"},
      {"below zero",
       with("/spec", {{"minMember", -4}, {"minResources", {{"huawei.com/Ascend910", "-8"}}}}),
       "ns/rule/s AscendJob/d0 of g1 waits, 0 pods, 0 NPUs, about AscendJob u"},
      {"what is no NPU", with("/spec/minResources", {{"cpu", "8"}, {"huawei.com/Ascend910", 8}}),
       "ns/rule/s AscendJob/d0 of g1 waits, 3 pods, 8 NPUs, about AscendJob u"},
  };
  for (const auto& [name, object, want] : table) {
    SCOPED_TRACE(name);
    EXPECT_EQ(ShowPodGroup(object), want);
  }
}

PodGroupPtr GroupPtr(const Json& object) {
  return std::make_shared<const PodGroupState>(*PodGroupOf(json::Document(object).root()));
}

TEST(ScalingPodGroups, AreInstancesAsLongAsTheirJobsHaveNoPods) {
  Json pod = Cluster::Pod("d0-0", "g1");
  pod["metadata"]["ownerReferences"] = QueuedPodGroup("Pending")["metadata"]["ownerReferences"];
  const auto live = std::make_shared<const PodState>(*PodOf(json::Document(pod).root()));
  pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const auto going = std::make_shared<const PodState>(*PodOf(json::Document(pod).root()));
  const std::vector<PodGroupPtr> groups = {GroupPtr(QueuedPodGroup("Pending"))};
  const auto observe = [&](std::vector<PodPtr> pods, const SeenByUid* seen) {
    std::vector<Instance> instances;
    for (const auto& each : Observe(pods, nullptr, seen, groups)) {
      instances.push_back(each.instance);
    }
    return instances;
  };
  Instance queued;
  queued.name = "AscendJob/d0";
  queued.group = "g1";
  queued.phase = Phase::kQueued;
  queued.since = kStart;
  queued.unschedulable = kStart;
  queued.needs = {6, 5, 5};
  EXPECT_EQ(observe({}, nullptr), std::vector<Instance>{queued});
  EXPECT_EQ(observe({going}, nullptr), std::vector<Instance>{queued});
  const auto with_pods = observe({live}, nullptr);
  ASSERT_EQ(with_pods.size(), 1u);
  EXPECT_EQ(with_pods[0].phase, Phase::kHeld);
  // For how long it has had no room is what the watcher saw.
  const SeenByUid seen({{std::make_shared<const std::string>("pg"),
                         {kStart + std::chrono::seconds(5), kStart + std::chrono::seconds(5)}}});
  queued.unschedulable = kStart + std::chrono::seconds(5);
  EXPECT_EQ(observe({}, &seen), std::vector<Instance>{queued});
  const SeenByUid nothing_seen;
  queued.unschedulable.reset();
  EXPECT_EQ(observe({}, &nothing_seen), std::vector<Instance>{queued});
}

TEST(ScalingPodGroups, OfAnyMinMemberTakeLittleMemory) {
  Json object = QueuedPodGroup("Pending");
  object["spec"]["minMember"] = 2147483647;
  const std::vector<PodGroupPtr> groups = {GroupPtr(object)};
  EXPECT_EQ(Observe({}, nullptr, nullptr, groups)[0].instance.needs.size(), 1024u);
}

// --- what is decided -----------------------------------------------------------------------------

Instance Queued(std::string name, std::optional<Time> without_room) {
  Instance instance = Of(std::move(name), Phase::kQueued);
  instance.unschedulable = without_room;
  return instance;
}

TEST(ScalingQueued, IsGivenRoomLikeOneThatHasItsPods) {
  const Time long_ago = kStart - std::chrono::seconds(60);
  const Time lately = kStart - std::chrono::seconds(59);
  struct QueuedCase {
    std::string name;
    std::vector<Instance> instances;
    std::string outcomes;
  };
  const std::vector<QueuedCase> table = {
      {"another is given up for it",
       {Running("p-0"), Running("p-1"), Queued("d-0", long_ago)},
       "d-0 hold, p-0 keep, p-1 give up"},
      {"not before its time",
       {Running("p-0"), Running("p-1"), Queued("d-0", lately)},
       "d-0 hold, p-0 keep, p-1 keep"},
      {"not once Volcano has found room for it",
       {Running("p-0"), Running("p-1"), Queued("d-0", std::nullopt)},
       "d-0 hold, p-0 keep, p-1 keep"},
      {"one that has its pods is let in before it",
       {Running("p-0"), Running("p-1"), Queued("d-0", long_ago), Held("d-1")},
       "d-0 hold, d-1 grant, p-0 keep, p-1 keep"},
      {"one that starts comes before it",
       {Running("p-0"), Running("p-1"), Queued("d-0", long_ago), Starting("d-1")},
       "d-0 hold, d-1 keep, p-0 keep, p-1 keep"},
      {"one that the shape does not want",
       {Running("p-0"), Queued("p-1", long_ago), Running("d-0"), Running("d-1")},
       "d-0 keep, d-1 give up, p-0 keep, p-1 hold"},
      {"and not when all are there that any shape wants",
       {Running("p-0"), Running("p-1"), Queued("p-2", long_ago), Running("d-0"), Running("d-1")},
       "d-0 keep, d-1 keep, p-0 keep, p-1 keep, p-2 hold"},
      {"it has no room to give",
       {Running("p-0"), Queued("p-1", long_ago), Stuck("d-0", long_ago)},
       "d-0 keep, p-0 keep, p-1 hold"},
      {"no group counts it, so that others pass",
       {Held("p-0"), Queued("p-1", long_ago), Held("d-0")},
       "d-0 grant, p-0 grant, p-1 hold"},
  };
  for (const QueuedCase& c : table) {
    SCOPED_TRACE(c.name);
    const Service service{::mindgate::testing::RuleOf("p=2 d=1 | p=1 d=1"), "", c.instances};
    EXPECT_EQ(ShowOutcomes(Decide(service, Rebalancing(), kStart)), c.outcomes);
  }
}

TEST(ScalingQueued, ReportsWhatItWaitsFor) {
  const Service service{
      ::mindgate::testing::RuleOf("p=1 d=1"),
      "",
      {Held("p-0"), Running("p-1"), Queued("d-0", kStart), Queued("d-1", std::nullopt)}};
  const Decision decision = Decide(service, Rebalancing(), kStart);
  std::vector<std::string> reasons;
  for (const Outcome& outcome : decision.outcomes) reasons.push_back(outcome.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{
                         "Volcano has not enqueued its PodGroup, and its job makes no pods before",
                         "Volcano has enqueued its PodGroup, and its job has made no pods yet",
                         "no shape wants more than 1 of p, and 1 runs", "it runs"}));
  EXPECT_EQ(decision.groups, (std::vector<GroupCount>{{"d", 1, 0, 0, 2}, {"p", 1, 1, 0, 1}}));
  EXPECT_EQ(decision.requeue_at, kStart + std::chrono::seconds(60));
}

// --- what is done --------------------------------------------------------------------------------

// The story of the documents: p0 and p1 run, the node of d0 broke, and Volcano has no room for its
// PodGroup, so that ascend-operator makes no pods.
struct ScalingQueuedJob : ::testing::Test {
  Cluster cluster;
  Replica watcher{cluster};

  static Json JobPod(const std::string& job, const std::string& group) {
    Json pod = Cluster::Pod(job + "-0", group);
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                           {"kind", "AscendJob"},
                                           {"name", job},
                                           {"uid", "uid-" + job},
                                           {"controller", true}}};
    pod["spec"]["containers"] = {
        {{"name", "a"}, {"resources", {{"limits", {{"huawei.com/Ascend910", "8"}}}}}}};
    return pod;
  }
  void PutPodOf(const std::string& job, const std::string& group, bool runs) {
    Json pod = JobPod(job, group);
    if (runs) {
      pod["spec"].erase("schedulingGates");
      pod["spec"]["nodeName"] = "n-" + job;
      pod["status"] = {{"phase", "Running"}};
    }
    cluster.server.Put(resources::kPods, pod);
  }
  void PutPodGroup(const std::string& phase) {
    Json group = QueuedPodGroup(phase);
    group["spec"] = {{"minMember", 1}, {"minResources", {{"huawei.com/Ascend910", "8"}}}};
    cluster.server.Put(resources::kPodGroups, group);
  }
  void SetUp() override {
    cluster.server.Register({.resource = resources::kPodGroups, .custom = true});
    cluster.PutRule(kTwoShapes);
    PutPodOf("p0", "g0", true);
    PutPodOf("p1", "g0", true);
    PutPodGroup("Pending");
  }
  size_t Deletes() { return cluster.server.Count({.method = "DELETE"}); }
  bool Exists(const std::string& pod) {
    return cluster.server.Find(resources::kPods, "ns", pod).is_object();
  }
  bool Goes(const std::string& name) {
    const Json pod = cluster.server.Find(resources::kPods, "ns", name);
    return !pod.is_object() || pod["metadata"].contains("deletionTimestamp");
  }
  bool InTime(const std::function<bool()>& happens) {
    return Eventually([&] {
      cluster.clock.Advance(std::chrono::seconds(61));
      watcher.controller.EnqueueAll();
      return happens();
    });
  }
  bool SeesD0() {
    return Eventually([&] {
      const auto statuses = watcher.controller.statuses().all();
      return statuses.size() == 1 && statuses[0].groups.size() == 2 &&
             statuses[0].groups[1] == GroupCount{"g1", 1, 0, 0, 1};
    });
  }
};

TEST_F(ScalingQueuedJob, IsGivenTheRoomOfAnother) {
  watcher.Start();
  ASSERT_TRUE(SeesD0());
  ASSERT_TRUE(InTime([&] { return Deletes() == 1; }));
  // The request is counted before it is carried out.
  ASSERT_TRUE(Eventually([&] { return Goes("p0-0") != Goes("p1-0"); }));
  const std::string gone = Goes("p0-0") ? "p0" : "p1";
  cluster.server.Remove(resources::kPods, "ns", gone + "-0");
  // The operator makes the pods of d0, and those of the other one; the webhook holds both.
  PutPodGroup("Inqueue");
  PutPodOf("d0", "g1", false);
  PutPodOf(gone, "g0", false);
  ASSERT_TRUE(Eventually([&] { return cluster.IsOpen("d0-0"); }));
  EXPECT_FALSE(cluster.IsOpen(gone + "-0"));
  PutPodGroup("Running");
  PutPodOf("d0", "g1", true);
  EXPECT_TRUE(Eventually([&] { return cluster.IsOpen(gone + "-0"); })) << "the larger shape again";
  EXPECT_EQ(Deletes(), 1u);
  std::vector<std::string> reported;
  for (const auto& entry : watcher.entries()) {
    reported.push_back(entry.record.about[2].second + " " +
                       std::string(WordsOf(entry.record.kind).event_reason));
  }
  EXPECT_THAT(reported,
              ::testing::IsSupersetOf<std::string>({"AscendJob/d0 InstanceNotEnqueued",
                                                    "AscendJob/" + gone + " InstanceGivenUp",
                                                    "AscendJob/d0 InstanceGranted"}));
}

// The watch may be a while behind.
TEST_F(ScalingQueuedJob, IsReadAgainBeforeAnotherIsGivenUp) {
  const kube::testing::When fresh{.method = "GET", .target_part = "/podgroups/d0-u"};
  kube::testing::HttpResponse answer;
  answer.body = QueuedPodGroup("Inqueue").dump();
  cluster.server.AnswerNext(1000, fresh, answer);
  watcher.Start();
  ASSERT_TRUE(SeesD0());
  EXPECT_TRUE(InTime([&] { return cluster.server.Count(fresh) >= 2; }));
  EXPECT_EQ(Deletes(), 0u);
}

TEST_F(ScalingQueuedJob, IsASharerOfItsRuleEvenAlone) {
  for (const char* pod : {"p0-0", "p1-0"}) cluster.server.Remove(resources::kPods, "ns", pod);
  watcher.Start();
  ASSERT_TRUE(SeesD0());
  cluster.server.Remove(resources::kPodGroups, "ns", "d0-u");
  EXPECT_TRUE(Eventually([&] { return watcher.controller.statuses().all().empty(); }));
}

// Volcano is not there, or not any more.
TEST(ScalingWithoutVolcano, IsReportedOnceAndTheRestGoesOn) {
  Cluster cluster;
  std::atomic<int> reports = 0;
  Replica watcher(cluster);
  log::Logger logger(log::Format::kText, log::Level::kInfo, cluster.clock,
                     [&](std::string_view line) {
                       if (line.find("PodGroups") != std::string_view::npos) ++reports;
                     });
  ScalingController controller(watcher.client, watcher.writer, watcher.sleeper, cluster.clock,
                               logger, watcher.pods, watcher.decisions, watcher.gate,
                               {.settings = [&] { return watcher.settings; },
                                .term = [&]() -> std::optional<Term> {
                                  return Term(watcher.since, [] { return true; }, {});
                                }});
  cluster.PutRule(kTwoShapes);
  cluster.Submit("p0", "g0");
  const std::jthread pods([&](const std::stop_token& stop) { watcher.pods.Run(stop); });
  const std::jthread thread([&](const std::stop_token& stop) { controller.Run(stop); });
  ASSERT_TRUE(cluster.WaitOpen({"p0"}, {"p0"}));
  EXPECT_TRUE(Eventually([&] { return controller.synced(); }));
  const kube::testing::When list{.method = "GET", .target_part = "/podgroups"};
  ASSERT_TRUE(Eventually([&] { return cluster.server.Count(list) >= 2; }));
  EXPECT_EQ(reports, 1);
}

}  // namespace
}  // namespace mindgate::watcher::scaling
