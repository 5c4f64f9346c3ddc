#include <gtest/gtest.h>

#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kScaledPod =
    "spec: {containers: [{name: m, image: i, resources: {limits: {huawei.com/Ascend910: 8}}}]}";

// A Deployment with labels on itself and on its pods.
std::string ScaledDeployment(const std::string& labels, const std::string& of_pods) {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ns, labels: {" +
         labels + "}}, spec: {template: {metadata: {labels: {" + of_pods + "}}, " + kScaledPod +
         "}}}";
}

// A StormService whose role prefill has labels, beside a router without any.
std::string ScaledRoles(const std::string& labels) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a, "
         "namespace: ns}, spec: {template: {spec: {roles: [{name: prefill, template: {metadata: "
         "{labels: {" +
         labels + "}}, " + kScaledPod +
         "}}, {name: routing, template: {spec: {containers: [{name: r, image: i}]}}}]}}}}";
}

const std::string kUnderRule = "mind-cluster/scaling-rule: r";
const std::string kCounted = kUnderRule + ", mind-cluster/group-name: p, jobID: s";
const std::string kPodLabels = "spec.template.metadata.labels";

TEST(ScaledPodsLabels, Table) {
  const std::string held =
      "[mind-cluster/group-name]: the pods are under scaling rule \"r\" without the label "
      "mind-cluster/group-name: their instances cannot be counted, and the whole service is held";
  ExpectFindings(
      "MG166",
      {
          {"no group", ScaledDeployment("", kUnderRule + ", jobID: s"), {kPodLabels + held}},
          {"no service",
           ScaledDeployment("", kUnderRule + ", mind-cluster/group-name: p"),
           {kPodLabels +
            ".jobID: the pods are under scaling rule \"r\" without the label jobID: they belong to "
            "no service, so the rule does not hold them"}},
          {"an empty group",
           ScaledDeployment("", kUnderRule + ", jobID: s, mind-cluster/group-name: ''"),
           {kPodLabels +
            "[mind-cluster/group-name]: the pods are under scaling rule \"r\" with an empty label "
            "mind-cluster/group-name: their instances cannot be counted, and the whole service is "
            "held"}},
          {"on the object, from which they are copied",
           ScaledDeployment(kUnderRule + ", jobID: s", ""),
           {"metadata.labels" + held}},
          {"half here, half there", ScaledDeployment(kUnderRule + ", jobID: s", kCounted), {}},
          {"all of them", ScaledDeployment("", kCounted), {}},
          {"no rule", ScaledDeployment("", "jobID: s"), {}},
          {"a role",
           ScaledRoles(kUnderRule + ", jobID: s"),
           {"spec.template.spec.roles[0].template.metadata.labels[mind-cluster/group-name]: the "
            "pods of prefill are under scaling rule \"r\" without the label "
            "mind-cluster/group-name: their instances cannot be counted, and the whole service is "
            "held"}},
          {"a role with all of them, and a router", ScaledRoles(kCounted), {}},
          {"another type is wrong-type's",
           ScaledDeployment("", kUnderRule + ", jobID: s, mind-cluster/group-name: 3"),
           {}},
      });
}

TEST(ScaledPodsGroup, Table) {
  const std::string rule =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r, namespace: ns}\ndata:\n  "
      "elastic_scaling.json: '{\"elastic_scaling_list\":[{\"group_list\":[{\"group_name\":"
      "\"prefill\",\"group_num\":\"1\",\"server_num_per_group\":\"1\"}]}]}'\n";
  const std::string in = kUnderRule + ", jobID: s, mind-cluster/group-name: ";
  ExpectFindings(
      "MG167",
      {
          {.name = "an unknown group",
           .object = ScaledDeployment("", in + "decode"),
           .want = {kPodLabels +
                    "[mind-cluster/group-name]: group \"decode\" is in no tier of scaling rule "
                    "\"r\": no instance of it is ever let in"},
           .others = {rule}},
          {.name = "a known group",
           .object = ScaledDeployment("", in + "prefill"),
           .others = {rule}},
          {.name = "no such rule",
           .object = ScaledDeployment("", in + "prefill"),
           .want = {kPodLabels +
                    "[mind-cluster/scaling-rule]: ConfigMap \"r\" is not in the namespace of the "
                    "pods, which are held until it is"},
           .know_cluster = true},
          {.name = "nothing is known of it",
           .object = ScaledDeployment("", in + "prefill"),
           .want_skipped = true},
          {.name = "no rule", .object = ScaledDeployment("", ""), .know_cluster = true},
      });
}

TEST(ScalingRuleWorkloads, Table) {
  const std::string rule =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r, namespace: ns}\ndata:\n  "
      "elastic_scaling.json: '{\"elastic_scaling_list\":[{\"group_list\":[{\"group_name\":"
      "\"prefill\",\"group_num\":\"1\",\"server_num_per_group\":\"1\"}]}]}'\n";
  const auto in = [](const std::string& group, const std::string& of_rule = "r") {
    return ScaledDeployment("", "mind-cluster/scaling-rule: " + of_rule +
                                    ", jobID: s, mind-cluster/group-name: " + group);
  };
  ExpectFindings(
      "MG171",
      {
          {.name = "a group that is gone",
           .object = rule,
           .want = {"data[elastic_scaling.json]: group \"decode\" is in no tier, but Deployment "
                    "\"a\" belongs to it: no instance of it is ever let in"},
           .others = {in("decode")}},
          {.name = "a group that is kept", .object = rule, .others = {in("prefill")}},
          {.name = "under another rule", .object = rule, .others = {in("decode", "other")}},
          {.name = "nothing is known", .object = rule},
      });
}

