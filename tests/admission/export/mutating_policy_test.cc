#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/export/policy.h"

namespace mindgate {
namespace {

using nlohmann::ordered_json;
using Texts = std::vector<std::string>;

std::vector<ordered_json> PoliciesWith(const std::vector<std::string>& off) {
  schemas::Config config;
  for (const std::string& mutator : off) config.disabled_mutators.insert(mutator);
  return exported::MutatingPolicies(config, {.excluded_namespaces = {"kube-system"}}, "v1");
}

TEST(MutatingPolicies, OneForEachPlaceOfATemplate) {
  Texts lines;
  for (const ordered_json& document : PoliciesWith({})) {
    std::string line = document["apiVersion"].get<std::string>() + " " +
                       document["kind"].get<std::string>() + " " +
                       document["metadata"]["name"].get<std::string>();
    const ordered_json& spec = document["spec"];
    if (spec.contains("policyName")) {
      line += " of " + spec["policyName"].get<std::string>();
    } else {
      line += " " + spec["failurePolicy"].get<std::string>() + " " +
              spec["reinvocationPolicy"].get<std::string>();
      for (const auto& rule : spec["matchConstraints"]["resourceRules"]) {
        line += " " + rule["resources"].dump() + rule["operations"].dump();
      }
    }
    lines.push_back(std::move(line));
  }
  EXPECT_EQ(
      lines,
      (Texts{R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-templates Ignore IfNeeded )"
             R"(["replicationcontrollers"]["CREATE","UPDATE"] )"
             R"(["deployments","replicasets","statefulsets","daemonsets"]["CREATE","UPDATE"] )"
             R"(["jobs"]["CREATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-templates of mindgate-inject-templates",
             R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-cronjobs Ignore IfNeeded ["cronjobs"]["CREATE","UPDATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-cronjobs of mindgate-inject-cronjobs",
             R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-pods Ignore IfNeeded ["pods"]["CREATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-pods of mindgate-inject-pods",
             R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-leaders Ignore IfNeeded ["leaderworkersets"]["CREATE","UPDATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-leaders of mindgate-inject-leaders",
             R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-workers Ignore IfNeeded ["leaderworkersets"]["CREATE","UPDATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-workers of mindgate-inject-workers",
             R"(admissionregistration.k8s.io/v1 MutatingAdmissionPolicy )"
             R"(mindgate-inject-vcjobs Ignore IfNeeded ["jobs"]["CREATE"])",
             "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding "
             "mindgate-inject-vcjobs of mindgate-inject-vcjobs"}));
}

Texts Expressions(const ordered_json& policy) {
  Texts texts;
  for (const auto& mutation : policy["spec"]["mutations"]) {
    const bool applied = mutation["patchType"] == "ApplyConfiguration";
    texts.push_back(mutation[applied ? "applyConfiguration" : "jsonPatch"]["expression"]);
  }
  return texts;
}

// What is written into Deployments, into Pods, and into vcjobs.
TEST(MutatingPolicies, WriteTheValuesOfVariables) {
  const auto all = PoliciesWith({});
  EXPECT_EQ(
      Expressions(all[0]),
      (Texts{
          R"cel(Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{labels: {?'jobID': optional.ofNonZeroValue(variables.jobId), ?'mind-cluster/scaling-rule': optional.ofNonZeroValue(variables.scalingRule), ?'mind-cluster/group-name': optional.ofNonZeroValue(variables.groupName), ?'fault-scheduling': optional.ofNonZeroValue(variables.faultScheduling), ?'pod-rescheduling': optional.ofNonZeroValue(variables.podRescheduling), ?'fault-retry-times': optional.ofNonZeroValue(variables.faultRetryTimes)}, annotations: {?'huawei.com/recover_policy_path': optional.ofNonZeroValue(variables.recoverPolicy)}}, spec: Object.spec.template.spec{?schedulerName: optional.ofNonZeroValue(variables.schedulerName), ?containers: optional.ofNonZeroValue(variables.requests.map(c, Object.spec.template.spec.containers{name: c.name, resources: Object.spec.template.spec.containers.resources{requests: c.requests}})), ?initContainers: optional.ofNonZeroValue(variables.initRequests.map(c, Object.spec.template.spec.initContainers{name: c.name, resources: Object.spec.template.spec.initContainers.resources{requests: c.requests}}))}}}})cel",
          R"cel(variables.devices.map(d, JSONPatch{op: 'add', path: d.first ? d.path : d.path + '/-', value: d.first ? dyn([{'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})}]) : dyn({'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})})}))cel"}));
  EXPECT_EQ(
      Expressions(all[4]),
      (Texts{
          R"cel(Object{metadata: Object.metadata{labels: {?'fault-scheduling': optional.ofNonZeroValue(variables.faultScheduling), ?'pod-rescheduling': optional.ofNonZeroValue(variables.podRescheduling), ?'fault-retry-times': optional.ofNonZeroValue(variables.faultRetryTimes)}, annotations: {?'huawei.com/recover_policy_path': optional.ofNonZeroValue(variables.recoverPolicy)}}, spec: Object.spec{?schedulerName: optional.ofNonZeroValue(variables.schedulerName)}})cel",
          R"cel(variables.devices.map(d, JSONPatch{op: 'add', path: d.first ? d.path : d.path + '/-', value: d.first ? dyn([{'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})}]) : dyn({'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})})}))cel"}));
  EXPECT_EQ(
      Expressions(all[10]),
      (Texts{
          R"cel(Object{metadata: Object.metadata{labels: {?'fault-scheduling': optional.ofNonZeroValue(variables.faultScheduling), ?'fault-retry-times': optional.ofNonZeroValue(variables.faultRetryTimes)}}, spec: Object.spec{?schedulerName: optional.ofNonZeroValue(variables.schedulerName)}})cel",
          R"cel(size(variables.taskLabels) == 0 ? [] : !object.spec.tasks[0].?template.?metadata.hasValue() ? [JSONPatch{op: 'add', path: '/spec/tasks/0/template/metadata', value: {'labels': variables.taskLabels}}] : !object.spec.tasks[0].?template.?metadata.?labels.hasValue() ? [JSONPatch{op: 'add', path: '/spec/tasks/0/template/metadata/labels', value: variables.taskLabels}] : variables.taskLabels.map(k, JSONPatch{op: 'add', path: '/spec/tasks/0/template/metadata/labels/' + jsonpatch.escapeKey(k), value: variables.taskLabels[k]}))cel",
          R"cel(variables.taskRequests.filter(r, r.bare).map(r, JSONPatch{op: 'add', path: r.path + '/resources/requests', value: {}}) + variables.taskRequests.map(r, JSONPatch{op: 'add', path: r.path + '/resources/requests/' + jsonpatch.escapeKey(r.key), value: r.value}))cel",
          R"cel(variables.devices.map(d, JSONPatch{op: 'add', path: d.first ? d.path : d.path + '/-', value: d.first ? dyn([{'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})}]) : dyn({'name': dyn('ASCEND_VISIBLE_DEVICES'), 'valueFrom': dyn({'fieldRef': {'fieldPath': 'metadata.annotations[\'' + d.resource + '\']'}})})}))cel"}));
}

TEST(MutatingPolicies, LeaveOutWhatIsSwitchedOff) {
  const Texts others = {"mindie-labels",    "npu-requests",      "fault-scheduling",
                        "pod-rescheduling", "fault-retry-times", "recover-policy"};
  Texts devices = others;
  devices.push_back("scheduler-name");
  Texts none = devices;
  none.push_back("visible-devices");
  const auto types = [](const Texts& off) {
    Texts lines;
    const auto documents = PoliciesWith(off);
    if (documents.empty()) return lines;
    for (const auto& mutation : documents[0]["spec"]["mutations"]) {
      lines.push_back(mutation["patchType"]);
    }
    return lines;
  };
  EXPECT_EQ(types({}), (Texts{"ApplyConfiguration", "JSONPatch"}));
  EXPECT_EQ(types({"visible-devices"}), Texts{"ApplyConfiguration"});
  EXPECT_EQ(types(devices), Texts{"JSONPatch"});
  EXPECT_EQ(types(none), Texts{});
}

}  // namespace
}  // namespace mindgate
