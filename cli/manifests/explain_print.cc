#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "base/text.h"
#include "cli/console/terminal.h"
#include "cli/manifests/explain.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "offline/results_json.h"
#include "policies/engine.h"

namespace mindgate::cli {
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
           << json::PlaceText(decision.input.source->input.name, decision.Place(finding));
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
