#include "schemas/accelerator.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/npu_manifests.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using testing::NpuPod;

TEST(ChipCounts, AreDescribedAsPeopleWriteThem) {
  EXPECT_EQ(ChipCounts().Describe(), "no count");
  EXPECT_EQ(ChipCounts::Of({8}).Describe(), "8");
  EXPECT_EQ(ChipCounts::Of({1, 2}).Describe(), "1 or 2");
  EXPECT_EQ(ChipCounts::Of({1, 2, 4, 8}).Describe(), "1, 2, 4 or 8");
  EXPECT_EQ(ChipCounts::UpTo(64).Describe(), "1 to 64");
  EXPECT_EQ(ChipCounts::UpTo(16).Without({9, 11, 13, 15}).Describe(), "1 to 8, 10, 12, 14 or 16");
  const std::set<int64_t> site = {3, 96};
  EXPECT_EQ(ChipCounts(site).Describe(), "3 or 96");
  EXPECT_TRUE(ChipCounts(site).Has(96));
}

TEST(ChipCounts, HoldNothingOutsideTheirRange) {
  for (int64_t count : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{65}, INT64_MAX}) {
    EXPECT_FALSE(ChipCounts::UpTo(64).Has(count)) << count;
  }
  EXPECT_TRUE(ChipCounts::UpTo(64).Has(64));
}

// Every handler: "node chips; single; distributed; documented single; documented distributed;
// flags".
TEST(Handlers, TableOfThePlugin) {
  const auto row = [](std::string_view policy) {
    const ChipHandler* h = HandlerOfPolicy(policy);
    if (h == nullptr) return std::string("unknown");
    std::string text = std::to_string(h->node_chips) + "; " + h->single.Describe() + "; " +
                       h->distributed.Describe() + "; " + h->documented_single.Describe() + "; " +
                       h->documented_distributed.Describe() + ";";
    if (!h->counts_chips) text += " uncounted";
    if (h->super_pod) text += " super-pod";
    if (h->rack_block) text += " rack";
    if (h->sp_fit) text += " sp-fit";
    if (h->multilevel) text += " multilevel";
    if (h->soft_share) text += " soft-share";
    if (h->whole_nodes) text += " whole-nodes";
    if (h->whole_blocks) text += " whole-blocks";
    if (h->zero_chips == ZeroChips::kMarked) text += " marked";
    if (h->zero_chips == ZeroChips::kRefused) text += " no-zero";
    return text;
  };
  const std::string a3 = "1, 2, 4, 6, 8, 10, 12, 14 or 16";
  const std::string even = "2, 4, 6, 8, 10, 12, 14 or 16";
  const std::vector<std::pair<std::string_view, std::string>> want = {
      {"chip1-node2", "2; 1 to 8; 1 to 8; 1 or 2; 1 or 2;"},
      {"chip4-node4", "4; 1, 2 or 4; 1, 2 or 4; 1, 2 or 4; 1, 2 or 4;"},
      {"chip8-node8", "8; 1 to 8; 1 to 8; 1 to 8; 1 to 8;"},
      {"chip8-node16",
       "16; 1 to 8, 10, 12, 14 or 16; 1 to 8, 10, 12, 14 or 16; 1 to 8, 10, 12, 14 or 16; 1 to 8, "
       "10, 12, 14 or 16;"},
      {"chip2-node16", "16; " + a3 + "; " + even + "; " + a3 + "; " + even + "; marked"},
      {"chip2-node8", "8; " + a3 + "; " + even + "; 1, 2, 4, 6 or 8; 2, 4, 6 or 8; marked"},
      {"chip4-node8", "8; 1 to 8; 1 to 8; 1 to 8; 1 to 8;"},
      {"chip4-node16", "16; 1 to 16; 1 to 16; 1 to 16; 1 to 16;"},
      {"chip1-node8", "8; 1 to 8; 1 to 8; 1 to 8; 1 to 8;"},
      {"chip1-node16", "16; 1 to 16; 1 to 16; 1 to 16; 1 to 16;"},
      {"module-a3-16", "16; " + a3 + "; " + even + "; " + a3 + "; " + even + "; marked"},
      {"chip2-node16-sp",
       "16; " + a3 + "; 16; " + a3 + "; 16; super-pod sp-fit whole-blocks marked"},
      {"chip2-node8-sp",
       "8; 1, 2, 4, 6 or 8; 8; 1, 2, 4, 6 or 8; 8; super-pod sp-fit whole-blocks marked"},
      {"chip8-node8-sp", "8; 1 to 8; 8; 1, 2, 4 or 8; 8; super-pod no-zero"},
      {"chip8-node8-ra64-sp", "8; 1 to 8; 8; 1 to 8; 8; super-pod rack no-zero"},
      {"chip1-softShareDev", "0; no count; no count; no count; no count; uncounted soft-share"},
      {"multilevel",
       "0; no count; no count; no count; no count; uncounted multilevel whole-nodes marked"},
  };
  std::vector<std::string_view> policies;
  for (const auto& [policy, text] : want) {
    EXPECT_EQ(row(policy), text) << policy;
    policies.push_back(policy);
  }
  EXPECT_EQ(std::vector(KnownSchedulePolicies().begin(), KnownSchedulePolicies().end()), policies);
  EXPECT_EQ(row("chip8-node8 "), "unknown");
  EXPECT_EQ(row("Chip8-Node8"), "unknown");
  EXPECT_EQ(row(""), "unknown");
}

