#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string Job(const std::string& labels) { return PytorchJob("", labels); }

// rings-config-j of namespace ns, a complete one unless said otherwise.
std::string Table(const std::string& labels,
                  const std::string& data = R"({"status":"initializing"})",
                  const std::string& metadata = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rings-config-j, namespace: ns, " +
         metadata + "labels: {" + labels + "}}\ndata: {hccl.json: '" + data + "'}\n";
}
const std::string kLabels =
    "jobID: s, mx-consumer-cim: 'true', ring-controller.atlas: ascend-910b, "
    "grt-group/deploy-server: '1'";

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
          {"no string: wrong-type tells", Job("jobID: s, app: 1"), {}},
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
          {"no strings: wrong-type tells",
           job("jobID: s, app: mindie-ms-controller", "jobID: 1, app: [x]"),
           {}},
      });
}

TEST(RankTableBothDeployServers, Table) {
  ExpectFindings(
      "MG042",
      {
          {"one", Table(kLabels), {}},
          {"none", Table("jobID: s"), {}},
          {"both",
           Table(kLabels + ", grt-server/deploy-server: '1'"),
           {"metadata.labels[grt-server/deploy-server]: grt-server/deploy-server and "
            "grt-group/deploy-server are both set, so the whole service gets no rank table"}},
      });
}

TEST(RankTableDeployServer, Table) {
  const std::string kNeither =
      "metadata.labels[grt-group/deploy-server]: neither grt-group/deploy-server nor "
      "grt-server/deploy-server is set, so ClusterD makes no rank table for the service";
  ExpectFindings("MG043",
                 {
                     {"grt-group", Table(kLabels), {}},
                     {"grt-server", Table("jobID: s, grt-server/deploy-server: '0'"), {}},
                     {"neither, as in the vendor's sample",
                      Table("jobID: mindie-ms-test, ring-controller.atlas: ascend-910b, "
                            "mx-consumer-cim: 'true'"),
                      {kNeither}},
                     {"a training job's table", Table("ring-controller.atlas: ascend-910b"), {}},
                     {"a scaling rule",
                      "{apiVersion: v1, kind: ConfigMap, metadata: {name: r, labels: {jobID: "
                      "s}}, data: {elastic_scaling.json: '{}'}}",
                      {}},
                 });
}

TEST(RankTableLabels, Table) {
  ExpectFindings(
      "MG044",
      {
          {"complete", Table(kLabels), {}},
          {"a training job's table", Table(""), {}},
          {"all missing",
           Table("grt-group/deploy-server: '1'"),
           {"metadata.labels.jobID: label jobID is missing, so the table belongs to no service",
            "metadata.labels[mx-consumer-cim]: label mx-consumer-cim is missing, so ClusterD does "
            "not "
            "see the table change",
            "metadata.labels[ring-controller.atlas]: label ring-controller.atlas is missing; some "
            "releases ignore rank tables without it"}},
          {"empty and false",
           Table("jobID: '', mx-consumer-cim: 'false', ring-controller.atlas: ascend-910b"),
           {"metadata.labels.jobID: label jobID is empty, so the table belongs to no service",
            "metadata.labels[mx-consumer-cim]: label mx-consumer-cim is \"false\" instead of "
            "\"true\", "
            "so ClusterD does not see the table change"}},
          {"no strings: wrong-type tells",
           Table("jobID: 1, mx-consumer-cim: true, ring-controller.atlas: 2"),
           {}},
      });
}

TEST(RankTableContent, Table) {
  const std::string kHccl = "data[hccl.json]: hccl.json ";
  const std::string kCompleted = R"({"status":"completed"})";
  ExpectFindings(
      "MG045",
      {
          {"initializing", Table(kLabels), {}},
          {"a training job's too",
           Table("", "{}"),
           {kHccl +
            "has status missing instead of \"initializing\", so its devices may be taken for "
            "the job's"}},
          {"a table of another run",
           Table(kLabels, kCompleted),
           {kHccl +
            "has status \"completed\" instead of \"initializing\", so its devices may be taken "
            "for the job's"}},
          {"the operator fills it", Table(kLabels, kCompleted), {}, Table(kLabels)},
          {"a stored one", Table(kLabels, kCompleted, "resourceVersion: '7', "), {}},
          {"complete is the job summary's word",
           Table(kLabels, R"({"status":"complete"})"),
           {kHccl +
            "has status \"complete\" instead of \"initializing\", so its devices may be taken "
            "for the job's"},
           Table(kLabels)},
          {"no JSON",
           Table(kLabels, "{status: initializing}"),
           {kHccl +
            "is not a JSON object (line 1, column 2: expected a key in double quotes, found "
            "\"s\"), so pods that read it early fail"}},
          {"missing",
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: rings-config-j}, data: {}}",
           {kHccl +
            "is missing, so pods that start before the table is filled find no file to wait "
            "for"}},
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
          with("there", server, {Table(kLabels)}, {}),
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
          with("of another service", server, {Table("jobID: t")},
               {"metadata.labels.jobID: jobID \"s\" is not the jobID of ConfigMap "
                "\"rings-config-j\", "
                "so the job's devices are missing from the service's rank table"}),
          with("a controller needs none", Job("jobID: s, app: mindie-ms-controller"), {}, {}),
          with("nor does a training job", Job(""), {}, {}),
          unknown,
      });
}

TEST(RingControllerValue, Table) {
  const auto labelled = [](const std::string& value) {
    return Job("ring-controller.atlas: " + value);
  };
  ExpectFindings("MG048", {
                              {"ascend-910b", labelled("ascend-910b"), {}},
                              {"a site's own", labelled("site-7"), {}},
                              {"other case",
                               labelled("Ascend-910b"),
                               {"metadata.labels[ring-controller.atlas]: ring-controller.atlas is "
                                "\"Ascend-910b\", which names no product, did you mean "
                                "\"ascend-910b\"? The scheduler cuts no virtual NPUs for it, and "
                                "older releases make no rank table"}},
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
          {"with a scaling rule scaling-labels tells",
           Job("app: mindie-ms-server, mind-cluster/scaling-rule: r"),
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
