// Snapshots of a cluster: what decisions read of it, and nothing else.
#include "what_if/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/dice.h"
#include "support/reported_forecast.h"
#include "support/small_cluster.h"
#include "watcher/scaling/pod.h"
#include "what_if/forecast.h"
#include "what_if/survey.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::Dice;
using ::mindgate::testing::Json;
using ::mindgate::testing::Reported;
using ::mindgate::testing::SmallCluster;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

const Time kTaken = *ParseTime("2026-03-02T12:00:00Z");

struct SnapshotTest : ::testing::Test {
  kube::testing::FakeApiServer server;
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};

  SnapshotTest() { server.Register({.resource = resources::kPodGroups, .custom = true}); }

  void Put(const SmallCluster& cluster) {
    for (const Json& node : cluster.nodes) server.Put(resources::kNodes, node);
    for (const Json& pod : cluster.pods) server.Put(resources::kPods, pod);
    for (const Json& group : cluster.pod_groups) server.Put(resources::kPodGroups, group);
    for (const Json& report : cluster.Reports()) server.Put(resources::kConfigMaps, report);
    for (const Json& rule : cluster.scaling_rules) server.Put(resources::kConfigMaps, rule);
  }
  void RemoveAll(const SmallCluster& cluster) {
    const auto remove = [&](const kube::Resource& resource, const std::vector<Json>& objects) {
      for (const Json& object : objects) {
        server.Remove(resource, object["metadata"].value("namespace", ""),
                      object["metadata"]["name"]);
      }
    };
    remove(resources::kNodes, cluster.nodes);
    remove(resources::kPods, cluster.pods);
    remove(resources::kPodGroups, cluster.pod_groups);
    remove(resources::kConfigMaps, cluster.Reports());
    remove(resources::kConfigMaps, cluster.scaling_rules);
  }
  std::string Take(const SnapshotOptions& options = {}) {
    auto text = TakeSnapshot(client, kTaken, options, {});
    EXPECT_TRUE(text) << text.error().message;
    return text ? *std::move(text) : "";
  }
};

// --- a property ----------------------------------------------------------------------------------

template <typename T>
T OneOf(Dice& dice, std::initializer_list<T> values) {
  return *(values.begin() + dice.Below(values.size()));
}

