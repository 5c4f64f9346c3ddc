#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "what_if/board.h"
#include "what_if/forecast.h"
#include "what_if/ground.h"
#include "what_if/settling.h"

namespace mindgate::what_if {

// Answers many questions about one cluster, each as ForecastOf does, but for why nodes take no pods
// (Shortage::left_out). What no question changes is decided once; each then takes the time of the
// pods that it concerns, and of those that move in any case. One thread at a time.
class Forecaster {
 public:
  // Each question is asked in addition to `base`, and its forecast is what becomes worse by it.
  // `ground` must outlive the forecaster.
  explicit Forecaster(const Ground& ground, const Hypothesis& base = {});

  Forecast Of(const Hypothesis& hypothesis);

 private:
  // A family that only waits, for room that no node has: it is left out while none gets it.
  struct Sleeper {
    size_t family = 0;
    std::vector<size_t> pods{};  // one of those that are alike
  };

  void FindThoseThatWait();
  std::optional<Sleeper> SleeperOf(size_t family);
  // `also`: pods of other families about which the hypothesis decides something, in ascending
  // order.
  Settled SettleWith(const Hypothesis& hypothesis,
                     const std::set<std::string, std::less<>>& drained,
                     const std::vector<size_t>& nodes, const std::set<size_t>& families,
                     const std::vector<size_t>& also, std::set<size_t>& woken);

  const Ground& ground_;
  const std::set<std::string, std::less<>> drained_;  // without a question
  SurveyedFaults faults_;                             // likewise, but while a question is answered
  Board board_;                                       // likewise
  Settled before_;
  std::set<size_t> placing_;  // families that place pods without a hypothesis
  std::vector<Sleeper> sleepers_;
  std::vector<InstanceKey> standing_;  // instances that every forecast has
};

}  // namespace mindgate::what_if