// Which tag of mind-cluster has a policy in its factory.go first.
TEST(Handlers, AreThoseOfTheRelease) {
  const auto known = [](Version version) {
    Versions versions;
    versions.Set(Component::kMindCluster, version);
    std::vector<std::string_view> policies;
    for (const std::string_view each : KnownSchedulePolicies()) {
      if (HandlerOfPolicy(each, versions) != nullptr) policies.push_back(each);
    }
    return policies;
  };
  EXPECT_THAT(known({7, 2}), ::testing::IsEmpty());
  EXPECT_THAT(known({7, 3}), ::testing::ElementsAre("chip1-node2", "chip4-node4", "chip8-node8",
                                                    "chip8-node16", "chip2-node16", "chip4-node8",
                                                    "module-a3-16", "chip2-node16-sp"));
  EXPECT_EQ(known({26, 0}).size(), KnownSchedulePolicies().size());
  Versions old;
  old.Set(Component::kMindCluster, {7, 3, 2});
  EXPECT_EQ(HandlerOfPolicy("chip4-node8", old)->product, "Atlas 800 training servers");
}

TEST(Handlers, NodeSizes) {
  Config config;
  EXPECT_THAT(NodeSizes("", config), ::testing::ElementsAre(8, 16));
  EXPECT_THAT(NodeSizes("half", config), ::testing::ElementsAre(4));
  EXPECT_THAT(NodeSizes("ours", config), ::testing::ElementsAre(8, 16));
  config.accelerators = {{"", "ours", 12, {12}, false, false}};
  EXPECT_THAT(NodeSizes("", config), ::testing::ElementsAre(8, 12, 16));
  EXPECT_THAT(NodeSizes("ours", config), ::testing::ElementsAre(12));
}

std::string Show(const HandlerChoice& choice) {
  using By = HandlerChoice::By;
  using Problem = HandlerChoice::Problem;
  std::string text;
  switch (choice.problem) {
    case Problem::kNone: {
      const ChipHandler& handler = *choice.handler;
      text = handler.schedule_policy.empty() ? handler.accelerator_type : handler.schedule_policy;
      if (text.empty()) text = handler.product;
      break;
    }
    case Problem::kMissingPolicy:
      return "none: policy missing";
    case Problem::kUnknownAcceleratorType:
      text = "none: unknown type";
      break;
    case Problem::kUnknownStrategy:
      text = "none: unknown strategy";
      break;
    case Problem::kUnreadable:
      return "none: unreadable";
  }
  switch (choice.by) {
    case By::kPolicy:
      text += " by policy";
      break;
    case By::kSuperPodBlock:
      text += " by sp-block";
      break;
    case By::kAcceleratorType:
      text += " by type";
      break;
    case By::kDefault:
      text += " by default";
      break;
    case By::kStrategyLabel:
      text += " by label";
  }
  return text + (choice.certain ? "" : ", uncertain");
}

