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

std::string NamedLeaderWorkerSet(const std::string& name, const std::string& fields = "") {
  return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: " +
         name + "}, spec: {" + fields +
         "leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: a}]}}}}}";
}

std::string NamedStormService(const std::string& name) {
  return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: " +
         name +
         "}, spec: {replicas: 1, template: {spec: {roles: [{name: p, replicas: 1, template: {spec: "
         "{containers: [{name: a}]}}}]}}}}";
}

TEST(ServiceName, OfLeaderWorkerSetsAndAibrix) {
  const std::string webhook =
      "the webhook of LeaderWorkerSet 0.5 and later refuses the object, whatever the Kubernetes";
  const std::string unique = "replicas: 11, networkConfig: {subdomainPolicy: UniquePerReplica}, ";
  const std::string nearly(61, 'a');
  ExpectFindings(
      "MG176",
      {
          {"a StormService",
           NamedStormService("7b-chat"),
           {"metadata.name: aibrix makes Service \"7b-chat\" of this name, which begins with "
            "\"7\", and a Service begins with a letter before Kubernetes 1.34: the API server "
            "refuses it, and no pod is made"}},
          {"a LeaderWorkerSet",
           NamedLeaderWorkerSet("7b-chat"),
           {"metadata.name: lws makes Service \"7b-chat\" of this name, which begins with \"7\", "
            "and a Service begins with a letter before Kubernetes 1.34: " +
            webhook}},
          {"a dot",
           NamedLeaderWorkerSet("chat.v2", "networkConfig: {subdomainPolicy: Shared}, "),
           {"metadata.name: lws makes Service \"chat.v2\" of this name, which has a dot, and a "
            "Service has none: " +
            webhook}},
          {"the number of a group is part of the name",
           NamedLeaderWorkerSet(nearly, unique),
           {"metadata.name: lws makes Service \"" + nearly +
            "-10\" of this name, which has 64 characters, and a Service at most 63: the API server "
            "refuses it, and no pod is made"}},
          {"one Service for all groups", NamedLeaderWorkerSet(nearly, "replicas: 11, "), {}},
          {"no group",
           NamedLeaderWorkerSet(
               nearly, "replicas: 0, networkConfig: {subdomainPolicy: UniquePerReplica}, "),
           {}},
          {"fits", NamedLeaderWorkerSet("chat-7b", unique), {}},
      });
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
