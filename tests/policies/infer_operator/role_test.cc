#include <gtest/gtest.h>

#include "policies/infer_operator/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(InferWorkloadKind, Table) {
  const std::string message =
      ": infer-operator knows Deployment and StatefulSet of apps/v1 only and creates nothing";
  ExpectFindings(
      "MG145",
      {
          {"another kind",
           Service(Roles("{name: p, workload: {apiVersion: apps/v1, kind: DaemonSet}}")),
           {"spec.roles[0].workload: the workload of role \"p\" is \"apps/v1 DaemonSet\"" +
            message}},
          {"another version",
           InstanceSet("", "workload: {apiVersion: apps/v1beta1, kind: Deployment}"),
           {"spec.workload: the workload of the InstanceSet is \"apps/v1beta1 Deployment\"" +
            message}},
          {"missing",
           Set("", Roles("{name: p}")),
           {"spec.template.roles[0].workload: the workload of role \"p\" is \" \"" + message}},
          {"both kinds",
           Service(Roles("{name: p, " + std::string(kDeployment) + "}, {name: d, " + kStatefulSet +
                         "}")),
           {}},
          {"wrong type is MG001's", Service(Roles("{name: p, workload: 3}")), {}},
      });
}

TEST(InferWorkloadSpec, Table) {
  ExpectFindings(
      "MG146",
      {
          {"role without spec",
           Service(Roles("{name: p}")),
           {"spec.roles[0].spec: role \"p\" has no spec: infer-operator cannot create a workload"}},
          {"no template",
           InstanceSet("", "spec: {selector: {matchLabels: {a: b}}}"),
           {"spec.spec.template: the workload of the InstanceSet has no pod template: Kubernetes "
            "refuses it"}},
          {"no selector",
           Service(Roles("{name: p, spec: {template: {}}}")),
           {"spec.roles[0].spec.selector: the workload of role \"p\" has no selector, which "
            "Kubernetes requires: it is never created"}},
          {"empty selector",
           Service(Roles("{name: p, spec: {selector: {matchLabels: {}}, template: {}}}")),
           {"spec.roles[0].spec.selector: the workload of role \"p\" has no selector, which "
            "Kubernetes requires: it is never created"}},
          {"the template lacks a label",
           Service(Roles("{name: p, spec: {selector: {matchLabels: {app: x}}, template: {metadata: "
                         "{labels: {app: y}}}}}")),
           {"spec.roles[0].spec.selector.matchLabels.app: the pod template of role \"p\" does not "
            "carry the selector's label \"app\": Kubernetes refuses the workload"}},
          {"the operator adds its own labels",
           Service(Roles("{name: p, spec: {selector: {matchLabels: "
                         "{infer.huawei.com/inferservice-name: x}}, template: {}}}")),
           {}},
          {"expressions",
           Service(Roles("{name: p, spec: {selector: {matchExpressions: [{key: a, operator: "
                         "Exists}]}, template: {}}}")),
           {}},
          {"complete", Service(Roles("{name: p, " + WorkloadSpec("") + "}")), {}},
          {"wrong type is MG001's", Service(Roles("{name: p, spec: [1]}")), {}},
      });
}

TEST(InferRoleReplicas, Table) {
  ExpectFindings("MG147", {
                              {"missing in a role",
                               Set("", Roles("{name: p}")),
                               {"spec.template.roles[0].replicas: role \"p\" has no replicas: "
                                "infer-operator refuses it and creates no instance"}},
                              {"missing in an InstanceSet",
                               InstanceSet("", "name: p"),
                               {"spec.replicas: the InstanceSet has no replicas: infer-operator "
                                "refuses it and creates no instance"}},
                              {"negative",
                               Service(Roles("{name: p, replicas: -1}")),
                               {"spec.roles[0].replicas: replicas of role \"p\" is -1: "
                                "infer-operator refuses it and creates no instance"}},
                              {"0", Service(Roles("{name: p, replicas: 0}")), {}},
                              {"text is MG001's", Service(Roles("{name: p, replicas: '-1'}")), {}},
                          });
  ExpectFindings("MG148",
                 {
                     {"257",
                      Service(Roles("{name: p, replicas: 257}")),
                      {"spec.roles[0].replicas: role \"p\" has 257 instances, more than the 256 "
                       "that infer-operator is specified for"}},
                     {"256", Service(Roles("{name: p, replicas: 256}")), {}},
                 });
}

TEST(InferWorkloadReplicas, Table) {
  const std::string gang = "metadata: {labels: {infer.huawei.com/gang-schedule: 'true'}}, ";
  ExpectFindings(
      "MG154",
      {
          {"gang",
           Service(Roles("{name: p, " + gang + kDeployment + ", " + WorkloadSpec("") + "}")),
           {"spec.roles[0].spec.replicas: the workload of role \"p\" has no replicas: "
            "infer-operator cannot size the gang and retries forever"}},
          {"StatefulSet",
           Service(Roles("{name: p, " + std::string(kStatefulSet) + ", " + WorkloadSpec("") + "}")),
           {"spec.roles[0].spec.replicas: the workload of role \"p\" has no replicas: "
            "infer-operator cannot make the StatefulSet and retries forever"}},
          {"an InstanceSet is a gang by its own label",
           InstanceSet("infer.huawei.com/gang-schedule: 'true'",
                       std::string(kDeployment) + ", " + WorkloadSpec("")),
           {"spec.spec.replicas: the workload of the InstanceSet has no replicas: infer-operator "
            "cannot size the gang and retries forever"}},
          {"a Deployment alone",
           Service(Roles("{name: p, " + std::string(kDeployment) + ", " + WorkloadSpec("") + "}")),
           {}},
          {"written",
           Service(Roles("{name: p, " + gang + kStatefulSet + ", " + WorkloadSpec("replicas: 2") +
                         "}")),
           {}},
      });
}

