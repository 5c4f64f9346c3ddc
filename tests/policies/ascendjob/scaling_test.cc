#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// ConfigMap <name>/r of namespace ns, its rule on one line of `text` after another.
std::string RuleMap(const std::string& text, const std::string& ns = "ns",
                    const std::string& name = "r") {
  std::string out = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                    ", namespace: " + ns + "}\ndata:\n  elastic_scaling.json: |\n    ";
  for (char c : text) out += c == '\n' ? "\n    " : std::string(1, c);
  return out + "\n";
}

std::string Group(const std::string& name, const std::string& num,
                  const std::string& servers = "2") {
  return R"({"group_name":")" + name + R"(","group_num":")" + num +
         R"(","server_num_per_group":")" + servers + R"("})";
}

// A rule of one tier a line.
std::string Tiers(const std::vector<std::string>& tiers) {
  std::string out = "{\"elastic_scaling_list\":[";
  for (size_t i = 0; i < tiers.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + std::string("{\"group_list\":[") + tiers[i] + "]}";
  }
  return out + "]}";
}

const std::string kRule = Tiers({Group("group0", "2") + "," + Group("group1", "1"),
                                 Group("group0", "1") + "," + Group("group1", "1")});

// A server instance of two pods under rule r.
std::string Server(const std::string& labels) { return PytorchJob("", labels); }
const std::string kInGroup0 =
    "jobID: s, app: mindie-ms-server, mind-cluster/scaling-rule: r, mind-cluster/group-name: "
    "group0";

RuleCase With(const std::string& name, const std::string& object, std::vector<std::string> others,
              std::vector<std::string> want) {
  RuleCase c{name, object, std::move(want)};
  c.others = std::move(others);
  c.know_cluster = true;
  return c;
}

RuleCase Unknown(const std::string& object, const std::string& old_object = "") {
  RuleCase c{"nothing else is known: skipped, visibly", object, {}, old_object};
  c.want_skipped = true;
  return c;
}

TEST(ScalingLabels, Table) {
  const std::string kMissing =
      " is missing beside a scaling rule, so the operator fails the job permanently";
  const std::string kEmpty =
      " is empty beside a scaling rule, so the job is not counted with the service";
  ExpectFindings(
      "MG030",
      {
          {"no rule", PytorchJob(), {}},
          {"complete", Server(kInGroup0), {}},
          {"labels missing, which marks the job Failed permanently",
           Server("mind-cluster/scaling-rule: r"),
           {"metadata.labels[mind-cluster/group-name]: label mind-cluster/group-name" + kMissing,
            "metadata.labels.jobID: label jobID" + kMissing}},
          {"empty values, which upstream takes",
           Server("mind-cluster/scaling-rule: '', mind-cluster/group-name: '', jobID: ''"),
           {"metadata.labels[mind-cluster/scaling-rule]: label mind-cluster/scaling-rule is empty, "
            "yet it counts as set: the job waits forever",
            "metadata.labels[mind-cluster/group-name]: label mind-cluster/group-name" + kEmpty,
            "metadata.labels.jobID: label jobID" + kEmpty}},
          {"no strings: wrong-type tells",
           Server("mind-cluster/scaling-rule: 1, mind-cluster/group-name: 2, jobID: 3"),
           {}},
      });
}

