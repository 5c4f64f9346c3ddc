// One row for each defect of mindcluster-deploy's deploy tool that mindgate is known not to have:
// what a user writes, and what comes of it. The rest of the defects are about a cluster or a
// command, and have their tests there.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deploy/check.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/yaml.h"
#include "support/deploy_configs.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using ::mindgate::testing::kAibrixConfig;
using ::mindgate::testing::kMindieConfig;
using ::mindgate::testing::kOmeConfig;
using ::mindgate::testing::With;

// The first thing that is reported of a configuration, without its place: "7: message".
std::string FirstOf(const json::Issues& issues) {
  if (issues.empty()) return "";
  const json::Issue& issue = issues.items().front();
  return std::to_string(issue.at.line) + ": " + issue.message;
}

std::string ReportedOf(std::string_view text) {
  const auto read = ReadConfiguration(text);
  if (!read) return FirstOf(read.error());
  if (!read->warnings.empty()) return FirstOf(read->warnings);
  const CheckedApplication checked = Check(*read, Render(read->application), {}, {}, Time());
  if (!checked.override_warnings.empty()) return FirstOf(checked.override_warnings);
  for (const CheckFinding& finding : checked.findings) {
    if (finding.finding.mode == schemas::Mode::kAudit) continue;
    const json::Issue issue = IssueOf(finding, checked);
    return std::to_string(issue.at.line) + ": " + issue.message;
  }
  return "";
}

struct DefectRow {
  std::string defect;
  std::string text;
  std::string reported;
};

TEST(Defects, WhatIsReported) {
  const std::string decoder = "  decoder:\n    npu_num: 8\n    tp_size: 8\n";
  const std::vector<DefectRow> rows = {
      {"an empty file is no Python error", "", "0: the file is empty"},
      {"unknown keys", With(kOmeConfig, decoder, "  decodr: {}\n"), "10: unknown key \"decodr\""},
      {"true is no number", With(kOmeConfig, "  router:\n", "  router:\n    min_replicas: true\n"),
       "14: must be an integer, not a boolean"},
      {"a name that is none", With(kOmeConfig, "app_name: chat", "app_name: Chat"),
       "1: \"Chat\" is no name of an application"},
      {"YAML in a value",
       With(kOmeConfig, decoder, decoder + "    labels: {a: \"b\\nevil: yes\"}\n"),
       "13: \"b\\nevil: yes\" is no value of a label"},
      {"one rule for max_replicas, and one text",
       With(kOmeConfig, "  router:\n", "  router:\n    max_replicas: 65\n"), "14: 65 is too large"},
      {"a decoder needs a store", With(kOmeConfig, "mf_store:\n  image: r/store:1\n", ""),
       "1: an application with engine and decoder needs a store, through which they find each "
       "other"},
      {"an empty image", With(kOmeConfig, "  image: r/store:1\n", "  image: \"\"\n"),
       "16: must not be empty"},
      {"another port than the runtimes have",
       With(kOmeConfig, "  image: r/store:1\n", "  image: r/store:1\n  container_port: 9001\n"),
       "17: warning: the runtimes of mindcluster-deploy connect to port 9000 of the store's "
       "Service, "
       "which leads to container_port: only a runtime with a port of its own needs another one"},
      {"a probe of a path",
       With(kOmeConfig, "  image: r/store:1\n",
            "  image: r/store:1\n  liveness_probe: {path: /health}\n"),
       "17: warning: the store does not serve HTTP, so that a probe of a path never succeeds: the "
       "port "
       "is "
       "tried instead"},
      {"two stores",
       With(kOmeConfig, "  image: r/store:1\n", "  image: r/store:1\n  replicas: 2\n"),
       "17: 2 is too large"},
      {"no router", With(kOmeConfig, "  router:\n    image: r/s:1\n", ""),
       "3: an application with engine and decoder needs a router: without the block OME makes "
       "none, "
       "and nothing leads requests from the one to the other"},
      {"the default of distributed_dp counts",
       With(kAibrixConfig, "  routing:\n    image: vllm-ascend:1\n", ""),
       "3: distributed_dp is \"true\", also where it is left out: then every instance serves on "
       "several ports and needs a router in front"},
      {"ranks that cannot be divided", With(kAibrixConfig, "dp_size: 4\n", "dp_size: 5\n"),
       "13: dp_size 5 cannot be divided among the pods of an instance: podGroupSize is 2"},
      {"ranks and NPUs", With(kAibrixConfig, "dp_size: 4\n", "dp_size: 2\n"),
       "13: warning: dp_size * tp_size is 8, but an instance has 16 NPUs (npu_num * podGroupSize)"},
      {"decode is missing",
       With(kAibrixConfig,
            "  decode:\n    podGroupSize: 2\n    dp_size: 4\n    tp_size: 4\n    npu_num: 8\n"
            "    image: vllm-ascend:1\n",
            ""),
       "3: \"decode\" is missing"},
      {"a default is replaced",
       With(kOmeConfig, decoder, decoder + "    labels: {pod-rescheduling: \"off\"}\n"),
       "13: warning: \"pod-rescheduling\" replaces \"on\", which mindgate writes"},
      {"a key that is nearly right",
       With(kOmeConfig, decoder, decoder + "    labels: {subHeathyStrategy: forceExit}\n"),
       "13: warning: InferenceService chat: MG067 misspelled-key: "
       "spec.decoder.labels.subHeathyStrategy: "
       "no component reads \"subHeathyStrategy\", did you mean \"subHealthyStrategy\"? As it is, "
       "it "
       "has no effect"},
      {"null is no namespace", With(kOmeConfig, "app_namespace: llm", "app_namespace: null"),
       "2: must be a string, not null"},
      {"numbers in maps of strings", With(kOmeConfig, decoder, decoder + "    labels: {a: 010}\n"),
       "13: must be a string: without quotes YAML reads an integer, 10"},
      {"on is a word", With(kOmeConfig, decoder, decoder + "    labels: {pod-rescheduling: on}\n"),
       ""},
  };
  for (const DefectRow& row : rows) EXPECT_EQ(ReportedOf(row.text), row.reported) << row.defect;
}

