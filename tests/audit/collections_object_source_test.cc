#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/collections.h"
#include "json/decode.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"

namespace mindgate::audit {
namespace {

using json::Json;
namespace resources = kube::resources;

Json Object(const kube::Resource& resource, const std::string& ns, const std::string& name) {
  Json object = {{"apiVersion", resource.api_version()},
                 {"kind", resource.kind},
                 {"metadata", {{"name", name}}}};
  if (!ns.empty()) object["metadata"]["namespace"] = ns;
  return object;
}

// "v1 Pod infer/a" of each object that the source gives.
std::vector<std::string> Read(ObjectSource& source, const kube::Resource& resource) {
  std::vector<std::string> read;
  const auto done = source.ForEach(
      resource, {.started = [&] { read.clear(); },
                 .item =
                     [&](const json::Value& object) {
                       read.push_back(json::TextAt(object, {"apiVersion"}) + " " +
                                      json::TextAt(object, {"kind"}) + " " +
                                      json::TextAt(object, {"metadata", "namespace"}) + "/" +
                                      json::TextAt(object, {"metadata", "name"}));
                     }});
  if (!done) read = {std::string(kube::ReasonName(done.error().reason))};
  return read;
}

struct Objects : ::testing::Test {
  kube::testing::FakeApiServer server;
  kube::testing::FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(kube::testing::AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper};
  const kube::Resource runtimes = resources::kClusterServingRuntimes;

  Objects() {
    for (const char* ns : {"infer", "train"}) {
      server.Put(resources::kPods, Object(resources::kPods, ns, "a"));
    }
    server.Register({.resource = runtimes, .custom = true});
    server.Put(runtimes, Object(runtimes, "", "llama"));
  }
};

// The lists of the API server's own kinds do not say what their items are.
TEST_F(Objects, OfTheApiServerHaveTheirKind) {
  LiveObjects all(client, "");
  EXPECT_EQ(Read(all, resources::kPods),
            (std::vector<std::string>{"v1 Pod infer/a", "v1 Pod train/a"}));
  LiveObjects one(client, "train");
  EXPECT_EQ(Read(one, resources::kPods), std::vector<std::string>{"v1 Pod train/a"});
  EXPECT_EQ(Read(one, runtimes),
            std::vector<std::string>{"ome.io/v1beta1 ClusterServingRuntime /llama"})
      << "what is in no namespace is read all the same";
  EXPECT_EQ(Read(one, resources::kNamespaces), std::vector<std::string>{"v1 Namespace /train"});
  server.Forbid("list", "pods");
  EXPECT_EQ(Read(all, resources::kPods), std::vector<std::string>{"Forbidden"});
  EXPECT_EQ(Read(all, ResourceOf(schemas::InfoOf(schemas::Kind::kAscendJob))),
            std::vector<std::string>{"NotFound"});
}

TEST(SnapshotObjectsTest, AreThoseOfANamespace) {
  std::vector<std::unique_ptr<json::Document>> documents;
  std::vector<const json::Value*> objects;
  for (const Json& object :
       {Object(resources::kPods, "infer", "a"), Object(resources::kPods, "train", "b"),
        Object(resources::kClusterServingRuntimes, "", "llama")}) {
    documents.push_back(std::make_unique<json::Document>(object));
    objects.push_back(&documents.back()->root());
  }
  SnapshotObjects all(objects, "");
  EXPECT_EQ(Read(all, resources::kPods),
            (std::vector<std::string>{"v1 Pod infer/a", "v1 Pod train/b"}));
  SnapshotObjects one(objects, "train");
  EXPECT_EQ(Read(one, resources::kPods), std::vector<std::string>{"v1 Pod train/b"});
  EXPECT_EQ(Read(one, resources::kClusterServingRuntimes).size(), 1u);
  EXPECT_EQ(Read(one, resources::kDeployments), std::vector<std::string>());
  const auto has = [&one](schemas::Kind kind) { return one.HasAny(schemas::InfoOf(kind)); };
  EXPECT_TRUE(has(schemas::Kind::kPod));
  EXPECT_TRUE(has(schemas::Kind::kClusterServingRuntime));
  EXPECT_FALSE(has(schemas::Kind::kDeployment));
  EXPECT_FALSE(SnapshotObjects(objects, "infer").HasAny(schemas::InfoOf(schemas::Kind::kJob)));
}

}  // namespace
}  // namespace mindgate::audit
