// `mindgate deploy --import`: from the objects of mindcluster-deploy's tool to a file that deploys
// them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/deploy/deploy.h"
#include "deploy/cluster.h"
#include "json/decode.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/deploy_cluster.h"
#include "support/deploy_configs.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::ReadSource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What the old tool leaves in a cluster.
Json ObjectsOfOldTool(const std::string& name) {
  return Json::parse(ReadSource("tests/oracle/deploy/want/" + name + ".json"));
}

struct DeployImports : ::testing::Test {
  FakeApiServer server;

  DeployImports() {
    mindgate::testing::Install(server);
    server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  }

  void Put(const std::string& name) {
    for (const Json& object : ObjectsOfOldTool(name)) {
      server.Put(deploy::ResourceOf(object), object);
    }
  }
  CliResult Run(std::vector<std::string> words, const std::string& in = "") {
    words.insert(words.end(), {"-s", server.url()});
    return Cli(words, in);
  }
  CliResult Import(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"deploy", "--import", "my-test"});
    return Run(more);
  }
};

TEST_F(DeployImports, WriteTheFileAndWhatItChanges) {
  Put("ome-01-multi");
  const CliResult imported = Import();
  EXPECT_EQ(imported.code, kExitDone);
  ExpectGolden("tests/golden/deploy/import-ome.txt", imported.out + "---\n" + imported.err);
}

TEST_F(DeployImports, OfAibrixNameTheServiceOfTheRouter) {
  Put("aibrix-02-22");
  const CliResult imported = Import();
  EXPECT_EQ(imported.code, kExitDone);
  ExpectGolden("tests/golden/deploy/import-aibrix.txt", imported.out + "---\n" + imported.err);
}

TEST_F(DeployImports, AreDeployedWithForceAndThenOurs) {
  Put("aibrix-00-sample");
  for (const char* name : {"a3-0", "a3-1", "a3-2", "a3-3"}) {
    server.Put(kube::resources::kNodes,
               {{"metadata",
                 {{"name", name}, {"labels", {{"accelerator-type", "module-a3-16-super-pod"}}}}},
                {"status",
                 {{"allocatable", {{"huawei.com/Ascend910", "16"}}},
                  {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}}}});
  }
  const std::string file = Import().out;
  const CliResult refused = Run({"deploy", "-f", "-"}, file);
  EXPECT_EQ(refused.code, kExitBlocked);
  EXPECT_THAT(refused.err, HasSubstr("exists already and is not of application my-test"));
  const CliResult deployed = Run({"deploy", "-f", "-", "--force"}, file);
  EXPECT_EQ(deployed.code, kExitDone) << deployed.err;
  const CliResult again = Run({"deploy", "-f", "-"}, file);
  EXPECT_EQ(again.code, kExitDone) << again.err;
  EXPECT_THAT(again.out, HasSubstr("nothing was changed"));
  const CliResult imported = Import();
  EXPECT_EQ(imported.code, kExitBlocked);
  EXPECT_THAT(imported.err, HasSubstr("`mindgate deploy` made StormService my-test"));
}

TEST_F(DeployImports, WriteNothingToTheCluster) {
  Put("aibrix-00-sample");
  EXPECT_EQ(Import().code, kExitDone);
  for (const auto& request : server.Requests()) EXPECT_EQ(request.method, "GET");
}

TEST_F(DeployImports, OfFilesNeedNoCluster) {
  const Json list = {
      {"apiVersion", "v1"}, {"kind", "List"}, {"items", ObjectsOfOldTool("ome-00-sample")}};
  Put("ome-00-sample");
  const CliResult offline = Cli({"deploy", "--import", "my-test", "-f", "-"}, list.dump());
  const CliResult live = Import();
  EXPECT_EQ(offline.code, kExitDone);
  EXPECT_EQ(offline.out, live.out);
  EXPECT_EQ(offline.err, live.err);
  EXPECT_EQ(Cli({"deploy", "--import", "my-test", "-f", "-", "-n", "llm"}, list.dump()).code,
            kExitNotFound);
  const CliResult broken = Cli({"deploy", "--import", "my-test", "-f", "-"}, "kind: [");
  EXPECT_EQ(broken.code, kExitUnusable);
  EXPECT_THAT(broken.err, HasSubstr("<stdin>:"));
}

