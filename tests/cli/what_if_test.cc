// `mindgate what-if` and `mindgate snapshot`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/status/status.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/small_cluster.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::Json;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SmallCluster;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

auto WhatIf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "what-if");
  arguments.insert(arguments.end(), {"--snapshot", SourcePath("examples/snapshots/serving.json")});
  return Cli(arguments);
}

// --- outputs -------------------------------------------------------------------------------------

TEST(WhatIf, AnswersInTextJsonAndHtml) {
  for (const char* format : {"text", "json", "html"}) {
    const auto reported =
        WhatIf({"--node", "npu-4", "--card", "npu-0/0", "--card", "npu-0/5", "-o", format});
    EXPECT_EQ(reported.code, 1);
    EXPECT_EQ(reported.err, "");
    ExpectGolden(std::string("tests/cli/what_if/faults.") + format, reported.out);
  }
  for (const char* format : {"text", "html"}) {
    Workspace folder;
    folder.Write("chat.yaml", ReadSource("examples/manifests/chat.yaml"));
    const auto reported =
        WhatIf({"--manifest", "chat.yaml", "--drain", "pool=green", "-o", format});
    EXPECT_EQ(reported.code, 1);
    EXPECT_EQ(reported.err, "");
    ExpectGolden(std::string("tests/cli/what_if/manifest.") + format, reported.out);
  }
}

TEST(WhatIf, RanksEachLoss) {
  for (const char* format : {"text", "wide", "json", "html"}) {
    const auto reported = WhatIf({"--each-node", "-o", format});
    EXPECT_EQ(reported.code, 1);
    EXPECT_EQ(reported.err, "");
    ExpectGolden(std::string("tests/cli/what_if/each_node.") + format, reported.out);
  }
  ExpectGolden("tests/cli/what_if/each_card.text", WhatIf({"--each-card"}).out);
  ExpectGolden("tests/cli/what_if/each_pool.text", WhatIf({"--each", "pool"}).out);
}

// What else is given is so in any case, and what it stops does not count.
TEST(WhatIf, RanksEachLossBesideWhatElseIsSupposed) {
  Workspace folder;
  folder.Write("chat.yaml", ReadSource("examples/manifests/chat.yaml"));
  for (const char* format : {"text", "json"}) {
    const auto reported =
        WhatIf({"--each-node", "--card", "npu-2/0", "--drain", "npu-1", "-o", format});
    EXPECT_EQ(reported.err, "");
    ExpectGolden(std::string("tests/cli/what_if/each_beside.") + format, reported.out);
  }
  const auto with_manifest = WhatIf({"--each-node", "--manifest", "chat.yaml"});
  EXPECT_EQ(with_manifest.err,
            "Warning: not all that the manifests make finds a place, and what has none cannot be "
            "lost: 1 instance stays down.\n");
  ExpectGolden("tests/cli/what_if/each_manifest.text", with_manifest.out);
}

