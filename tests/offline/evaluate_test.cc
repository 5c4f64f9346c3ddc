#include "offline/evaluate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"

namespace mindgate::offline {
namespace {

using json::Json;
using Texts = std::vector<std::pair<std::string, std::string>>;

Json ConfigMapOf(const std::string& name, const Json& data) {
  return {{"metadata", {{"namespace", "mindgate-system"}, {"name", name}}}, {"data", data}};
}

void Put(PolicyConfigMapSet& set, const Json& config_map) {
  set.Put(json::Document(config_map).root());
}

// Name and text of each, or what is wrong.
Texts TextsIn(const PolicyConfigMapSet& set) {
  const auto texts = set.Texts();
  if (!texts) return {{"error", texts.error().message()}};
  Texts read;
  for (const auto& text : *texts) {
    EXPECT_FALSE(text.found_in_folder) << "what is no object there is a fault";
    read.emplace_back(text.name, text.text);
  }
  return read;
}

TEST(PolicyConfigMapSet, TextsAreOrderedByNameAndKey) {
  PolicyConfigMapSet set;
  EXPECT_EQ(TextsIn(set), Texts());
  Put(set, ConfigMapOf("site", {{"b.yml", "1"}, {"a.yaml", "2"}, {"README.md", "3"}}));
  Put(set, ConfigMapOf("queues", {{"c.json", "4"}}));
  Put(set, ConfigMapOf("nothing-yet", Json::object()));
  const std::pair<std::string, std::string> queues = {
      "ConfigMap mindgate-system/queues, key c.json", "4"};
  EXPECT_EQ(TextsIn(set), (Texts{queues,
                                 {"ConfigMap mindgate-system/site, key a.yaml", "2"},
                                 {"ConfigMap mindgate-system/site, key b.yml", "1"}}));
  Put(set, ConfigMapOf("site", {{"b.yml", "5"}}));
  EXPECT_EQ(TextsIn(set), (Texts{queues, {"ConfigMap mindgate-system/site, key b.yml", "5"}}));
  set.Remove(json::Document(ConfigMapOf("queues", {})).root());
  set.Remove(json::Document(ConfigMapOf("unknown", {})).root());
  EXPECT_EQ(TextsIn(set), (Texts{{"ConfigMap mindgate-system/site, key b.yml", "5"}}));
}

TEST(PolicyConfigMapSet, AllFaultsAreNamedAtOnce) {
  PolicyConfigMapSet set;
  Put(set, ConfigMapOf("a", {{"policy", "1"}}));
  Json binary = ConfigMapOf("b", {{"good.yaml", "2"}});
  binary["binaryData"] = {{"bad.yaml", "/w=="}, {"picture.png", "/w=="}};
  Put(set, binary);
  set.PutTooLarge(json::Document(ConfigMapOf("c", {})).root());
  Put(set, ConfigMapOf("d", {{"good.yaml", "3"}}));
  EXPECT_EQ(
      TextsIn(set),
      (Texts{{"error",
              "ConfigMap mindgate-system/a: none of its keys ends in .yaml, .yml or .json, so "
              "it has no policies: name the keys so, or remove the label "
              "mindgate.io/policies\n"
              "ConfigMap mindgate-system/b, key bad.yaml: this is not a text: store it as "
              "UTF-8, under data\n"
              "ConfigMap mindgate-system/c: it is too large to be read"}}));
  Put(set, ConfigMapOf("a", {{"policy.yaml", "1"}}));
  Put(set, ConfigMapOf("b", {{"good.yaml", "2"}}));
  Put(set, ConfigMapOf("c", {{"good.yaml", "4"}}));
  EXPECT_EQ(TextsIn(set).size(), 4u) << "each replaces what was wrong before";
}

TEST(PolicyConfigMapSet, ABoundOnAllOfThem) {
  const std::string half(PolicyConfigMapSet::kMostBytes / 2, '#');
  PolicyConfigMapSet set;
  Put(set, ConfigMapOf("a", {{"a.yaml", half}}));
  Put(set, ConfigMapOf("b", {{"b.yaml", half}}));
  EXPECT_FALSE(set.is_crowded());
  Put(set, ConfigMapOf("c", {{"c.yaml", "1"}}));
  EXPECT_TRUE(set.is_crowded());
  EXPECT_EQ(
      TextsIn(set),
      (Texts{{"error",
              "ConfigMap mindgate-system/c: with it the policies have more than 16 MiB; 4 MiB "
              "are read"}}));
  Put(set, ConfigMapOf("b", {{"b.yaml", "1"}}));
  EXPECT_TRUE(set.is_crowded()) << "until c comes again";
  Put(set, ConfigMapOf("c", {{"c.yaml", "1"}}));
  EXPECT_FALSE(set.is_crowded());
  EXPECT_EQ(TextsIn(set).size(), 3u);
}

TEST(PolicyConfigMapSet, ABoundOnTheirKeys) {
  Json data = Json::object();
  for (size_t i = 0; i < admission::kMostPolicyFiles; ++i) data[std::to_string(i) + ".yaml"] = "";
  PolicyConfigMapSet set;
  Put(set, ConfigMapOf("a", data));
  EXPECT_EQ(TextsIn(set).size(), admission::kMostPolicyFiles);
  Put(set, ConfigMapOf("b", {{"one-more.yaml", ""}}));
  EXPECT_EQ(TextsIn(set),
            (Texts{{"error",
                    "the ConfigMaps with the label mindgate.io/policies have 1025 keys "
                    "with policies, more than 1024: put several policies under one "
                    "key"}}));
}

struct PolicyConfigMapsOnACluster : ::testing::Test {
  kube::testing::FakeApiServer server;
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};

  void Store(const std::string& ns, const std::string& name, const Json& labels) {
    server.Put(kube::resources::kConfigMaps,
               {{"metadata", {{"namespace", ns}, {"name", name}, {"labels", labels}}},
                {"data", {{"a.yaml", "text of " + name}}}});
  }
};

TEST_F(PolicyConfigMapsOnACluster, AreThoseWithTheLabelInOneNamespace) {
  Store("mindgate-system", "on", {{"mindgate.io/policies", "enabled"}});
  Store("mindgate-system", "off", {{"mindgate.io/policies", "disabled"}});
  Store("mindgate-system", "settings", Json::object());
  Store("serving", "of-a-tenant", {{"mindgate.io/policies", "enabled"}});
  const auto set = ListPolicyConfigMaps(client, "mindgate-system");
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(TextsIn(*set), (Texts{{"ConfigMap mindgate-system/on, key a.yaml", "text of on"}}));
}

TEST_F(PolicyConfigMapsOnACluster, AMissingRightToListThemIsReported) {
  server.Forbid("list", "configmaps");
  const auto set = ListPolicyConfigMaps(client, "mindgate-system");
  ASSERT_FALSE(set.has_value());
  const std::string message = set.error().message;
  EXPECT_EQ(PolicyConfigMapsFault("mindgate-system", set.error()),
            "policies.configMaps is true, and the ConfigMaps of namespace mindgate-system cannot "
            "be listed: " +
                message + "; allow get, list and watch of configmaps there, as the chart does");
  EXPECT_EQ(PolicyConfigMapsFault("mindgate-system", {.reason = kube::Reason::kUnreachable,
                                                      .message = "nobody listens"}),
            "policies.configMaps is true, and the ConfigMaps of namespace mindgate-system cannot "
            "be listed: nobody listens");
}

}  // namespace
}  // namespace mindgate::offline
