#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Config;
using schemas::Framework;
using schemas::Kind;

std::string Set(const std::string& labels, const std::string& key, const std::string& value) {
  return labels + "/" + key + " = \"" + value + "\"";
}

// The line of a label; none where there is no place for it, or no value.
std::vector<std::string> SetAt(const std::string& labels, const std::string& key,
                               const std::string& value) {
  if (labels.empty() || value.empty()) return {};
  return {Set(labels, key, value)};
}

TEST(FaultScheduling, EveryKind) {
  ExpectMutationsBy("fault-scheduling", EveryKind([](const Injected& row) {
                      const bool by_instance = schemas::kInferOperatorKinds.Has(row.kind);
                      return SetAt(row.labels(), "fault-scheduling",
                                   by_instance ? "external-force" : "force");
                    }));
}

TEST(PodRescheduling, EveryKind) {
  ExpectMutationsBy("pod-rescheduling", EveryKind([](const Injected& row) {
                      return SetAt(row.labels(), "pod-rescheduling", row.pods_alone ? "on" : "");
                    }));
}

TEST(FaultRetryTimes, EveryKind) {
  ExpectMutationsBy("fault-retry-times", EveryKind([](const Injected& row) {
                      return SetAt(row.labels(), "fault-retry-times", std::string(row.retry_times));
                    }));
}

// A container that restarted in place marks its pod as failed forever, and in a Deployment all do.
TEST(FaultRetryTimes, OmeOnlyInSeveralNodes) {
  const std::string npu = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}";
  const auto runtime = [&](const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, spec: {engineConfig: {" +
           engine + "}}}";
  };
  const auto service = [&](const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s}, spec: "
           "{engine: {" +
           engine + "}}}";
  };
  const std::string nodes = "leader: {" + npu + "}, worker: {size: 1, " + npu + "}";
  ExpectMutationsBy(
      "fault-retry-times",
      {
          {"a runtime's Deployment", runtime(npu), {}},
          {"a service's Deployment", service(npu), {}},
          {"a runtime's LeaderWorkerSet",
           runtime(nodes),
           {Set("/spec/engineConfig/labels", "fault-retry-times", "3")}},
          {"a service's LeaderWorkerSet",
           service(nodes),
           {Set("/spec/engine/labels", "fault-retry-times", "3")}},
          {"the user's own value is repeated all the same",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, annotations: "
           "{fault-retry-times: '5'}}, spec: {engine: {" +
               npu + "}}}",
           {Set("/spec/engine/labels", "fault-retry-times", "5")}},
      });
}

TEST(FaultLabels, ProfilesDecide) {
  for (const Injected& row : AllInjected()) {
    const Kind kind = row.kind;
    const std::string labels = row.labels();
    if (labels.empty()) continue;
    // Containers of an OME Deployment restart in place, and those of a vcjob unless a policy says
    // otherwise.
    const bool restarts = schemas::kOmeKinds.Has(kind) || schemas::kVolcanoJobs.Has(kind);
    const std::string object = Workload(kind, {NpuContainer()}).dump();
    Config none;
    Config all;
    for (auto& profile : none.profiles) profile = {"", "", ""};
    for (auto& profile : all.profiles) profile = {"grace", "", "7"};
    const std::string name(KindName(kind));
    ExpectMutationsBy(
        "fault-scheduling",
        {{name, object, {}, "", {}, "", none},
         {name, object, {Set(labels, "fault-scheduling", "grace")}, "", {}, "", all}});
    ExpectMutationsBy("fault-retry-times",
                      {{name, object, {}, "", {}, "", none},
                       {name,
                        object,
                        restarts ? std::vector<std::string>()
                                 : std::vector{Set(labels, "fault-retry-times", "7")},
                        "",
                        {},
                        "",
                        all}});
    ExpectMutationsBy("pod-rescheduling", {{name, object, {}, "", {}, "", all}});
  }
}

