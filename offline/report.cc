#include "offline/report.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json/pointer.h"
#include "schemas/config.h"

namespace mindgate::offline {
namespace {

// A look-up counts at most this many bytes twice, however long the line is.
constexpr size_t kBlock = 1024;

// Whether a character of UTF-8 begins with the byte.
bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

}  // namespace

Columns::Columns(std::string_view text) : text_(text), lines_({0}) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos;) {
    lines_.push_back(++at);
  }
  if (CountCharacters(text) == text.size()) return;
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); at += kBlock) {
    before_.push_back(characters);
    characters += CountCharacters(text.substr(at, kBlock));
  }
}

json::Position Columns::InCharacters(json::Position at) const {
  if (before_.empty() || at.line < 1 || at.column < 1) return at;
  if (static_cast<size_t>(at.line) > lines_.size()) return at;
  const size_t start = lines_[static_cast<size_t>(at.line) - 1];
  const size_t offset = start + static_cast<size_t>(at.column) - 1;
  if (offset > text_.size()) return at;
  return {at.line, static_cast<int>(CharactersBefore(offset) - CharactersBefore(start)) + 1};
}

size_t Columns::CharactersBefore(size_t offset) const {
  const size_t block = std::min(offset / kBlock, before_.size() - 1);
  const size_t begin = block * kBlock;
  return before_[block] + CountCharacters(text_.substr(begin, offset - begin));
}

namespace {

// That two texts may share a hash is no matter, since Fingerprints asks for one that is not taken.
std::string HashOf(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part).append(1, '\0');
  return schemas::HashText(text);
}

class Fingerprints {
 public:
  std::string Of(const ReportedObject& object, const std::string& api_version,
                 const ReportedFinding& finding) {
    const std::string what =
        HashOf({PlainPath(object.file), api_version, object.title, finding.id, finding.field});
    for (size_t& number = next_[what];;) {
      std::string hash = HashOf({what, std::to_string(number++)});
      if (taken_.insert(hash).second) return hash;
    }
  }

 private:
  std::unordered_map<std::string, size_t> next_;  // numbers of what has all in common
  std::unordered_set<std::string> taken_;
};

// The columns of the text that was asked for last: decisions about one text follow each other.
class ColumnsOfSources {
 public:
  json::Position InCharacters(const Source* source, json::Position at) {
    if (source == nullptr || at.line < 1) return at;
    if (source != source_) {
      columns_.emplace(source->input.text);
      source_ = source;
    }
    return columns_->InCharacters(at);
  }

 private:
  const Source* source_ = nullptr;
  std::optional<Columns> columns_;
};

std::string TitleOf(const Decision& decision) {
  if (!decision.kind.empty() || !decision.name.empty()) return decision.Title();
  const Document* document = decision.input.document;
  return document == nullptr ? "the file" : "document " + std::to_string(document->number);
}

ReportedObject ObjectOf(const Decision& decision) {
  ReportedObject object;
  object.title = TitleOf(decision);
  object.name = decision.name;
  object.line = decision.Line();
  object.outcome = decision.verdict.outcome;
  object.ignored_because = decision.verdict.ignored_because;
  object.changes = decision.verdict.changes.size();
  return object;
}

std::vector<ReportedFinding> FindingsOf(const Decision& decision, bool strict) {
  std::vector<ReportedFinding> findings;
  if (const auto& fault = decision.input.fault) {
    findings.push_back({nullptr, std::string(kInvalidInput), FindingLevel::kError, fault->field,
                        fault->message, fault->hint, fault->at, ""});
  }
  if (std::string note = decision.Note(); !note.empty()) {
    findings.push_back({nullptr, std::string(kUnhandledKind), FindingLevel::kNote, "",
                        std::move(note), "", decision.PositionOf(decision.npu_pods), ""});
  }
  for (const policies::Finding& finding : decision.verdict.findings) {
    findings.push_back({finding.rule,
                        std::string(finding.rule == nullptr ? kInternalError : finding.rule->id),
                        FindingLevelOf(finding, strict), finding.field, finding.message,
                        finding.fix, decision.PositionOf(finding), ""});
  }
  return findings;
}

}  // namespace