// The lines of a loss are those of the question about it.
TEST(WhatIf, NodesAreDrainedByNameOrByLabel) {
  const auto by_name = WhatIf({"--drain", "npu-1,npu-0"});
  EXPECT_EQ(by_name.code, 1);
  ExpectGolden("tests/cli/what_if/drain.text", by_name.out);
  const auto by_label = WhatIf({"--drain", "pool=blue"});
  const auto without_title = [](const std::string& text) { return text.substr(text.find("\n\n")); };
  EXPECT_EQ(without_title(by_name.out), without_title(by_label.out));
  const auto unknown = WhatIf({"--drain", "npu-1,npu-9", "--drain", "npu-8"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "error: --drain npu-1,npu-9: the cluster has no node \"npu-9\"\n"
            "hint: did you mean \"npu-0\"?\n"
            "error: --drain \"npu-8\": the cluster has no node \"npu-8\"\n"
            "hint: did you mean \"npu-0\"?\n");
}

TEST(WhatIf, ExitCodes) {
  EXPECT_EQ(WhatIf({"--card", "npu-0/0"}).code, 0) << "the pod moves";
  EXPECT_EQ(WhatIf({"--card", "npu-0/7"}).code, 0) << "nobody uses it";
  EXPECT_EQ(WhatIf({"--card", "npu-0/4"}).code, 1) << "nobody moves the pod";
  EXPECT_EQ(WhatIf({"--node", "npu-4"}).code, 1) << "the service shrinks";
  EXPECT_EQ(WhatIf({"--node", "npu-9"}).code, 2);
}

// No color without a terminal, and color where it is asked for.
TEST(WhatIf, ColorsTheVerdict) {
  EXPECT_THAT(WhatIf({"--card", "npu-0/0"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(WhatIf({"--card", "npu-0/0", "--color", "always"}).out,
              HasSubstr("\x1b[32mrecovers"));
}

TEST(WhatIf, ForcesPodsAfterTheGraceOverTimeOfTheConfiguration) {
  EXPECT_EQ(AfterText(std::chrono::minutes(15)), "after 15 minutes");
  EXPECT_EQ(AfterText(std::chrono::seconds(60)), "after 1 minute");
  EXPECT_EQ(AfterText(std::chrono::seconds(90)), "after 1m30s");
  EXPECT_EQ(AfterText(std::chrono::hours(1)), "after 1h");
  SmallCluster cluster;
  cluster.Node("n0");
  cluster.Group("pg", "Job/train", 1, {{"fault-scheduling", "grace"}});
  cluster.Pod({"w", "n0", "0", "pg", "Job/train"});
  const Json snapshot = {{"kind", "Snapshot"},
                         {"version", 1},
                         {"taken", "2026-03-02T12:00:00Z"},
                         {"nodes", cluster.nodes},
                         {"pods", cluster.pods},
                         {"podGroups", cluster.pod_groups},
                         {"faultReports", Json::array()},
                         {"scalingRules", Json::array()}};
  const Workspace folder;
  folder.Write("s.json", snapshot.dump());
  folder.Write("grace.yaml", "graceOverTime: 10m\n");
  const std::vector<std::string> question = {"what-if", "--card", "n0/0", "--snapshot", "s.json"};
  EXPECT_THAT(Cli(question).out, HasSubstr("deletes it by force after 15 minutes"));
  std::vector<std::string> configured = question;
  configured.insert(configured.end(), {"--config", "grace.yaml"});
  EXPECT_THAT(Cli(configured).out, HasSubstr("deletes it by force after 10 minutes"));
}

TEST(WhatIf, EscapesWhatItShowsAsHtml) {
  SmallCluster cluster;
  cluster.Node("n0");
  cluster.Group("pg", "Job/<b>", 1, {{"fault-scheduling", "<script>"}});
  cluster.Pod({"w", "n0", "0", "pg", "Job/<b>"});
  std::string lists;
  const auto add = [&](const char* key, const std::vector<Json>& objects) {
    lists += ", \"" + std::string(key) + "\": " + Json(objects).dump();
  };
  add("nodes", cluster.nodes);
  add("pods", cluster.pods);
  add("podGroups", cluster.pod_groups);
  add("faultReports", {});
  add("scalingRules", {});
  const Workspace folder;
  folder.Write("s.json", R"({"kind": "Snapshot", "version": 1, "taken": "2026-03-02T12:00:00Z")" +
                             lists + "}");
  const auto reported = Cli({"what-if", "--card", "n0/0", "--snapshot", "s.json", "-o", "html"});
  EXPECT_EQ(reported.code, 1) << reported.err;
  EXPECT_THAT(reported.out, Not(HasSubstr("<script>")));
  EXPECT_THAT(reported.out, HasSubstr("&lt;script&gt;"));
}

// --- bad input -----------------------------------------------------------------------------------

TEST(WhatIf, ReportsAllThatIsWrongWithTheQuestion) {
  const auto reported =
      WhatIf({"--node", "npu-9", "--card", "npu-0/8", "--fault", "80E1800@npu-0/1", "--fault",
              "80E18005@npu-0", "--drain", "pool=red", "--drain", "a in b"});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_EQ(reported.err,
            R"(error: --node npu-9: the cluster has no node "npu-9"
hint: did you mean "npu-0"?
error: --card npu-0/8: npu-0 has no card "8"
hint: its cards are Ascend910-0 to Ascend910-7
error: --fault 80E1800@npu-0/1: MindCluster 26.1 ships no level for fault code "80E1800"
hint: did you mean "80E18400"?
error: --fault 80E18005@npu-0: 80E18005 is a fault of a chip, and no chip is named
hint: write 80E18005@npu-0/0 for the first
error: --drain "pool=red": no node has such labels
hint: `kubectl get nodes --show-labels` shows the labels of all nodes
error: --drain "a in b": "a in b" is not the key of a label: write key=value
hint: write names of nodes, as in npu-3,npu-4, or a label selector of them, as in pool=blue or 'zone in (a,b)'
)");
}

TEST(WhatIf, NeedsAQuestion) {
  const auto reported = WhatIf({});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.err,
            "error: there is no scenario\n"
            "hint: specify --node, --card, --fault, --drain, --manifest or --each-node\n");
}

TEST(WhatIf, SupposesEachLossAlone) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"--each-node", "--each-card"},
       "error: --each-node, --each-card and --each suppose one loss at a time\n"
       "hint: give one of the three\n"},
      {{"--each", "row"},
       "error: --each row: no node has the label \"row\"\n"
       "hint: `kubectl get nodes --show-labels` shows the labels of all nodes\n"},
  };
  for (const auto& each : cases) {
    const auto reported = WhatIf(each.arguments);
    EXPECT_EQ(reported.code, 2);
    EXPECT_EQ(reported.out, "");
    EXPECT_EQ(reported.err, each.want);
  }
}

