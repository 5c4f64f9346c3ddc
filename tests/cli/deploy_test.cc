#include "cli/deploy/deploy.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "deploy/application.h"
#include "json/decode.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"
#include "support/environment.h"
#include "support/golden.h"
#include "support/workspace.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::With;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A cluster without controllers: what needs them is tested in tests/deploy.
struct DeployCommand : ::testing::Test {
  FakeApiServer server;

  DeployCommand() { mindgate::testing::Install(server); }

  CliResult Deploy(std::string_view config, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"deploy", "-f", "-", "-s", server.url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Cli(arguments, std::string(config));
  }
  size_t Writes() const {
    size_t writes = 0;
    for (const auto& request : server.Requests()) {
      writes += request.method != "GET" && request.target.find("dryRun=All") == std::string::npos &&
                request.body.find(R"("dryRun":["All"])") == std::string::npos;
    }
    return writes;
  }
};

// A user at a terminal.
struct AtTerminal {
  int code = -1;
  std::string err;

  AtTerminal(const std::vector<std::string>& arguments, const std::string& types) {
    std::istringstream in(types);
    std::ostringstream out;
    std::ostringstream errors;
    Streams io{in, out, errors};
    io.in_is_terminal = true;
    code = Run(arguments, io, "mindgate");
    err = errors.str();
  }
};

TEST(DeployInit, WritesAFileThatIsAcceptedAsItStands) {
  for (const std::string framework : {"ome", "aibrix", "mindie"}) {
    const CliResult starter = Cli({"deploy", "--init", framework});
    EXPECT_EQ(starter.code, kExitDone);
    const CliResult rendered = Cli({"deploy", "-f", "-", "--dry-run"}, starter.out);
    EXPECT_EQ(rendered.code, kExitDone) << rendered.err;
    EXPECT_THAT(rendered.out, StartsWith("---\napiVersion: "));
    EXPECT_EQ(rendered.err, "") << framework;
  }
  EXPECT_EQ(Cli({"deploy", "--init", "vllm"}).code, kExitUnusable);
}

// What is printed is YAML that other tools read, and nothing else.
TEST(DeployDryRun, PrintsYamlThatIsAdmitted) {
  for (const auto config : {kOmeConfig, kAibrixConfig, kMindieConfig}) {
    const CliResult rendered = Cli({"deploy", "-f", "-", "--dry-run"}, std::string(config));
    ASSERT_EQ(rendered.code, kExitDone);
    const CliResult applied = Cli({"apply", "-f", "-"}, rendered.out);
    EXPECT_EQ(applied.code, kExitDone) << applied.err;
    // The mutators have run already.
    EXPECT_EQ(Cli({"apply", "-f", "-", "-o", "diff"}, rendered.out).out, "");
  }
}

// Each kind of failure has an exit code of its own.
TEST_F(DeployCommand, ExitCodes) {
  EXPECT_EQ(Cli({"deploy"}).code, kExitUnusable);
  EXPECT_EQ(Cli({"deploy", "-f", "missing.yaml"}).code, kExitUnusable);
  EXPECT_EQ(Cli({"deploy", "-f", "-", "--diff", "--dry-run"}).code, kExitUnusable);
  EXPECT_EQ(Deploy("app_name: a\n").code, kExitInvalidConfig);
  EXPECT_EQ(Deploy(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8",
                        "    labels: {fault-scheduling: Force}\n    npu_num: 8"))
                .code,
            kExitBlocked);
  EXPECT_EQ(Deploy(With(kOmeConfig, "app_namespace: llm", "app_namespace: none")).code,
            kExitBlocked);
  EXPECT_EQ(Deploy(kOmeConfig, {"--timeout", "0s"}).code, kExitTimedOut);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--wait", "--timeout", "0s"}).code, kExitTimedOut);
  EXPECT_EQ(Deploy(kAibrixConfig).code, kExitDone);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--diff"}).code, kExitDone);
  EXPECT_EQ(
      Deploy(With(kAibrixConfig, "  routing:\n", "  routing:\n    replicas: 2\n"), {"--diff"}).code,
      kExitDenied);
}

// The flag of mindcluster-deploy's tool.
TEST(DeployFlags, ConfigIsMindgateYaml) {
  const CliResult reported = Cli({"deploy", "--config", "isvc-config.yaml"});
  EXPECT_EQ(reported.code, kExitUnusable);
  EXPECT_EQ(reported.err,
            "error: no configuration\nhint: --config is mindgate.yaml; name the file of the "
            "application with -f or -c\n");
}

