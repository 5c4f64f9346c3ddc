#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

const std::string kPending = "; the job stays Pending";
const std::string kAnnotations = "spec.template.metadata.annotations";

std::string SuperPod(std::string_view block, int replicas, std::string_view chips = "16",
                     std::string_view policy = "chip2-node16-sp") {
  return Deployment(
      {.chips = std::string(chips),
       .annotations = kPolicy + std::string(policy) + ", sp-block: \"" + std::string(block) + "\""},
      replicas);
}

TEST(SpBlock, Table) {
  const auto refused = [](std::string_view message) {
    return std::vector<std::string>{kAnnotations + "[sp-block]: sp-block " + std::string(message) +
                                    kPending};
  };
  ExpectFindings(
      "MG090",
      {
          {"all chips of the job", SuperPod("32", 2), {}},
          {"one node of several", SuperPod("16", 4), {}},
          {"a positive sign, as Go reads it", SuperPod("+16", 1), {}},
          {"no number", SuperPod("16Gi", 1), refused("\"16Gi\" is not a positive number of chips")},
          {"empty", SuperPod("", 1), refused("\"\" is not a positive number of chips")},
          {"zero", SuperPod("0", 1), refused("\"0\" is not a positive number of chips")},
          {"negative", SuperPod("-16", 1), refused("\"-16\" is not a positive number of chips")},
          {"no multiple of a node", SuperPod("24", 3),
           refused("24 is not a multiple of the 16 chips of a node")},
          {"no multiple of a node of 8", SuperPod("12", 3, "8", "chip8-node8-sp"),
           refused("12 is not a multiple of the 8 chips of a node")},
          {"less than a node for several pods", SuperPod("8", 2),
           refused(
               "8 is less than the 16 chips of a node, which each of several pods takes whole")},
          {"less than a node of 850 servers is another rule's",
           SuperPod("4", 2, "8", "chip8-node8-sp"),
           {}},
          {"larger than a super pod", SuperPod("784", 49),
           refused("784 spans 49 nodes, more than the 48 of a super pod")},
          {"as large as a super pod", SuperPod("768", 48), {}},
          {"a single pod with its own chips", SuperPod("8", 1, "8"), {}},
          {"a single pod with another number", SuperPod("16", 1, "8"),
           refused("16 is not the 8 chips of the job's only NPU pod")},
          {"does not divide the job", SuperPod("32", 3),
           refused("32 does not divide the 48 chips of the job")},
          {"the gang size counts, not the replicas",
           Deployment({.chips = "16",
                       .annotations = kPolicy + "chip2-node16-sp, sp-block: \"32\", "
                                                "huawei.com/schedule_minAvailable: \"3\""},
                      4),
           refused("32 does not divide the 48 chips of the job")},
          {"one pod that an autoscaler completes to the gang",
           Deployment({.chips = "16",
                       .annotations = kPolicy + "chip2-node16-sp, sp-block: \"32\", "
                                                "huawei.com/schedule_minAvailable: \"2\""},
                      1),
           {}},
          {"a gang of one",
           Deployment({.chips = "16",
                       .annotations = kPolicy + "chip2-node16-sp, sp-block: \"32\", "
                                                "huawei.com/schedule_minAvailable: \"1\""},
                      1),
           refused("32 is not the 16 chips of the job's only NPU pod")},
          {"sp-block alone chooses an A3 super pod",
           Deployment({.chips = "16", .annotations = "sp-block: \"24\""}),
           refused("24 is not a multiple of the 16 chips of a node")},
          {"an AscendJob with a Scheduler",
           AscendJob(kPolicy + "chip2-node16-sp, sp-block: \"32\"", "", "Scheduler", {.chips = ""},
                     {.chips = "16"}, 2),
           {}},
          {"an AscendJob says it on its metadata",
           AscendJob(kPolicy + "chip2-node16-sp, sp-block: \"48\"", "", "Master", {.chips = "16"},
                     {.chips = "16"}),
           {"metadata.annotations[sp-block]: sp-block 48 does not divide the 32 chips of the job" +
            kPending}},
          {"a LeaderWorkerSet fails with and without gang scheduling",
           LeaderWorkerSet({.chips = "16", .annotations = "sp-block: \"48\""},
                           {.chips = "16", .annotations = "sp-block: \"48\""}, 2),
           {"spec.leaderWorkerTemplate.leaderTemplate.metadata.annotations[sp-block]: sp-block 48 "
            "does "
            "not divide the 32 chips of the job" +
            kPending}},
          {"a LeaderWorkerSet of several sizes may pass without",
           LeaderWorkerSet({.chips = "8", .annotations = "sp-block: \"16\""},
                           {.chips = "16", .annotations = "sp-block: \"16\""}, 2),
           {}},
          {"a gang that nobody declares is another rule's",
           StatefulSet({.chips = "16", .annotations = "sp-block: \"32\""}, 2),
           {}},
          {"a runtime does not know the pods",
           ServingRuntime({.chips = "16", .annotations = "sp-block: \"48\""}),
           {}},
          {"without a super-pod policy nothing reads it",
           SuperPod("5", 1, "16", "chip2-node16"),
           {}},
          {"missing means the whole job",
           Deployment({.chips = "16", .annotations = kPolicy + "chip2-node16-sp"}, 3),
           {}},
          {"no string is somebody else's",
           Deployment({.chips = "16", .annotations = "sp-block: 5"}),
           {}},
      });
}

