#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/manifests/manifests.h"
#include "json/yaml.h"
#include "support/cli.h"
#include "support/environment.h"

namespace mindgate::cli {
namespace {

using json::Json;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::OnlyConfig;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: llm
spec:
  replicas: 1
  selector:
    matchLabels: {app: llm}
  template:
    metadata:
      labels:
        app: llm
    spec:
      containers:
      - name: main
        image: llm:1
        resources:
          requests: {huawei.com/Ascend910: 8}
          limits: {huawei.com/Ascend910: 8}
)";

std::string Deployment(const std::string& name, const std::string& label = "") {
  std::string text = kDeployment;
  text.replace(text.find("name: llm"), 9, "name: " + name);
  if (!label.empty()) text.insert(text.find("    spec:\n"), "        " + label + "\n");
  return text;
}

constexpr const char* kServiceYaml =
    "apiVersion: v1\nkind: Service\nmetadata: {name: llm}\nspec: {ports: [{port: 80}]}\n";

// Scheduler injected, fault-scheduling evaluated, nothing else.
class Apply : public ::testing::Test {
 protected:
  Apply() { workspace_.Write("mindgate.yaml", OnlyConfig({"scheduler-name"}, {"MG050"})); }

  CliResult Run(std::vector<std::string> arguments, const std::string& in = "") {
    arguments.insert(arguments.begin(), "apply");
    arguments.insert(arguments.end(), {"--config", "mindgate.yaml"});
    return Cli(arguments, in);
  }

  Json RunJson(std::vector<std::string> arguments, const std::string& in = "") {
    arguments.insert(arguments.end(), {"-o", "json"});
    return Json::parse(Run(arguments, in).out);
  }

  Workspace workspace_;
};

TEST_F(Apply, YamlIsTheObjectAfterMutation) {
  workspace_.Write("a.yaml", kDeployment);
  const CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  Json want = json::DecodeYaml(kDeployment)->front().value;
  want["spec"]["template"]["spec"]["schedulerName"] = "volcano";
  EXPECT_EQ(result.out, json::EncodeYaml(want));
}

TEST_F(Apply, DocumentsStayInOrderAndForeignKindsPass) {
  const CliResult result = Run({"-f", "-"}, std::string(kServiceYaml) + "---\n# comment\n---\n" +
                                                kDeployment + "---\nnull\n---\n" + kServiceYaml);
  EXPECT_EQ(result.code, 0);
  const auto documents = json::DecodeYaml(result.out);
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_EQ((*documents)[0].value, json::DecodeYaml(kServiceYaml)->front().value);
  EXPECT_EQ((*documents)[1].value["spec"]["template"]["spec"]["schedulerName"], "volcano");
  EXPECT_EQ((*documents)[2].value, (*documents)[0].value);
}

// `mindgate apply -f job.yaml | kubectl apply -f -` must not apply what was denied.
TEST_F(Apply, DeniedObjectsAreNotPrintedAndExplainedOnStderr) {
  workspace_.Write("a.yaml", Deployment("llm", "fault-scheduling: Force"));
  CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              ::testing::StartsWith("a.yaml:13:27: denied: MG050 fault-scheduling-value: "
                                    "spec.template.metadata.labels[fault-scheduling]: "));
  EXPECT_THAT(result.err, HasSubstr("\n        fault-scheduling: Force\n"
                                    "                          ^\nhint: "));
  for (const char* output : {"patch", "name"}) {
    EXPECT_EQ(Run({"-f", "a.yaml", "-o", output}).out, "") << output;
  }
  result = Run({"-f", "a.yaml", "--print-denied"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("schedulerName: volcano"));
  EXPECT_THAT(Run({"-f", "a.yaml", "--print-denied", "-o", "patch"}).out, HasSubstr("volcano"));
  EXPECT_EQ(Run({"-f", "a.yaml", "--print-denied", "-o", "name"}).out, "deployment.apps/llm\n");
}

TEST_F(Apply, OfSeveralObjectsTheAdmittedOnesArePrinted) {
  const std::string both =
      Deployment("bad", "fault-scheduling: Force") + "---\n" + Deployment("good");
  CliResult result = Run({"-f", "-"}, both);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, Run({"-f", "-"}, Deployment("good")).out);
  EXPECT_EQ(Run({"-f", "-", "-o", "name"}, both + "---\n" + kServiceYaml).out,
            "deployment.apps/good\nservice/llm\n");
  const Json patches = Json::parse(Run({"-f", "-", "-o", "patch"}, both).out);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0]["name"], "good");

  const std::string list = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: s}}
