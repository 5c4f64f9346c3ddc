#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/manifests/manifests.h"
#include "json/yaml.h"
#include "policies/engine.h"
#include "support/temp_folder.h"

namespace mindgate::cli {
namespace {

struct Printed {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Printed Export(const ExportPolicyOptions& options) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Streams io(in, out, err);
  const int exit_code = RunExportVap(options, io);
  return {exit_code, out.str(), err.str()};
}

TEST(ExportVap, PrintsPoliciesAndBindingsThatAreYaml) {
  const Printed printed = Export({});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_EQ(printed.err, "");
  const auto documents = json::DecodeYaml(printed.out);
  ASSERT_TRUE(documents);
  size_t policies = 0;
  size_t bindings = 0;
  for (const auto& document : *documents) {
    const bool policy = document.value["kind"] == "ValidatingAdmissionPolicy";
    policies += policy ? 1 : 0;
    bindings += policy ? 0 : 1;
  }
  EXPECT_GE(policies, 100u);
  EXPECT_EQ(policies, bindings);
}

TEST(ExportVap, PrintsTheRulesThatAreAskedFor) {
  const Printed printed = Export({.rules = {"mg051", "infer-set-replicas"},
                                  .namespace_selector = "team=serving",
                                  .excluded_namespaces = {"kube-system"}});
  EXPECT_EQ(printed.exit_code, kExitDone);
  const auto documents = json::DecodeYaml(printed.out);
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 6u);
  EXPECT_EQ(documents->at(0).value["metadata"]["name"], "mindgate-mg051");
  EXPECT_EQ(documents->at(2).value["metadata"]["name"], "mindgate-mg140");
  EXPECT_EQ(documents->at(0).value["spec"]["matchConstraints"]["namespaceSelector"],
            json::Json::parse(R"({"matchExpressions": [
              {"key": "team", "operator": "In", "values": ["serving"]},
              {"key": "kubernetes.io/metadata.name", "operator": "NotIn",
               "values": ["kube-system"]}]})"));
}

TEST(ExportVap, NamesEveryRuleThatItCannotPrint) {
  const Printed printed = Export({.rules = {"MG020", "MG999", "MG050"}});
  EXPECT_EQ(printed.exit_code, kExitUnusable);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "error: --rule MG020 has no policy: it reads other objects\n"
            "hint: leave it to mindgate's webhook, or to `mindgate apply` before objects are "
            "applied\n"
            "error: --rule \"MG999\": there is no such rule\n"
            "hint: `mindgate export vap --list` has all of them\n");
}

TEST(ExportVap, WarnsOfExceptionsThatEnd) {
  const testing::TempFolder folder;
  folder.Write("mindgate.yaml", R"(
exceptions:
  - rules: [fault-scheduling-value]
    namespace: legacy
    owner: serving
    reason: is replaced
    expires: 2026-09-01
)");
  const Time before = *ParseTime("2026-08-01T00:00:00Z");
  const Printed printed =
      Export({.rules = {"MG050"}, .config_file = folder.path() + "/mindgate.yaml", .now = before});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_NE(printed.out.find("legacy"), std::string::npos);
  EXPECT_EQ(printed.err.substr(0, printed.err.find(" ends on ")),
            "warning: exceptions[0] of serving");
}

constexpr std::string_view kOwnPolicies = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: object.spec.replicas <= int(params.data.most)}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec:
  policyName: few
  paramRef: {name: limits, parameterNotFoundAction: Deny}
  validationActions: [Deny]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {most: "3"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: whole}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: size(workload.templates) == 0}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: whole}
spec: {policyName: whole, validationActions: [Deny]}
)";

TEST(ExportVap, PrintsPoliciesOfTheSite) {
  const testing::TempFolder folder;
  folder.Write("own.yaml", std::string(kOwnPolicies));
  folder.Write("mindgate.yaml", "policies: {files: [own.yaml]}\nrules: {policy/few: warn}\n");
  const std::string config = folder.path() + "/mindgate.yaml";
  const Printed one = Export({.rules = {"policy/few"}, .config_file = config});
  EXPECT_EQ(one.exit_code, kExitDone);
  const auto documents = json::DecodeYaml(one.out);
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3u) << one.out;
  EXPECT_EQ(documents->at(0).value["kind"], "ConfigMap");
  EXPECT_EQ(documents->at(1).value["metadata"]["name"], "few");
  EXPECT_EQ(documents->at(2).value["spec"]["validationActions"], json::Json::parse(R"(["Warn"])"));
  EXPECT_EQ(one.err,
            "warning: the parameter ConfigMap limits has no namespace: the API server expects it "
            "in the namespace of each object. Write paramRef.namespace, or apply it to all of "
            "these\n");
  const Printed all = Export({.policies = {folder.path() + "/own.yaml"}});
  EXPECT_EQ(all.exit_code, kExitDone);
  EXPECT_NE(all.out.find("name: few\n"), std::string::npos);
  EXPECT_EQ(all.err.substr(0, all.err.find('\n')),
            "warning: policy/whole is not exported: it reads workload, which only mindgate has");
  const Printed refused = Export({.rules = {"policy/whole", "policy/few"}, .config_file = config});
  EXPECT_EQ(refused.exit_code, kExitUnusable);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "error: --rule policy/whole has no policy: it reads workload, which only mindgate has\n"
            "hint: leave it to mindgate's webhook, or to `mindgate apply` before objects are "
            "applied\n");
  const Printed list = Export({.config_file = config, .list = true, .color = ColorMode::kNever});
  EXPECT_EQ(
      list.out.substr(list.out.find("policy/few")),
      "policy/few     few                                       warn      yes\n"
      "policy/whole   whole                                     enforce   no         it reads "
      "workload, which only mindgate has\n");
}

TEST(ExportVap, ListsAllRules) {
  const Printed printed = Export({.list = true, .color = ColorMode::kNever});
  EXPECT_EQ(printed.exit_code, kExitDone);
  EXPECT_EQ(static_cast<size_t>(std::count(printed.out.begin(), printed.out.end(), '\n')),
            policies::Catalogue().size() + 1);
  EXPECT_NE(printed.out.find("it reads other objects"), std::string::npos) << printed.out;
}

}  // namespace
}  // namespace mindgate::cli