TEST(SpBlockDocumented, Table) {
  const NpuPod a3{.chips = "16", .annotations = "sp-block: \"32\""};
  const std::string never =
      "[sp-block]: sp-block 32 never fits: without huawei.com/schedule_minAvailable the plugin "
      "counts "
      "one pod's 16 chips as the whole job";
  ExpectFindings(
      "MG091",
      {
          {"a StatefulSet without gang size", StatefulSet(a3, 2), {kAnnotations + never}},
          {"with gang size",
           StatefulSet({.chips = "16",
                        .annotations = "sp-block: \"32\", huawei.com/schedule_minAvailable: \"2\""},
                       2),
           {}},
          {"a block of one pod",
           StatefulSet({.chips = "16", .annotations = "sp-block: \"16\""}, 2),
           {}},
          {"AIBrix roles without gang size",
           StormService(a3, a3),
           {"spec.template.spec.roles[0].template.metadata.annotations" + never}},
          {"ReplicaSets are counted", Deployment(a3, 2), {}},
          {"less than a node is refused on A3", SuperPod("8", 2), {}},
          {"less than a node of 850 servers",
           SuperPod("4", 2, "8", "chip8-node8-sp"),
           {kAnnotations + "[sp-block]: sp-block 4 is less than the 8 chips of a node; only some "
                           "releases accept that for several pods"}},
          {"less than a node in a single pod", SuperPod("8", 1, "8"), {}},
          {"what is refused is said once", SuperPod("24", 2), {}},
      });
}

