#include <gtest/gtest.h>

#include "support/rules.h"

namespace mindgate::testing {
namespace {

std::string MindieService(const std::string& name, const std::string& port,
                          const std::string& ns = "a") {
  return "{apiVersion: v1, kind: Service, metadata: {name: " + name + ", namespace: " + ns +
         "}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}, {port: 1025, nodePort: " +
         port + "}]}}";
}

const std::string kInfer = "mindie-ms-coordinator-infer";

TEST(MindieNodePort, Table) {
  const std::string at = "spec.ports[1].nodePort: nodePort 31015 ";
  const std::string alone =
      at + "is that of every sample of MindIE Motor: only one Service of the cluster can have it";
  ExpectFindings("MG169", {
                              {"the sample's", MindieService(kInfer, "31015"), {alone}},
                              {.name = "itself",
                               .object = MindieService(kInfer, "31015"),
                               .want = {alone},
                               .others = {MindieService(kInfer, "31015")}},
                              {.name = "a second one",
                               .object = MindieService(kInfer, "31015", "b"),
                               .want = {at + "belongs to Service a/" + kInfer +
                                        " already: Kubernetes refuses the second"},
                               .others = {MindieService(kInfer, "31015")}},
                              {"another port", MindieService("mindie-ms-coordinator", "31016"), {}},
                          });
}

TEST(MindieServiceName, Table) {
  ExpectFindings(
      "MG170",
      {
          {"the name of a variable",
           MindieService("mindie-ms-coordinator", "31016"),
           {"metadata.name: Kubernetes gives every pod of the namespace variables that begin with "
            "MINDIE_MS_COORDINATOR for this Service, and MindIE's controller reads its own setting "
            "under such a name"}},
          {"the sample's", MindieService(kInfer, "31015"), {}},
      });
}

TEST(MindieServices, AreTheOnlyOnesChecked) {
  EXPECT_FALSE(schemas::BuildView(YamlDocument(MindieService("web", "30081")).root()));
  EXPECT_TRUE(schemas::BuildView(YamlDocument(MindieService("web", "31015")).root()));
}

}  // namespace
}  // namespace mindgate::testing
