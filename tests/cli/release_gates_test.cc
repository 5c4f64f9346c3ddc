#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  EXPECT_EQ(Run({"-A", "--dry-run"}).out,
            "pod/both in namespace serving would be released\n"
            "pod/ours in namespace serving would be released\n");
  EXPECT_EQ(GatesOf("ours").size(), 1U);
  const auto told = Run({"-n", "serving"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out,
            "pod/both in namespace serving released\npod/ours in namespace serving released\n");
  EXPECT_EQ(GatesOf("ours"), Json::array());
  EXPECT_EQ(GatesOf("both"), Json({{{"name", "example.com/quota"}}}));
  EXPECT_EQ(GatesOf("other"), Json({{{"name", "example.com/quota"}}}));
  EXPECT_EQ(Run({"-A"}).out, "no pod has a gate of mindgate\n");
}

TEST_F(ReleaseGates, OneThatStaysIsAFailure) {
  PutPod("p0", "Pending", {kOurs});
  server.Forbid("patch", "pods");
  const auto told = Run({"-A"});
  EXPECT_EQ(told.code, 1);
  EXPECT_EQ(told.out, "");
  EXPECT_NE(told.err.find("p0"), std::string::npos) << told.err;
}

TEST_F(ReleaseGates, WhatMayNotBeListedIsAnError) {
  server.Forbid("list", "pods");
  const auto told = Run({"-A"});
  EXPECT_EQ(told.code, 2);
  EXPECT_EQ(told.out, "");
  EXPECT_NE(told.err.find("pods"), std::string::npos) << told.err;
}

}  // namespace
}  // namespace mindgate::cli
