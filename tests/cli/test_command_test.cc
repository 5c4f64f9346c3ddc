#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/manifests/manifests.h"
#include "support/cli.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::kMisspeltPod;
using ::mindgate::testing::OnlyConfig;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;

class TestCommand : public ::testing::Test {
 protected:
  TestCommand() {
    workspace_.Write("mindgate.yaml", OnlyConfig({"scheduler-name"}, {"MG050"}));
    workspace_.Write("pod.yaml", kMisspeltPod);
  }

  Workspace workspace_;
};

TEST_F(TestCommand, ConfigMapsAreNotReadAndThatIsWarnedOfOnce) {
  for (const char* name : {"suites/a.yaml", "suites/b.yaml"}) {
    workspace_.Write(name, R"(config: {policies: {configMaps: true}}
cases:
- name: another kind
  input: {apiVersion: v1, kind: Service, metadata: {name: s}}
  expect: {outcome: ignored}
)");
  }
  const CliResult result = Cli({"test", "suites"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(
      result.err,
      "warning: policies.configMaps is true, and ConfigMaps are not read without a cluster: "
      "their policies are left out\n"
      "hint: name their texts under policies.files, too, or evaluate a cluster with `mindgate "
      "audit`\n");
}

TEST_F(TestCommand, PassingCases) {
  workspace_.Write("suite.yaml", R"(name: pods
config: mindgate.yaml
cases:
- name: a wrong label is refused
  input: pod.yaml
  expect:
    outcome: denied
    patch: [{op: add, path: /spec/schedulerName, value: volcano}]
    changes: [{mutator: scheduler-name}]
    findings: [{rule: fault-scheduling-value, field: "metadata.labels[fault-scheduling]", mode: enforce}]
    warnings: []
- name: an inline object, opted out
  input:
    apiVersion: v1
    kind: Pod
    metadata: {name: p}
    spec: {containers: [{name: c, resources: {limits: {huawei.com/npu: 1}}}]}
  namespaceLabels: {mindgate.io/inject: disabled}
  expect: {outcome: admitted, patch: []}
- name: an update with nothing new
  input: pod.yaml
  old: pod.yaml
  expect: {patch: []}
- name: another kind
  input: {apiVersion: v1, kind: Service, metadata: {name: s}}
  expect: {outcome: ignored}
)");
  const CliResult result = Cli({"test", "suite.yaml"});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "pods (suite.yaml)\n"
            "  ok      a wrong label is refused\n"
            "  ok      an inline object, opted out\n"
            "  ok      an update with nothing new\n"
            "  ok      another kind\n"
            "4 cases: 4 passed, 0 failed\n");
}

constexpr const char* kFailing = R"(name: pods & co
config: mindgate.yaml
cases:
- name: all of it is "wrong"
  input: pod.yaml
  expect:
    outcome: admitted
    patch: [{op: add, path: /spec/schedulerName, value: other}]
    changes: []
    findings: [{rule: MG001}, {rule: MG050}]
    warnings: [careful]
- name: fine
  input: pod.yaml
  expect: {outcome: denied}
)";