TEST(FaultRetryTimes, MindieJobsRetryOn) {
  const auto job = [](const std::string& labels) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {labels: {" + labels +
           "}}, spec: {replicaSpecs: {Master: {template: {spec: {containers: [{name: ascend, "
           "resources: "
           "{limits: {huawei.com/Ascend910: 8}}}]}}}}}}";
  };
  ExpectMutationsBy("fault-retry-times",
                    {{"both jobID and app make it a MindIE job",
                      job("jobID: a, app: b"),
                      {Set("/metadata/labels", "fault-retry-times", "100000000")}},
                     {"both jobID and app, whatever they hold",
                      job("jobID: '', app: ''"),
                      {Set("/metadata/labels", "fault-retry-times", "100000000")}},
                     {"one of them does not", job("jobID: a"), {}},
                     {"set by the user", job("jobID: a, app: b, fault-retry-times: '10000'"), {}}});
}

std::string LabelledDeployment(const std::string& labels, const std::string& spec = "") {
  return "{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: {labels: {" + labels +
         "}}, spec: {" + spec +
         "containers: [{resources: {limits: {huawei.com/Ascend910: 8}, requests: "
         "{huawei.com/Ascend910: 8}}}]}}}}";
}

TEST(FaultLabels, WhatTheUserSetStays) {
  const std::string labels = "/spec/template/metadata/labels";
  for (const char* value :
       {"force", "grace", "external-force", "external-grace", "off", "nonsense", "''"}) {
    ExpectMutationsBy("fault-scheduling",
                      {{value, LabelledDeployment("fault-scheduling: " + std::string(value)), {}}});
  }
  ExpectMutationsBy("fault-scheduling", {
                                            {"a label that is not a string is not ours to repair",
                                             LabelledDeployment("fault-scheduling: 3"),
                                             {}},
                                            {"null counts as missing",
                                             LabelledDeployment("fault-scheduling: null"),
                                             {Set(labels, "fault-scheduling", "force")}},
                                        });
  ExpectMutationsBy("pod-rescheduling",
                    {{"off by another value", LabelledDeployment("pod-rescheduling: 'off'"), {}},
                     {"with fault-scheduling off nothing reads it",
                      LabelledDeployment("fault-scheduling: 'off'"),
                      {}},
                     {"who switched it on without the limit wants the job level",
                      LabelledDeployment("fault-scheduling: grace"),
                      {}}});
}

// What the user wrote where nothing reads it is still the user's word.
TEST(FaultLabels, MisplacedAndMisspelledValuesComeBeforeDefaults) {
  const auto deployment = [](const std::string& metadata, const std::string& pod = "") {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {" + metadata +
           "}, spec: {template: {metadata: {" + pod +
           "}, spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}, requests: "
           "{huawei.com/Ascend910: 8}}}]}}}}";
  };
  const std::string labels = "/spec/template/metadata/labels";
  const std::string npu =
      "spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}, requests: "
      "{huawei.com/Ascend910: 8}}}]}";
  const std::string no_effect = ": the value \"Off\" that is written for these pods has no effect";
  ExpectMutationsBy(
      "fault-scheduling",
      {
          {"a label of the metadata",
           deployment("labels: {fault-scheduling: grace}"),
           {Set(labels, "fault-scheduling", "grace")}},
          {"off is a value too",
           deployment("labels: {fault-scheduling: 'off'}"),
           {Set(labels, "fault-scheduling", "off")}},
          {"a misspelled label of the template",
           deployment("", "labels: {fault_scheduling: 'off'}"),
           {Set(labels, "fault-scheduling", "off")}},
          {"an annotation of the template",
           deployment("", "annotations: {fault-scheduling: grace}"),
           {Set(labels, "fault-scheduling", "grace")}},
          {"the template before the metadata",
           deployment("labels: {fault-scheduling: force}", "labels: {fault-schedule: grace}"),
           {Set(labels, "fault-scheduling", "grace")}},
          {"the right key before all",
           deployment("labels: {fault-scheduling: grace}", "labels: {fault-scheduling: force}"),
           {}},
          {"a value that nothing knows is not repeated, and not overruled",
           deployment("labels: {fault-scheduling: 'Off'}"),
           {},
           "",
           {},
           "",
           {},
           {{labels + "/fault-scheduling" + no_effect}}},
          {"a key of somebody else's domain is theirs",
           deployment("labels: {example.com/fault-scheduling: grace}"),
           {Set(labels, "fault-scheduling", "force")}},
          {"a LeaderWorkerSet",
           "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {labels: "
           "{fault-scheduling: 'off'}}, spec: {leaderWorkerTemplate: {workerTemplate: {" +
               npu + "}}}}",
           {Set("/spec/leaderWorkerTemplate/workerTemplate/metadata/labels", "fault-scheduling",
                "off")}},
          {"a StormService's RoleSet metadata",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: "
           "{metadata: {labels: {fault-scheduling: grace}}, spec: {roles: [{name: p, replicas: 1, "
           "template: {" +
               npu + "}}]}}}}",
           {Set("/spec/template/spec/roles/0/template/metadata/labels", "fault-scheduling",
                "grace")}},
          {"a role's metadata is for that role",
           "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, spec: {roles: [{name: p, "
           "metadata: {labels: {fault-scheduling: external-grace}}, spec: {template: {" +
               npu + "}}}, {name: d, spec: {template: {" + npu + "}}}]}}",
           {Set("/spec/roles/0/spec/template/metadata/labels", "fault-scheduling",
                "external-grace"),
            Set("/spec/roles/1/spec/template/metadata/labels", "fault-scheduling",
                "external-force")}},
      });
  ExpectMutationsBy(
      "fault-retry-times",
      {{"retries of the metadata",
        deployment("labels: {fault-retry-times: '3'}"),
        {Set(labels, "fault-retry-times", "3")}},
       {"retries that do not parse", deployment("labels: {fault-retry-times: x}"), {}}});
  ExpectMutationsBy("pod-rescheduling",
                    {{"off in the metadata",
                      deployment("labels: {pod-rescheduling: 'off'}"),
                      {Set(labels, "pod-rescheduling", "off")}},
                     {"fault-scheduling alone in the metadata: the job level is wanted",
                      deployment("labels: {fault-scheduling: grace}"),
                      {}}});
  ExpectMutations(
      {{"nothing is added to what is switched off",
        deployment("", "labels: {fault_scheduling: 'off'}"),
        {"/spec/template/metadata/labels/fault-scheduling = \"off\"  (fault-scheduling)",
         R"(/spec/template/spec/containers/0/env/- = {"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['huawei.com/Ascend910']"}}}  (visible-devices))",
         "/spec/template/spec/schedulerName = \"volcano\"  (scheduler-name)"}}});
}

// A runtime's value that a rule refuses there is not written into the service as well.
TEST(FaultLabels, WhatIsRefusedInTheRuntimeIsNotRepeated) {
  ExpectMutationsBy(
      "fault-retry-times",
      {{"not a number",
        "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s}, spec: {runtime: "
        "{name: rt}, engine: {}}}",
        {},
        "",
        {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
         "{engineConfig: {labels: {fault-retry-times: x}, runner: {name: e, resources: {limits: "
         "{huawei.com/Ascend910: 8}}}}}}"},
        "",
        {},
        {{"/spec/engine/labels/fault-retry-times: the value \"x\" that is written for these pods "
          "has no effect"}}}});
}

// Survivors of a gang with a rank table hang in HCCL with the address of the pod that moved.
TEST(PodRescheduling, NotWithARankTable) {
  const auto deployment = [](const std::string& metadata, const std::string& spec) {
    return "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {metadata: {" +
           metadata + "}, spec: {" + spec +
           "containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}";
  };
  const std::vector<std::string> on = {
      Set("/spec/template/metadata/labels", "pod-rescheduling", "on")};
  ExpectMutationsBy(
      "pod-rescheduling",
      {
          {"a job's name, as upstream's training samples have it",
           deployment("labels: {deploy-name: mindx-dls-test}", ""),
           {}},
          {"the job's ConfigMap",
           deployment("", "volumes: [{name: config, configMap: {name: rings-config-dls}}], "),
           {}},
          {"a shared file",
           deployment("", "volumes: [{name: ranktable, hostPath: {path: /user/mindx-dl/x}}], "),
           {}},
          {"a shared file under another name",
           deployment("", "volumes: [{name: r, hostPath: {path: /user/mindx-dl/rank_table/j}}], "),
           {}},
          {"other volumes",
           deployment("",
                      "volumes: [{name: c, configMap: {name: rings}}, {name: d, hostPath: "
                      "{path: /data}}, 3], "),
           on},
          {"a StatefulSet",
           "{apiVersion: apps/v1, kind: StatefulSet, spec: {template: {metadata: {labels: "
           "{deploy-name: j}}, spec: {containers: [{resources: {limits: {huawei.com/Ascend910: "
           "8}}}]}}}}",
           {}},
      });
}

// One PodGroup per owner: without the limit one dead card takes down all of them, on every node.
TEST(PodRescheduling, PodsOfUnknownControllers) {
  const auto pod = [](const std::string& labels) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {" + labels +
           "}, ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: d, "
           "controller: true}]}, spec: {containers: [{resources: {limits: {huawei.com/Ascend910: "
           "8}}}]}}";
  };
  ExpectMutationsBy(
      "pod-rescheduling",
      {{"with the limit", pod(""), {Set("/metadata/labels", "pod-rescheduling", "on")}},
       {"who set fault-scheduling chose", pod("fault-scheduling: force"), {}}});
}

// The processes recover only while their pods live.
TEST(FaultScheduling, GraceBesideRecoverStrategy) {
  const auto job = [](const std::string& metadata) {
    return "{apiVersion: mindxdl.gitee.com/v1, kind: AscendJob, metadata: {" + metadata +
           "}, spec: {replicaSpecs: {Worker: {template: {spec: {containers: [{name: ascend, "
           "resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}}";
  };
  const std::string strategy = "annotations: {recover-strategy: recover}";
  schemas::Config off;
  for (schemas::Profile& profile : off.profiles) profile.fault_scheduling = "";
  MutationCase declined{"a site that injects none", job(strategy), {}};
  declined.config = off;
  ExpectMutationsBy(
      "fault-scheduling",
      {{"with it", job(strategy), {Set("/metadata/labels", "fault-scheduling", "grace")}},
       {"without it", job(""), {Set("/metadata/labels", "fault-scheduling", "force")}},
       {"the user's own value stays", job(strategy + ", labels: {fault-scheduling: force}"), {}},
       declined});
}

TEST(FaultLabels, OnlyPodsThatVolcanoSchedules) {
  ExpectMutations({{"another scheduler reads none of this",
                    LabelledDeployment("", "schedulerName: mine, "),
                    {}}});
  ExpectMutationsBy(
      "fault-scheduling",
      {{"a job that names another scheduler",
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {schedulerName: mine, tasks: "
        "[{template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}}}]}}",
        {}}});
}

// One PodGroup, one value: the plugin joins values that differ, and the joined one matches nothing.
TEST(FaultScheduling, OneValueForAPodGroup) {
  const std::string npu = "spec: {containers: [{resources: {limits: {huawei.com/Ascend910: 8}}}]}";
  const auto storm = [&](const std::string& prefill, const std::string& decode,
                         const std::string& size = "1") {
    return "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: "
           "{spec: {roles: ["
           "{name: prefill, podGroupSize: " +
           size + ", replicas: 1, template: {metadata: {labels: {" + prefill + "}}, " + npu +
           "}},"
           "{name: decode, podGroupSize: " +
           size + ", replicas: 1, template: {metadata: {labels: {" + decode + "}}, " + npu +
           "}}]}}}}";
  };
  const auto vcjob = [&](const std::string& metadata, const std::string& task) {
    return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {labels: {" + metadata +
           "}}, spec: {tasks: [{name: t, template: {metadata: {labels: {" + task + "}}, " + npu +
           "}}]}}";
  };
  const auto lws = [&](const std::string& leader, const std::string& worker) {
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: "
           "{leaderWorkerTemplate: {"
           "leaderTemplate: {metadata: {labels: {" +
           leader +
           "}}, spec: {containers: [{name: l}]}}, "
           "workerTemplate: {metadata: {labels: {" +
           worker + "}}, " + npu + "}}}}";
  };
  const auto instance = [&](const std::string& role, const std::string& pods) {
    return "{apiVersion: mindcluster.huawei.com/v1, kind: InferService, spec: {roles: [{name: p, "
           "metadata: {labels: {" +
           role + "}}, workload: {kind: StatefulSet}, spec: {template: {metadata: {labels: {" +
           pods + "}}, " + npu + "}}}]}}";
  };
  const std::string roles = "/spec/template/spec/roles/";
  const std::string differ =
      ": the PodGroup already carries different values, and it is unknown which one is intended";
  ExpectMutationsBy(
      "fault-scheduling",
      {
          {"a role takes the value of its sibling",
           storm("", "fault-scheduling: grace"),
           {Set(roles + "0/template/metadata/labels", "fault-scheduling", "grace")}},
          {"a role with podGroupSize has PodGroups of its own",
           storm("", "fault-scheduling: grace", "2"),
           {Set(roles + "0/template/metadata/labels", "fault-scheduling", "force")}},
          {"a sibling that switches it off switches the group off",
           storm("", "fault-scheduling: 'off'"),
           {}},
          {"metadata and task differ: no third value",
           vcjob("fault-scheduling: grace", "fault-scheduling: force"),
           {}},
          {"a task alone: metadata takes its value",
           vcjob("", "fault-scheduling: grace"),
           {Set("/metadata/labels", "fault-scheduling", "grace")}},
          {"metadata alone reaches the PodGroup", vcjob("fault-scheduling: grace", ""), {}},
          {"a task switches it off", vcjob("", "fault-scheduling: 'off'"), {}},
          {"an LWS leader takes the worker's",
           lws("", "fault-scheduling: grace"),
           {Set("/spec/leaderWorkerTemplate/leaderTemplate/metadata/labels", "fault-scheduling",
                "grace")}},
          {"both get the default, also the leader without NPUs",
           lws("", ""),
           {Set("/spec/leaderWorkerTemplate/leaderTemplate/metadata/labels", "fault-scheduling",
                "force"),
            Set("/spec/leaderWorkerTemplate/workerTemplate/metadata/labels", "fault-scheduling",
                "force")}},
          {"an instance's PodGroup copies the role's labels",
           instance("infer.huawei.com/gang-schedule: 'true', fault-scheduling: external-force", ""),
           {Set("/spec/roles/0/spec/template/metadata/labels", "fault-scheduling",
                "external-force")}},
          {"without a gang they reach the workload only, and are repeated for the pods",
           instance("fault-scheduling: external-grace", ""),
           {Set("/spec/roles/0/spec/template/metadata/labels", "fault-scheduling",
                "external-grace")}},
          {"a sibling's value of another type",
           storm("", "fault-scheduling: 3"),
           {},
           "",
           {},
           "",
           {},
           {{roles + "0/template/metadata/labels/fault-scheduling: the label at " + roles +
             "1/template/metadata/labels/fault-scheduling is not a string"}}},
          {"three tasks, two values, one without",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {tasks: [{name: a, template: "
           "{metadata: {labels: "
           "{fault-scheduling: grace}}, " +
               npu + "}}, {name: b, template: {metadata: {labels: {fault-scheduling: force}}, " +
               npu + "}}]}}",
           {},
           "",
           {},
           "",
           {},
           {{"/metadata/labels/fault-scheduling" + differ}}},
          {"the case of a value does not matter to the plugin's merge",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {tasks: [{name: a, template: "
           "{metadata: {labels: "
           "{fault-scheduling: force}}, " +
               npu + "}}, {name: b, template: {metadata: {labels: {fault-scheduling: Force}}, " +
               npu + "}}]}}",
           {Set("/metadata/labels", "fault-scheduling", "force")}},
      });
}

TEST(PodRescheduling, Shapes) {
  const std::string npu = "runner: {name: e, resources: {limits: {huawei.com/Ascend910: 16}}}";
  ExpectMutationsBy(
      "pod-rescheduling",
      {
          {"OME in several nodes, once for leader and worker",
           "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, spec: {engineConfig: "
           "{leader: {" +
               npu + "}, worker: {size: 1, " + npu + "}}, decoderConfig: {" + npu +
               "}, routerConfig: {runner: {name: r}}}}",
           {Set("/spec/decoderConfig/labels", "pod-rescheduling", "on"),
            Set("/spec/engineConfig/labels", "pod-rescheduling", "on")}},
          {"AIBrix role with podGroupSize 2 gets none, its sibling with 1 "
           "does",
           "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles: ["
           "{name: p, podGroupSize: 2, replicas: 1, template: {spec: {containers: [{resources: "
           "{limits: {huawei.com/Ascend910: 8}}}]}}},"
           "{name: d, podGroupSize: 1, replicas: 1, template: {spec: {containers: [{resources: "
           "{limits: {huawei.com/Ascend910: 8}}}]}}}]}}",
           {Set("/spec/roles/1/template/metadata/labels", "pod-rescheduling", "on")}},
      });
}

TEST(FaultScheduling, OmeServiceAndRuntime) {
  const auto service = [](const std::string& metadata, const std::string& engine) {
    return "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, labels: {" +
           metadata + "}}, spec: {runtime: {name: rt}, engine: {" + engine + "}, router: {}}}";
  };
  const auto runtime = [](const std::string& metadata, const std::string& labels) {
    return std::vector<std::string>{
        "{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt, labels: {" +
        metadata + "}}, spec: {engineConfig: {labels: {" + labels +
        "}, runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}}, routerConfig: "
        "{runner: {name: r}}}}"};
  };
  const std::string labels = "/spec/engine/labels";
  ExpectMutationsBy(
      "fault-scheduling",
      {
          {"the runtime requests the NPUs; the router gets nothing",
           service("", "minReplicas: 1"),
           {Set(labels, "fault-scheduling", "force")},
           "",
           runtime("", "")},
          {"the runtime's value, repeated",
           service("", ""),
           {Set(labels, "fault-scheduling", "grace")},
           "",
           runtime("", "fault-scheduling: grace")},
          {"the value that runtime-labels copies inside the runtime",
           service("", ""),
           {Set(labels, "fault-scheduling", "grace")},
           "",
           runtime("fault-scheduling: grace", "")},
          {"the service's own metadata reaches its pods",
           service("fault-scheduling: grace", ""),
           {},
           "",
           runtime("", "fault-scheduling: force")},
          {"an unknown runtime and no opt-in: not known to be ours", service("", ""), {}},
          {"an unknown runtime, opted in",
           service("mindgate.io/inject: enabled", ""),
           {Set(labels, "fault-scheduling", "force")}},
          {"a known runtime without NPUs",
           service("", ""),
           {},
           "",
           {"{apiVersion: ome.io/v1beta1, kind: ClusterServingRuntime, metadata: {name: rt}, spec: "
            "{engineConfig: "
            "{runner: {name: e, resources: {limits: {nvidia.com/gpu: 8}}}}}}"}},
          {"a namespaced runtime",
           "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: s, namespace: "
           "n}, spec: {runtime: "
           "{name: rt, kind: ServingRuntime}, engine: {}}}",
           {Set(labels, "fault-scheduling", "force")},
           "",
           {"{apiVersion: ome.io/v1beta1, kind: ServingRuntime, metadata: {name: rt, namespace: "
            "n}, spec: {engineConfig: "
            "{runner: {name: e, resources: {limits: {huawei.com/Ascend910: 8}}}}}}"}},
      });
}

// The PodGroup of a vcjob made by a CronJob copies the labels of the job template.
TEST(FaultLabels, VolcanoCronJobReadsItsJobTemplate) {
  const auto cron = [](const std::string& metadata, const std::string& job) {
    return "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, metadata: {labels: {" +
           metadata + "}}, spec: {jobTemplate: {metadata: {labels: {" + job +
           "}}, spec: {tasks: [{template: {spec: {containers: [{resources: {limits: "
           "{huawei.com/Ascend910: 8}}}]}}}]}}}}";
  };
  Config config;
  config.profiles[static_cast<size_t>(Framework::kVolcano)].fault_retry_times = "3";
  ExpectMutationsBy(
      "fault-retry-times",
      {
          {"off in the job template", cron("", "fault-scheduling: 'off'"), {}, "", {}, "", config},
          {"off on the CronJob itself reaches nobody, but is meant",
           cron("fault-scheduling: 'off'", ""),
           {},
           "",
           {},
           "",
           config},
      });
  ExpectMutationsBy(
      "fault-scheduling",
      {
          {"an update that drops it gets back what the job template had, not what the CronJob has",
           cron("fault-scheduling: force", ""),
           {Set("/spec/jobTemplate/metadata/labels", "fault-scheduling", "grace")},
           cron("fault-scheduling: force", "fault-scheduling: grace")},
          {"a job template whose metadata is no map is left alone",
           "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, spec: {jobTemplate: {metadata: "
           "text, spec: {tasks: "
           "[{template: {spec: {containers: [{resources: {limits: {huawei.com/Ascend910: "
           "8}}}]}}}]}}}}",
           {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
