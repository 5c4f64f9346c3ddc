#include <array>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"

// Labels that choose how Ascend310 and Ascend310P cards are shared out.
namespace mindgate::policies::chips {
namespace {

using schemas::GroupChips;
using schemas::Merged;
using schemas::PodGroupView;

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
