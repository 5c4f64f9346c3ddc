#include "policies/chips/chips.h"

#include <algorithm>

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

std::string Chips(int64_t count) {
  return std::to_string(count) + (count == 1 ? " chip" : " chips");
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto nearest = NearestOf(word, candidates);
  return nearest ? " (did you mean " + Quote(*nearest) + "?)" : "";
}

}  // namespace mindgate::policies::chips
