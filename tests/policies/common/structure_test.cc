#include <string>
#include <vector>

#include "admission/admit.h"
#include "support/rules.h"
#include "support/workloads.h"

namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

Json Many(size_t count, const Json& item) { return Json(std::vector<Json>(count, item)); }

Json ObjectWith(Kind kind, const char* pointer, const Json& value) {
  Json object = Workload(kind, {NpuContainer()});
  object[Json::json_pointer(pointer)] = value;
  return object;
}

TEST(WrongType, LabelsAndAnnotations) {
  ExpectFindings(
      "MG001",
      {
          {"AscendJob templates are untyped, so the API server lets this "
           "through",
           R"(
apiVersion: mindxdl.gitee.com/v1
kind: AscendJob
metadata: {name: a}
spec: {replicaSpecs: {Worker: {template: {metadata: {labels: {fault-retry-times: 3}}}}}}
)",
           {"spec.replicaSpecs.Worker.template.metadata.labels[fault-retry-times]: "
            "fault-retry-times is an integer, must be a string: without quotes the object is "
            "refused or its controller cannot read it"}},
          {"deploy tool D42: an unquoted on is a boolean",
           R"(
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: a}
spec: {engine: {labels: {pod-rescheduling: on}}}
)",
           {"spec.engine.labels[pod-rescheduling]: pod-rescheduling is a boolean, must be a "
            "string: an unquoted on, off, yes or no is a boolean in YAML, and the object is "
            "refused"}},
          {"a list, an object and a float",
           R"(
apiVersion: apps/v1
kind: Deployment
metadata: {labels: {a: [], b: {}, c: 1.5}, annotations: text}
)",
           {"metadata.labels.a: a is a list, must be a string: the object is refused or its "
            "controller cannot read it",
            "metadata.labels.b: b is an object, must be a string: the object is refused or its "
            "controller cannot read it",
            "metadata.labels.c: c is a number, must be a string: without quotes the object is "
            "refused or its controller cannot read it",
            "metadata.annotations: annotations is a string, must be an object: the object is "
            "refused or its controller cannot read it"}},
          {"counts in quotes",
           "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {replicas: '3'}}",
           {"spec.replicas: replicas is a string, must be an integer: the object is refused or its "
            "controller cannot read it"}},
          {"a null list item",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: {tasks: "
           "[null]}}",
           {"spec.tasks[0]: tasks[0] is null, must be an object: the object is refused or its "
            "controller "
            "cannot read it"}},
          {"a scaling rule that is no text",
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: r}, data: {elastic_scaling.json: "
           "{version: '1.0'}}}",
           {"data[elastic_scaling.json]: elastic_scaling.json is an object, must be a string: the "
            "object is refused or its controller cannot read it"}},
          {"quoted values, nulls and quantities in either form pass",
           R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: {pod-rescheduling: "on", n: "3", none: null}}
spec: {replicas: 3, template: {metadata: null, spec: {containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8, cpu: "4"}}}]}}}
)",
           {}},
      });
}

TEST(WrongType, FixesNameWhatToWrite) {
  const json::Document object = YamlDocument(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {labels: {a: 3, b: true, c: false, d: []}}
spec: {replicas: "3", template: []}
)");
  schemas::AdmissionRequest request;
  request.object = &object.root();
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  std::vector<std::string> fixes;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    if (finding.rule->id == "MG001") fixes.push_back(finding.fix);
  }
  EXPECT_EQ(fixes, (std::vector<std::string>{
                       R"(write a: "3")", R"(write b: "true")", R"(write c: "false")",
                       "write one quoted text as the value of d", "write replicas: 3",
                       "write an object for template, or leave it out"}));
}

// What one rule suggests may not be what another refuses.
TEST(WrongType, FixesOfKnownKeysAreTheirValues) {
  const json::Document object = YamlDocument(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {labels: {mindgate.io/inject: true}}
spec: {template: {metadata: {
  annotations: {huawei.com/schedule_minAvailable: 0, huawei.com/skip-ascend-plugin: true},
  labels: {fault-retry-times: -1, fault-scheduling: on, pod-rescheduling: off, process-recover-enable: yes,
           subHealthyStrategy: off}}}}
)");
  schemas::AdmissionRequest request;
  request.object = &object.root();
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  std::vector<std::string> fixes;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    if (finding.rule->id == "MG001") fixes.push_back(finding.fix);
  }
  EXPECT_EQ(fixes,
            (std::vector<std::string>{
                R"(write mindgate.io/inject: "enabled")", R"(write fault-retry-times: "3")",
                R"(write fault-scheduling: "force")", R"(write pod-rescheduling: "off")",
                R"(write process-recover-enable: "on")", R"(write subHealthyStrategy: "ignore")",
                R"(write huawei.com/schedule_minAvailable: "1")",
                R"(write huawei.com/skip-ascend-plugin: "enabled")"}));
}

TEST(WrongType, ManyAreCutAndCounted) {
  json::Json object = Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}");
  for (int i = 0; i < 1000; ++i) object["metadata"]["labels"]["l" + std::to_string(i)] = i;
  const json::Document laid(object);
  schemas::AdmissionRequest request;
  request.object = &laid.root();
  const auto view = schemas::BuildView(laid.root());
  const schemas::Config config;
  std::vector<std::string> messages;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    if (finding.rule->id == "MG001") messages.push_back(finding.message);
  }
  ASSERT_EQ(messages.size(), 51u);
  EXPECT_EQ(messages.back(), "950 more members have a wrong type");
}

