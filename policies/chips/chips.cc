#include "policies/chips/chips.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::policies::chips {

using schemas::HandlerChoice;
using By = HandlerChoice::By;

bool HasAnnotation(const RuleContext& context, const schemas::PodGroupView& group,
                   std::string_view key) {
  return static_cast<bool>(schemas::ReadGroupAnnotation(context.view, group, key).entry);
}

bool HasPolicy(const RuleContext& context, const schemas::PodGroupView& group,
               std::string_view policy) {
  return schemas::ReadGroupAnnotation(context.view, group, schemas::kSchedulePolicy).entry.Text() ==
         policy;
}

bool Requests(const RuleContext& context, const schemas::PodGroupView& group,
              std::string_view resource) {
  return std::any_of(group.templates.begin(), group.templates.end(), [&](size_t index) {
    return context.view.templates[index].chips.resource == resource;
  });
}

bool IsSoftShare(const RuleContext& context, const schemas::PodTemplateView& pod) {
  return pod.pod_group &&
         HasPolicy(context, context.view.pod_groups[*pod.pod_group], "chip1-softShareDev");
}

std::string HowChosen(const HandlerChoice& choice) {
  const auto named = [](std::string_view key, std::string_view value) {
    return std::string(key) + " " + std::string(value);
  };
  switch (choice.by) {
    case By::kPolicy:
      return named("schedule_policy", choice.handler->schedule_policy);
    case By::kSuperPodBlock:
      return named("sp-block for", choice.handler->product);
    case By::kAcceleratorType:
      return named("accelerator-type", choice.handler->accelerator_type);
    case By::kStrategyLabel:
      return std::string(choice.handler->product);
    case By::kDefault:
      break;
  }
  return "the default policy (no schedule_policy, no accelerator-type)";
}

namespace {

// Whether a handler takes what every pod of the group asks for; true when that is not known.
bool Takes(const schemas::GroupChips* chips, const schemas::ChipHandler& handler) {
  if (chips == nullptr || !chips->uniform) return true;
  schemas::GroupChips evaluated = *chips;
  evaluated.choice.handler = handler;
  return schemas::Accepts(evaluated, *chips->uniform);
}

// People name servers by their chip, MindCluster by their generation.
constexpr std::string_view kA3Chip = "910c";
constexpr std::string_view kA3Word = "-a3-";

}  // namespace

std::optional<std::string_view> MeantAcceleratorType(std::string_view type,
                                                     const schemas::GroupChips* chips, bool handled,
                                                     const schemas::Config& config) {
  std::vector<std::string_view> fitting;
  for (std::string_view known : schemas::KnownAcceleratorTypes()) {
    const auto handler = schemas::HandlerOfAcceleratorType(known, config);
    if (handler ? Takes(chips, *handler) : !handled) fitting.push_back(known);
  }
  if (ToLower(type).find(kA3Chip) != std::string::npos) {
    const auto a3 = std::ranges::find_if(fitting, [](std::string_view known) {
      return known.find(kA3Word) != std::string_view::npos;
    });
    if (a3 != fitting.end()) return *a3;
  }
  return NearestOf(type, fitting);
}

std::string Chips(int64_t count) { return Counted(count, "chip"); }

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto nearest = NearestOf(word, candidates);
  return nearest ? " (did you mean " + Quote(*nearest) + "?)" : "";
}

// What the super-pod handlers ask of the annotation sp-block.

using schemas::Entry;
using schemas::GroupChips;

int64_t NodesOf(int64_t block, int64_t node_chips) {
  return node_chips < 1 ? 1 : std::max<int64_t>(1, block / node_chips);
}

