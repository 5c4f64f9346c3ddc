// Jobs whose pods were admitted without the labels of their rule: their PodGroups carry them.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "support/scaling.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using ::mindgate::testing::Eventually;
namespace resources = kube::resources;

constexpr const char* kTwoToOne = R"({"version": "1.0", "elastic_scaling_list": [
  {"group_list": [{"group_name": "g0", "group_num": "2", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]})";

Json OwnersOf(const std::string& job) {
  return {{{"apiVersion", "mindxdl.gitee.com/v1"},
           {"kind", "AscendJob"},
           {"name", job},
           {"uid", "uid-" + job},
           {"controller", true}}};
}

Json LabelsOf(const std::string& group, const std::string& service) {
  return {{"jobID", service},
          {"mind-cluster/scaling-rule", "rule"},
          {"mind-cluster/group-name", group}};
}

Json PodGroupOfJob(const std::string& job, const std::string& group, const std::string& phase,
                   const std::string& service = "s") {
  return {{"metadata",
           {{"namespace", "ns"},
            {"name", job + "-pg"},
            {"uid", "pg-" + job},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"labels", LabelsOf(group, service)},
            {"ownerReferences", OwnersOf(job)}}},
          {"spec", {{"minMember", 1}}},
          {"status", {{"phase", phase}}}};
}

Json RunningPodOfJob(const std::string& job, const Json& labels) {
  return {{"metadata",
           {{"namespace", "ns"},
            {"name", job + "-0"},
            {"uid", "pod-" + job},
            {"labels", labels},
            {"ownerReferences", OwnersOf(job)}}},
          {"spec", {{"nodeName", "n-" + job}, {"containers", {{{"name", "a"}}}}}},
          {"status", {{"phase", "Running"}}}};
}

PodGroupPtr GroupIn(const std::string& phase, const std::string& service = "s") {
  const Json object = PodGroupOfJob("p0", "g0", phase, service);
  return std::make_shared<const PodGroupState>(*PodGroupOf(json::Document(object).root()));
}

PodPtr PodIn(const std::string& service, bool goes = false) {
  Json object = RunningPodOfJob("p0", LabelsOf("g0", service));
  if (goes) object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return std::make_shared<const PodState>(*PodOf(json::Document(object).root()));
}

// --- what is seen --------------------------------------------------------------------------------

std::string ShowObserved(const std::vector<PodPtr>& pods, const std::vector<PodGroupPtr>& groups,
                         const SeenByUid* seen = nullptr) {
  std::string text;
  for (const ObservedInstance& observed : Observe(pods, nullptr, seen, groups)) {
    const Instance& instance = observed.instance;
    text += instance.name + " of " + instance.group +
            (instance.phase == Phase::kRunning    ? " runs"
             : instance.phase == Phase::kStarting ? " starts"
             : instance.phase == Phase::kHeld     ? " is held"
                                                  : " is queued") +
            (instance.unlabelled ? ", unlabelled" : "") + ";";
  }
  return text;
}

TEST(ScalingUnlabelled, AJobCountsByThePhaseOfItsPodGroup) {
  const SeenByUid had_pods({{std::make_shared<const std::string>("pg-p0"), {.had_pods = true}}});
  const struct {
    std::string name;
    std::vector<PodPtr> pods;
    std::string phase;
    const SeenByUid* seen;
    std::string want;
  } table[] = {
      {"it runs", {}, "Running", nullptr, "AscendJob/p0 of g0 runs, unlabelled;"},
      {"a part of it runs", {}, "Unknown", nullptr, "AscendJob/p0 of g0 starts, unlabelled;"},
      {"it has no pods yet", {}, "Pending", nullptr, "AscendJob/p0 of g0 is queued;"},
      {"it makes its pods", {}, "Inqueue", nullptr, "AscendJob/p0 of g0 is queued;"},
      {"its pods have labels", {PodIn("s")}, "Running", nullptr, "AscendJob/p0 of g0 runs;"},
      {"which go", {PodIn("s", true)}, "Running", nullptr, ""},
      {"which have just gone", {}, "Running", &had_pods, ""},
      {"which have gone, and Volcano knows it",
       {},
       "Pending",
       &had_pods,
       "AscendJob/p0 of g0 is queued;"},
  };
  for (const auto& c : table) {
    EXPECT_EQ(ShowObserved(c.pods, {GroupIn(c.phase)}, c.seen), c.want) << c.name;
  }
}

