#include "offline/results_json.h"

#include <nlohmann/json.hpp>

#include "json/patch.h"
#include "offline/report.h"

namespace mindgate::offline {

namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

std::string Dump(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson HeaderJson(const Decision& decision) {
  const Document* document = decision.input.document;
  return {{"file", decision.input.source->input.name},
          {"document", document == nullptr ? 0 : document->number},
          {"line", decision.Line()},
          {"apiVersion", decision.api_version},
          {"kind", decision.kind},
          {"namespace", decision.ns},
          {"name", decision.name},
          {"operation", schemas::OperationName(decision.operation)},
          {"outcome", admission::OutcomeName(decision.verdict.outcome)}};
}

namespace {

// Where a character that only looks right is the cause.
void AddHint(const Decision& decision, const json::Issue& issue, OrderedJson& finding) {
  if (decision.input.source == nullptr) return;
  const std::string hint = json::LookalikeHint(issue, decision.input.source->input.text);
  if (!hint.empty()) finding["hint"] = hint;
}

}  // namespace

OrderedJson FindingsJson(const Decision& decision) {
  OrderedJson findings = OrderedJson::array();
  if (const auto& fault = decision.input.fault) {
    findings.push_back({{"rule", ""},
                        {"name", ""},
                        {"outcome", "error"},
                        {"mode", "enforce"},
                        {"field", fault->field},
                        {"message", fault->message},
                        {"fix", fault->hint},
                        {"line", fault->at.line},
                        {"column", fault->at.column}});
    AddHint(decision, *fault, findings.back());
  }
  for (const policies::Finding& finding : decision.verdict.findings) {
    const json::Position at = decision.Place(finding);
    findings.push_back({{"rule", finding.rule == nullptr ? "" : finding.rule->id},
                        {"name", finding.rule == nullptr ? "" : finding.rule->name},
                        {"outcome", finding.error ? "error" : "violation"},
                        {"mode", schemas::ModeName(finding.mode)},
                        {"field", finding.field},
                        {"message", finding.message},
                        {"fix", finding.fix},
                        {"line", at.line},
                        {"column", at.column}});
    AddHint(decision, {at, finding.field, "", ""}, findings.back());
  }
  return findings;
}

OrderedJson ChangesJson(const Decision& decision) {
  OrderedJson changes = OrderedJson::array();
  for (const mutators::Change& change : decision.verdict.changes) {
    changes.push_back(
        {{"mutator", change.mutator}, {"path", change.path}, {"reason", change.reason}});
  }
  return changes;
}

OrderedJson ResultsJson(const std::vector<Decision>& decisions, const Skipped& skipped,
                        bool only_findings) {
  OrderedJson results = OrderedJson::array();
  for (const Decision& decision : decisions) {
    if (only_findings && !HasFindings(decision)) continue;
    OrderedJson result = HeaderJson(decision);
    const json::Value* after = decision.ObjectAfter();
    result["patch"] = OrderedJson(json::ToJsonPatch(decision.verdict.patch));
    result["object"] = after == nullptr ? OrderedJson() : OrderedJson(json::TreeOf(*after));
    result["changes"] = ChangesJson(decision);
    result["findings"] = FindingsJson(decision);
    result["warnings"] = decision.verdict.warnings;
    if (const std::string note = decision.Note(); !note.empty()) result["note"] = note;
    results.push_back(std::move(result));
  }
  return {{"results", std::move(results)}, {"summary", SummaryJson(decisions, skipped)}};
}

OrderedJson SummaryJson(const std::vector<Decision>& decisions, const Skipped& skipped) {
  const OutcomeCounts counts = CountsOf(decisions);
  return {{"admitted", counts.admitted},
          {"denied", counts.denied},
          {"errors", counts.errors},
          {"ignored", counts.ignored},
          {"skipped", skipped.documents + skipped.templates}};
}

}  // namespace mindgate::offline
