// Deletion and eviction. See api_server_suite.h.
#include <gmock/gmock.h>

#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kAnotherUid = "6b1a4a5c-0000-4000-8000-000000000000";

DeleteOptions Requiring(const std::string& uid, const std::string& version = "") {
  DeleteOptions options;
  options.preconditions = {.uid = uid, .resource_version = version};
  return options;
}

TEST_P(ApiServerSuite, Delete) {
  CreateConfigMap("a");
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  EXPECT_EQ(GetFault(resources::kConfigMaps, "a").reason, Reason::kNotFound);
  const Fault fault = FaultIn(client().Delete(resources::kConfigMaps, ns(), "a"));
  EXPECT_EQ(fault.reason, Reason::kNotFound);
  EXPECT_EQ(fault.http, 404);
}

TEST_P(ApiServerSuite, DeleteOfWhatWasMeant) {
  const Json made = CreateConfigMap("a");
  const Json changed =
      Value(client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}));
  for (const DeleteOptions& options :
       {Requiring(kAnotherUid), Requiring("", VersionOf(made)),
        Requiring(UidOf(made), VersionOf(made)), Requiring(kAnotherUid, VersionOf(changed))}) {
    const Fault fault = FaultIn(client().Delete(resources::kConfigMaps, ns(), "a", options));
    EXPECT_EQ(fault.reason, Reason::kConflict);
    EXPECT_EQ(fault.http, 409);
    EXPECT_THAT(fault.message, HasSubstr("recondition"));
  }
  EXPECT_EQ(Get(resources::kConfigMaps, "a"), changed);
  Done(client().Delete(resources::kConfigMaps, ns(), "a",
                       Requiring(UidOf(changed), VersionOf(changed))));
  EXPECT_EQ(GetFault(resources::kConfigMaps, "a").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, FinalizersHoldDeletion) {
  CreateConfigMap("a");
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                            {{"metadata", {{"finalizers", {"mindgate.io/test"}}}}}));
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  const Json held = Get(resources::kConfigMaps, "a");
  EXPECT_TRUE(held.at("metadata").contains("deletionTimestamp"));
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  EXPECT_EQ(VersionOf(Get(resources::kConfigMaps, "a")), VersionOf(held));

  Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                            {{"metadata", {{"finalizers", nullptr}}}}));
  EXPECT_EQ(GetFault(resources::kConfigMaps, "a").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, DeletionOfAnOwnerInTheForegroundWaits) {
  CreateConfigMap("a");
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                            {{"metadata", {{"finalizers", {"mindgate.io/test"}}}}}));
  DeleteOptions options;
  options.propagation = "Foreground";
  Done(client().Delete(resources::kConfigMaps, ns(), "a", options));
  EXPECT_TRUE(Get(resources::kConfigMaps, "a").at("metadata").contains("deletionTimestamp"));
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                            {{"metadata", {{"finalizers", nullptr}}}}));
  EXPECT_EQ(GetFault(resources::kConfigMaps, "a").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, APodThatNobodyRunsGoesAtOnce) {
  CreatePod("p");
  Done(client().Delete(resources::kPods, ns(), "p"));
  EXPECT_EQ(GetFault(resources::kPods, "p").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, APodOnANodeWaitsForItsKubelet) {
  const Json pod = CreatePod("p", "nowhere");
  DeleteOptions options = Requiring(UidOf(pod));
  options.grace_seconds = 300;
  Done(client().Delete(resources::kPods, ns(), "p", options));
  const Json metadata = Get(resources::kPods, "p").at("metadata");
  EXPECT_TRUE(metadata.contains("deletionTimestamp"));
  EXPECT_EQ(metadata.at("deletionGracePeriodSeconds"), 300);

  options.grace_seconds = 0;
  Done(client().Delete(resources::kPods, ns(), "p", options));
  EXPECT_EQ(GetFault(resources::kPods, "p").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, Evict) {
  const Json pod = CreatePod("p");
  EXPECT_EQ(FaultIn(client().Evict(ns(), "absent")).reason, Reason::kNotFound);
  EXPECT_EQ(FaultIn(client().Evict(ns(), "p", Requiring(kAnotherUid))).reason, Reason::kConflict);
  DeleteOptions dry;
  dry.dry_run = true;
  Done(client().Evict(ns(), "p", dry));
  EXPECT_EQ(UidOf(Get(resources::kPods, "p")), UidOf(pod));

  Done(client().Evict(ns(), "p", Requiring(UidOf(pod))));
  EXPECT_EQ(GetFault(resources::kPods, "p").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, ABudgetMayForbidAnEviction) {
  CreatePod("p");
  Value(client().Create(
      resources::kPodDisruptionBudgets, ns(),
      {{"apiVersion", "policy/v1"},
       {"kind", "PodDisruptionBudget"},
       {"metadata", {{"name", "all"}}},
       {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "suite"}}}}}}}}));
  Value(client().MergePatch(resources::kPods, ns(), "p", {{"status", {{"phase", "Running"}}}}, {},
                            "status"));
  const Fault fault = FaultIn(client().Evict(ns(), "p"));
  EXPECT_EQ(fault.reason, Reason::kTooManyRequests);
  EXPECT_EQ(fault.http, 429);
  EXPECT_THAT(fault.message, HasSubstr("disruption budget"));
  EXPECT_THAT(fault.causes, ElementsAre(HasSubstr("The disruption budget all ")));
  EXPECT_FALSE(Get(resources::kPods, "p").at("metadata").contains("deletionTimestamp"));

  // It does not guard what does not run.
  Value(client().MergePatch(resources::kPods, ns(), "p", {{"status", {{"phase", "Failed"}}}}, {},
                            "status"));
  Done(client().Evict(ns(), "p"));
}

}  // namespace
}  // namespace mindgate::kube::testing