TEST(ScalingUnlabelled, AJobIsKeptAndNeverGivenUp) {
  using namespace ::mindgate::testing;  // NOLINT(google-build-using-namespace): Running, Stuck, ...
  Instance unlabelled = Running("p-1");
  unlabelled.unlabelled = true;
  Service service{::mindgate::testing::RuleOf("p=2 d=1 | p=1 d=1"),
                  "",
                  {Running("p-0"), unlabelled, Stuck("d-0", kStart - std::chrono::hours(1))}};
  EXPECT_EQ(ShowOutcomes(Decide(service, Rebalancing(), kStart)),
            "d-0 keep, p-0 give up, p-1 keep");
  service.instances[0] = Held("p-0");
  service.instances[2] = Running("d-0");
  service.rule = ::mindgate::testing::RuleOf("p=1 d=1");
  const Decision decision = Decide(service, Rebalancing(), kStart);
  EXPECT_EQ(ShowOutcomes(decision), "d-0 keep, p-0 hold, p-1 keep");
  EXPECT_EQ(decision.outcomes.back().reason,
            "its PodGroup shows that it runs; its pods lack the labels of the rule");
}

// --- what belongs to which service ---------------------------------------------------------------

TEST(ScalingUnlabelled, TheLabelsOfPodsAreBeforeThoseOfTheirPodGroup) {
  const ServiceKey own{"ns", "rule", "s"};
  const ServiceKey other{"ns", "rule", "other"};
  ServiceIndex index;
  const auto groups_of = [&](const ServiceKey& service) {
    return index.Find(service).pod_groups.size();
  };
  using Services = std::vector<ServiceKey>;
  const PodGroupPtr group = GroupIn("Running");
  EXPECT_EQ(index.Changed(nullptr, group), Services{own});
  EXPECT_EQ(groups_of(own), 1u);
  const PodPtr pod = PodIn("other");
  EXPECT_EQ(index.Changed(nullptr, pod), (Services{other, own})) << "both are decided about";
  EXPECT_EQ(groups_of(own), 0u) << "its pod counts for the other one";
  EXPECT_EQ(index.Changed(pod, nullptr), (Services{other, own}));
  EXPECT_EQ(groups_of(own), 1u);
  const PodGroupPtr moved = GroupIn("Running", "other");
  EXPECT_EQ(index.Changed(group, moved), (Services{own, other})) << "its labels changed";
  EXPECT_TRUE(index.Find(own).empty());
  EXPECT_EQ(groups_of(other), 1u);
  EXPECT_EQ(index.Changed(nullptr, pod), Services{other}) << "both say the same";
  EXPECT_EQ(groups_of(other), 1u);
  EXPECT_EQ(index.Changed(moved, nullptr), Services{other});
  EXPECT_EQ(index.Changed(pod, nullptr), Services{other});
  EXPECT_TRUE(index.services().empty());
}

// --- what is done --------------------------------------------------------------------------------

struct ScalingUnlabelledJobs : ::testing::Test {
  Cluster cluster;
  Replica watcher{cluster};

  void SetUp() override {
    cluster.server.Register({.resource = resources::kPodGroups, .custom = true});
    cluster.PutRule(kTwoToOne);
  }
  void PutJob(const std::string& job, const std::string& group, const std::string& phase) {
    cluster.server.Put(resources::kPods, RunningPodOfJob(job, Json::object()));
    cluster.server.Put(resources::kPodGroups, PodGroupOfJob(job, group, phase));
  }
  // Two jobs of g0 and one of g1 run, whose pods lack the labels, and a third of g0 comes.
  bool HoldsAThirdOfG0() {
    PutJob("p0", "g0", "Running");
    PutJob("p1", "g0", "Running");
    PutJob("d0", "g1", "Running");
    cluster.Submit("p2", "g0");
    watcher.Start();
    return Shows({"g0", 2, 2, 0, 1});
  }
  // `passes`: with each look, as what follows a decision may be queued only after it shows.
  bool Shows(const GroupCount& want, std::chrono::seconds passes = std::chrono::seconds(0)) {
    return Eventually([&] {
      cluster.clock.Advance(passes);
      const auto statuses = watcher.controller.statuses().all();
      return statuses.size() == 1 && std::find(statuses[0].groups.begin(), statuses[0].groups.end(),
                                               want) != statuses[0].groups.end();
    });
  }
};

