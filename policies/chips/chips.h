#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policies/lookups.h"
#include "policies/rule.h"
#include "schemas/accelerator.h"

// What the rules about chips share.
namespace mindgate::policies::chips {

inline constexpr std::string_view kAcceleratorType = "accelerator-type";

// Calls visit(group, chips) for each PodGroup whose pods ask for whole cards and are placed by
// Volcano. Objects made by a controller whose own object is checked are left out. Groups for which
// wanted(group) is false are passed over before anything is counted: most rules look at one
// annotation that few jobs have.
template <typename Wanted, typename Visit>
void ForEachChipGroup(const RuleContext& context, Wanted wanted, Visit visit) {
  const schemas::WorkloadView& view = context.view;
  if (view.controller_injected || !view.RequestsNpus()) return;
  for (const schemas::PodGroupView& group : view.pod_groups) {
    if (!wanted(group)) continue;
    if (const schemas::GroupChips* chips = context.chips->Of(group)) visit(group, *chips);
  }
}

template <typename Visit>
void ForEachChipGroup(const RuleContext& context, Visit visit) {
  ForEachChipGroup(context, [](const schemas::PodGroupView&) { return true; }, visit);
}

// Whether the plugin finds the annotation, and with which value.
bool HasAnnotation(const RuleContext& context, const schemas::PodGroupView& group,
                   std::string_view key);
bool HasPolicy(const RuleContext& context, const schemas::PodGroupView& group,
               std::string_view policy);
// Whether a pod of the group asks for this resource.
bool Requests(const RuleContext& context, const schemas::PodGroupView& group,
              std::string_view resource);

// The super-pod handler decides about these chips.
inline bool IsSuperPod(const schemas::GroupChips& chips) {
  return chips.choice.handler && chips.choice.handler->super_pod;
}
// The handler follows from what this object says, not from what it leaves out.
inline bool IsSettled(const schemas::GroupChips& chips) {
  return chips.choice.handler &&
         (chips.choice.certain || chips.choice.by == schemas::HandlerChoice::By::kPolicy);
}

// The pods share chips in time, and the device plugin mounts them.
bool IsSoftShare(const RuleContext& context, const schemas::PodTemplateView& pod);

// Nodes that a block of chips spans, at least 1.
int64_t NodesOf(int64_t block, int64_t node_chips);
// sp-block as a positive number; nothing when it is not one.
std::optional<int64_t> PositiveBlock(const schemas::Entry& entry);
// Why the plugin does not take an sp-block for these chips; nothing when it does. They have a
// handler.
std::optional<Problem> ProblemOfBlock(const schemas::GroupChips& chips, int64_t block,
                                      int64_t super_pod_size);
// The group as one instance of a service makes it: one pod of a Deployment, or a leader with the
// workers that the runtime names.
schemas::GroupChips OneInstance(const schemas::WorkloadView& view,
                                const schemas::PodGroupView& group, schemas::GroupChips chips);
// The chips of one instance, where the plugin takes them as sp-block; nothing where an instance is
// no block itself, which other rules report.
std::optional<int64_t> BlockOfInstance(const RuleContext& context,
                                       const schemas::PodGroupView& group,
                                       const schemas::GroupChips& chips);

// How the handler came to be chosen: "schedule_policy chip8-node8", "accelerator-type half".
std::string HowChosen(const schemas::HandlerChoice& choice);

// The known accelerator-type that was meant by another one, of those whose handler takes the chips
// of the group (null pointer: all). `handled`: only of those that choose a handler, not of those
// that name hardware alone.
std::optional<std::string_view> MeantAcceleratorType(std::string_view type,
                                                     const schemas::GroupChips* chips, bool handled,
                                                     const schemas::Config& config);

// "1 chip", "16 chips".
std::string Chips(int64_t count);

// " (did you mean "x"?)", or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace mindgate::policies::chips
