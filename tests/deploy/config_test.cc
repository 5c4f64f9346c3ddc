#include "deploy/config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/deploy_configs.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::With;

// What a user reads: faults, or the warnings of what is accepted.
std::string Reported(std::string_view text, std::string_view fallback = {}) {
  const auto read = ReadConfiguration(text, fallback);
  if (!read) return json::Render(read.error(), "app.yaml", text);
  return "accepted as " + std::string(FrameworkName(read->application.framework())) + "\n" +
         json::Render(read->warnings, "app.yaml", text);
}

struct ConfigCase {
  std::string name;
  std::string text;
  std::string fallback{};
};

// All that is wrong is reported at once, each with its place and with what to write instead.
TEST(ReadConfiguration, ReportsWhatIsWrong) {
  const std::vector<ConfigCase> cases = {
      {"empty file", ""},
      {"only comments", "# nothing\n"},
      {"a list", "- a\n"},
      {"bad YAML", "app_name: [\n"},
      {"two applications", "app_name: a\n---\napp_name: b\n"},
      {"nothing but a name", "app_name: a\n"},
      {"a key twice", With(kOmeConfig, "    image: r/s:1\n    npu_num",
                           "    image: a:1\n    image: b:1\n    npu_num")},
      {"keys in the wrong place",
       std::string(kOmeConfig) + "router: none\nruntime_name: rt2\nnpu_num: 8\n"},
      {"misspelled keys",
       With(With(With(kOmeConfig, "  decoder:", "  decodr:"), "    image: r/s:1\n    npu_num: 8",
                 "    imagee: r/s:1\n    npu_nums: 8"),
            "app_namespace", "appNamespace")},
      {"keys of the other format",
       With(kOmeConfig, "    image: r/s:1\n    npu_num",
            "    nodeSelector: {a: b}\n    podGroupSize: 2\n    npu_num")},
      {"wrong types", With(With(With(kOmeConfig, "    image: r/s:1\n    npu_num: 8\n    tp_size: 8",
                                     "    image: 11\n    npu_num: true\n    tp_size: \"8\""),
                                "model_name: m1", "model_name: [m1]"),
                           "app_namespace: llm", "app_namespace: null")},
      {"out of range", With(kOmeConfig, "    image: r/s:1\n    npu_num: 8\n    tp_size: 8",
                            "    min_replicas: 0\n    max_replicas: 65\n    pod_num: 129\n    "
                            "npu_num: 17\n    dp_size: 0")},
      {"maximum below minimum",
       With(kOmeConfig, "  router:\n", "  router:\n    min_replicas: 2\n    max_replicas: 1\n")},
      {"maximum above minimum",
       With(kOmeConfig, "  router:\n", "  router:\n    min_replicas: 1\n    max_replicas: 2\n")},
      {"maps of strings",
       With(kOmeConfig, "    image: r/s:1\n    npu_num",
            "    labels: {pod-rescheduling: on, a: 010, b: null, c: true, d: [1]}\n"
            "    annotations: {e: 1.50}\n    env_vars: {F: 12:30:45, G: 8}\n    npu_num")},
      {"keys and values that Kubernetes refuses",
       With(kOmeConfig, "    image: r/s:1\n    npu_num",
            "    labels: {\"a b\": c, d: \"e\\nf: g\", h: \"i\\\"j\"}\n"
            "    annotations: {\"k/l/m\": \"any\\ntext\"}\n    node_selector: {n: \"-o\"}\n"
            "    env_vars: {\"1P\": q, \"R=\": s}\n    npu_num")},
      {"images", With(With(With(kOmeConfig, "    image: r/s:1\n    npu_num",
                                "    image: host:5000/s\n    npu_num"),
                           "  image: r/store:1", "  image: \"\""),
                      "    image: r/s:1\n", "    image: \"s:1 # latest\"\n")},
      {"an application name that is none", With(kOmeConfig, "app_name: chat", "app_name: 1Chat_x")},
      {"a namespace that is none", With(kOmeConfig, "app_namespace: llm", "app_namespace: Llm/x")},
      {"derived names too long (OME)",
       With(kOmeConfig, "app_name: chat", "app_name: " + std::string(55, 'a'))},
      {"derived names too long (OME, several pods)",
       With(With(kOmeConfig, "app_name: chat", "app_name: " + std::string(54, 'a')), "  decoder:\n",
            "  decoder:\n    pod_num: 2\n    min_replicas: 11\n")},
      {"derived names too long (AIBrix)",
       With(kAibrixConfig, "app_name: q", "app_name: " + std::string(54, 'a'))},
      {"derived names too long (MindIE)",
       With(kMindieConfig, "app_name: motor", "app_name: " + std::string(43, 'a'))},
      {"the longest names",
       With(kMindieConfig, "app_name: motor", "app_name: " + std::string(42, 'a'))},
      {"decoder without store", With(kOmeConfig, "mf_store:\n  image: r/store:1\n", "")},
      {"decoder without router", With(kOmeConfig, "  router:\n    image: r/s:1\n", "")},
      {"decoder and no router on purpose",
       With(kOmeConfig, "  router:\n    image: r/s:1\n", "  router: none\n")},
      {"router of another word",
       With(kOmeConfig, "  router:\n    image: r/s:1\n", "  router: off\n")},
      {"store without decoder",
       With(kOmeConfig, "  decoder:\n    npu_num: 8\n    tp_size: 8\n", "")},
      {"store settings", With(kOmeConfig, "  image: r/store:1\n",
                              "  replicas: 2\n  container_port: 9001\n  readiness_probe: {path: "
                              "/ready, port: 1, wait: 2}\n"
                              "  resources: {requests: {memory: 64MB, cpu: 1.5}, limit: {}}\n")},
      {"engine missing",
       With(kOmeConfig, "  engine:\n    image: r/s:1\n    npu_num: 8\n    tp_size: 8\n", "")},
      {"engine empty",
       With(kOmeConfig, "  engine:\n    image: r/s:1\n    npu_num: 8\n    tp_size: 8\n",
            "  engine:\n")},
      {"decode missing",
       With(kAibrixConfig,
            "  decode:\n    podGroupSize: 2\n    dp_size: 4\n    tp_size: 4\n    npu_num: 8\n"
            "    image: vllm-ascend:1\n",
            "")},
      {"routing missing where distributed_dp is left out",
       With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1\n", "")},
      {"routing missing where nothing is distributed",
       With(With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1\n", ""), "  prefill:\n",
            "  distributed_dp: \"false\"\n  prefill:\n")},
      {"distributed_dp as a boolean",
       With(kAibrixConfig, "  prefill:\n", "  distributed_dp: true\n  prefill:\n")},
      {"distributed_dp as another word",
       With(kAibrixConfig, "  prefill:\n", "  distributed_dp: \"on\"\n  prefill:\n")},
      {"ranks that cannot be divided", With(kAibrixConfig, "    podGroupSize: 2\n    dp_size: 4",
                                            "    podGroupSize: 3\n    dp_size: 4")},
      {"more pods than ranks", With(kAibrixConfig, "    podGroupSize: 2\n    dp_size: 4",
                                    "    podGroupSize: 8\n    dp_size: 4")},
      {"one rank that is distributed",
       With(kAibrixConfig, "    dp_size: 2\n    tp_size: 4", "    dp_size: 1\n    tp_size: 8")},
      {"scripts in two places",
       With(kAibrixConfig, "  prefill:\n",
            "  scripts_config_map: s\n  host_paths: {scripts: /s, models: m}\n  prefill:\n")},
      {"a model name that is no label",
       With(kAibrixConfig, "model_name: qwen", "model_name: Qwen/Qwen3")},
      {"MindIE ranges",
       With(kMindieConfig, "    instances: 2\n    pod_num: 2\n",
            "    instances: 21\n    pod_num: 0\n    npu_num: 32\n    distributed: 1\n")},
      {"MindIE words",
       With(kMindieConfig, "  image: mindie:1.0.0\n",
            "  image: mindie\n  hardware_type: A2\n  service: {node_port: 0}\n  scaling: true\n")},
      {"a MindIE Motor that does not start",
       With(kMindieConfig, "  image: mindie:1.0.0\n", "  image: hub.io/mindie:2.1.RC1-800I-A2\n")},
      {"pods of every framework",
       With(kAibrixConfig, "    podGroupSize: 2\n",
            "    podGroupSize: 2\n    tolerations: [{value: a}, {key: d, operator: Exists, value: "
            "a}, {key: d, operator: Equals}, {key: d, tolerationSeconds: 3}]\n"
            "    imagePullSecrets: [Hub]\n    priorityClassName: \"a b\"\n"
            "    volumes: [{name: a}, {name: b, claim: c, secret: d, mount_path: x}]\n"
            "    resources: {requests: {cpu: much}}\n")},
      {"volumes that have no place",
       With(kAibrixConfig, "    podGroupSize: 2\n",
            "    podGroupSize: 2\n    volumes: [{name: cache, claim: c}, {name: more, claim: c, "
            "mount_path: /dev/shm}, {name: model, claim: c}, {name: model, claim: d}]\n")},
      {"patches of another form",
       std::string(kAibrixConfig) +
           "patches:\n- {kind: StormService, patch: [{op: copy, from: /a, path: /b}, {op: add, "
           "path: spec}, 7]}\n- {patch: {}}\n- {kind: Service, patch: text}\n"},
      {"patches that fit nothing",
       std::string(kAibrixConfig) +
           "patches:\n- {kind: Deployment, patch: {}}\n- {kind: Service, name: q, patch: {}}\n"
           "- {kind: StormService, patch: [{op: replace, path: /spec/none/at, value: 1}]}\n"
           "- {kind: StormService, patch: {metadata: {name: other}}}\n"},
      {"labels that find the objects",
       With(kMindieConfig, "    instances: 2\n    pod_num: 2\n",
            "    labels: {jobID: a, app.kubernetes.io/instance: b}\n")},
      {"framework in the file", "framework: aibrix\n" + std::string(kAibrixConfig)},
      {"framework in the file wins", "framework: aibrix\n" + std::string(kAibrixConfig), "ome"},
      {"framework of another block", "framework: ome\n" + std::string(kAibrixConfig)},
      {"framework that nobody knows", "framework: vllm\n" + std::string(kAibrixConfig)},
      {"framework of the variable", std::string(kAibrixConfig), "aibrix"},
      {"framework of the variable, another block", std::string(kAibrixConfig), "ome"},
      {"a variable that nobody knows", std::string(kAibrixConfig), "OME"},
      {"framework by its block", std::string(kMindieConfig)},
  };
  std::string reported;
  for (const ConfigCase& c : cases)
    reported += "=== " + c.name + "\n" + Reported(c.text, c.fallback) + "\n";
  ExpectGolden("tests/golden/deploy/config.txt", reported);
}

TEST(ReadConfiguration, AcceptsTheSamplesOfMindclusterDeploy) {
  EXPECT_EQ(Reported(ReadSource("tests/fixtures/deploy/isvc-config.yaml")), "accepted as ome\n");
  EXPECT_EQ(Reported(ReadSource("tests/fixtures/deploy/stormservice-config.yaml")),
            "accepted as aibrix\n");
  EXPECT_EQ(Reported(ReadSource("tests/fixtures/deploy/stormservice-config-2026.yaml")),
            "accepted as aibrix\n");
}

TEST(ReadConfiguration, FillsInTheDocumentedDefaults) {
  const auto read = ReadConfiguration(R"(app_name: a
inference_service:
  model_name: m
  engine: {}
  decoder: {}
  router: {}
mf_store: {image: "s:1"}
)");
  ASSERT_TRUE(read);
  const Application& application = read->application;
  const auto& service = std::get<OmeService>(application.service);
  EXPECT_EQ(application.ns, "default");
  EXPECT_EQ(service.engine.min_replicas, 1);
  EXPECT_EQ(service.engine.Max(), 1);
  EXPECT_EQ(service.engine.pod_num, 1);
  EXPECT_EQ(service.engine.npu_num, 1);
  EXPECT_EQ(service.engine.image, std::nullopt);
  EXPECT_EQ(service.router->Max(), 1);
  EXPECT_EQ(service.store->container_port, 9000);
  EXPECT_FALSE(service.store->readiness.has_value());
}

// A variable may refer to those before it.
TEST(ReadConfiguration, VariablesStayInTheOrderOfTheFile) {
  const auto read = ReadConfiguration(With(kOmeConfig, "    image: r/s:1\n    npu_num",
                                           "    env_vars: {Z: a, B: $(Z), A: $(B)}\n    npu_num"));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<OmeService>(read->application.service).engine.variables,
            (Variables{{"Z", "a"}, {"B", "$(Z)"}, {"A", "$(B)"}}));
}

}  // namespace
}  // namespace mindgate::deploy
