#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// Whatever stands where a map, list or scalar should be: a verdict, and never a failing rule.
TEST(AscendJobRules, SurviveAnyShape) {
  const std::vector<std::string> odd = {"null",
                                        "1",
                                        "x",
                                        "[]",
                                        "[null, 1, x, [], {}]",
                                        "{}",
                                        "{a: null, Master: 1, Worker: {template: 2}}"};
  const std::vector<std::string> shapes = {
      "metadata: %",
      "metadata: {name: %, namespace: %, labels: %, annotations: %}",
      "metadata: {labels: {framework: %, jobID: %, app: %, mind-cluster/scaling-rule: %, "
      "mind-cluster/group-name: %, scaleout-type: %, fault-scheduling: grace}}",
      "spec: %",
      "spec: {replicaSpecs: %, runPolicy: %, successPolicy: %, schedulerName: %}",
      "spec: {runPolicy: {backoffLimit: %, schedulingPolicy: %}}",
      "spec: {runPolicy: {schedulingPolicy: {queue: %, minAvailable: %}}}",
      "spec: {replicaSpecs: {Master: %, Worker: {replicas: %, restartPolicy: %, template: %}}}",
      "metadata: {labels: {framework: mindspore}}\nspec: {replicaSpecs: {Worker: {template: "
      "{metadata: "
      "%, spec: %}}}}",
      "metadata: {labels: {framework: mindspore}}\nspec: {replicaSpecs: {Worker: {template: "
      "{metadata: "
      "{labels: %}, spec: {containers: %, restartPolicy: %, schedulerName: %, "
      "terminationGracePeriodSeconds: %}}}}}",
      "spec: {replicaSpecs: {Worker: {template: {spec: {containers: [{name: %, image: %, "
      "resources: "
      "%}]}}}}}",
  };
  const FakeObjects nothing({});
  for (const std::string& shape : shapes) {
    for (const std::string& value : odd) {
      std::string text = "apiVersion: mindxdl.gitee.com/v1\nkind: AscendJob\n";
      for (char c : shape) text += c == '%' ? value : std::string(1, c);
      SCOPED_TRACE(text);
      const json::Document object = YamlDocument(text);
      const json::Document plain = YamlDocument(PytorchJob("", "jobID: a, app: mindie-ms-server"));
      const auto view = schemas::BuildView(object.root());
      const auto plain_view = schemas::BuildView(plain.root());
      ASSERT_TRUE(view && plain_view);
      schemas::AdmissionRequest request;
      request.object = &object.root();
      request.objects = &nothing;
      const schemas::Config config;
      const auto created = policies::Evaluate({*view, nullptr, request, config});
      request.operation = schemas::Operation::kUpdate;
      request.old_object = &plain.root();
      const auto updated = policies::Evaluate({*view, &*plain_view, request, config});
      const auto back = policies::Evaluate({*plain_view, &*view, request, config});
      for (const auto* evaluation : {&created, &updated, &back}) {
        for (const auto& finding : evaluation->findings)
          EXPECT_FALSE(finding.error) << finding.message;
      }
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
