#include "cli/print.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>

#include "cli/diff.h"
#include "cli/results_json.h"
#include "json/patch.h"
#include "json/yaml.h"

namespace mindgate::cli {
namespace {

using admission::Outcome;
using json::Json;
using schemas::Mode;

// The files of which nothing may be printed.
std::set<const Source*> BadSources(const std::vector<Decision>& decisions) {
  std::set<const Source*> bad;
  for (const Decision& decision : decisions) {
    if (decision.verdict.outcome == Outcome::kError) bad.insert(decision.input.source);
  }
  return bad;
}

// "a.yaml:3:7", as far as it is known.
std::string PlaceText(const Decision& decision, json::Position at) {
  std::string text = decision.input.source->input.name;
  if (at.line > 0) text += ":" + std::to_string(at.line);
  if (at.line > 0 && at.column > 0) text += ":" + std::to_string(at.column);
  return text;
}

std::string RuleText(const policies::Finding& finding) {
  if (finding.rule == nullptr) return "mindgate";
  return std::string(finding.rule->id) + " " + std::string(finding.rule->name);
}

// What a finding does to its object.
std::string_view Consequence(const policies::Finding& finding, bool strict) {
  if (finding.mode == Mode::kAudit) return "audit";
  if (finding.mode == Mode::kWarn && !strict) return "warning";
  return finding.rule == nullptr ? "error" : "denied";
}

Color ColorOf(std::string_view word) {
  if (word == "denied" || word == "error") return Color::kRed;
  if (word == "warning") return Color::kYellow;
  return word == "admitted" ? Color::kGreen : Color::kCyan;
}

}  // namespace

void PrintYaml(const std::vector<Decision>& decisions, std::ostream& out) {
  const auto bad = BadSources(decisions);
  bool first = true;
  for (size_t i = 0; i < decisions.size();) {
    const InputObject& input = decisions[i].input;
    size_t end = i + 1;  // of the objects of this document
    while (end < decisions.size() && decisions[end].input.document == input.document &&
           decisions[end].input.source == input.source) {
      ++end;
    }
    const Json* whole = decisions[i].ObjectAfter();
    Json list;
    if (!input.path.empty() && !input.from_review && input.document != nullptr) {
      list = input.document->value;
      for (; i < end; ++i) {
        const auto& mutated = decisions[i].verdict.mutated;
        if (mutated == nullptr) continue;
        const json::Operation put{json::Operation::Kind::kReplace, decisions[i].input.path,
                                  *mutated};
        // Cannot fail: the item stands where it was read.
        if (!json::ApplyPatch(list, {&put, 1})) return;
      }
      whole = &list;
    }
    i = end;
    if (whole == nullptr || bad.contains(input.source)) continue;
    if (!first) out << "---\n";
    first = false;
    out << json::EncodeYaml(*whole);
  }
}

void PrintPatch(const std::vector<Decision>& decisions, std::ostream& out) {
  const auto bad = BadSources(decisions);
  if (decisions.size() == 1) {
    if (bad.empty()) out << Dump(json::ToJsonPatch(decisions.front().verdict.patch)) << "\n";
    return;
  }
  nlohmann::ordered_json patches = nlohmann::ordered_json::array();
  for (const Decision& decision : decisions) {
    if (bad.contains(decision.input.source)) continue;
    const auto header = HeaderJson(decision);
    nlohmann::ordered_json entry;
    for (const char* key : {"file", "document", "line", "kind", "namespace", "name"}) {
      entry[key] = header.at(key);
    }
    entry["patch"] = json::ToJsonPatch(decision.verdict.patch);
    patches.push_back(std::move(entry));
  }
  out << Dump(patches) << "\n";
}

void PrintDiff(const std::vector<Decision>& decisions, const Paint& paint, std::ostream& out) {
  const auto bad = BadSources(decisions);
  for (const Decision& decision : decisions) {
    if (decision.verdict.mutated == nullptr || bad.contains(decision.input.source)) continue;
    const std::string what = decision.input.source->input.name + " " + decision.Title();
    out << paint(Color::kBold, "--- " + what) << "\n"
        << paint(Color::kBold, "+++ " + what + " (after mindgate)") << "\n"
        << UnifiedDiff(json::EncodeYaml(*decision.input.object),
                       json::EncodeYaml(*decision.verdict.mutated), paint);
  }
}

void PrintTable(const std::vector<Decision>& decisions, const Paint& paint, std::ostream& out) {
  constexpr size_t kOutcomeWidth = 10;
  size_t title_width = std::string_view("OBJECT").size();
  for (const Decision& decision : decisions) {
    title_width = std::max(title_width, decision.Title().size());
  }
  const std::string margin = "  " + std::string(kOutcomeWidth, ' ');
  out << paint(Color::kBold, Padded("OUTCOME", kOutcomeWidth) + "  " +
                                 Padded("OBJECT", title_width) + "  CHANGES  PLACE")
      << "\n";
  const auto row = [&](std::string_view word, const std::string& rule, const std::string& place,
                       const std::string& field, const std::string& message,
                       const std::string& fix) {
    out << "  " << paint(ColorOf(word), Padded(word, kOutcomeWidth)) << rule
        << (rule.empty() ? "" : "  ") << place << "\n";
    if (!field.empty()) out << margin << field << "\n";
    out << margin << message << "\n";
    if (!fix.empty()) out << margin << "fix: " << fix << "\n";
  };
  for (const Decision& decision : decisions) {
    const std::string_view outcome = admission::OutcomeName(decision.verdict.outcome);
    const int line = HeaderJson(decision).at("line").get<int>();
    out << paint(ColorOf(outcome), Padded(outcome, kOutcomeWidth)) << "  "
        << Padded(decision.Title(), title_width) << "  "
        << Padded(std::to_string(decision.verdict.changes.size()), 7) << "  "
        << PlaceText(decision, {line, 0}) << "\n";
    if (const auto& fault = decision.input.fault) {
      row("error", "", PlaceText(decision, fault->at), fault->field, fault->message, fault->hint);
    }
    for (const policies::Finding& finding : decision.verdict.findings) {
      row(Consequence(finding, false), RuleText(finding),
          PlaceText(decision, decision.Place(finding.path)), finding.field, finding.message,
          finding.fix);
    }
  }
  const auto summary = SummaryJson(decisions);
  const int errors = summary.at("errors").get<int>();
  out << "\n"
      << summary.at("admitted").get<int>() << " admitted, " << summary.at("denied").get<int>()
      << " denied, " << errors << (errors == 1 ? " error, " : " errors, ")
      << summary.at("ignored").get<int>() << " ignored\n";
}

void PrintFaults(const std::vector<Decision>& decisions, std::ostream& err) {
  for (const Decision& decision : decisions) {
    if (!decision.input.fault) continue;
    const InputText& input = decision.input.source->input;
    err << json::Render(*decision.input.fault, input.name, input.text);
  }
}

void PrintFindings(const std::vector<Decision>& decisions, bool strict, const Paint& paint,
                   std::ostream& err) {
  for (const Decision& decision : decisions) {
    const InputText& input = decision.input.source->input;
    for (const policies::Finding& finding : decision.verdict.findings) {
      const std::string_view word = Consequence(finding, strict);
      if (word == "audit") continue;
      std::string message = paint(ColorOf(word), word) + ": " + RuleText(finding) + ": ";
      if (!finding.field.empty()) message += finding.field + ": ";
      err << json::Render(
          {decision.Place(finding.path), finding.field, message + finding.message, finding.fix},
          input.name, input.text);
    }
  }
}

}  // namespace mindgate::cli