TEST(SpBlockUnused, Table) {
  const auto nothing = [](std::string_view policy) {
    return "sp-block has no effect under schedule_policy " + std::string(policy) +
           ", which is not a super-pod policy: pods may be spread over super pods";
  };
  const std::string sp_fit = "[sp-fit]: sp-fit ";
  const NpuPod server{.chips = "16"};
  const auto mindie = [&](std::string_view annotations) {
    return AscendJob(annotations, "framework: pytorch, app: mindie-ms-server, jobID: a", "Master",
                     server, server);
  };
  ExpectFindings(
      "MG092",
      {
          {"the documents' MindIE sample",
           mindie(kPolicy + "chip2-node16, sp-block: \"32\", sp-fit: idlest"),
           {"metadata.annotations[sp-block]: " + nothing("chip2-node16"),
            "metadata.annotations" + sp_fit +
                "has no effect under schedule_policy chip2-node16: only A3 super-pod policies read "
                "it"}},
          {"the policy that reads it",
           mindie(kPolicy + "chip2-node16-sp, sp-block: \"32\", sp-fit: idlest"),
           {}},
          {"another word for sp-fit",
           mindie(kPolicy + "chip2-node16-sp, sp-fit: Idlest"),
           {"metadata.annotations" + sp_fit +
            "\"Idlest\" has no effect: only idlest changes the choice"}},
          {"sp-fit without MindIE",
           Deployment({.chips = "16", .annotations = kPolicy + "chip2-node16-sp, sp-fit: idlest"}),
           {kAnnotations + sp_fit +
            "has no effect here: the plugin reads it for MindIE jobs only"}},
          {"A2 has no super pods",
           SuperPod("16", 2, "8", "chip8-node8"),
           {kAnnotations + "[sp-block]: " + nothing("chip8-node8")}},
          {"Ascend310P has none either",
           Deployment({.resource = "huawei.com/Ascend310P", .annotations = "sp-block: \"8\""}),
           {kAnnotations + "[sp-block]: sp-block has no effect under Ascend310P, which is not a "
                           "super-pod policy: pods may be spread over super pods"}},
          {"without a policy sp-block chooses the handler itself",
           Deployment({.chips = "16", .annotations = "sp-block: \"16\""}),
           {}},
          {"so it does beside an unknown one", SuperPod("16", 1, "16", "nope"), {}},
          {"in a runtime",
           ServingRuntime(
               {.chips = "16", .annotations = kPolicy + "chip2-node16, sp-block: \"16\""}),
           {"spec.engineConfig.annotations[sp-block]: " + nothing("chip2-node16")}},
      });
}

std::string Racks(std::string_view rack, std::string_view block, int replicas) {
  return Deployment(
      {.resource = "huawei.com/npu",
       .annotations = kPolicy + "chip8-node8-ra64-sp, ra-block: \"" + std::string(rack) + "\"" +
                      (block.empty() ? "" : ", sp-block: \"" + std::string(block) + "\"")},
      replicas);
}

TEST(RaBlock, Table) {
  const auto refused = [](std::string_view message) {
    return std::vector<std::string>{kAnnotations + "[ra-block]: ra-block " + std::string(message) +
                                    kPending};
  };
  const std::string no_power = " is not one of 1, 2, 4, 8, 16, 32 and 64";
  ExpectFindings(
      "MG093",
      {
          {"a rack of two nodes", Racks("16", "32", 4), {}},
          {"less than a node", Racks("4", "", 3), {}},
          {"zero is invalid", Racks("0", "", 2), refused("\"0\"" + no_power)},
          {"no power of two", Racks("24", "", 3), refused("\"24\"" + no_power)},
          {"more than a rack", Racks("128", "", 16), refused("\"128\"" + no_power)},
          {"no number", Racks("x", "", 2), refused("\"x\"" + no_power)},
          {"larger than sp-block", Racks("32", "16", 4), refused("32 does not divide sp-block 16")},
          {"no divisor of sp-block", Racks("16", "24", 6),
           refused("16 does not divide sp-block 24")},
          {"no divisor of the job, whose chips are the block", Racks("16", "", 3),
           refused("16 does not divide sp-block 24")},
          {"other policies do not read it",
           Deployment({.annotations = kPolicy + "chip8-node8, ra-block: \"0\""}),
           {}},
      });
}

