#include "cli/manifests/explain_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/console/terminal.h"
#include "cli/manifests/manifests.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "offline/report.h"
#include "policies/engine.h"

namespace mindgate::cli {
namespace {

using policies::Rule;

constexpr size_t kWidth = 100;

std::string Sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && !out.ends_with('.')) out += '.';
  return out;
}

// Kubernetes and Volcano have kinds with the same name.
std::string KindFullName(schemas::Kind kind) {
  const schemas::KindInfo& info = schemas::InfoOf(kind);
  const bool ambiguous = info.name == "Job" || info.name == "CronJob";
  return std::string(info.name) + (ambiguous ? " (" + std::string(info.group) + ")" : "");
}

// As Markdown shows it: outside of code, what begins with < is HTML, which GitHub hides.
std::string Markdown(std::string_view text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if (c == '<' && !code) out += '\\';
    out += c;
  }
  return out;
}

// A '|' would end a table's cell.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : Markdown(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

// A paragraph that begins with a title.
std::string Paragraph(std::string_view title, std::string_view text) {
  return "\n" + Wrapped("**" + std::string(title) + ":** " + Markdown(Sentence(text)), kWidth);
}

}  // namespace

std::string KindsOf(const Rule& rule) {
  std::vector<std::string> kinds;
  std::vector<std::string> missing;  // of the workloads
  for (int i = 0; i < schemas::kKindCount; ++i) {
    const auto kind = static_cast<schemas::Kind>(i);
    if (rule.kinds.Has(kind)) kinds.push_back(KindFullName(kind));
    if (!rule.kinds.Has(kind) && schemas::kWorkloads.Has(kind))
      missing.push_back(KindFullName(kind));
  }
  if (missing.size() >= kinds.size()) return Join(kinds, ", ");
  std::string out = "all workloads";
  if (!missing.empty()) out += " except " + Join(missing, ", ");
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (!schemas::kWorkloads.Has(info.kind) && rule.kinds.Has(info.kind)) {
      out += "; " + std::string(info.name);
    }
  }
  return out;
}

namespace {

// A title, then text below it.
std::string Section(std::string_view title, std::string_view text, size_t width) {
  return std::string(title) + "\n" + Wrapped(text, width, "  ");
}

}  // namespace

std::string RuleDocument(const Rule& rule, const schemas::Config& config, size_t width) {
  const schemas::Mode mode = policies::ModeFor(rule, config, "");
  std::string modes(schemas::ModeName(mode));
  if (mode != rule.default_mode) {
    modes += " (by default " + std::string(schemas::ModeName(rule.default_mode)) + ")";
  }
  return policies::TitleOf(rule) + "\n\n" + Wrapped(Sentence(rule.summary), width, "  ") + "\n" +
         Section("Why", Sentence(rule.why), width) +
         Section("What to write", Sentence(rule.fix), width) +
         Section("Kinds", KindsOf(rule), width) + Section("Mode", modes, width) +
         Section("Severity", policies::SeverityName(rule.severity), width) +
         Section("Source", Sentence(rule.source), width) +
         Section("Configuration", "rules: {" + std::string(rule.id) + ": enforce|warn|audit|off}",
                 width);
}

std::string MutatorDocument(const mutators::Mutator& mutator, const schemas::Config& config,
                            size_t width) {
  constexpr std::string_view kNever =
      "Mutators never overwrite a value that is set. They do not change objects that are being "
      "deleted, objects labelled mindgate.io/inject: disabled (or in such a namespace), or pod "
      "templates that an update does not touch.";
  std::string state = config.disabled_mutators.contains(mutator.name) ? "off" : "on";
  if (state == "off") state += " (by default on)";
  return std::string(mutator.name) + " (mutator)\n\n" +
         Wrapped(Sentence(mutator.summary), width, "  ") + "\n" +
         Section("What it writes", mutator.writes, width) + Section("Where", mutator.where, width) +
         Section("When it writes nothing", mutator.withheld, width) + Wrapped(kNever, width, "  ") +
         Section("State", state, width) +
         Section("Configuration", "mutators: {" + std::string(mutator.name) + ": on|off}", width);
}

std::string KeyDocument(const schemas::KeyFact& fact, size_t width) {
  return std::string(fact.key) + " (" + std::string(schemas::KeyWhereName(fact.where)) + ")\n\n" +
         Wrapped(Sentence(fact.effect), width, "  ") +
         Section("Where it is read", fact.place, width) + Section("Values", fact.values, width) +
         Section("Who reads it", fact.reader, width);
}