// Pods with a K, under the rule unless `labels` says otherwise.
std::string GangTemplate(const std::string& k, const std::string& labels = kCounted,
                         const std::string& spec = "") {
  return "template: {metadata: {labels: {" + labels +
         "}, annotations: {huawei.com/schedule_minAvailable: '" + k + "'}}, spec: {" + spec +
         "containers: [{name: m, image: i, resources: {limits: {huawei.com/Ascend910: 8}}}]}}";
}

std::string NativeGang(const std::string& kind, const std::string& k,
                       const std::string& labels = kCounted, const std::string& spec = "") {
  return "{apiVersion: apps/v1, kind: " + kind +
         ", metadata: {name: a, namespace: ns}, spec: {replicas: 4, " +
         GangTemplate(k, labels, spec) + "}}";
}

std::string RuleOfTwoShapes(const std::string& largest, const std::string& smallest) {
  const auto tier = [](const std::string& number) {
    return "{\"group_list\":[{\"group_name\":\"p\",\"group_num\":\"" + number +
           "\",\"server_num_per_group\":\"1\"}]}";
  };
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r, namespace: ns}\ndata:\n  "
         "elastic_scaling.json: '{\"elastic_scaling_list\":[" +
         tier(largest) + "," + tier(smallest) + "]}'\n";
}

TEST(ScaledPodsGang, Table) {
  const std::string name = "[huawei.com/schedule_minAvailable]: huawei.com/schedule_minAvailable ";
  const std::string at = "spec.template.metadata.annotations" + name;
  const std::string waits =
      "is 2, but the pods are let in one by one as scaling rule \"r\" says: those that are let in "
      "wait for those that are held";
  const auto storm_service = [](const std::string& pods) {
    return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: a, "
           "namespace: ns}, spec: {template: {spec: {roles: [{name: prefill, replicas: 4, " +
           pods + "}]}}}}";
  };
  const auto enforced = [](std::string title, std::string object,
                           std::vector<std::string> want = {},
                           std::vector<std::string> others = {}) {
    return RuleCase{.name = std::move(title),
                    .object = std::move(object),
                    .want = std::move(want),
                    .others = std::move(others),
                    .scaling_enforced = true};
  };
  ExpectFindings(
      "MG172",
      {
          enforced("a Deployment", NativeGang("Deployment", "2"), {at + waits}),
          enforced("a ReplicaSet", NativeGang("ReplicaSet", "2"), {at + waits}),
          enforced("a StatefulSet", NativeGang("StatefulSet", "2"), {at + waits}),
          enforced("a role of a StormService", storm_service(GangTemplate("2")),
                   {"spec.template.spec.roles[0].template.metadata.annotations" + name +
                    "is 2, but the pods of prefill are let in one by one as scaling rule \"r\" "
                    "says: those that are let in wait for those that are held"}),
          enforced("an engine",
                   "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: a, "
                   "namespace: ns}, spec: {engine: {minReplicas: 4, labels: {" +
                       kCounted +
                       "}, annotations: {huawei.com/schedule_minAvailable: '2'}, runner: {name: e, "
                       "resources: {limits: {huawei.com/Ascend910: 8}}}}}}",
                   {"spec.engine.annotations" + name +
                    "is 2, but the pods of engine are let in one by one as scaling rule \"r\" "
                    "says: those that are let in wait for those that are held"}),
          enforced("more than the smallest shape wants", NativeGang("Deployment", "2"),
                   {at + "is 2, but the pods are let in one by one as scaling rule \"r\" says, "
                         "which wants 1 in a shape: they never start"},
                   {RuleOfTwoShapes("4", "1")}),
          enforced("as many as the smallest shape that wants any", NativeGang("Deployment", "2"),
                   {}, {RuleOfTwoShapes("2", "0")}),
          enforced("a rule that has no such group", NativeGang("Deployment", "2"), {at + waits},
                   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r, namespace: ns}\n"}),
          enforced("a gang of one", NativeGang("Deployment", "1")),
          enforced("under no rule", NativeGang("Deployment", "2", "jobID: s")),
          enforced("without a group there is no gate",
                   NativeGang("Deployment", "2", kUnderRule + ", jobID: s")),
          enforced("another scheduler reads no gang",
                   NativeGang("Deployment", "2", kCounted, "schedulerName: default-scheduler, ")),
          enforced("pods of a PodSet are one instance",
                   storm_service("podGroupSize: 2, " + GangTemplate("2"))),
          {.name = "nothing is held where scaling is not enforced",
           .object = NativeGang("Deployment", "2")},
      });
}

}  // namespace
}  // namespace mindgate::testing
