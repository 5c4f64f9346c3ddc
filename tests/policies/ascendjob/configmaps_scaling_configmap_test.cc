#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kData = "data[elastic_scaling.json]: ";

TEST(ScalingRuleReadable, Table) {
  const std::string kEnd = ", so the operator refuses the whole rule";
  ExpectFindings(
      "MG035",
      {
          {"the documents' rule without its comments", RuleMap(kRule), {}},
          {"a rank table",
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-x}, data: {}}",
           {}},
          {"comments and bare numbers, with the place inside the text",
           RuleMap(
               "{\"version\": \"1.0\", # fixed\n"
               "\"elastic_scaling_list\": [{\"group_list\": [\n"
               "{\"group_name\": \"p\", \"group_num\": 2, \"server_num_per_group\": \"2\"}]}]}"),
           {kData +
                "line 1, column 20: JSON does not allow comments, but there are some on line 1" +
                kEnd,
            kData + "line 3, column 34: group_num is a number instead of a string in quotes" +
                kEnd}},
          {"a rule as YAML instead of text",
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: r}, data: {elastic_scaling.json: "
           "{version: '1.0'}}}",
           {kData +
            "elastic_scaling.json is of type object, but a ConfigMap holds text only, so the API "
            "server refuses it"}},
          {"the minimal shape first",
           RuleMap(Tiers({Group("p", "1"), Group("p", "2")})),
           {kData + "line 3, column 46: group_num of \"p\" grows from 1 to 2" + kEnd}},
      });
}

TEST(ScalingRuleReadable, CountsWhatItDoesNotList) {
  std::string groups;
  for (int i = 0; i < 60; ++i) groups += (i == 0 ? "" : ",") + Group("g" + std::to_string(i), "x");
  const json::Document object = YamlDocument(RuleMap(Tiers({groups})));
  const auto view = schemas::BuildView(object.root());
  schemas::AdmissionRequest request;
  const schemas::Config config;
  policies::Findings findings;
  policies::FindRule("MG035")->check({*view, nullptr, request, config}, findings);
  ASSERT_EQ(findings.violations().size(), 51u);
  EXPECT_EQ(findings.violations().back().message, "and 10 more faults");
}

TEST(ScalingRuleWorkable, Table) {
  ExpectFindings(
      "MG036",
      {
          {"every group in every tier", RuleMap(kRule), {}},
          {"a group that a tier leaves out",
           RuleMap(Tiers({Group("p", "1") + "," + Group("x", "1"), Group("p", "1")})),
           {kData + "line 3, column 2: group \"x\" is missing from this tier; once the service has "
                    "shrunk to it, a job of the group crashes the operator"}},
          {"no tiers",
           RuleMap("{}"),
           {kData +
            "line 1, column 1: elastic_scaling_list is missing or empty, so no job under this rule "
            "gets pods"}},
          {"a group twice",
           RuleMap(Tiers({Group("p", "1") + ",\n" + Group("p", "2")})),
           {kData + "line 3, column 1: group \"p\" is written twice in one group_list, and the "
                    "last one silently wins"}},
      });
}

TEST(ScalingRuleDocumented, Table) {
  ExpectFindings(
      "MG037",
      {
          {"the documents' rule without its comments", RuleMap(kRule), {}},
          {"server_num_per_group may shrink, but should not",
           RuleMap(Tiers({Group("p", "2", "4") + "," + Group("d", "1"),
                          Group("p", "1", "2") + "," + Group("d", "1")})),
           {kData + "line 3, column 73: server_num_per_group of \"p\" is 2 after 4; the documents "
                    "require the same number in all tiers, the operator only forbids growth"}},
          {"one group",
           RuleMap(Tiers({Group("p", "1")})),
           {kData +
            "line 2, column 2: the first tier has one group, but MindIE's controller reads two: "
            "prefill first, then decode"}},
      });
}