// With members that decisions read and with others, many of them odd.
SmallCluster AnyCluster(Dice& dice) {
  SmallCluster cluster;
  const int nodes = static_cast<int>(dice.Below(4)) + 2;
  for (int i = 0; i < nodes; ++i) {
    Json more = {{"metadata",
                  {{"labels", {{"pool", OneOf(dice, {"blue", "green"})}}},
                   {"annotations", {{"superPodID", OneOf(dice, {"0", "1"})}, {"other", "x"}}}}},
                 {"spec", {{"podCIDR", "10.0.0.0/24"}}}};
    if (dice.OneIn(5)) more["spec"]["unschedulable"] = true;
    if (dice.OneIn(5)) {
      more["spec"]["taints"] = {{{"key", "a"}, {"value", "b"}, {"effect", "NoSchedule"}}};
    }
    if (dice.OneIn(6)) {
      more["status"]["conditions"] = {{{"type", "MemoryPressure"}, {"status", "False"}},
                                      {{"type", "Ready"}, {"status", "Unknown"}}};
    }
    cluster.Node("n" + std::to_string(i), more);
    if (dice.OneIn(4)) {
      cluster.Devices("n" + std::to_string(i),
                      {{"huawei.com/Ascend910-Unhealthy",
                        OneOf<const char*>(dice, {"Ascend910-0", "Ascend910-1,Ascend910-3", ""})}});
    }
  }
  cluster.Rule("rule", {{{"p", 2}, {"d", 2}}, {{"p", 1}, {"d", 1}}});
  const int groups = static_cast<int>(dice.Below(5)) + 1;
  int chip = 0;
  for (int g = 0; g < groups; ++g) {
    const std::string name = "g" + std::to_string(g);
    const std::string owner =
        OneOf<const char*>(dice, {"ReplicaSet/", "AscendJob/", "Job/", "StatefulSet/"}) + name;
    Json labels = {{"fault-scheduling",
                    OneOf<const char*>(dice, {"force", "grace", "off", "Force", "external-force"})},
                   {"unread", "x"}};
    if (dice.OneIn(2)) labels["pod-rescheduling"] = "on";
    if (dice.OneIn(3)) labels["fault-retry-times"] = "3";
    if (dice.OneIn(3)) labels["subHealthyStrategy"] = "forceExit";
    if (dice.OneIn(4)) labels["ome.io/inferenceservice"] = "llama";
    if (dice.OneIn(3)) {
      labels["jobID"] = "chat";
      labels["mind-cluster/scaling-rule"] = OneOf<const char*>(dice, {"rule", "missing"});
      labels["mind-cluster/group-name"] = OneOf<const char*>(dice, {"p", "d"});
    }
    if (dice.OneIn(4)) {
      labels["leaderworkerset.sigs.k8s.io/name"] = "lws";
      labels["leaderworkerset.sigs.k8s.io/group-index"] = std::to_string(g);
    }
    cluster.Group(name, owner, static_cast<int>(dice.Below(3)) + 1, labels,
                  dice.OneIn(4) ? Json{{"sp-block", "8"}, {"unread", "x"}} : Json::object());
    if (dice.OneIn(4)) cluster.pod_groups.back()["status"]["phase"] = "Pending";
    const int pods = static_cast<int>(dice.Below(3)) + 1;
    for (int p = 0; p < pods; ++p) {
      const std::string node =
          dice.OneIn(5) ? "" : "n" + std::to_string(dice.Below(static_cast<size_t>(nodes)));
      Json status = Json::object();
      if (dice.OneIn(6)) status["phase"] = "Failed";
      status["containerStatuses"] = {
          {{"name", "main"},
           {"lastState", {{"terminated", {{"exitCode", dice.OneIn(4) ? 1 : 0}}}}}}};
      status["conditions"] = {{{"type", "Ready"}, {"status", "True"}},
                              {{"type", "PodScheduled"},
                               {"status", "False"},
                               {"reason", "Unschedulable"},
                               {"lastTransitionTime", "2026-03-02T11:00:00Z"}}};
      Json spec = {{"volumes", {{{"name", "v"}, {"secret", {{"secretName", "s"}}}}}},
                   {"priority", dice.Below(3)}};
      if (dice.OneIn(3)) spec["nodeSelector"] = {{"pool", OneOf(dice, {"blue", "green"})}};
      if (dice.OneIn(4)) spec["tolerations"] = {{{"key", "a"}, {"operator", "Exists"}}};
      if (node.empty() && dice.OneIn(2)) {
        spec["schedulingGates"] = {{{"name", "other"}}, {{"name", "mindgate.io/elastic-scaling"}}};
      }
      cluster.Pod({.name = name + "-" + std::to_string(p),
                   .node = node,
                   .chips = std::to_string(chip++ % 8),
                   .group = dice.OneIn(6) ? "" : name,
                   .owner = dice.OneIn(6) ? "" : owner,
                   .labels = labels,
                   .annotations = {{"hccl/rankIndex", std::to_string(p)}, {"unread", "x"}},
                   .spec = std::move(spec),
                   .status = std::move(status)});
    }
  }
  return cluster;
}

// All that decisions make of a snapshot.
std::string Understood(const ClusterSnapshot& snapshot) {
  std::string text;
  for (const json::Value* object : snapshot.pods) {
    const auto pod = watcher::scaling::PodOf(*object);
    if (!pod) continue;
    text += "pod " + pod->instance + " " + pod->origin->workload + " " +
            std::string(pod->on_node()) + " " + std::to_string(pod->npus) +
            (pod->running ? " running" : "") +
            (pod->gate ? " gate " + std::to_string(*pod->gate) : "") +
            (pod->unschedulable ? " " + FormatTime(*pod->unschedulable) : "") + "\n";
  }
  for (const json::Value* object : snapshot.pod_groups) {
    const auto group = watcher::scaling::PodGroupOf(*object);
    if (group) text += "group " + group->instance + " " + std::to_string(group->pods) + "\n";
  }
  const auto survey = SurveyOf(snapshot, FaultsIn(snapshot));
  text += survey.by_clusterd ? "by ClusterD\n" : "";
  for (const auto& job : survey.jobs) {
    text += "job " + job.pod_group + " " + job.response.why + " " +
            std::to_string(job.response.tasks.size()) + " of " + std::to_string(job.tasks.size()) +
            "\n";
  }
  for (const auto& pod : survey.pods) text += "on faulty " + pod.task.pod + "\n";
  for (const char* node : {"n0", "n1"}) {
    what_if::Hypothesis hypothesis;
    hypothesis.lost = {node};
    text += Reported(what_if::ForecastOf(snapshot, hypothesis));
  }
  return text;
}