- {apiVersion: v1, kind: Pod, metadata: {name: bad, labels: {fault-scheduling: Force}},
   spec: {containers: [{name: c, resources: {limits: {huawei.com/Ascend910: 1}}}]}}
- apiVersion: v1
  kind: PodList
  items:
  - {apiVersion: v1, kind: Pod, metadata: {name: worse, labels: {fault-scheduling: Force}},
     spec: {containers: [{name: c, resources: {limits: {huawei.com/Ascend910: 1}}}]}}
)";
  result = Run({"-f", "-"}, list);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out,
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata:\n"
            "    name: s\nkind: List\n");
}

TEST_F(Apply, SelectorsChooseAmongObjectsAndTheOthersAreKnown) {
  workspace_.Write("a.yaml",
                   "apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {app: x}}\n"
                   "---\n"
                   "apiVersion: v1\nkind: Service\nmetadata: {name: b, labels: {app: w}}\n"
                   "---\napiVersion: v1\nkind: Service\nmetadata: {name: c}\n");
  const auto names = [this](const char* selector) {
    return Run({"-f", "a.yaml", "-o", "name", "-l", selector}).out;
  };
  EXPECT_EQ(names("app=x"), "service/a\n");
  EXPECT_EQ(names("app in (x,w)"), "service/a\nservice/b\n");
  EXPECT_EQ(names("app!=x"), "service/b\nservice/c\n");
  EXPECT_EQ(names("!app"), "service/c\n");
  CliResult result = Run({"-f", "a.yaml", "-l", "app=z"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: none of 3 objects has labels that match --selector \"app=z\"\n"
            "hint: the selector matches labels of the objects, not those of their pod templates\n");
  result = Run({"-f", "a.yaml", "-l", "app in x"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: --selector \"app in x\": \"app in x\" is not the key of a label: write "
            "key=value\nhint: for example -l 'app=chat,tier in (web,api),!canary'\n");

  workspace_.Write("mindgate.yaml", OnlyConfig({"fault-scheduling"}, {}));
  const Json got = RunJson({"-f", "-", "-l", "pick=me"}, R"(apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt}
spec: {engineConfig: {runner: {name: c, resources: {limits: {huawei.com/Ascend910: 8}}}}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat, labels: {pick: me}}
spec: {runtime: {name: srt}, engine: {minReplicas: 1}}
)");
  ASSERT_EQ(got["results"].size(), 1u);
  EXPECT_EQ(got["results"][0]["changes"].size(), 1u) << "by what its runtime asks for";
}

TEST_F(Apply, JsonPathReadsTheDocumentThatJsonPrints) {
  workspace_.Write("a.yaml", Deployment("llm", "fault-scheduling: Force"));
  const CliResult result =
      Run({"-f", "a.yaml", "-o",
           "jsonpath={range .results[*]}{.name} {.findings[0].rule}{\"\\n\"}{end}"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "llm MG050\n");
}

TEST_F(Apply, WarningsAdmitUnlessStrict) {
  workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG050"}) +
                                        "namespaces: [{name: default, rules: {MG050: warn}}]");
  workspace_.Write("a.yaml", Deployment("llm", "fault-scheduling: Force"));
  CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("a.yaml:13:27: warning: MG050"));
  result = Run({"-f", "a.yaml", "--strict"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("a.yaml:13:27: denied: MG050"));
  EXPECT_EQ(Run({"-f", "a.yaml", "-n", "elsewhere"}).code, 1) << "the override is of default only";
}

TEST_F(Apply, JsonHasTheDocumentedShape) {
  workspace_.Write("a.yaml", Deployment("bad", "fault-scheduling: Force") + "---\n" + kServiceYaml +
                                 "---\nkind: [\n");
  const CliResult result = Run({"-f", "a.yaml", "-f", "missing.yaml", "-o", "json"});
  EXPECT_EQ(result.code, 2);
  const Json got = Json::parse(result.out);
  ASSERT_EQ(got["results"].size(), 4u);
  const Json& denied = got["results"][0];
  Json finding = denied["findings"][0];
  EXPECT_THAT(finding["message"].get<std::string>(), HasSubstr("Force"));
  EXPECT_NE(finding["fix"], "");
  finding.erase("message");
  finding.erase("fix");
  EXPECT_EQ(finding, Json::parse(R"({"rule": "MG050", "name": "fault-scheduling-value",
      "outcome": "violation", "mode": "enforce",
      "field": "spec.template.metadata.labels[fault-scheduling]", "line": 13, "column": 27})"));
  Json header = denied;
  for (const char* key : {"findings", "object", "changes"}) header.erase(key);
  EXPECT_EQ(header, Json::parse(R"({"file": "a.yaml", "document": 1, "line": 1,
      "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "bad",
      "operation": "CREATE", "outcome": "denied", "warnings": [],
      "patch": [{"op": "add", "path": "/spec/template/spec/schedulerName", "value": "volcano"}]})"));
  EXPECT_EQ(denied["changes"].size(), 1u);
  EXPECT_EQ(denied["changes"][0]["mutator"], "scheduler-name");
  EXPECT_EQ(denied["changes"][0]["path"], "/spec/template/spec/schedulerName");
  EXPECT_NE(denied["changes"][0]["reason"], "");
  EXPECT_EQ(denied["object"]["spec"]["template"]["spec"]["schedulerName"], "volcano");

  EXPECT_EQ(got["results"][1], Json::parse(R"({"file": "a.yaml", "document": 2, "line": 22,
      "apiVersion": "v1", "kind": "Service", "namespace": "default", "name": "llm", "operation": "CREATE",
      "outcome": "ignored", "patch": [], "changes": [], "findings": [], "warnings": [],
      "object": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "llm"},
                 "spec": {"ports": [{"port": 80}]}}})"));
  EXPECT_EQ(got["results"][2]["outcome"], "error");
  EXPECT_EQ(got["results"][2]["document"], 3);
  EXPECT_EQ(got["results"][2]["findings"][0]["line"], 28);
  EXPECT_EQ(got["results"][2]["object"], nullptr);
  EXPECT_EQ(got["results"][3]["file"], "missing.yaml");
  EXPECT_EQ(got["results"][3]["findings"][0]["message"], "no such file");
  EXPECT_EQ(
      got["summary"],
      Json::parse(R"({"admitted": 0, "denied": 1, "errors": 2, "ignored": 1, "skipped": 0})"));
}

