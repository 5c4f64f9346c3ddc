#include <gtest/gtest.h>

#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Set(const std::string& spec, const std::string& service,
                const std::string& name = "chat") {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: " + name +
         "}, spec: {" + spec + (spec.empty() ? "" : ", ") + "template: {" + service + "}}}";
}

std::string Service(const std::string& spec, const std::string& name = "chat-0") {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: " + name +
         "}, spec: {" + spec + "}}";
}

std::string InstanceSet(const std::string& labels, const std::string& spec) {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: i, labels: "
         "{" +
         labels + "}}, spec: {" + spec + "}}";
}

constexpr char kBothLabels[] =
    "infer.huawei.com/inferservice-name: chat-0, infer.huawei.com/instanceset-name: prefill";
constexpr char kStatefulSet[] = "workload: {apiVersion: apps/v1, kind: StatefulSet}";
constexpr char kDeployment[] = "workload: {apiVersion: apps/v1, kind: Deployment}";

std::string Roles(const std::string& roles) { return "roles: [" + roles + "]"; }

// A workload spec of NPU pods under Volcano.
std::string WorkloadSpec(const std::string& fields, const std::string& labels = "a: b") {
  return "spec: {" + fields + (fields.empty() ? "" : ", ") +
         "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {" + labels +
         "}}, spec: {schedulerName: volcano, containers: [{name: c, resources: {limits: "
         "{huawei.com/Ascend910: 8}}}]}}}";
}

TEST(InferSetReplicas, Table) {
  const std::string says =
      ", but infer-operator accepts 1 to 64: it creates no InferService at all";
  ExpectFindings("MG140",
                 {
                     {"0", Set("replicas: 0", ""), {"spec.replicas: replicas is 0" + says}},
                     {"65", Set("replicas: 65", ""), {"spec.replicas: replicas is 65" + says}},
                     {"64", Set("replicas: 64", ""), {}},
                     {"absent is 1", Set("", ""), {}},
                     {"text is MG001's", Set("replicas: '0'", ""), {}},
                 });
}

