#include <array>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::chips {

// Node selectors: one architecture for a job, and keys that some node carries.

namespace {

using schemas::Entry;
using schemas::PodGroupView;
using schemas::PodTemplateView;

constexpr std::string_view kHostArch = "host-arch";
constexpr std::string_view kKubernetesArch = "kubernetes.io/arch";

struct Architecture {
  std::string_view name;  // empty: the pods do not say, or say something unknown
  Entry entry;
};

Architecture ArchitectureOf(const schemas::WorkloadView& view, const PodTemplateView& pod) {
  for (std::string_view key : {kHostArch, kKubernetesArch}) {
    const Entry entry = schemas::SelectorEntry(view, pod, key);
    const auto text = entry.Text();
    if (text == "huawei-arm" || text == "arm64") return {"Arm", entry};
    if (text == "huawei-x86" || text == "amd64") return {"x86", entry};
  }
  return {};
}

void CheckArchitectures(const RuleContext& context, Findings& findings) {
  const schemas::WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.templates.size() < 2 || !group.npus) continue;
    const PodTemplateView* first = nullptr;
    std::string_view first_name;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = view.templates[index];
      if (!pod.RequestsNpus()) continue;
      const Architecture architecture = ArchitectureOf(view, pod);
      if (architecture.name.empty()) continue;
      if (first == nullptr) {
        first = &pod;
        first_name = architecture.name;
        continue;
      }
      if (architecture.name == first_name) continue;
      findings.Violate(architecture.entry.Path(),
                       "pods of " + std::string(pod.name) + " select " +
                           std::string(architecture.name) + " servers, but those of " +
                           std::string(first->name) + " " + std::string(first_name) +
                           " servers: the processes of one job must run on one architecture",
                       "select the same architecture in all pods of " + std::string(group.name));
    }
  }
}

// What MindCluster's nodes are labelled with, as far as people write it in selectors.
constexpr std::array<std::string_view, 5> kNodeLabels = {
    "accelerator", "accelerator-type", kHostArch, "server-usage", "infer-card-type"};
// Of the letters of a key: one more makes a word of its own.
constexpr int kTyposOfLabel = 1;

void CheckSelectorKeys(const RuleContext& context, Findings& findings) {
  static const std::array<schemas::NormalizedKey, 5> known = {
      schemas::NormalizedKey(kNodeLabels[0]), schemas::NormalizedKey(kNodeLabels[1]),
      schemas::NormalizedKey(kNodeLabels[2]), schemas::NormalizedKey(kNodeLabels[3]),
      schemas::NormalizedKey(kNodeLabels[4])};
  size_t budget = schemas::kMaxComparedKeys;
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.node_selector.value == nullptr || !pod.RequestsNpus()) continue;
    for (const auto& [key, value] : pod.node_selector.value->members()) {
      if (budget == 0) return;
      --budget;
      if (key.size() > schemas::NormalizedKey::kMax || key.find('/') != std::string_view::npos)
        continue;
      const schemas::NormalizedKey word(key);
      for (size_t i = 0; i < known.size(); ++i) {
        if (key == kNodeLabels[i]) break;
        if (!word.Resembles(known[i], kTyposOfLabel)) continue;
        findings.Violate(
            pod.node_selector.path.Child(key),
            "MindCluster labels no node with " + Quote(key) + ", did you mean " +
                Quote(kNodeLabels[i]) + "? Pods that select a label which no node has stay Pending",
            "write " + std::string(kNodeLabels[i]) + " instead of " + std::string(key));
        break;
      }
    }
  }
}

constexpr Rule kSelectorRules[] = {
    {.id = "MG163",
     .name = "mixed-architectures",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All NPU pods of a PodGroup select the same architecture.",
     .why = "The processes of a distributed job exchange data in the layout of their machine, and "
            "run from one image. On servers of two architectures some of them do not start, or "
            "hang in the first collective operation.",
     .fix = "Write the same host-arch (or kubernetes.io/arch) in every pod template of the job, or "
            "make two jobs.",
     .source = "mind-cluster: docs/zh/scheduling, host-arch (nodes of a distributed job must have "
               "the same architecture). Independent pods that only share a PodGroup may work: "
               "therefore a warning.",
     .check = CheckArchitectures},
    {.id = "MG164",
     .name = "node-selector-key",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary =
         "Keys of a nodeSelector that resemble those of MindCluster are spelled as on the nodes.",
     .why = "A pod insists on every label of its nodeSelector. A misspelled key is on no node, so "
            "the pod stays Pending; and the plugin, which reads accelerator-type from the same "
            "map, checks it by the rules of other servers.",
     .fix = "Write accelerator, accelerator-type, host-arch, server-usage or infer-card-type.",
     .source = "mind-cluster: component/ascend-device-plugin (node labels), docs/zh/scheduling. A "
               "site may have labels of its own: therefore a warning, and only for near misses.",
     .check = CheckSelectorKeys},
};

}  // namespace

Family SelectorRules() { return kSelectorRules; }

// Labels that choose how Ascend310 and Ascend310P cards are shared out.

