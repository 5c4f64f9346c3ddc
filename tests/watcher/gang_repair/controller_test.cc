#include "watcher/gang_repair/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"

namespace mindgate::watcher::gang_repair {
namespace {

using json::Json;
using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using kube::testing::StatusAnswer;
using kube::testing::When;
using mindgate::testing::Eventually;
using schemas::EnforcementMode;
namespace resources = kube::resources;

constexpr const char* kNs = "serving";
constexpr const char* kK = "huawei.com/schedule_minAvailable";
constexpr const char* kMarker = "mindgate.io/gang-repair";
const When kWrites = {.method = "PATCH", .target_part = "/podgroups/"};

Json OwnedBy(const std::string& kind, const std::string& name, const std::string& uid) {
  return Json::array({{{"apiVersion", "apps/v1"},
                       {"kind", kind},
                       {"name", name},
                       {"uid", uid},
                       {"controller", true}}});
}

// A Deployment of gangs of four, and the ways in which a rolling update changes it.
class Rollout {
 public:
  explicit Rollout(FakeApiServer& server, std::string name = "chat")
      : server_(server), name_(std::move(name)) {}

  std::string NameOf(int revision) const { return name_ + "-" + std::to_string(revision); }
  std::string UidOf(int revision) const { return "uid-" + NameOf(revision); }
  std::string GroupOf(int revision) const { return "podgroup-" + UidOf(revision); }

  void PutDeployment(int revision, int all, int updated, int available) {
    server_.Put(
        resources::kDeployments,
        {{"metadata",
          {{"name", name_},
           {"namespace", kNs},
           {"uid", "uid-" + name_},
           {"generation", revision},
           {"annotations", {{"deployment.kubernetes.io/revision", std::to_string(revision)}}}}},
         {"spec",
          {{"replicas", 4},
           {"strategy",
            {{"type", "RollingUpdate"},
             {"rollingUpdate", {{"maxSurge", 1}, {"maxUnavailable", 0}}}}}}},
         {"status",
          {{"observedGeneration", revision},
           {"replicas", all},
           {"updatedReplicas", updated},
           {"availableReplicas", available}}}});
  }

  void PutReplicaSet(int revision, int replicas) {
    server_.Put(
        resources::kReplicaSets,
        {{"metadata",
          {{"name", NameOf(revision)},
           {"namespace", kNs},
           {"uid", UidOf(revision)},
           {"ownerReferences", OwnedBy("Deployment", name_, "uid-" + name_)},
           {"annotations", {{"deployment.kubernetes.io/revision", std::to_string(revision)}}}}},
         {"spec",
          {{"replicas", replicas}, {"template", {{"metadata", {{"annotations", {{kK, "4"}}}}}}}}}});
  }

  void PutGroup(int revision, const Json& annotations = Json::object(), const Json& more = {}) {
    Json group = {{"metadata",
                   {{"name", GroupOf(revision)},
                    {"namespace", kNs},
                    {"ownerReferences", OwnedBy("ReplicaSet", NameOf(revision), UidOf(revision))},
                    {"annotations", annotations}}},
                  {"spec", {{"minMember", 1}}}};
    if (more.is_object()) group.merge_patch(more);
    server_.Put(resources::kPodGroups, group);
  }

  Json Pod(int revision, int number) const {
    return {{"metadata",
             {{"name", NameOf(revision) + "-" + std::to_string(number)},
              {"namespace", kNs},
              {"ownerReferences", OwnedBy("ReplicaSet", NameOf(revision), UidOf(revision))},
              {"annotations", {{"scheduling.k8s.io/group-name", GroupOf(revision)}}}}},
            {"spec", {{"schedulerName", "volcano"}}},
            {"status", {{"phase", "Pending"}}}};
  }
  void PutPod(int revision, int number) { server_.Put(resources::kPods, Pod(revision, number)); }
  void RemovePod(int revision, int number) {
    server_.Remove(resources::kPods, kNs, NameOf(revision) + "-" + std::to_string(number));
  }

