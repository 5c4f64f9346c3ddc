#include "what_if/drain_order.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "what_if/forecaster.h"

namespace mindgate::what_if {
namespace {

// Instances that would not be there without the drain.
size_t MovedBy(const Forecast& forecast) {
  return static_cast<size_t>(std::count_if(forecast.instances.begin(), forecast.instances.end(),
                                           [](const auto& one) { return !one.already; }));
}

// A cluster at one moment of the sequence.
struct State {
  explicit State(ClusterSnapshot of) : snapshot(std::move(of)), ground(snapshot) {
    forecaster.emplace(ground);
  }

  // After a drain. Boards take memory: one at a time.
  ClusterSnapshot After(const std::string& node) {
    forecaster.reset();
    return AfterSettling(ground, Settle(ground, DrainOf(node)));
  }

  ClusterSnapshot snapshot;
  Ground ground;
  std::optional<Forecaster> forecaster{};
};

}  // namespace

DrainOrder OrderOfDrains(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes,
                         size_t max_read_again, const std::function<void()>& step) {
  struct Turn {
    std::string node;
    size_t moved = 0;
    bool fine = false;
  };
  auto state = std::make_unique<State>(snapshot);
  const auto ask = [&](const std::string& node) {
    const Forecast forecast = state->forecaster->Of(DrainOf(node));
    step();
    return Turn{node, MovedBy(forecast), forecast.fine()};
  };
  std::vector<Turn> turns;
  for (const std::string& node : nodes) turns.push_back(ask(node));
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    if (a.fine != b.fine) return a.fine;
    return a.moved != b.moved ? a.moved < b.moved : NaturalLess(a.node, b.node);
  });
  DrainOrder result;
  size_t read_again = 0;
  for (bool moved = true; moved;) {
    moved = false;
    std::vector<Turn> stopping;
    for (Turn& turn : turns) {
      const bool is_spent = read_again + snapshot.pods.size() > max_read_again;
      if (read_again > 0 && !is_spent) turn = ask(turn.node);
      if (!turn.fine) {
        stopping.push_back(std::move(turn));
      } else if (turn.moved > 0 && is_spent) {
        ++result.untried;
      } else {
        result.order.push_back(turn.node);
        if (turn.moved == 0) continue;
        read_again += snapshot.pods.size();
        ClusterSnapshot after = state->After(turn.node);
        state.reset();
        state = std::make_unique<State>(std::move(after));
        moved = read_again + snapshot.pods.size() <= max_read_again;
      }
    }
    turns = std::move(stopping);
  }
  for (Turn& turn : turns) result.stopping.push_back(std::move(turn.node));
  std::sort(result.stopping.begin(), result.stopping.end(), NaturalLess);
  return result;
}

}  // namespace mindgate::what_if
