#include "watcher/gang_repair/state.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "json/decode.h"

namespace mindgate::watcher::gang_repair {
namespace {

using json::Document;
using json::Json;

TEST(GangRepairState, ReadsADeployment) {
  const Json object = Json::parse(R"({
    "metadata": {"namespace": "serving", "name": "chat", "uid": "d", "generation": 7,
                 "annotations": {"deployment.kubernetes.io/revision": "3"}},
    "spec": {"replicas": 8, "strategy": {"type": "RollingUpdate",
                                         "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}},
    "status": {"observedGeneration": 6, "replicas": 9, "updatedReplicas": 2, "availableReplicas": 5}})");
  Deployment want = {.ns = "serving",
                     .name = "chat",
                     .uid = "d",
                     .replicas = 8,
                     .rolling = schemas::RollingUpdate{2, 1},
                     .generation = 7,
                     .observed_generation = 6,
                     .revision = 3,
                     .all = 9,
                     .updated = 2,
                     .available = 5};
  EXPECT_EQ(DeploymentOf(Document(object).root()), want);

  // Whatever is missing, or of another type, is what Kubernetes takes it for.
  want = {.uid = "d", .replicas = 1, .rolling = schemas::RollingUpdate{1, 0}};
  EXPECT_EQ(DeploymentOf(
                Document(Json::parse(R"({"metadata": {"uid": "d", "annotations": 1}, "spec": []})"))
                    .root()),
            want);
  Json recreate = object;
  recreate["spec"]["strategy"] = {{"type", "Recreate"}};
  EXPECT_EQ(DeploymentOf(Document(recreate).root()).rolling, std::nullopt);
}

Json Owned(const char* kind, const char* uid) {
  return Json::array({{{"kind", "Other"}, {"uid", "other"}},
                      {{"kind", kind}, {"uid", uid}, {"controller", true}}});
}

TEST(GangRepairState, ReadsReplicaSetsThatAreGangs) {
  const auto with = [](const Json& k, const char* owner) {
    Json set = {{"metadata",
                 {{"namespace", "serving"},
                  {"name", "chat-2"},
                  {"uid", "s"},
                  {"annotations", {{"deployment.kubernetes.io/revision", "2"}}},
                  {"ownerReferences", Owned(owner, "d")}}},
                {"spec", {{"replicas", 3}}}};
    set["spec"]["template"]["metadata"]["annotations"]["huawei.com/schedule_minAvailable"] = k;
    return ReplicaSetOf(Document(set).root());
  };
  const ReplicaSet want{.ns = "serving",
                        .name = "chat-2",
                        .uid = "s",
                        .owner = "d",
                        .revision = 2,
                        .replicas = 3,
                        .k = 4};
  EXPECT_EQ(with("4", "Deployment"), want);
  for (const Json& k : {Json("1"), Json("0"), Json("-4"), Json("x"), Json(4), Json()}) {
    EXPECT_EQ(with(k, "Deployment"), std::nullopt) << k;
  }
  EXPECT_EQ(with("4", "Rollout"), std::nullopt);
}

// A pod that is alone in its block is refused, so a gang of several pods a block is not repairable.
TEST(GangRepairState, ReadsABlockOfSeveralPods) {
  const auto block = [](const char* annotations, const char* limits) {
    Json set = {{"metadata", {{"name", "s"}, {"ownerReferences", Owned("Deployment", "d")}}}};
    Json& pods = set["spec"]["template"];
    pods["metadata"]["annotations"] = Json::parse(annotations);
    pods["metadata"]["annotations"]["huawei.com/schedule_minAvailable"] = "2";
    pods["spec"]["containers"] = Json::parse(limits);
    return ReplicaSetOf(Document(set).root())->block;
  };
  const char* sixteen = R"([{"resources": {"limits": {"huawei.com/Ascend910": 16, "cpu": 4}}}])";
  const char* two = R"([{"resources": {"limits": {"huawei.com/Ascend910": "8"}}}, {},
                        {"resources": {"limits": {"huawei.com/Ascend910": 8}}}])";
  EXPECT_EQ(block(R"({"sp-block": "32"})", sixteen), 32);
  EXPECT_EQ(block(R"({"sp-block": "32", "huawei.com/schedule_policy": "chip2-node16-sp"})", two),
            32);
  EXPECT_EQ(block(R"({"sp-block": "32", "huawei.com/schedule_policy": "chip2-node16"})", two), 0)
      << "this policy does not read it";
  EXPECT_EQ(block(R"({"sp-block": "16"})", sixteen), 0);
  EXPECT_EQ(block(R"({"sp-block": "16"})", two), 0);
  EXPECT_EQ(block(R"({"sp-block": "x"})", sixteen), 0);
  EXPECT_EQ(block("{}", sixteen), 0);
}

TEST(GangRepairState, ReadsRoleSetsByTheRolesThatShareAPodGroup) {
  const auto role = [](const Json& replicas, const Json& size, const Json& k) {
    Json value = {{"replicas", replicas}, {"podGroupSize", size}};
    value["template"]["metadata"]["annotations"]["huawei.com/schedule_minAvailable"] = k;
    return value;
  };
  const auto of = [](const Json& roles) {
    const Json object = {{"metadata", {{"namespace", "serving"}, {"name", "pd-0"}, {"uid", "r"}}},
                         {"spec", {{"roles", roles}}}};
    return RoleSetOf(Document(object).root());
  };
  RoleSet want = {.ns = "serving", .name = "pd-0", .uid = "r", .pods = 5, .k = 5};
  EXPECT_EQ(of(Json::array({role(2, 1, "5"), role(3, Json(), "5")})), want);
  // PodSets have PodGroups of their own, and a router has none.
  EXPECT_EQ(of(Json::array({role(2, 1, "5"), role(3, 1, "5"), role(4, 2, "2"), {{"replicas", 1}}})),
            want);
  want.pods = 2;
  EXPECT_EQ(
      of(Json::array({role(2, 1, "5"), role(0, 1, "5"), role(-1, 1, "5"), role("x", 1, "5")})),
      want);
  for (const Json& k : {Json("1"), Json("0"), Json("x"), Json(4), Json()}) {
    EXPECT_EQ(of(Json::array({role(2, 1, k)})), std::nullopt) << k;
  }
  EXPECT_EQ(of(Json::array({1, "x"})), std::nullopt);
  EXPECT_EQ(of("x"), std::nullopt);
}

TEST(GangRepairState, ARoleSetIsAskedAboutWithItsPodGroup) {
  State state;
  const RoleSet set = {.ns = "serving", .name = "pd-0", .uid = "r", .pods = 2, .k = 5};
  const PodGroup group = {.ns = "serving", .name = "podgroup-r", .uid = "g", .owner = "r"};
  EXPECT_EQ(state.Change(nullptr, &group), State::Affected{}) << "whose it is, nobody knows yet";
  EXPECT_EQ(state.Change(nullptr, &set), (State::Affected{{"serving", "r"}}));
  EXPECT_EQ(state.Owners(), (std::vector<OwnerKey>{{"serving", "r"}}));
  EXPECT_EQ(state.RolesOf({"serving", "r"})->set, set);
  EXPECT_EQ(state.RolesOf({"serving", "r"})->group, group);
  EXPECT_EQ(state.Change(&group, nullptr), (State::Affected{{"serving", "r"}}));
  EXPECT_EQ(state.RolesOf({"serving", "r"})->group, std::nullopt);
  EXPECT_EQ(state.Change(&set, nullptr), (State::Affected{{"serving", "r"}}));
  EXPECT_FALSE(state.RolesOf({"serving", "r"}));
  EXPECT_TRUE(state.Owners().empty());
}

TEST(GangRepairState, ReadsPodsThatHoldAPlaceInAGang) {
  const Json pod = {{"metadata",
                     {{"namespace", "serving"},
                      {"ownerReferences", Owned("ReplicaSet", "s")},
                      {"annotations", {{"scheduling.k8s.io/group-name", "podgroup-s"}}}}},
                    {"status", {{"phase", "Pending"}}}};
  EXPECT_EQ(PodOf(Document(pod).root()), (Pod{"serving", "s"}));
  const char* others[] = {
      R"({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})",
      R"({"metadata": {"annotations": null}})",
      R"({"metadata": {"ownerReferences": null}})",
      R"({"metadata": {"ownerReferences": [{"kind": "StatefulSet", "uid": "s", "controller": true}]}})",
      R"({"status": {"phase": "Failed"}})",
      R"({"status": {"phase": "Succeeded"}})",
      R"({"spec": {"schedulingGates": [{"name": "mindgate.io/elastic-scaling"}]}})",
  };
  for (const char* other : others) {
    Json changed = pod;
    changed.merge_patch(Json::parse(other));
    EXPECT_EQ(PodOf(Document(changed).root()), std::nullopt) << other;
  }
}

TEST(GangRepairState, FieldsHoldAllThatIsRead) {
  const Json object = {
      {"metadata",
       {{"namespace", "serving"},
        {"name", "podgroup-s"},
        {"uid", "g"},
        {"resourceVersion", "9"},
        {"labels", {{"large", std::string(1000, 'x')}}},
        {"ownerReferences", Owned("ReplicaSet", "s")},
        {"annotations",
         {{"huawei.com/schedule_minAvailable", "2"}, {"mindgate.io/gang-repair", "1,2"}}}}},
      {"spec", {{"minMember", 1}, {"queue", "default"}}}};
  Fields fields = PodGroupFields();
  for (const char* name : {"namespace", "name", "uid", "resourceVersion"}) {
    fields.push_back({"metadata", name});
  }
  json::Decoder decoder;
  const auto kept = decoder.Decode(object.dump(), json::Projection(fields));
  ASSERT_TRUE(kept);
  EXPECT_EQ(json::FindPath(**kept, {"metadata", "labels"}), nullptr);
  const PodGroup want{.ns = "serving",
                      .name = "podgroup-s",
                      .uid = "g",
                      .owner = "s",
                      .version = "9",
                      .min_member = 1,
                      .k = "2",
                      .marker = "1,2"};
  EXPECT_EQ(PodGroupOf(**kept), want);
  EXPECT_EQ(PodGroupOf(Document(object).root()), want);
}

const Deployment kDeployment{.ns = "serving", .name = "chat", .uid = "d"};
const ReplicaSet kSet{
    .ns = "serving", .name = "chat-2", .uid = "s2", .owner = "d", .revision = 2, .k = 4};
const PodGroup kGroup{
    .ns = "serving", .name = "podgroup-s2", .uid = "g2", .owner = "s2", .version = "5"};
const Pod kPod{"serving", "s2"};
using Affected = State::Affected;

void ShowOneGang(State& state) {
  state.Change(nullptr, &kDeployment);
  state.Change(nullptr, &kSet);
  state.Change(nullptr, &kGroup);
}

TEST(GangRepairState, PutsTogetherWhatBelongsTogetherInAnyOrder) {
  State state;
  EXPECT_EQ(state.Change(nullptr, &kPod), Affected{}) << "whose it is, is not known yet";
  EXPECT_EQ(state.Change(nullptr, &kGroup), Affected{});
  EXPECT_EQ(state.Change(nullptr, &kSet), (Affected{{"serving", "d"}}));
  EXPECT_FALSE(state.Of({"serving", "d"}));
  EXPECT_EQ(state.Change(nullptr, &kDeployment), (Affected{{"serving", "d"}}));
  ReplicaSet older = kSet;
  older.uid = "s1";
  older.revision = 1;
  EXPECT_EQ(state.Change(nullptr, &older), (Affected{{"serving", "d"}}));
  EXPECT_EQ(state.Change(nullptr, &kPod), (Affected{{"serving", "d"}}));
  EXPECT_EQ(state.Change(&kPod, &kPod), Affected{}) << "its status is nothing to us";
  const auto rollout = state.Of({"serving", "d"});
  ASSERT_TRUE(rollout);
  EXPECT_EQ(rollout->deployment, kDeployment);
  const std::vector<Gang> want = {{older, std::nullopt, 0}, {kSet, kGroup, 2}};
  EXPECT_EQ(rollout->gangs, want);
  EXPECT_EQ(state.Owners(), (std::vector<OwnerKey>{{"serving", "d"}}));

  EXPECT_EQ(state.Change(&kPod, nullptr), (Affected{{"serving", "d"}}));
  EXPECT_EQ(state.Of({"serving", "d"})->gangs.back().pods, 1);
  EXPECT_EQ(state.Change(&kGroup, nullptr), (Affected{{"serving", "d"}}));
  EXPECT_FALSE(state.Of({"serving", "d"})->gangs.back().group);
  EXPECT_EQ(state.Change(&kSet, nullptr), (Affected{{"serving", "d"}}));
  EXPECT_EQ(state.Change(&older, nullptr), (Affected{{"serving", "d"}}));
  EXPECT_TRUE(state.Of({"serving", "d"})->gangs.empty());
  EXPECT_TRUE(state.Owners().empty());
  EXPECT_EQ(state.Change(&kDeployment, &kDeployment), Affected{}) << "it has no gang any more";
  EXPECT_EQ(state.Change(&kDeployment, nullptr), (Affected{{"serving", "d"}}));
  EXPECT_FALSE(state.Of({"serving", "d"}));
}

// An ownerReference names no namespace, and anybody may write a uid of another tenant's into one.
TEST(GangRepairState, ObjectsOfAnotherNamespaceDoNotBelongToIt) {
  State state;
  ShowOneGang(state);
  PodGroup foreign = kGroup;
  foreign.ns = "other";
  foreign.uid = "g9";
  foreign.version = "9";
  EXPECT_EQ(state.Change(nullptr, &foreign), Affected{});
  const Pod pod{"other", "s2"};
  EXPECT_EQ(state.Change(nullptr, &pod), Affected{});
  const std::vector<Gang> want = {{kSet, kGroup, 0}};
  EXPECT_EQ(state.Of({"serving", "d"})->gangs, want);
}

TEST(GangRepairState, AReplacedObjectIsAnother) {
  State state;
  ShowOneGang(state);
  PodGroup other = kGroup;
  other.uid = "g3";
  other.marker = "1";
  EXPECT_EQ(state.Change(&kGroup, &other), (Affected{{"serving", "d"}}));
  EXPECT_EQ(state.Of({"serving", "d"})->gangs.front().group, other);
  EXPECT_EQ(state.marked(), 1u);
  state.Wrote(kGroup);  // an answer about the first, late
  EXPECT_EQ(state.Of({"serving", "d"})->gangs.front().group, other);
  ReplicaSet moved = kSet;
  moved.owner = "e";
  EXPECT_EQ(state.Change(&kSet, &moved), (Affected{{"serving", "d"}, {"serving", "e"}}));
  Deployment again = kDeployment;
  again.uid = "d2";
  EXPECT_EQ(state.Change(&kDeployment, &again), (Affected{{"serving", "d"}}));
  EXPECT_FALSE(state.Of({"serving", "d"}));
}

TEST(GangRepairState, AnAnswerCountsUntilAWatchHasCaughtUp) {
  State state;
  ShowOneGang(state);
  const auto version = [](const char* number, const char* marker) {
    PodGroup group = kGroup;
    group.version = number;
    if (marker != nullptr) group.marker = marker;
    return group;
  };
  const auto held = [&] { return *state.Of({"serving", "d"})->gangs.front().group; };
  const PodGroup between = version("9", nullptr);
  const PodGroup written = version("10", "1");
  state.Wrote(written);
  EXPECT_EQ(held(), written);
  EXPECT_EQ(state.marked(), 1u);
  state.Change(&kGroup, &between);
  EXPECT_EQ(held(), written) << "what was there before our write";
  state.Change(&between, &written);
  state.Wrote(version("8", "2"));
  EXPECT_EQ(held(), written) << "an answer that the watch has overtaken";
  const PodGroup restored = version("3", nullptr);  // etcd, from a backup
  state.Change(&written, &restored);
  EXPECT_EQ(held(), restored);
  EXPECT_EQ(state.marked(), 0u);
}

}  // namespace
}  // namespace mindgate::watcher::gang_repair
