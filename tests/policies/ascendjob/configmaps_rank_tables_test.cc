#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(RankTableBothDeployServers, Table) {
  ExpectFindings(
      "MG042",
      {
          {"one", RingsConfig(kRingsLabels), {}},
          {"none", RingsConfig("jobID: s"), {}},
          {"both",
           RingsConfig(kRingsLabels + ", grt-server/deploy-server: '1'"),
           {"metadata.labels[grt-server/deploy-server]: grt-server/deploy-server and "
            "grt-group/deploy-server are both set, so the whole service gets no rank table"}},
      });
}

TEST(RankTableDeployServer, Table) {
  const std::string kNeither =
      "metadata.labels[grt-group/deploy-server]: neither grt-group/deploy-server nor "
      "grt-server/deploy-server is set, so ClusterD makes no rank table for the service";
  ExpectFindings(
      "MG043",
      {
          {"grt-group", RingsConfig(kRingsLabels), {}},
          {"grt-server", RingsConfig("jobID: s, grt-server/deploy-server: '0'"), {}},
          {"neither, as in the vendor's sample",
           RingsConfig("jobID: mindie-ms-test, ring-controller.atlas: ascend-910b, "
                       "mx-consumer-cim: 'true'"),
           {kNeither}},
          {"a training job's table", RingsConfig("ring-controller.atlas: ascend-910b"), {}},
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
          {"complete", RingsConfig(kRingsLabels), {}},
          {"a training job's table", RingsConfig(""), {}},
          {"all missing",
           RingsConfig("grt-group/deploy-server: '1'"),
           {"metadata.labels.jobID: label jobID is missing, so the table belongs to no service",
            "metadata.labels[mx-consumer-cim]: label mx-consumer-cim is missing, so ClusterD does "
            "not "
            "see the table change",
            "metadata.labels[ring-controller.atlas]: label ring-controller.atlas is missing; some "
            "releases ignore rank tables without it"}},
          {"empty and false",
           RingsConfig("jobID: '', mx-consumer-cim: 'false', ring-controller.atlas: ascend-910b"),
           {"metadata.labels.jobID: label jobID is empty, so the table belongs to no service",
            "metadata.labels[mx-consumer-cim]: label mx-consumer-cim is \"false\" instead of "
            "\"true\", "
            "so ClusterD does not see the table change"}},
          {"no strings: wrong-type reports it",
           RingsConfig("jobID: 1, mx-consumer-cim: true, ring-controller.atlas: 2"),
           {}},
      });
}

TEST(RankTableContent, Table) {
  const std::string kHccl = "data[hccl.json]: hccl.json ";
  const std::string kCompleted = R"({"status":"completed"})";
  ExpectFindings(
      "MG045",
      {
          {"initializing", RingsConfig(kRingsLabels), {}},
          {"a training job's too",
           RingsConfig("", "{}"),
           {kHccl +
            "has status missing instead of \"initializing\", so its devices may be taken for "
            "the job's"}},
          {"a table of another run",
           RingsConfig(kRingsLabels, kCompleted),
           {kHccl +
            "has status \"completed\" instead of \"initializing\", so its devices may be taken "
            "for the job's"}},
          {"the operator fills it",
           RingsConfig(kRingsLabels, kCompleted),
           {},
           RingsConfig(kRingsLabels)},
          {"a stored one", RingsConfig(kRingsLabels, kCompleted, "resourceVersion: '7', "), {}},
          {"complete is the job summary's word",
           RingsConfig(kRingsLabels, R"({"status":"complete"})"),
           {kHccl +
            "has status \"complete\" instead of \"initializing\", so its devices may be taken "
            "for the job's"},
           RingsConfig(kRingsLabels)},
          {"no JSON",
           RingsConfig(kRingsLabels, "{status: initializing}"),
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

}  // namespace
}  // namespace mindgate::testing