std::string Choice(const std::string& yaml, const Config& config = {},
                   const std::string& runtime_yaml = "") {
  const json::Document object = testing::YamlDocument(yaml);
  const json::Document runtime =
      runtime_yaml.empty() ? json::Document() : testing::YamlDocument(runtime_yaml);
  std::shared_ptr<const WorkloadView> runtime_view;
  if (auto view = BuildView(runtime.root()))
    runtime_view = std::make_shared<WorkloadView>(*std::move(view));
  const auto view = BuildView(object.root(), runtime_view);
  if (!view || view->pod_groups.empty()) return "no group";
  const auto chips = ReadGroupChips(*view, view->pod_groups.front(), config);
  return chips ? Show(chips->choice) : "not evaluated";
}

std::string ChoiceOf(const NpuPod& pod) { return Choice(testing::Deployment(pod)); }

// The plugin takes the first row that fits.
TEST(ChooseHandler, FollowsTheOrderOfThePlugin) {
  struct Case {
    std::string name;
    NpuPod pod;
    std::string want;
  };
  const std::string policy = "huawei.com/schedule_policy: ";
  const std::string type = "accelerator-type: ";
  const std::vector<Case> cases = {
      {"row 1: npu without policy",
       {.resource = "huawei.com/npu",
        .annotations = "sp-block: \"8\"",
        .selector = type + "850-Atlas-8p-8"},
       "none: policy missing"},
      {"row 2: known policy", {.annotations = policy + "chip8-node8"}, "chip8-node8 by policy"},
      {"row 2: the policy decides before type and sp-block",
       {.annotations = policy + "chip2-node16, sp-block: \"32\"", .selector = type + "half"},
       "chip2-node16 by policy"},
      {"row 3: an unknown policy falls through to sp-block",
       {.annotations = policy + "chip2-node17, sp-block: \"32\""},
       "chip2-node16-sp by sp-block"},
      {"row 3: and to the type, also for npu",
       {.resource = "huawei.com/npu",
        .annotations = policy + "nope",
        .selector = type + "850-Atlas-8p-8"},
       "850-Atlas-8p-8 by type"},
      {"row 3: and to the default, also when empty",
       {.annotations = policy + "\"\""},
       "module by default"},
      {"row 4: sp-block", {.annotations = "sp-block: \"16\""}, "chip2-node16-sp by sp-block"},
      {"row 4: nodes of 8",
       {.annotations = "sp-block: \"16\"", .selector = type + "module-a3-8-super-pod"},
       "chip2-node8-sp by sp-block"},
      {"row 5: nothing", {}, "module by default"},
      {"row 5: module", {.selector = type + "module"}, "module by type"},
      {"row 5: any word with card", {.selector = type + "card-910b-infer"}, "chip1-node2 by type"},
      {"row 5: half", {.selector = type + "half"}, "chip4-node4 by type"},
      {"row 5: A2", {.selector = type + "module-910b-8"}, "chip8-node8 by type"},
      {"row 5: Box16", {.selector = type + "module-910b-16"}, "chip8-node16 by type"},
      {"row 5: A3", {.selector = type + "module-a3-16"}, "chip2-node16 by type"},
      {"row 5: A3 super pod",
       {.selector = type + "module-a3-16-super-pod"},
       "chip2-node16-sp by type"},
      {"row 5: A3 super pod of 8",
       {.selector = type + "module-a3-8-super-pod"},
       "chip2-node8-sp by type"},
      {"row 5: 850", {.selector = type + "850-Atlas-8p-8"}, "850-Atlas-8p-8 by type"},
      {"row 5: other types only name hardware",
       {.selector = type + "350-Atlas-8"},
       "none: unknown type by type"},
      {"row 5: case matters", {.selector = type + "Module-910b-8"}, "none: unknown type by type"},
      {"E.5: Ascend310 by chip",
       {.resource = "huawei.com/Ascend310"},
       "npu-310-strategy chip by label"},
      {"E.5: Ascend310 by card",
       {.resource = "huawei.com/Ascend310", .labels = "npu-310-strategy: card"},
       "npu-310-strategy card by label"},
      {"E.5: Ascend310 has no plain handler",
       {.resource = "huawei.com/Ascend310", .labels = "npu-310-strategy: cards"},
       "none: unknown strategy by label"},
      {"E.5: Ascend310P has one",
       {.resource = "huawei.com/Ascend310P", .labels = "npu-310-strategy: cards"},
       "Ascend310P by label"},
      {"E.5: Duo by chip",
       {.resource = "huawei.com/Ascend310P", .labels = "duo: \"true\""},
       "Atlas 300I Duo by chip by label"},
      {"E.5: Duo by card",
       {.resource = "huawei.com/Ascend310P", .labels = "duo: \"true\", npu-310-strategy: card"},
       "Atlas 300I Duo by card by label"},
      {"E.5: duo must be the word true",
       {.resource = "huawei.com/Ascend310P", .labels = "duo: \"True\""},
       "Ascend310P by label"},
      {"virtual NPUs are not evaluated by count",
       {.chips = "1", .resource = "huawei.com/Ascend910-4c"},
       "not evaluated"},
      {"a policy that is not a string", {.annotations = policy + "8"}, "none: unreadable"},
      {"a type that is not a string", {.selector = type + "8"}, "none: unreadable"},
  };
  for (const Case& c : cases) EXPECT_EQ(ChoiceOf(c.pod), c.want) << c.name;
}