// The value at a path of the object of a kind; null when there is none.
Json ValueIn(std::string_view text, const std::string& kind, const std::string& pointer) {
  const auto read = ReadConfiguration(text);
  if (!read) {
    ADD_FAILURE() << json::Render(read.error(), "app.yaml", text);
    return nullptr;
  }
  const CheckedApplication checked = Check(*read, Render(read->application), {}, {}, Time());
  for (const RenderedObject& each : checked.objects) {
    const Json::json_pointer at(pointer);
    if (each.Kind() == kind && each.object.contains(at)) return each.object[at];
  }
  return nullptr;
}

struct ValueRow {
  std::string defect;
  std::string text;
  std::string kind;
  std::string pointer;
  Json want;
};

TEST(Defects, WhatIsRendered) {
  const std::string bare = R"(app_name: a
inference_service:
  model_name: m
  engine: {}
  decoder: {pod_num: 2, min_replicas: 3}
  router: {env_vars: {A: b}}
mf_store: {image: "s:1"}
)";
  const std::string runner = "/spec/engine/runner";
  const std::string role = "/spec/template/spec/roles/0/template";
  const std::vector<ValueRow> rows = {
      {"documented defaults", bare, "InferenceService", "/spec/engine/maxReplicas", 1},
      {"one NPU", bare, "InferenceService", runner + "/resources/limits/huawei.com~1Ascend910", 1},
      {"no image, not null", bare, "InferenceService", runner + "/image", nullptr},
      {"a gang size always", bare, "InferenceService",
       "/spec/engine/annotations/huawei.com~1schedule_minAvailable", "1"},
      {"one port", bare, "Deployment", "/spec/template/spec/containers/0/env/1/value", "9000"},
      {"probes of the port", bare, "Deployment",
       "/spec/template/spec/containers/0/readinessProbe/tcpSocket/port", 9000},
      {"labels of our own", bare, "Deployment", "/metadata/labels/app.kubernetes.io~1managed-by",
       "mindgate-deploy"},
      {"variables of the router", bare, "InferenceService", "/spec/router/runner/env/0/value", "b"},
      {"no gang size for several pods", bare, "InferenceService",
       "/spec/decoder/annotations/huawei.com~1schedule_minAvailable", nullptr},
      {"what the documents ask for", std::string(kAibrixConfig), "StormService",
       role + "/spec/restartPolicy", "Never"},
      {"retries, where pods may be", std::string(kMindieConfig), "AscendJob",
       "/metadata/labels/fault-retry-times", "10000"},
      {"pods are recovered, not jobs", std::string(kAibrixConfig), "StormService",
       role + "/metadata/annotations/huawei.com~1recover_policy_path", "pod"},
      {"not of OME, where the scheduler assumes it", bare, "InferenceService",
       "/spec/engine/annotations/huawei.com~1recover_policy_path", nullptr},
      {"nor retries where containers restart in place", bare, "InferenceService",
       "/spec/engine/labels/fault-retry-times", nullptr},
      {"the policy of the user stays",
       With(kAibrixConfig, "  decode:\n",
            "    annotations: {huawei.com/schedule_policy: chip4-node8}\n  decode:\n"),
       "StormService", role + "/metadata/annotations/huawei.com~1schedule_policy", "chip4-node8"},
      {"another port of the servers, of their Services",
       With(kAibrixConfig, "  prefill:\n", "  server_port: 9090\n  prefill:\n"), "Service",
       "/spec/ports/1/targetPort", 9091},
      {"of their labels", With(kAibrixConfig, "  prefill:\n", "  server_port: 9090\n  prefill:\n"),
       "StormService", role + "/metadata/labels/model.aibrix.ai~1port", "9090"},
      {"folders of the nodes",
       With(kAibrixConfig, "  prefill:\n",
            "  host_paths: {models: /data/m, scripts: /data/s, hccn: /data/h.conf}\n  prefill:\n"),
       "StormService", role + "/spec/volumes",
       Json::array({{{"name", "model"}, {"hostPath", {{"path", "/data/m"}, {"type", "Directory"}}}},
                    {{"name", "shared-mem"}, {"emptyDir", {{"medium", "Memory"}}}},
                    {{"name", "scripts"}, {"hostPath", {{"path", "/data/s"}}}},
                    {{"name", "hccn"}, {"hostPath", {{"path", "/data/h.conf"}}}}})},
      {"another NPU and another port",
       With(kAibrixConfig, "  prefill:\n",
            "  npu_resource: huawei.com/npu\n  server_port: 9090\n  prefill:\n"),
       "StormService", role + "/spec/containers/0/resources/limits/huawei.com~1npu", 8},
      {"retries are counted", std::string(kAibrixConfig), "StormService",
       role + "/metadata/labels/fault-retry-times", "10"},
      {"and not where containers restart in place, which fails no pod", bare, "InferenceService",
       "/spec/engine/labels/fault-retry-times", nullptr},
      {"recovery of pods", std::string(kAibrixConfig), "StormService",
       role + "/metadata/annotations/huawei.com~1recover_policy_path", "pod"},
      {"another port, in the label that AIBrix reads",
       With(kAibrixConfig, "  prefill:\n", "  server_port: 9090\n  prefill:\n"), "StormService",
       role + "/metadata/labels/model.aibrix.ai~1port", "9090"},
      {"and in the Services",
       With(kAibrixConfig, "  prefill:\n", "  server_port: 9090\n  prefill:\n"), "Service",
       "/spec/ports/0/port", 9090},
      {"other folders of the nodes",
       With(kAibrixConfig, "  prefill:\n", "  host_paths: {models: /data}\n  prefill:\n"),
       "StormService", role + "/spec/volumes/0/hostPath/path", "/data"},
      {"scripts from a ConfigMap",
       With(kAibrixConfig, "  prefill:\n", "  scripts_config_map: s\n  prefill:\n"), "StormService",
       role + "/spec/volumes/2/configMap/name", "s"},
      {"the devices of the pod", std::string(kAibrixConfig), "StormService",
       role + "/spec/containers/0/env/10/name", "ASCEND_VISIBLE_DEVICES"},
      {"an entry", std::string(kAibrixConfig), "StormService",
       "/spec/template/spec/roles/2/template/spec/containers/0/readinessProbe/tcpSocket/port",
       8080},
      {"the default namespace", bare, "InferenceService", "/metadata/namespace", "default"},
      {"on stays on", With(kOmeConfig, "  router:\n", "  router:\n    labels: {answer: on}\n"),
       "InferenceService", "/spec/router/labels/answer", "on"},
  };
  for (const ValueRow& row : rows) {
    EXPECT_EQ(ValueIn(row.text, row.kind, row.pointer), row.want) << row.defect;
  }
}

}  // namespace
}  // namespace mindgate::deploy
