#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/print.h"
#include "cli/console/terminal.h"
#include "cli/manifests/manifests.h"
#include "faults/codes.h"
#include "offline/evaluate.h"
#include "offline/report.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"

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

namespace {

using nlohmann::ordered_json;
using schemas::KindInfo;

// What is listed of a kind.
struct Listed {
  const KindInfo& info;
  std::vector<const KindInfo*> makes;
};

std::vector<Listed> ListedOf(const schemas::SiteKinds& site) {
  const std::vector<const KindInfo*> all = AllKinds(site);
  std::vector<Listed> listed;
  for (const KindInfo* info : all) {
    Listed& kind = listed.emplace_back(Listed{*info, {}});
    for (const KindInfo* made : all) {
      if (Makes(*info, *made)) kind.makes.push_back(made);
    }
  }
  return listed;
}

bool HasPods(const Listed& kind) { return schemas::kWorkloads.Has(kind.info.kind); }

ordered_json MadeJson(const Listed& kind) {
  ordered_json makes = ordered_json::array();
  for (const KindInfo* made : kind.makes) {
    makes.push_back({{"apiVersion", ApiVersionOf(*made)}, {"kind", made->name}});
  }
  return makes;
}

ordered_json NamesOfMade(const Listed& kind) {
  std::vector<std::string_view> names;
  for (const KindInfo* made : kind.makes) names.push_back(made->name);
  return Join(names, ", ");
}

constexpr Column<Listed> kKindColumns[] = {
    {nullptr, "apiVersion",
     [](const Listed& kind) -> ordered_json { return ApiVersionOf(kind.info); }},
    {"KIND", "kind", [](const Listed& kind) -> ordered_json { return kind.info.name; }},
    {"APIVERSION", nullptr,
     [](const Listed& kind) -> ordered_json { return ApiVersionOf(kind.info); }},
    {nullptr, "resource", [](const Listed& kind) -> ordered_json { return kind.info.plural; }},
    {nullptr, "scope",
     [](const Listed& kind) -> ordered_json {
       return kind.info.cluster_scoped ? "Cluster" : "Namespaced";
     }},
    {nullptr, "injected", [](const Listed& kind) -> ordered_json { return HasPods(kind); }},
    {"INJECTED", nullptr,
     [](const Listed& kind) -> ordered_json { return HasPods(kind) ? "yes" : "no"; }},
    {"PROFILE", "profile",
     [](const Listed& kind) -> ordered_json {
       return HasPods(kind) ? ordered_json(InfoOf(kind.info.framework).name) : ordered_json();
     }},
    {nullptr, "webhook", [](const Listed& kind) -> ordered_json { return kind.info.webhook; }},
    {nullptr, "makes", MadeJson},
    {"MAKES", nullptr, NamesOfMade},
    {nullptr, "mayDisableRescheduling",
     [](const Listed& kind) -> ordered_json { return kind.info.may_disable_rescheduling; }},
};
constexpr std::span<const Column<Listed>> kColumns(kKindColumns);

// What mindgate.yaml may switch on by name.
ordered_json ShippedJson() {
  ordered_json shipped = ordered_json::array();
  for (const schemas::ShippedKinds& each : schemas::AllShippedKinds()) {
    ordered_json kinds = ordered_json::array();
    for (const schemas::SiteKind& kind : schemas::ShippedKindsNamed(each.name)) {
      kinds.push_back({{"apiVersion", kind.group + "/" + kind.version},
                       {"kind", kind.kind},
                       {"resource", kind.plural},
                       {"profile", InfoOf(kind.framework).name},
                       {"makes", kind.makes}});
    }
    shipped.push_back({{"use", each.name}, {"project", each.project}, {"kinds", std::move(kinds)}});
  }
  return shipped;
}

ordered_json KindsJson(const std::vector<Listed>& listed) {
  ordered_json kinds = ordered_json::array();
  for (const Listed& kind : listed) kinds.push_back(MembersOf(kColumns, kind));
  return {{"kinds", std::move(kinds)}, {"shipped", ShippedJson()}};
}

void PrintKinds(const std::vector<Listed>& listed, const Paint& paint, std::ostream& out) {
  std::vector<TableCell> header;
  AddTitles(kColumns, false, header);
  Table table(std::move(header));
  for (const Listed& kind : listed) {
    std::vector<TableCell> row;
    AddCells(kColumns, false, kind, row);
    table.Add(std::move(row));
  }
  table.Print(paint, out);
}

std::vector<std::string> NamesOf(const std::vector<Listed>& listed) {
  std::vector<std::string> names;
  for (const auto& [info, makes] : listed) {
    names.push_back(std::string(info.plural) +
                    (info.group.empty() ? "" : "." + std::string(info.group)));
  }
  return names;
}

}  // namespace

int RunKinds(const KindsOptions& options, Streams& io) {
  const auto config = offline::LoadConfigFile(options.config_file, io.err);
  if (!config) return kExitUnusable;
  const std::vector<Listed> listed = ListedOf(config->kinds);
  return PrintOutput(
      options.output,
      {.document = [&] { return KindsJson(listed); },
       .names = [&] { return NamesOf(listed); },
       .text = [&](std::ostream& out,
                   bool) { PrintKinds(listed, Paint(options.color, io.out_is_terminal), out); }},
      io);
}

void AddKinds(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<KindsOptions>();
  CLI::App* command =
      parent.add_subcommand("kinds", "List the kinds that are injected and checked");
  AddFlag(*command, "--config", options->config_file,
          "Configuration file, whose kinds are listed too", "CONFIG", "FILE");
  AddOutputOption(*command, options->output, {"table", "json", "yaml", "name", "jsonpath"},
                  "KINDS_OUTPUT");
  AddColorOption(*command, options->color);
  command->footer(
      R"(PROFILE is the key under profiles of mindgate.yaml that has the injected defaults. MAKES is what the controller of
the kind makes: such objects are injected with their owner, and not again. With --config the kinds of that
mindgate.yaml follow the built-in ones. The JSON also has the kinds that mindgate.yaml switches on by name
(kinds: [{use: ray}]).
Examples:
  mindgate kinds
  mindgate kinds --config mindgate.yaml
  mindgate kinds -o jsonpath='{.kinds[*].resource}')");
  command->callback([options, &io, &exit_code] { exit_code = RunKinds(*options, io); });
}

}  // namespace mindgate::cli
