// The API server of simulations, compared with the one of tests, which is held against a real one
// (tests/kube/api_server_suite.h).
#include "simulation/api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"
#include "watcher/frame/leader_client.h"
#include "watcher/scaling/pod.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using kube::Reason;
using ::testing::ElementsAre;
using PodName = ApiServer::PodName;
using Changes = std::vector<std::string>;

constexpr const char* kOtherUid = "6b1a4a5c-0000-4000-8000-000000000000";

Json PodOnNode(const std::string& name, const std::string& node = "") {
  Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"namespace", "default"}, {"name", name}}},
      {"spec",
       {{"containers", {{{"name", "c"}, {"image", "i"}}}},
        {"schedulingGates", {{{"name", "other"}}, {{"name", "mindgate.io/elastic-scaling"}}}}}},
      {"status", {{"phase", "Pending"}}}};
  if (!node.empty()) {
    pod["spec"]["nodeName"] = node;
    pod["spec"].erase("schedulingGates");
    pod["status"]["phase"] = "Running";
  }
  return pod;
}

// One of the two, behind the same client.
struct Served {
  std::string name;
  kube::Transport& transport;
  std::function<Json(const PodName&)> find;  // null when it is not there
};

struct SimulatedApiServer : ::testing::Test {
  mindgate::testing::FakeClock clock;
  ApiServer server{clock};
  kube::testing::FakeApiServer fake{{.clock = &clock}};
  std::unique_ptr<kube::Transport> http =
      kube::MakeTransport(kube::testing::AccessTo(fake.url()), "mindgate/test");
  kube::RealSleeper sleeper;
  Changes changes;

  void SetUp() override {
    server.Listen([this](ApiServer::Change change, const PodName& name, const Json& object) {
      constexpr std::array kWords = {"added", "modified", "deleted"};
      changes.push_back(std::string(kWords[static_cast<size_t>(change)]) + " " + name.name + " " +
                        object.at("metadata").at("resourceVersion").get<std::string>());
    });
  }
  void Put(const Json& pod) {
    ASSERT_TRUE(server.Create(pod));
    fake.Put(kube::resources::kPods, pod);
  }
  std::vector<Served> both() {
    return {{"simulated", server,
             [this](const PodName& name) { return server.Find(name).value_or(Json()); }},
            {"fake", *http, [this](const PodName& name) {
               return fake.Find(kube::resources::kPods, name.ns, name.name);
             }}};
  }
};

std::string TextOf(const Json& pod, const char* member) {
  return pod.at("metadata").at(member).get<std::string>();
}

// "Conflict 409", "done".
template <typename T>
std::string Word(const kube::Answer<T>& answer) {
  if (answer) return "done";
  return std::string(kube::ReasonName(answer.error().reason)) + " " +
         std::to_string(answer.error().http);
}

// What rescheduling asks beside that.
TEST_F(SimulatedApiServer, MarksForcesAndKeepsAsTheFakeOneDoes) {
  Put(PodOnNode("marked", "n"));
  Put(PodOnNode("forced", "n"));
  fake.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "kept"}}}});
  std::map<std::string, std::vector<std::string>> answers;
  for (const Served& one : both()) {
    SCOPED_TRACE(one.name);
    kube::Client client(one.transport, sleeper, watcher::LeaderClient::kOptions);
    watcher::LeaderClient leader(client, watcher::Term(Time{}, [] { return true; }, {}));
    const auto& pods = kube::resources::kPods;
    const auto& config_maps = kube::resources::kConfigMaps;
    const auto record = [&](const std::string& answer) { answers[one.name].push_back(answer); };
    const auto mark = [&](const char* name, const std::string& uid) {
      const Json patch = {{"metadata", {{"uid", uid}, {"annotations", {{"status", "bad"}}}}}};
      record(Word(leader.MergePatch(pods, "default", name, patch)));
    };
    mark("none", kOtherUid);
    mark("marked", TextOf(one.find({"default", "marked"}), "uid"));
    record(one.find({"default", "marked"}).at("metadata").at("annotations").dump());
    kube::DeleteOptions by_force;
    by_force.grace_seconds = 0;
    record(Word(client.Delete(pods, "default", "forced", by_force)));
    record(one.find({"default", "forced"}).is_null() ? "gone" : "there");
    record(Word(leader.Get(config_maps, "kept", "state")));
    for (const char* text : {"once", "twice"}) {
      const Json object = {{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"metadata", {{"namespace", "kept"}, {"name", "state"}}},
                           {"data", {{"text", text}}}};
      record(
          Word(leader.Apply(config_maps, "kept", "state", object, true, {.field_manager = "m"})));
      const auto kept = leader.Get(config_maps, "kept", "state");
      record(kept ? kept->at("data").dump() : Word(kept));
    }
  }
  EXPECT_EQ(answers["simulated"], answers["fake"]);
  EXPECT_THAT(answers["fake"], ElementsAre("NotFound 404", "done", R"({"status":"bad"})", "done",
                                           "gone", "NotFound 404", "done", R"({"text":"once"})",
                                           "done", R"({"text":"twice"})"));
}