// A denied application never reaches the cluster.
TEST_F(DeployCommand, NothingIsWrittenBeforeEverythingIsFine) {
  const CliResult denied =
      Deploy(With(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8",
                       "    labels: {fault-scheduling: Force}\n    npu_num: 8"),
                  "runtime_name: rt1", "runtime_name: rt9"));
  EXPECT_EQ(denied.code, kExitBlocked);
  EXPECT_THAT(denied.err, HasSubstr("<stdin>:7:32: denied: InferenceService chat: MG050"));
  EXPECT_THAT(denied.err, HasSubstr("error: there is no ServingRuntime rt9"));
  EXPECT_EQ(Writes(), 0u);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--dry-run=server"}).code, kExitDone);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--diff"}).code, kExitDenied);
  EXPECT_EQ(Writes(), 0u);
}

// Foreign objects, rules and the cluster are reported in one run.
TEST_F(DeployCommand, EverythingThatIsInTheWayIsReportedAtOnce) {
  server.Put(kube::resources::kServices,
             {{"metadata", {{"namespace", "llm"}, {"name", "chat-mf-store"}}}});
  const CliResult denied =
      Deploy(With(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8",
                       "    labels: {fault-scheduling: Force}\n    npu_num: 8"),
                  "runtime_name: rt1", "runtime_name: rt9"));
  EXPECT_EQ(denied.code, kExitBlocked);
  for (const char* part :
       {"denied: InferenceService chat: MG050", "error: there is no ServingRuntime rt9",
        "error: Service chat-mf-store in namespace llm exists already"}) {
    EXPECT_THAT(denied.err, HasSubstr(part));
  }
  EXPECT_EQ(server.Count({.method = "PATCH"}), 0u);
}

// The nodes would suffice, but others are there.
TEST_F(DeployCommand, WhatDoesNotFitNowIsANote) {
  const auto occupy = [this](const std::string& node) {
    Json pod = mindgate::testing::PodOf("other", "train-" + node, Json::object());
    pod["spec"]["nodeName"] = node;
    pod["spec"]["containers"][0]["resources"]["limits"] = {{"huawei.com/Ascend910", "8"}};
    pod["metadata"]["annotations"] = {
        {"huawei.com/AscendReal",
         "Ascend910-0,Ascend910-1,Ascend910-2,Ascend910-3,Ascend910-4,Ascend910-5,Ascend910-6,"
         "Ascend910-7"}};
    server.Put(kube::resources::kPods, pod);
  };
  EXPECT_THAT(Deploy(kMindieConfig, {"--diff"}).err, Not(HasSubstr("does not fit")));
  for (const char* node : {"npu-0", "npu-1", "npu-2"}) occupy(node);
  EXPECT_EQ(Deploy(kAibrixConfig, {"--diff"}).err, "");
  occupy("npu-3");
  const CliResult diff = Deploy(kAibrixConfig, {"--diff"});
  EXPECT_THAT(diff.err, StartsWith("note: does not fit now: StormService/q"));
  EXPECT_THAT(diff.err, HasSubstr("its pods stay Pending until others leave, or until there is "
                                  "room for"));
  // Instances of MindIE wait behind the gate of elastic scaling.
  EXPECT_THAT(Deploy(kMindieConfig, {"--diff"}).err,
              HasSubstr("note: does not fit now: AscendJob/"));
  // A note does not stop anything, and what is deployed already needs no room.
  EXPECT_EQ(Deploy(kAibrixConfig).code, kExitDone);
  EXPECT_EQ(Deploy(kAibrixConfig).err, "");
}

// The pods that it has make room for those that it gets.
TEST_F(DeployCommand, WhatIsDeployedAgainHasItsOwnRoom) {
  Deploy(kAibrixConfig);
  for (const auto& [node, role] :
       {std::pair("npu-0", "prefill"), std::pair("npu-1", "prefill"), std::pair("npu-2", "decode"),
        std::pair("npu-3", "decode"), std::pair("npu-4", "decode"), std::pair("npu-5", "decode")}) {
    const Json labels = {{"storm-service-name", "q"}, {"role-name", role}};
    Json pod = mindgate::testing::PodOf("llm", std::string("q-") + node, labels);
    pod["spec"]["nodeName"] = node;
    pod["spec"]["containers"][0]["resources"]["limits"] = {{"huawei.com/Ascend910", "8"}};
    server.Put(kube::resources::kPods, pod);
  }
  const std::string changed = With(kAibrixConfig, "  routing:\n", "  routing:\n    replicas: 2\n");
  EXPECT_EQ(Deploy(changed).err, "");
}