TEST_F(Apply, TableNamesEverything) {
  workspace_.Write("a.yaml", Deployment("bad", "fault-scheduling: Force") + "---\n" + kServiceYaml);
  workspace_.Write("b.yaml", "kind: [\n");
  const CliResult result = Run({"-f", "a.yaml,b.yaml", "-o", "table"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "");
  std::string got = result.out;
  // The rule's own words are its test's business.
  const std::string field = "spec.template.metadata.labels[fault-scheduling]\n";
  const size_t message = got.find(field) + field.size();
  got.erase(message, got.find("ignored", message) - message);
  EXPECT_EQ(got,
            "OUTCOME     OBJECT                  CHANGES  PLACE\n"
            "denied      Deployment default/bad  1        a.yaml:1\n"
            "  denied    MG050 fault-scheduling-value  a.yaml:13:27\n"
            "            spec.template.metadata.labels[fault-scheduling]\n"
            "ignored     Service default/llm     0        a.yaml:22\n"
            "error       - -                     0        b.yaml:2\n"
            "  error     b.yaml:2:1\n"
            "            " +
                result.out.substr(result.out.find("b.yaml:2:1\n") + 23));
  EXPECT_THAT(got, ::testing::EndsWith("\n\n0 admitted, 1 denied, 1 error, 1 ignored\n"));
}

TEST_F(Apply, PatchOfOneAndOfSeveral) {
  workspace_.Write("a.yaml", kDeployment);
  workspace_.Write("b.yaml", std::string(kServiceYaml) + "---\n" + Deployment("other"));
  const Json patch = Json::parse(
      R"([{"op": "add", "path": "/spec/template/spec/schedulerName", "value": "volcano"}])");
  EXPECT_EQ(Json::parse(Run({"-f", "a.yaml", "-o", "patch"}).out), patch);
  EXPECT_EQ(Run({"-f", "-", "-o", "patch"}, kServiceYaml).out, "[]\n");
  Json want = Json::parse(R"([
    {"file": "a.yaml", "document": 1, "line": 1, "kind": "Deployment", "namespace": "default", "name": "llm"},
    {"file": "b.yaml", "document": 1, "line": 1, "kind": "Service", "namespace": "default", "name": "llm", "patch": []},
    {"file": "b.yaml", "document": 2, "line": 6, "kind": "Deployment", "namespace": "default", "name": "other"}])");
  want[0]["patch"] = want[2]["patch"] = patch;
  EXPECT_EQ(Json::parse(Run({"-f", "a.yaml", "-f", "b.yaml", "-o", "patch"}).out), want);
}