std::string KeyPage() {
  std::string out =
      "# Labels and annotations\n\nWhat MindCluster 26.1 reads of what users write. "
      "`mindgate explain KEY` shows the same in a terminal, and rule\n[MG067](rules.md" +
      RuleAnchor(*policies::FindRule("MG067")) +
      ") reports keys that nearly are one of these. `scripts/upstream-facts` compares the\nlist "
      "with a checkout of mind-cluster.\n\n| key | is | where it is read | values | effect | read "
      "by |\n|---|---|---|---|---|---|\n";
  for (const schemas::KeyFact& fact : schemas::KeyFacts()) {
    out += "| `" + std::string(fact.key) + "` | " + std::string(schemas::KeyWhereName(fact.where)) +
           " | " + std::string(fact.place) + " | " + std::string(fact.values) + " | " +
           std::string(fact.effect) + " | " + std::string(fact.reader) + " |\n";
  }
  return out;
}

// GitHub makes the anchor of the heading: in lower case, a hyphen for a space, and only letters,
// digits and hyphens, of which ids and names consist.
std::string RuleAnchor(const Rule& rule) {
  return "#" + ToLower(rule.id) + "-" + std::string(rule.name);
}

namespace {

std::string RuleSection(const Rule& rule) {
  std::string out = "\n## " + std::string(rule.id) + " " + std::string(rule.name) + "\n\n";
  out += Wrapped(Markdown(Sentence(rule.summary)), kWidth);
  out += "\n| Default mode | Severity | Kinds |\n|---|---|---|\n| " +
         std::string(schemas::ModeName(rule.default_mode)) + " | " +
         std::string(policies::SeverityName(rule.severity)) + " | " + KindsOf(rule) + " |\n";
  return out + Paragraph("Why", rule.why) + Paragraph("What to write", rule.fix) +
         Paragraph("Source", rule.source);
}

}  // namespace

std::string RulePage() {
  std::string out =
      "# Rules\n\nAll rules of mindgate. `scripts/rule-pages` generates this page from the rules "
      "themselves, and\n`mindgate explain RULE` shows the same text in a terminal. mindgate.yaml "
      "sets the mode of a rule, by\nits name or its id:\n\n```yaml\nrules:\n  wrong-type: warn  # "
      "or enforce, audit, off\n```\n\n| Rule | Name | Default mode | What must hold "
      "|\n|---|---|---|---|\n";
  for (const Rule* rule : policies::Catalogue()) {
    out += "| [" + std::string(rule->id) + "](" + RuleAnchor(*rule) + ") | " +
           std::string(rule->name) + " | " + std::string(schemas::ModeName(rule->default_mode)) +
           " | " + Cell(Sentence(rule->summary)) + " |\n";
  }
  for (const Rule* rule : policies::Catalogue()) out += RuleSection(*rule);
  return out;
}

std::string MutatorPage() {
  std::string out =
      "# What mindgate writes\n\nEvery field that admission writes into objects. "
      "`scripts/rule-pages` generates this page, `mindgate explain MUTATOR` shows the\nsame in a "
      "terminal, and `mindgate apply -f FILE -o diff` shows it for objects of your own.\n\nA "
      "mutator writes only what is missing, never overwrites a value, and writes nothing into its "
      "own output.\nNothing is written into objects that are being deleted, into those labelled "
      "`mindgate.io/inject: disabled` or in such\na namespace, into what a controller makes of an "
      "object that was injected itself, and into pod templates that an\nupdate does not touch.\n\n"
      "To take it back, switch the mutator off in mindgate.yaml (`mutators: {NAME: off}`) or label "
      "the object, then remove\nthe field from the stored object: what was written stays until "
      "then, and keeps working without mindgate. Pod\ntemplates of Jobs of Kubernetes and Volcano, "
      "and Pods, cannot change: create those again.\n\n| Mutator | What it does |\n|---|---|\n";
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    const std::string name(mutator.name);
    out += "| [" + name + "](#" + name + ") | " + Cell(Sentence(mutator.summary)) + " |\n";
  }
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    out += "\n## " + std::string(mutator.name) + "\n" + Paragraph("Writes", mutator.writes) +
           Paragraph("Where", mutator.where) +
           Paragraph("When it writes nothing", mutator.withheld);
  }
  return out;
}

