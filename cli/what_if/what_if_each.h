#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "what_if/drain_order.h"
#include "what_if/each_loss.h"
#include "what_if/snapshot.h"

namespace mindgate::cli {

// Whose single losses are supposed, each alone.
struct EachOptions {
  bool node = false;
  bool card = false;
  std::string label = {};  // of nodes, such as their rack; empty: it is not asked

  bool any() const { return node || card || !label.empty(); }
};

struct EachReport {
  Time taken{};                            // the snapshot
  std::vector<std::string> supposed{};     // what is so in any case, a sentence each
  std::string what;                        // "node", "card" or the label
  std::vector<what_if::Impact> impacts{};  // the worst first
  std::optional<what_if::DrainOrder> drains{};
  std::vector<std::string> problems{};
};

// `mindgate what-if --each-node` and its like, each loss in addition to `base`. Returns kExitDenied
// if one of them stops something.
int RunEach(const EachOptions& each, const what_if::ClusterSnapshot& snapshot,
            const what_if::Hypothesis& base, const std::string& output, ColorMode color,
            Streams& io);

void PrintEach(const EachReport& report, bool wide, const Paint& paint, std::ostream& out);
void PrintEachJson(const EachReport& report, std::ostream& out);

// What one loss stops: services and owners, each once.
std::vector<std::string> StoppedTexts(const what_if::Impact& impact);
// "8 huawei.com/Ascend910, 1 huawei.com/Ascend310P"; empty when none are missing.
std::string MissingText(const what_if::Impact& impact);
// "5 nodes", "1 value of rack".
std::string AllOf(const std::string& what, size_t count);

}  // namespace mindgate::cli