TEST(ChooseHandler, Trap32MergesSelectorsOfAllPods) {
  const auto job = [](std::string_view a, std::string_view b) {
    return testing::VolcanoJob("", {.selector = "accelerator-type: " + std::string(a)},
                               {.selector = "accelerator-type: " + std::string(b)});
  };
  EXPECT_EQ(Choice(job("module-a3-16", "module-a3-16")), "chip2-node16 by type");
  EXPECT_EQ(Choice(job("module-a3-16", "Module-A3-16")), "chip2-node16 by type");
  EXPECT_EQ(Choice(job("module-a3-16", "half")), "none: unknown type by type");
  EXPECT_EQ(Choice(job("half", "card")), "chip1-node2 by type") << "half|card contains card";
  EXPECT_EQ(Choice(testing::VolcanoJob("", {}, {.selector = "accelerator-type: half"})),
            "chip4-node4 by type");
  EXPECT_EQ(Choice(testing::VolcanoJob("huawei.com/schedule_policy: chip8-node8",
                                       {.selector = "accelerator-type: half"},
                                       {.selector = "accelerator-type: module"})),
            "chip8-node8 by policy");
  EXPECT_EQ(Choice(testing::LeaderWorkerSet({.selector = "accelerator-type: half"},
                                            {.selector = "accelerator-type: module"}, 2)),
            "none: unknown type by type, uncertain")
      << "without gang scheduling leader and worker are not merged";
}

TEST(ChooseHandler, Trap32AnnotationsOfThePodGroupElseOfOneArbitraryPod) {
  const NpuPod plain;
  const NpuPod a2{.annotations = "huawei.com/schedule_policy: chip8-node8"};
  const NpuPod a3{.annotations = "huawei.com/schedule_policy: chip2-node16"};
  EXPECT_EQ(Choice(testing::VolcanoJob("huawei.com/schedule_policy: chip8-node8", a3, a3)),
            "chip8-node8 by policy")
      << "the job's metadata wins";
  EXPECT_EQ(Choice(testing::StormService(a3, a3)), "chip2-node16 by policy");
  EXPECT_EQ(Choice(testing::StormService(a2, a3)), "chip8-node8 by policy, uncertain");
  EXPECT_EQ(Choice(testing::StormService(plain, a3)), "chip2-node16 by policy, uncertain");
}

