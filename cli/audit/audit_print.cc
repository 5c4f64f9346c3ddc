#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "audit/reports.h"
#include "base/text.h"
#include "cli/audit/audit.h"
#include "cli/console/output.h"
#include "cli/manifests/report_formats.h"
#include "cli/what_if/what_if.h"
#include "json/yaml.h"

namespace mindgate::cli {
namespace {

using audit::LossEffect;
using audit::Recovery;
using audit::Workload;
using offline::FindingLevel;

// What fits on a screen; `-o wide` has all.
constexpr size_t kMaxWorkloads = 20;

constexpr std::array<Recovery, 5> kRecoveries = {Recovery::kRecovers, Recovery::kDegraded,
                                                 Recovery::kHangs, Recovery::kUnattended,
                                                 Recovery::kLost};

Color ColorOf(Recovery recovery) {
  if (recovery == Recovery::kRecovers) return Color::kGreen;
  return recovery == Recovery::kDegraded ? Color::kYellow : Color::kRed;
}

TableCell EffectCell(const std::optional<LossEffect>& effect) {
  if (!effect) return "-";
  return {std::string(audit::RecoveryName(effect->recovery)), ColorOf(effect->recovery)};
}

// How many workloads each loss leaves in which state.
void PrintLosses(const audit::Audit& audit, const Paint& paint, std::ostream& out) {
  std::vector<TableCell> header = {"WHAT DIES"};
  for (const Recovery recovery : kRecoveries) {
    std::string title(audit::RecoveryName(recovery));
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    header.emplace_back(std::move(title));
  }
  Table table(std::move(header));
  for (const auto& [name, kind] :
       {std::pair("card", &audit::Losses::card), std::pair("node", &audit::Losses::node)}) {
    std::vector<TableCell> row = {name};
    for (const Recovery recovery : kRecoveries) {
      const auto count = std::count_if(audit.workloads.begin(), audit.workloads.end(),
                                       [recovery, of = kind](const Workload& workload) {
                                         const auto& effect = workload.losses.*of;
                                         return effect && effect->recovery == recovery;
                                       });
      row.emplace_back(std::to_string(count));
      if (count > 0) row.back().color = ColorOf(recovery);
    }
    table.Add(std::move(row));
  }
  table.Print(paint, out);
  out << "\n";
}

size_t CountLevels(const Workload& workload, FindingLevel least, FindingLevel most) {
  const auto& findings = workload.evaluated.findings;
  return static_cast<size_t>(std::count_if(
      findings.begin(), findings.end(),
      [&](const auto& finding) { return finding.level >= least && finding.level <= most; }));
}

void PrintWorkloads(const audit::Audit& audit, const Paint& paint, std::ostream& out) {
  std::vector<TableCell> header = {"WORKLOAD"};
  if (audit.supposed) {
    for (const char* title : {"NPUS", "CARD DIES", "NODE DIES"}) header.emplace_back(title);
  }
  for (const char* title : {"DENIED", "WARNED", "CHANGES"}) header.emplace_back(title);
  Table table(std::move(header));
  const size_t shown = std::min(audit.workloads.size(), kMaxWorkloads);
  for (size_t i = 0; i < shown; ++i) {
    const Workload& workload = audit.workloads[i];
    std::vector<TableCell> row = {workload.Title()};
    if (audit.supposed) {
      row.emplace_back(std::to_string(workload.losses.npus));
      row.push_back(EffectCell(workload.losses.card));
      row.push_back(EffectCell(workload.losses.node));
    }
    row.push_back(
        CountCell(CountLevels(workload, FindingLevel::kDenied, FindingLevel::kError), Color::kRed));
    row.push_back(CountCell(CountLevels(workload, FindingLevel::kWarning, FindingLevel::kWarning),
                            Color::kYellow));
    row.emplace_back(std::to_string(workload.evaluated.changes));
    table.Add(std::move(row));
  }
  table.Print(paint, out);
  if (audit.workloads.size() > shown) {
    out << "and " << audit.workloads.size() - shown << " more, which -o wide lists\n";
  }
  out << "\n";
}

void PrintEffect(std::string_view word, const std::optional<LossEffect>& effect,
                 std::chrono::seconds grace_over_time, const Paint& paint, std::ostream& out) {
  if (!effect) return;
  out << "  " << word << " dies: "
      << paint(ColorOf(effect->recovery), std::string(audit::RecoveryName(effect->recovery)))
      << " (" << effect->loss << ")\n";
  for (const auto& [title, text] : InstanceRows(effect->instance, grace_over_time)) {
    out << "    " << Padded(title, 8) << text << "\n";
  }
}

void PrintWhole(const Workload& workload, std::chrono::seconds grace_over_time, const Paint& paint,
                std::ostream& out) {
  out << paint(Color::kBold, workload.Title()) << ": " << workload.framework;
  if (workload.losses.pods > 0) {
    out << ", " << workload.losses.npus << " NPUs of "
        << Counted(static_cast<int64_t>(workload.losses.pods), "pod");
  }
  out << "\n";
  if (workload.losses.waiting > 0) {
    out << "  " << Counted(static_cast<int64_t>(workload.losses.waiting), "pod")
        << (workload.losses.waiting == 1 ? " waits" : " wait") << " for a node\n";
  }
  PrintEffect("card", workload.losses.card, grace_over_time, paint, out);
  PrintEffect("node", workload.losses.node, grace_over_time, paint, out);
  if (workload.evaluated.changes > 0) {
    out << "  admission would change "
        << Counted(static_cast<int64_t>(workload.evaluated.changes), "field") << "\n";
  }
  for (const offline::ReportedFinding& finding : workload.evaluated.findings) {
    const Color color = finding.level >= FindingLevel::kDenied    ? Color::kRed
                        : finding.level == FindingLevel::kWarning ? Color::kYellow
                                                                  : Color::kCyan;
    out << "  " << paint(color, std::string(offline::FindingLevelName(finding.level))) << " "
        << RuleTitle(finding) << ": " << FieldMessage(finding) << "\n";
    if (!finding.fix.empty()) out << "    fix: " << finding.fix << "\n";
  }
  out << "\n";
}

std::vector<std::string> Names(const audit::Audit& audit,
                               const std::string& (*name)(const Workload& workload)) {
  std::vector<std::string> names;
  for (const Workload& workload : audit.workloads) {
    const std::string& text = name(workload);
    names.push_back(text.empty() ? "-" : text);
  }
  return names;
}

}  // namespace

void PrintAudit(const audit::Audit& audit, bool wide, const Paint& paint, std::ostream& out) {
  // Losses have a table of their own.
  offline::Report report;
  for (const Workload& workload : audit.workloads) report.objects.push_back(workload.evaluated);
  if (const auto by_rule = CountsByRule(report); !by_rule.empty()) {
    PrintCounts("RULE", by_rule, paint, out);
    out << "\n";
  }
  if (!audit.workloads.empty()) {
    PrintCounts("NAMESPACE",
                CountsBy(report, Names(audit, [](const Workload& one) -> auto& { return one.ns; })),
                paint, out);
    out << "\n";
    PrintCounts(
        "FRAMEWORK",
        CountsBy(report, Names(audit, [](const Workload& one) -> auto& { return one.framework; })),
        paint, out);
    out << "\n";
  }
  if (audit.supposed) PrintLosses(audit, paint, out);
  if (wide) {
    for (const Workload& workload : audit.workloads)
      PrintWhole(workload, audit.grace_over_time, paint, out);
  } else if (!audit.workloads.empty()) {
    PrintWorkloads(audit, paint, out);
  }
  out << Counted(static_cast<int64_t>(audit.workloads.size()), "workload")
      << " with NPUs or findings; admission today: " << audit.counts.admitted << " admitted, "
      << audit.counts.denied << " denied, " << audit.counts.errors
      << (audit.counts.errors == 1 ? " error" : " errors");
  if (audit.ended > 0) out << "; " << audit.ended << " ended and left out";
  out << "\n";
}

namespace {

constexpr const char* kReportName = "mindgate-audit";

}  // namespace

void PrintPolicyReports(const audit::Audit& audit, std::ostream& out) {
  const offline::Report report = ReportOf(audit);
  std::map<std::string, std::vector<json::Json>> by_namespace;
  for (size_t i = 0; i < audit.workloads.size(); ++i) {
    auto& results = by_namespace[audit.workloads[i].ns];
    for (const offline::ReportedFinding& finding : report.objects[i].findings) {
      results.push_back(audit::ReportResult(audit.workloads[i], finding, audit.taken));
    }
  }
  for (const auto& [ns, results] : by_namespace) {
    for (size_t from = 0, number = 1; from == 0 || from < results.size();
         from += kMaxResults, ++number) {
      const size_t to = std::min(results.size(), from + kMaxResults);
      const std::string name =
          number == 1 ? kReportName : std::string(kReportName) + "-" + std::to_string(number);
      json::Json part = json::Json::array();
      for (size_t i = from; i < to; ++i) part.push_back(results[i]);
      out << "---\n"
          << json::EncodeYaml(audit::ReportObject(audit::ReportFormat::kPolicyReports, ns, name,
                                                  std::move(part)));
    }
  }
}

}  // namespace mindgate::cli