TEST(ScalingRuleExists, Table) {
  ExpectFindings(
      "MG031",
      {
          With("no rule named", PytorchJob(), {}, {}),
          With("there", Server(kInGroup0), {RuleMap(kRule)}, {}),
          With("absent", Server(kInGroup0), {},
               {"metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"r\" is not in the job's "
                "namespace \"ns\", so no pods are created until it is"}),
          With("the ConfigMap is in another namespace", Server(kInGroup0),
               {RuleMap(kRule, "mindie-service")},
               {"metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"r\" is not in the job's "
                "namespace \"ns\", but in \"mindie-service\", so no pods are created until it is"}),
          With("another name",
               Server("jobID: s, mind-cluster/scaling-rule: chat-rules, "
                      "mind-cluster/group-name: group0"),
               {RuleMap(kRule, "ns", "chat-rule")},
               {"metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"chat-rules\" is not in "
                "the job's namespace \"ns\", but \"chat-rule\" is, so no pods are created until "
                "it is"}),
          {.name = "known or not, another namespace is seen",
           .object = Server(kInGroup0),
           .want = {"metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"r\" is not in the "
                    "job's namespace \"ns\", but in \"mindie-service\", so no pods are created "
                    "until it is"},
           .others = {RuleMap(kRule, "mindie-service")},
           .incomplete = true},
          {.name = "the one rule here, which no job names",
           .object = Server("jobID: s, mind-cluster/scaling-rule: shapes, "
                            "mind-cluster/group-name: group0"),
           .want =
               {"metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"shapes\" is not in the "
                "job's namespace \"ns\", but \"elastic\" is, so no pods are created until it "
                "is"},
           .others = {RuleMap(kRule, "ns", "elastic")},
           .incomplete = true},
          {.name = "one of two rules",
           .object = Server("jobID: s, mind-cluster/scaling-rule: shapes, "
                            "mind-cluster/group-name: group0"),
           .others = {RuleMap(kRule, "ns", "elastic"), RuleMap(kRule, "ns", "motor")},
           .want_skipped = true,
           .incomplete = true},
          {.name = "a rule of other groups",
           .object = Server("jobID: s, mind-cluster/scaling-rule: shapes, "
                            "mind-cluster/group-name: other"),
           .others = {RuleMap(kRule, "ns", "elastic")},
           .want_skipped = true,
           .incomplete = true},
          {.name = "not a rule that is only numbered differently",
           .object = Server("jobID: s, mind-cluster/scaling-rule: rule-2, "
                            "mind-cluster/group-name: group0"),
           .others = {RuleMap(kRule, "ns", "rule-1")},
           .want_skipped = true,
           .incomplete = true},
          Unknown(Server(kInGroup0)),
      });
}

TEST(ScalingGroup, Table) {
  const auto in = [](const std::string& group) {
    return Server("jobID: s, mind-cluster/scaling-rule: r, mind-cluster/group-name: " + group);
  };
  const std::string kGroup = "metadata.labels[mind-cluster/group-name]: group ";
  const std::string kRuleLabel = "metadata.labels[mind-cluster/scaling-rule]: ConfigMap \"r\" ";
  ExpectFindings(
      "MG032",
      {
          With("in every tier", in("group1"), {RuleMap(kRule)}, {}),
          With("in no tier", in("Group1"), {RuleMap(kRule)},
               {kGroup + "\"Group1\" is in no tier of the scaling rule; asking for its pods "
                         "crashes the operator"}),
          With("in the first tier only", in("x"),
               {RuleMap(Tiers({Group("p", "1") + "," + Group("x", "1"), Group("p", "1")}))},
               {kGroup + "\"x\" is missing in tier 1 of the scaling rule; asking for its pods "
                         "there crashes the "
                         "operator"}),
          With(
              "a rule without tiers", in("x"), {RuleMap("{}")},
              {"metadata.labels[mind-cluster/scaling-rule]: the scaling rule lists no shape of the "
               "service, so the job gets no pods"}),
          With("an invalid rule blocks silently", in("group0"), {RuleMap("{\n\"version\": 1}")},
               {kRuleLabel +
                "holds no valid scaling rule (line 2: version is a number instead of a string in "
                "quotes, so the operator refuses the whole rule)"}),
          With("another data key", in("group0"),
               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: r, namespace: ns}, data: "
                "{rule.json: '{}'}}"},
               {kRuleLabel + "has no text under elastic_scaling.json, so the job gets no pods"}),
          With("absent is scaling-rule-exists' to tell", in("group0"), {}, {}),
          Unknown(in("group0")),
      });
}

TEST(ScalingServerCount, Table) {
  ExpectFindings(
      "MG033",
      {
          With("Master and Worker are two pods", Server(kInGroup0), {RuleMap(kRule)}, {}),
          With("server_num_per_group is compared with nothing upstream", Server(kInGroup0),
               {RuleMap(Tiers({Group("group0", "1", "4") + "," + Group("group1", "1")}))},
               {"spec.replicaSpecs: the job has 2 pods, but group \"group0\" of the scaling rule "
                "says 4 "
                "per job"}),
          With("an unknown group is scaling-group's to tell", Server(kInGroup0),
               {RuleMap(Tiers({Group("p", "1", "4")}))}, {}),
          Unknown(Server(kInGroup0)),
      });
}