namespace {

using OrderedJson = nlohmann::ordered_json;
using policies::Finding;
using policies::RuleTrace;

std::string_view ResultName(RuleTrace::Result result) {
  switch (result) {
    case RuleTrace::Result::kNotApplicable:
      return "not applicable";
    case RuleTrace::Result::kOff:
      return "off";
    case RuleTrace::Result::kExcepted:
      return "excepted";
    case RuleTrace::Result::kSkipped:
      return "skipped";
    case RuleTrace::Result::kPassed:
      return "passed";
    case RuleTrace::Result::kViolated:
      return "violated";
    case RuleTrace::Result::kError:
      return "error";
  }
  return "error";
}

Color ColorOf(RuleTrace::Result result) {
  switch (result) {
    case RuleTrace::Result::kViolated:
    case RuleTrace::Result::kError:
      return Color::kRed;
    case RuleTrace::Result::kExcepted:
    case RuleTrace::Result::kSkipped:
      return Color::kYellow;
    case RuleTrace::Result::kPassed:
      return Color::kGreen;
    case RuleTrace::Result::kNotApplicable:
    case RuleTrace::Result::kOff:
      return Color::kCyan;
  }
  return Color::kCyan;
}

class ExplanationPrinter {
 public:
  ExplanationPrinter(bool all, const Paint& paint, size_t width, std::ostream& out)
      : all_(all), paint_(paint), width_(width), out_(out) {}

  void Print(const offline::Decision& decision) {
    const auto header = offline::HeaderJson(decision);
    out_ << paint_(Color::kBold, decision.Title()) << " (" << header.at("file").get<std::string>()
         << ":" << header.at("line").get<int>() << ", "
         << schemas::OperationName(decision.operation)
         << "): " << admission::OutcomeName(decision.verdict.outcome);
    if (!decision.verdict.ignored_because.empty()) {
      out_ << ", " << decision.verdict.ignored_because;
    }
    out_ << "\n";
    if (const std::string note = decision.Note(); !note.empty())
      out_ << Wrapped(note, width_, "  ");
    PrintChildren(decision.verdict.children);
    PrintEdits("Changed", decision.verdict.changes, decision);
    PrintEdits("Not changed", decision.verdict.withheld, decision);
    if (!decision.verdict.traces.empty()) PrintRules(decision);
    for (const Finding& finding : decision.verdict.findings) {
      if (finding.rule == nullptr) out_ << "  " << paint_(Color::kRed, finding.message) << "\n";
    }
  }

 private:
  // Indented below the PodGroup that they are in are Pods.
  void PrintChildren(const std::vector<schemas::ChildRow>& children) {
    if (children.empty()) return;
    size_t count = 0;
    size_t name = 0;
    for (const schemas::ChildRow& each : children) {
      count = std::max(count, each.count.size());
      name = std::max(name, each.kind.size() + each.name.size() + 1);
    }
    out_ << "  " << paint_(Color::kBold, "What its controllers will make") << "\n";
    for (const schemas::ChildRow& each : children) {
      std::string facts = each.facts;
      if (!each.maker.empty()) facts += (facts.empty() ? "by " : ", by ") + each.maker;
      out_ << "    " << std::string(count - each.count.size(), ' ') << each.count << " "
           << Padded(each.kind + " " + each.name, name) << "  " << facts << "\n";
    }
  }

  // For changes and for withheld edits.
  template <typename Entries>
  void PrintEdits(std::string_view title, const Entries& entries,
                  const offline::Decision& decision) {
    if (entries.empty()) return;
    size_t column = 0;
    for (const auto& entry : entries) column = std::max(column, entry.mutator.size());
    out_ << "  " << paint_(Color::kBold, title) << "\n";
    for (const auto& entry : entries) {
      // For an element appended to a list, show the list.
      std::string_view path = entry.path;
      if (path.ends_with("/-")) path.remove_suffix(2);
      const std::string field =
          path.empty() ? "the whole object" : json::FieldPath(*decision.ObjectAfter(), path);
      out_ << "    " << Padded(entry.mutator, column) << "  " << field << "\n"
           << Wrapped(entry.reason, width_, std::string(column + 6, ' '));
    }
  }