TEST_F(DeployCommand, WhatFitsOnNoClusterIsReportedOnce) {
  const CliResult diff =
      Deploy(With(kAibrixConfig, "  decode:\n", "  decode:\n    replicas: 4\n"), {"--diff"});
  EXPECT_EQ(diff.err,
            "note: the application has prefill 1 pod of 8 NPUs and decode 8 pods of 8 NPUs, and "
            "the ready nodes have room for 6 of 9 even when they are empty; the others stay "
            "Pending until there are more nodes\n");
}

// Who may read only what the application needs can deploy.
TEST_F(DeployCommand, RoomThatCannotBeReadIsANote) {
  server.Forbid("list", "podgroups");
  const CliResult deployed = Deploy(kAibrixConfig);
  EXPECT_EQ(deployed.code, kExitDone);
  EXPECT_THAT(deployed.err, StartsWith("note: whether there is room now is not checked: "));
}

// Nothing is asked, whatever exists and whatever could be read.
TEST_F(DeployCommand, NothingIsAsked) {
  mindgate::testing::Workspace workspace;
  const auto deploy = [&](std::string_view config) {
    const std::string file = workspace.Write("app.yaml", std::string(config));
    return Cli({"deploy", "-f", file, "-s", server.url()}, "n\n");
  };
  EXPECT_EQ(deploy(kAibrixConfig).code, kExitDone);
  const CliResult changed =
      deploy(With(kAibrixConfig, "  routing:\n", "  routing:\n    replicas: 2\n"));
  EXPECT_EQ(changed.code, kExitDone);
  EXPECT_THAT(changed.out, StartsWith("StormService q changed\n"));
}

TEST_F(DeployCommand, PrunesByDefault) {
  const std::string larger = With(kAibrixConfig, "  prefill:\n", "  prefill:\n    replicas: 2\n");
  const auto is_left = [this] {
    return server.Find(kube::resources::kServices, "llm", "q-prefill-1").is_object();
  };
  for (const auto& [flags, left] : {std::pair(std::vector<std::string>{}, false),
                                    std::pair(std::vector<std::string>{"--prune"}, false),
                                    std::pair(std::vector<std::string>{"--prune=false"}, true),
                                    std::pair(std::vector<std::string>{"--no-prune"}, true)}) {
    Deploy(larger);
    EXPECT_EQ(Deploy(kAibrixConfig, flags).code, kExitDone);
    EXPECT_EQ(is_left(), left) << ::testing::PrintToString(flags);
  }
  EXPECT_EQ(Deploy(kAibrixConfig, {"--prune", "--no-prune"}).code, kExitUnusable);
}

// For editors: the schema is what `deploy` reads.
TEST(DeploySchema, IsPrinted) {
  for (const std::string framework : {"ome", "aibrix", "mindie"}) {
    const CliResult schema = Cli({"deploy", "--schema", framework});
    EXPECT_EQ(schema.code, kExitDone);
    ExpectGolden("tests/golden/deploy/schema-" + framework + ".json", schema.out);
  }
  EXPECT_EQ(Cli({"deploy", "--schema", "vllm"}).code, kExitUnusable);
}

// What a rolled back deployment says.
TEST_F(DeployCommand, AFailureReportsWhatItLeaves) {
  const CliResult undone = Deploy(kAibrixConfig, {"--atomic", "--timeout", "0s"});
  EXPECT_EQ(undone.code, kExitTimedOut);
  EXPECT_THAT(undone.err, HasSubstr("hint: everything is as it was before\n"));
  const Json result =
      *json::Decode(Deploy(kAibrixConfig, {"--atomic", "--timeout", "0s", "-o", "json"}).out);
  EXPECT_EQ(result["rolledBack"], true);
  EXPECT_EQ(result["notUndone"], Json::array());
}

