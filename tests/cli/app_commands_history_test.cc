// What `mindgate deploy` and `delete` know of other runs: the one that holds the application now,
// and those before, whose files are kept.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "cli/deploy/deploy.h"
#include "json/decode.h"
#include "kube/events.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::With;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct DeployRuns : ::testing::Test {
  FakeApiServer server;

  DeployRuns() { mindgate::testing::Install(server); }

  CliResult Run(std::vector<std::string> words, std::string_view config = "") {
    words.insert(words.end(), {"-s", server.url()});
    return Cli(words, std::string(config));
  }
  CliResult Deploy(std::string_view config, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"deploy", "-f", "-"});
    return Run(more, config);
  }
  void PutLease(Time renewed) {
    server.Put(kube::resources::kLeases,
               {{"metadata", {{"namespace", "llm"}, {"name", "mindgate-deploy-q"}}},
                {"spec",
                 {{"holderIdentity", "alice@build-7/4711"},
                  {"leaseDurationSeconds", 60},
                  {"acquireTime", kube::FormatMicroTime(renewed)},
                  {"renewTime", kube::FormatMicroTime(renewed)}}}});
  }
  Json Storm() { return server.Find(deploy::resources::kStormServices, "llm", "q"); }
  // Of the router, in a configuration that differs in nothing else.
  static std::string WithReplicas(int count) {
    return With(kAibrixConfig, "  routing:\n",
                "  routing:\n    replicas: " + std::to_string(count) + "\n");
  }
  std::string Replicas() {
    const Json storm = Storm();
    for (const Json& role : storm["spec"]["template"]["spec"]["roles"]) {
      if (role["name"] == "routing") return role["replicas"].dump();
    }
    return "";
  }
};

TEST_F(DeployRuns, ASecondOneIsRefusedWithTheNameOfTheFirst) {
  const Time now = SystemClock().WallNow();
  PutLease(now);
  const std::string reported =
      "error: application q in namespace llm is being changed by alice@build-7/4711 since " +
      FormatTime(now) +
      "\nhint: wait for it with --wait-for-lock 10m; of a run that was killed, Lease "
      "mindgate-deploy-q counts for nothing after 1m\n";
  const CliResult refused = Deploy(kAibrixConfig);
  EXPECT_EQ(refused.code, kExitBlocked);
  EXPECT_EQ(refused.err, reported);
  EXPECT_TRUE(Storm().is_null());
  // Nothing exists yet that could be deleted or rolled back: the first one is about to create it.
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"delete", "q", "-n", "llm", "--yes"},
        {"delete", "q", "-n", "llm", "--yes", "--no-wait"},
        {"deploy", "rollback", "q", "-n", "llm"}}) {
    const CliResult early = Run(command);
    EXPECT_EQ(early.code, kExitBlocked) << command.front();
    EXPECT_EQ(early.out, "");
    EXPECT_EQ(early.err, reported);
  }
  // What changes nothing needs no hold.
  EXPECT_EQ(Deploy(kAibrixConfig, {"--diff"}).code, kExitDenied);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--dry-run=server"}).code, kExitDone);
  // Its holder was killed.
  PutLease(now - std::chrono::seconds(90));
  EXPECT_EQ(Deploy(kAibrixConfig).code, kExitDone);
  EXPECT_TRUE(server.Find(kube::resources::kLeases, "llm", "mindgate-deploy-q").is_null());
  PutLease(SystemClock().WallNow());
  const CliResult kept = Run({"delete", "q", "-n", "llm", "--yes", "--no-wait"});
  EXPECT_EQ(kept.code, kExitBlocked);
  EXPECT_THAT(kept.err, HasSubstr("is being changed by alice@build-7/4711"));
  EXPECT_TRUE(Storm().is_object());
}

TEST_F(DeployRuns, AMissingRightToWriteLeasesAndConfigMapsIsReported) {
  server.Forbid("create", "leases");
  server.Forbid("*", "configmaps");
  const CliResult deployed = Deploy(kAibrixConfig);
  EXPECT_EQ(deployed.code, kExitDone);
  EXPECT_THAT(deployed.err,
              AllOf(HasSubstr("note: nothing keeps others from changing application q at the same "
                              "time, since Lease mindgate-deploy-q cannot be written: "),
                    HasSubstr("note: this configuration is not kept for `mindgate deploy "
                              "rollback`: ")));
}

