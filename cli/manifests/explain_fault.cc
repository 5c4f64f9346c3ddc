#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "cli/console/print.h"
#include "cli/console/terminal.h"
#include "cli/manifests/explain.h"
#include "faults/codes.h"
#include "offline/results_json.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using faults::CodeSource;
using faults::Effect;
using faults::FaultCode;
using faults::FaultLevel;
using faults::FaultRelation;
using faults::FaultTable;

// What the value of a label leads to.
struct Consequence {
  std::string_view value;
  std::string_view what;
};
using Consequences = std::span<const Consequence>;

// mind-cluster: component/ascend-for-volcano/internal/rescheduling, fault-scheduling of a job.
constexpr Consequence kOfFaultScheduling[] = {
    {"force", "The pods in scope are deleted at once, with grace period 0."},
    {"grace",
     "The pods in scope are evicted with their own grace period, and deleted by force after "
     "graceOverTime, 15 minutes by default, in the next session of the scheduler."},
    {"external-force, external-grace",
     "Nothing is deleted. Faulty pods get the annotation huawei.com/pod-status, which "
     "infer-operator acts on."},
    {"off, or no label", "Nothing happens: the pods stay on the faulty hardware."},
    {"any other value", "The restart fails in every session of the scheduler: the job hangs."},
};

// The same where all that is wrong is sub-healthy hardware, and subHealthyStrategy is not ignore.
constexpr Consequence kOfFaultSchedulingThen[] = {
    {"force, grace", "subHealthyStrategy says how the pods go."},
    kOfFaultScheduling[2],
    kOfFaultScheduling[3],
    kOfFaultScheduling[4],
};

// And where pods go on the node: internal/npu/base, CheckNodeNPUByTask.
constexpr Consequence kOfSubHealth[] = {
    {"ignore, or no label", "Nothing happens to pods that run; new ones prefer other nodes."},
    {"graceExit",
     "The job is asked to exit, then its pods are evicted with their grace period. New ones are "
     "not placed on the node."},
    {"forceExit", "The pods in scope are deleted at once. New ones are not placed on the node."},
    {"hotSwitch",
     "A pod that has a replacement is deleted at once. New ones are not placed on the node."},
    {"any other value", "As ignore."},
};

constexpr Consequence kNotAsked[] = {
    {"any value, or no label", "It is not asked: the hardware is worse than sub-healthy."},
};

// What a level leads to.
struct LevelOutcome {
  Effect effect;
  std::string_view pods;  // that run
  std::string_view new_pods;
  std::string_view node;
};

constexpr std::string_view kOtherChips = "The node keeps its other chips.";

LevelOutcome OutcomeOf(const FaultCode& code, FaultLevel level) {
  const Effect effect = faults::EffectOf(code.code, code.source, level);
  const bool of_node = code.source == CodeSource::kNode || code.source == CodeSource::kSwitch;
  switch (effect) {
    case Effect::kNone:
      return {effect, "Pods that run are not affected.", "New pods are placed there as before.",
              "The node stays in use."};
    case Effect::kNoNewPods:
      if (of_node) {
        return {effect, "Pods that run are left alone.",
                "New pods are not placed on the node once no pod with NPUs runs there.",
                "ClusterD calls the node healthy until then, and unhealthy afterwards."};
      }
      return {effect, "Pods that run are left alone.", "New pods do not get the chip.",
              kOtherChips};
    case Effect::kSubHealth:
      return {effect,
              "The job's label subHealthyStrategy decides about pods that use the hardware.",
              "New pods of jobs with graceExit, forceExit or hotSwitch are not placed on the node, "
              "and others prefer other nodes.",
              "The node stays in use."};
    case Effect::kChip:
      return {effect, "The pods that use the chip are faulty.", "New pods do not get the chip.",
              kOtherChips};
    case Effect::kNode:
      return {effect, "All pods on the node are faulty, also those without NPUs.",
              "New pods are not placed on the node.", "The node is unhealthy as a whole."};
  }
  return {};
}

bool IsFaulty(Effect effect) { return effect == Effect::kChip || effect == Effect::kNode; }

struct ByLabel {
  std::string_view label;
  Consequences rows;
};

