// What the lookup keeps of runtimes: all that decisions read, and never more than its bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "admission/admit.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "webhook/live_inputs.h"
#include "webhook/runtime_fixture.h"

namespace mindgate::webhook {
namespace {

using json::Json;
using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using ::mindgate::testing::Eventually;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
namespace resources = kube::resources;

// What no decision reads.
Json WithLongArguments(Json runtime, size_t bytes) {
  runtime["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
      std::string(bytes / 2, 'x');
  runtime["spec"]["engineConfig"]["runner"]["args"] = {std::string(bytes / 2, 'x')};
  return runtime;
}
// What they do read.
Json WithLongVariable(Json runtime, size_t bytes) {
  runtime["spec"]["engineConfig"]["runner"]["env"] = {
      {{"name", "SCRIPT"}, {"value", std::string(bytes, 'x')}}};
  return runtime;
}

struct RuntimeBoundsTest : testing::RuntimeFixture {
  void SetUp() override { ServeRuntimes(); }
  static bool Knows(const RuntimeLookup& lookup, const std::string& name,
                    const std::string& ns = "serving") {
    return RuntimeFixture::Knows(lookup, resources::kServingRuntimes, ns, name);
  }
  static std::set<std::string> Known(const RuntimeLookup& lookup, const std::string& ns) {
    std::set<std::string> names;
    lookup.Get()->ForEach("ome.io", "ServingRuntime", ns, [&](const json::Value& runtime) {
      names.emplace(*json::AsString(json::FindPath(runtime, {"metadata", "name"})));
    });
    return names;
  }
  static bool IsComplete(const RuntimeLookup& lookup) {
    return lookup.Get()->IsComplete("ome.io", "ServingRuntime");
  }
  static size_t Changes(const RuntimeLookup& lookup, const std::string& runtime) {
    return RuntimeFixture::Changes(testing::Service(runtime), lookup.Get().get());
  }
};

TEST_F(RuntimeBoundsTest, SixRuntimesOfMoreThanAMegabyte) {
  constexpr size_t kLarge = 1'400'000;
  for (const char* name : {"a", "b", "c"}) {
    server.Put(resources::kServingRuntimes,
               WithLongArguments(testing::NpuRuntime(name, "serving"), kLarge));
  }
  for (const char* name : {"d", "e", "f"}) {
    server.Put(resources::kServingRuntimes,
               WithLongVariable(testing::NpuRuntime(name, "serving"), kLarge));
  }
  const RuntimeLookup lookup(client, sleeper, clock, logger);
  ASSERT_TRUE(server.WaitForWatches(2));
  EXPECT_EQ(Known(lookup, "serving"), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_LE(lookup.bytes(), 3 * 4096u);
  EXPECT_EQ(lookup.left_out(), 3u);
  EXPECT_EQ(lookup.Status(),
            "6 ServingRuntimes (lists 1; 3 too large or too many to be kept), 0 "
            "ClusterServingRuntimes (lists 1)");
  EXPECT_THAT(Lines(), ElementsAre(AllOf(HasSubstr("a runtime is too large"),
                                         HasSubstr("serving/d"), HasSubstr("262144"))));
  // What is known counts, and what is not known is not said to be absent.
  EXPECT_GT(Changes(lookup, "a"), 0u);
  EXPECT_EQ(Changes(lookup, "d"), 0u);
  EXPECT_FALSE(IsComplete(lookup));
  EXPECT_TRUE(lookup.Get()->IsComplete("ome.io", "ClusterServingRuntime"));

  for (const char* name : {"d", "e"})
    server.Put(resources::kServingRuntimes, testing::NpuRuntime(name, "serving"));
  server.Remove(resources::kServingRuntimes, "serving", "f");
  ASSERT_TRUE(Eventually([&] { return IsComplete(lookup); }));
  EXPECT_GT(Changes(lookup, "d"), 0u);
  EXPECT_EQ(lookup.left_out(), 0u);
  EXPECT_THAT(Lines(), SizeIs(1));
}

// An object that not even a page can hold alone.
TEST_F(RuntimeBoundsTest, OfWhatCannotBeReadTheNameIsKnown) {
  server.Put(resources::kServingRuntimes,
             WithLongVariable(testing::NpuRuntime("large", "serving"), 20 * 1024));
  server.Put(resources::kServingRuntimes, testing::NpuRuntime("small", "serving"));
  kube::Client narrow(*transport, sleeper, {.page_bytes = 4 * 1024, .object_bytes = 8 * 1024});
  const RuntimeLookup lookup(narrow, sleeper, clock, logger);
  ASSERT_TRUE(server.WaitForWatches(2));
  EXPECT_EQ(Known(lookup, "serving"), std::set<std::string>{"small"});
  EXPECT_FALSE(IsComplete(lookup));
  EXPECT_EQ(lookup.left_out(), 1u);
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("serving/large")));
}

size_t BytesOf(const Json& runtime) { return Runtime::BytesOf(json::Document(runtime).root()); }

TEST_F(RuntimeBoundsTest, WhatFindsNoRoomComesWhenThereIsSome) {
  const auto runtime = [](const std::string& ns, const std::string& name) {
    return WithLongVariable(testing::NpuRuntime(name, ns), 4000);
  };
  // Three of one namespace and four of all.
  const size_t one = BytesOf(runtime("x", "y")) + 500;  // for uid and resourceVersion
  const RuntimeBounds bounds{
      .bytes_of_one = one, .bytes_of_namespace = 3 * one, .bytes_of_all = 4 * one};
  for (const char* name : {"a", "b", "c", "d"}) {
    server.Put(resources::kServingRuntimes, runtime("greedy", name));
  }
  server.Put(resources::kServingRuntimes, runtime("other", "e"));
  const RuntimeLookup lookup(client, sleeper, clock, logger, bounds);
  ASSERT_TRUE(server.WaitForWatches(2));
  EXPECT_EQ(Known(lookup, "greedy"), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(Known(lookup, "other"), std::set<std::string>{"e"});
  EXPECT_LE(lookup.bytes(), bounds.bytes_of_all);
  EXPECT_FALSE(IsComplete(lookup));

  // There is no room for another one, until one goes and a watch ends.
  server.Put(resources::kServingRuntimes, runtime("other", "f"));
  ASSERT_TRUE(Eventually([&] { return lookup.left_out() == 2; }));
  server.Remove(resources::kServingRuntimes, "greedy", "a");
  ASSERT_TRUE(Eventually([&] { return !Knows(lookup, "a", "greedy"); }));
  EXPECT_FALSE(Knows(lookup, "d", "greedy"));
  server.CutWatches(FakeApiServer::Cut::kOrderly);
  ASSERT_TRUE(Eventually([&] { return Knows(lookup, "d", "greedy"); }));
  EXPECT_EQ(lookup.left_out(), 1u);
  EXPECT_LE(lookup.bytes(), bounds.bytes_of_all);
  server.Remove(resources::kServingRuntimes, "greedy", "b");
  server.Put(resources::kServingRuntimes, runtime("other", "f"));
  ASSERT_TRUE(Eventually([&] { return IsComplete(lookup); }));
  EXPECT_EQ(Known(lookup, "greedy"), (std::set<std::string>{"c", "d"}));
  EXPECT_EQ(Known(lookup, "other"), (std::set<std::string>{"e", "f"}));
}

// A full house takes changes of what is in it.
TEST_F(RuntimeBoundsTest, AChangeNeedsTheRoomOfTheDifferenceOnly) {
  const Json runtime = WithLongVariable(testing::NpuRuntime("a", "serving"), 4000);
  const size_t one = BytesOf(runtime) + 500;
  const RuntimeLookup lookup(client, sleeper, clock, logger,
                             {.bytes_of_one = one, .bytes_of_namespace = one, .bytes_of_all = one});
  ASSERT_TRUE(server.WaitForWatches(2));
  for (int i = 0; i < 3; ++i) {
    const std::string version =
        server.Put(resources::kServingRuntimes, runtime)["metadata"]["resourceVersion"];
    ASSERT_TRUE(Eventually([&] {
      const auto known = lookup.Get();
      const json::Value* found = known->Find("ome.io", "ServingRuntime", "serving", "a");
      return found != nullptr &&
             json::AsString(json::FindPath(*found, {"metadata", "resourceVersion"})) == version;
    }));
    EXPECT_LE(lookup.bytes(), one);
    EXPECT_TRUE(IsComplete(lookup));
  }
}

// --- what is not kept does not matter ------------------------------------------------------------

// Runtimes and services with everything that decisions read, and more.
constexpr const char* kRuntime = R"(
apiVersion: ome.io/v1beta1
kind: ServingRuntime
metadata:
  name: r
  namespace: serving
  labels: {fault-retry-times: "3", mindgate.io/inject: enabled}
  annotations: {sp-block: "16", a: b}
spec:
  acceleratorRequirements: {minMemory: 1}
  nodeSelector: {accelerator-type: module-a3-16-super-pod}
  schedulerName: volcano
  supportedModelFormats: [{name: m}]
  engineConfig:
    labels: {fault-scheduling: grace, huawei.com/scheduler.softShareDev.aicoreQuota: "1"}
    annotations: {sp-block: "16", huawei.com/schedule_minAvailable: "4", ome.io/volcano-queue: q}
    minReplicas: 2
    maxReplicas: 4
    deploymentStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
    schedulerName: default-scheduler
    restartPolicy: Always
    nodeSelector: {accelerator: huawei-Ascend910, host-arch: huawei-arm}
    volumes: [{name: v, emptyDir: {}}]
    runner:
      name: engine
      image: i
      args: [a, b]
      env:
      - {name: A, value: a}
      - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: ASCEND_VISIBLE_DEVICES, value: "0"}
      resources: {limits: {huawei.com/Ascend910: 16}, requests: {huawei.com/Ascend910: 16}}
    containers:
    - {name: side, image: i, env: [{name: A, value: a}], resources: {limits: {huawei.com/Ascend910: 1}}}
    initContainers:
    - {name: first, image: i, env: [{name: B, value: b}], resources: {limits: {huawei.com/npu-core: 1}}}
  decoderConfig:
    labels: {pod-rescheduling: "on"}
    annotations: {huawei.com/schedule_policy: chip4-node8, ome.io/deploymentMode: MultiNode}
    leader:
      schedulerName: volcano
      nodeSelector: {accelerator-type: card-910b-2}
      runner: {name: leader, resources: {limits: {huawei.com/Ascend910: 8}}}
      containers: [{name: side, env: [{name: A, value: a}]}]
    worker:
      size: 3
      schedulerName: other
      nodeSelector: {accelerator-type: card-910b-2}
      runner: {name: worker, env: [{name: A, value: a}], resources: {requests: {huawei.com/Ascend910: 8}}}
  routerConfig:
    runner: {name: router, image: i}
)";
constexpr const char* kServices[] = {
    "engine: {}",
    "engine: {minReplicas: 4}",
    "engine: {minReplicas: 4, deploymentStrategy: {rollingUpdate: {maxSurge: 1}}}",
    "engine: {minReplicas: 1}, decoder: {minReplicas: 2}",
    "engine: {minReplicas: 1}, decoder: {minReplicas: 2, leader: {}, worker: {}}, router: {}",
    "engine: {leader: {runner: {name: a}}, worker: {size: 1}}, decoder: {runner: {name: b}}",
    "engine: {runner: {image: j}, schedulerName: volcano}, decoder: {worker: {runner: {image: j}}}",
    "engine: {labels: {fault-scheduling: force}, annotations: {sp-block: '8'}, runner: {name: "
    "engine, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: "
    "b}, {name: ASCEND_VISIBLE_DEVICES, value: '0'}]}}",
    "engine: {containers: [{name: side, resources: {limits: {huawei.com/Ascend910: 2}}}], "
    "nodeSelector: {accelerator-type: x}}",
    "engine: {runner: {name: engine, resources: {limits: {huawei.com/npu: 4}}}}, "
    "decoder: {leader: {runner: {name: leader, env: [{name: A, value: a}]}}}",
    "predictor: {minReplicas: 1}",
    "engine: {minReplicas: 0}, acceleratorSelector: {policy: x}",
};

Json Yaml(const std::string& text) { return json::DecodeYaml(text).value().at(0).value; }

// Every member and element that `tree` has.
void AddPointers(const Json& tree, const Json::json_pointer& at,
                 std::vector<Json::json_pointer>& pointers) {
  for (const auto& [key, value] : tree.items()) {
    const auto below = tree.is_array() ? at / static_cast<size_t>(std::stoul(key)) : at / key;
    pointers.push_back(below);
    if (value.is_structured()) AddPointers(value, below, pointers);
  }
}
Json Without(Json tree, const Json::json_pointer& pointer) {
  Json& parent = tree.at(pointer.parent_pointer());
  if (parent.is_array()) {
    parent.erase(std::stoul(pointer.back()));
  } else {
    parent.erase(pointer.back());
  }
  return tree;
}

class OneRuntime final : public schemas::ObjectLookup {
 public:
  explicit OneRuntime(const json::Value& runtime) : runtime_(runtime) {}
  const json::Value* Find(std::string_view group, std::string_view kind, std::string_view,
                          std::string_view) const override {
    return group == "ome.io" && kind == "ServingRuntime" ? &runtime_ : nullptr;
  }
  bool IsComplete(std::string_view, std::string_view) const override { return false; }
  void ForEach(std::string_view, std::string_view, std::string_view,
               const std::function<void(const json::Value&)>&) const override {}