  void PrintRule(const offline::Decision& decision, const RuleTrace& trace) {
    constexpr std::string_view kMargin =
        "              ";  // aligned with the text after the result
    out_ << "    " << paint_(ColorOf(trace.result), Padded(ResultName(trace.result), 8)) << "  "
         << policies::TitleOf(*trace.rule);
    if (trace.result == RuleTrace::Result::kViolated || trace.result == RuleTrace::Result::kError) {
      out_ << " (" << schemas::ModeName(trace.mode) << ")";
    }
    out_ << "\n";
    if (!trace.reason.empty()) out_ << Wrapped(trace.reason, width_, kMargin);
    for (const Finding& finding : decision.verdict.findings) {
      if (finding.rule != trace.rule) continue;
      out_ << kMargin
           << json::PositionText(decision.input.source->input.name, decision.PositionOf(finding));
      if (!finding.field.empty()) out_ << "  " << finding.field;
      out_ << "\n" << Wrapped(finding.message, width_, kMargin);
      if (!finding.fix.empty()) out_ << Wrapped("fix: " + finding.fix, width_, kMargin);
    }
  }

  void PrintRules(const offline::Decision& decision) {
    std::map<std::string, std::string> not_applicable;  // rules by reason
    std::map<RuleTrace::Result, int> counts;
    out_ << "  " << paint_(Color::kBold, "Rules") << "\n";
    for (const RuleTrace& trace : decision.verdict.traces) {
      const bool matters = trace.result != RuleTrace::Result::kNotApplicable &&
                           trace.result != RuleTrace::Result::kPassed &&
                           trace.result != RuleTrace::Result::kOff;
      if (!matters) ++counts[trace.result];
      if (trace.result == RuleTrace::Result::kNotApplicable) {
        std::string& rules = not_applicable[trace.reason];
        rules += (rules.empty() ? "" : ", ") + std::string(trace.rule->id);
      } else if (matters || all_) {
        PrintRule(decision, trace);
      }
    }
    if (!all_) {
      out_ << "    " << counts[RuleTrace::Result::kPassed] << " passed, "
           << counts[RuleTrace::Result::kNotApplicable] << " do not apply, "
           << counts[RuleTrace::Result::kOff] << " off (--all lists them)\n";
      return;
    }
    for (const auto& [reason, rules] : not_applicable) {
      out_ << "    " << reason << ":\n" << Wrapped(rules, width_, "      ");
    }
  }

  const bool all_;
  const Paint& paint_;
  const size_t width_;
  std::ostream& out_;
};

}  // namespace

void PrintExplanation(const std::vector<offline::Decision>& decisions, bool all, const Paint& paint,
                      size_t width, std::ostream& out) {
  ExplanationPrinter printer(all, paint, width, out);
  bool first = true;
  for (const offline::Decision& decision : decisions) {
    if (decision.input.fault) continue;
    if (!first) out << "\n";
    first = false;
    printer.Print(decision);
  }
}

OrderedJson ExplanationJson(const std::vector<offline::Decision>& decisions,
                            const offline::Skipped& skipped) {
  OrderedJson results = OrderedJson::array();
  for (const offline::Decision& decision : decisions) {
    OrderedJson result = offline::HeaderJson(decision);
    result["reason"] = decision.verdict.ignored_because;
    result["changes"] = ChangesJson(decision);
    OrderedJson children = OrderedJson::array();
    for (const schemas::ChildRow& each : decision.verdict.children) {
      children.push_back({{"count", each.count},
                          {"kind", each.kind},
                          {"name", each.name},
                          {"facts", each.facts},
                          {"maker", each.maker}});
    }
    result["children"] = std::move(children);
    OrderedJson withheld = OrderedJson::array();
    for (const mutators::Withheld& entry : decision.verdict.withheld) {
      withheld.push_back(
          {{"mutator", entry.mutator}, {"path", entry.path}, {"reason", entry.reason}});
    }
    result["withheld"] = std::move(withheld);
    OrderedJson rules = OrderedJson::array();
    for (const RuleTrace& trace : decision.verdict.traces) {
      rules.push_back({{"rule", trace.rule->id},
                       {"name", trace.rule->name},
                       {"result", ResultName(trace.result)},
                       {"mode", schemas::ModeName(trace.mode)},
                       {"reason", trace.reason}});
    }
    result["rules"] = std::move(rules);
    result["findings"] = FindingsJson(decision);
    results.push_back(std::move(result));
  }
  return {{"results", std::move(results)}, {"summary", SummaryJson(decisions, skipped)}};
}

}  // namespace mindgate::cli