// A snapshot says of a cluster what the whole objects say.
TEST_F(SnapshotTest, ReportsWhatTheClusterReports) {
  size_t size = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Dice dice(seed);
    const SmallCluster cluster = AnyCluster(dice);
    Put(cluster);
    const auto snapshot = ReadSnapshot(Take());
    RemoveAll(cluster);
    ASSERT_TRUE(snapshot) << seed;
    const std::string want = Understood(cluster.Snapshot());
    EXPECT_EQ(Understood(*snapshot), want) << "seed " << seed;
    size += want.size();
  }
  EXPECT_GT(size, 10'000u);
}

// --- the text ------------------------------------------------------------------------------------

TEST_F(SnapshotTest, KeepsWhatIsReadAndNothingElse) {
  SmallCluster cluster;
  cluster.Node("n0", {{"spec", {{"taints", {{{"key", "a"}, {"effect", "NoSchedule"}}}}}},
                      {"status",
                       {{"allocatable", {{"memory", "1Gi"}}},
                        {"conditions",
                         {{{"type", "DiskPressure"}, {"status", "False"}},
                          {{"type", "Ready"}, {"status", "True"}, {"reason", "x"}}}}}}});
  cluster.Group("pg", "Job/train", 2, {{"fault-scheduling", "force"}, {"unread", "x"}});
  cluster.Pod({.name = "w0",
               .node = "n0",
               .chips = "0-1",
               .group = "pg",
               .owner = "Job/train",
               .labels = {{"jobID", "chat"}, {"mind-cluster/scaling-rule", "rule"}},
               .spec = {{"volumes", {{{"name", "v"}}}}}});
  cluster.Rule("rule", {{{"p", 1}}});
  cluster.Devices("n0", {{"huawei.com/Ascend910-Unhealthy", ""}});
  Put(cluster);
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "infer"}, {"name", "unnamed"}}}, {"data", {{"a", "b"}}}});
  EXPECT_EQ(Take(), R"({"kind": "Snapshot", "version": 1, "taken": "2026-03-02T12:00:00Z",
"nodes": [
{"metadata":{"name":"n0"},"spec":{"taints":[{"effect":"NoSchedule","key":"a"}]},"status":{"allocatable":{"huawei.com/Ascend910":"8"},"capacity":{"huawei.com/Ascend910":"8"},"conditions":[{"status":"True","type":"Ready"}]}}],
"pods": [
{"metadata":{"annotations":{"huawei.com/AscendReal":"Ascend910-0,Ascend910-1","scheduling.k8s.io/group-name":"pg"},"creationTimestamp":"2026-03-01T08:00:00Z","labels":{"jobID":"chat","mind-cluster/scaling-rule":"rule"},"name":"w0","namespace":"infer","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","controller":true,"kind":"Job","name":"train"}]},"spec":{"containers":[{"resources":{"limits":{"huawei.com/Ascend910":"2"}}}],"nodeName":"n0"},"status":{"conditions":[{"status":"True","type":"PodScheduled"}],"phase":"Running"}}],
"podGroups": [
{"metadata":{"creationTimestamp":"2026-03-01T08:00:00Z","labels":{"fault-scheduling":"force"},"name":"pg","namespace":"infer","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","controller":true,"kind":"Job","name":"train"}]},"spec":{"minMember":2},"status":{"phase":"Running"}}],
"faultReports": [
{"data":{"cluster-info-device-0":"{\"mindx-dl-deviceinfo-n0\":{\"DeviceList\":{\"huawei.com/Ascend910-Unhealthy\":\"\"},\"UpdateTime\":1772352000}}"},"metadata":{"name":"cluster-info-device-0","namespace":"mindx-dl"}}],
"scalingRules": [
{"data":{"elastic_scaling.json":"{\"elastic_scaling_list\":[{\"group_list\":[{\"group_name\":\"p\",\"group_num\":\"1\",\"server_num_per_group\":\"1\"}]}],\"version\":\"1.0\"}"},"metadata":{"name":"rule","namespace":"infer"}}],
"watcher": {"graceOverTime":900,"maxFaultyNodes":30,"rebalanceAfter":60,"rebalances":false,"rescheduling":"off","settle":2,"takeoverAfter":30}}
)");
}