TEST_F(ScalingUnlabelledJobs, HoldAThirdOfTheirGroupBack) {
  ASSERT_TRUE(HoldsAThirdOfG0());
  EXPECT_FALSE(cluster.IsOpen("p2"));
  // It takes the place of one that ends.
  cluster.server.Remove(resources::kPods, "ns", "p1-0");
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p1", "g0", "Pending"));
  EXPECT_TRUE(cluster.WaitOpen({"p2"}, {"p2"}));
}

TEST_F(ScalingUnlabelledJobs, CountOnceTheirPodGroupsAreThere) {
  cluster.server.Put(resources::kPods, RunningPodOfJob("p0", Json::object()));
  PutJob("p1", "g0", "Inqueue");
  PutJob("d0", "g1", "Running");
  cluster.Submit("p2", "g0");
  cluster.Submit("p3", "g0");
  watcher.Start();
  EXPECT_TRUE(cluster.WaitOpen({"p2", "p3"}, {"p2", "p3"}));
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p0", "g0", "Running"));
  EXPECT_TRUE(Shows({"g0", 2, 1, 2, 1}));
  EXPECT_EQ(cluster.server.Count({.method = "DELETE"}), 0u);
}

TEST_F(ScalingUnlabelledJobs, CountWhereTheirPodGroupsName) {
  ASSERT_TRUE(HoldsAThirdOfG0());
  // Its labels say something else now.
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p1", "g0", "Running", "other"));
  EXPECT_TRUE(cluster.WaitOpen({"p2"}, {"p2"}));
}

TEST_F(ScalingUnlabelledJobs, AreThoseWithoutAnyPodWithLabels) {
  PutJob("p0", "g0", "Running");
  PutJob("d0", "g1", "Running");
  cluster.server.Put(resources::kPods, RunningPodOfJob("p1", LabelsOf("g0", "other")));
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p1", "g0", "Running"));
  cluster.Submit("p2", "g0");
  watcher.Start();
  EXPECT_TRUE(cluster.WaitOpen({"p2"}, {"p2"})) << "p1 is one of another service";
}

// The PodGroup shows the loss of its pods after the next session of Volcano only.
TEST_F(ScalingUnlabelledJobs, AreNotThoseWhosePodsWithLabelsHaveJustGone) {
  cluster.server.Put(resources::kPods, RunningPodOfJob("p0", LabelsOf("g0", "s")));
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p0", "g0", "Running"));
  PutJob("p1", "g0", "Running");
  PutJob("d0", "g1", "Running");
  watcher.Start();
  ASSERT_TRUE(Shows({"g0", 2, 2, 0, 0}));
  cluster.server.Remove(resources::kPods, "ns", "p0-0");
  EXPECT_TRUE(Shows({"g0", 2, 1, 0, 0}));
  cluster.Submit("p2", "g0");
  EXPECT_TRUE(cluster.WaitOpen({"p2"}, {"p2"}));
}

TEST_F(ScalingUnlabelledJobs, AreThoseThatRunAMinuteAfterPodsWithLabelsHaveGone) {
  cluster.server.Put(resources::kPods, RunningPodOfJob("p0", LabelsOf("g0", "s")));
  cluster.server.Put(resources::kPodGroups, PodGroupOfJob("p0", "g0", "Running"));
  watcher.Start();
  ASSERT_TRUE(Shows({"g0", 2, 1, 0, 0}));
  cluster.server.Put(resources::kPods, RunningPodOfJob("p0", Json::object()));
  ASSERT_TRUE(Shows({"g0", 2, 0, 0, 0}));
  EXPECT_TRUE(Shows({"g0", 2, 1, 0, 0}, std::chrono::seconds(61))) << "it asks again by itself";
}

}  // namespace
}  // namespace mindgate::watcher::scaling
