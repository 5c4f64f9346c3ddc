#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Job(const std::string& labels) { return PytorchJob("", labels); }

TEST(MindieApp, Table) {
  ExpectFindings(
      "MG040",
      {
          {"the three", Job("jobID: s, app: mindie-ms-server"), {}},
          {"controller", Job("jobID: s, app: mindie-ms-controller"), {}},
          {"coordinator", Job("jobID: s, app: mindie-ms-coordinator"), {}},
          {"a common label of a training job", Job("app: resnet50"), {}},
          {"the documents' own sample",
           Job("jobID: mindie-xxx, app: mindeie-ms-server"),
           {"metadata.labels.app: app \"mindeie-ms-server\" is not known to MindCluster (did you "
            "mean \"mindie-ms-server\"?), so the job is not part of the service"}},
          {"a near miss without jobID",
           Job("app: Mindie-MS-Controller"),
           {"metadata.labels.app: app \"Mindie-MS-Controller\" is not known to MindCluster (did "
            "you mean \"mindie-ms-controller\"?), so the job is not part of the service"}},
          {"both labels make a MindIE job, whatever their values",
           Job("jobID: s, app: resnet50"),
           {"metadata.labels.app: app \"resnet50\" together with jobID makes this a MindIE job of "
            "unknown role, without RANK and MASTER_ADDR"}},
          {"no string: wrong-type reports it", Job("jobID: s, app: 1"), {}},
      });
}

TEST(MindieTemplateLabels, Table) {
  const auto job = [](const std::string& labels, const std::string& pod_labels) {
    return AscendJob(labels, "replicaSpecs: {Master: {template: {metadata: {labels: {" +
                                 pod_labels + "}}, spec: {containers: []}}}}");
  };
  const std::string kPods = "spec.replicaSpecs.Master.template.metadata.labels.";
  ExpectFindings(
      "MG041",
      {
          {"the job's own values",
           job("jobID: s, app: mindie-ms-server", "jobID: s, app: mindie-ms-server"),
           {}},
          {"a server's pods need none", job("jobID: s, app: mindie-ms-server", ""), {}},
          {"other values",
           job("jobID: s, app: mindie-ms-server", "jobID: t, app: mindie-ms-controller"),
           {kPods + "app: pods of Master carry app \"mindie-ms-controller\" while the job has "
                    "\"mindie-ms-server\", and different values are joined to one that nothing "
                    "recognises",
            kPods + "jobID: pods of Master carry jobID \"t\" while the job has \"s\", and "
                    "different values are joined to one that nothing recognises"}},
          {"a controller is found by its pods",
           job("jobID: s, app: mindie-ms-controller", "app: x"),
           {kPods + "app: pods of Master carry app \"x\" while the job has "
                    "\"mindie-ms-controller\", so "
                    "ClusterD does not find them",
            kPods + "jobID: pods of Master carry no jobID while the job has \"s\", so ClusterD "
                    "does not "
                    "find them"}},
          {"no MindIE job", job("app: a", "app: b"), {}},
          {"no strings: wrong-type reports it",
           job("jobID: s, app: mindie-ms-controller", "jobID: 1, app: [x]"),
           {}},
      });
}

TEST(RankTableExists, Table) {
  const std::string server = Job("jobID: s, app: mindie-ms-server");
  const auto with = [](const std::string& name, const std::string& object,
                       std::vector<std::string> others, std::vector<std::string> want) {
    RuleCase c{name, object, std::move(want)};
    c.others = std::move(others);
    c.know_cluster = true;
    return c;
  };
  RuleCase unknown{"nothing else is known: skipped, visibly", server, {}};
  unknown.want_skipped = true;
  ExpectFindings(
      "MG046",
      {
          with("there", server, {RingsConfig(kRingsLabels)}, {}),
          with("missing", server, {},
               {"metadata.name: ConfigMap \"rings-config-j\" is missing; the operator never "
                "creates it, "
                "so MindIE does not learn the job's devices"}),
          with("in another namespace", server,
               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-j, namespace: "
                "other}, data: {}}"},
               {"metadata.name: ConfigMap \"rings-config-j\" is missing, but there is one in "
                "namespace \"other\": the operator finds the rank table by the job's name and "
                "namespace, so MindIE does not learn the job's devices"}),
          with("without a namespace", server,
               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-j}, data: {}}"},
               {"metadata.name: ConfigMap \"rings-config-j\" is missing, but there is one that "
                "names no namespace: the operator finds the rank table by the job's name and "
                "namespace, so MindIE does not learn the job's devices"}),
          with("under another name", server,
               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-prefill, "
                "namespace: "
                "ns, labels: {jobID: s}}, data: {}}"},
               {"metadata.name: ConfigMap \"rings-config-j\" is missing, but "
                "\"rings-config-prefill\" has the same jobID and the name of no job: the operator "
                "finds the rank table by the job's name, so MindIE does not learn the job's "
                "devices"}),
          with("of another job of the service", server,
               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-prefill, "
                "namespace: "
                "ns, labels: {jobID: s}}, data: {}}",
                "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: prefill, "
                "namespace: ns}}"},
               {"metadata.name: ConfigMap \"rings-config-j\" is missing; the operator never "
                "creates it, "
                "so MindIE does not learn the job's devices"}),
          with("of another service", server, {RingsConfig("jobID: t")},
               {"metadata.labels.jobID: jobID \"s\" is not the jobID of ConfigMap "
                "\"rings-config-j\", "
                "so the job's devices are missing from the service's rank table"}),
          with("a controller needs none", Job("jobID: s, app: mindie-ms-controller"), {}, {}),
          with("nor does a training job", Job(""), {}, {}),
          unknown,
      });
}

TEST(MindieIdentity, Table) {
  ExpectFindings(
      "MG047",
      {
          {"both", Job("jobID: s, app: mindie-ms-server"), {}},
          {"neither", Job(""), {}},
          {"jobID alone may be anything", Job("jobID: s"), {}},
          {"app alone makes no MindIE job",
           Job("app: mindie-ms-coordinator"),
           {"metadata.labels.jobID: label jobID is missing beside app \"mindie-ms-coordinator\", "
            "so the "
            "operator treats this as a training job"}},
          {"nor does jobID alone, which a scaling rule shows to be meant",
           Job("jobID: s, mind-cluster/scaling-rule: r"),
           {"metadata.labels.app: label app is missing beside jobID, so the operator treats this "
            "as a "
            "training job"}},
          {"an empty jobID",
           Job("jobID: '', app: mindie-ms-server"),
           {"metadata.labels.jobID: label jobID is empty, so the job belongs to no service"}},
          {"with a scaling rule scaling-labels reports it",
           Job("app: mindie-ms-server, mind-cluster/scaling-rule: r"),
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