TEST_F(Apply, DiffShowsOnlyWhatChanges) {
  workspace_.Write("a.yaml", std::string(kServiceYaml) + "---\n" + kDeployment);
  const std::string want =
      "--- a.yaml Deployment default/llm\n"
      "+++ a.yaml Deployment default/llm (after mindgate)\n"
      "@@ -20,3 +20,4 @@\n"
      "             huawei.com/Ascend910: 8\n"
      "           requests:\n"
      "             huawei.com/Ascend910: 8\n"
      "+      schedulerName: volcano\n";
  EXPECT_EQ(Run({"-f", "a.yaml", "-o", "diff"}).out, want);
  EXPECT_THAT(Run({"-f", "a.yaml", "-o", "diff", "--color", "always"}).out,
              HasSubstr("\033[32m+      schedulerName: volcano\033[0m\n"));
}

TEST_F(Apply, ListsStayListsAndTheirItemsHaveLinesOfTheirOwn) {
  const std::string list = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: s}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec:
    containers:
    - name: main
      resources: {limits: {huawei.com/Ascend910: 1}}
- apiVersion: v1
  kind: PodList
  items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: inner}}
)";
  const CliResult result = Run({"-f", "-"}, list);
  EXPECT_EQ(result.code, 0);
  Json want = json::DecodeYaml(list)->front().value;
  want["items"][1]["spec"]["schedulerName"] = "volcano";
  EXPECT_EQ(result.out, json::EncodeYaml(want));
  const Json got = RunJson({"-f", "-"}, list);
  std::vector<std::string> places;
  for (const Json& item : got["results"]) {
    places.push_back(item["kind"].get<std::string>() + ":" + item["line"].dump() + " " +
                     item["patch"].dump());
  }
  EXPECT_THAT(places,
              ::testing::ElementsAre(
                  "Service:4 []",
                  "Pod:5 [{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"volcano\"}]",
                  "ConfigMap:15 []"));
  EXPECT_EQ(Run({"-f", "-"}, "apiVersion: v1\nkind: List\nitems: []\n").out,
            "apiVersion: v1\nitems: []\nkind: List\n");
}

