#include <gtest/gtest.h>

#include "policies/infer_operator/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

constexpr char kBothLabels[] =
    "infer.huawei.com/inferservice-name: chat-0, infer.huawei.com/instanceset-name: prefill";

TEST(InferSetReplicas, Table) {
  const std::string message =
      ", but infer-operator accepts 1 to 64: it creates no InferService at all";
  ExpectFindings("MG140",
                 {
                     {"0", Set("replicas: 0", ""), {"spec.replicas: replicas is 0" + message}},
                     {"65", Set("replicas: 65", ""), {"spec.replicas: replicas is 65" + message}},
                     {"64", Set("replicas: 64", ""), {}},
                     {"absent is 1", Set("", ""), {}},
                     {"text is MG001's", Set("replicas: '0'", ""), {}},
                 });
}

TEST(InferRoleCount, Table) {
  std::string roles;
  for (int i = 0; i < 32; ++i) roles += "{name: r" + std::to_string(i) + "}, ";
  ExpectFindings("MG141", {
                              {"33 roles of a set",
                               Set("", Roles(roles + "{name: last}")),
                               {"spec.template.roles: 33 roles, but infer-operator accepts at most "
                                "32: it creates none of them"}},
                              {"33 roles of a service",
                               Service(Roles(roles + "{name: last}")),
                               {"spec.roles: 33 roles, but infer-operator accepts at most 32: it "
                                "creates none of them"}},
                              {"32 roles", Service(Roles(roles)), {}},
                              {"roles of the wrong type", Service("roles: {}"), {}},
                          });
}

TEST(InferRoleName, Table) {
  ExpectFindings(
      "MG142",
      {
          {"missing, no label, twice",
           Set("", Roles("{replicas: 1}, {name: Prefill_0}, {name: decode}, {name: decode}")),
           {"spec.template.roles[0].name: a role has no name: infer-operator creates none of the "
            "roles",
            "spec.template.roles[1].name: role name \"Prefill_0\" is not a DNS label: "
            "infer-operator creates none of the roles",
            "spec.template.roles[3].name: two roles are named \"decode\": infer-operator creates "
            "none of the roles"}},
          {"good", Service(Roles("{name: prefill}, {name: decode-1}")), {}},
          {"a number is MG001's", Service(Roles("{name: 1}")), {}},
          {"roles that are no objects", Service(Roles("null, 3, []")), {}},
      });
}

TEST(InferSchedulingStrategy, Table) {
  const std::string message = " is unknown to infer-operator, which then starts no instance";
  ExpectFindings(
      "MG143",
      {
          {"another spelling",
           Set("", "schedulingStrategy: {type: priority}"),
           {"spec.template.schedulingStrategy.type: scheduling strategy \"priority\"" + message}},
          {"unknown",
           Service("schedulingStrategy: {type: Random}"),
           {"spec.schedulingStrategy.type: scheduling strategy \"Random\"" + message}},
          {"Parallel", Service("schedulingStrategy: {type: Parallel}"), {}},
          {"Priority", Service("schedulingStrategy: {type: Priority}"), {}},
          {"empty", Service("schedulingStrategy: {type: ''}"), {}},
          {"absent", Service("schedulingStrategy: {}"), {}},
          {"early releases knew Sequential", Service("schedulingStrategy: {type: Sequential}"), {}},
      });
  ExpectFindings("MG159",
                 {
                     {"Sequential",
                      Set("", "schedulingStrategy: {type: Sequential}"),
                      {"spec.template.schedulingStrategy.type: scheduling strategy Sequential "
                       "exists only in early releases: others start no instance"}},
                     {"Parallel", Service("schedulingStrategy: {type: Parallel}"), {}},
                 });
}

TEST(InferPriority, Table) {
  const auto with = [](const std::string& type, const std::string& priority) {
    return Service("schedulingStrategy: {type: " + type + "}, " +
                   Roles("{name: p, priority: " + priority + "}"));
  };
  ExpectFindings(
      "MG144",
      {
          {"accepted, never scheduled",
           with("Priority", "33"),
           {"spec.roles[0].priority: priority 33 of role \"p\" is accepted but never scheduled: "
            "the operator stops at 32"}},
          {"the last accepted",
           with("Priority", "256"),
           {"spec.roles[0].priority: priority 256 of role \"p\" is accepted but never scheduled: "
            "the operator stops at 32"}},
          {"refused, too large",
           with("Priority", "257"),
           {"spec.roles[0].priority: priority 257 of role \"p\" is refused by infer-operator, "
            "which creates no role at all"}},
          {"refused, too small",
           with("Priority", "0"),
           {"spec.roles[0].priority: priority 0 of role \"p\" is refused by infer-operator, which "
            "creates no role at all"}},
          {"first", with("Priority", "1"), {}},
          {"last", with("Priority", "32"), {}},
          {"other strategies do not look", with("Parallel", "33"), {}},
          {"absent", Service("schedulingStrategy: {type: Priority}, " + Roles("{name: p}")), {}},
      });
}