TEST(ChooseHandler, TemplatesWithoutPodsDoNotCountUnlessAllAre) {
  const NpuPod a3{.annotations = "huawei.com/schedule_policy: chip2-node16"};
  EXPECT_EQ(Choice(testing::Deployment(a3, 0)), "chip2-node16 by policy");
  EXPECT_EQ(Choice(testing::VolcanoJob("", a3, {}, 0)), "chip2-node16 by policy");
  EXPECT_EQ(Choice(testing::VolcanoJob("", {.selector = "accelerator-type: half"},
                                       {.selector = "accelerator-type: module"}, 0)),
            "chip4-node4 by type");
}

TEST(ChooseHandler, KnowsWhatItCannotSee) {
  const NpuPod pod{.chips = "16"};
  EXPECT_EQ(Choice(testing::ServingRuntime(pod)), "module by default, uncertain")
      << "services add annotations and selectors";
  EXPECT_EQ(Choice(testing::BarePod(pod)), "module by default");
  EXPECT_EQ(
      Choice(testing::BarePod(pod,
                              "name: p, ownerReferences: [{apiVersion: mindxdl.gitee.com/v1, kind: "
                              "AscendJob, name: j, controller: true}]")),
      "module by default, uncertain")
      << "the PodGroup of its job may say more";
  EXPECT_EQ(ChoiceOf({.annotations = "scheduling.k8s.io/group-name: mine"}),
            "module by default, uncertain");

  const std::string service =
      "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\n"
      "spec: {engine: {minReplicas: 1, runner: {name: e, resources: {limits: "
      "{huawei.com/Ascend910: 16}}}}}";
  EXPECT_EQ(Choice(service), "module by default, uncertain");
  EXPECT_EQ(Choice(service, {}, testing::ServingRuntime(pod)), "module by default");
  EXPECT_EQ(
      Choice(service, {}, testing::ServingRuntime({.selector = "accelerator-type: module-a3-16"})),
      "chip2-node16 by type");
  EXPECT_EQ(
      Choice(service, {},
             testing::ServingRuntime(pod, "nodeSelector: {accelerator-type: module-a3-16}, ")),
      "chip2-node16 by type")
      << "OME still reads the runtime's legacy selector";
  EXPECT_EQ(Choice(service, {},
                   testing::ServingRuntime(pod, "acceleratorRequirements: {minMemory: 64}, ")),
            "module by default, uncertain")
      << "an accelerator class adds selectors";
}

TEST(ChooseHandler, SiteRowsComeFirst) {
  Config config;
  config.accelerators.push_back({.schedule_policy = "our-policy",
                                 .accelerator_type = "our-type",
                                 .node_chips = 12,
                                 .pod_chips = {3, 6, 12},
                                 .super_pod = true,
                                 .whole_nodes_when_distributed = true});
  config.accelerators.push_back({.schedule_policy = "chip8-node8",
                                 .accelerator_type = "",
                                 .node_chips = 8,
                                 .pod_chips = {8}});
  const json::Document object = testing::YamlDocument(testing::Deployment(
      {.chips = "6", .annotations = "huawei.com/schedule_policy: our-policy"}, 2));
  const auto view = BuildView(object.root());
  const auto chips = ReadGroupChips(*view, view->pod_groups.front(), config);
  ASSERT_TRUE(chips && chips->choice.handler);
  EXPECT_EQ(chips->choice.handler->single.Describe(), "3, 6 or 12");
  EXPECT_EQ(chips->choice.handler->distributed.Describe(), "12");
  EXPECT_TRUE(chips->choice.handler->super_pod);
  EXPECT_FALSE(Accepts(*chips, 6));
  EXPECT_EQ(Choice(testing::Deployment({.selector = "accelerator-type: our-type"}), config),
            "our-policy by type");
  EXPECT_EQ(HandlerOfPolicy("our-policy"), nullptr);
  EXPECT_TRUE(IsKnownPolicy("our-policy", config));
  EXPECT_FALSE(IsKnownPolicy("our-policy", {}));
  EXPECT_FALSE(IsKnownPolicy("", config));
  const json::Document a2 = testing::YamlDocument(testing::Deployment(
      {.chips = "4", .annotations = "huawei.com/schedule_policy: chip8-node8"}));
  const auto a2_view = BuildView(a2.root());
  EXPECT_FALSE(Accepts(*ReadGroupChips(*a2_view, a2_view->pod_groups.front(), config), 4));
}