 private:
  const json::Value& runtime_;
};

// All that is said and done about a service.
std::string Decided(const json::Value& service, const json::Value& runtime) {
  const OneRuntime objects(runtime);
  schemas::AdmissionRequest request;
  request.object = &service;
  request.objects = &objects;
  admission::Options options;
  options.explain = true;
  const auto verdict = admission::Admit(request, schemas::Config(), options);
  std::string text = json::PatchText(verdict.patch) + "\n";
  for (const auto& held : verdict.withheld) text += held.path + ": " + held.reason + "\n";
  for (const auto& finding : verdict.findings) {
    text += finding.path + ": " + finding.message + "\n";
  }
  for (const auto& trace : verdict.traces) {
    text += std::to_string(static_cast<int>(trace.result)) + " " + trace.reason + "\n";
  }
  return text;
}

TEST(RuntimeFields, DecisionsReadNothingElse) {
  const Json whole = Yaml(kRuntime);
  std::vector<Json> runtimes = {whole};
  std::vector<Json::json_pointer> pointers;
  AddPointers(whole, Json::json_pointer(), pointers);
  for (const auto& pointer : pointers) {
    if (pointer.to_string() == "/kind" || pointer.to_string() == "/apiVersion") continue;
    runtimes.push_back(Without(whole, pointer));
  }
  std::vector<json::Document> services;
  for (const char* spec : kServices) {
    services.emplace_back(
        Yaml("{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, namespace: "
             "serving}, spec: {runtime: {name: r, kind: ServingRuntime}, " +
             std::string(spec) + "}}"));
  }
  const json::Projection fields = kube::WithIdentity(Runtime::Fields());
  json::Decoder decoder;
  std::set<std::string> decisions;
  for (const Json& tree : runtimes) {
    const json::Document document(tree);
    const auto projected = decoder.Decode(tree.dump(), fields);
    ASSERT_TRUE(projected);
    const Runtime kept(**projected, Runtime::BytesOf(**projected), resources::kServingRuntimes);
    for (const json::Document& service : services) {
      const std::string want = Decided(service.root(), document.root());
      EXPECT_EQ(Decided(service.root(), kept.root()), want) << json::Dump(service.root()) << "\n"
                                                            << tree.dump();
      decisions.insert(want);
    }
  }
  // The runtimes are no idle variations.
  EXPECT_GE(decisions.size(), 40u);
}

}  // namespace
}  // namespace mindgate::webhook
