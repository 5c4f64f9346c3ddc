#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(GracePeriod, Table) {
  const auto job = [](const std::string& labels, const std::string& pod) {
    return AscendJob(labels, Specs("Master: {template: {spec: {" + pod +
                                   "containers: [{name: ascend, image: i, resources: {requests: "
                                   "{huawei.com/Ascend910: 8}}}]}}}"));
  };
  const std::string kPath =
      "spec.replicaSpecs.Master.template.spec.terminationGracePeriodSeconds: ";
  ExpectFindings(
      "MG029",
      {
          {"unset: 30 seconds", job("fault-scheduling: grace", ""), {}},
          {"as long as the scheduler waits",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 900, "),
           {}},
          {"longer than the scheduler waits",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 901, "),
           {kPath + "terminationGracePeriodSeconds is 901, more than the 900 seconds after which "
                    "fault-scheduling: grace kills the pods"}},
          {"no grace at all",
           job("fault-scheduling: grace", "terminationGracePeriodSeconds: 0, "),
           {kPath + "terminationGracePeriodSeconds is 0, so pods are killed at once although "
                    "fault-scheduling "
                    "is grace"}},
          {"other modes",
           job("fault-scheduling: force", "terminationGracePeriodSeconds: 5000, "),
           {}},
          {"external-grace is infer-operator's",
           job("fault-scheduling: external-grace", "terminationGracePeriodSeconds: 5000, "),
           {}},
          {"no NPUs",
           AscendJob("fault-scheduling: grace",
                     Specs("Master: {template: {spec: {terminationGracePeriodSeconds: 0, "
                           "containers: []}}}")),
           {}},
          {"a Deployment's label stands in its template",
           R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    metadata: {labels: {fault-scheduling: grace}}
    spec:
      schedulerName: volcano
      terminationGracePeriodSeconds: 1000
      containers: [{name: a, resources: {limits: {huawei.com/Ascend910: 8}}}]
)",
           {"spec.template.spec.terminationGracePeriodSeconds: terminationGracePeriodSeconds is "
            "1000, more than the 900 seconds after which fault-scheduling: grace kills the pods"}},
      });
}

}  // namespace
}  // namespace mindgate::testing
