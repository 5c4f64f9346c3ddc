#include <gmock/gmock.h>

#include "deploy/check.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/value.h"
#include "support/deploy_configs.h"

// What a file says beyond its own keys, and the keys of pods that all formats share.
namespace mindgate::deploy {
namespace {

using json::Json;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::With;

Json Rendered(const std::string& text, const std::string& kind, const std::string& name) {
  const auto read = ReadConfiguration(text);
  if (!read) {
    ADD_FAILURE() << json::Render(read.error(), "app.yaml", text);
    return nullptr;
  }
  for (const RenderedObject& each : Render(read->application)) {
    if (each.Kind() == kind && each.Name() == name) return each.object;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return nullptr;
}

Json At(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) ? object.at(at) : Json();
}

TEST(Patches, Merge) {
  struct Case {
    const char* what;
    const char* patch;  // of the StormService
    const char* at;
    Json want;
  };
  const std::string role = "/spec/template/spec/roles/0";
  const std::string container = role + "/template/spec/containers/0";
  for (const Case& each :
       {Case{"a member", "{spec: {updateStrategy: {type: InPlaceUpdate}}}",
             "/spec/updateStrategy/type", "InPlaceUpdate"},
        {"a role by its name", "{spec: {template: {spec: {roles: [{name: decode, replicas: 3}]}}}}",
         "/spec/template/spec/roles/1/replicas", 3},
        {"and not the others", "{spec: {template: {spec: {roles: [{name: decode, replicas: 3}]}}}}",
         "/spec/template/spec/roles/0/replicas", 1},
        {"a variable by its name",
         "{spec: {template: {spec: {roles: [{name: prefill, template: {spec: {containers: [{name: "
         "prefill, env: [{name: MODEL_NAME, value: b}]}]}}}]}}}}",
         "/spec/template/spec/roles/0/template/spec/containers/0/env/8",
         {{"name", "MODEL_NAME"}, {"value", "b"}}},
        {"a new variable",
         "{spec: {template: {spec: {roles: [{name: prefill, template: {spec: {containers: [{name: "
         "prefill, env: [{name: NEW, value: b}]}]}}}]}}}}",
         "/spec/template/spec/roles/0/template/spec/containers/0/env/10",
         {{"name", "NEW"}, {"value", "b"}}},
        {"null removes",
         "{spec: {template: {spec: {roles: [{name: prefill, template: {spec: {containers: [{name: "
         "prefill, workingDir: null}]}}}]}}}}",
         "/spec/template/spec/roles/0/template/spec/containers/0/workingDir", nullptr},
        {"an item is removed",
         "{spec: {template: {spec: {roles: [{name: prefill, template: {spec: {volumes: [{name: "
         "hccn, $patch: delete}]}}}]}}}}",
         "/spec/template/spec/roles/0/template/spec/volumes/3", nullptr},
        {"an object is replaced",
         "{spec: {selector: {$patch: replace, matchLabels: {a: b}}}}",
         "/spec/selector",
         {{"matchLabels", {{"a", "b"}}}}},
        {"a list without keys is replaced",
         "{spec: {template: {spec: {roles: [{name: prefill, template: {spec: {containers: [{name: "
         "prefill, args: [x]}]}}}]}}}}",
         "/spec/template/spec/roles/0/template/spec/containers/0/args",
         {"x"}},
        {"operations",
         "[{op: add, path: /metadata/annotations/a.b~1c, value: d}, {op: remove, path: "
         "/spec/selector}]",
         "/metadata/annotations/a.b~1c", "d"}}) {
    const Json object =
        Rendered(std::string(kAibrixConfig) +
                     "patches:\n- kind: StormService\n  patch: " + each.patch + "\n",
                 "StormService", "q");
    EXPECT_EQ(At(object, each.at), each.want) << each.what;
  }
}

TEST(Patches, OfOneObjectOrOfAll) {
  const std::string all = std::string(kAibrixConfig) +
                          "patches:\n"
                          "- {kind: Service, patch: {spec: {ipFamilyPolicy: SingleStack}}}\n"
                          "- {kind: Service, name: q-router, patch: {spec: {type: NodePort, ports: "
                          "[{port: 8080, nodePort: 31000}]}}}\n";
  for (const char* name : {"q-router", "q-prefill-0", "q-decode-0-1"}) {
    EXPECT_EQ(At(Rendered(all, "Service", name), "/spec/ipFamilyPolicy"), "SingleStack");
  }
  const Json router = Rendered(all, "Service", "q-router");
  EXPECT_EQ(router["spec"]["type"], "NodePort");
  ASSERT_EQ(router["spec"]["ports"].size(), 1u);
  EXPECT_EQ(router["spec"]["ports"][0]["nodePort"], 31000);
  EXPECT_EQ(router["spec"]["ports"][0]["name"], "http");
  EXPECT_EQ(At(Rendered(all, "Service", "q-prefill-0"), "/spec/type"), "ClusterIP");
}

// What a rule finds in what a patch wrote is at the place of the patch.
TEST(Patches, FindingsAreAtTheirPlace) {
  const std::string text =
      std::string(kAibrixConfig) +
      "patches:\n- kind: StormService\n  patch:\n    spec:\n      template:\n"
      "        spec:\n          roles:\n          - name: prefill\n"
      "            template: {metadata: {labels: {fault-scheduling: Force}}}\n";
  const auto read = ReadConfiguration(text);
  ASSERT_TRUE(read);
  const CheckedApplication checked = Check(*read, Render(read->application), {}, {}, Time());
  ASSERT_EQ(checked.denied(), true);
  for (const CheckFinding& each : checked.findings) {
    if (!each.Denies()) continue;
    EXPECT_EQ(each.at.line, 27) << each.finding.message;
  }
}

// --- keys of pods --------------------------------------------------------------------------------

constexpr const char* kTolerations =
    "[{key: dedicated, value: llm, effect: NoSchedule}, {operator: Exists}]";
const Json kRenderedTolerations = Json::array(
    {{{"key", "dedicated"}, {"operator", "Equal"}, {"value", "llm"}, {"effect", "NoSchedule"}},
     {{"operator", "Exists"}}});

TEST(PodKeys, OfOme) {
  const std::string keys =
      std::string("    tolerations: ") + kTolerations +
      "\n    image_pull_secrets: [hub]\n    priority_class_name: high\n    resources: {requests: "
      "{cpu: \"8\", memory: 64Gi}, limits: {memory: 128Gi}}\n    volumes: [{name: cache, "
      "mount_path: "
      "/cache, claim: c, read_only: true, sub_path: a}, {name: shm, mount_path: /dev/shm, "
      "empty_dir: "
      "{medium: Memory, size_limit: 8Gi}}]\n";
  for (const bool several : {false, true}) {
    const std::string text = With(kOmeConfig, "  decoder:\n",
                                  "  decoder:\n" + keys + (several ? "    pod_num: 2\n" : ""));
    const Json service = Rendered(text, "InferenceService", "chat");
    for (const char* pod :
         several ? std::vector<const char*>{"/leader", "/worker"} : std::vector<const char*>{""}) {
      const Json spec = At(service, (std::string("/spec/decoder") + pod).c_str());
      EXPECT_EQ(spec["tolerations"], kRenderedTolerations);
      EXPECT_EQ(spec["imagePullSecrets"], Json::array({{{"name", "hub"}}}));
      EXPECT_EQ(spec["priorityClassName"], "high");
      EXPECT_EQ(spec["volumes"],
                Json::array({{{"name", "cache"}, {"persistentVolumeClaim", {{"claimName", "c"}}}},
                             {{"name", "shm"},
                              {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "8Gi"}}}}}));
      EXPECT_EQ(
          spec["runner"]["volumeMounts"],
          Json::array(
              {{{"name", "cache"}, {"mountPath", "/cache"}, {"subPath", "a"}, {"readOnly", true}},
               {{"name", "shm"}, {"mountPath", "/dev/shm"}}}));
      EXPECT_EQ(spec["runner"]["resources"],
                Json({{"requests", {{"cpu", "8"}, {"memory", "64Gi"}, {"huawei.com/Ascend910", 8}}},
                      {"limits", {{"memory", "128Gi"}, {"huawei.com/Ascend910", 8}}}}));
    }
  }
  const Json store = Rendered(With(kOmeConfig, "  image: r/store:1\n",
                                   std::string("  image: r/store:1\n  tolerations: ") +
                                       kTolerations + "\n  image_pull_secrets: [hub]\n"),
                              "Deployment", "chat-mf-store");
  EXPECT_EQ(At(store, "/spec/template/spec/tolerations"), kRenderedTolerations);
  EXPECT_EQ(At(store, "/spec/template/spec/imagePullSecrets/0/name"), "hub");
}

