#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/status/release.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"

namespace mindgate::cli {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
using ::mindgate::testing::Cli;
namespace resources = kube::resources;

struct ReleaseGates : ::testing::Test {
  FakeApiServer server;

  void PutPod(const std::string& name, const std::string& phase,
              const std::vector<std::string>& gates) {
    Json pod = {{"metadata", {{"namespace", "serving"}, {"name", name}}},
                {"spec", Json::object()},
                {"status", {{"phase", phase}}}};
    for (const std::string& gate : gates)
      pod["spec"]["schedulingGates"].push_back({{"name", gate}});
    server.Put(resources::kPods, pod);
  }
  Json GatesOf(const std::string& name) const {
    return server.Find(resources::kPods, "serving", name)["spec"].value("schedulingGates",
                                                                        Json::array());
  }
  auto Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "release-gates");
    arguments.insert(arguments.end(), {"--server", server.url()});
    return Cli(arguments);
  }
};

constexpr const char* kOurs = "mindgate.io/elastic-scaling";

// Whatever labels they carry by now.
TEST_F(ReleaseGates, OfOursAndOfNobodyElse) {
  PutPod("ours", "Pending", {kOurs});
  PutPod("both", "Pending", {"example.com/quota", kOurs});
  PutPod("other", "Pending", {"example.com/quota"});
  PutPod("runs", "Running", {});
  EXPECT_EQ(Run({"-A", "--all", "--dry-run"}).out,
            "pod/both in namespace serving would be released\n"
            "pod/ours in namespace serving would be released\n");
  EXPECT_EQ(GatesOf("ours").size(), 1U);
  const auto reported = Run({"-n", "serving", "--all", "--yes"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(reported.out,
            "pod/both in namespace serving released\npod/ours in namespace serving released\n");
  EXPECT_EQ(GatesOf("ours"), Json::array());
  EXPECT_EQ(GatesOf("both"), Json({{{"name", "example.com/quota"}}}));
  EXPECT_EQ(GatesOf("other"), Json({{{"name", "example.com/quota"}}}));
  EXPECT_EQ(Run({"-A", "--all", "--yes"}).out, "no pods have a gate of mindgate\n");
}

TEST_F(ReleaseGates, NothingIsOpenedUnlessSomethingNamesWhich) {
  PutPod("p0", "Pending", {kOurs});
  struct Case {
    std::vector<std::string> arguments;
    std::string err;
  };
  const std::vector<Case> cases = {
      {{"-A"},
       "error: no pods are selected, and a pod starts as soon as its gate is open\n"
       "hint: give pod names, -l SELECTOR or --all; --dry-run lists the pods\n"},
      {{"-A", "--yes"},
       "error: no pods are selected, and a pod starts as soon as its gate is open\n"
       "hint: give pod names, -l SELECTOR or --all; --dry-run lists the pods\n"},
      {{"--all", "p0", "--yes"},
       "error: names, -l and --all cannot be combined\nhint: use only one of them\n"},
      {{"-A", "p0", "--yes"},
       "error: names cannot be combined with -A: the same name may exist in several namespaces\n"
       "hint: replace -A with -n NAMESPACE\n"},
      {{"--all", "--dry-run=always"},
       "error: --dry-run: \"always\" is not supported: write --dry-run=none, client or server; "
       "--dry-run alone means client\nhint: `mindgate release-gates --help` lists the flags and "
       "arguments\n"},
  };
  for (const Case& c : cases) {
    const auto reported = Run(c.arguments);
    EXPECT_EQ(reported.code, 2);
    EXPECT_EQ(reported.out, "");
    EXPECT_EQ(reported.err, c.err);
  }
  EXPECT_EQ(server.Count({.method = "PATCH"}), 0U);
}

TEST_F(ReleaseGates, NamesAndSelectorsChoosePods) {
  for (const char* name : {"p0", "p1", "p2"}) PutPod(name, "Pending", {kOurs});
  EXPECT_EQ(Run({"-n", "serving", "p1", "-o", "name", "--yes"}).out, "pod/p1\n");
  EXPECT_EQ(GatesOf("p1"), Json::array());
  EXPECT_EQ(GatesOf("p0").size(), 1U);
  const auto missing = Run({"-n", "serving", "p1", "p2", "--yes"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "pod/p2 in namespace serving released\n");
  EXPECT_EQ(missing.err,
            "error: pod \"p1\" in namespace serving does not exist or has no gate of mindgate\n");
  Json pod = server.Find(resources::kPods, "serving", "p0");
  PutPod("p3", "Pending", {kOurs});
  pod["metadata"]["labels"] = {{"jobID", "chat"}};
  server.Put(resources::kPods, pod);
  EXPECT_EQ(Run({"-A", "-l", "jobID=chat", "--dry-run", "-o", "name"}).out, "pod/p0\n");
}

// client asks nobody, server asks the API server and changes nothing.
TEST_F(ReleaseGates, DryRuns) {
  PutPod("p0", "Pending", {kOurs});
  EXPECT_EQ(Run({"-A", "--all", "--dry-run=client"}).out,
            "pod/p0 in namespace serving would be released\n");
  EXPECT_EQ(server.Count({.method = "PATCH"}), 0U);
  EXPECT_EQ(Run({"-A", "--all", "--dry-run=server"}).out,
            "pod/p0 in namespace serving would be released (server dry run)\n");
  EXPECT_EQ(server.Count({.method = "PATCH", .target_part = "dryRun=All"}), 1U);
  EXPECT_EQ(GatesOf("p0").size(), 1U);
  EXPECT_EQ(Json::parse(Run({"-A", "--all", "--dry-run", "-o", "json"}).out),
            Json::parse(R"({"dryRun": "client", "pods": [
              {"namespace": "serving", "name": "p0", "outcome": "would be released"}]})"));
  EXPECT_EQ(Run({"-A", "--all", "--dry-run=none", "--yes"}).out,
            "pod/p0 in namespace serving released\n");
}

TEST_F(ReleaseGates, ATerminalIsAsked) {
  PutPod("p0", "Pending", {kOurs});
  PutPod("p1", "Pending", {kOurs});
  const auto ask = [this](const std::string& answer, bool terminal) {
    std::istringstream in(answer);
    std::ostringstream out;
    std::ostringstream err;
    Streams io{in, out, err};
    io.in_is_terminal = terminal;
    ReleaseGatesOptions options;
    options.cluster.server = server.url();
    options.all = true;
    options.all_namespaces = true;
    const int code = RunReleaseGates(options, io);
    return std::to_string(code) + "\n" + out.str() + "|" + err.str();
  };
  const std::string question =
      "pod/p0 in namespace serving\npod/p1 in namespace serving\n"
      "Open the gates of these 2 pods? [y/N] ";
  EXPECT_EQ(ask("n\n", true), "1\n|" + question + "canceled: no gate was opened\n");
  EXPECT_EQ(ask("", true), "1\n|" + question + "canceled: no gate was opened\n");
  EXPECT_EQ(ask("yes\n", false),
            "2\n|error: cannot ask for confirmation: standard input is not a terminal\nhint: use "
            "--yes to skip the question, or --dry-run to list the pods\n");
  EXPECT_EQ(GatesOf("p0").size(), 1U);
  EXPECT_EQ(ask("Y\n", true),
            "0\npod/p0 in namespace serving released\npod/p1 in namespace serving released\n|" +
                question);
}

TEST_F(ReleaseGates, OneThatStaysIsAFailure) {
  PutPod("p0", "Pending", {kOurs});
  server.Forbid("patch", "pods");
  const auto reported = Run({"-A", "--all", "--yes"});
  EXPECT_EQ(reported.code, 1);
  EXPECT_EQ(reported.out, "");
  EXPECT_NE(reported.err.find("p0"), std::string::npos) << reported.err;
}

// The answer is the same when the gate is gone.
TEST_F(ReleaseGates, WhatAPolicyRefusesIsAFailure) {
  PutPod("p0", "Pending", {kOurs});
  server.AnswerNext(1, {.method = "PATCH"},
                    kube::testing::StatusAnswer(422, "Invalid", "denied by a policy"));
  const auto reported = Run({"-A", "--all", "--yes"});
  EXPECT_EQ(reported.code, 1);
  EXPECT_EQ(reported.out, "");
  EXPECT_NE(reported.err.find("denied by a policy"), std::string::npos) << reported.err;
}

TEST_F(ReleaseGates, WhatMayNotBeListedIsAnError) {
  server.Forbid("list", "pods");
  const auto reported = Run({"-A", "--all", "--yes"});
  EXPECT_EQ(reported.code, 2);
  EXPECT_EQ(reported.out, "");
  EXPECT_NE(reported.err.find("pods"), std::string::npos) << reported.err;
}

}  // namespace
}  // namespace mindgate::cli