TEST_F(DeployCommand, ReportsWhatItDid) {
  const CliResult first = Deploy(kAibrixConfig);
  EXPECT_EQ(first.out,
            "Service q-prefill-0 created\nService q-decode-0-0 created\n"
            "Service q-decode-0-1 created\nService q-router created\nStormService q created\n"
            "application q in namespace llm is deployed; `mindgate status q -n llm` shows how it "
            "is\n");
  EXPECT_EQ(first.err, "");
  EXPECT_EQ(Deploy(kAibrixConfig).out,
            "application q in namespace llm is as configured: nothing was changed\n");
  const CliResult json =
      Deploy(With(kAibrixConfig, "  routing:\n", "  routing:\n    replicas: 2\n"), {"-o", "json"});
  const Json result = *json::Decode(json.out);
  EXPECT_EQ(result["outcome"], "done");
  EXPECT_EQ(result["written"], 1);
  EXPECT_EQ(
      result["objects"][4],
      Json({{"kind", "StormService"}, {"namespace", "llm"}, {"name", "q"}, {"action", "change"}}));
}

TEST_F(DeployCommand, ShowsDifferences) {
  Deploy(kAibrixConfig);
  const CliResult diff = Deploy(With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1\n",
                                     "  distributed_dp: \"false\"\n"),
                                {"--diff"});
  EXPECT_THAT(diff.out, HasSubstr("--- Service q-router on the cluster\n"));
  EXPECT_THAT(diff.out,
              HasSubstr("-                value: 'true'\n+                value: 'false'\n"));
}

// Files that leave the namespace open take that of the command line.
TEST_F(DeployCommand, TheNamespace) {
  const std::string open = With(kAibrixConfig, "app_namespace: llm\n", "");
  EXPECT_THAT(Cli({"deploy", "-f", "-", "--dry-run"}, open).out, HasSubstr("namespace: default\n"));
  EXPECT_THAT(Cli({"deploy", "-f", "-", "--dry-run", "-n", "team"}, open).out,
              HasSubstr("namespace: team\n"));
  const CliResult both =
      Cli({"deploy", "-f", "-", "--dry-run", "-n", "team"}, std::string(kAibrixConfig));
  EXPECT_EQ(both.code, kExitUnusable);
  EXPECT_EQ(both.err,
            "error: --namespace is team, but app_namespace in <stdin> is llm\n"
            "hint: leave one of them out\n");
}

TEST_F(DeployCommand, TheVariableChoosesTheFramework) {
  const ChangedEnvironment variable(::mindgate::testing::Variables{{"SERVING_FRAMEWORK", "ome"}});
  const CliResult refused = Cli({"deploy", "-f", "-", "--dry-run"}, std::string(kAibrixConfig));
  EXPECT_EQ(refused.code, kExitInvalidConfig);
  EXPECT_THAT(refused.err, HasSubstr("(SERVING_FRAMEWORK=ome)"));
}

TEST(DeployFunction, TakesAndGivesAResourceList) {
  const std::string list =
      "kind: ResourceList\nitems: []\nfunctionConfig:\n  metadata: {name: a}\n  spec:\n"
      "    inference_service: {model_name: m, engine: {npu_num: 8}}\n";
  const CliResult done = Cli({"deploy", "--function"}, list);
  EXPECT_EQ(done.code, kExitDone);
  EXPECT_THAT(done.out, HasSubstr("- apiVersion: ome.io/v1beta1\n"));
  const CliResult faulty = Cli({"deploy", "--function"}, With(list, "npu_num: 8", "npu_num: 17"));
  EXPECT_EQ(faulty.code, kExitDenied);
  EXPECT_THAT(faulty.out, HasSubstr("severity: error"));
  // kustomize shows what a program writes there, and nothing of a list that it refused.
  EXPECT_THAT(faulty.err, HasSubstr("error: spec.inference_service.engine.npu_num: "));
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(Cli({"deploy", "--function"}, "kind: List\n").code, kExitUnusable);
}

// kustomize and kpt give no arguments, neither to an image nor to a path.
TEST(DeployFunction, WithoutArgumentsMindgateIsAFunction) {
  const std::string list =
      "kind: ResourceList\nitems: []\nfunctionConfig:\n  metadata: {name: a}\n  spec:\n"
      "    inference_service: {model_name: m, engine: {npu_num: 8}}\n";
  const CliResult done = Cli({}, list);
  EXPECT_EQ(done.code, kExitDone);
  EXPECT_EQ(done.out, Cli({"deploy", "--function"}, list).out);
  EXPECT_EQ(Cli({}).code, kExitUnusable);
  EXPECT_THAT(Cli({}).err, HasSubstr("mindgate COMMAND [flags]"));
  const AtTerminal typed({}, list);
  EXPECT_EQ(typed.code, kExitUnusable);
  EXPECT_EQ(typed.err, Cli({}).err);
}

