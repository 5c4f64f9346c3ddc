#include "cli/servers/policy_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "admission/admit.h"
#include "admission/config_files.h"
#include "base/files.h"
#include "json/decode.h"
#include "kube/fake_api_server.h"
#include "policies/site/site_policies.h"
#include "support/bound_policy.h"
#include "support/cli.h"
#include "support/eventually.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::BoundPolicy;
using ::mindgate::testing::Eventually;
using ::mindgate::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace resources = kube::resources;

constexpr const char* kFollowedNs = "mindgate-system";

// A configuration that is loaded as webhook and watcher do, and an API server.
struct PolicyFollowing : ::testing::Test {
  SystemClock clock;
  FakeApiServer server;
  TempFolder folder;
  std::mutex mutex;
  std::string lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [this](std::string_view line) {
                       const std::lock_guard lock(mutex);
                       lines += line;
                     }};
  PolicyFollower follower{
      {.default_namespace = kFollowedNs, .server = server.url()}, clock, logger};
  Snapshot<schemas::Config> config;
  std::unique_ptr<admission::ConfigReloader> reloader = admission::MakeConfigReloader(
      folder / "mindgate.yaml", admission::KnownNames(), clock, config, {}, {}, &follower);
  std::unique_ptr<DirectoryWatchThread> thread;

  PolicyFollowing() { Configure("policies: {configMaps: true}\n"); }

  void Configure(const std::string& text) const { folder.Write("mindgate.yaml", text); }
  void Store(const std::string& name, const std::string& text) {
    server.Put(resources::kConfigMaps, {{"metadata",
                                         {{"namespace", kFollowedNs},
                                          {"name", name},
                                          {"labels", {{"mindgate.io/policies", "enabled"}}}}},
                                        {"data", {{"a.yaml", text}}}});
  }
  // As a server does: what others report is a change.
  void Start() {
    DirectoryWatch::Options watch;
    watch.folders = {folder.path()};
    watch.poll_every = std::chrono::hours(1);
    watch.others = follower.changes();
    thread = std::make_unique<DirectoryWatchThread>(watch, clock, [this] { reloader->Reload(); });
    reloader->Reload();
  }
  std::vector<std::string> Rules() const {
    std::vector<std::string> ids;
    const auto now = config.Get();
    if (now == nullptr) return {"no configuration"};
    if (now->policies == nullptr) return ids;
    for (const policies::Rule* rule : now->policies->rules()) ids.emplace_back(rule->id);
    return ids;
  }
  bool Becomes(const std::vector<std::string>& rules) const {
    return Eventually([&] { return Rules() == rules; });
  }
  // A configuration is in use a moment before its fault is gone.
  bool IsSound() const {
    return Eventually([&] { return reloader->status().error.empty(); });
  }
  std::string Logged() {
    const std::lock_guard lock(mutex);
    return lines;
  }
};

TEST_F(PolicyFollowing, AddedChangedBrokenAndRemoved) {
  Store("site", BoundPolicy("one", "true"));
  Start();
  EXPECT_THAT(Rules(), ElementsAre("policy/one")) << "with the first load";
  EXPECT_EQ(reloader->status().failures, 0u);

  Store("more", BoundPolicy("two", "true"));
  EXPECT_TRUE(Becomes({"policy/one", "policy/two"}));
  Store("more", BoundPolicy("three", "true"));
  EXPECT_TRUE(Becomes({"policy/one", "policy/three"}));

  Store("more", BoundPolicy("three", "objct == 1"));
  const std::string fault =
      "ConfigMap mindgate-system/more, key a.yaml:7:31: undeclared reference to 'objct'";
  EXPECT_TRUE(Eventually([&] { return reloader->status().error.starts_with(fault); }))
      << reloader->status().error;
  EXPECT_THAT(Rules(), ElementsAre("policy/one", "policy/three")) << "the last good set";

  server.Remove(resources::kConfigMaps, kFollowedNs, "more");
  EXPECT_TRUE(Becomes({"policy/one"}));
  EXPECT_TRUE(IsSound());
  server.Remove(resources::kConfigMaps, kFollowedNs, "site");
  EXPECT_TRUE(Becomes({}));
}

