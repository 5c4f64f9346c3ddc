#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// The same manifest with NPUs under limits alone.
std::string LimitsAlone(std::string text) {
  const std::string requests = "requests: {huawei.com/Ascend910: 8}, ";
  for (size_t at = text.find(requests); at != std::string::npos; at = text.find(requests)) {
    text.erase(at, requests.size());
  }
  return text;
}

std::string WithLabel(std::string text, std::string_view name) {
  const std::string from = "metadata: {name: " + std::string(name);
  return text.replace(text.find(from), from.size(), from + ", labels: {ring-controller.atlas: a}");
}

std::string WithVolume(std::string text, std::string_view volume) {
  return text.insert(text.find("containers: ["),
                     "volumes: [{name: " + std::string(volume) + "}], ");
}

const std::string kEntry =
    ".resources.requests[huawei.com/Ascend910]: huawei.com/Ascend910 stands "
    "under limits alone, and ";

TEST(NpuRequestsMissing, Table) {
  const std::string of_job = kEntry +
                             "Volcano's Job controller counts requests: the PodGroup asks for no "
                             "NPUs, no chips are chosen, and the pods never start";
  const std::string of_table =
      kEntry +
      "ascend-operator counts requests: it never fills the rank table that the pods wait "
      "for";
  const std::string ascend =
      kEntry +
      "ascend-operator counts requests: it sees a job without NPUs, sets no WORLD_SIZE, RANK or "
      "MASTER_ADDR, and the pods never train together";
  const std::string template_ = "spec.template.spec.containers[0]";
  const std::string job = VolcanoJob("", {}, {.chips = ""});
  ExpectFindings("MG180", {
                              {"a Volcano Job",
                               LimitsAlone(job),
                               {"spec.tasks[0].template.spec.containers[0]" + of_job}},
                              {"with both", job, {}},
                              {"one that another scheduler places",
                               LimitsAlone(VolcanoJob("", {.scheduler = "kai"}, {.chips = ""})),
                               {}},
                              {"one whose pods are made", LimitsAlone(job), {}, LimitsAlone(job)},
                              {"an AscendJob",
                               LimitsAlone(AscendJob("", "", "Master", {}, {})),
                               {"spec.replicaSpecs.Master.template.spec.containers[0]" + ascend,
                                "spec.replicaSpecs.Worker.template.spec.containers[0]" + ascend}},
                              {"a Deployment", LimitsAlone(Deployment({})), {}},
                              {"a Deployment with the label of rank tables",
                               WithLabel(LimitsAlone(Deployment({})), "d"),
                               {template_ + of_table}},
                              {"a StatefulSet with a rank table",
                               WithVolume(LimitsAlone(StatefulSet({}, 2)), "ranktable"),
                               {template_ + of_table}},
                              {"a StatefulSet with another volume",
                               WithVolume(LimitsAlone(StatefulSet({}, 2)), "data"),
                               {}},
                              {"a rank table and both", WithLabel(Deployment({}), "d"), {}},
                          });
}

TEST(NpuRequestsMissingInGroup, Table) {
  const std::string effect =
      kEntry +
      "LeaderWorkerSet counts requests: with gang scheduling the PodGroup asks for no "
      "NPUs, no chips are chosen, and the pods never start";
  const std::string leader = "spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0]";
  const std::string worker = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]";
  ExpectFindings("MG181",
                 {
                     {"leader and worker",
                      LimitsAlone(LeaderWorkerSet({}, {}, 2)),
                      {leader + effect, worker + effect}},
                     {"with both", LeaderWorkerSet({}, {}, 2), {}},
                     {"under another scheduler",
                      LimitsAlone(LeaderWorkerSet({.scheduler = "kai"}, {.scheduler = "kai"}, 2)),
                      {}},
                     {"a runtime of single pods", LimitsAlone(ServingRuntime({})), {}},
                 });
}

TEST(MinResourcesWithoutNpus, Table) {
  const auto job = [](const std::string& min_resources, const std::string& annotations = "",
                      const NpuPod& pod = {}) {
    std::string text = AscendJob(annotations, "", "Master", pod, pod);
    const std::string from = "spec: {schedulerName: volcano, ";
    return text.replace(
        text.find(from), from.size(),
        from + "runPolicy: {schedulingPolicy: {minResources: " + min_resources + "}}, ");
  };
  schemas::Versions before;
  before.Set(schemas::Component::kMindCluster, {26, 0});
  ExpectFindings(
      "MG190", {
                   {"processors alone",
                    job("{cpu: 1, memory: 1Gi}"),
                    {"spec.runPolicy.schedulingPolicy.minResources: minResources names no NPUs, so "
                     "Volcano handles these pods as pods without NPUs: no chips are chosen, and "
                     "the pods never start"}},
                   {"with NPUs", job("{cpu: 1, huawei.com/Ascend910: 16}"), {}},
                   {"the annotation stands in",
                    job("{cpu: 1}", "volcano.sh/schedule.plugin: Ascend910"),
                    {}},
                   {.name = "which 26.0 does not read",
                    .object = job("{cpu: 1}", "volcano.sh/schedule.plugin: Ascend910"),
                    .want = {"spec.runPolicy.schedulingPolicy.minResources: minResources names no "
                             "NPUs, so Volcano handles these pods as pods without NPUs: no chips "
                             "are chosen, and the pods never start"},
                    .versions = before},
                   {"left out", AscendJob("", "", "Master", {}, {}), {}},
                   {"no NPUs at all", job("{cpu: 1}", "", {.chips = ""}), {}},
               });
}

}  // namespace
}  // namespace mindgate::testing
