#include "webhook/namespace_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/eventually.h"
#include "webhook/runtime_fixture.h"

namespace mindgate::webhook {
namespace {

using ::mindgate::testing::Eventually;
using Labels = schemas::NamespaceLabels;
namespace resources = kube::resources;

json::Json Namespace(const std::string& name, const json::Json& labels) {
  return {{"metadata", {{"name", name}, {"labels", labels}}}};
}

struct NamespaceLookupFixture : testing::RuntimeFixture {
  static bool Has(const NamespaceLookup& lookup, const std::string& ns,
                  const std::optional<Labels>& labels) {
    return Eventually([&] { return lookup.LabelsOf(ns) == labels; });
  }
};

TEST_F(NamespaceLookupFixture, LabelsAreFollowed) {
  server.Put(resources::kNamespaces, Namespace("team-a", {{"tier", "gold"}, {"empty", ""}}));
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "plain"}}}});
  const NamespaceLookup lookup(client, sleeper, clock, logger);
  EXPECT_TRUE(Has(lookup, "team-a", Labels{{"tier", "gold"}, {"empty", ""}}));
  EXPECT_TRUE(Has(lookup, "plain", Labels{}));
  EXPECT_EQ(lookup.LabelsOf("team-b"), std::nullopt);
  EXPECT_THAT(lookup.Status(), ::testing::EndsWith(" Namespaces (lists 1)"));
  ASSERT_TRUE(server.WaitForWatches(1));
  server.Put(resources::kNamespaces, Namespace("team-a", {{"tier", "lead"}}));
  server.Put(resources::kNamespaces, Namespace("team-b", {{"tier", "gold"}}));
  EXPECT_TRUE(Has(lookup, "team-a", Labels{{"tier", "lead"}}));
  EXPECT_TRUE(Has(lookup, "team-b", Labels{{"tier", "gold"}}));
  server.Remove(resources::kNamespaces, "", "team-b");
  EXPECT_TRUE(Has(lookup, "team-b", std::nullopt));
}

TEST_F(NamespaceLookupFixture, WhatFindsNoRoomIsNotKnown) {
  server.Put(resources::kNamespaces, Namespace("large", {{"a", std::string(60, 'x')}}));
  server.Put(resources::kNamespaces, Namespace("small", {{"a", "b"}}));
  const NamespaceLookup lookup(client, sleeper, clock, logger, {.bytes_of_one = 40});
  EXPECT_TRUE(Has(lookup, "small", Labels{{"a", "b"}}));
  EXPECT_EQ(lookup.LabelsOf("large"), std::nullopt);
  EXPECT_THAT(Lines(), ::testing::Contains(::testing::HasSubstr("labels of a namespace are too "
                                                                "large")));
}

TEST_F(NamespaceLookupFixture, WithTheApiServerAwayWhatWasKnownStays) {
  server.Put(resources::kNamespaces, Namespace("team-a", {{"tier", "gold"}}));
  const NamespaceLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(server.WaitForWatches(1));
  ASSERT_TRUE(Has(lookup, "team-a", Labels{{"tier", "gold"}}));
  server.Stop();
  ASSERT_TRUE(Eventually([&] {
    return !Lines().empty() &&
           Lines().back().find("namespaces cannot be watched now") != std::string::npos;
  }));
  EXPECT_EQ(lookup.LabelsOf("team-a"), (Labels{{"tier", "gold"}}));
}

}  // namespace
}  // namespace mindgate::webhook