TEST_F(TestCommand, FailuresShowExpectedAndActual) {
  workspace_.Write("suite.yaml", kFailing);
  const CliResult result = Cli({"test", "suite.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, R"(pods & co (suite.yaml)
  FAILED  all of it is "wrong" (suite.yaml:4)
          outcome:
            want admitted, got denied
          patch:
            @@ -1,3 +1,3 @@
             - op: add
               path: /spec/schedulerName
            -  value: other
            +  value: volcano
          changes:
            @@ -1 +1,2 @@
            -[]
            +- mutator: scheduler-name
            +  path: /spec/schedulerName
          findings:
            @@ -1,4 +1,3 @@
             - field: metadata.labels[fault-scheduling]
               mode: enforce
               rule: MG050
            -- rule: MG001
          warnings:
            @@ -1 +0,0 @@
            -careful
  ok      fine
2 cases: 1 passed, 1 failed
)");
}

TEST_F(TestCommand, Junit) {
  workspace_.Write("suite.yaml", kFailing);
  workspace_.Write("bad.yaml", "cases: []\n");
  const CliResult result = Cli({"test", "suite.yaml", "bad.yaml", "-o", "junit"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.out,
              ::testing::StartsWith(
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"pods &amp; co\" file=\"suite.yaml\" tests=\"2\" "
                  "failures=\"1\" errors=\"0\">\n"
                  "    <testcase name=\"all of it is &quot;wrong&quot;\" classname=\"pods &amp; "
                  "co\" file=\"suite.yaml\" line=\"4\">\n"
                  "      <failure message=\"outcome\">want admitted, got denied\n</failure>\n"));
  EXPECT_THAT(result.out, HasSubstr("    <testcase name=\"fine\" classname=\"pods &amp; co\" "
                                    "file=\"suite.yaml\" line=\"12\"/>\n"));
  EXPECT_THAT(
      result.out,
      HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\">\n    <testcase name=\"bad.yaml\" "
                "classname=\"bad.yaml\">\n      <error message=\"the suite is invalid\"/>\n"));
}

TEST_F(TestCommand, SuitesThatCannotBeRead) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"cases: [\n", "suite.yaml:2:1: "},
      {"case: []\n", "suite.yaml:1:1: \"cases\" is missing"},
      {"cases: [{name: a, input: pod.yaml, expect: {}}]\n",
       "suite.yaml:1:36: expect is empty, so the case cannot fail"},
      {"cases: [{name: a, input: gone.yaml, expect: {outcome: denied}}]\n",
       "suite.yaml:1:26: gone.yaml: no such file"},
      {"cases: [{name: a, input: {kind: Pod}, expect: {outcome: denied}}]\n",
       "suite.yaml:1:19: not a Kubernetes object: apiVersion is missing"},
      {"cases: [{name: a, input: pod.yaml, expect: {outcome: deny}}]\n",
       "suite.yaml:1:54: \"deny\" is not allowed here: must be \"admitted\", \"denied\" or "
       "\"ignored\""},
      {"cases: [{name: a, input: pod.yaml, expect: {findings: [{rule: MG0500}]}}]\n",
       "suite.yaml:1:63: unknown rule \"MG0500\""},
      {"config: {rule: {}}\ncases: [{name: a, input: pod.yaml, expect: {outcome: denied}}]\n",
       "suite.yaml:1:10: unknown key \"rule\""},
      {"cases: [{name: a, input: two.yaml, expect: {outcome: denied}}]\n",
       "suite.yaml:1:26: contains 2 objects instead of one"},
      {"cases:\n- {name: a, input: pod.yaml, expect: {outcome: denied}}\n"
       "- {name: a, input: pod.yaml, expect: {outcome: denied}}\n",
       "suite.yaml:3:10: case 1 has the same name"},
      {"now: yesterday\ncases: [{name: a, input: pod.yaml, expect: {outcome: denied}}]\n",
       "suite.yaml:1:6: \"yesterday\" is not a time"},
      {"# empty\n", "suite.yaml: contains no suite"},
  };
  workspace_.Write("two.yaml", std::string(kMisspeltPod) + "---\n" + kMisspeltPod);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    workspace_.Write("suite.yaml", c.text);
    const CliResult result = Cli({"test", "suite.yaml"});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, ::testing::StartsWith(c.want));
  }
}

// All faults of a suite come at once, those of its configuration too.
TEST_F(TestCommand, AllFaultsAtOnce) {
  workspace_.Write("suite.yaml", R"(config: {rules: {MG0500: warn}, graceOverTime: 3}
now: soon
cases:
- {name: a, input: gone.yaml, operation: DELETE, expect: {}}
)");
  EXPECT_EQ(Cli({"test", "suite.yaml"}).err,
            "suite.yaml:1:26: unknown key \"MG0500\"\n"
            "config: {rules: {MG0500: warn}, graceOverTime: 3}\n"
            "                         ^\n"
            "hint: did you mean \"MG050\"?\n"
            "suite.yaml:2:6: \"soon\" is not a time\n"
            "now: soon\n"
            "     ^\n"
            "hint: write 2026-12-31T12:00:00Z\n"
            "suite.yaml:4:42: \"DELETE\" is not allowed here: must be \"CREATE\" or \"UPDATE\"\n"
            "- {name: a, input: gone.yaml, operation: DELETE, expect: {}}\n"
            "                                         ^\n"
            "suite.yaml:4:50: expect is empty, so the case cannot fail\n"
            "- {name: a, input: gone.yaml, operation: DELETE, expect: {}}\n"
            "                                                 ^\n"
            "hint: add outcome, changes, findings, patch or warnings\n");
}