TEST(WhatIf, ReportsWhatIsWrongWithASnapshot) {
  const Workspace folder;
  folder.Write("s.json", "{\"kind\": \"Snapshot\",\n \"version\": 7}");
  const auto old = Cli({"what-if", "--node", "a", "--snapshot", "s.json"});
  EXPECT_EQ(old.code, 2);
  EXPECT_THAT(old.err, HasSubstr("s.json:2:13: this mindgate reads version 1 of snapshots"));
  EXPECT_THAT(old.err, HasSubstr("hint: take the snapshot again with this mindgate"));
  const auto missing = Cli({"what-if", "--node", "a", "--snapshot", "none.json"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("error: snapshot none.json: "));
  EXPECT_THAT(missing.err, HasSubstr("hint: create one with `mindgate snapshot -o none.json`"));
  EXPECT_EQ(Cli({"what-if", "--node", "a", "--snapshot", "-"}, "[").code, 2);
}

// What would be denied is not applied; the findings say why.
TEST(WhatIf, RefusesAManifestThatAdmissionDenies) {
  const Workspace folder;
  folder.Write("bad.yaml", ::mindgate::testing::kMisspeltPod);
  const auto reported = WhatIf({"--manifest", "bad.yaml"});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_THAT(reported.err, HasSubstr("bad.yaml"));
  EXPECT_THAT(reported.err, HasSubstr("error: the manifest would not be admitted"));
  EXPECT_EQ(WhatIf({"--manifest", "none.yaml"}).code, 2);
}

// --- a live cluster ------------------------------------------------------------------------------

struct WhatIfOnACluster : ::testing::Test {
  kube::testing::FakeApiServer server;
  SmallCluster cluster;

  WhatIfOnACluster() {
    server.Register({.resource = resources::kPodGroups, .custom = true});
    const Json force = {{"fault-scheduling", "force"}};
    cluster.Node("n0").Node("n1");
    cluster.Group("pg", "Job/train", 1, force);
    cluster.Pod({"w", "n0", "0-7", "pg", "Job/train", force});
    for (const Json& node : cluster.nodes) server.Put(resources::kNodes, node);
    for (const Json& pod : cluster.pods) server.Put(resources::kPods, pod);
    for (const Json& group : cluster.pod_groups) server.Put(resources::kPodGroups, group);
  }
};

TEST_F(WhatIfOnACluster, ReportsTheSameAsOfItsSnapshotAndWritesNothing) {
  const Workspace folder;
  const auto live = Cli({"what-if", "--node", "n0", "--server", server.url()});
  EXPECT_EQ(live.code, 0) << live.err;
  EXPECT_THAT(live.out, HasSubstr("infer/Job/train (PodGroup pg): recovers"));
  const auto taken = Cli({"snapshot", "-o", "s.json", "--server", server.url()});
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(taken.out, "");
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status("s.json").permissions(),
            perms::owner_read | perms::owner_write);
  EXPECT_EQ(Cli({"what-if", "--node", "n0", "--snapshot", "s.json"}).out, live.out);
  const auto printed = Cli({"snapshot", "--server", server.url()});
  EXPECT_EQ(Cli({"what-if", "--node", "n0", "--snapshot", "-"}, printed.out).out, live.out);
  EXPECT_THAT(printed.out, Not(HasSubstr("secret")));
  EXPECT_EQ(server.Count(), server.Count({.method = "GET"}));
}

TEST_F(WhatIfOnACluster, ReportsWhatItMayNotRead) {
  server.Forbid("list", "podgroups");
  for (const char* command : {"snapshot", "what-if"}) {
    std::vector<std::string> arguments = {command, "--server", server.url()};
    if (std::string(command) == "what-if") arguments.insert(arguments.end(), {"--node", "n0"});
    const auto reported = Cli(arguments);
    EXPECT_EQ(reported.code, 2);
    EXPECT_TRUE(reported.err.starts_with("error: the cluster cannot be read: ")) << reported.err;
    EXPECT_THAT(reported.err,
                HasSubstr("hint: it takes the rights to list ConfigMaps in mindx-dl"));
  }
}

TEST_F(WhatIfOnACluster, ReportsThatAFileCannotBeWritten) {
  const auto reported = Cli({"snapshot", "-o", "/none/s.json", "--server", server.url()});
  EXPECT_EQ(reported.code, 1);
  EXPECT_TRUE(reported.err.starts_with("error: snapshot /none/s.json: ")) << reported.err;
}

}  // namespace
}  // namespace mindgate::cli
