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

}  // namespace
}  // namespace mindgate::testing