  // All four pods of the first template run.
  void PutSettled() {
    PutDeployment(1, 4, 4, 4);
    PutReplicaSet(1, 4);
    PutGroup(1);
    for (int i = 0; i < 4; ++i) PutPod(1, i);
  }
  // The update has made so many pods of the second, of which all but the newest are available.
  void PutUnderWay(int pods) {
    PutReplicaSet(1, 5 - pods);
    PutReplicaSet(2, pods);
    PutDeployment(2, 5, pods, 4);
    for (int i = 0; i < pods; ++i) PutPod(2, i);
  }
  // And it is over.
  void PutDone() {
    PutReplicaSet(1, 0);
    PutReplicaSet(2, 4);
    PutDeployment(2, 4, 4, 4);
    for (int i = 0; i < 4; ++i) {
      RemovePod(1, i);
      PutPod(2, i);
    }
  }

 private:
  FakeApiServer& server_;
  const std::string name_;
};

struct GangRepairController : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  std::mutex lines_mutex;
  std::vector<std::string> lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [this](std::string_view line) {
                       const std::lock_guard lock(lines_mutex);
                       lines.emplace_back(line);
                     }};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  kube::Recorder recorder{
      client, sleeper, clock, {.controller = "mindgate.io/watcher", .instance = "a"}, 1};
  std::atomic<bool> leading = true;
  DecisionLog decisions{clock, logger, recorder};
  std::unique_ptr<PodInformer> pod_informer;
  std::atomic<size_t> pods_followed = 0;  // that the controller knows of
  std::unique_ptr<Controller> controller;
  std::jthread following;
  std::jthread thread;  // last: it ends before what it uses
  Rollout rollout{server};

  explicit GangRepairController(bool volcano = true) {
    server.Register({.resource = resources::kReplicaSets, .status = true, .generation = true});
    if (volcano) AddPodGroups();
  }
  ~GangRepairController() override { Stop(); }

  void AddPodGroups() {
    server.Register({.resource = resources::kPodGroups,
                     .custom = true,
                     .generation = true,
                     .unconditional_update = false});
  }

  void Start(EnforcementMode mode = EnforcementMode::kEnforce) {
    Stop();
    pod_informer = std::make_unique<PodInformer>(client, sleeper, clock, PodInformer::Options{});
    controller = std::make_unique<Controller>(
        client, client, sleeper, clock, logger, *pod_informer, decisions,
        Controller::Options{.enabled = [] { return true; },
                            .term = [this]() -> std::optional<Term> {
                              if (!leading) return std::nullopt;
                              return Term(clock.WallNow(), [this] { return leading.load(); }, {});
                            },
                            .mode = mode});
    CountPods();
    following = std::jthread([this](const std::stop_token& stop) { pod_informer->Run(stop); });
    thread = std::jthread([this](const std::stop_token& stop) { controller->Run(stop); });
  }
  // After the controller: who subscribed first is called first.
  void CountPods() {
    pods_followed = 0;
    PodInformer::Subscription<int> subscription;
    subscription.enabled = [] { return true; };
    subscription.project = [](const json::Value&) { return std::make_shared<const int>(0); };
    subscription.changed = [this](const PodInformer::Ptr<int>& before,
                                  const PodInformer::Ptr<int>& after) {
      if (!before) ++pods_followed;
      if (!after) --pods_followed;
    };
    pod_informer->Subscribe<int>(std::move(subscription));
  }
  void Stop() {
    thread.request_stop();
    following.request_stop();
    if (thread.joinable()) thread.join();
    if (following.joinable()) following.join();
  }
  void Lead(bool leads) {
    leading = leads;
    controller->EnqueueAll();
  }

  // Waits until the controller has reconciled something after all that has been put so far: a
  // Deployment that is put last, and whose PodGroup is then given a value.
  void Settle() {
    Rollout last(server, "last-" + std::to_string(++settled_));
    last.PutSettled();
    last.PutGroup(2);
    last.PutUnderWay(1);
    EXPECT_TRUE(Has(last.GroupOf(2), "1", "1"));
    for (const int revision : {1, 2}) {
      server.Remove(resources::kReplicaSets, kNs, last.NameOf(revision));
    }
  }