// What the plugin noted of its restarts, and what the watcher does.
TEST_F(SnapshotTest, CarriesWhoActsOnFaults) {
  SmallCluster cluster;
  cluster.Node("n0");
  cluster.Group("pg", "Job/train", 2, {{"fault-scheduling", "force"}});
  cluster.Restarted("pg", 60, {"w0"});
  cluster.retries["infer/pg"] = {{"UUID", "pg"}, {"Times", 2}};
  Put(cluster);
  EXPECT_THAT(Take(), Not(HasSubstr("plugin")));
  for (const auto& maps : {SmallCluster::Notes("mindx-dl", "job-reschedule-reason",
                                               "recent-reschedule-records", cluster.records),
                           SmallCluster::Notes("volcano-system", "vcjob-fault-npu-cm",
                                               "remain-retry-times", cluster.retries)}) {
    Json map = maps.front();
    map["data"]["fault-node"] = "unread";
    server.Put(resources::kConfigMaps, map);
  }
  const WatcherSettings settings{.rescheduling = schemas::ReschedulingMode::kTakeover,
                                 .takeover_after = std::chrono::seconds(15),
                                 .rebalances = true};
  const std::string text = Take({.watcher = settings});
  EXPECT_THAT(text, Not(HasSubstr("fault-node")));
  const auto snapshot = ReadSnapshot(text);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->watcher, settings);
  using namespace watcher::rescheduling;
  ASSERT_EQ(snapshot->plugin_records.size(), 1u);
  EXPECT_EQ(LastRestarts(*snapshot->plugin_records.front()).at("infer/pg"),
            (PluginRestart{kTaken - std::chrono::seconds(60), {"w0"}}));
  ASSERT_EQ(snapshot->plugin_retries.size(), 1u);
  EXPECT_EQ(RetriesLeft(*snapshot->plugin_retries.front()).at("infer/pg"), 2);
  server.Forbid("get", "configmaps");
  const auto blind = ReadSnapshot(Take());
  ASSERT_TRUE(blind);
  EXPECT_THAT(FaultsIn(*blind).problems,
              ::testing::ElementsAre(::testing::AllOf(
                  ::testing::StartsWith(
                      "what MindCluster's plugin noted of its restarts cannot be read, so that "
                      "each job counts as one that it examines at once: ConfigMap "
                      "mindx-dl/job-reschedule-reason: "),
                  HasSubstr("; ConfigMap volcano-system/vcjob-fault-npu-cm: "))));
}

// Its own fault codes decide what a supposed fault leads to, and no other key of it is kept.
TEST_F(SnapshotTest, CarriesTheClustersOwnFaultCodes) {
  SmallCluster cluster;
  cluster.Node("n0");
  Put(cluster);
  EXPECT_THAT(Take(), Not(HasSubstr("faultConfig")));
  server.Put(resources::kConfigMaps,
             {{"metadata", {{"namespace", "kube-system"}, {"name", "mindx-dl-fault-config"}}},
              {"data",
               {{"faultCode.json", R"({"SeparateNPUCodes":["81078603","80E21007","?"]})"},
                {"PollInterval", "300"}}}});
  const auto supposed = [&](const std::string& text, const std::string& code) {
    const auto snapshot = ReadSnapshot(text);
    const auto read = what_if::ReadQuestion({.faults = {code + "@n0/0"}}, *snapshot,
                                            what_if::TakeInventory(*snapshot));
    if (!read) return read.error().front().what;
    std::string answer = what_if::Sentences(*read).front();
    for (const std::string& problem : what_if::AnswerOf(*snapshot, {}, *read).problems) {
      answer += "\n" + problem;
    }
    return answer;
  };
  const std::string text = Take();
  EXPECT_THAT(text, Not(HasSubstr("PollInterval")));
  EXPECT_EQ(supposed(text, "80E21007"),
            "Ascend910-0 of n0 has fault 80E21007 (SeparateNPU): the pods that use it are faulty\n"
            "ConfigMap kube-system/mindx-dl-fault-config: faultCode.json: SeparateNPUCodes: \"?\" "
            "is not a code: write up to 16 hex digits, as in 80E18005");
  EXPECT_EQ(supposed(text, "80E18005"),
            "--fault 80E18005@n0/0: ConfigMap mindx-dl-fault-config of this cluster has no level "
            "for fault code \"80E18005\"");
  server.Forbid("get", "configmaps");
  EXPECT_THAT(
      supposed(Take(), "81078603"),
      ::testing::AllOf(
          HasSubstr("Ascend910-0 of n0 has fault 81078603 (NotHandleFault, after 20s "
                    "PreSeparateNPU): no new pods go there\n"),
          HasSubstr("\nConfigMap kube-system/mindx-dl-fault-config, which may set other levels "
                    "of fault codes, cannot be read: ")));
}