TEST(InferGangLabel, Table) {
  const std::string key = "infer.huawei.com/gang-schedule";
  const std::string effect =
      ": the pods of an instance start one by one, and are not recovered together";
  const auto role = [&](const std::string& label, const std::string& of_pods) {
    return Service(Roles("{name: p, replicas: 1, metadata: {labels: {" + label + "}}, " +
                         kDeployment + ", " + WorkloadSpec("replicas: 2", "a: b" + of_pods) + "}"));
  };
  ExpectFindings(
      "MG192",
      {
          {"another spelling",
           role(key + ": 'True'", ""),
           {"spec.roles[0].metadata.labels[" + key + "]: " + key +
            " of role \"p\" is \"True\", and infer-operator knows \"true\" alone" + effect}},
          {"of an InstanceSet",
           InstanceSet(key + ": 'yes'", kDeployment + std::string(", ") + WorkloadSpec("")),
           {"metadata.labels[" + key + "]: " + key +
            " of the InstanceSet is \"yes\", and infer-operator knows \"true\" alone" + effect}},
          {"on the pod template",
           role("", ", " + key + ": 'true'"),
           {"spec.roles[0].spec.template.metadata.labels[" + key + "]: " + key +
            " is on the pod template of role \"p\", where infer-operator does not read it" +
            effect}},
          {"on both", role(key + ": 'true'", ", " + key + ": 'true'"), {}},
          {"off", role(key + ": 'false'", ""), {}},
          {"not written", role("", ""), {}},
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
  const std::string says = " is unknown to infer-operator, which then starts no instance";
  ExpectFindings(
      "MG143",
      {
          {"another spelling",
           Set("", "schedulingStrategy: {type: priority}"),
           {"spec.template.schedulingStrategy.type: scheduling strategy \"priority\"" + says}},
          {"unknown",
           Service("schedulingStrategy: {type: Random}"),
           {"spec.schedulingStrategy.type: scheduling strategy \"Random\"" + says}},
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

TEST(InferPriorityUnderRule, Table) {
  const auto with = [](const std::string& type, const std::string& labels) {
    return Service("schedulingStrategy: {type: " + type + "}, " +
                   Roles("{name: p, spec: {template: {metadata: {labels: {" + labels +
                         "}}, spec: {containers: [{name: m}]}}}}"));
  };
  const std::string under = "mind-cluster/scaling-rule: r";
  const std::string says =
      "strategy Priority makes a role only when all instances of the roles before it run, but the "
      "scaling rule of role \"p\" holds instances until the other groups exist: both wait "
      "forever";
  ExpectFindings("MG168", {
                              {"Priority under a rule",
                               with("Priority", under),
                               {"spec.schedulingStrategy.type: " + says}},
                              {"Priority without a rule", with("Priority", "jobID: s"), {}},
                              {"Parallel under a rule", with("Parallel", under), {}},
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

TEST(InferWorkloadKind, Table) {
  const std::string says =
      ": infer-operator knows Deployment and StatefulSet of apps/v1 only and creates nothing";
  ExpectFindings(
      "MG145",
      {
          {"another kind",
           Service(Roles("{name: p, workload: {apiVersion: apps/v1, kind: DaemonSet}}")),
           {"spec.roles[0].workload: the workload of role \"p\" is \"apps/v1 DaemonSet\"" + says}},
          {"another version",
           InstanceSet("", "workload: {apiVersion: apps/v1beta1, kind: Deployment}"),
           {"spec.workload: the workload of the InstanceSet is \"apps/v1beta1 Deployment\"" +
            says}},
          {"missing",
           Set("", Roles("{name: p}")),
           {"spec.template.roles[0].workload: the workload of role \"p\" is \" \"" + says}},
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

// "services: [a NodePort service of these ports]"
std::string NodePorts(const std::string& ports) {
  return "services: [{name: web, spec: {type: NodePort, ports: [" + ports + "]}}]";
}

TEST(InferNodePort, Table) {
  ExpectFindings(
      "MG150",
      {
          {"missing and 0",
           Set("", Roles("{name: p, " + NodePorts("{port: 80}, {port: 81, nodePort: 0}") + "}")),
           {"spec.template.roles[0].services[0].spec.ports[0].nodePort: a port of NodePort service "
            "\"web\" has no nodePort: infer-operator refuses the role",
            "spec.template.roles[0].services[0].spec.ports[1].nodePort: a port of NodePort service "
            "\"web\" has no nodePort: infer-operator refuses the role"}},
          {"written", InstanceSet("", NodePorts("{port: 80, nodePort: 30000}")), {}},
          {"another type",
           Service(Roles("{name: p, services: [{spec: {ports: [{port: 80}]}}, 3, {spec: 4}]}")),
           {}},
          {"ports of the wrong type",
           Service(Roles("{name: p, services: [{spec: {type: NodePort, ports: 3}}]}")),
           {}},
      });
}

TEST(InferNodePortClash, Table) {
  const auto two = [](const std::string& first, const std::string& second) {
    return Roles("{name: p, " + NodePorts("{port: 80, nodePort: " + first + "}") + "}, {name: d, " +
                 NodePorts("{port: 80, nodePort: " + second + "}") + "}");
  };
  ExpectFindings(
      "MG151",
      {
          {"service 1 wants the port of service 0",
           Set("replicas: 2", two("30001", "30000")),
           {"spec.template.roles[0].services[0].spec.ports[0].nodePort: nodePort 30001 collides "
            "with 30000 of another service: service i of the 2 uses nodePort + i, and Kubernetes "
            "refuses the second"}},
          {"far enough apart", Set("replicas: 2", two("30000", "30002")), {}},
          {"the same port twice",
           Service(two("30000", "30000")),
           {"spec.roles[1].services[0].spec.ports[0].nodePort: nodePort 30000 collides with 30000 "
            "of another service, and Kubernetes refuses the second"}},
          {"one service may be next to another", Service(two("30000", "30001")), {}},
          {"protocols do not collide",
           Service(Roles("{name: p, " +
                         NodePorts("{port: 80, nodePort: 30000}, {port: 80, "
                                   "protocol: UDP, nodePort: 30000}") +
                         "}")),
           {}},
      });
}

TEST(InferNodePortRange, Table) {
  const auto with = [](const std::string& replicas, const std::string& port) {
    return Set("replicas: " + replicas,
               Roles("{name: p, " + NodePorts("{port: 80, nodePort: " + port + "}") + "}"));
  };
  const std::string path = "spec.template.roles[0].services[0].spec.ports[0].nodePort: ";
  ExpectFindings("MG152", {
                              {"the last replica leaves the range",
                               with("3", "32766"),
                               {path + "the service uses nodePorts 32766 to 32768, outside "
                                       "Kubernetes' default range 30000 to 32767"}},
                              {"below",
                               with("1", "8080"),
                               {path + "the service uses nodePorts 8080 to 8080, outside "
                                       "Kubernetes' default range 30000 to 32767"}},
                              {"just inside", with("2", "32766"), {}},
                          });
}

TEST(InferNodePortName, Table) {
  const std::string roles = Roles("{name: p, " + NodePorts("{port: 80, nodePort: 30000}") + "}");
  const std::string says =
      " does not end in a number, which infer-operator adds to each nodePort: it creates no "
      "instance";
  ExpectFindings("MG153",
                 {
                     {"a plain name", Service(roles, "chat"), {"metadata.name: \"chat\"" + says}},
                     {"a word at the end",
                      Service(roles, "chat-main"),
                      {"metadata.name: \"chat-main\"" + says}},
                     {"a number", Service(roles, "chat-0"), {}},
                     {"without NodePort", Service(Roles("{name: p}"), "chat"), {}},
                     {"an InstanceSet has it from its label",
                      InstanceSet("infer.huawei.com/inferservice-name: chat",
                                  NodePorts("{port: 80, nodePort: 30000}")),
                      {"metadata.labels[infer.huawei.com/inferservice-name]: \"chat\"" + says}},
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

}  // namespace
}  // namespace mindgate::testing