TEST_F(SimulatedApiServer, AnswersWhatTheFakeOneAnswers) {
  Put(PodOnNode("gated"));
  Put(PodOnNode("placed", "n"));
  Put(PodOnNode("a b"));
  std::map<std::string, std::vector<std::string>> answers;
  for (const Served& one : both()) {
    SCOPED_TRACE(one.name);
    kube::Client client(one.transport, sleeper, watcher::LeaderClient::kOptions);
    watcher::LeaderClient leader(client, watcher::Term(Time{}, [] { return true; }, {}));
    const auto& pods = kube::resources::kPods;
    const auto uid = [&](const char* name) { return TextOf(one.find({"default", name}), "uid"); };
    const auto version = [&](const char* name) {
      return TextOf(one.find({"default", name}), "resourceVersion");
    };
    const auto record = [&](const std::string& answer) { answers[one.name].push_back(answer); };
    const auto remove_gate = [&](const char* name, const std::string& of, size_t place) {
      record(Word(leader.Patch(pods, "default", name,
                               watcher::scaling::GateRemoval({"default", name, of, place}))));
    };
    const auto remove = [&](const char* name, const std::string& of, const std::string& at) {
      kube::DeleteOptions options;
      options.preconditions = {.uid = of, .resource_version = at};
      const auto answer = client.Delete(pods, "default", name, options);
      record(Word(answer));
    };
    record(Word(leader.Get(pods, "default", "none")));
    record(Word(leader.Get(pods, "default", "a b")));
    remove_gate("none", kOtherUid, 0);
    remove_gate("gated", kOtherUid, 1);
    remove_gate("gated", uid("gated"), 0);
    remove_gate("gated", uid("gated"), 7);
    remove_gate("gated", uid("gated"), 1);
    record(one.find({"default", "gated"}).at("spec").at("schedulingGates").dump());
    remove_gate("gated", uid("gated"), 1);
    kube::DeleteOptions other;
    other.preconditions.uid = kOtherUid;
    record(Word(leader.MayEvict("default", "none", {})));
    record(Word(leader.MayEvict("default", "placed", other)));
    record(Word(leader.MayEvict("default", "placed", {})));
    remove("none", "", "");
    remove("gated", kOtherUid, "");
    remove("gated", uid("gated"), "1234567");
    remove("gated", uid("gated"), version("gated"));
    record(one.find({"default", "gated"}).dump());
    remove("placed", uid("placed"), "");
    Json going = one.find({"default", "placed"});
    record(TextOf(going, "deletionTimestamp"));
    record(going.at("metadata").at("deletionGracePeriodSeconds").dump());
    const std::string before = version("placed");
    remove("placed", uid("placed"), "");
    record(version("placed") == before ? "as before" : "changed");
    record(Word(leader.Get({"apps", "v1", "deployments", "Deployment", true}, "default", "none")) ==
                   "done"
               ? "found"
               : "refused");
  }
  EXPECT_EQ(answers["simulated"], answers["fake"]);
  EXPECT_THAT(
      answers["simulated"],
      ElementsAre("NotFound 404", "done", "NotFound 404", "Invalid 422", "Invalid 422",
                  "Invalid 422", "done", R"([{"name":"other"}])", "Invalid 422", "NotFound 404",
                  "Conflict 409", "done", "NotFound 404", "Conflict 409", "Conflict 409", "done",
                  "null", "done", "2026-01-01T00:00:30Z", "30", "done", "as before", "refused"));
}