TEST_F(TestCommand, OldSpellingsOfItsConfigurationAreWarnings) {
  workspace_.Write("suite.yaml", R"(config: {graceOverTime: 900}
cases: [{name: a, input: pod.yaml, expect: {outcome: denied}}]
)");
  const CliResult result = Cli({"test", "suite.yaml"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "suite.yaml:1:25: warning: 900 has no unit and is read as seconds\n"
            "config: {graceOverTime: 900}\n"
            "                        ^\n"
            "hint: write 15m\n");
}

TEST_F(TestCommand, DocumentPicksOneAndTheOthersAreKnown) {
  workspace_.Write("ome.yaml", R"(apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt}
spec: {engineConfig: {runner: {name: c, resources: {limits: {huawei.com/Ascend910: 8}}}}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec: {runtime: {name: srt}, engine: {minReplicas: 1}}
)");
  workspace_.Write("only.yaml", OnlyConfig({"fault-scheduling"}, {}));
  workspace_.Write("suite.yaml", R"(config: only.yaml
cases:
- {name: with its runtime, input: ome.yaml, document: 2, expect: {changes: [{mutator: fault-scheduling}]}}
)");
  const CliResult result = Cli({"test", "suite.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(TestCommand, FoldersHoldSuitesBesideManifests) {
  workspace_.Write("dir/pod.yaml", kMisspeltPod);
  workspace_.Write("dir/mindgate.yaml", "rules: {}\n");
  workspace_.Write("dir/sub/suite.yaml",
                   "cases: [{name: a, input: ../pod.yaml, expect: {outcome: denied}}]\n");
  EXPECT_EQ(Cli({"test", "dir"}).out,
            "dir/sub/suite.yaml\n  ok      a\n1 case: 1 passed, 0 failed\n");
  workspace_.Write("dir/typo.yaml", "cazes: []\n");
  EXPECT_EQ(Cli({"test", "dir"}).code, 2) << "a suite with a typo must not be passed over";
  workspace_.Write("manifests/pod.yaml", kMisspeltPod);
  EXPECT_EQ(Cli({"test", "manifests"}).err,
            "error: no suites in manifests\nhint: a suite is a YAML file with a list of cases\n");
}

TEST_F(TestCommand, ASuiteOnStandardInput) {
  workspace_.Write("sub/pod.yaml", kMisspeltPod);
  const std::string suite = "cases: [{name: a, input: sub/pod.yaml, expect: {outcome: denied}}]\n";
  CliResult result = Cli({"test", "-"}, suite);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "<stdin>\n  ok      a\n1 case: 1 passed, 0 failed\n");
  result = Cli({"test", "-"}, "apiVersion: v1\nkind: Pod\n");
  EXPECT_EQ(result.code, 2) << "named, so it must be a suite";
}

TEST_F(TestCommand, ExceptionsAreEvaluatedAtTheTimeOfTheSuite) {
  const std::string suite = R"(config:
  exceptions: [{rules: [MG050], owner: o, reason: r, expires: 2026-06-30}]
cases: [{name: a, input: pod.yaml, expect: {outcome: )";
  workspace_.Write("before.yaml", "now: 2026-06-30T10:00:00Z\n" + suite + "admitted}}]\n");
  workspace_.Write("after.yaml", "now: 2026-07-01T00:00:00Z\n" + suite + "denied}}]\n");
  const CliResult result = Cli({"test", "before.yaml", "after.yaml"});
  EXPECT_EQ(result.code, 0) << result.out;
}

}  // namespace
}  // namespace mindgate::cli