TEST(InferInstanceSetLabels, Table) {
  ExpectFindings(
      "MG149",
      {
          {"one is missing",
           InstanceSet("infer.huawei.com/inferservice-name: chat-0", ""),
           {"metadata.labels[infer.huawei.com/instanceset-name]: label "
            "infer.huawei.com/instanceset-name is missing: infer-operator ignores the "
            "InstanceSet"}},
          {"no labels",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet}",
           {"metadata.labels[infer.huawei.com/inferservice-name]: label "
            "infer.huawei.com/inferservice-name is missing: infer-operator ignores the InstanceSet",
            "metadata.labels[infer.huawei.com/instanceset-name]: label "
            "infer.huawei.com/instanceset-name is missing: infer-operator ignores the "
            "InstanceSet"}},
          {"both", InstanceSet(kBothLabels, ""), {}},
      });
}

TEST(InferDerivedNames, Table) {
  const std::string name(40, 'x');
  ExpectFindings(
      "MG158",
      {
          {"StatefulSet of 53 characters",
           Service(Roles("{name: prefill123, " + std::string(kStatefulSet) + "}"), name),
           {"spec.roles[0].name: the StatefulSet of role \"prefill123\" would have a name of 53 "
            "characters, but at most 52 work: \"" +
            name + "-prefill123-0\""}},
          {"52 characters",
           Service(Roles("{name: prefill12, " + std::string(kStatefulSet) + "}"), name),
           {}},
          {"a set adds its index",
           Set("", Roles("{name: prefill12, " + std::string(kStatefulSet) + "}"), name),
           {"spec.template.roles[0].name: the StatefulSet of role \"prefill12\" would have a name "
            "of 54 characters, but at most 52 work: \"" +
            name + "-0-prefill12-0\""}},
          {"the Service of a Deployment",
           Service(Roles("{name: prefill123456, " + std::string(kDeployment) + "}"), name),
           {"spec.roles[0].name: the Service of role \"prefill123456\" would have a name of 64 "
            "characters, but at most 63 work: \"service-" +
            name + "-prefill123456-0\""}},
          {"a Deployment with Services of its own",
           Service(Roles("{name: prefill123456, services: [{name: web}], " +
                         std::string(kDeployment) + "}"),
                   name),
           {}},
          {"an InstanceSet is named by its labels",
           InstanceSet("infer.huawei.com/inferservice-name: " + name +
                           ", infer.huawei.com/instanceset-name: prefill123",
                       kStatefulSet),
           {"metadata.labels: the StatefulSet of the InstanceSet would have a name of 53 "
            "characters, but at most 52 work: \"" +
            name + "-prefill123-0\""}},
          {"a generated name is not known",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {generateName: " +
               name + "}, spec: {roles: [{name: prefill123, " + kStatefulSet + "}]}}",
           {}},
      });
}

TEST(InferPriorityUnderRule, Table) {
  const auto with = [](const std::string& type, const std::string& labels) {
    return Service("schedulingStrategy: {type: " + type + "}, " +
                   Roles("{name: p, spec: {template: {metadata: {labels: {" + labels +
                         "}}, spec: {containers: [{name: m}]}}}}"));
  };
  const std::string under = "mind-cluster/scaling-rule: r";
  const std::string message =
      "strategy Priority makes a role only when all instances of the roles before it run, but the "
      "scaling rule of role \"p\" holds instances until the other groups exist: both wait "
      "forever";
  ExpectFindings("MG168", {
                              {"Priority under a rule",
                               with("Priority", under),
                               {"spec.schedulingStrategy.type: " + message}},
                              {"Priority without a rule", with("Priority", "jobID: s"), {}},
                              {"Parallel under a rule", with("Parallel", under), {}},
                          });
}

}  // namespace
}  // namespace mindgate::testing
