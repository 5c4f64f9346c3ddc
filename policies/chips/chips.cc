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
  schemas::GroupChips judged = *chips;
  judged.choice.handler = handler;
  return schemas::Accepts(judged, *chips->uniform);
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

}  // namespace mindgate::policies::chips