TEST(ScalingRuleJobs, Table) {
  const auto job = [](const std::string& name, const std::string& group,
                      const std::string& more = "") {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: " + name +
           ", namespace: ns, " + more + "labels: {mind-cluster/scaling-rule: r, " +
           "mind-cluster/group-name: " + group + "}}}";
  };
  RuleCase update =
      With("a group is renamed while jobs of it exist",
           RuleMap(Tiers({Group("prefill", "1") + "," + Group("group1", "1")})),
           {job("p0", "group0"), job("p1", "group0"), job("p2", "group0"), job("p3", "group0"),
            job("d0", "group1")},
           {kData + "group \"group0\" is in no tier, but AscendJob \"p0\", \"p1\", \"p2\" and 1 "
                    "more belongs to it and crashes the operator when it asks for pods"});
  update.old_object = RuleMap(kRule);
  ExpectFindings(
      "MG038",
      {
          update,
          With("all groups are kept", RuleMap(kRule), {job("p0", "group0"), job("d0", "group1")},
               {}),
          With("jobs that are going, or follow another rule", RuleMap(kRule),
               {job("p0", "x", "deletionTimestamp: '2026-01-01T00:00:00Z', "),
                "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: q, "
                "namespace: ns, "
                "labels: {mind-cluster/scaling-rule: other, mind-cluster/group-name: x}}}"},
               {}),
          Unknown(RuleMap(kRule)),
      });
}

TEST(ScalingRuleUpdate, Table) {
  const std::string kSmaller = Tiers({Group("group0", "1") + "," + Group("group1", "1")});
  ExpectFindings(
      "MG039",
      {
          {"create", RuleMap(kRule), {}},
          {"a running controller keeps the old rule",
           RuleMap(kSmaller),
           {kData + "the rule changes, but a running MindIE controller keeps the old one until it "
                    "restarts"},
           RuleMap(kRule)},
          {"the same rule in other words", RuleMap("\n" + kRule), {}, RuleMap(kRule)},
          {"an invalid new rule is reported elsewhere", RuleMap("{"), {}, RuleMap(kRule)},
          {"the first rule of a ConfigMap",
           RuleMap(kRule),
           {},
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: r, namespace: ns}, data: {x: y}}"},
      });
}

TEST(ScalingRuleKey, Table) {
  const auto under = [](const std::string& key) {
    return "{apiVersion: v1, kind: ConfigMap, metadata: {name: r}, data: {'" + key + "': '{}'}}";
  };
  const auto meant = [](const std::string& key) {
    return std::vector<std::string>{
        "data[" + key + "]: no component reads \"" + key +
        "\", did you mean \"elastic_scaling.json\"? The operator finds no rule here, and no job "
        "under it gets pods"};
  };
  ExpectFindings("MG049",
                 {
                     {"a hyphen", under("elastic-scaling.json"), meant("elastic-scaling.json")},
                     {"capitals", under("Elastic_Scaling.json"), meant("Elastic_Scaling.json")},
                     {"right", under("elastic_scaling.json"), {}},
                 });
  EXPECT_FALSE(schemas::BuildView(YamlDocument(under("elastic.json")).root()))
      << "a ConfigMap of somebody else";
}

TEST(ScalingRules, SurviveAnyConfigMap) {
  for (const char* metadata :
       {"null", "1", "{name: rings-config-x, labels: 3}",
        "{name: rings-config-x, labels: {jobID: 1, mx-consumer-cim: true}}"}) {
    for (const char* data :
         {"null", "x", "[]", "{}", "{elastic_scaling.json: null, hccl.json: null}",
          "{elastic_scaling.json: 1, hccl.json: 1}",
          "{elastic_scaling.json: '[[[', hccl.json: '[[['}",
          "{elastic_scaling.json: 'null', hccl.json: 'null'}"}) {
      const std::string text =
          "apiVersion: v1\nkind: ConfigMap\nmetadata: " + std::string(metadata) + "\ndata: " + data;
      SCOPED_TRACE(text);
      const json::Document object = YamlDocument(text);
      const json::Document plain = YamlDocument(RuleMap(kRule));
      const auto view = schemas::BuildView(object.root());
      const auto plain_view = schemas::BuildView(plain.root());
      if (!view) continue;  // no ConfigMap of ours
      const FakeObjects strange({text, Server("mind-cluster/scaling-rule: 1")});
      schemas::AdmissionRequest request;
      request.objects = &strange;
      request.operation = schemas::Operation::kUpdate;
      const schemas::Config config;
      const auto there = policies::Evaluate({*view, &*plain_view, request, config});
      const auto back = policies::Evaluate({*plain_view, &*view, request, config});
      for (const auto* evaluation : {&there, &back}) {
        for (const auto& finding : evaluation->findings)
          EXPECT_FALSE(finding.error) << finding.message;
      }
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
