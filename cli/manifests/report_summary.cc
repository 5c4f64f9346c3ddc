#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cli/console/output.h"
#include "cli/manifests/report_formats.h"

namespace mindgate::cli {
namespace {

using offline::FindingLevel;
using offline::ReportedFinding;
using offline::ReportedObject;

void CountFinding(FindingLevel level, FindingCounts& counts) {
  switch (level) {
    case FindingLevel::kError:
      ++counts.errors;
      break;
    case FindingLevel::kDenied:
      ++counts.denied;
      break;
    case FindingLevel::kWarning:
      ++counts.warned;
      break;
    case FindingLevel::kAudit:
    case FindingLevel::kNote:
      ++counts.recorded;
      break;
  }
}

std::vector<FindingCounts> WorstFirst(std::map<std::string, FindingCounts> by_name) {
  std::vector<FindingCounts> sorted;
  for (auto& [name, counts] : by_name) {
    counts.name = name;
    sorted.push_back(std::move(counts));
  }
  const auto badness = [](const FindingCounts& counts) {
    return std::tie(counts.errors, counts.denied, counts.warned, counts.recorded);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&badness](const FindingCounts& left, const FindingCounts& right) {
              if (badness(left) != badness(right)) return badness(left) > badness(right);
              return NaturalLess(left.name, right.name);
            });
  return sorted;
}

}  // namespace

TableCell CountCell(size_t count, Color color) {
  return count == 0 ? TableCell("0") : TableCell(std::to_string(count), color);
}

void PrintCounts(const std::string& title, const std::vector<FindingCounts>& all,
                 const Paint& paint, std::ostream& out) {
  Table table({title, "OBJECTS", "ERRORS", "DENIED", "WARNED", "RECORDED"});
  for (const FindingCounts& counts : all) {
    table.Add({counts.name, std::to_string(counts.objects), CountCell(counts.errors, Color::kRed),
               CountCell(counts.denied, Color::kRed), CountCell(counts.warned, Color::kYellow),
               CountCell(counts.recorded, Color::kCyan)});
  }
  table.Print(paint, out);
}

std::vector<FindingCounts> CountsByRule(const offline::Report& report) {
  std::map<std::string, FindingCounts> by_rule;
  for (const ReportedObject& object : report.objects) {
    std::set<std::string_view> seen;
    for (const ReportedFinding& finding : object.findings) {
      FindingCounts& counts = by_rule[RuleTitle(finding)];
      CountFinding(finding.level, counts);
      if (seen.insert(finding.id).second) ++counts.objects;
    }
  }
  return WorstFirst(std::move(by_rule));
}

std::vector<FindingCounts> CountsByFile(const offline::Report& report) {
  std::vector<std::string> files;
  for (const ReportedObject& object : report.objects) files.push_back(object.file);
  return CountsBy(report, files);
}

std::vector<FindingCounts> CountsBy(const offline::Report& report,
                                    const std::vector<std::string>& names) {
  std::map<std::string, FindingCounts> by_name;
  for (size_t i = 0; i < report.objects.size(); ++i) {
    FindingCounts& counts = by_name[names[i]];
    ++counts.objects;
    for (const ReportedFinding& finding : report.objects[i].findings) {
      CountFinding(finding.level, counts);
    }
  }
  return WorstFirst(std::move(by_name));
}

void PrintSummary(const offline::Report& report, bool only_findings, const Paint& paint,
                  std::ostream& out) {
  if (const auto by_rule = CountsByRule(report); !by_rule.empty()) {
    PrintCounts("RULE", by_rule, paint, out);
    out << "\n";
  }
  auto by_file = CountsByFile(report);
  if (only_findings) {
    std::erase_if(by_file, [](const FindingCounts& counts) {
      return counts.errors + counts.denied + counts.warned + counts.recorded == 0;
    });
  }
  if (!by_file.empty()) {
    PrintCounts("FILE", by_file, paint, out);
    out << "\n";
  }
  out << CountsText(report.counts) << "\n";
}

}  // namespace mindgate::cli
