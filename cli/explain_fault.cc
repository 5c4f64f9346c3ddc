#include "cli/explain_fault.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/print_error.h"
#include "base/text.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "offline/results_json.h"
#include "watcher/faults/codes.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using watcher::faults::CodeSource;
using watcher::faults::Effect;
using watcher::faults::FaultCode;
using watcher::faults::FaultLevel;

// What the value of a label leads to.
struct Consequence {
  std::string_view value;
  std::string_view what;
};

// mind-cluster: component/ascend-for-volcano/internal/rescheduling, fault-scheduling of a job.
constexpr Consequence kOfFaultScheduling[] = {
    {"force", "The pods in scope are deleted at once, with grace period 0."},
    {"grace",
     "The pods in scope are evicted with their own grace period, and deleted by force after "
     "graceOverTime, 15 minutes by default."},
    {"external-force, external-grace",
     "Nothing is deleted. Faulty pods get the annotation huawei.com/pod-status, which "
     "infer-operator acts on."},
    {"off, or no label", "Nothing happens: the pods stay on the faulty hardware."},
    {"any other value", "The restart fails in every session of the scheduler: the job hangs."},
};

constexpr Consequence kOfSubHealth[] = {
    {"ignore, or no label", "Nothing happens to pods that run; new ones prefer other nodes."},
    {"graceExit", "The job is asked to exit, then its pods are evicted with their grace period."},
    {"forceExit", "The pods in scope are deleted at once."},
    {"hotSwitch", "A pod that has a replacement is deleted at once."},
    {"any other value", "As ignore."},
};

std::string_view EffectText(Effect effect) {
  switch (effect) {
    case Effect::kNone:
      return "Pods that run and new ones are not affected.";
    case Effect::kNoNewPods:
      return "Pods that run are left alone. New ones are not placed on this hardware.";
    case Effect::kSubHealth:
      return "The job's label subHealthyStrategy decides about pods that use this hardware, where "
             "its label fault-scheduling is force or grace:";
    case Effect::kChip:
      return "The pods that use the chip are faulty. The job's label fault-scheduling decides:";
    case Effect::kNode:
      return "All pods on the node are faulty, also those without NPUs. The job's label "
             "fault-scheduling decides:";
  }
  return "";
}

std::string_view SourceText(CodeSource source) {
  switch (source) {
    case CodeSource::kChip:
      return "chip";
    case CodeSource::kSwitch:
      return "switch";
    case CodeSource::kNode:
      return "node";
    case CodeSource::kPublic:
      return "public fault";
  }
  return "";
}

struct Consequences {
  std::string_view label;
  std::vector<Consequence> rows;
};

Consequences ConsequencesOf(Effect effect) {
  if (effect == Effect::kSubHealth) {
    return {"subHealthyStrategy", {std::begin(kOfSubHealth), std::end(kOfSubHealth)}};
  }
  if (effect != Effect::kChip && effect != Effect::kNode) return {};
  return {"fault-scheduling", {std::begin(kOfFaultScheduling), std::end(kOfFaultScheduling)}};
}

OrderedJson FaultJson(const FaultCode& code) {
  const Effect effect = watcher::faults::EffectOf(code);
  const Consequences consequences = ConsequencesOf(effect);
  OrderedJson rows = OrderedJson::array();
  for (const Consequence& row : consequences.rows) {
    rows.push_back({{"value", row.value}, {"what", row.what}});
  }
  return {{"code", code.code},
          {"source", SourceText(code.source)},
          {"level", watcher::faults::FaultLevelName(code.level)},
          {"meaning", watcher::faults::FaultLevelMeaning(code.level)},
          {"effect", EffectText(effect)},
          {"label", consequences.label},
          {"consequences", std::move(rows)},
          {"file", watcher::faults::CodeSourceFile(code.source)}};
}

void PrintFault(const FaultCode& code, const Paint& paint, const Streams& io) {
  const Effect effect = watcher::faults::EffectOf(code);
  const std::string level(watcher::faults::FaultLevelName(code.level));
  io.out << paint(Color::kBold, code.code) << "  " << SourceText(code.source) << ", level " << level
         << "\n\n"
         << Wrapped(std::string(watcher::faults::FaultLevelMeaning(code.level)) + " " +
                        std::string(EffectText(effect)),
                    io.width);
  const Consequences consequences = ConsequencesOf(effect);
  if (!consequences.rows.empty()) io.out << "\n";
  size_t width = 0;
  for (const Consequence& row : consequences.rows) width = std::max(width, row.value.size());
  for (const Consequence& row : consequences.rows) {
    io.out << "  " << Padded(std::string(row.value), width) << "  "
           << WrappedCell(std::string(row.what), io.width, width + 4) << "\n";
  }
  const bool of_chip = code.source == CodeSource::kChip;
  io.out << "\n"
         << Wrapped("The level is the one that MindCluster ships (" +
                        std::string(watcher::faults::CodeSourceFile(code.source)) + ")" +
                        (of_chip ? "; ConfigMap mindx-dl-fault-config in kube-system may set "
                                   "another."
                                 : "."),
                    io.width);
}

void PrintUnknownCode(const std::string& code, std::ostream& err) {
  std::vector<std::string> names;
  for (const FaultCode& each : watcher::faults::AllFaultCodes()) names.push_back(each.code);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = NearestOf(code, known);
  PrintError(err, "MindCluster ships no level for fault code " + Quote(code),
             (near ? "did you mean " + Quote(*near) + "? " : std::string()) +
                 "of a chip's unknown code above minor severity it makes SeparateNPU");
}

}  // namespace

int ExplainFaults(const std::vector<std::string>& codes, const std::string& output, ColorMode color,
                  Streams& io) {
  std::vector<FaultCode> found;
  bool all_known = true;
  for (const std::string& text : codes) {
    if (auto code = watcher::faults::FindFaultCode(text)) {
      found.push_back(*std::move(code));
    } else {
      PrintUnknownCode(text, io.err);
      all_known = false;
    }
  }
  if (output == "json") {
    OrderedJson faults = OrderedJson::array();
    for (const FaultCode& code : found) faults.push_back(FaultJson(code));
    io.out << offline::Dump({{"faults", std::move(faults)}}) << "\n";
  } else {
    const Paint paint(color, io.out_is_terminal);
    for (size_t i = 0; i < found.size(); ++i) {
      if (i > 0) io.out << "\n";
      PrintFault(found[i], paint, io);
    }
  }
  return all_known ? kExitDone : kExitUnusable;
}

}  // namespace mindgate::cli