std::vector<ByLabel> ByLabelsOf(Effect effect) {
  if (IsFaulty(effect)) {
    return {{"fault-scheduling", kOfFaultScheduling}, {"subHealthyStrategy", kNotAsked}};
  }
  if (effect == Effect::kSubHealth) {
    return {{"fault-scheduling", kOfFaultSchedulingThen}, {"subHealthyStrategy", kOfSubHealth}};
  }
  return {};
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

// --- JSON ----------------------------------------------------------------------------------------

void AddLevel(const FaultCode& code, FaultLevel level, OrderedJson& json) {
  const LevelOutcome outcome = OutcomeOf(code, level);
  json["level"] = faults::FaultLevelName(level);
  json["meaning"] = faults::FaultLevelMeaning(level);
  json["pods"] = outcome.pods;
  json["newPods"] = outcome.new_pods;
  json["node"] = outcome.node;
  OrderedJson labels = OrderedJson::object();
  for (const ByLabel& by_label : ByLabelsOf(outcome.effect)) {
    OrderedJson rows = OrderedJson::array();
    for (const Consequence& row : by_label.rows) {
      rows.push_back({{"value", row.value}, {"what", row.what}});
    }
    labels[std::string(by_label.label)] = std::move(rows);
  }
  json["byLabel"] = std::move(labels);
}

OrderedJson EscalationsJson(const FaultCode& code) {
  OrderedJson all = OrderedJson::array();
  if (code.lasts) {
    OrderedJson one = {{"when", "lasts"},
                       {"seconds", code.lasts->time.count()},
                       {"untilGoneForSeconds", code.lasts->gone.count()}};
    AddLevel(code, code.lasts->level, one);
    all.push_back(std::move(one));
  }
  if (code.repeats) {
    OrderedJson one = {{"when", "repeats"},
                       {"times", code.repeats->times},
                       {"withinSeconds", code.repeats->within.count()},
                       {"untilGoneForSeconds", nullptr}};
    if (code.repeats->gone) one["untilGoneForSeconds"] = code.repeats->gone->count();
    AddLevel(code, code.repeats->level, one);
    all.push_back(std::move(one));
  }
  return all;
}

OrderedJson FaultJson(const FaultCode& code, const FaultTable& table) {
  OrderedJson json = {{"code", code.code}, {"source", SourceText(code.source)}};
  AddLevel(code, code.level, json);
  json["escalations"] = EscalationsJson(code);
  OrderedJson relations = OrderedJson::array();
  for (const FaultRelation& relation : code.relations) {
    relations.push_back({{"trigger", relation.trigger},
                         {"with", relation.with},
                         {"withinSeconds", relation.within.count()},
                         {"faultType", relation.strategy}});
  }
  json["relations"] = std::move(relations);
  json["sentences"] = faults::EscalationsOf(code);
  json["release"] = table.release();
  json["file"] = faults::CodeSourceFile(code.source);
  return json;
}

// --- text ----------------------------------------------------------------------------------------

std::string OutcomeText(const FaultCode& code, FaultLevel level) {
  const LevelOutcome outcome = OutcomeOf(code, level);
  return std::string(outcome.pods) + " " + std::string(outcome.new_pods) + " " +
         std::string(outcome.node);
}

std::string AsSentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

// Each with what it leads to.
std::vector<std::string> EscalationTexts(const FaultCode& code) {
  std::vector<std::string> texts;
  for (std::string& sentence : faults::EscalationsOf(code)) {
    texts.push_back(AsSentence(std::move(sentence)));
  }
  size_t at = 0;
  if (code.lasts) texts[at++] += " " + OutcomeText(code, code.lasts->level);
  if (code.repeats) texts[at++] += " " + OutcomeText(code, code.repeats->level);
  for (const FaultRelation& relation : code.relations) {
    texts[at++] += relation.strategy == "Separate"
                       ? " They are then faulty (RelationFault)."
                       : " Their subHealthyStrategy then decides about them.";
  }
  return texts;
}

// The effects of a fault now and later.
std::vector<Effect> EffectsOf(const FaultCode& code) {
  std::vector<Effect> effects = {OutcomeOf(code, code.level).effect};
  if (code.lasts) effects.push_back(OutcomeOf(code, code.lasts->level).effect);
  if (code.repeats) effects.push_back(OutcomeOf(code, code.repeats->level).effect);
  for (const FaultRelation& relation : code.relations) {
    effects.push_back(relation.strategy == "Separate" ? Effect::kChip : Effect::kSubHealth);
  }
  return effects;
}

void PrintConsequences(std::string_view intro, Consequences rows, const Streams& io) {
  io.out << "\n" << Wrapped(std::string(intro), io.width) << "\n";
  size_t width = 0;
  for (const Consequence& row : rows) width = std::max(width, row.value.size());
  for (const Consequence& row : rows) {
    io.out << "  " << Padded(std::string(row.value), width) << "  "
           << WrappedCell(std::string(row.what), io.width, width + 4) << "\n";
  }
}

void PrintFault(const FaultCode& code, const FaultTable& table, const Paint& paint,
                const Streams& io) {
  io.out << paint(Color::kBold, code.code) << "  " << SourceText(code.source) << ", level "
         << faults::FaultLevelName(code.level) << "\n\n"
         << Wrapped(std::string(faults::FaultLevelMeaning(code.level)) + " " +
                        OutcomeText(code, code.level),
                    io.width);
  for (const std::string& text : EscalationTexts(code)) io.out << "\n" << Wrapped(text, io.width);
  const std::vector<Effect> effects = EffectsOf(code);
  if (std::any_of(effects.begin(), effects.end(), IsFaulty)) {
    PrintConsequences(
        "The job's label fault-scheduling decides about faulty pods, whatever its label "
        "subHealthyStrategy says:",
        kOfFaultScheduling, io);
  }
  if (std::find(effects.begin(), effects.end(), Effect::kSubHealth) != effects.end()) {
    PrintConsequences(
        "The job's label subHealthyStrategy decides about pods that use sub-healthy hardware, "
        "where its label fault-scheduling is force or grace:",
        kOfSubHealth, io);
    PrintConsequences("Where fault-scheduling is another, and subHealthyStrategy not ignore:",
                      Consequences(kOfFaultSchedulingThen).subspan(1), io);
  }
  const bool of_cluster = code.source == CodeSource::kChip || code.source == CodeSource::kSwitch;
  io.out << "\n"
         << Wrapped("The level is the one that MindCluster " + std::string(table.release()) +
                        " ships (" + std::string(faults::CodeSourceFile(code.source)) + ")" +
                        (of_cluster ? "; ConfigMap mindx-dl-fault-config in kube-system may set "
                                      "another."
                                    : "."),
                    io.width);
}

void PrintUnknownCode(const std::string& code, const FaultTable& table, std::ostream& err) {
  std::vector<std::string_view> known;
  for (const FaultCode& each : table.codes()) known.push_back(each.code);
  const auto near = NearestOf(code, known);
  PrintError(
      err,
      "MindCluster " + std::string(table.release()) + " ships no level for fault code " +
          Quote(code),
      (near ? "did you mean " + Quote(*near) + "? " : std::string()) +
          "MindCluster treats unknown fault codes of chips above minor severity as SeparateNPU");
}

}  // namespace

int ExplainFaults(const std::vector<std::string>& codes, const std::string& output, ColorMode color,
                  Streams& io) {
  const FaultTable& table = FaultTable::Shipped();
  std::vector<const FaultCode*> found;
  bool all_known = true;
  for (const std::string& text : codes) {
    if (const FaultCode* code = table.Find(text)) {
      found.push_back(code);
    } else {
      PrintUnknownCode(text, table, io.err);
      all_known = false;
    }
  }
  if (output == "json") {
    OrderedJson faults = OrderedJson::array();
    for (const FaultCode* code : found) faults.push_back(FaultJson(*code, table));
    io.out << offline::Dump({{"faults", std::move(faults)}}) << "\n";
  } else {
    const Paint paint(color, io.out_is_terminal);
    for (size_t i = 0; i < found.size(); ++i) {
      if (i > 0) io.out << "\n";
      PrintFault(*found[i], table, paint, io);
    }
  }
  return all_known ? kExitDone : kExitUnusable;
}

}  // namespace mindgate::cli
