#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/status/release.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using kube::testing::When;
using ::mindgate::testing::Cli;
namespace resources = kube::resources;

const Json kOurTaint = {{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}};
const Json kForeignTaint = {{"key", "maintenance"}, {"effect", "NoSchedule"}};
// Ours by its key alone.
const Json kOtherEffect = {{"key", "mindgate.io/faulty"}, {"effect", "NoExecute"}};
const When kNodePatches = {.method = "PATCH", .target_part = "/nodes/"};

struct ReleaseNodes : ::testing::Test {
  FakeApiServer server;

  void PutNode(const std::string& name, Json taints) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}, {"labels", {{"rack", name.substr(0, 1)}}}}},
                {"spec", {{"podCIDR", "10.0.0.0/24"}, {"taints", std::move(taints)}}}});
  }
  Json SpecOf(const std::string& name) const {
    return server.Find(resources::kNodes, "", name)["spec"];
  }
  Json TaintsOf(const std::string& name) const {
    return SpecOf(name).value("taints", Json::array());
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "release-nodes");
    arguments.insert(arguments.end(), {"--server", server.url()});
    return Cli(arguments);
  }
};

TEST_F(ReleaseNodes, OfOursAndOfNobodyElse) {
  PutNode("a1", Json::array({kOurTaint}));
  PutNode("a2", {kForeignTaint, kOurTaint, kOtherEffect});
  PutNode("b1", {kForeignTaint, kOtherEffect});
  PutNode("b2", Json::array());
  EXPECT_EQ(Run({"--all", "--dry-run"}).out,
            "node/a1 would be released\nnode/a2 would be released\n");
  EXPECT_EQ(server.Count(kNodePatches), 0U);
  const auto reported = Run({"--all", "--yes"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(reported.out, "node/a1 released\nnode/a2 released\n");
  EXPECT_EQ(SpecOf("a1"), Json({{"podCIDR", "10.0.0.0/24"}, {"taints", Json::array()}}));
  EXPECT_EQ(TaintsOf("a2"), Json({kForeignTaint, kOtherEffect}));
  EXPECT_EQ(TaintsOf("b1"), Json({kForeignTaint, kOtherEffect}));
  EXPECT_EQ(server.Count(kNodePatches), 2U);
  EXPECT_EQ(Run({"--all", "--yes"}).out, "no nodes have a taint of mindgate\n");
}

TEST_F(ReleaseNodes, NothingIsRemovedUnlessSomethingNamesWhich) {
  PutNode("a1", Json::array({kOurTaint}));
  struct Case {
    std::vector<std::string> arguments;
    std::string err;
  };
  const std::vector<Case> cases = {
      {{"--yes"},
       "error: no nodes are selected, and pods may be placed on a node as soon as its taint is "
       "gone\nhint: give node names, -l SELECTOR or --all; --dry-run lists the nodes\n"},
      {{"--all", "a1", "--yes"},
       "error: names, -l and --all cannot be combined\nhint: use only one of them\n"},
      {{"--all"},
       "error: cannot ask for confirmation: standard input is not a terminal\nhint: use --yes to "
       "skip the question, or --dry-run to list the nodes\n"},
  };
  for (const Case& c : cases) {
    const auto reported = Run(c.arguments);
    EXPECT_EQ(reported.code, 2);
    EXPECT_EQ(reported.out, "");
    EXPECT_EQ(reported.err, c.err);
  }
  EXPECT_EQ(TaintsOf("a1"), Json(Json::array({kOurTaint})));
}

TEST_F(ReleaseNodes, NamesAndSelectorsChooseNodes) {
  for (const char* name : {"a1", "a2", "b1"}) PutNode(name, Json::array({kOurTaint}));
  PutNode("b2", Json::array({kForeignTaint}));
  EXPECT_EQ(Run({"-l", "rack=a", "--dry-run", "-o", "name"}).out, "node/a1\nnode/a2\n");
  const auto reported = Run({"a1", "b2", "c1", "--yes"});
  EXPECT_EQ(reported.code, 1);
  EXPECT_EQ(reported.out, "node/a1 released\n");
  EXPECT_EQ(reported.err,
            "error: node \"b2\" has no taint of mindgate\nerror: node \"c1\" does not exist\n");
  EXPECT_EQ(TaintsOf("a2"), Json(Json::array({kOurTaint})));
}

// client asks nobody, server asks the API server and changes nothing.
TEST_F(ReleaseNodes, DryRuns) {
  PutNode("a1", Json::array({kOurTaint}));
  EXPECT_EQ(Run({"--all", "--dry-run=server"}).out, "node/a1 would be released (server dry run)\n");
  EXPECT_EQ(server.Count({.method = "PATCH", .target_part = "dryRun=All"}), 1U);
  EXPECT_EQ(TaintsOf("a1"), Json(Json::array({kOurTaint})));
  EXPECT_EQ(Json::parse(Run({"--all", "--dry-run", "-o", "json"}).out),
            Json::parse(R"({"dryRun": "client", "nodes": [
              {"name": "a1", "outcome": "would be released"}]})"));
}

TEST_F(ReleaseNodes, ATerminalIsAsked) {
  PutNode("a1", Json::array({kOurTaint}));
  const auto ask = [this](const std::string& answer) {
    std::istringstream in(answer);
    std::ostringstream out;
    std::ostringstream err;
    Streams io{in, out, err};
    io.in_is_terminal = true;
    ReleaseOptions options;
    options.cluster.server = server.url();
    options.all = true;
    const int code = RunReleaseNodes(options, io);
    return std::to_string(code) + "\n" + out.str() + "|" + err.str();
  };
  const std::string question =
      "node/a1\nRemove the taint mindgate.io/faulty:NoSchedule from this node? [y/N] ";
  EXPECT_EQ(ask("n\n"), "1\n|" + question + "canceled: no taint was removed\n");
  EXPECT_EQ(TaintsOf("a1"), Json(Json::array({kOurTaint})));
  EXPECT_EQ(ask("y\n"), "0\nnode/a1 released\n|" + question);
  EXPECT_EQ(TaintsOf("a1"), Json::array());
}

// Somebody writes the node between our reading and our writing.
TEST_F(ReleaseNodes, WhatChangesMeanwhileIsReadAgain) {
  struct Case {
    const char* name;
    Json meanwhile;
    Json want;
    const char* out;
  };
  const std::vector<Case> cases = {
      {"another taint came first",
       {kForeignTaint, kOurTaint},
       Json::array({kForeignTaint}),
       "node/a1 released\n"},
      {"ours is gone", Json::array({kForeignTaint}), Json::array({kForeignTaint}),
       "node/a1 skipped: it was deleted or already released\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PutNode("a1", Json::array({kOurTaint}));
    const auto gate = server.Hold(kNodePatches);
    auto reported = std::async(std::launch::async, [&] { return Run({"--all", "--yes"}); });
    ASSERT_TRUE(gate->WaitUntilHeld());
    PutNode("a1", c.meanwhile);
    gate->Release();
    const auto result = reported.get();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, c.out);
    EXPECT_EQ(TaintsOf("a1"), c.want);
  }
}

// What always conflicts ends all the same.
TEST_F(ReleaseNodes, OneThatStaysIsAFailure) {
  PutNode("a1", Json::array({kOurTaint}));
  const Json conflict = {{"kind", "Status"},
                         {"code", 409},
                         {"reason", "Conflict"},
                         {"message", "the node \"a1\" has been modified"}};
  server.AnswerNext(100, kNodePatches, {.status = 409, .body = conflict.dump()});
  const auto reported = Run({"a1", "--yes", "-o", "json"});
  EXPECT_EQ(reported.code, 1);
  EXPECT_NE(reported.err.find("has been modified"), std::string::npos) << reported.err;
  EXPECT_EQ(Json::parse(reported.out)["nodes"][0]["outcome"], "failed");
  EXPECT_EQ(server.Count(kNodePatches), 5U);
}

TEST_F(ReleaseNodes, WhatMayNotBeListedOrChangedIsAnError) {
  PutNode("a1", Json::array({kOurTaint}));
  server.Forbid("patch", "nodes");
  EXPECT_EQ(Run({"--all", "--yes"}).code, 1);
  server.Forbid("list", "nodes");
  const auto reported = Run({"--all", "--yes"});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_NE(reported.err.find("nodes"), std::string::npos) << reported.err;
}

}  // namespace
}  // namespace mindgate::cli