TEST(InferGangOrder, Table) {
  const auto role = [](const std::string& gang, const std::string& kind, const std::string& spec) {
    return Service(Roles("{name: p, metadata: {labels: {infer.huawei.com/gang-schedule: '" + gang +
                         "'}}, " + kind + ", " + WorkloadSpec(spec) + "}"));
  };
  ExpectFindings(
      "MG155", {
                   {"ordered gang",
                    role("true", kStatefulSet, "replicas: 2"),
                    {"spec.roles[0].spec.podManagementPolicy: the gang of role \"p\" needs all 2 "
                     "pods at once, but an ordered StatefulSet creates the second only when the "
                     "first is ready: none starts"}},
                   {"written out",
                    role("true", kStatefulSet, "replicas: 4, podManagementPolicy: OrderedReady"),
                    {"spec.roles[0].spec.podManagementPolicy: the gang of role \"p\" needs all 4 "
                     "pods at once, but an ordered StatefulSet creates the second only when the "
                     "first is ready: none starts"}},
                   {"parallel",
                    role("true", kStatefulSet, "replicas: 2, podManagementPolicy: Parallel"),
                    {}},
                   {"one pod", role("true", kStatefulSet, "replicas: 1"), {}},
                   {"Deployments have no order", role("true", kDeployment, "replicas: 2"), {}},
                   {"no gang", role("false", kStatefulSet, "replicas: 2"), {}},
                   {"another scheduler knows no gang",
                    Service(Roles(
                        "{name: p, metadata: {labels: {infer.huawei.com/gang-schedule: 'true'}}, " +
                        std::string(kStatefulSet) +
                        ", spec: {replicas: 2, template: {spec: {schedulerName: other}}}}")),
                    {}},
               });
}

TEST(InferScalingPolicy, Table) {
  ExpectFindings(
      "MG156",
      {
          {"another type",
           Service(Roles("{name: p, scalingPolicy: {type: KPA}}")),
           {"spec.roles[0].scalingPolicy.type: scaling policy \"KPA\" of role \"p\" does nothing "
            "in "
            "released versions of infer-operator, and the role never becomes ready"}},
          {"no type",
           InstanceSet("", "scalingPolicy: {spec: {}}"),
           {"spec.scalingPolicy.type: scaling policy \"\" of the InstanceSet does nothing in "
            "released versions of infer-operator, and the role never becomes ready"}},
          {"HPA", Service(Roles("{name: p, scalingPolicy: {type: HPA}}")), {}},
          {"none", Service(Roles("{name: p}")), {}},
      });
}

TEST(InferFaultScheduling, Table) {
  const auto with = [](const std::string& labels) {
    return Service(Roles("{name: p, " + WorkloadSpec("", "a: b, " + labels) + "}"));
  };
  ExpectFindings(
      "MG157",
      {
          {"force is Volcano's",
           with("fault-scheduling: force"),
           {"spec.roles[0].spec.template.metadata.labels[fault-scheduling]: fault-scheduling force "
            "of role \"p\" lets Volcano replace pods; infer-operator's own recovery of whole "
            "instances stays off"}},
          {"external without retries is what mindgate injects",
           with("fault-scheduling: external-force"),
           {}},
          {"complete", with("fault-scheduling: external-grace, fault-retry-times: '3'"), {}},
          {"off", with("fault-scheduling: 'off'"), {}},
          {"without NPUs",
           Service(Roles("{name: r, spec: {template: {metadata: {labels: {fault-scheduling: "
                         "force}}}}}")),
           {}},
      });
}

TEST(InferHpaBounds, Table) {
  const auto role = [](const std::string& policy) {
    return Service(Roles("{name: p, replicas: 3, scalingPolicy: {type: HPA" + policy + "}}"));
  };
  const auto finding = [](const std::string& fault) {
    return std::vector<std::string>{
        "spec.roles[0].scalingPolicy.spec.maxReplicas: the HorizontalPodAutoscaler of role \"p\" " +
        fault + ": infer-operator cannot make it, and the role is never scaled"};
  };
  ExpectFindings(
      "MG178",
      {
          {"no spec", role(""), finding("has no spec")},
          {"no maxReplicas", role(", spec: {minReplicas: 1}"), finding("has no maxReplicas")},
          {"none at all", role(", spec: {maxReplicas: 0}"), finding("has maxReplicas 0")},
          {"text", role(", spec: {maxReplicas: '4'}"),
           finding("has a maxReplicas that is not a whole number")},
          {"bounds that cross", role(", spec: {minReplicas: 5, maxReplicas: 4}"),
           finding("has minReplicas 5 above maxReplicas 4")},
          {"of an InstanceSet",
           InstanceSet("", "scalingPolicy: {type: HPA, spec: {minReplicas: 1}}"),
           {"spec.scalingPolicy.spec.maxReplicas: the HorizontalPodAutoscaler of the InstanceSet "
            "has no maxReplicas: infer-operator cannot make it, and the role is never scaled"}},
          {"bounds", role(", spec: {minReplicas: 1, maxReplicas: 4}"), {}},
          {"another type is of another rule",
           Service(Roles("{name: p, scalingPolicy: {type: KPA}}")),
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
