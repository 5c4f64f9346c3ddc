#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kInGroup0 =
    "jobID: s, app: mindie-ms-server, mind-cluster/scaling-rule: r, mind-cluster/group-name: "
    "group0";

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
          {"no strings: wrong-type reports it",
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
          With("absent is reported by scaling-rule-exists", in("group0"), {}, {}),
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
          With("an unknown group is reported by scaling-group", Server(kInGroup0),
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

}  // namespace
}  // namespace mindgate::testing
