#include "policies/common/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(FaultSchedulingValue, Table) {
  const std::string effect =
      ", which the scheduler does not know: after a fault the job is stuck in its fault cache";
  ExpectFindings(
      "MG050", {
                   {"matching is exact",
                    LabelledDeployment("fault-scheduling: Force"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"Force\"" +
                     effect + ", did you mean \"force\"?"}},
                   {"a value that only infer-operator acts on is not suggested",
                    LabelledDeployment("fault-scheduling: external-forc"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"external-forc\"" +
                     effect}},
                   {"an empty value is unknown too",
                    LabelledDeployment("fault-scheduling: ''"),
                    {kTemplateLabels + "[fault-scheduling]: fault-scheduling is \"\"" + effect}},
                   {"on the metadata that an AscendJob's PodGroup copies",
                    LabelledAscendJob("labels: {fault-scheduling: on1}"),
                    {"metadata.labels[fault-scheduling]: fault-scheduling is \"on1\"" + effect}},
                   {"on a service's metadata, which reaches every component",
                    LabelledService("", "labels: {fault-scheduling: forced}"),
                    {"metadata.labels[fault-scheduling]: fault-scheduling is \"forced\"" + effect +
                     ", did you mean \"force\"?"}},
                   {"metadata that reaches nobody is another rule's business",
                    LabelledDeployment("", "", "labels: {fault-scheduling: Force}"),
                    {}},
                   {"force", LabelledDeployment("fault-scheduling: force"), {}},
                   {"grace", LabelledDeployment("fault-scheduling: grace"), {}},
                   {"external-force", LabelledDeployment("fault-scheduling: external-force"), {}},
                   {"external-grace", LabelledDeployment("fault-scheduling: external-grace"), {}},
                   {"off", LabelledDeployment("fault-scheduling: 'off'"), {}},
                   {"absent", LabelledDeployment(""), {}},
                   {"a boolean is the wrong-type rule's business",
                    LabelledDeployment("fault-scheduling: off"),
                    {}},
               });
}

TEST(PodReschedulingValue, Table) {
  const std::string effect = ", which counts as off: one fault deletes every pod of the group";
  ExpectFindings(
      "MG051",
      {
          {"deploy tool D42: what an unquoted on became",
           LabelledDeployment("pod-rescheduling: 'True'"),
           {kTemplateLabels + "[pod-rescheduling]: pod-rescheduling is \"True\"" + effect}},
          {"case",
           LabelledDeployment("pod-rescheduling: 'On'"),
           {kTemplateLabels + "[pod-rescheduling]: pod-rescheduling is \"On\"" + effect +
            ", did you mean \"on\"?"}},
          {"on", LabelledDeployment("pod-rescheduling: 'on'"), {}},
          {"off", LabelledDeployment("pod-rescheduling: 'off'"), {}},
          {"false is a legal off", LabelledDeployment("pod-rescheduling: 'false'"), {}},
      });
}

TEST(SubHealthyStrategyValue, Table) {
  ExpectFindings(
      "MG052",
      {
          {"unknown counts as ignore",
           LabelledDeployment("subHealthyStrategy: forceexit"),
           {kTemplateLabels +
            ".subHealthyStrategy: subHealthyStrategy is \"forceexit\", which counts as ignore: "
            "pods stay on a sub-healthy card, did you mean \"forceExit\"?"}},
          {"hotSwitch is missing in some tables of the documents",
           LabelledDeployment("subHealthyStrategy: hotSwitch"),
           {}},
          {"graceExit", LabelledDeployment("subHealthyStrategy: graceExit"), {}},
          {"ignore", LabelledDeployment("subHealthyStrategy: ignore"), {}},
      });
}