std::string_view FindingLevelName(FindingLevel level) {
  switch (level) {
    case FindingLevel::kAudit:
      return "audit";
    case FindingLevel::kNote:
      return "note";
    case FindingLevel::kWarning:
      return "warning";
    case FindingLevel::kDenied:
      return "denied";
    case FindingLevel::kError:
      return "error";
  }
  return "error";
}

FindingLevel FindingLevelOf(const policies::Finding& finding, bool strict) {
  if (finding.mode == schemas::Mode::kAudit) return FindingLevel::kAudit;
  if (finding.mode == schemas::Mode::kWarn && (!strict || finding.existed))
    return FindingLevel::kWarning;
  return finding.rule == nullptr ? FindingLevel::kError : FindingLevel::kDenied;
}

bool ReportedObject::Has(FindingLevel level) const {
  return std::any_of(findings.begin(), findings.end(),
                     [level](const ReportedFinding& finding) { return finding.level == level; });
}

void OutcomeCounts::Add(admission::Outcome outcome) {
  switch (outcome) {
    case admission::Outcome::kAdmitted:
      ++admitted;
      break;
    case admission::Outcome::kDenied:
      ++denied;
      break;
    case admission::Outcome::kError:
      ++errors;
      break;
    case admission::Outcome::kIgnored:
      ++ignored;
      break;
  }
}

OutcomeCounts CountsOf(const std::vector<Decision>& decisions) {
  OutcomeCounts counts;
  for (const Decision& decision : decisions) counts.Add(decision.verdict.outcome);
  return counts;
}

std::string CountsText(const OutcomeCounts& counts) {
  return std::to_string(counts.admitted) + " admitted, " + std::to_string(counts.denied) +
         " denied, " + std::to_string(counts.errors) +
         (counts.errors == 1 ? " error, " : " errors, ") + std::to_string(counts.ignored) +
         " ignored";
}

struct Reporter::State {
  Fingerprints fingerprints;
  ColumnsOfSources columns;
};

Reporter::Reporter(bool strict) : strict_(strict), state_(std::make_unique<State>()) {}
Reporter::~Reporter() = default;

ReportedObject Reporter::Of(const Decision& decision) {
  return Of(decision,
            decision.input.source == nullptr ? std::string() : decision.input.source->input.name);
}

ReportedObject Reporter::Of(const Decision& decision, std::string place) {
  ReportedObject object = ObjectOf(decision);
  object.file = std::move(place);
  for (ReportedFinding& finding : FindingsOf(decision, strict_)) {
    finding.at = state_->columns.InCharacters(decision.input.source, finding.at);
    Add(std::move(finding), decision.api_version, object);
  }
  return object;
}

void Reporter::Add(ReportedFinding finding, const std::string& api_version,
                   ReportedObject& object) {
  finding.fingerprint = state_->fingerprints.Of(object, api_version, finding);
  object.findings.push_back(std::move(finding));
}

bool HasFindings(const Decision& decision) {
  return decision.input.fault || !decision.verdict.findings.empty() || !decision.npu_pods.empty();
}

Report ReportOf(const std::vector<Decision>& decisions, const Skipped& skipped,
                const ReportOptions& options) {
  Report report;
  report.counts = CountsOf(decisions);
  report.skipped = skipped;
  Reporter reporter(options.strict);
  for (const Decision& decision : decisions) {
    if (options.only_findings && !HasFindings(decision)) continue;
    report.objects.push_back(reporter.Of(decision));
  }
  return report;
}

std::string RuleTitle(const ReportedFinding& finding) {
  if (finding.rule == nullptr) return finding.id;
  return policies::TitleOf(*finding.rule);
}

std::string FieldMessage(const ReportedFinding& finding) {
  return (finding.field.empty() ? "" : finding.field + ": ") + finding.message;
}

std::string PlainPath(const std::string& file) {
  if (file.find("://") != std::string::npos) return file;  // a URL
  return std::filesystem::path(file).lexically_normal().string();
}

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
    const json::Position at = decision.PositionOf(finding);
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