// "NPU pods, chips that the plugin counts", "one pod counts", "gang uncertain".
std::string Counts(const std::string& yaml) {
  const json::Document object = testing::YamlDocument(yaml);
  const auto view = BuildView(object.root());
  if (!view || view->pod_groups.empty()) return "no group";
  const auto chips = ReadGroupChips(*view, view->pod_groups.front(), {});
  if (!chips) return "not evaluated";
  const auto text = [](std::optional<int64_t> n) { return n ? std::to_string(*n) : "?"; };
  return text(chips->npu_pods) + " pods, " + text(chips->total) + " chips" +
         (chips->one_pod_counts ? ", one pod counts" : "") +
         (chips->gang_certain ? "" : ", gang uncertain");
}

TEST(ReadGroupChips, CountsAsThePluginDoes) {
  const NpuPod pod{.chips = "16"};
  const NpuPod cpu{.chips = ""};
  const auto k = [](std::string_view value) {
    return NpuPod{
        .chips = "16",
        .annotations = "huawei.com/schedule_minAvailable: \"" + std::string(value) + "\""};
  };
  EXPECT_EQ(Counts(testing::Deployment(pod, 3)), "3 pods, 48 chips")
      << "ReplicaSets count replicas";
  EXPECT_EQ(Counts(testing::Deployment(k("2"), 3)), "3 pods, 32 chips") << "K wins";
  EXPECT_EQ(Counts(testing::Deployment(k("x"), 3)), "3 pods, ? chips");
  EXPECT_EQ(Counts(testing::Deployment(pod, 0)), "? pods, ? chips");
  EXPECT_EQ(Counts(testing::StatefulSet(pod, 2)), "2 pods, ? chips, one pod counts");
  EXPECT_EQ(Counts(testing::StatefulSet(pod, 1)), "1 pods, 16 chips");
  EXPECT_EQ(Counts(testing::StatefulSet(k("2"), 2)), "2 pods, 32 chips");
  EXPECT_EQ(Counts(testing::AscendJob("", "", "Scheduler", cpu, pod, 2)), "2 pods, 32 chips");
  EXPECT_EQ(Counts(testing::AscendJob("", "", "Master", {.chips = "8"}, pod, 2)),
            "3 pods, 40 chips");
  EXPECT_EQ(Counts(testing::LeaderWorkerSet(pod, pod, 3)), "3 pods, 48 chips, gang uncertain");
  EXPECT_EQ(Counts(testing::LeaderWorkerSet(pod, pod, 1)), "1 pods, 16 chips");
  EXPECT_EQ(Counts(testing::StormService(pod, pod)), "2 pods, ? chips, one pod counts");
  EXPECT_EQ(Counts(testing::StormService(k("2"), k("2"))), "2 pods, 32 chips");
  EXPECT_EQ(Counts(testing::ServingRuntime(pod)), "? pods, ? chips");
  EXPECT_EQ(Counts(testing::Deployment({.chips = "1.5"}, 2)), "? pods, ? chips");
  EXPECT_EQ(Counts(testing::Deployment({.chips = "9223372036854775807"}, 2)), "? pods, ? chips");
  EXPECT_EQ(Counts(testing::Deployment({.chips = "0"}, 2)), "not evaluated");
}

TEST(PodChips, SumContainersButNotInitContainers) {
  const json::Document object = testing::YamlDocument(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers: [{name: i, resources: {limits: {huawei.com/Ascend910: 8}}}]
  containers:
  - {name: sidecar}
  - {name: a, resources: {limits: {huawei.com/Ascend910: 2}}}
  - {name: b, resources: {limits: {huawei.com/Ascend910: "2"}}}
)");
  const auto view = BuildView(object.root());
  const PodChips& chips = view->templates.front().chips;
  EXPECT_EQ(chips.resource, "huawei.com/Ascend910");
  EXPECT_EQ(chips.count, 4);
  EXPECT_EQ(ChipsPath(view->templates.front(), chips),
            "/spec/containers/1/resources/limits/huawei.com~1Ascend910");
}

}  // namespace
}  // namespace mindgate::schemas
