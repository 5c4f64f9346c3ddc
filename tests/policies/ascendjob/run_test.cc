#include <gtest/gtest.h>

#include "policies/ascendjob/manifests.h"
#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(AscendJobSuccessPolicy, Table) {
  ExpectFindings("MG016",
                 {
                     {"absent", PytorchJob(), {}},
                     {"empty", PytorchJob("successPolicy: ''"), {}},
                     {"AllWorkers", PytorchJob("successPolicy: AllWorkers"), {}},
                     {"another",
                      PytorchJob("successPolicy: ChiefWorker"),
                      {"spec.successPolicy: successPolicy \"ChiefWorker\" is neither \"\" nor "
                       "\"AllWorkers\"" +
                       kFails}},
                     {"no string: wrong-type reports it", PytorchJob("successPolicy: 1"), {}},
                 });
}

TEST(AscendJobSuccessPolicyEffect, Table) {
  ExpectFindings("MG017", {
                              {"absent", PytorchJob(), {}},
                              {"empty", PytorchJob("successPolicy: ''"), {}},
                              {"successPolicy has no effect",
                               PytorchJob("successPolicy: AllWorkers"),
                               {"spec.successPolicy: successPolicy AllWorkers has no effect: the "
                                "operator checks the value but never uses it"}},
                          });
}

TEST(AscendJobSuccessPolicyEffect, DoesNotTroubleUsersOfVendorSamples) {
  EXPECT_EQ(policies::FindRule("MG017")->default_mode, schemas::Mode::kAudit);
}

TEST(AscendJobScaleOutType, Table) {
  ExpectFindings(
      "MG018",
      {
          {"absent", PytorchJob(), {}},
          {"RoCE in any case", PytorchJob("", "scaleout-type: roce"), {}},
          {"UBOE", PytorchJob("", "scaleout-type: UBOE"), {}},
          {"blank", PytorchJob("", "scaleout-type: ''"), {}},
          {"another",
           PytorchJob("", "scaleout-type: tcp"),
           {"metadata.labels[scaleout-type]: scaleout-type \"tcp\" is neither \"ROCE\" nor "
            "\"UBOE\", so the operator fails the job without an Event"}},
      });
}

TEST(AscendJobQueueSet, Table) {
  const std::string kMissing =
      "spec.runPolicy.schedulingPolicy.queue: schedulingPolicy has no queue, so the operator looks "
      "for "
      "a queue without a name and fails the job";
  ExpectFindings(
      "MG019",
      {
          {"no schedulingPolicy", PytorchJob("runPolicy: {}"), {}},
          {"null schedulingPolicy", PytorchJob("runPolicy: {schedulingPolicy: null}"), {}},
          {"a queue", PytorchJob("runPolicy: {schedulingPolicy: {queue: default}}"), {}},
          {"schedulingPolicy without queue",
           PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 2}}"),
           {kMissing}},
          {"an empty schedulingPolicy",
           PytorchJob("runPolicy: {schedulingPolicy: {}}"),
           {kMissing}},
          {"an empty queue", PytorchJob("runPolicy: {schedulingPolicy: {queue: ''}}"), {kMissing}},
          {"no string: wrong-type reports it",
           PytorchJob("runPolicy: {schedulingPolicy: {queue: 1}}"),
           {}},
      });
}

TEST(AscendJobQueueExists, Table) {
  const std::string job = PytorchJob("runPolicy: {schedulingPolicy: {queue: q}}");
  const std::string queue =
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}}";
  RuleCase absent{"absent",
                  job,
                  {"spec.runPolicy.schedulingPolicy.queue: Queue \"q\" does not exist; unless it "
                   "is created first, the operator fails the job permanently"}};
  absent.know_cluster = true;
  RuleCase present{"present", job, {}};
  present.others = {queue};
  RuleCase unknown{"unknown: skipped", job, {}};
  unknown.want_skipped = true;
  RuleCase standard{"the default queue is Volcano's own",
                    PytorchJob("runPolicy: {schedulingPolicy: {queue: default}}"),
                    {}};
  standard.know_cluster = true;
  ExpectFindings("MG020", {absent, present, unknown, standard});
}

TEST(AscendJobMinAvailable, Table) {
  const auto with = [](const std::string& min_available) {
    return PytorchJob("runPolicy: {schedulingPolicy: {queue: q, minAvailable: " + min_available +
                      "}}");
  };
  ExpectFindings(
      "MG021",
      {
          {"absent", PytorchJob(), {}},
          {"all pods", with("2"), {}},
          {"fewer", with("1"), {}},
          {"more",
           with("3"),
           {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is 3, more than the job's "
            "2 "
            "pods, so the gang never fills and none starts"}},
          {"negative",
           with("-1"),
           {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is -1, which no PodGroup "
            "accepts, so the job gets no pods"}},
          {"replicas that make no sense are reported elsewhere",
           AscendJob("", Specs("Worker: {replicas: -1}") +
                             ", runPolicy: {schedulingPolicy: {minAvailable: 9}}"),
           {}},
          {"no integer: wrong-type reports it", with("'3'"), {}},
      });
}