TEST(TopologyAnnotationUnused, Table) {
  ExpectFindings(
      "MG094",
      {
          {"tp-block is not read",
           Deployment({.resource = "huawei.com/npu",
                       .annotations = kPolicy + "chip8-node8-ra64-sp, tp-block: \"8\""}),
           {kAnnotations +
            "[tp-block]: tp-block is no longer read: the annotation is now called ra-block"}},
          {"ra-block elsewhere",
           Deployment({.annotations = kPolicy + "chip8-node8, ra-block: \"8\""}),
           {kAnnotations + "[ra-block]: ra-block has no effect under schedule_policy chip8-node8: "
                           "only chip8-node8-ra64-sp reads it"}},
          {"affinity-config by default",
           Deployment({.annotations = "huawei.com/affinity-config: level1=2"}),
           {kAnnotations + "[huawei.com/affinity-config]: huawei.com/affinity-config has no effect "
                           "under the default policy (no schedule_policy, no accelerator-type): "
                           "only the policy multilevel reads it"}},
          {"a runtime whose services may name the policy",
           ServingRuntime({.annotations = "huawei.com/affinity-config: level1=2"}),
           {}},
          {"read by its policy",
           Deployment(
               {.annotations = kPolicy + "multilevel, huawei.com/affinity-config: level1=1"}),
           {}},
      });
}

TEST(AffinityConfig, Table) {
  const auto job = [](std::string_view config, int replicas = 8) {
    return Deployment({.chips = "16",
                       .annotations = kPolicy + "multilevel, huawei.com/affinity-config: \"" +
                                      std::string(config) + "\""},
                      replicas);
  };
  const auto refused = [](std::string_view message) {
    return std::vector<std::string>{
        kAnnotations + "[huawei.com/affinity-config]: " + std::string(message) + kPending};
  };
  const std::string in = " in huawei.com/affinity-config ";
  ExpectFindings(
      "MG095",
      {
          {"two levels", job("level1=2,level2=4"), {}},
          {"in any order", job("level2=4,level1=2"), {}},
          {"missing", Deployment({.chips = "16", .annotations = kPolicy + "multilevel"}),
           refused("the policy multilevel needs huawei.com/affinity-config with at least level1")},
          {"no pair", job("level1=2,level2"),
           refused("\"level2\"" + in + "is not a pair level=number")},
          {"two equals signs", job("level1=2=3"),
           refused("\"level1=2=3\"" + in + "is not a pair level=number")},
          {"empty", job(""), refused("\"\"" + in + "is not a pair level=number")},
          {"a space", job("level1=2, level2=4"),
           refused("huawei.com/affinity-config \"level1=2, level2=4\" has spaces, which the plugin "
                   "takes for parts of names and numbers")},
          {"zero divides the scheduler by zero", job("level1=0"),
           refused("\"level1=0\"" + in + "does not have a positive number")},
          {"a gap", job("level1=2,level3=4"),
           refused("huawei.com/affinity-config lacks level2: levels must start at level1 without "
                   "gaps")},
          {"levels that do not divide", job("level1=3,level2=4"),
           refused("level1=3 does not divide level2 (4)")},
          {"more than the job", job("level1=16"),
           refused("level1=16 does not divide the job's number of NPU pods (8)")},
          {"other policies do not read it",
           Deployment({.annotations = "huawei.com/affinity-config: x"}),
           {}},
      });
}

TEST(SuperPodAffinity, Table) {
  const auto with = [](std::string_view value) {
    return Deployment({.labels = "super-pod-affinity: " + std::string(value)});
  };
  const std::string hard = " counts as hard: pods wait until a whole super pod is free";
  ExpectFindings(
      "MG096",
      {
          {"soft", with("soft"), {}},
          {"hard", with("hard"), {}},
          {"everything else is hard",
           with("Soft"),
           {"spec.template.metadata.labels[super-pod-affinity]: super-pod-affinity \"Soft\"" +
            hard}},
          {"different words",
           VolcanoJob("", {.labels = "super-pod-affinity: soft"},
                      {.labels = "super-pod-affinity: hard"}),
           {"spec.tasks[1].template.metadata.labels[super-pod-affinity]: super-pod-affinity "
            "\"soft|hard\"" +
            hard}},
      });
}

}  // namespace
}  // namespace mindgate::testing
