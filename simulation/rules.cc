#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
#include "schemas/names.h"
#include "simulation/service_states.h"

namespace mindgate::simulation {
namespace {

// "2 of g0 and 1 of g1".
std::string TierText(const schemas::ScalingTier& tier) {
  std::map<std::string, int64_t> wanted;
  for (const schemas::ScalingGroup& group : tier.groups) {
    wanted.insert_or_assign(group.group_name, group.group_num);
  }
  std::vector<std::string> texts;
  for (const auto& [group, count] : wanted) {
    texts.push_back(std::to_string(count) + " of " + group);
  }
  return texts.empty() ? "nothing" : Join(texts, " and ");
}

std::string First(const json::Issues& issues) {
  const json::Issue& issue = issues.items().front();
  if (issue.at.line == 0) return issue.message;
  return "line " + std::to_string(issue.at.line) + ": " + issue.message;
}

}  // namespace

RuleLook LookAt(const RuleSpec& spec) {
  RuleLook look;
  const json::Json config_map = {
      {"metadata", {{"namespace", spec.key.ns}, {"name", spec.key.name}}},
      {"data", {{schemas::kScalingRuleKey, spec.text}}}};
  look.state = watcher::scaling::RuleOf(json::Document(config_map).root());
  const schemas::ScalingRuleReading reading = schemas::ReadScalingRule(spec.text);
  if (!reading.rule) {
    look.text = "refused: " + First(reading.refused);
    return look;
  }
  std::vector<std::string> shapes;
  for (const schemas::ScalingTier& tier : reading.rule->tiers) shapes.push_back(TierText(tier));
  look.text = shapes.empty() ? "no shapes" : Join(shapes, ", else ");
  if (!reading.unworkable.empty()) look.text += "; taken, but " + First(reading.unworkable);
  return look;
}

std::string ShapeText(const watcher::scaling::Service& service,
                      const watcher::scaling::Decision& decision) {
  if (!service.rule) return "unknown: " + service.no_rule;
  const auto& tiers = service.rule->tiers;
  if (decision.reached) {
    return std::to_string(*decision.reached + 1) + " of " + std::to_string(tiers.size()) +
           " runs: " + TierText(tiers[*decision.reached]);
  }
  if (!decision.aim) return "unknown: the instances are not counted";
  return "none of " + std::to_string(tiers.size()) + " runs";
}

}  // namespace mindgate::simulation