TEST(AscendJobGang, Table) {
  ExpectFindings("MG022",
                 {
                     {"absent", PytorchJob("runPolicy: {schedulingPolicy: {queue: q}}"), {}},
                     {"1", PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 1}}"), {}},
                     {"0",
                      PytorchJob("runPolicy: {schedulingPolicy: {minAvailable: 0}}"),
                      {"spec.runPolicy.schedulingPolicy.minAvailable: minAvailable is 0, so the "
                       "pods are not a gang and each starts on its own"}},
                 });
}

TEST(AscendJobBackoffLimit, Table) {
  ExpectFindings("MG023", {
                              {"absent", PytorchJob("runPolicy: {}"), {}},
                              {"3, as documented", PytorchJob("runPolicy: {backoffLimit: 3}"), {}},
                              {"0 is unlimited",
                               PytorchJob("runPolicy: {backoffLimit: 0}"),
                               {"spec.runPolicy.backoffLimit: backoffLimit 0 means unlimited, not "
                                "zero: failed pods are recreated forever"}},
                              {"negative is unlimited",
                               PytorchJob("runPolicy: {backoffLimit: -1}"),
                               {"spec.runPolicy.backoffLimit: backoffLimit -1 means unlimited, not "
                                "zero: failed pods are recreated forever"}},
                          });
}

TEST(AscendJobRestartPolicy, Table) {
  ExpectFindings(
      "MG024",
      {
          {"the four and none",
           AscendJob("", Specs("A: {restartPolicy: Always}, B: {restartPolicy: OnFailure}, C: "
                               "{restartPolicy: Never}, D: {restartPolicy: ExitCode}, E: {}, F: "
                               "{restartPolicy: ''}")),
           {}},
          {"another",
           AscendJob("", Specs("Master: {restartPolicy: never}")),
           {"spec.replicaSpecs.Master.restartPolicy: restartPolicy \"never\" of Master is not one "
            "that pods can have, so the API server refuses them"}},
      });
}

TEST(AscendJobTemplateRestartPolicy, Table) {
  const auto with = [](const std::string& own, const std::string& written) {
    return AscendJob("", Specs("Master: {" + own + "template: {spec: {restartPolicy: " + written +
                               ", containers: []}}}"));
  };
  const std::string kField = "spec.replicaSpecs.Master.template.spec.restartPolicy: ";
  ExpectFindings(
      "MG025",
      {
          {"only beside replicas", AscendJob("", Specs("Master: {restartPolicy: Always}")), {}},
          {"both agree", with("restartPolicy: Always, ", "Always"), {}},
          {"Never is the default", with("", "Never"), {}},
          {"ExitCode makes pods with Never", with("restartPolicy: ExitCode, ", "Never"), {}},
          {"the template's value is overwritten by the default",
           with("", "Always"),
           {kField + "the template's restartPolicy \"Always\" is overwritten with \"Never\", which "
                     "Master has "
                     "beside its replicas"}},
          {"and by the replica type's",
           with("restartPolicy: OnFailure, ", "Never"),
           {kField + "the template's restartPolicy \"Never\" is overwritten with \"OnFailure\", "
                     "which Master "
                     "has beside its replicas"}},
      });
}

TEST(AscendJobSchedulerNames, Table) {
  const auto with = [](const std::string& master, const std::string& worker,
                       const std::string& more = "") {
    return AscendJob("", Specs("Master: {template: {spec: {" + master +
                               "}}}, Worker: {template: {spec: {" + worker + "}}}") +
                             more);
  };
  const std::string kWorker =
      "spec.replicaSpecs.Worker.template.spec.schedulerName: pods of Worker go ";
  ExpectFindings(
      "MG026",
      {
          {"none", with("", ""), {}},
          {"only the job names one", with("", "", ", schedulerName: volcano"), {}},
          {"all the same", with("schedulerName: volcano", "schedulerName: volcano"), {}},
          {"all another", with("schedulerName: mine", "schedulerName: mine"), {}},
          {"one names it and one does not, whatever the job says",
           with("schedulerName: volcano", "", ", schedulerName: volcano"),
           {kWorker + "to scheduler \"default-scheduler\" and those of Master to \"volcano\", so "
                      "they are not a gang"}},
          {"two different names",
           with("schedulerName: mine", "schedulerName: volcano"),
           {"spec.replicaSpecs.Master.template.spec.schedulerName: pods of Master go to scheduler "
            "\"mine\" and those of Worker to \"volcano\", so they are not a gang"}},
      });
}

}  // namespace
}  // namespace mindgate::testing
