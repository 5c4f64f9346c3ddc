#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

TEST(AscendJobNameShadowed, Table) {
  const auto other = [](const std::string& api_version, const std::string& kind,
                        const std::string& ns) {
    return "{apiVersion: " + api_version + ", kind: " + kind +
           ", metadata: {name: j, namespace: " + ns + "}}";
  };
  std::vector<RuleCase> cases = {
      {"alone", PytorchJob(), {}},
      {"a Deployment",
       PytorchJob(),
       {"metadata.name: a Deployment is named \"j\" too, so the operator never reconciles this "
        "AscendJob"}},
      {"a StatefulSet and a vcjob",
       PytorchJob(),
       {"metadata.name: a StatefulSet is named \"j\" too, so the operator never reconciles this "
        "AscendJob",
        "metadata.name: a Job is named \"j\" too, so the operator never reconciles this "
        "AscendJob"}},
      {"a batch Job hides nothing, nor does another namespace", PytorchJob(), {}},
      {"unknown: skipped", PytorchJob(), {}},
      {"on update nothing can be changed to help", PytorchJob(), {}, PytorchJob()},
  };
  cases[0].know_cluster = true;
  cases[1].others = {other("apps/v1", "Deployment", "ns")};
  cases[2].others = {other("apps/v1", "StatefulSet", "ns"),
                     other("batch.volcano.sh/v1alpha1", "Job", "ns")};
  cases[3].others = {other("batch/v1", "Job", "ns"), other("apps/v1", "Deployment", "m")};
  cases[4].want_skipped = true;
  cases[5].others = {other("apps/v1", "Deployment", "ns")};
  ExpectFindings("MG027", cases);
}

TEST(AscendJobFrozenFields, Table) {
  const std::string kKeeps = ", but the PodGroup of the job keeps the old one";
  const auto job = [](const std::string& labels, const std::string& annotations,
                      const std::string& scheduling) {
    return AscendJob(
        labels,
        Specs("Worker: {replicas: 2}") + ", runPolicy: {schedulingPolicy: {" + scheduling + "}}",
        annotations);
  };
  ExpectFindings(
      "MG028",
      {
          {"labels, annotations, queue and gang size stay as they were",
           job("fault-scheduling: force, app: x", "sp-block: '16'", "queue: b, minAvailable: 1"),
           {"metadata.labels[fault-scheduling]: label fault-scheduling changes from \"grace\" to "
            "\"force\"" +
                kKeeps,
            "metadata.labels.jobID: label jobID changes from \"a\" to nothing" + kKeeps,
            "metadata.annotations[sp-block]: annotation sp-block changes from nothing to \"16\"" +
                kKeeps,
            "spec.runPolicy.schedulingPolicy.minAvailable: minAvailable changes from 2 to 1" +
                kKeeps,
            "spec.runPolicy.schedulingPolicy.queue: queue changes from \"a\" to \"b\"" + kKeeps},
           job("fault-scheduling: grace, app: x, jobID: a", "", "queue: a, minAvailable: 2")},
          {"replicas",
           AscendJob("", Specs("Worker: {replicas: 3}")),
           {"spec.replicaSpecs.Worker.replicas: replicas of Worker changes from nothing to 3" +
            kKeeps},
           AscendJob("", Specs("Worker: {}"))},
          {"replicas: 1 is what was meant before",
           AscendJob("", Specs("Worker: {replicas: 1}")),
           {},
           AscendJob("", Specs("Worker: {}"))},
          {"other labels and annotations are nobody's business",
           job("team: b", "note: b", "queue: a"),
           {},
           job("team: a", "note: a", "queue: a")},
          {"what injection adds to a job from before is no change",
           job("fault-scheduling: force", "", ""),
           {},
           job("", "", "")},
          {"nor is a label whose misspelled name injection corrects",
           job("fault-retry-time: '5', fault-retry-times: '5'", "", ""),
           {},
           job("fault-retry-time: '5'", "", "")},
          {"nor is grace beside a recover-strategy",
           job("fault-scheduling: grace", "recover-strategy: recover", ""),
           {},
           job("", "recover-strategy: recover", "")},
          {"nor is what a template has already",
           AscendJob("fault-scheduling: grace",
                     Specs("Worker: {template: {metadata: {labels: {fault-scheduling: grace}}}}")),
           {},
           AscendJob("",
                     Specs("Worker: {template: {metadata: {labels: {fault-scheduling: grace}}}}"))},
          {"what a user adds is",
           job("fault-scheduling: grace", "", ""),
           {"metadata.labels[fault-scheduling]: label fault-scheduling changes from nothing to "
            "\"grace\"" +
            kKeeps},
           job("", "", "")},
          {"create", job("fault-scheduling: grace", "", "queue: b"), {}},
      });
}

}  // namespace
}  // namespace mindgate::testing