TEST(FaultRetryTimesValue, Table) {
  const std::string at = kTemplateLabels + "[fault-retry-times]: fault-retry-times is ";
  const std::string no_number =
      ", not a whole number, and counts as 0: failed pods are never restarted";
  ExpectFindings(
      "MG053",
      {
          {"words", LabelledDeployment("fault-retry-times: three"), {at + "\"three\"" + no_number}},
          {"empty", LabelledDeployment("fault-retry-times: ''"), {at + "\"\"" + no_number}},
          {"Go's Atoi takes no spaces",
           LabelledDeployment("fault-retry-times: ' 3'"),
           {at + "\" 3\"" + no_number}},
          {"negative",
           LabelledDeployment("fault-retry-times: '-1'"),
           {at + "\"-1\": with a negative budget failed pods are noticed but never restarted"}},
          {"an AscendJob may not even start",
           LabelledAscendJob("labels: {fault-retry-times: 3x}"),
           {"metadata.labels[fault-retry-times]: fault-retry-times is \"3x\"" + no_number +
            "; the operator may not start the AscendJob at all"}},
          {"0", LabelledDeployment("fault-retry-times: '0'"), {}},
          {"Go's Atoi takes a sign", LabelledDeployment("fault-retry-times: '+3'"), {}},
          {"beyond the documents' range, as their own samples",
           LabelledDeployment("fault-retry-times: '100000000'"),
           {}},
      });
}

TEST(ProcessRecoverValue, Table) {
  ExpectFindings(
      "MG054",
      {
          {"unknown",
           LabelledAscendJob("labels: {process-recover-enable: 'yes'}"),
           {"metadata.labels[process-recover-enable]: process-recover-enable is \"yes\", which "
            "counts as off: healthy pods are deleted along with the faulty one"}},
          {"on", LabelledAscendJob("labels: {process-recover-enable: 'on'}"), {}},
          {"pause is ClusterD's own",
           LabelledAscendJob("labels: {process-recover-enable: pause}"),
           {}},
      });
}

TEST(RecoverPolicyValue, Table) {
  const std::string effect =
      ", which has no effect: only \"pod\" keeps a fault from taking down the whole group";
  ExpectFindings(
      "MG059",
      {
          {"pod,job",
           DeploymentWith("annotations: {huawei.com/recover_policy_path: 'pod,job'}"),
           {"spec.template.metadata.annotations[huawei.com/recover_policy_path]: "
            "huawei.com/recover_policy_path is \"pod,job\"" +
            effect}},
          {"job, on an AscendJob",
           AscendJobWith("annotations: {huawei.com/recover_policy_path: job}"),
           {"metadata.annotations[huawei.com/recover_policy_path]: huawei.com/recover_policy_path "
            "is \"job\"" +
            effect}},
          {"pod", DeploymentWith("annotations: {huawei.com/recover_policy_path: pod}"), {}},
      });
}

TEST(WaitRescheduleTimeout, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {wait-reschedule-timeout: '" + value + "'}");
  };
  const auto finding = [](const std::string& value) {
    return std::vector<std::string>{
        "metadata.annotations[wait-reschedule-timeout]: wait-reschedule-timeout is \"" + value +
        "\", not seconds from 30 to 270: 270 is used instead"};
  };
  ExpectFindings("MG061", {
                              {"below", job("29"), finding("29")},
                              {"above", job("271"), finding("271")},
                              {"with a unit", job("60s"), finding("60s")},
                              {"least", job("30"), {}},
                              {"most", job("270"), {}},
                          });
}