namespace {

// The blocks that the job takes, as far as its chips are known.
std::string RightBlock(const GroupChips& chips, int64_t node) {
  const int64_t unit = std::max<int64_t>(1, node);
  const int64_t pod = chips.uniform.value_or(0);
  if (chips.IsSingle() && pod >= 1 && (pod < unit || pod % unit == 0)) {
    return "write sp-block: \"" + std::to_string(pod) + "\", or leave it out";
  }
  const bool sure = chips.gang_certain || chips.uniform;
  const int64_t total = sure ? chips.total.value_or(0) : 0;
  if (total < 1 || total % unit != 0) return "write a multiple of " + std::to_string(unit);
  return "write a divisor of " + std::to_string(total) +
         (unit > 1 ? " that is a multiple of " + std::to_string(unit) : "");
}

}  // namespace

std::optional<Problem> ProblemOfBlock(const GroupChips& chips, int64_t block,
                                      int64_t super_pod_size) {
  const int64_t node = chips.choice.handler->node_chips;
  const auto name = [&] { return "sp-block " + std::to_string(block); };
  if (node >= 1 && block >= node && block % node != 0) {
    return Problem{name() + " is not a multiple of the " + Chips(node) + " of a node",
                   RightBlock(chips, node)};
  }
  if (chips.choice.handler->whole_blocks && block < node && chips.IsDistributed()) {
    return Problem{name() + " is less than the " + Chips(node) +
                       " of a node, which each of several pods takes whole",
                   RightBlock(chips, node)};
  }
  if (NodesOf(block, node) > super_pod_size) {
    return Problem{name() + " spans " + std::to_string(NodesOf(block, node)) +
                       " nodes, more than the " + std::to_string(super_pod_size) +
                       " of a super pod",
                   "write at most " + std::to_string(super_pod_size * node) +
                       ", or set the super-pod size in mindgate.yaml to the scheduler's"};
  }
  // With another total the gang size asks for more pods than there are yet.
  if (chips.IsSingle() && (!chips.total || chips.total == chips.uniform)) {
    // Less than one chip is for another rule.
    if (chips.uniform.value_or(0) < 1 || *chips.uniform == block) return std::nullopt;
    return Problem{name() + " is not the " + Chips(*chips.uniform) + " of the job's only NPU pod",
                   RightBlock(chips, node)};
  }
  // A LeaderWorkerSet without gang scheduling is evaluated pod by pod; equal pods fail there, too.
  const bool sure = chips.gang_certain || chips.uniform;
  if (!sure || !chips.total || *chips.total < 1 || *chips.total % block == 0) return std::nullopt;
  return Problem{name() + " does not divide the " + Chips(*chips.total) + " of the job",
                 RightBlock(chips, node)};
}

GroupChips OneInstance(const schemas::WorkloadView& view, const schemas::PodGroupView& group,
                       GroupChips chips) {
  int64_t pods = 0;
  int64_t total = 0;
  bool known = chips.uniform.has_value();
  for (size_t index : group.templates) {
    const auto& pod = view.templates[index];
    if (pod.chips.resource.empty()) continue;
    // Of no workers nothing is said here, and services may say it.
    const bool gang = group.facts().leader_and_workers;
    const int64_t count = gang ? pod.pods.value_or(1) : 1;
    int64_t product = 0;
    known = known && count >= 1 && pod.chips.count.value_or(0) >= 1 &&
            !__builtin_mul_overflow(*pod.chips.count, count, &product) &&
            !__builtin_add_overflow(total, product, &total) &&
            !__builtin_add_overflow(pods, count, &pods);
  }
  chips.gang_certain = true;
  chips.npu_pods = known ? std::optional(pods) : std::nullopt;
  chips.total = known ? std::optional(total) : std::nullopt;
  return chips;
}

std::optional<int64_t> BlockOfInstance(const RuleContext& context,
                                       const schemas::PodGroupView& group,
                                       const GroupChips& chips) {
  const auto total = OneInstance(context.view, group, chips).total;
  if (!total || ProblemOfBlock(chips, *total, context.config.super_pod_size)) return std::nullopt;
  return total;
}

std::optional<int64_t> PositiveBlock(const Entry& entry) {
  const auto text = entry.Text();
  const auto block = text ? ParseGoInt(*text) : std::nullopt;
  return block && *block > 0 ? block : std::nullopt;
}

}  // namespace mindgate::policies::chips