TEST_F(PolicyFollowing, IsNotLoadedBeforeTheyCanBeListed) {
  Store("site", BoundPolicy("one", "true"));
  server.Forbid("list", "configmaps");
  Start();
  EXPECT_EQ(config.Get(), nullptr);
  EXPECT_THAT(reloader->status().error, HasSubstr("the ConfigMaps of namespace mindgate-system "
                                                  "cannot be listed: "));
  server.AllowAll();
  EXPECT_TRUE(Becomes({"policy/one"}));
  EXPECT_TRUE(IsSound());
}

TEST_F(PolicyFollowing, ParametersAmongThem) {
  std::string policy = BoundPolicy("one", "int(params.data.most) > 3");
  policy.replace(policy.find("  matchConstraints"), 0,
                 "  paramKind: {apiVersion: v1, kind: ConfigMap}\n");
  policy.replace(policy.find("validationActions"), 0,
                 "paramRef: {name: limits, namespace: a, parameterNotFoundAction: Deny}, ");
  Store("site", policy);
  const auto limit = [&](const std::string& most) {
    Store("limits",
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: a}\n"
          "data: {most: '" +
              most + "'}\n");
  };
  const json::Document object(Json{{"apiVersion", "apps/v1"},
                                   {"kind", "Deployment"},
                                   {"metadata", {{"name", "d"}, {"namespace", "a"}}}});
  const auto denied = [&] {
    schemas::AdmissionRequest request;
    request.object = &object.root();
    request.ns = "a";
    return admission::Admit(request, *config.Get(), {.mutate = false}).outcome ==
           admission::Outcome::kDenied;
  };
  limit("4");
  Start();
  ASSERT_THAT(Rules(), ElementsAre("policy/one")) << reloader->status().error;
  EXPECT_FALSE(denied());
  limit("2");
  EXPECT_TRUE(Eventually(denied));
}

TEST_F(PolicyFollowing, ALossOfTheApiServerKeepsWhatIsLoaded) {
  Store("site", BoundPolicy("one", "true"));
  Start();
  ASSERT_THAT(Rules(), ElementsAre("policy/one"));
  ASSERT_TRUE(server.WaitForWatches(1));
  server.Stop();
  ASSERT_TRUE(Eventually([&] {
    return Logged().find(
               "ConfigMaps with policies cannot be watched now: those known stay in "
               "use") != std::string::npos;
  })) << Logged();
  Configure("policies: {configMaps: true}\nscheduler: two\n");
  EXPECT_TRUE(Eventually([&] { return config.Get()->scheduler == "two"; }));
  EXPECT_THAT(Rules(), ElementsAre("policy/one"));
}

TEST_F(PolicyFollowing, TheKeyIsFollowedBothWays) {
  Configure("scheduler: one\n");
  Store("site", BoundPolicy("one", "true"));
  Start();
  EXPECT_THAT(Rules(), ElementsAre());
  EXPECT_EQ(server.Requests().size(), 0u) << "without the key no call is made";
  Configure("policies: {configMaps: true}\n");
  EXPECT_TRUE(Becomes({"policy/one"}));
  ASSERT_TRUE(server.WaitForWatches(1));
  Configure("policies: {configMaps: false}\n");
  EXPECT_TRUE(Becomes({}));
  EXPECT_TRUE(server.WaitForWatches(0));
}

TEST_F(PolicyFollowing, AnEventLostWithItsConnectionComesWithTheNextWatch) {
  Store("site", BoundPolicy("one", "true"));
  Start();
  ASSERT_TRUE(server.WaitForWatches(1));
  server.CutWatches(FakeApiServer::Cut::kConnection);
  Store("site", BoundPolicy("two", "true"));
  EXPECT_TRUE(Becomes({"policy/two"}));
  ASSERT_TRUE(server.WaitForWatches(1));
  server.Compact();
  server.CutWatches(FakeApiServer::Cut::kOrderly);
  server.Remove(resources::kConfigMaps, kFollowedNs, "site");
  EXPECT_TRUE(Becomes({}));
}

}  // namespace
}  // namespace mindgate::cli