  Json Annotations(const std::string& group) {
    const Json found = server.Find(resources::kPodGroups, kNs, group);
    if (found.is_null()) return nullptr;
    return found.at("metadata").value("annotations", Json::object());
  }
  // Whether annotation and marker of the PodGroup come to that; null: absent.
  ::testing::AssertionResult Has(const std::string& group, const Json& k, const Json& marker) {
    const auto now = [&] {
      server.SendBookmarks();  // as a server does from time to time
      const Json annotations = Annotations(group);
      return annotations.is_object() && annotations.value(kK, Json()) == k &&
             annotations.value(kMarker, Json()) == marker;
    };
    if (Eventually(now)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << group << " has " << Annotations(group).dump();
  }

  // Whether the marker comes to that when time passes: a pause may begin at any moment.
  bool HasAfterPauses(const std::string& group, const std::string& marker) {
    return Eventually([&] {
      clock.Advance(std::chrono::seconds(1));
      return Annotations(group).value(kMarker, "") == marker;
    });
  }

  bool Logged(const std::string& part) {
    const std::lock_guard lock(lines_mutex);
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  size_t TimesLogged(const std::string& part) {
    const std::lock_guard lock(lines_mutex);
    return static_cast<size_t>(std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }
  // "reason: note" of the Events about the Deployment (or other kind) of that name.
  std::set<std::string> Events(const std::string& deployment,
                               const std::string& kind = "Deployment") {
    EXPECT_TRUE(recorder.Flush(std::chrono::seconds(30)));
    std::set<std::string> events;
    const auto page = client.List(resources::kEvents, kNs);
    for (const Json& event : kube::testing::Value(page).items) {
      if (event.at("regarding").at("name") != deployment) continue;
      EXPECT_EQ(event.at("regarding").at("uid"), "uid-" + deployment);
      EXPECT_EQ(event.at("regarding").at("kind"), kind);
      events.insert(event.at("reason").get<std::string>() + ": " +
                    event.at("note").get<std::string>());
    }
    return events;
  }

 private:
  int settled_ = 0;
};

// Without AIBrix there are no RoleSets, as in all other tests here.
TEST_F(GangRepairController, FollowsTheScalingOfARoleSet) {
  server.Register({.resource = resources::kRoleSets, .custom = true, .generation = true});
  const auto put = [&](int prefill, int decode) {
    const auto role = [](int replicas) {
      return Json{{"replicas", replicas},
                  {"template", {{"metadata", {{"annotations", {{kK, "5"}}}}}}}};
    };
    server.Put(resources::kRoleSets,
               {{"metadata", {{"name", "pd-0"}, {"namespace", kNs}, {"uid", "uid-pd-0"}}},
                {"spec", {{"roles", Json::array({role(prefill), role(decode)})}}}});
  };
  put(2, 3);
  server.Put(resources::kPodGroups,
             {{"metadata",
               {{"name", "podgroup-pd-0"},
                {"namespace", kNs},
                {"ownerReferences", OwnedBy("RoleSet", "pd-0", "uid-pd-0")}}},
              {"spec", {{"minMember", 1}}}});
  Start();
  put(1, 1);
  EXPECT_TRUE(Has("podgroup-pd-0", "2", "2"));
  put(2, 1);
  EXPECT_TRUE(Has("podgroup-pd-0", "3", "2,3"));
  put(2, 3);
  EXPECT_TRUE(Has("podgroup-pd-0", nullptr, nullptr));
  EXPECT_TRUE(Eventually([&] { return controller->counts().restored == 1; }));
  EXPECT_EQ(controller->counts().lowered, 2u);
  const std::string about = std::string(kK) + " of PodGroup podgroup-pd-0";
  EXPECT_EQ(
      Events("pd-0", "RoleSet"),
      (std::set<std::string>{
          "GangLowered: " + about + " set to 2: its roles ask for 2 pods, and the gang needs 5",
          "GangLowered: " + about + " set to 3: its roles ask for 3 pods, and the gang needs 5",
          "GangRestored: " + about +
              " removed, so the value on the pods applies again: its roles ask for 5 pods, "
              "and the gang needs 5"}));
}

TEST_F(GangRepairController, FollowsARolloutFromItsFirstPodToItsEnd) {
  rollout.PutSettled();
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->synced(); }));
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  rollout.PutUnderWay(2);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "1,2"));
  rollout.PutUnderWay(3);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", "1,2,3"));
  EXPECT_TRUE(Eventually([&] { return controller->counts().marked == 1; }));
  rollout.PutDone();
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr));
  EXPECT_TRUE(Has(rollout.GroupOf(1), nullptr, nullptr)) << "the old one was never touched";

  EXPECT_TRUE(Eventually([&] { return controller->counts().restored == 1; }));
  const Controller::Counts counts = controller->counts();
  EXPECT_EQ(counts.lowered, 3u);
  EXPECT_EQ(counts.restored, 1u);
  EXPECT_EQ(counts.conflicts, 0u);
  EXPECT_EQ(counts.failed, 0u);
  EXPECT_EQ(counts.marked, 0u);
  const std::string about =
      std::string(kK) + " of PodGroup podgroup-uid-chat-2 (ReplicaSet chat-2)";
  const auto lowered = [&](const std::string& pods, const std::string& exist) {
    return "GangLowered: " + about + " set to " + pods + ": " + exist +
           ", the gang needs 4, and no more are created until they are available (replicas 4, "
           "maxSurge "
           "1, maxUnavailable 0)";
  };
  const std::set<std::string> events = Events("chat");
  EXPECT_EQ(events.size(), 4u);
  // The first pod may be seen later than its ReplicaSet.
  EXPECT_EQ(events.count(lowered("1", "0 pods exist")) + events.count(lowered("1", "1 pod exists")),
            1u);
  EXPECT_TRUE(events.contains(lowered("2", "2 pods exist")));
  EXPECT_TRUE(events.contains(lowered("3", "3 pods exist")));
}

