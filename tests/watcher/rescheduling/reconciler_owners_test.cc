#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "watcher/rescheduling_direct.h"

// Which pods go by the kind that made the PodGroup: what each is recommended to be labelled with,
// and who makes its PodGroup (mind-cluster: docs; lws: pkg/schedulerprovider/volcano_provider.go;
// aibrix: pkg/controller/podset, pkg/controller/roleset).
namespace mindgate::watcher::rescheduling {
namespace {

struct OwnerCase {
  const char* name;
  Json owner;
  Json labels;
  Json annotations;
  int min_member;
  PodNames left;  // after the node of pod 3 was lost
};

Json OwnerRefTo(const char* api_version, const char* kind, const char* name) {
  const Json owner = {{"apiVersion", api_version},
                      {"kind", kind},
                      {"name", name},
                      {"uid", "uid-owner"},
                      {"controller", true}};
  return Json::array({owner});
}

TEST(ReschedulingOwners, EachKindLosesThePodsOfItsScope) {
  const Json force = {{"fault-scheduling", "force"}};
  const Json pods = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
  const OwnerCase cases[] = {
      // A PodGroup for each group, owned by its leader: a group starts over together.
      {"LeaderWorkerSet", OwnerRefTo("v1", "Pod", "chat-0"), force, Json::object(), 4, {}},
      // podGroupSize 4: a PodGroup for each PodSet.
      {"PodSet",
       OwnerRefTo("orchestration.aibrix.ai/v1alpha1", "PodSet", "chat-0"),
       force,
       Json::object(),
       1,
       {}},
      // podGroupSize 1: all roles share the PodGroup of the RoleSet, and one pod is an instance.
      {"StormService",
       OwnerRefTo("orchestration.aibrix.ai/v1alpha1", "RoleSet", "chat"),
       pods,
       {{"huawei.com/recover_policy_path", "pod"}, {"huawei.com/schedule_minAvailable", "4"}},
       1,
       {"chat-0", "chat-1", "chat-2"}},
      {"OME on a Deployment",
       OwnerRefTo("apps/v1", "ReplicaSet", "chat-1"),
       {{"fault-scheduling", "force"}, {"ome.io/inferenceservice", "chat"}},
       Json::object(),
       1,
       {"chat-0", "chat-1", "chat-2"}},
      {"AscendJob",
       OwnerRefTo("mindxdl.gitee.com/v1", "AscendJob", "chat"),
       force,
       Json::object(),
       4,
       {}},
      {"infer-operator",
       OwnerRefTo("infer.huawei.com/v1", "InferService", "chat"),
       {{"fault-scheduling", "external-force"}},
       Json::object(),
       4,
       {"chat-0", "chat-1", "chat-2", "chat-3"}},
  };
  for (const OwnerCase& c : cases) {
    Direct direct;
    direct.cluster.PutJob("chat", c.labels);
    Json group = direct.Group("chat");
    group["metadata"]["ownerReferences"] = c.owner;
    if (!c.annotations.empty()) group["metadata"]["annotations"] = c.annotations;
    group["spec"]["minMember"] = c.min_member;
    direct.cluster.server.Put(kube::resources::kPodGroups, group);
    direct.cluster.PutNode("n3", false);
    direct.Reconcile("chat", {"n3"});
    EXPECT_EQ(direct.cluster.Pods("chat"), c.left) << c.name << ": " << direct.decisions.last();
    // What one pod could not fix is not made wider for kinds whose instance is one pod.
    if (c.left.size() != 3) continue;
    direct.cluster.PutPod("chat", "chat-3", "", c.labels);
    direct.Reconcile("chat", {});
    direct.cluster.clock.Advance(std::chrono::minutes(30));
    direct.Reconcile("chat", {});
    EXPECT_EQ(direct.Deletes(), 1U) << c.name;
  }
}

// With pod-rescheduling, a group that its controller starts over as a whole loses one pod
// first, and all of them again when the others are recreated. It is what the labels ask for.
TEST(ReschedulingOwners, T36AGroupWithPodReschedulingLosesOnePodFirst) {
  Direct direct;
  direct.cluster.PutJob("chat", kPodLabels);
  direct.cluster.PutNode("n3", false);
  direct.Reconcile("chat", {"n3"});
  EXPECT_EQ(direct.cluster.Pods("chat"), (PodNames{"chat-0", "chat-1", "chat-2"}));
}

}  // namespace
}  // namespace mindgate::watcher::rescheduling
