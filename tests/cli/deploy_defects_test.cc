// Defects of mindcluster-deploy's deploy tool that are about the command and not its files; the
// others are in tests/deploy/defects_test.cc.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "cli/deploy/deploy.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"
#include "support/environment.h"
#include "support/places.h"
#include "support/workspace.h"

namespace mindgate::cli {
namespace {

using kube::testing::FakeApiServer;
using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::Shell;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;

// It works in any folder, and leaves nothing there.
TEST(DeployDefects, AnyFolder) {
  const Workspace workspace;
  const std::string program = ::mindgate::testing::Program();
  const CliResult result = Shell(program + " deploy --init ome | " + program +
                                 " deploy -f - --dry-run 2>&1 | grep -c ^kind:");
  EXPECT_EQ(result.out, "3\n");
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::current_path()));
}

// KUBECONFIG, --context, -k. Each context has a cluster of its own.
TEST(DeployDefects, TheClusterOfTheKubeconfig) {
  FakeApiServer first;
  FakeApiServer second;
  for (FakeApiServer* each : {&first, &second}) mindgate::testing::Install(*each);
  const auto config = [](const std::string& current, const std::string& a, const std::string& b) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: " + current +
           "\nclusters:\n- {name: a, cluster: {server: \"" + a +
           "\"}}\n- {name: b, cluster: {server: \"" + b +
           "\"}}\ncontexts:\n- {name: a, context: {cluster: a, user: u, namespace: llm}}\n"
           "- {name: b, context: {cluster: b, user: u, namespace: llm}}\n"
           "users:\n- {name: u, user: {}}\n";
  };
  const Workspace workspace;
  workspace.Write("one", config("a", first.url(), second.url()));
  workspace.Write("two", config("b", first.url(), second.url()));
  const ChangedEnvironment variable(::mindgate::testing::Variables{{"KUBECONFIG", "one"}});
  const auto has = [](const FakeApiServer& server) {
    return !server.Find(deploy::resources::kStormServices, "llm", "q").is_null();
  };
  const auto run = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return Cli(words, std::string(kAibrixConfig)).code;
  };
  const std::vector<std::string> deploy = {"deploy", "-f", "-"};
  EXPECT_EQ(run(deploy, {}), kExitDone);
  EXPECT_TRUE(has(first) && !has(second));
  EXPECT_EQ(run(deploy, {"--context", "b"}), kExitDone);
  EXPECT_TRUE(has(second));
  const std::vector<std::string> remove = {"delete", "q", "--yes", "--no-wait"};
  EXPECT_EQ(run(remove, {"-k", "two"}), kExitDone);
  for (const auto& [more, server] : {std::pair(std::vector<std::string>{}, &first),
                                     std::pair(std::vector<std::string>{"-k", "two"}, &second)}) {
    server->ForgetRequests();
    EXPECT_NE(run({"status", "q"}, more), kExitUnusable);
    EXPECT_GT(server->Count({.method = "GET", .target_part = "/stormservices?"}), 0u);
  }
}

// A KRM function is given whatever a kustomization holds.
TEST(DeployDefects, AFunctionConfigOfAnotherTypeIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("functionConfig": "x", "items": [])",
       "functionConfig of the ResourceList must be an object"},
      {R"("functionConfig": null, "items": [])", "not null"},
      {R"("functionConfig": 7, "items": [])", "not an integer"},
      {R"("functionConfig": [], "items": [])", "not a list"},
      {R"("functionConfig": {}, "items": "x")", "items of the ResourceList must be a list"},
      {R"("functionConfig": {}, "items": [7])", "items of the ResourceList must be a list"}};
  for (const auto& [members, message] : cases) {
    const std::string list =
        R"({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", )" + members + "}";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"deploy", "--function"}, std::vector<std::string>{}}) {
      const CliResult result = Cli(arguments, list);
      EXPECT_EQ(result.code, kExitUnusable) << list;
      EXPECT_EQ(result.out, "") << list;
      EXPECT_THAT(result.err, HasSubstr(message)) << list;
    }
  }
}

}  // namespace
}  // namespace mindgate::cli