// The model may come from a claim instead of a folder of each node, where mindgate mounts it.
TEST(PodKeys, OfAibrix) {
  const std::string text = With(
      kAibrixConfig, "    podGroupSize: 2\n",
      std::string("    podGroupSize: 2\n    tolerations: ") + kTolerations +
          "\n    imagePullSecrets: [hub]\n    priorityClassName: high\n    resources: {limits: "
          "{cpu: 16}}\n    volumes: [{name: model, claim: models}]\n");
  const std::string quoted = With(text, "{cpu: 16}", "{cpu: \"16\"}");
  const Json spec =
      At(Rendered(quoted, "StormService", "q"), "/spec/template/spec/roles/1/template/spec");
  EXPECT_EQ(spec["tolerations"], kRenderedTolerations);
  EXPECT_EQ(spec["imagePullSecrets"][0]["name"], "hub");
  EXPECT_EQ(spec["priorityClassName"], "high");
  EXPECT_EQ(spec["volumes"][0],
            Json({{"name", "model"}, {"persistentVolumeClaim", {{"claimName", "models"}}}}));
  EXPECT_EQ(spec["volumes"].size(), 4u);
  EXPECT_EQ(spec["containers"][0]["volumeMounts"].size(), 4u);
  EXPECT_EQ(spec["containers"][0]["resources"]["limits"]["cpu"], "16");
}

TEST(PodKeys, OfMindie) {
  const Json job = Rendered(
      With(kMindieConfig, "    instances: 2\n",
           std::string("    instances: 2\n    tolerations: ") + kTolerations +
               "\n    priority_class_name: high\n    volumes: [{name: logs, mount_path: /logs, "
               "host_path: /var/log/mindie}]\n"),
      "AscendJob", "motor-p0");
  EXPECT_EQ(At(job, "/spec/runPolicy/schedulingPolicy/priorityClass"), "high");
  for (const char* type : {"Master", "Worker"}) {
    const Json spec =
        At(job, (std::string("/spec/replicaSpecs/") + type + "/template/spec").c_str());
    EXPECT_EQ(spec["tolerations"], kRenderedTolerations);
    EXPECT_EQ(spec["priorityClassName"], "high");
    EXPECT_EQ(spec["containers"][0]["volumeMounts"].back(),
              Json({{"name", "logs"}, {"mountPath", "/logs"}}));
  }
}

}  // namespace
}  // namespace mindgate::deploy
