#include "support/rules.h"

// The names by which a rank table reaches the pods of its job.
namespace mindgate::testing {
namespace {

// With NPUs in a container, and what `spec` says of the pods.
std::string TablePods(const std::string& labels, const std::string& spec = "") {
  return "{metadata: {labels: {" + labels + "}}, spec: {schedulerName: volcano, " + spec +
         "containers: [{name: ascend, resources: {requests: {huawei.com/Ascend910: 8}, limits: "
         "{huawei.com/Ascend910: 8}}}]}}";
}

std::string TableVolumes(const std::string& name, const std::string& config_map) {
  return "volumes: [{name: " + name + ", configMap: {name: " + config_map + "}}], ";
}

// A Deployment or StatefulSet "train".
std::string TableNative(const std::string& kind, const std::string& labels, const std::string& pods,
                        const std::string& more = "") {
  return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: train, labels: {" + labels +
         "}}, spec: {" + more + "replicas: 2, template: " + pods + "}}";
}

// A vcjob "train" of one task for each template.
std::string TableVcJob(const std::string& labels, const std::string& plugins,
                       const std::vector<std::string>& templates) {
  std::string tasks;
  for (size_t i = 0; i < templates.size(); ++i) {
    tasks += std::string(i == 0 ? "" : ", ") + "{name: t" + std::to_string(i) +
             ", replicas: 1, template: " + templates[i] + "}";
  }
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train, labels: {" +
         labels + "}}, spec: {minAvailable: 1, plugins: {" + plugins + "}, tasks: [" + tasks +
         "]}}";
}

std::string TableAscendJob(const std::string& spec) {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: train, labels: "
         "{framework: pytorch}}, spec: {replicaSpecs: {Master: {replicas: 1, template: " +
         TablePods("", spec) + "}}}}";
}

const std::string kRing = "ring-controller.atlas: ascend-910b";
const std::string kOwnTable = TableVolumes("ascend-910-config", "rings-config-train");

std::string MountsTable(const std::string& kind, const std::string& map, const std::string& path) {
  return path + ".volumes[0].configMap.name: the pods mount \"" + map +
         "\", but the operator writes the rank table of " + kind +
         " \"train\" into \"rings-config-train\": they wait for a table, or run with the devices "
         "of another job";
}

TEST(RankTableWiring, Table) {
  const std::string deploy_name =
      "spec.template.metadata.labels[deploy-name]: label deploy-name is \"mindx-dls-test\", and "
      "the "
      "operator finds the pods of Deployment \"train\" by it: it writes no rank table for them, "
      "and "
      "they wait while it is initializing";
  const std::string asked =
      ": the operator makes a table for a StatefulSet with that label on its own metadata, or with "
      "a volume named ranktable, and the pods wait for it";
  ExpectFindings(
      "MG175",
      {
          {"all five names are right",
           TableNative("Deployment", kRing, TablePods("deploy-name: train", kOwnTable)),
           {}},
          {"the label of a copied sample",
           TableNative("Deployment", kRing, TablePods("deploy-name: mindx-dls-test", kOwnTable)),
           {deploy_name}},
          {"no label",
           TableNative("StatefulSet", kRing, TablePods("app: train", kOwnTable)),
           {"spec.template.metadata.labels[deploy-name]: label deploy-name is missing, and the "
            "operator finds the pods of StatefulSet \"train\" by it: it writes no rank table for "
            "them, and they wait while it is initializing"}},
          {"the table of another job",
           TableNative("Deployment", kRing,
                       TablePods("deploy-name: train", TableVolumes("a", "rings-config-other"))),
           {MountsTable("Deployment", "rings-config-other", "spec.template.spec")}},
          {"an AscendJob mounts that of another one",
           TableAscendJob(TableVolumes("a", "rings-config-p0")),
           {MountsTable("AscendJob", "rings-config-p0", "spec.replicaSpecs.Master.template.spec")}},
          {"an AscendJob mounts its own", TableAscendJob(kOwnTable), {}},
          {"the label on the template only",
           TableNative("StatefulSet", "", TablePods(kRing + ", deploy-name: train", kOwnTable)),
           {"metadata.labels[ring-controller.atlas]: label ring-controller.atlas is on the pod "
            "template only" +
            asked}},
          {"the label on a template that mounts none",
           TableNative("StatefulSet", "", TablePods(kRing)),
           {}},
          {"a mount that nothing asks for",
           TableNative("StatefulSet", "", TablePods("deploy-name: train", kOwnTable)),
           {"metadata.labels[ring-controller.atlas]: the pods mount a rank table that nothing "
            "asks for" +
            asked}},
          {"a volume named ranktable asks for it",
           TableNative("StatefulSet", "",
                       TablePods("deploy-name: train",
                                 "volumes: [{name: ranktable, hostPath: {path: /t}}], ")),
           {}},
          {"ordinals from 1",
           TableNative("StatefulSet", kRing, TablePods("deploy-name: train", kOwnTable),
                       "ordinals: {start: 1}, "),
           {"spec.ordinals.start: ordinals start at 1, and the rank of a pod is its ordinal: no "
            "pod has rank 0, which the others connect to"}},
          {"ordinals from 0",
           TableNative("StatefulSet", kRing, TablePods("deploy-name: train", kOwnTable),
                       "ordinals: {start: 0}, "),
           {}},
          {"two tasks with an index each",
           TableVcJob(kRing, "env: []", {TablePods(""), TablePods("")}),
           {"spec.tasks[1].template: tasks \"t0\" and \"t1\" both have NPUs, and the rank of a pod "
            "is its index in its task: two pods have rank 0, and the rank table is never "
            "complete"}},
          {"two tasks without plugin env",
           TableVcJob(kRing, "svc: []", {TablePods(""), TablePods("")}),
           {}},
          {"one task", TableVcJob(kRing, "env: []", {TablePods("")}), {}},
          {"nothing of a rank table", TableNative("Deployment", "", TablePods("app: train")), {}},
          {"no NPUs",
           "{apiVersion: apps/v1, kind: Deployment, metadata: {name: train, labels: {" + kRing +
               "}}, spec: {template: {spec: {containers: [{name: a}]}}}}",
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
