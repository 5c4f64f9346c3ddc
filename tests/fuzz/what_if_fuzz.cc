// A line with a question, then the text of a snapshot: no crash, every problem with a message, and
// a forecast that is the same twice and names pods of the snapshot only.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "json/value.h"
#include "what_if/forecast.h"
#include "what_if/hypothesis.h"
#include "what_if/inventory.h"
#include "what_if/snapshot.h"

namespace {

using namespace mindgate::what_if;
using mindgate::testing::Require;

bool HasPod(const ClusterSnapshot& snapshot, const std::string& ns, const std::string& name) {
  return std::any_of(snapshot.pods.begin(), snapshot.pods.end(), [&](const auto* pod) {
    return mindgate::json::TextAt(*pod, {"metadata", "name"}) == name &&
           mindgate::json::TextAt(*pod, {"metadata", "namespace"}) == ns;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos || line < 1) return 0;
  const auto snapshot = ReadSnapshot(input.substr(line + 1));
  if (!snapshot) {
    for (const auto& issue : snapshot.error().items()) Require(!issue.message.empty());
    return 0;
  }
  Question question;
  const std::string asked(input.substr(1, line - 1));
  switch (input[0] % 4) {
    case 0:
      question.nodes.push_back(asked);
      break;
    case 1:
      question.cards.push_back(asked);
      break;
    case 2:
      question.faults.push_back(asked);
      break;
    default:
      question.drains.push_back(asked);
  }
  const auto inventory = TakeInventory(*snapshot);
  const auto hypothesis = ReadQuestion(question, *snapshot, inventory);
  if (!hypothesis) {
    Require(!hypothesis.error().empty());
    for (const auto& problem : hypothesis.error()) Require(!problem.what.empty());
    return 0;
  }
  for (const std::string& sentence : Sentences(*hypothesis)) Require(!sentence.empty());
  const auto forecast = ForecastOf(*snapshot, *hypothesis);
  Require(forecast.instances == ForecastOf(*snapshot, *hypothesis).instances);
  for (const auto& instance : forecast.instances) {
    for (const auto& hit : instance.hits) Require(HasPod(*snapshot, instance.ns, hit.pod));
  }
  return 0;
}
