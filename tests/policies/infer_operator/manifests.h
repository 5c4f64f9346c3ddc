#pragma once

#include <string>

// Objects of infer-operator for rule tests; maps are written as YAML flow maps without the braces.
namespace mindgate::testing {

inline std::string Set(const std::string& spec, const std::string& service,
                       const std::string& name = "chat") {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InferServiceSet, metadata: {name: " + name +
         "}, spec: {" + spec + (spec.empty() ? "" : ", ") + "template: {" + service + "}}}";
}

inline std::string Service(const std::string& spec, const std::string& name = "chat-0") {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, metadata: {name: " + name +
         "}, spec: {" + spec + "}}";
}

inline std::string InstanceSet(const std::string& labels, const std::string& spec) {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: i, labels: "
         "{" +
         labels + "}}, spec: {" + spec + "}}";
}

inline constexpr char kStatefulSet[] = "workload: {apiVersion: apps/v1, kind: StatefulSet}";
inline constexpr char kDeployment[] = "workload: {apiVersion: apps/v1, kind: Deployment}";

inline std::string Roles(const std::string& roles) { return "roles: [" + roles + "]"; }

// A workload spec of NPU pods under Volcano.
inline std::string WorkloadSpec(const std::string& fields, const std::string& labels = "a: b") {
  return "spec: {" + fields + (fields.empty() ? "" : ", ") +
         "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {" + labels +
         "}}, spec: {schedulerName: volcano, containers: [{name: c, resources: {limits: "
         "{huawei.com/Ascend910: 8}}}]}}}";
}

}  // namespace mindgate::testing
