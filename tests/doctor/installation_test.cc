#include "doctor/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/installed.h"

namespace mindgate::doctor {
namespace {

using schemas::EnforcementMode;
using ::testing::HasSubstr;

struct Installations : testing::InstalledFixture {
  // "ns/name release", and "?" for a guess.
  std::string Found(const std::string& own = "") {
    const auto found = FindInstallation(client, own);
    if (!found) return "none";
    return found->ns + "/" + found->name + " " + found->release + (found->guessed ? "?" : "");
  }
  WatcherState Watcher(const Installation& installation) {
    return LookAtWatcher(client, installation, options.known, clock.WallNow());
  }
  const Installation prod{.ns = "ops", .name = "prod-gate", .release = "prod"};
};

TEST_F(Installations, AreFoundWhateverTheirObjectsAreCalled) {
  EXPECT_EQ(Found(), "none");
  server.Put(
      kube::resources::kMutatingWebhooks,
      {{"metadata", {{"name", "another"}}}, {"webhooks", {{{"name", "pods.mutate.example.com"}}}}});
  EXPECT_EQ(Found(), "none");
  PutWebhooks(false);
  EXPECT_EQ(Found(), "ops/prod-gate prod");
  PutWebhooks(true);
  EXPECT_EQ(FindInstallations(client, "", "")->size(), 1);
  EXPECT_EQ(FindInstallations(client, "app.kubernetes.io/name=gate", "")->size(), 1);
  EXPECT_EQ(FindInstallations(client, "app.kubernetes.io/name=mindgate", "")->size(), 0);
  EXPECT_EQ(FindInstallations(client, "", "elsewhere")->size(), 0);
}

// The watcher's Pod names its own, which it may not look for.
TEST_F(Installations, OfTheWatchersOwnPodComeFirst) {
  EXPECT_EQ(Found("ops/prod-gate"), "ops/prod-gate ") << "the webhook is bypassed";
  server.Put(
      kube::resources::kMutatingWebhooks,
      {{"metadata", {{"name", "a"}, {"annotations", {{"meta.helm.sh/release-namespace", "a"}}}}},
       {"webhooks", {{{"name", "pods.mutate.mindgate.io"}}}}});
  PutWebhooks(true);
  EXPECT_EQ(Found(), "a/a ");
  EXPECT_EQ(Found("ops/prod-gate"), "ops/prod-gate prod");
  EXPECT_EQ(Found("gone/gone"), "a/a ");
  server.Forbid("list", "mutatingwebhookconfigurations");
  EXPECT_EQ(Found("ops/prod-gate"), "ops/prod-gate ");
  EXPECT_EQ(Found(), "mindgate-system/mindgate ?");
  for (const char* wrong : {"", "ops", "/prod-gate", "ops/"}) {
    EXPECT_EQ(Found(wrong), "mindgate-system/mindgate ?") << wrong;
  }
}

TEST_F(Installations, HaveTheWatcherOfTheirRelease) {
  PutConfig("elasticScaling: {mode: enforce}\n");
  PutLease();
  PutPod(Metadata("watcher-0", "watcher"));
  Json other = Metadata("watcher-1", "watcher");
  other["labels"]["app.kubernetes.io/instance"] = "canary";
  other["name"] = "canary-0";
  server.Put(kube::resources::kPods, {{"metadata", other}});
  for (const Installation& one : {prod, Installation{.ns = "ops", .name = "prod-gate"}}) {
    const WatcherState state = Watcher(one);
    EXPECT_EQ(state.mode, EnforcementMode::kEnforce) << state.why_no_mode;
    EXPECT_EQ(state.acts(), true);
  }
}

TEST_F(Installations, AreOffOnlyWhereNobodyLeads) {
  const WatcherState nobody = Watcher(prod);
  EXPECT_EQ(nobody.mode, EnforcementMode::kOff);
  EXPECT_EQ(nobody.why_no_mode, "no watcher runs in namespace ops");
  PutLease();
  const WatcherState unseen = Watcher(prod);
  EXPECT_EQ(unseen.mode, std::nullopt);
  EXPECT_EQ(unseen.why_no_mode,
            "watcher-0_1 leads, but no Pod in namespace ops has its labels (app.kubernetes.io/"
            "component=watcher,app.kubernetes.io/instance=prod)");
  EXPECT_EQ(unseen.acts(), std::nullopt);
}

TEST_F(Installations, ThatAreGuessedAreNotOff) {
  const WatcherState state = Watcher({.guessed = true});
  EXPECT_EQ(state.mode, std::nullopt);
  EXPECT_EQ(state.acts(), std::nullopt);
  EXPECT_TRUE(state.leader_is_unknown);
  EXPECT_EQ(state.why_no_mode,
            "no Pod of a watcher is in namespace mindgate-system, and it is not known whether one "
            "runs elsewhere");
  EXPECT_THAT(state.why_no_leader, HasSubstr("may be installed elsewhere"));
}

}  // namespace
}  // namespace mindgate::doctor