TEST_F(DeployRuns, AreKept) {
  EXPECT_EQ(Run({"deploy", "history", "q", "-n", "llm"}).code, kExitNotFound);
  Deploy(WithReplicas(1));
  Deploy(WithReplicas(1));
  const CliResult json = Deploy(WithReplicas(2), {"-o", "json"});
  EXPECT_EQ((*json::Decode(json.out))["revision"], 2);
  const CliResult table = Run({"deploy", "history", "q", "-n", "llm"});
  EXPECT_EQ(table.code, kExitDone);
  EXPECT_THAT(table.out, AllOf(HasSubstr("REVISION   TIME"), HasSubstr("\n1          20"),
                               HasSubstr("\n2          20"), Not(HasSubstr("\n3"))));
  const Json document =
      *json::Decode(Run({"deploy", "history", "q", "-n", "llm", "-o", "json"}).out);
  ASSERT_EQ(document["revisions"].size(), 2u);
  EXPECT_EQ(document["revisions"][1]["outcome"], "deployed");
  EXPECT_EQ(document["revisions"][1]["framework"], "aibrix");
  EXPECT_EQ(Run({"deploy", "history", "q", "1", "-n", "llm"}).out, WithReplicas(1));
  EXPECT_EQ(Run({"deploy", "history", "q", "7", "-n", "llm"}).code, kExitNotFound);
}

TEST_F(DeployRuns, AreRolledBack) {
  Deploy(WithReplicas(1));
  const CliResult none = Run({"deploy", "rollback", "q", "-n", "llm"});
  EXPECT_EQ(none.code, kExitNotFound);
  EXPECT_EQ(none.err,
            "error: application q in namespace llm has no revision before the present one\n"
            "hint: `mindgate deploy history q -n llm` lists those that are kept\n");
  Deploy(WithReplicas(2));
  Deploy(WithReplicas(3));
  EXPECT_THAT(Run({"deploy", "rollback", "q", "-n", "llm", "--diff"}).out,
              HasSubstr("-        replicas: 3\n+        replicas: 2\n"));
  EXPECT_EQ(Replicas(), "3");
  const CliResult back = Run({"deploy", "rollback", "q", "-n", "llm"});
  EXPECT_EQ(back.code, kExitDone) << back.err;
  EXPECT_EQ(Replicas(), "2");
  EXPECT_EQ(Run({"deploy", "rollback", "q", "1", "-n", "llm", "-o", "json"}).code, kExitDone);
  EXPECT_EQ(Replicas(), "1");
  const Json document =
      *json::Decode(Run({"deploy", "history", "q", "-n", "llm", "-o", "json"}).out);
  ASSERT_EQ(document["revisions"].size(), 5u);
  EXPECT_EQ(document["revisions"][4]["note"], "rollback to revision 1");
  EXPECT_EQ(Run({"deploy", "rollback", "q", "9", "-n", "llm"}).code, kExitNotFound);
  EXPECT_EQ(Run({"deploy", "rollback", "q", "x", "-n", "llm"}).code, kExitUnusable);
}

// Whoever may write ConfigMaps chooses nothing else for those who roll back.
TEST_F(DeployRuns, ARevisionOfAnotherApplicationIsRefused) {
  Deploy(WithReplicas(1));
  Json revision = server.Find(kube::resources::kConfigMaps, "llm", "mindgate-deploy.q.1");
  revision["data"]["application.yaml"] = With(kAibrixConfig, "app_name: q\n", "app_name: other\n");
  server.Put(kube::resources::kConfigMaps, revision);
  const CliResult refused = Run({"deploy", "rollback", "q", "1", "-n", "llm"});
  EXPECT_EQ(refused.code, kExitBlocked);
  EXPECT_THAT(refused.err, HasSubstr("revision 1 is of application other in namespace llm, not of "
                                     "q in llm"));
  EXPECT_TRUE(server.Find(deploy::resources::kStormServices, "llm", "other").is_null());
}

// A file without a namespace was deployed into the one of -n.
TEST_F(DeployRuns, ARevisionIsOfTheNamespaceThatHasIt) {
  const auto open = [](int count) { return With(WithReplicas(count), "app_namespace: llm\n", ""); };
  Deploy(open(1), {"-n", "llm"});
  Deploy(open(2), {"-n", "llm"});
  const CliResult back = Run({"deploy", "rollback", "q", "-n", "llm"});
  EXPECT_EQ(back.code, kExitDone) << back.err;
  EXPECT_EQ(Replicas(), "1");
}

TEST_F(DeployRuns, GoWithTheApplication) {
  Deploy(WithReplicas(1));
  EXPECT_EQ(Run({"delete", "q", "-n", "llm", "--yes", "--no-wait"}).code, kExitDone);
  EXPECT_TRUE(server.Find(kube::resources::kConfigMaps, "llm", "mindgate-deploy.q.1").is_null());
  EXPECT_TRUE(server.Find(kube::resources::kLeases, "llm", "mindgate-deploy-q").is_null());
}

}  // namespace
}  // namespace mindgate::cli