TEST_F(GangRepairController, FollowsPodsThatGo) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(3);
  Start();
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", "3"));
  rollout.RemovePod(2, 0);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "3,2"));
  Json going = rollout.Pod(2, 1);
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  server.Put(resources::kPods, going);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "3,2,1"));
  Json failed = rollout.Pod(2, 2);
  failed["status"]["phase"] = "Failed";
  server.Put(resources::kPods, failed);
  rollout.PutPod(2, 3);
  rollout.PutPod(2, 4);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "3,1,2"));
}

TEST_F(GangRepairController, WritesOfTheSchedulerAreAnswered) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  rollout.PutUnderWay(2);
  ASSERT_TRUE(Has(rollout.GroupOf(2), "2", "1,2"));
  rollout.PutGroup(2, {{kK, "4"}});  // a copy from before we came, with K of a pod
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "2"));
  rollout.PutGroup(2, {{kK, "1"}, {kMarker, "1"}});
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "1,2"));
  rollout.PutGroup(2, {{kK, "1"}, {kMarker, "1,2"}});
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "1,2"));
  rollout.PutGroup(2);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "2", "2"));
  // What else it writes stays, and is no reason to write.
  server.ForgetRequests();
  rollout.PutGroup(2, {{kK, "2"}, {kMarker, "2"}},
                   {{"status", {{"phase", "Inqueue"}}}, {"spec", {{"queue", "default"}}}});
  Settle();
  EXPECT_EQ(server.Count({.method = "PATCH", .target_part = rollout.GroupOf(2)}), 0u);

  rollout.PutDone();
  ASSERT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr));
  rollout.PutGroup(2, {{kK, "2"}, {kMarker, "1,2"}});
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr)) << "an old copy is given back again";
}

TEST_F(GangRepairController, APersonsValueStays) {
  rollout.PutSettled();
  rollout.PutGroup(2, {{kK, "3"}});
  rollout.PutUnderWay(1);
  Start();
  Settle();
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", nullptr));
  rollout.PutDone();
  Settle();
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", nullptr));
}

TEST_F(GangRepairController, WritesNameTheUidAndNoVersion) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  const auto writes = server.Requests(kWrites);
  ASSERT_EQ(writes.size(), 1u);
  const Json group = server.Find(resources::kPodGroups, kNs, rollout.GroupOf(2));
  const Json want = {
      {"metadata",
       {{"uid", group.at("metadata").at("uid")}, {"annotations", {{kK, "1"}, {kMarker, "1"}}}}}};
  EXPECT_EQ(Json::parse(writes.front().body), want);
}

TEST_F(GangRepairController, AConflictIsDecidedAgain) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  server.AnswerNext(1, kWrites, StatusAnswer(409, "Conflict", "the object has been modified"));
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->counts().conflicts == 1; }));
  EXPECT_TRUE(Eventually([&] { return Logged("deciding again"); }));
  EXPECT_TRUE(HasAfterPauses(rollout.GroupOf(2), "1"));
  EXPECT_EQ(controller->counts().failed, 0u);
}