TEST_F(Apply, RecordedReviewsHaveTheirOwnRequest) {
  const auto review = [](const std::string& request) {
    return R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
  "request": {"uid": "1", "namespace": "prod", )" +
           request + "}}";
  };
  const std::string pod =
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
          "labels": {"fault-scheduling": "Force"}},
          "spec": {"containers": [{"name": "c", "resources": {"limits": {"huawei.com/npu": "1"}}}]}})";
  Json got = RunJson({"-f", "-"}, review(R"("operation": "CREATE", "object": )" + pod));
  EXPECT_EQ(got["results"][0]["namespace"], "prod");
  EXPECT_EQ(got["results"][0]["outcome"], "denied");
  EXPECT_EQ(got["results"][0]["object"]["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(got["results"][0]["findings"][0]["field"], "metadata.labels[fault-scheduling]");
  EXPECT_EQ(got["results"][0]["findings"][0]["line"], 3) << "in the recording";

  got =
      RunJson({"-f", "-"}, review(R"("operation": "DELETE", "object": null, "oldObject": )" + pod));
  EXPECT_EQ(got["results"][0]["outcome"], "ignored");
  EXPECT_EQ(got["results"][0]["kind"], "Pod");
  EXPECT_EQ(got["results"][0]["operation"], "DELETE");
  EXPECT_EQ(got["results"][0]["object"], nullptr);

  got = RunJson({"-f", "-"},
                review(R"("operation": "UPDATE", "subResource": "status", "object": )" + pod));
  EXPECT_EQ(got["results"][0]["outcome"], "ignored");

  EXPECT_EQ(Run({"-f", "-"}, review(R"("operation": "DELETE")")).out, "");
  const CliResult yaml =
      Run({"-f", "-", "--print-denied"}, review(R"("operation": "CREATE", "object": )" + pod));
  EXPECT_THAT(yaml.out, ::testing::StartsWith("apiVersion: v1\nkind: Pod\n")) << "the object alone";
}

TEST_F(Apply, UpdatesAndOldObjects) {
  workspace_.Write("new.yaml", Deployment("known") + "---\n" + Deployment("fresh"));
  workspace_.Write("old.yaml", Deployment("known"));
  Json got = RunJson({"-f", "new.yaml", "--old", "old.yaml"});
  EXPECT_EQ(got["results"][0]["operation"], "UPDATE");
  EXPECT_EQ(got["results"][0]["patch"], Json::array()) << "an untouched template stays as it is";
  EXPECT_EQ(got["results"][1]["operation"], "CREATE");
  EXPECT_EQ(got["results"][1]["patch"].size(), 1u);

  CliResult result = Run({"-f", "new.yaml", "--old", "old.yaml", "--operation", "CREATE"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: --old gives the object before an update, but --operation is CREATE\n"
            "hint: remove one of them\n");
  result = Run({"-f", "new.yaml", "--old", "gone.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "gone.yaml: no such file\n");
  EXPECT_EQ(result.out, "");
}

// As offline, so on the wire: what was wrong before does not deny, even with --strict.
TEST_F(Apply, WhatWasWrongBeforeWarns) {
  workspace_.Write("old.yaml", Deployment("llm", "fault-scheduling: Force"));
  workspace_.Write("new.yaml", Deployment("llm", "fault-scheduling: Force\n        x: y"));
  workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG050"}));
  for (const std::vector<std::string>& more : {std::vector<std::string>(), {"--strict"}}) {
    std::vector<std::string> arguments = {"-f", "new.yaml", "--old", "old.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.err, HasSubstr("new.yaml:13:27: warning: MG050"));
    EXPECT_THAT(result.err, HasSubstr(" (it was so before this change)\n"));
  }
  workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG050"}) + "existingViolations: enforce\n");
  const CliResult result = Run({"-f", "new.yaml", "--old", "old.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("new.yaml:13:27: denied: MG050"));
}

TEST_F(Apply, NamesThatTheServerCompletes) {
  std::string yaml = Deployment("legacy-");
  yaml.replace(yaml.find("name: legacy-"), 4, "generateName");
  workspace_.Write("a.yaml", yaml);
  EXPECT_EQ(Run({"-f", "a.yaml", "-o", "name"}).out, "deployment.apps/legacy-*****\n");
  EXPECT_EQ(RunJson({"-f", "a.yaml"})["results"][0]["name"], "legacy-*****");
  EXPECT_THAT(Run({"-f", "a.yaml", "-o", "table"}).out,
              HasSubstr("Deployment default/legacy-*****  "));
}

TEST_F(Apply, NamespaceLabelsSwitchInjectionOff) {
  workspace_.Write("a.yaml", kDeployment);
  EXPECT_EQ(Run({"-f", "a.yaml", "-o", "patch", "--namespace-labels",
                 "team=x,mindgate.io/inject=disabled"})
                .out,
            "[]\n");
  const CliResult result = Run({"-f", "a.yaml", "--namespace-labels", "team"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: --namespace-labels contains \"team\", which is not a label\n"
            "hint: write key=value, separated by commas\n");
}

TEST_F(Apply, ReferencesResolveAmongAllDocumentsOfAnInvocation) {
  workspace_.Write("mindgate.yaml", OnlyConfig({"fault-scheduling"}, {}));
  workspace_.Write("runtime.yaml", R"(apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt}
spec:
  engineConfig:
    runner:
      name: ome-container
      resources: {limits: {huawei.com/Ascend910: 8}}
)");
  const std::string service = R"(apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: prod}
spec:
  runtime: {name: srt}
  engine: {minReplicas: 1}
)";
  workspace_.Write("service.yaml", service);
  EXPECT_EQ(RunJson({"-f", "service.yaml"})["results"][0]["changes"].size(), 0u)
      << "alone it names no NPU";
  const Json both = RunJson({"-f", "service.yaml,runtime.yaml"});
  ASSERT_EQ(both["results"][0]["changes"].size(), 1u);
  EXPECT_EQ(both["results"][0]["changes"][0]["path"], "/spec/engine/labels/fault-scheduling");
}

TEST_F(Apply, FaultsInsideARuleHaveTheLineOfTheFile) {
  workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG035"}));
  workspace_.Write("a.yaml", R"(apiVersion: v1
kind: ConfigMap
metadata: {name: r}
data:
  elastic_scaling.json: |
    {"elastic_scaling_list": [{"group_list": [
      {"group_name": "p", "group_num": 2, "server_num_per_group": "1"}]}]}
)");
  const Json finding = RunJson({"-f", "a.yaml"}).at("results").at(0).at("findings").at(0);
  EXPECT_EQ(finding.at("line"), 7);
  EXPECT_EQ(finding.at("column"), 40);
}

TEST_F(Apply, ARuleInAnotherNamespaceIsNamed) {
  workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG031"}));
  const std::string text = R"(apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: j, namespace: mindie, labels: {mind-cluster/scaling-rule: r, mind-cluster/group-name: p, jobID: s}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: r, namespace: rules}
data: {elastic_scaling.json: "{}"}
)";
  const Json results = RunJson({"-f", "-"}, text).at("results");
  EXPECT_EQ(results.at(0).at("findings").at(0).at("message"),
            "ConfigMap \"r\" is not in the job's namespace \"mindie\", but in \"rules\", so no "
            "pods are created until it is");
}

TEST_F(Apply, OfSeveralObjectsWithOneNameThatOfTheSameFileCounts) {
  workspace_.Write("mindgate.yaml", OnlyConfig({"fault-scheduling"}, {}));
  const auto runtime = [](const char* resource) {
    return std::string(
               "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: "
               "srt}\nspec: {engineConfig: {runner: {name: c, resources: {limits: {") +
           resource + ": 8}}}}}\n---\n";
  };
  const std::string service =
      "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\n"
      "spec: {runtime: {name: srt}, engine: {minReplicas: 1}}\n";
  workspace_.Write("dir/a.yaml", runtime("nvidia.com/gpu") + service);
  workspace_.Write("dir/b.yaml", runtime("huawei.com/npu") + service);
  workspace_.Write("dir/c.yaml", service);
  const Json got = RunJson({"-f", "dir"});
  std::vector<size_t> changes;
  for (const Json& result : got["results"]) {
    if (result["kind"] == "InferenceService") changes.push_back(result["changes"].size());
  }
  EXPECT_THAT(changes, ::testing::ElementsAre(0u, 1u, 1u)) << "c.yaml: the last, as in a cluster";
}

TEST_F(Apply, ConfigurationFaultsStopEverything) {
  workspace_.Write("a.yaml", kDeployment);
  workspace_.Write("mindgate.yaml", "scheduler: volcano\nrule: {}\n");
  CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(
      result.err,
      "mindgate.yaml:2:1: unknown key \"rule\"\nrule: {}\n^\nhint: did you mean \"rules\"?\n");
  std::filesystem::remove("mindgate.yaml");
  result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: configuration mindgate.yaml: no such file\n"
            "hint: create one with `mindgate config defaults > mindgate.yaml`\n");
}

TEST_F(Apply, TablesKeepToTheWidth) {
  workspace_.Write("a.yaml", Deployment("llm", "fault-scheduling: Force"));
  for (const size_t width : {60u, 80u, 100u}) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Streams io{in, out, err, false, false, width};
    EXPECT_EQ(cli::Run({"apply", "-f", "a.yaml", "-o", "table", "--config", "mindgate.yaml"}, io),
              1);
    std::istringstream lines(out.str());
    size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_LE(longest, width);
    EXPECT_GT(longest, width - 20) << "and uses it";
  }
}

TEST_F(Apply, KustomizationsAreBuiltByWhatIsInPath) {
  workspace_.Write("base/kustomization.yaml", "resources: []\n");
  const auto program = [this](const std::string& name, const std::string& text) {
    workspace_.Write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(name, std::filesystem::perms::owner_all);
  };
  const auto with_path = [this](const std::string& path) {
    const ::mindgate::testing::ChangedEnvironment changed(
        ::mindgate::testing::Variables{{"PATH", path}});
    return Run({"-k", "base", "-o", "name"});
  };
  const std::string here = std::filesystem::current_path().string();
  const std::string made =
      "[ \"$*\" = \"VERB base\" ] || exit 9\n"
      "echo 'apiVersion: v1'; echo 'kind: Service'; echo 'metadata: {name: by-VERB}'\n";
  const auto of = [&made](const std::string& verb) {
    std::string text = made;
    for (size_t at; (at = text.find("VERB")) != std::string::npos;) text.replace(at, 4, verb);
    return text;
  };
  CliResult result = with_path(here + "/none");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "base: cannot be built: neither kustomize nor kubectl is in PATH; install one of them, "
            "or pipe in output built elsewhere: kustomize build base | mindgate apply -f -\n");
  program("only/kubectl", of("kustomize"));
  EXPECT_EQ(with_path(here + "/only").out, "service/by-kustomize\n");
  program("both/kubectl", of("kustomize"));
  program("both/kustomize", of("build"));
  EXPECT_EQ(with_path(here + "/both").out, "service/by-build\n");
  program("failing/kustomize", "echo 'Error: no base' >&2; exit 1\n");
  result = with_path(here + "/failing");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "base (kustomize build): failed: Error: no base\n");
}

TEST_F(Apply, EachFilenameTakesOnePath) {
  workspace_.Write("a.yaml", kServiceYaml);
  const CliResult result = Cli({"apply", "-f", "a.yaml", "b.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: unexpected argument \"b.yaml\"\nhint: -f takes one path: repeat -f for each, "
            "or quote the pattern: -f '*.yaml'\n");
}

TEST_F(Apply, FoldersOneLevelDeepAndInPart) {
  workspace_.Write("dir/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n");
  workspace_.Write("dir/sub/b.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: b}\n");
  EXPECT_EQ(Run({"-f", "dir", "-o", "name"}).out, "service/a\nservice/b\n");
  EXPECT_EQ(Run({"-R", "-f", "dir", "-o", "name"}).out, "service/a\nservice/b\n");
  EXPECT_EQ(Run({"--recursive=false", "-f", "dir", "-o", "name"}).out, "service/a\n");
  EXPECT_EQ(Run({"--exclude", "a.*", "--exclude", "c", "-f", "dir", "-o", "name"}).out,
            "service/b\n");
}

TEST_F(Apply, NothingToLookAtIsAnError) {
  EXPECT_EQ(Run({}).code, 2);
  const CliResult result = Run({"-f", "-"}, "# only a comment\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: no objects in -\nhint: the input is empty or contains only comments\n");
}

}  // namespace
}  // namespace mindgate::cli
