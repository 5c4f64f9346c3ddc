// Objects of a tenant who writes whatever the API server takes, as every projection of the watcher
// sees them: through kube::Understand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "kube/answers.h"
#include "watcher/ended_servers/controller.h"
#include "watcher/gang_repair/state.h"
#include "watcher/rescheduling/job.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher {
namespace {

using json::Json;

// A pod in all of our controllers' sight.
Json TenantPod() {
  return {{"metadata",
           {{"namespace", "tenant"},
            {"name", "p"},
            {"uid", "1"},
            {"labels", {{"mind-cluster/scaling-rule", "r"}, {"jobID", "j"}, {"group-name", "g0"}}},
            {"annotations", {{"scheduling.k8s.io/group-name", "group"}}},
            {"ownerReferences",
             {{{"apiVersion", "apps/v1"},
               {"kind", "ReplicaSet"},
               {"name", "set"},
               {"uid", "2"},
               {"controller", true}}}}}},
          {"spec", {{"nodeName", "n"}}},
          {"status", {{"phase", "Running"}}}};
}

struct Read {
  explicit Read(const Json& object) : document(object) {
    const auto understood = kube::Understand(document.root(), rows);
    if (understood.object) value = *understood.object;
  }
  json::Document document;
  json::Arena rows{1024};
  json::Value value;
};

TEST(NotUnderstood, APodWithSuchAGroupIsInNoJob) {
  Json pod = TenantPod();
  EXPECT_NE(rescheduling::PodReader().Read(Read(pod).value), nullptr);
  pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = std::string(250'000, 'g');
  EXPECT_EQ(rescheduling::PodReader().Read(Read(pod).value), nullptr);
  EXPECT_FALSE(gang_repair::PodOf(Read(pod).value));
}

TEST(NotUnderstood, SuchAnOwnerIsNone) {
  Json pod = TenantPod();
  pod["status"]["phase"] = "Succeeded";
  EXPECT_TRUE(ended_servers::Read(Read(pod).value));
  pod["metadata"]["ownerReferences"][0]["name"] = std::string(700'000, 'o');
  EXPECT_FALSE(ended_servers::Read(Read(pod).value));

  Json gang = TenantPod();
  gang["metadata"]["ownerReferences"][0]["kind"] = "Job";
  const Read honest(gang);
  EXPECT_EQ(scaling::PodOf(honest.value)->instance, "Job/set");
  gang["metadata"]["ownerReferences"][0]["name"] = "set\x1b[2K";
  const Read forged(gang);
  EXPECT_EQ(scaling::PodOf(forged.value)->instance, "Pod/p");
  EXPECT_EQ(scaling::PodOf(forged.value)->regarding().name, "p");
}

TEST(NotUnderstood, EventsOfAPodGroupWithSuchAnOwnerAreAboutThePodGroup) {
  Json group = TenantPod();
  EXPECT_EQ(rescheduling::PodGroupOf(Read(group).value).regarding().name, "set");
  group["metadata"]["ownerReferences"][0]["apiVersion"] = std::string(10'000, 'v');
  const Read forged(group);
  const rescheduling::PodGroupState state = rescheduling::PodGroupOf(forged.value);
  EXPECT_EQ(state.regarding().kind, "PodGroup");
  EXPECT_EQ(state.regarding().name, "p");
}

}  // namespace
}  // namespace mindgate::watcher