TEST_F(SimulatedApiServer, ABudgetMayForbidAnEvictionOfWhatRuns) {
  ASSERT_TRUE(server.Create(PodOnNode("runs", "n")));
  ASSERT_TRUE(server.Create(PodOnNode("waits")));
  server.Guard([](const Json& pod) -> std::optional<std::string> {
    return "The disruption budget all needs 1 healthy pods and has " +
           pod.at("metadata").at("name").get<std::string>();
  });
  kube::Client client(server, sleeper, watcher::LeaderClient::kOptions);
  kube::DeleteOptions dry;
  dry.dry_run = true;
  const auto refused = client.Evict("default", "runs", dry);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(refused.error().http, 429);
  EXPECT_THAT(refused.error().causes,
              ElementsAre("The disruption budget all needs 1 healthy pods and has runs"));
  EXPECT_TRUE(client.Evict("default", "waits", dry));
  EXPECT_TRUE(server.Find({"default", "waits"}));
  EXPECT_TRUE(client.Evict("default", "waits"));
  EXPECT_FALSE(server.Find({"default", "waits"}));
}

TEST_F(SimulatedApiServer, CallsFailWhenAsked) {
  ASSERT_TRUE(server.Create(PodOnNode("p")));
  std::vector<std::string> asked;
  server.Fail([&](const kube::HttpCall& call) -> std::optional<kube::Answer<kube::HttpAnswer>> {
    asked.push_back(call.method + " " + call.path);
    if (call.method == "GET") return kube::HttpAnswer{.status = 503};
    if (call.method == "DELETE") return kube::Failed(Reason::kTimeout, "no answer");
    return std::nullopt;
  });
  kube::Client client(server, sleeper, watcher::LeaderClient::kOptions);
  EXPECT_EQ(Word(client.Get(kube::resources::kPods, "default", "p")), "Unavailable 503");
  EXPECT_EQ(Word(client.Delete(kube::resources::kPods, "default", "p")), "Timeout 0");
  kube::DeleteOptions dry;
  dry.dry_run = true;
  EXPECT_EQ(Word(client.Evict("default", "p", dry)), "done");
  EXPECT_THAT(asked, ElementsAre("GET /api/v1/namespaces/default/pods/p",
                                 "DELETE /api/v1/namespaces/default/pods/p",
                                 "POST /api/v1/namespaces/default/pods/p/eviction?dryRun=All"));
  EXPECT_THAT(changes, ElementsAre("added p 1"));
}

TEST_F(SimulatedApiServer, ReportsEachChangeInItsOrder) {
  EXPECT_TRUE(server.Create(PodOnNode("p")));
  EXPECT_FALSE(server.Create(PodOnNode("p"))) << "the name is taken";
  const std::string uid = TextOf(*server.Find({"default", "p"}), "uid");
  EXPECT_EQ(TextOf(*server.Find({"default", "p"}), "creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_TRUE(server.Update({"default", "p"}, [](Json& pod) { pod["spec"]["nodeName"] = "n"; }));
  EXPECT_TRUE(server.Delete({"default", "p"}));
  EXPECT_TRUE(server.Delete({"default", "p"})) << "it goes already";
  EXPECT_TRUE(server.Remove({"default", "p"}));
  for (const bool there :
       {server.Remove({"default", "p"}), server.Delete({"default", "p"}),
        server.Update({"default", "p"}, [](Json&) {}), server.Find({"default", "p"}).has_value()}) {
    EXPECT_FALSE(there);
  }
  EXPECT_TRUE(server.Create(PodOnNode("p")));
  EXPECT_NE(TextOf(*server.Find({"default", "p"}), "uid"), uid);
  EXPECT_THAT(changes,
              ElementsAre("added p 1", "modified p 2", "modified p 3", "deleted p 4", "added p 5"));
  EXPECT_EQ(server.size(), 1);
}

}  // namespace
}  // namespace mindgate::simulation