TEST_F(GangRepairController, AFaultIsTriedAgainAfterAPause) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  server.Forbid("patch", "podgroups");
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->counts().failed == 1; }));
  EXPECT_TRUE(Eventually([&] { return Logged("could not be repaired"); }));
  EXPECT_TRUE(Logged("Forbidden"));
  // Changes meanwhile do not make it hurry.
  rollout.PutUnderWay(2);
  server.AllowAll();
  Settle();
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr));
  clock.Advance(std::chrono::seconds(1));
  // In one step, or in two if it sees the second pod only after the first was written down.
  EXPECT_TRUE(Eventually(
      [&] { return Annotations(rollout.GroupOf(2)).value(std::string(kK), "") == "2"; }));
  EXPECT_EQ(controller->counts().failed, 1u);
}

TEST_F(GangRepairController, AReplacedPodGroupIsAnother) {
  rollout.PutSettled();
  rollout.PutGroup(2, Json::object(), {{"metadata", {{"uid", "first"}}}});
  rollout.PutUnderWay(1);
  const auto gate = server.Hold(kWrites);
  Start();
  ASSERT_TRUE(gate->WaitUntilHeld());
  server.Remove(resources::kPodGroups, kNs, rollout.GroupOf(2));
  rollout.PutGroup(2, Json::object(), {{"metadata", {{"uid", "second"}}}});
  gate->Release();
  ASSERT_TRUE(Eventually([&] { return controller->counts().conflicts == 1; }))
      << "the write was meant for the first";
  EXPECT_TRUE(HasAfterPauses(rollout.GroupOf(2), "1"));
  const auto writes = server.Requests(kWrites);
  EXPECT_EQ(Json::parse(writes.front().body).at("metadata").at("uid"), "first");
  EXPECT_EQ(Json::parse(writes.back().body).at("metadata").at("uid"), "second");
}

TEST_F(GangRepairController, APodGroupThatIsGoneIsNoFault) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  const auto gate = server.Hold(kWrites);
  Start();
  ASSERT_TRUE(gate->WaitUntilHeld());
  server.Remove(resources::kPodGroups, kNs, rollout.GroupOf(2));
  gate->Release();
  ASSERT_TRUE(Eventually([&] { return controller->counts().conflicts == 1; }));
  rollout.PutGroup(2);
  EXPECT_TRUE(HasAfterPauses(rollout.GroupOf(2), "1"));
  EXPECT_EQ(controller->counts().failed, 0u);
}

TEST_F(GangRepairController, OnlyALeaderWrites) {
  leading = false;
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->synced(); }));
  ASSERT_TRUE(server.WaitForWatches(4));
  EXPECT_EQ(controller->counts().looks, 0u);
  EXPECT_EQ(server.Count(kWrites), 0u);
  Lead(true);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "1")) << "what was there before is reconciled";
  Settle();

  Lead(false);
  server.ForgetRequests();
  rollout.PutUnderWay(2);
  rollout.PutUnderWay(3);
  Rollout other(server, "other");
  other.PutSettled();
  other.PutGroup(2, {{kMarker, "1"}});
  EXPECT_TRUE(Eventually([&] { return controller->counts().marked == 3; })) << "it is followed";
  // Of chat, of the one that settled, and of the other.
  ASSERT_TRUE(Eventually([&] { return pods_followed == 7 + 5 + 4; }));
  EXPECT_EQ(server.Count(kWrites), 0u);
  Lead(true);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", "1,3"));
}

TEST_F(GangRepairController, ANewLeaderGoesOnWithTheMarker) {
  rollout.PutSettled();
  rollout.PutGroup(2, {{kK, "2"}, {kMarker, "1,2"}});
  rollout.PutUnderWay(3);
  Start();
  EXPECT_TRUE(Has(rollout.GroupOf(2), "3", "1,2,3"));
  Start();  // and another one
  rollout.PutDone();
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr));
}

