#include <gtest/gtest.h>

#include "policies/infer_operator/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

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

}  // namespace
}  // namespace mindgate::testing