TEST_F(SnapshotTest, ReadsTheNodesReportsWhereClusterDIsAbsent) {
  server.Put(resources::kConfigMaps, {{"metadata",
                                       {{"namespace", "kube-system"},
                                        {"name", "mindx-dl-deviceinfo-n0"},
                                        {"labels", {{"mx-consumer-cim", "true"}}}}},
                                      {"data", {{"ManuallySeparateNPU", "Ascend910-0"}}}});
  // Of the same label, and no report.
  server.Put(resources::kConfigMaps, {{"metadata",
                                       {{"namespace", "mindx-dl"},
                                        {"name", "rings-config-a"},
                                        {"labels", {{"mx-consumer-cim", "true"}}}}},
                                      {"data", {{"hccl.json", "{}"}}}});
  const std::string text = Take();
  EXPECT_THAT(text, HasSubstr("mindx-dl-deviceinfo-n0"));
  EXPECT_THAT(text, Not(HasSubstr("rings-config")));
  const auto faults = FaultsIn(*ReadSnapshot(text));
  EXPECT_FALSE(faults.by_clusterd);
  EXPECT_EQ(faults.reports, 1u);
}

// As the watcher does, by the times in the reports and by faultSource.
TEST_F(SnapshotTest, ReadsTheReportsThatCount) {
  const auto put = [&](const std::string& ns, const std::string& name, const std::string& label,
                       const Json& data) {
    server.Put(resources::kConfigMaps,
               {{"metadata", {{"namespace", ns}, {"name", name}, {"labels", {{label, "true"}}}}},
                {"data", data}});
  };
  const auto devices = [](const std::string& unhealthy, Time at) {
    return Json{{"DeviceList", {{"huawei.com/Ascend910-Unhealthy", unhealthy}}},
                {"UpdateTime", at.time_since_epoch().count()}};
  };
  server.Put(resources::kNodes,
             {{"metadata", {{"name", "n2"}, {"annotations", {{"product-serial-number", "210"}}}}}});
  put("kube-system", "mindx-dl-deviceinfo-n1", "mx-consumer-cim",
      {{"DeviceInfoCfg", Json({{"DeviceInfo", devices("Ascend910-1", kTaken)}}).dump()}});
  put("ccae-system", "ccae", "mc-consumer-publicfault",
      {{"PublicFault",
        R"({"faults":[{"faultId":"fault-01","faultCode":"220001001","assertion":"occur",)"
        R"("influence":[{"nodeSN":"210","deviceIds":[2]}]}]})"}});
  put("team", "ccae", "mc-consumer-publicfault", {{"PublicFault", R"({"faults":[]})"}});
  const auto clusterd = [&](Time at) {
    put("mindx-dl", "cluster-info-device-0", "mx-consumer-volcano",
        {{"cluster-info-device-0",
          Json({{"mindx-dl-deviceinfo-n0", devices("Ascend910-0", at)}}).dump()}});
  };
  // "gone: n1 n2, of 2"
  const auto read = [&](schemas::FaultSource source) {
    const auto faults = FaultsIn(*ReadSnapshot(
        Take({.fault_source = source, .public_faults = {{"kube-system", "ccae-system"}}})));
    std::string text = faults.by_clusterd        ? "ClusterD:"
                       : faults.clusterd_is_gone ? "gone:"
                                                 : "nodes:";
    for (const auto& [node, of_node] : faults.nodes) text += " " + node;
    EXPECT_EQ(faults.problems, std::vector<std::string>());
    return text + ", of " + std::to_string(faults.reports);
  };
  using Source = schemas::FaultSource;
  EXPECT_EQ(read(Source::kAuto), "nodes: n1 n2, of 2");
  EXPECT_EQ(read(Source::kClusterD), "nodes:, of 0");
  clusterd(kTaken - std::chrono::minutes(9));
  EXPECT_EQ(read(Source::kAuto), "ClusterD: n0, of 1");
  EXPECT_EQ(read(Source::kNodes), "nodes: n1 n2, of 2");
  clusterd(kTaken - std::chrono::minutes(11));
  EXPECT_EQ(read(Source::kAuto), "gone: n1 n2, of 2");
  EXPECT_EQ(read(Source::kClusterD), "ClusterD: n0, of 1");
}