TEST(ScalingGroupFull, Table) {
  const auto job = [](const std::string& name, const std::string& labels) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: " + name +
           ", namespace: ns, labels: {" + labels + "}}}";
  };
  const std::string other =
      "jobID: t, mind-cluster/scaling-rule: r, mind-cluster/group-name: group0";
  const auto finding = [](const std::string& has, const std::string& before) {
    return std::vector<std::string>{
        "metadata.labels[mind-cluster/group-name]: group \"group0\" has " + has +
        " jobs in the largest shape of the scaling rule, and " + before +
        " of this service come before this one, which gets no pods while they run"};
  };
  ExpectFindings(
      "MG196",
      {
          With("the third of two", Server(kInGroup0),
               {RuleMap(kRule), job("a", kInGroup0), job("b", kInGroup0)}, finding("2", "2")),
          With("the second", Server(kInGroup0),
               {RuleMap(kRule), job("a", kInGroup0), job("j", kInGroup0), job("zz", kInGroup0)},
               {}),
          With("others of another service", Server(kInGroup0),
               {RuleMap(kRule), job("a", other), job("b", other)}, {}),
          With("alone", Server(kInGroup0), {RuleMap(kRule)}, {}),
          With("no rule named", PytorchJob(), {job("a", kInGroup0)}, {}),
      });
}

TEST(ScalingLabelsPlacement, Table) {
  ExpectFindings(
      "MG034",
      {
          {"a server instance", Server(kInGroup0), {}},
          {"a controller without a rule", Server("app: mindie-ms-controller, jobID: s"), {}},
          {"a controller under a rule",
           Server("app: mindie-ms-controller, jobID: s, mind-cluster/scaling-rule: r, "
                  "mind-cluster/group-name: group0"),
           {"metadata.labels[mind-cluster/scaling-rule]: a scaling rule on mindie-ms-controller "
            "makes "
            "it wait for its turn like a server instance"}},
          {"a coordinator under a rule",
           Server("app: mindie-ms-coordinator, mind-cluster/scaling-rule: r"),
           {"metadata.labels[mind-cluster/scaling-rule]: a scaling rule on mindie-ms-coordinator "
            "makes "
            "it wait for its turn like a server instance"}},
          {"a group without a rule",
           Server("mind-cluster/group-name: group0"),
           {"metadata.labels[mind-cluster/group-name]: label mind-cluster/group-name has no effect "
            "without mind-cluster/scaling-rule"}},
          {"labels on the pods only",
           AscendJob("framework: pytorch",
                     "replicaSpecs: {Master: {template: {metadata: {labels: "
                     "{mind-cluster/scaling-rule: r}}, spec: {containers: []}}}}"),
           {"spec.replicaSpecs.Master.template.metadata.labels[mind-cluster/scaling-rule]: label "
            "mind-cluster/scaling-rule has no effect on the pods of Master; the operator reads the "
            "job's own labels"}},
          {"labels on job and pods, as injection leaves them",
           AscendJob("framework: pytorch, " + kInGroup0,
                     "replicaSpecs: {Master: {template: {metadata: {labels: {" + kInGroup0 +
                         "}}, spec: {containers: []}}}}"),
           {}},
      });
}

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
          {"M1: one group",
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

TEST(ScalingRuleUpdate, Table) {
  const std::string kSmaller = Tiers({Group("group0", "1") + "," + Group("group1", "1")});
  ExpectFindings(
      "MG039",
      {
          {"create", RuleMap(kRule), {}},
          {"M2: a running controller keeps the old rule",
           RuleMap(kSmaller),
           {kData + "the rule changes, but a running MindIE controller keeps the old one until it "
                    "restarts"},
           RuleMap(kRule)},
          {"the same rule in other words", RuleMap("\n" + kRule), {}, RuleMap(kRule)},
          {"an invalid new rule is told elsewhere", RuleMap("{"), {}, RuleMap(kRule)},
          {"the first rule of a ConfigMap",
           RuleMap(kRule),
           {},
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: r, namespace: ns}, data: {x: y}}"},
      });
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
      const auto there = policies::Judge({*view, &*plain_view, request, config});
      const auto back = policies::Judge({*plain_view, &*view, request, config});
      for (const auto* judgement : {&there, &back}) {
        for (const auto& finding : judgement->findings)
          EXPECT_FALSE(finding.error) << finding.message;
      }
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