TEST_F(DeployImports, AsJsonAreOneDocument) {
  Put("ome-12-probes");
  const CliResult imported = Import({"-o", "json"});
  EXPECT_EQ(imported.code, kExitDone);
  const Json document = *json::Decode(imported.out);
  EXPECT_EQ(document["framework"], "ome");
  EXPECT_EQ(document["deployable"], true);
  EXPECT_THAT(document["file"].get<std::string>(), HasSubstr("app_name: my-test\n"));
  EXPECT_EQ(document["objects"][0]["name"], "my-test-mf-store");
  EXPECT_EQ(document["objects"][0]["action"], "change");
  Json probe;
  for (const Json& field : document["objects"][0]["fields"]) {
    if (field["path"].get<std::string>().ends_with("startupProbe.httpGet")) probe = field;
  }
  EXPECT_EQ(probe["before"], Json({{"path", "/startup"}, {"port", 80}}));
  EXPECT_TRUE(probe["after"].is_null());
}

TEST_F(DeployImports, WithAFaultyFileAreAsFarAsItGoes) {
  Put("ome-00-sample");
  server.Remove(kube::resources::kDeployments, "default", "my-test-mf-store");
  const CliResult imported = Import();
  EXPECT_EQ(imported.code, kExitInvalidConfig);
  EXPECT_THAT(imported.out, HasSubstr("inference_service:\n"));
  EXPECT_THAT(
      imported.err,
      AllOf(HasSubstr("note: Deployment my-test-mf-store does not exist in namespace default"),
            HasSubstr("<stdout>:2:1: an application with engine and decoder needs a store"),
            HasSubstr("error: the file on standard output cannot be deployed as it stands")));
}

TEST_F(DeployImports, AreRefusedWithTheReason) {
  const CliResult none = Import();
  EXPECT_EQ(none.code, kExitNotFound);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_THAT(none.err, HasSubstr("error: namespace default has no InferenceService"));
  EXPECT_EQ(Run({"deploy", "-f", "-"}, std::string(kAibrixConfig)).code, kExitDone);
  const CliResult ours = Run({"deploy", "--import", "q", "-n", "llm"});
  EXPECT_EQ(ours.code, kExitBlocked);
  EXPECT_THAT(ours.err, HasSubstr("hint: `mindgate deploy history q -n llm` lists its files"));
  server.Forbid("*", "inferenceservices");
  server.Forbid("*", "stormservices");
  const CliResult forbidden = Import();
  EXPECT_EQ(forbidden.code, kExitBlocked);
  EXPECT_THAT(forbidden.err, AllOf(HasSubstr("inferenceservices"), HasSubstr("stormservices")));
}

TEST(DeployImport, RefusesWhatDoesNotGoTogether) {
  const CliResult diff = Cli({"deploy", "--import", "a", "--diff"});
  EXPECT_EQ(diff.code, kExitUnusable);
  EXPECT_THAT(diff.err, HasSubstr("error: --import writes a file and deploys nothing"));
  for (const char* other : {"--init", "--schema"}) {
    const auto both = Cli({"deploy", "--import", "a", other, "ome"});
    EXPECT_EQ(both.code, kExitUnusable);
    EXPECT_EQ(both.err,
              "error: --import, --init and --schema each print something else\n"
              "hint: give one of the three\n");
  }
  EXPECT_THAT(Cli({"deploy", "--import", "A_b"}).err,
              HasSubstr("--import: \"A_b\" cannot be the name of an application"));
}

}  // namespace
}  // namespace mindgate::cli