TEST_F(SnapshotTest, IsBounded) {
  SmallCluster cluster;
  for (int i = 0; i < 50; ++i) cluster.Node("n" + std::to_string(i));
  Put(cluster);
  const auto text = TakeSnapshot(client, kTaken, {.max_bytes = 4096}, {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().reason, kube::Reason::kTooLarge);
}

TEST_F(SnapshotTest, ReadsNoRulesUnlessTheyAreWanted) {
  SmallCluster cluster;
  cluster.Pod({.name = "p", .labels = {{"mind-cluster/scaling-rule", "rule"}}});
  Put(cluster);
  Take({.scaling_rules = false});
  EXPECT_EQ(server.Count({.target_part = "metadata.name"}), 0u);
  Take();
  EXPECT_EQ(server.Count({.target_part = "metadata.name"}), 1u);
}

TEST(SnapshotWithoutVolcano, HasNoPodGroups) {
  kube::testing::FakeApiServer server;
  kube::testing::FakeSleeper sleeper;
  const auto transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  const auto text = TakeSnapshot(client, kTaken, {}, {});
  ASSERT_TRUE(text);
  EXPECT_TRUE(ReadSnapshot(*text)->pod_groups.empty());
}

// --- texts that are none -------------------------------------------------------------------------

TEST(ReadSnapshot, ReportsWhatIsWrong) {
  const std::string head = R"({"kind": "Snapshot", "version": 1, "taken": "2026-03-02T12:00:00Z",)";
  const std::string rest = R"("podGroups": [], "faultReports": [], "scalingRules": []})";
  const struct {
    const char* name;
    std::string text;
    std::string want;
  } cases[] = {
      {"no JSON", "{", "s.json:1:2: "},
      {"another kind", R"({"kind": "List"})", "s.json:1:10: the kind is not \"Snapshot\"\n"},
      {"no kind", "[]", "s.json:1:1: this is not a snapshot: it has no kind\n"},
      {"another version", R"({"kind": "Snapshot", "version": 2, "taken": "2026-03-02T12:00:00Z"})",
       "s.json:1:33: this mindgate reads version 1 of snapshots, and this is another one\n"},
      {"no time", R"({"kind": "Snapshot", "version": 1, "taken": "yesterday"})",
       "s.json:1:45: the time at which it was taken is missing or not a time\n"},
      {"an absent list is not an empty one", head + R"("nodes": [],)" + rest,
       "s.json:1:1: the list \"pods\" is missing\n"},
      {"an object without a name", head + "\n\"nodes\": [{}],\n\"pods\": [],\n" + rest,
       "s.json:2:11: an object without a name says nothing\n"},
      {"a watcher of which a member is wrong",
       R"({"kind": "Snapshot", "version": 1, "taken": "2026-03-02T12:00:00Z", "watcher": {"settle": "2s"}})",
       "s.json:1:91: this is not a value that the configuration of mindgate may have\n"},
      {"a pod without a namespace",
       head + "\n\"nodes\": [],\n\"pods\": [\n{\"metadata\": {\"name\": \"a\"}}],\n" + rest,
       "s.json:4:2: the object has no namespace, so nothing else can "
       "refer to it\n"},
  };
  for (const auto& each : cases) {
    const auto snapshot = ReadSnapshot(each.text);
    ASSERT_FALSE(snapshot) << each.name;
    const std::string reported = json::Render(snapshot.error(), "s.json", each.text);
    EXPECT_EQ(reported.substr(0, each.want.size()), each.want) << each.name << ": " << reported;
  }
}

}  // namespace
}  // namespace mindgate::what_if
