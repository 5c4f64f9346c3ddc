#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "admission/mutators/mutator.h"
#include "cli/manifests/explain_text.h"
#include "cli/manifests/manifests.h"
#include "policies/engine.h"
#include "schemas/names.h"
#include "support/anchors.h"
#include "support/cli.h"
#include "support/golden.h"

namespace mindgate::cli {
namespace {

using json::Json;
using ::mindgate::testing::AnchorsOf;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::kMisspeltPod;
using ::mindgate::testing::OnlyConfig;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::Not;

// As it will be stored: what is injected counts.
TEST(Explain, BeginsWithWhatTheControllersWillMake) {
  const Workspace workspace;
  workspace.Write(
      "job.yaml",
      "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: chat, labels: "
      "{framework: pytorch}}, spec: {replicaSpecs: {Master: {replicas: 1, template: "
      "{spec: {containers: [{name: ascend, resources: {limits: {huawei.com/Ascend910: 8}, "
      "requests: {huawei.com/Ascend910: 8}}}]}}}}}}");
  const CliResult text = Cli({"explain", "-f", "job.yaml"});
  EXPECT_THAT(text.out, HasSubstr("  What its controllers will make\n"
                                  "    1 PodGroup chat-<uid>          1 pod, minMember 1, 8 "
                                  "huawei.com/Ascend910, by ascend-operator\n"
                                  "    1 Pod Master                   8 huawei.com/Ascend910 each, "
                                  "scheduler volcano\n"
                                  "    1 Service chat-master-0        by ascend-operator\n"
                                  "      ConfigMap rings-config-chat  the rank table, when it is "
                                  "there, by ascend-operator\n"));
  const auto json = json::Decode(Cli({"explain", "-f", "job.yaml", "-o", "json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["results"][0]["children"][2], (json::Json{{"count", "1"},
                                                              {"kind", "Service"},
                                                              {"name", "chat-master-0"},
                                                              {"facts", ""},
                                                              {"maker", "ascend-operator"}}));
}

// Its pods are injected all the same, so that it is not simply ignored.
TEST(Explain, ReportsThatAnUnknownKindHoldsPodsWithNpus) {
  const Workspace workspace;
  workspace.Write("ray.yaml",
                  "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n"
                  "  workerGroupSpecs:\n  - template:\n      spec: {containers: [{name: w, "
                  "resources: {limits: {huawei.com/Ascend910: 8}}}]}\n");
  const std::string note =
      "mindgate does not handle kind RayCluster, and its pods ask for NPUs "
      "(spec.workerGroupSpecs[0].template.spec): on a cluster each of them is injected and "
      "evaluated as a Pod when it is created; gang size and labels of its PodGroup are not "
      "evaluated";
  EXPECT_THAT(Cli({"apply", "-f", "ray.yaml"}).err, HasSubstr("ray.yaml:7:7: note: " + note));
  const auto json = json::Decode(Cli({"apply", "-f", "ray.yaml", "-o", "json"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["results"][0]["note"], note);
  EXPECT_EQ((*json)["results"][0]["outcome"], "ignored");
  workspace.Write("service.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
  EXPECT_EQ(Cli({"apply", "-f", "service.yaml"}).err, "");
}

TEST(Explain, ObjectsRuleByRule) {
  const Workspace workspace;
  workspace.Write("pod.yaml", kMisspeltPod);
  workspace.Write("mindgate.yaml", OnlyConfig({"scheduler-name"}, {"MG001", "MG050", "MG053"}));
  const CliResult result = Cli({"explain", "-f", "pod.yaml", "--all", "--config", "mindgate.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              ::testing::StartsWith(
                  "Pod default/p (pod.yaml:1, CREATE): denied\n"
                  "  What its controllers will make\n"
                  "    1 PodGroup podgroup-<uid>  1 pod, minMember 1, 1 huawei.com/Ascend910, by "
                  "volcano-controllers\n"
                  "    1 Pod                      1 huawei.com/Ascend910 each, scheduler volcano\n"
                  "  Changed\n"
                  "    scheduler-name  spec.schedulerName\n"));
  EXPECT_THAT(result.out, HasSubstr("\n    passed    MG001 "));
  EXPECT_THAT(result.out, HasSubstr("\n    off       MG051 "));
  EXPECT_THAT(result.out,
              HasSubstr("\n    violated  MG050 fault-scheduling-value (enforce)\n"
                        "              pod.yaml:5:30  metadata.labels[fault-scheduling]\n"));
  EXPECT_THAT(result.out, HasSubstr("\n              fix: "));
  EXPECT_THAT(result.out, HasSubstr("\n    does not apply to Pod:\n      MG"));
}

TEST(Explain, ByDefaultOnlyWhatMatters) {
  const Workspace workspace;
  workspace.Write("pod.yaml", kMisspeltPod);
  workspace.Write("mindgate.yaml", OnlyConfig({"scheduler-name"}, {"MG001", "MG050", "MG053"}));
  const CliResult all = Cli({"explain", "-f", "pod.yaml", "-v", "--config", "mindgate.yaml"});
  const CliResult brief = Cli({"explain", "-f", "pod.yaml", "--config", "mindgate.yaml"});
  EXPECT_EQ(brief.code, 1);
  EXPECT_LT(std::count(brief.out.begin(), brief.out.end(), '\n'), 20);
  EXPECT_GT(std::count(all.out.begin(), all.out.end(), '\n'), 40);
  const size_t rules = brief.out.find("  Rules\n");
  ASSERT_NE(rules, std::string::npos);
  EXPECT_EQ(brief.out.substr(0, rules), all.out.substr(0, all.out.find("  Rules\n")));
  EXPECT_THAT(
      brief.out.substr(rules),
      ::testing::StartsWith("  Rules\n    violated  MG050 fault-scheduling-value (enforce)\n"));
  EXPECT_THAT(brief.out,
              ::testing::ContainsRegex(
                  "\n    2 passed, [0-9]+ do not apply, [0-9]+ off \\(--all lists them\\)\n$"));
}

// A JSON pointer with ~1 is not what people write.
TEST(Explain, FieldsReadAsKubernetesPrintsThem) {
  const Workspace workspace;
  const CliResult result = Cli({"explain", "-f", "-"}, R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: c, resources: {limits: {huawei.com/Ascend910: 8}}}
)");
  EXPECT_THAT(result.out,
              HasSubstr("    recover-policy    "
                        "spec.template.metadata.annotations[huawei.com/recover_policy_path]\n"));
  EXPECT_THAT(result.out,
              HasSubstr("    fault-scheduling  spec.template.metadata.labels[fault-scheduling]\n"));
  EXPECT_THAT(result.out,
              HasSubstr("    visible-devices   spec.template.spec.containers[0].env\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("~1")));
}

TEST(Explain, ANameOfBothARuleAndAMutator) {
  const CliResult both = Cli({"explain", "visible-devices"});
  const CliResult rule = Cli({"explain", "rule/visible-devices"});
  const CliResult mutator = Cli({"explain", "mutator/visible-devices"});
  EXPECT_THAT(rule.out, ::testing::StartsWith("MG103 visible-devices\n"));
  EXPECT_EQ(rule.out, Cli({"explain", "rule/MG103"}).out);
  EXPECT_THAT(mutator.out, ::testing::StartsWith("visible-devices (mutator)\n"));
  EXPECT_EQ(both.out, rule.out + "\n" + mutator.out);
  const Json json = Json::parse(Cli({"explain", "visible-devices", "-o", "json"}).out);
  EXPECT_EQ(json["rules"][0]["rule"], "MG103");
  EXPECT_EQ(json["mutators"][0]["mutator"], "visible-devices");
  EXPECT_EQ(Cli({"explain", "MG103", "mutator/visible-devices"}).out, both.out);
  EXPECT_EQ(Cli({"explain", "mutator/MG103"}).err,
            "error: unknown rule, mutator or key \"mutator/MG103\"\n"
            "hint: `mindgate explain` lists all of them\n");
  EXPECT_EQ(Cli({"explain", "rule/scheduler-nam"}).code, 2);
}

TEST(Explain, EveryMutatorReportsWhatWhereAndWhenNot) {
  for (const auto& mutator : mutators::Mutators()) {
    SCOPED_TRACE(mutator.name);
    const std::string text = Cli({"explain", "mutator/" + std::string(mutator.name)}).out;
    for (const char* part : {"\nWhat it writes\n  ", "\nWhere\n  ", "\nWhen it writes nothing\n  ",
                             "\nState\n  on\n", "\nConfiguration\n  mutators: {"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
    for (const std::string_view sentence : {mutator.writes, mutator.where, mutator.withheld}) {
      EXPECT_TRUE(sentence.ends_with('.')) << sentence;
    }
  }
  EXPECT_THAT(Cli({"explain", "scheduler-name"}).out, HasSubstr("schedulerName: volcano"));
  const Workspace workspace;
  workspace.Write("mindgate.yaml", "mutators: {scheduler-name: off}\n");
  EXPECT_THAT(Cli({"explain", "scheduler-name", "--config", "mindgate.yaml"}).out,
              HasSubstr("\nState\n  off (by default on)\n"));
}

TEST(Explain, ExceptionsAndWhatWasWithheldHaveReasons) {
  const Workspace workspace;
  workspace.Write("pod.yaml", kMisspeltPod);
  workspace.Write("mindgate.yaml",
                  OnlyConfig({}, {"MG050"}) +
                      "exceptions: [{rules: [MG050], owner: serving, reason: moves soon, expires: "
                      "2999-12-31}]\n");
  Json got = Json::parse(
      Cli({"explain", "-f", "pod.yaml", "--config", "mindgate.yaml", "-o", "json"}).out);
  const Json& result = got["results"][0];
  EXPECT_EQ(result["outcome"], "admitted");
  EXPECT_EQ(result["rules"].size(), policies::Catalogue().size()) << "every rule is accounted for";
  bool found = false;
  for (const Json& rule : result["rules"]) {
    if (rule["rule"] != "MG050") continue;
    found = true;
    EXPECT_EQ(rule["result"], "excepted");
    EXPECT_EQ(rule["reason"], "excepted until 2999-12-31T23:59:59Z by serving: moves soon");
  }
  EXPECT_TRUE(found);

  std::string opted_out = kMisspeltPod;
  opted_out.insert(opted_out.find("fault-scheduling"), "mindgate.io/inject: disabled, ");
  got = Json::parse(Cli({"explain", "-f", "-", "-o", "json"}, opted_out).out);
  ASSERT_EQ(got["results"][0]["withheld"].size(), 1u);
  EXPECT_THAT(got["results"][0]["withheld"][0]["reason"].get<std::string>(),
              HasSubstr("mindgate.io/inject: disabled"));
}

TEST(Explain, IgnoredObjectsReportWhy) {
  const CliResult result =
      Cli({"explain", "-f", "-"}, "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "Service default/s (<stdin>:1, CREATE): ignored, not a kind that mindgate handles\n");
}

TEST(Explain, ARuleByIdOrName) {
  const CliResult by_id = Cli({"explain", "mg050"});
  EXPECT_EQ(by_id.code, 0);
  EXPECT_EQ(by_id.out, Cli({"explain", "fault-scheduling-value"}).out);
  EXPECT_THAT(by_id.out, ::testing::StartsWith("MG050 fault-scheduling-value\n\n  "));
  for (const char* part :
       {"\nWhy\n  ", "\nWhat to write\n  ", "\nKinds\n  ", "\nMode\n  enforce\n",
        "\nSeverity\n  error\n", "\nSource\n  ", "\nConfiguration\n  rules: {MG050: "}) {
    EXPECT_THAT(by_id.out, HasSubstr(part));
  }
  const Workspace workspace;
  workspace.Write("mindgate.yaml", "rules: {MG050: audit}\n");
  EXPECT_THAT(Cli({"explain", "MG050", "--config", "mindgate.yaml"}).out,
              HasSubstr("\nMode\n  audit (by default enforce)\n"));
  EXPECT_EQ(Json::parse(Cli({"explain", "MG050", "-o", "json"}).out)["rule"], "MG050");
}

TEST(Explain, UnknownRulesGetTheNearestKnown) {
  CliResult result = Cli({"explain", "fault-sheduling-value"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error: unknown rule, mutator or key \"fault-sheduling-value\"\n"
            "hint: did you mean \"fault-scheduling-value\"?\n");
  EXPECT_EQ(Cli({"explain", "whatever"}).err,
            "error: unknown rule, mutator or key \"whatever\"\n"
            "hint: `mindgate explain` lists all of them\n");
  for (const std::vector<std::string>& both :
       {std::vector<std::string>{"explain", "MG050", "-f", "x"},
        std::vector<std::string>{"explain", "-f", "x", "MG050"}}) {
    result = Cli(both);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err,
              "error: both files and the rule \"MG050\" are given\n"
              "hint: -f takes one path: write -f MG050 if it is another file, else remove -f\n");
  }
}

TEST(Explain, ListsEveryRuleAndMutator) {
  const CliResult text = Cli({"explain"});
  EXPECT_EQ(text.code, 0);
  for (const policies::Rule* rule : policies::Catalogue()) {
    EXPECT_THAT(text.out, HasSubstr("\n" + std::string(rule->id) + "  " + std::string(rule->name)));
  }
  for (const auto& mutator : mutators::Mutators()) {
    EXPECT_THAT(text.out, HasSubstr("\n       " + std::string(mutator.name) + " "));
    EXPECT_EQ(Cli({"explain", std::string(mutator.name)}).code, 0);
  }
  const Json list = Json::parse(Cli({"explain", "-o", "json"}).out);
  EXPECT_EQ(list["rules"].size(), policies::Catalogue().size());
  EXPECT_EQ(list["mutators"].size(), mutators::Mutators().size());
}

TEST(Explain, ReportsWhoReadsAKey) {
  EXPECT_EQ(Cli({"explain", "key/sp-block"}).out,
            "sp-block (annotation)\n\n"
            "  The chips of one logical super pod.\n"
            "Where it is read\n"
            "  PodGroup or its pods; of AscendJobs and vcjobs the job\n"
            "Values\n"
            "  chips, a multiple of those of a node\n"
            "Who reads it\n"
            "  ascend-for-volcano: internal/npu\n");
  // There is a mutator of that name, too.
  const CliResult both = Cli({"explain", "fault-scheduling"});
  EXPECT_THAT(both.out, HasSubstr("fault-scheduling (mutator)"));
  EXPECT_THAT(both.out, HasSubstr("fault-scheduling (label)"));
  EXPECT_THAT(Cli({"explain", "key/fault-scheduling"}).out, Not(HasSubstr("(mutator)")));
  const Json key = Json::parse(Cli({"explain", "key/jobID", "-o", "json"}).out);
  EXPECT_EQ(key["is"], "label");
  EXPECT_EQ(Json::parse(Cli({"explain", "-o", "json"}).out)["keys"].size(),
            schemas::KeyFacts().size());
  const CliResult unknown = Cli({"explain", "huawei.com/schedule_minAvailabel"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"huawei.com/schedule_minAvailable\"?"));
}

TEST(ExplainKeys, AListOfOneKindIsAskedForByItsName) {
  const Json mutators = Json::parse(Cli({"explain", "mutators", "-o", "json"}).out);
  EXPECT_EQ(mutators.size(), 1);
  EXPECT_EQ(mutators["mutators"].size(), mutators::Mutators().size());
  const std::string text = Cli({"explain", "mutators"}).out;
  EXPECT_THAT(text, ::testing::StartsWith("       MUTATOR"));
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    EXPECT_THAT(text, HasSubstr("\n       " + std::string(mutator.name) + " "));
  }
  EXPECT_THAT(Cli({"explain", "rules"}).out, Not(HasSubstr("MUTATOR")));
  EXPECT_THAT(Cli({"explain", "keys"}).out, Not(HasSubstr("WHAT MUST HOLD")));
  EXPECT_EQ(Cli({"explain", "rules", "keys"}).code, 2) << "one list at a time";
}

// Outside of code, GitHub hides what looks like HTML.
TEST(RulePages, ShowWhatStandsInAngleBrackets) {
  for (const char* page : {"docs/rules.md", "docs/mutators.md"}) {
    bool code = false;
    char before = 0;
    for (const char c : ::mindgate::testing::ReadSource(page)) {
      if (c == '`') code = !code;
      EXPECT_TRUE(c != '<' || code || before == '\\') << page;
      before = c;
    }
  }
}

// The pages are generated: when this fails, run scripts/rule-pages and read the difference.
TEST(RulePages, AreWhatTheRulesState) {
  const Workspace workspace;
  ASSERT_EQ(Cli({"explain", "--markdown", "pages"}).code, 0);
  std::vector<std::string> pages;
  for (const auto& page : std::filesystem::directory_iterator("pages")) {
    pages.push_back(page.path().filename().string());
    std::stringstream text;
    text << std::ifstream(page.path()).rdbuf();
    const std::string committed = ::mindgate::testing::ReadSource("docs/" + pages.back());
    EXPECT_TRUE(committed == text.str()) << pages.back() << " is stale";
  }
  EXPECT_THAT(pages, ::testing::UnorderedElementsAre("rules.md", "keys.md", "mutators.md"));
}

// The index leads to a section of each rule, and no section is found by the anchor of another one.
TEST(RulePages, TheIndexLeadsToEveryRule) {
  const std::string page = ::mindgate::testing::ReadSource("docs/rules.md");
  const auto anchors = AnchorsOf(page);
  for (const policies::Rule* rule : policies::Catalogue()) {
    const std::string anchor = RuleAnchor(*rule);
    EXPECT_THAT(page, HasSubstr("| [" + std::string(rule->id) + "](" + anchor + ") | "));
    EXPECT_THAT(anchors, ::testing::Contains(anchor.substr(1)));
  }
  EXPECT_EQ(anchors.size(), policies::Catalogue().size() + 1) << "the title, and a section a rule";
}

}  // namespace
}  // namespace mindgate::cli
