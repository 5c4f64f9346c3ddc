#include "support/mutations.h"

namespace mindgate::testing {
namespace {

std::string Job(const std::string& metadata, const std::string& replica_specs) {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: mindie-server-0, "
         "labels: {" +
         metadata + "}}, spec: {replicaSpecs: {" + replica_specs + "}}}";
}

std::string Copied(const std::string& type, const std::string& key, const std::string& value) {
  return "/spec/replicaSpecs/" + type + "/template/metadata/labels/" + key + " = \"" + value + "\"";
}

TEST(MindieLabels, Table) {
  const std::string service = "jobID: mindie-1, app: mindie-ms-server";
  const std::string scaling =
      service + ", mind-cluster/scaling-rule: scaling-rule, mind-cluster/group-name: group0";
  const std::string npu =
      "template: {spec: {containers: [{name: ascend, resources: {limits: {huawei.com/Ascend910: "
      "8}}}]}}";
  const std::string cpu = "template: {spec: {containers: [{name: ascend}]}}";
  ExpectMutationsBy(
      "mindie-labels",
      {
          {"jobID and app reach every template",
           Job(service, "Master: {" + npu + "}, Worker: {" + npu + "}"),
           {Copied("Master", "app", "mindie-ms-server"), Copied("Master", "jobID", "mindie-1"),
            Copied("Worker", "app", "mindie-ms-server"), Copied("Worker", "jobID", "mindie-1")}},
          {"controller and coordinator request no NPUs",
           Job("jobID: mindie-1, app: mindie-ms-controller", "Master: {" + cpu + "}"),
           {Copied("Master", "app", "mindie-ms-controller"),
            Copied("Master", "jobID", "mindie-1")}},
          {"the scaling labels too",
           Job(scaling, "Master: {" + npu + "}"),
           {Copied("Master", "app", "mindie-ms-server"), Copied("Master", "jobID", "mindie-1"),
            Copied("Master", "mind-cluster~1group-name", "group0"),
            Copied("Master", "mind-cluster~1scaling-rule", "scaling-rule")}},
          {"a scaling rule without app",
           Job("jobID: j, mind-cluster/scaling-rule: r", "Master: {" + npu + "}"),
           {Copied("Master", "jobID", "j"), Copied("Master", "mind-cluster~1scaling-rule", "r")}},
          {"what the template says stays",
           Job(service,
               "Master: {template: {metadata: {labels: {app: other, jobID: mindie-1}}, spec: "
               "{containers: [{name: ascend}]}}}"),
           {}},
          {"template labels with non-string values",
           Job(service,
               "Master: {template: {metadata: {labels: {app: 3, jobID: true}}, spec: {containers: "
               "[{name: ascend}]}}}"),
           {}},
          {"template labels that are no map",
           Job(service,
               "Master: {template: {metadata: {labels: text}, spec: {containers: [{name: "
               "ascend}]}}}"),
           {}},
          {"job labels with non-string values are not copied",
           Job("jobID: 1, app: true", "Master: {" + npu + "}"),
           {}},
          {"a training job has no jobID and app", Job("app: x", "Master: {" + npu + "}"), {}},
          {"other kinds are no MindIE jobs",
           "{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {" + service +
               "}}, spec: {template: {spec: {containers: [{name: a}]}}}}",
           {}},
      });
}

// A replica spec without a template makes no pods, and a template is not ours to invent.
TEST(MindieLabels, NoTemplateIsMade) {
  const std::string service = "jobID: mindie-1, app: mindie-ms-server";
  ExpectMutationsBy("mindie-labels",
                    {
                        {"a missing template", Job(service, "Master: {replicas: 1}"), {}},
                        {"a null template", Job(service, "Master: {template: null}"), {}},
                        {"a replica spec that is null", Job(service, "Master: null"), {}},
                        {"a template that is no map", Job(service, "Master: {template: 5}"), {}},
                    });
}

}  // namespace
}  // namespace mindgate::testing
