#include "what_if/each_loss.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace mindgate::what_if {
namespace {

bool IsDown(Outcome outcome) {
  return outcome == Outcome::kNoRoom || outcome == Outcome::kBroken || outcome == Outcome::kLost;
}

}  // namespace

std::vector<SingleLoss> EachNode(const Inventory& inventory) {
  std::vector<SingleLoss> losses;
  for (const Node& node : inventory.nodes) losses.push_back({node.name, {.lost = {node.name}}});
  return losses;
}

std::vector<SingleLoss> EachCard(const Inventory& inventory) {
  std::vector<SingleLoss> losses;
  for (const Node& node : inventory.nodes) {
    for (const auto& [resource, chips] : node.chips) {
      for (const std::string& chip : chips) {
        losses.push_back({node.name + "/" + chip, {.chips = {{node.name, chip}}}});
      }
    }
  }
  return losses;
}

std::vector<SingleLoss> EachValue(const Inventory& inventory, std::string_view label) {
  std::map<std::string, std::vector<std::string>, NaturalOrder> nodes;  // by value
  for (const Node& node : inventory.nodes) {
    const auto found = node.labels.find(label);
    if (found != node.labels.end()) nodes[found->second].push_back(node.name);
  }
  std::vector<SingleLoss> losses;
  for (auto& [value, names] : nodes) {
    losses.push_back({std::string(label) + "=" + value, {.lost = std::move(names)}});
  }
  return losses;
}

size_t Impact::services_down() const {
  return static_cast<size_t>(std::count_if(shrunk.begin(), shrunk.end(),
                                           [](const ServiceForecast& one) { return !one.after; }));
}

Impact ImpactOf(std::string name, const Forecast& forecast) {
  Impact impact{.name = std::move(name)};
  for (const InstanceForecast& instance : forecast.instances) {
    if (instance.already) continue;
    if (instance.outcome == Outcome::kMoves) {
      ++impact.moved;
      continue;
    }
    const size_t without_place = instance.without_place();
    impact.without_place += without_place;
    if (instance.shortage && instance.shortage->npus > 0) {
      impact.missing[instance.shortage->resource] +=
          instance.shortage->pods * instance.shortage->npus;
    }
    (IsDown(instance.outcome) ? impact.down : impact.degraded)
        .push_back(
            {instance.ns, instance.owner, instance.pod_group, instance.outcome, without_place});
  }
  for (const ServiceForecast& service : forecast.services) {
    if (service.shrinks()) impact.shrunk.push_back(service);
  }
  return impact;
}

void Rank(std::vector<Impact>& impacts) {
  const auto weight = [](const Impact& impact) {
    return std::tuple(impact.services_down(), impact.down.size(), impact.shrunk.size(),
                      impact.degraded.size(), impact.without_place);
  };
  std::stable_sort(impacts.begin(), impacts.end(), [&](const Impact& a, const Impact& b) {
    const auto of_a = weight(a);
    const auto of_b = weight(b);
    return of_a != of_b ? of_a > of_b : NaturalLess(a.name, b.name);
  });
}

}  // namespace mindgate::what_if
