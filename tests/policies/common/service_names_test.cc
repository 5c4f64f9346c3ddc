#include "support/rules.h"

// Services that controllers make of a job, by its name.
namespace mindgate::testing {
namespace {

std::string NamedAscendJob(const std::string& name, const std::string& type = "Master") {
  return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {name: " + name +
         ", labels: {framework: pytorch}}, spec: {replicaSpecs: {" + type +
         ": {replicas: 1, template: {spec: {containers: [{name: ascend}]}}}}}}";
}

std::string NamedVcJob(const std::string& name, const std::string& plugins) {
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: " + name +
         "}, spec: {plugins: {" + plugins +
         "}, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: a}]}}}]}}";
}

TEST(ServiceName, Table) {
  const std::string digit =
      "\" of this name, which begins with \"7\", and a Service begins with a letter before "
      "Kubernetes 1.34: the API server refuses it, and no pod is made";
  const std::string fits(54, 'a');
  const std::string long_one(55, 'a');
  ExpectFindings(
      "MG176",
      {
          {"a digit",
           NamedAscendJob("7b-chat-sft"),
           {"metadata.name: ascend-operator makes Service \"7b-chat-sft-master-0" + digit}},
          {"a digit of a vcjob",
           NamedVcJob("70b-pretrain", "svc: []"),
           {"metadata.name: volcano-controllers makes Service \"70b-pretrain" + digit}},
          {"too long",
           NamedAscendJob(long_one),
           {"metadata.name: ascend-operator makes Service \"" + long_one +
            "-master-0\" of this name, which has 64 characters, and a Service at most 63: the API "
            "server refuses it, and no pod is made"}},
          {"too long with the longer type",
           NamedAscendJob(fits, "Scheduler"),
           {"metadata.name: ascend-operator makes Service \"" + fits +
            "-scheduler-0\" of this name, which has 66 characters, and a Service at most 63: the "
            "API server refuses it, and no pod is made"}},
          {"a dot",
           NamedAscendJob("chat.v2"),
           {"metadata.name: ascend-operator makes Service \"chat.v2-master-0\" of this name, which "
            "has a dot, and a Service has none: the API server refuses it, and no pod is made"}},
          {"fits", NamedAscendJob(fits), {}},
          {"no Service", NamedVcJob("70b-pretrain", "env: []"), {}},
          {"workers alone have none", NamedAscendJob("7b-chat-sft", "Worker"), {}},
          {"a name that is made later",
           "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {generateName: 7b-}, "
           "spec: "
           "{replicaSpecs: {Master: {replicas: 1, template: {spec: {containers: [{name: "
           "ascend}]}}}}}}",
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
