#pragma once

#include <string>

namespace mindgate::testing {

// A policy about all objects and the binding that denies by it, both of that name. The expression
// begins at line 7, column 31.
inline std::string BoundPolicy(const std::string& name, const std::string& expression) {
  return R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: )" +
         name + R"(}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [{expression: ")" +
         expression + R"("}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: )" +
         name + R"(}
spec: {policyName: )" +
         name + R"(, validationActions: [Deny]}
)";
}

}  // namespace mindgate::testing