namespace {

using schemas::GroupChips;
using schemas::Merged;

constexpr std::string_view kStrategy = "npu-310-strategy";
constexpr std::string_view kDuo = "duo";
constexpr std::string_view kDistributed = "distributed";
constexpr std::string_view kAscend310 = "huawei.com/Ascend310";
constexpr std::string_view kAscend310P = "huawei.com/Ascend310P";
constexpr std::array<std::string_view, 2> kStrategies = {"chip", "card"};
constexpr std::array<std::string_view, 2> kBooleans = {"true", "false"};

// For ForEachChipGroup: groups that ask for a resource.
auto Requesting(const RuleContext& context, std::string_view resource) {
  return [&context, resource](const PodGroupView& group) {
    return Requests(context, group, resource);
  };
}

void CheckStrategy(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(
      context, Requesting(context, kAscend310),
      [&](const PodGroupView& group, const GroupChips& chips) {
        if (chips.choice.problem != schemas::HandlerChoice::Problem::kUnknownStrategy ||
            !chips.choice.certain) {
          return;
        }
        const Merged strategy = schemas::GroupLabel(context.view, group, kStrategy);
        if (!strategy.first.Text()) return;
        const std::string value = strategy.Joined();
        findings.Violate(
            (strategy.joined() ? strategy.other : strategy.first).Path(),
            "npu-310-strategy " + Quote(value) +
                " is neither chip nor card: no handler takes the job and it stays Pending",
            "write npu-310-strategy: chip or card, the same on all pods" +
                DidYouMean(value, kStrategies));
      });
}

// A label that must be one of `known`, or the plugin acts as if `instead`.
void CheckWord(const RuleContext& context, const PodGroupView& group, std::string_view key,
               std::span<const std::string_view> known, std::string_view instead,
               Findings& findings) {
  const Merged label = schemas::GroupLabel(context.view, group, key);
  if (!label || !label.first.Text()) return;
  for (std::string_view word : known) {
    if (label.Text() == word) return;
  }
  const std::string value = label.Joined();
  findings.Violate((label.joined() ? label.other : label.first).Path(),
                   std::string(key) + " " + Quote(value) + " is not " + OneOf(known) + ": " +
                       std::string(instead),
                   "write " + std::string(key) + ": " + OneOf(known) + DidYouMean(value, known));
}

void Check310PLabels(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(context, Requesting(context, kAscend310P),
                   [&](const PodGroupView& group, const GroupChips& chips) {
                     if (chips.resource != kAscend310P) return;
                     CheckWord(context, group, kStrategy, kStrategies,
                               "chips are picked without regard to cards", findings);
                     CheckWord(context, group, kDuo, kBooleans,
                               "the job is not placed as one for Atlas 300I Duo", findings);
                     CheckWord(context, group, kDistributed, kBooleans, "it counts as false",
                               findings);
                   });
}

void CheckDuoDistributed(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(
      context, Requesting(context, kAscend310P),
      [&](const PodGroupView& group, const GroupChips& chips) {
        if (chips.resource != kAscend310P || !chips.IsDistributed() || !chips.choice.certain)
          return;
        const Merged distributed = schemas::GroupLabel(context.view, group, kDistributed);
        if (distributed.Text() != "true" ||
            schemas::GroupLabel(context.view, group, kDuo).Text() != "true") {
          return;
        }
        findings.Violate(
            distributed.first.Path(),
            "distributed: true with duo: true allows one NPU pod per job, and this one has " +
                std::to_string(*chips.npu_pods) + "; it stays Pending",
            "write distributed: \"false\", or run one pod per workload");
      });
}

constexpr Rule kInferenceCardRules[] = {
    {.id = "MG097",
     .name = "npu-310-strategy",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "For Ascend310 the label npu-310-strategy is chip or card, the same on all pods of "
                "a PodGroup.",
     .why =
         "The label chooses the plugin's handler: by chip, or by cards of four chips. With another "
         "value there is no handler, and the job stays Pending. Without the label it is chip.",
     .fix = "Write chip or card.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go "
               "(init310CardPolicyHandler).",
     .check = CheckStrategy},
    {.id = "MG098",
     .name = "npu-310p-labels",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "For Ascend310P the labels npu-310-strategy (chip, card), duo and distributed "
                "(true, false) have known values.",
     .why = "An unknown value is not rejected: the plugin falls back to its plain handler, which "
            "knows nothing about cards, Atlas 300I Duo or distributed inference.",
     .fix = "Write chip or card, and true or false in quotes.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go "
               "(get310PCardHandlerName). The job is still scheduled: therefore a warning.",
     .check = Check310PLabels},
    {.id = "MG099",
     .name = "duo-distributed",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "A job labelled duo: true and distributed: true has one NPU pod.",
     .why =
         "Distributed inference on Atlas 300I Duo means several cards of one server in one pod. "
         "The plugin rejects such a job if it has more pods, including replicas of a Deployment.",
     .fix = "Write distributed: \"false\" for independent replicas, or one workload per pod.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/ascend310p (ValidNPUJob of "
               "chip310px2 and card310px2).",
     .check = CheckDuoDistributed},
};

}  // namespace

Family InferenceCardRules() { return kInferenceCardRules; }

}  // namespace mindgate::policies::chips