// --- delete --------------------------------------------------------------------------------------

TEST_F(DeployCommand, DeleteAsksOrTakesYes) {
  Deploy(kAibrixConfig);
  const std::vector<std::string> command = {"delete", "q", "-n", "llm", "-s", server.url()};
  const auto with = [&command](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return Cli(more);
  };
  EXPECT_EQ(with({}).code, kExitUnusable);
  EXPECT_THAT(with({"--dry-run"}).out, HasSubstr("StormService q would be deleted\n"));
  const CliResult deleted = with({"--yes", "--no-wait"});
  EXPECT_EQ(deleted.code, kExitDone) << deleted.err;
  EXPECT_THAT(deleted.out, StartsWith("StormService q deleted\n"));
  server.Remove(deploy::resources::kStormServices, "llm", "q");
  EXPECT_EQ(with({"--yes"}).out,
            "application q has no objects in namespace llm: nothing to delete\n");
}

TEST_F(DeployCommand, ADryRunThatIsRefusedHasDeletedNothing) {
  Deploy(kAibrixConfig);
  for (const bool dry_run : {true, false}) {
    server.AnswerNext(1, {.method = "DELETE", .target_part = "services/q-prefill-0"},
                      kube::testing::StatusAnswer(403, "Forbidden", "a policy says no"));
    const CliResult refused = Cli({"delete", "q", "-n", "llm", "-s", server.url(), "--yes",
                                   dry_run ? "--dry-run=server" : "--no-wait"});
    EXPECT_EQ(refused.code, kExitBlocked);
    EXPECT_THAT(refused.err, HasSubstr("a policy says no"));
    EXPECT_THAT(refused.err, HasSubstr(dry_run ? "\nhint: nothing was deleted: this was a dry run\n"
                                               : "\nhint: 3 of 5 objects are deleted, not yet: "));
  }
}

TEST_F(DeployCommand, OnATerminalDeleteAsks) {
  Deploy(kAibrixConfig);
  const std::vector<std::string> command = {"delete", "q",          "-n",       "llm",
                                            "-s",     server.url(), "--no-wait"};
  const std::string question =
      "StormService q\nService q-decode-0-0\nService q-decode-0-1\nService q-prefill-0\n"
      "Service q-router\nDelete application q in namespace llm? [y/N] ";
  server.ForgetRequests();
  for (const char* answer : {"n\n", "\n", "", "yess\n"}) {
    const AtTerminal no(command, answer);
    EXPECT_EQ(no.code, kExitDenied);
    EXPECT_EQ(no.err, question + "canceled: nothing was deleted\n");
  }
  // The Lease comes and goes, four times.
  EXPECT_EQ(Writes(), 8u);
  server.ForgetRequests();
  const AtTerminal yes(command, " Y \n");
  EXPECT_EQ(yes.code, kExitDone);
  EXPECT_EQ(yes.err, question);
  // The objects, the revision, and the Lease that comes and goes.
  EXPECT_EQ(Writes(), 8u);
}

// What goes wrong has an exit code. The variable of the other tool changes nothing.
TEST_F(DeployCommand, ExitCodesOfDelete) {
  const ChangedEnvironment variable(::mindgate::testing::Variables{{"SERVING_FRAMEWORK", "ome"}});
  Deploy(With(kAibrixConfig, "app_name: q\n", "app_name: q\nframework: aibrix\n"));
  const std::vector<std::string> command = {"delete", "q",          "-n",   "llm",
                                            "-s",     server.url(), "--yes"};
  server.Forbid("delete", "services");
  EXPECT_EQ(Cli(command).code, kExitBlocked);
  server.Forbid("list", "services");
  EXPECT_EQ(Cli(command).code, kExitBlocked);
  server.AllowAll();
  auto hasty = command;
  hasty.insert(hasty.end(), {"--timeout", "0s"});
  EXPECT_EQ(Cli(hasty).code, kExitTimedOut);  // no garbage collector
  server.Remove(deploy::resources::kStormServices, "llm", "q");
  EXPECT_EQ(Cli(command).code, kExitDone);
  EXPECT_EQ(Cli(command).code, kExitDone);
}

