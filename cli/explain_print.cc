#include "cli/explain_print.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "base/text.h"
#include "cli/results_json.h"
#include "cli/rule_text.h"
#include "policies/engine.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using policies::Finding;
using policies::RuleTrace;

constexpr size_t kWidth = 100;
constexpr std::string_view kMargin = "            ";  // under what stands after the result

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

std::string PlaceOf(const Decision& decision, const Finding& finding) {
  const json::Position at = decision.Place(finding.path);
  std::string place = decision.input.source->input.name;
  if (at.line > 0) place += ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  return place;
}

// Of changes and of what was withheld.
template <typename Entries>
void PrintEdits(std::string_view title, const Entries& entries, const Paint& paint,
                std::ostream& out) {
  if (entries.empty()) return;
  size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.mutator.size());
  out << "  " << paint(Color::kBold, title) << "\n";
  for (const auto& entry : entries) {
    out << "    " << Padded(entry.mutator, width) << "  " << (entry.path.empty() ? "/" : entry.path)
        << "\n"
        << Wrapped(entry.reason, kWidth, std::string(width + 6, ' '));
  }
}

void PrintRule(const Decision& decision, const RuleTrace& trace, const Paint& paint,
               std::ostream& out) {
  out << "    " << paint(ColorOf(trace.result), Padded(ResultName(trace.result), 8)) << "  "
      << trace.rule->id << " " << trace.rule->name;
  if (trace.result == RuleTrace::Result::kViolated || trace.result == RuleTrace::Result::kError) {
    out << " (" << schemas::ModeName(trace.mode) << ")";
  }
  out << "\n";
  if (!trace.reason.empty()) out << Wrapped(trace.reason, kWidth, "  " + std::string(kMargin));
  for (const Finding& finding : decision.verdict.findings) {
    if (finding.rule != trace.rule) continue;
    out << "  " << kMargin << PlaceOf(decision, finding);
    if (!finding.field.empty()) out << "  " << finding.field;
    out << "\n" << Wrapped(finding.message, kWidth, "  " + std::string(kMargin));
    if (!finding.fix.empty()) {
      out << Wrapped("fix: " + finding.fix, kWidth, "  " + std::string(kMargin));
    }
  }
}

void PrintRules(const Decision& decision, const Paint& paint, std::ostream& out) {
  std::map<std::string, std::string> not_applicable;  // rules by reason
  out << "  " << paint(Color::kBold, "Rules") << "\n";
  for (const RuleTrace& trace : decision.verdict.traces) {
    if (trace.result == RuleTrace::Result::kNotApplicable) {
      std::string& rules = not_applicable[trace.reason];
      rules += (rules.empty() ? "" : ", ") + std::string(trace.rule->id);
    } else {
      PrintRule(decision, trace, paint, out);
    }
  }
  for (const auto& [reason, rules] : not_applicable) {
    out << "    " << reason << ":\n" << Wrapped(rules, kWidth, "      ");
  }
}

}  // namespace

void PrintExplanation(const std::vector<Decision>& decisions, const Paint& paint,
                      std::ostream& out) {
  bool first = true;
  for (const Decision& decision : decisions) {
    if (decision.input.fault) continue;
    if (!first) out << "\n";
    first = false;
    const auto header = HeaderJson(decision);
    out << paint(Color::kBold, decision.Title()) << " (" << header.at("file").get<std::string>()
        << ":" << header.at("line").get<int>() << ", " << schemas::OperationName(decision.operation)
        << "): " << admission::OutcomeName(decision.verdict.outcome);
    if (!decision.verdict.ignored_because.empty()) out << ", " << decision.verdict.ignored_because;
    out << "\n";
    PrintEdits("Changed", decision.verdict.changes, paint, out);
    PrintEdits("Left alone", decision.verdict.withheld, paint, out);
    if (!decision.verdict.traces.empty()) PrintRules(decision, paint, out);
    for (const Finding& finding : decision.verdict.findings) {
      if (finding.rule == nullptr) out << "  " << paint(Color::kRed, finding.message) << "\n";
    }
  }
}

OrderedJson ExplanationJson(const std::vector<Decision>& decisions) {
  OrderedJson results = OrderedJson::array();
  for (const Decision& decision : decisions) {
    OrderedJson result = HeaderJson(decision);
    result["reason"] = decision.verdict.ignored_because;
    result["changes"] = ChangesJson(decision);
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
  return {{"results", std::move(results)}, {"summary", SummaryJson(decisions)}};
}

}  // namespace mindgate::cli