TEST_F(GangRepairController, GoesOnAfterWatchesWereCut) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  int pods = 1;
  for (const auto how : {FakeApiServer::Cut::kOrderly, FakeApiServer::Cut::kConnection,
                         FakeApiServer::Cut::kMidLine}) {
    ASSERT_TRUE(server.WaitForWatches(4));
    server.CutWatches(how);
    rollout.PutUnderWay(++pods);
    if (pods < 4) {
      EXPECT_TRUE(Has(rollout.GroupOf(2), std::to_string(pods), pods == 2 ? "1,2" : "1,2,3"));
    }
  }
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr)) << "four pods exist";
}

TEST_F(GangRepairController, WritesNothingWhileACollectionIsNotCurrent) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  Start();
  Settle();
  ASSERT_TRUE(server.WaitForWatches(4));
  server.ForgetRequests();
  const auto gate = server.Hold({.method = "GET", .target_part = "/pods?"});
  server.Compact();
  server.CutWatches(FakeApiServer::Cut::kConnection);
  ASSERT_TRUE(gate->WaitUntilHeld()) << "pods are not followed";
  rollout.PutUnderWay(1);
  EXPECT_TRUE(Eventually([&] { return server.watches() == 3; }));
  EXPECT_EQ(server.Count(kWrites), 0u);
  gate->Release();
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
}

TEST_F(GangRepairController, ObserveWritesNothingAndReportsItOnce) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start(EnforcementMode::kObserve);
  ASSERT_TRUE(Eventually([&] { return TimesLogged("gang would be lowered") == 1; }));
  const auto looks = controller->counts().looks;
  rollout.PutDeployment(2, 5, 1, 3);
  ASSERT_TRUE(Eventually([&] { return controller->counts().looks > looks; }));
  EXPECT_EQ(TimesLogged("gang would be lowered"), 1u);
  rollout.PutUnderWay(2);
  EXPECT_TRUE(Eventually([&] { return TimesLogged("gang would be lowered") == 2; }));
  EXPECT_EQ(server.Count(kWrites), 0u);
  EXPECT_TRUE(Events("chat").empty());
}

TEST_F(GangRepairController, LooksOnlyAtTheDeploymentThatChanged) {
  Rollout other(server, "other");
  rollout.PutSettled();
  other.PutSettled();
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->counts().looks >= 2; }));
  Settle();
  server.ForgetRequests();
  other.PutGroup(2);
  other.PutUnderWay(1);
  EXPECT_TRUE(Has(other.GroupOf(2), "1", "1"));
  for (const auto& write : server.Requests(kWrites)) {
    EXPECT_NE(write.target.find(other.GroupOf(2)), std::string::npos) << write.target;
  }
}

TEST_F(GangRepairController, AnOlderReplicaSetIsGivenBackWhenItIsEmpty) {
  rollout.PutSettled();
  rollout.PutGroup(2);
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  // A third template, before the second was out.
  rollout.PutReplicaSet(3, 1);
  rollout.PutGroup(3);
  rollout.PutDeployment(3, 5, 1, 4);
  rollout.PutPod(3, 0);
  EXPECT_TRUE(Has(rollout.GroupOf(3), "1", "1"));
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
  rollout.PutReplicaSet(2, 0);
  rollout.RemovePod(2, 0);
  EXPECT_TRUE(Has(rollout.GroupOf(2), nullptr, nullptr));
}

// Where Volcano comes later than the watcher.
struct GangRepairWithoutVolcano : GangRepairController {
  GangRepairWithoutVolcano() : GangRepairController(false) {}
};

TEST_F(GangRepairWithoutVolcano, ItIsWaitedFor) {
  rollout.PutUnderWay(1);
  Start();
  ASSERT_TRUE(Eventually([&] { return controller->synced(); })) << "nothing is amiss";
  ASSERT_TRUE(server.WaitForRequests({.method = "GET", .target_part = "/podgroups?"}, 5));
  EXPECT_EQ(TimesLogged("no PodGroups in this cluster yet"), 1u);
  EXPECT_FALSE(Logged("gangs are not repaired now"));
  EXPECT_EQ(controller->counts().looks, 0u);
  AddPodGroups();
  rollout.PutGroup(2);
  EXPECT_TRUE(Has(rollout.GroupOf(2), "1", "1"));
}

}  // namespace
}  // namespace mindgate::watcher::gang_repair