TEST(FaultFilters, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {huawei.com/schedule.filter.faultCode: '" + value + "'}");
  };
  const std::string at = "metadata.annotations[huawei.com/schedule.filter.faultCode]: the filter ";
  ExpectFindings(
      "MG062",
      {
          {"seconds out of range",
           job("8C1F8608:86401"),
           {at + "\"8C1F8608:86401\" cannot be read: \"86401\" is not a number of seconds from 0 "
                 "to 86400"}},
          {"a unit, and an empty entry",
           job("8C1F8608:60s,,4C1F8608"),
           {at + "\"8C1F8608:60s\" cannot be read: \"60s\" is not a number of seconds from 0 to "
                 "86400",
            at + "\"\" cannot be read: it does not name a fault"}},
          {"two colons",
           job("a:1:2"),
           {at + "\"a:1:2\" cannot be read: it has more than one colon"}},
          {"levels are checked as well",
           AscendJobWith(
               "annotations: {huawei.com/schedule.filter.faultLevel: 'RestartRequest:x'}"),
           {"metadata.annotations[huawei.com/schedule.filter.faultLevel]: the filter "
            "\"RestartRequest:x\" cannot be read: \"x\" is not a number of seconds from 0 to "
            "86400"}},
          {"as documented", job("8C1F8608:0,4C1F8608:86400, 80E01801"), {}},
          {"full-width punctuation is accepted", job("8C1F8608：60，4C1F8608"), {}},
          {"switch codes have commas of their own", job("[0x08520003,na,L2,na]:60"), {}},
      });
}

TEST(RecoverStrategy, Table) {
  const auto job = [](const std::string& value) {
    return AscendJobWith("annotations: {recover-strategy: '" + value + "'}");
  };
  ExpectFindings(
      "MG063",
      {
          {"near miss",
           job("retry,recovery"),
           {"metadata.annotations[recover-strategy]: recover-strategy names \"recovery\", which "
            "the operator does not know, did you mean \"recover\"?"}},
          {"all six", job("retry,recover,recover-in-place,elastic-training,dump,exit"), {}},
          {"the operator does not remove spaces",
           job("recover, dump"),
           {"metadata.annotations[recover-strategy]: recover-strategy names \" dump\" with a "
            "space, and the operator compares without removing it: dump stays off"}},
          {"more entries than there are",
           job(std::string(40, ',')),
           {"metadata.annotations[recover-strategy]: recover-strategy has 41 entries, but the "
            "operator knows 6"}},
      });
}

TEST(HotSwitchOutsideJobs, Table) {
  const std::string effect =
      ".subHealthyStrategy: subHealthyStrategy hotSwitch has no effect here: only ascend-operator "
      "switches the pods of AscendJobs over, and the scheduler waits for it in vain";
  ExpectFindings("MG187",
                 {
                     {"a Deployment",
                      LabelledDeployment("subHealthyStrategy: hotSwitch"),
                      {kTemplateLabels + effect}},
                     {"another strategy", LabelledDeployment("subHealthyStrategy: graceExit"), {}},
                     {"a pod of an AscendJob",
                      "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: "
                      "{subHealthyStrategy: hotSwitch}, ownerReferences: [{apiVersion: "
                      "mindxdl.gitee.com/v1, kind: AscendJob, name: j, controller: true}]}}",
                      {}},
                 });
}

TEST(RecoverStrategyNeedsGrace, Table) {
  const auto job = [](const std::string& mode) {
    return LabelledAscendJob("annotations: {recover-strategy: 'recover,dump'}, labels: {" + mode +
                             "}");
  };
  ExpectFindings(
      "MG188",
      {
          {"force",
           job("fault-scheduling: force"),
           {"metadata.labels[fault-scheduling]: fault-scheduling is \"force\" beside "
            "recover-strategy: the pods are deleted before the training process can recover in any "
            "of its ways"}},
          {"grace", job("fault-scheduling: grace"), {}},
          {"left to mindgate", job(""), {}},
          {"without it", LabelledAscendJob("labels: {fault-scheduling: force}"), {}},
      });
}

TEST(TorAffinityValue, Table) {
  ExpectFindings("MG065",
                 {
                     {"near miss",
                      LabelledDeployment("tor-affinity: normal-scheme"),
                      {kTemplateLabels +
                       "[tor-affinity]: tor-affinity is \"normal-scheme\", which the scheduler "
                       "refuses: the job stays Pending, did you mean \"normal-schema\"?"}},
                     {"the word null", LabelledDeployment("tor-affinity: 'null'"), {}},
                     {"normal-schema", LabelledDeployment("tor-affinity: normal-schema"), {}},
                 });
}

}  // namespace
}  // namespace mindgate::testing