TEST(InjectLabel, Table) {
  const auto deployment = [](const std::string& metadata) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {" + metadata + "}}";
  };
  ExpectFindings("MG002",
                 {
                     {"near miss",
                      deployment("labels: {mindgate.io/inject: disable}"),
                      {"metadata.labels[mindgate.io/inject]: mindgate.io/inject is \"disable\", "
                       "which counts as absent: only \"enabled\" and \"disabled\" have an effect, "
                       "did you mean \"disabled\"?"}},
                     {"another word",
                      deployment("labels: {mindgate.io/inject: 'true'}"),
                      {"metadata.labels[mindgate.io/inject]: mindgate.io/inject is \"true\", which "
                       "counts as absent: only \"enabled\" and \"disabled\" have an effect"}},
                     {"as an annotation",
                      deployment("annotations: {mindgate.io/inject: disabled}"),
                      {"metadata.annotations[mindgate.io/inject]: mindgate.io/inject is an "
                       "annotation here and has no effect: mindgate reads the label"}},
                     {"enabled", deployment("labels: {mindgate.io/inject: enabled}"), {}},
                     {"disabled", deployment("labels: {mindgate.io/inject: disabled}"), {}},
                     {"absent", deployment("labels: {app: a}"), {}},
                     {"not a string: the other rule's business",
                      deployment("labels: {mindgate.io/inject: true}"),
                      {}},
                 });
}

TEST(ObjectSize, Table) {
  const auto job = [](size_t tasks) {
    const Json task = {{"name", "t"}, {"replicas", 1}};
    return ObjectWith(Kind::kVolcanoJob, "/spec/tasks", Many(tasks, task)).dump();
  };
  const auto deployment = [](size_t containers) {
    return ObjectWith(Kind::kDeployment, "/spec/template/spec/containers",
                      Many(containers, CpuContainer()))
        .dump();
  };
  const auto more = [](const std::string& field, const std::string& what) {
    return std::vector<std::string>{field + ": there are more than " + what +
                                    ": mindgate does not read an object of that size, so nothing "
                                    "is injected and nothing else is checked"};
  };
  ExpectFindings("MG003", {
                              {"one task more", job(1025), more("spec.tasks", "1024 tasks")},
                              {"as many tasks as allowed", job(1024), {}},
                              {"one container more", deployment(257),
                               more("spec.template.spec.containers", "256 containers in one pod")},
                              {"as many containers as allowed", deployment(256), {}},
                          });
}

// What no real object reaches is refused by one finding that says which and why; it costs nothing
// else, and nothing is injected.
TEST(ObjectSize, EndsTheDecision) {
  struct Case {
    std::string name;
    Json object;
    std::vector<std::string> want;  // "rule field: message up to the colon"
  };
  const auto more = [](std::string_view field, std::string_view what) {
    return std::vector<std::string>{"MG003 " + std::string(field) + ": there are more than " +
                                    std::string(what)};
  };
  const auto containers = "/spec/template/spec/containers";
  Json npus = NpuContainer();
  for (int i = 0; i < 33; ++i) {
    npus["resources"]["limits"]["huawei.com/a" + std::to_string(i)] = 1;
  }
  Json types = Json::object();
  for (int i = 0; i < 1025; ++i) types["T" + std::to_string(i)] = Json::object();
  Json labels = Json::object();
  for (int i = 0; i < 1025; ++i) labels["l" + std::to_string(i)] = 1;
  const Case cases[] = {
      {"roles of a StormService",
       ObjectWith(Kind::kStormService, "/spec/template/spec/roles", Many(1025, Json::object())),
       more("spec.template.spec.roles", "1024 roles")},
      {"roles of an InferServiceSet",
       ObjectWith(Kind::kInferServiceSet, "/spec/template/roles", Many(1025, Json::object())),
       more("spec.template.roles", "1024 roles")},
      {"tasks", ObjectWith(Kind::kVolcanoJob, "/spec/tasks", Many(1025, Json::object())),
       more("spec.tasks", "1024 tasks")},
      {"replica specs", ObjectWith(Kind::kAscendJob, "/spec/replicaSpecs", types),
       more("spec.replicaSpecs", "1024 replicaSpecs")},
      {"containers", ObjectWith(Kind::kDeployment, containers, Many(257, Json::object())),
       more("spec.template.spec.containers", "256 containers in one pod")},
      {"resources", ObjectWith(Kind::kDeployment, containers, Many(1, npus)),
       more("spec.template.spec.containers[0].resources",
            "32 huawei.com resources in one container")},
      {"members of a wrong type", ObjectWith(Kind::kDeployment, "/metadata/labels", labels),
       more("metadata.labels.l999", "1024 members of a wrong type")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object(c.object);
    schemas::AdmissionRequest request;
    request.object = &object.root();
    const auto verdict = admission::Admit(request, schemas::Config());
    EXPECT_EQ(verdict.outcome, admission::Outcome::kDenied);
    EXPECT_TRUE(verdict.patch.empty());
    std::vector<std::string> got;
    for (const auto& finding : verdict.findings) {
      if (finding.rule->id == "MG001") continue;  // wrong types are named all the same
      got.push_back(std::string(finding.rule->id) + " " + finding.field + ": " +
                    finding.message.substr(0, finding.message.find(':')));
    }
    EXPECT_EQ(got, c.want);
  }
}

TEST(ObjectSize, AsManyAsAllowedAreEvaluated) {
  const Json role = {{"name", "r"}, {"replicas", 1}};
  for (const Json& object :
       {ObjectWith(Kind::kStormService, "/spec/template/spec/roles", Many(1024, role)),
        ObjectWith(Kind::kDeployment, "/spec/template/spec/containers",
                   Many(256, CpuContainer()))}) {
    const json::Document document(object);
    const auto view = schemas::BuildView(document.root());
    EXPECT_FALSE(view->excess);
    EXPECT_FALSE(view->templates.empty());
  }
}

}  // namespace
}  // namespace mindgate::testing
