#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admission/admit.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "webhook/live_inputs.h"
#include "webhook/runtime_fixture.h"

namespace mindgate::webhook {
namespace {

using ::mindgate::testing::Eventually;
using testing::NpuRuntime;
using testing::Service;
namespace resources = kube::resources;

using RuntimeLookupFixture = testing::RuntimeFixture;

TEST_F(RuntimeLookupFixture, AnInferenceServiceIsInjectedByWhatItsRuntimeAsksFor) {
  ServeRuntimes();
  server.Put(resources::kServingRuntimes, NpuRuntime("npu", "serving"));
  server.Put(resources::kClusterServingRuntimes, NpuRuntime("npu-everywhere"));
  const RuntimeLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(Eventually([&] {
    return Knows(lookup, resources::kServingRuntimes, "serving", "npu") &&
           Knows(lookup, resources::kClusterServingRuntimes, "", "npu-everywhere");
  }));
  const auto known = lookup.Get();
  EXPECT_GT(Changes(Service("npu", "ServingRuntime"), known.get()), 0);
  EXPECT_GT(Changes(Service("npu-everywhere", "ClusterServingRuntime"), known.get()), 0);
  EXPECT_EQ(Changes(Service("another", "ServingRuntime"), known.get()), 0);
  EXPECT_EQ(Changes(Service("npu", "ServingRuntime"), nullptr), 0);
  EXPECT_EQ(lookup.Status(), "1 ServingRuntimes (lists 1), 1 ClusterServingRuntimes (lists 1)");
}

TEST_F(RuntimeLookupFixture, WhatComesAndGoesIsFollowedAndWhatWasTakenStays) {
  ServeRuntimes();
  const RuntimeLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(server.WaitForWatches(2));
  EXPECT_TRUE(lookup.Get()->IsComplete("ome.io", "ServingRuntime"));
  server.Put(resources::kServingRuntimes, NpuRuntime("npu", "serving"));
  ASSERT_TRUE(
      Eventually([&] { return Knows(lookup, resources::kServingRuntimes, "serving", "npu"); }));
  const auto taken = lookup.Get();
  server.Remove(resources::kServingRuntimes, "serving", "npu");
  ASSERT_TRUE(
      Eventually([&] { return !Knows(lookup, resources::kServingRuntimes, "serving", "npu"); }));
  EXPECT_NE(taken->Find("ome.io", "ServingRuntime", "serving", "npu"), nullptr);
}

TEST_F(RuntimeLookupFixture, RuntimesOfANamespaceComeInNameOrder) {
  ServeRuntimes();
  for (const char* name : {"c", "a", "b"}) {
    server.Put(resources::kServingRuntimes, NpuRuntime(name, "serving"));
  }
  server.Put(resources::kServingRuntimes, NpuRuntime("d", "other"));
  const RuntimeLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(Eventually([&] { return Knows(lookup, resources::kServingRuntimes, "other", "d"); }));
  std::vector<std::string> names;
  lookup.Get()->ForEach("ome.io", "ServingRuntime", "serving", [&](const json::Value& runtime) {
    names.emplace_back(*json::AsString(json::FindPath(runtime, {"metadata", "name"})));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(RuntimeLookupFixture, WithoutTheDefinitionsNothingIsKnownAndThatIsReportedOnce) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "serving"}}}});
  {
    const RuntimeLookup lookup(client, sleeper, clock, logger);
    for (const char* path : {"/servingruntimes", "/clusterservingruntimes"}) {
      ASSERT_TRUE(server.WaitForRequests({.target_part = path}, 10));
    }
    EXPECT_FALSE(lookup.Get()->IsComplete("ome.io", "ServingRuntime"));
    EXPECT_EQ(lookup.Get()->Find("ome.io", "ServingRuntime", "serving", "npu"), nullptr);
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(lines.size(), 2) << "one line for each kind, however often it was tried";
}

TEST_F(RuntimeLookupFixture, WithTheApiServerAwayItClaimsNothingAndKeepsWhatItHas) {
  ServeRuntimes();
  server.Put(resources::kServingRuntimes, NpuRuntime("npu", "serving"));
  const RuntimeLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(server.WaitForWatches(2));
  ASSERT_TRUE(
      Eventually([&] { return Knows(lookup, resources::kServingRuntimes, "serving", "npu"); }));
  server.Stop();
  ASSERT_TRUE(Eventually([&] { return !lookup.Get()->IsComplete("ome.io", "ServingRuntime"); }));
  EXPECT_TRUE(Knows(lookup, resources::kServingRuntimes, "serving", "npu"));
}

}  // namespace
}  // namespace mindgate::webhook