// The flags of the other tool.
TEST_F(DeployCommand, OldFlags) {
  Deploy(kAibrixConfig);
  const CliResult status = Cli({"status", "-n", "q", "-ns", "llm", "-s", server.url()});
  EXPECT_THAT(status.out, StartsWith("Application q (aibrix) in namespace llm"));
  const CliResult deleted =
      Cli({"delete", "--app-name=q", "-ns", "llm", "-s", server.url(), "--dry-run"});
  EXPECT_THAT(deleted.out, StartsWith("StormService q would be deleted\n"));
  EXPECT_EQ(Cli({"status", "q", "-n", "llm", "-k", "missing.kubeconfig"}).code, kExitUnusable);
}

// What Argo CD applies is ours, and it is said that it comes back.
TEST_F(DeployCommand, DeleteReportsWhoseObjectsItDeletes) {
  const auto put = [this](const char* name, const char* application) {
    server.Put(kube::resources::kServices,
               {{"metadata",
                 {{"namespace", "llm"},
                  {"name", name},
                  {"annotations", {{"mindgate.io/application", application}}},
                  {"labels",
                   {{"app.kubernetes.io/managed-by", "mindgate-deploy"},
                    {"app.kubernetes.io/instance", "q"}}}}}});
  };
  put("q-router", "llm/q");
  put("q-copy", "test/q");
  const CliResult result =
      Cli({"delete", "q", "-n", "llm", "-s", server.url(), "--yes", "--no-wait"});
  EXPECT_EQ(result.out, "Service q-router deleted\n");
  EXPECT_EQ(result.err,
            "note: Service q-copy carries the labels of the application, but mindgate deploy did "
            "not make it: it stays\n"
            "note: applied by other means than mindgate deploy: Service q-router; what applies "
            "them, such as Argo CD, makes them again unless they are removed there too\n");
}

// --- status --------------------------------------------------------------------------------------

TEST_F(DeployCommand, StatusShowsAnApplication) {
  const std::vector<std::string> command = {"status", "chat", "-n", "llm", "-s", server.url()};
  Deploy(kOmeConfig, {"--timeout", "0s"});  // the store only
  mindgate::testing::PlayDeployments(server, "llm", "chat");
  Deploy(kOmeConfig);
  EXPECT_EQ(Cli(command).code, kExitDenied);
  mindgate::testing::PlayOme(server, "llm", "chat");
  Json pod = server.Find(kube::resources::kPods, "llm", "chat-engine-0");
  pod["status"]["containerStatuses"] = {
      {{"name", "main"}, {"restartCount", 3}, {"state", {{"running", Json::object()}}}}};
  server.Put(kube::resources::kPods, pod);
  server.Put(kube::resources::kServices,
             {{"metadata", {{"namespace", "llm"}, {"name", "chat-router"}}},
              {"spec", {{"clusterIP", "10.0.0.9"}, {"ports", {{{"port", 8000}}}}}}});
  server.Put(kube::resources::kEvents,
             {{"metadata", {{"namespace", "llm"}, {"name", "e1"}}},
              {"eventTime", "2026-01-01T00:00:00.000000Z"},
              {"type", "Warning"},
              {"reason", "Evicted"},
              {"note", "the node ran out of memory"},
              {"regarding", {{"kind", "Pod"}, {"name", "chat-engine-0"}}}});
  const CliResult healthy = Cli(command);
  EXPECT_EQ(healthy.code, kExitDone) << healthy.err;
  ExpectGolden("tests/golden/deploy/status.txt", healthy.out);

  pod["status"]["containerStatuses"][0]["state"] = {{"waiting", {{"reason", "CrashLoopBackOff"}}}};
  pod["status"]["conditions"][0]["status"] = "False";
  server.Put(kube::resources::kPods, pod);
  auto as_json = command;
  as_json.insert(as_json.end(), {"-o", "json"});
  const CliResult failed = Cli(as_json);
  EXPECT_EQ(failed.code, kExitDenied);
  const Json status = *json::Decode(failed.out);
  EXPECT_EQ(status["verdict"], "Failed");
  EXPECT_EQ(status["reason"], "pod chat-engine-0: CrashLoopBackOff");
  EXPECT_EQ(status["url"], "http://chat-router.llm.svc:8000");
}

// Without an application of that name the services under scaling rules are asked, as before.
TEST_F(DeployCommand, StatusOfWhatIsNoApplication) {
  const CliResult missing = Cli({"status", "nobody", "-n", "llm", "-s", server.url()});
  EXPECT_EQ(missing.code, kExitNotFound);
  EXPECT_THAT(missing.err, HasSubstr("is under a scaling rule with jobID \"nobody\""));
}

}  // namespace
}  // namespace mindgate::cli
