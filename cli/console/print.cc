#include "cli/console/print.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/console/terminal.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using json::Json;

// Files with faults; none of their objects is printed.
std::set<const offline::Source*> BadSources(const std::vector<offline::Decision>& decisions) {
  std::set<const offline::Source*> bad;
  for (const offline::Decision& decision : decisions) {
    if (decision.verdict.outcome == admission::Outcome::kError) bad.insert(decision.input.source);
  }
  return bad;
}

// "a.yaml:3:7", as far as known.
std::string PositionText(const offline::Decision& decision, json::Position at) {
  return json::PositionText(decision.input.source->input.name, at);
}

std::string RuleText(const policies::Finding& finding) {
  if (finding.rule == nullptr) return "mindgate";
  return policies::TitleOf(*finding.rule);
}

Color ColorOf(std::string_view word) {
  if (word == "denied" || word == "error") return Color::kRed;
  if (word == "warning") return Color::kYellow;
  return word == "admitted" ? Color::kGreen : Color::kCyan;
}

// Objects of one document, by path.
using Kept = std::map<std::string, const json::Value*, std::less<>>;

// The value at `path` without dropped objects: a kept object, or a List of its kept items.
// Recursion is bounded by the depth of a decoded document.
std::optional<Json> Remaining(const Json& value, const std::string& path, const Kept& kept) {
  if (const auto object = kept.find(path); object != kept.end()) {
    return json::TreeOf(*object->second);
  }
  const Json* items = json::Find(value, "items");
  if (!json::IsArray(items)) return std::nullopt;
  const std::string below = json::Child(path, "items");
  Json left = Json::array();
  for (size_t i = 0; i < items->size(); ++i) {
    if (auto item = Remaining((*items)[i], json::Child(below, i), kept)) {
      left.push_back(*std::move(item));
    }
  }
  if (left.empty()) return std::nullopt;
  Json list = value;
  list["items"] = std::move(left);
  return list;
}

bool IsPrinted(const offline::Decision& decision, bool print_denied) {
  return decision.verdict.outcome != admission::Outcome::kDenied || print_denied;
}

}  // namespace

void PrintYaml(const std::vector<offline::Decision>& decisions, bool print_denied,
               std::ostream& out) {
  const auto bad = BadSources(decisions);
  bool first = true;
  const auto print = [&](const Json& object) {
    if (!first) out << "---\n";
    first = false;
    out << json::EncodeYaml(object);
  };
  for (size_t i = 0; i < decisions.size();) {
    const offline::InputObject& input = decisions[i].input;
    Kept kept;
    for (; i < decisions.size() && decisions[i].input.document == input.document &&
           decisions[i].input.source == input.source;
         ++i) {
      const json::Value* after = decisions[i].ObjectAfter();
      if (after != nullptr && IsPrinted(decisions[i], print_denied)) {
        kept.emplace(decisions[i].input.path, after);
      }
    }
    if (kept.empty() || bad.contains(input.source)) continue;
    if (input.from_review) {  // the object alone
      for (const auto& [path, object] : kept) print(json::TreeOf(*object));
    } else if (const auto left = Remaining(input.document->value, "", kept)) {
      print(*left);
    }
  }
}

void PrintPatch(const std::vector<offline::Decision>& decisions, bool print_denied,
                std::ostream& out) {
  const auto bad = BadSources(decisions);
  if (decisions.size() == 1) {
    if (bad.empty() && IsPrinted(decisions.front(), print_denied)) {
      out << offline::Dump(json::ToJsonPatch(decisions.front().verdict.patch)) << "\n";
    }
    return;
  }
  nlohmann::ordered_json patches = nlohmann::ordered_json::array();
  for (const offline::Decision& decision : decisions) {
    if (bad.contains(decision.input.source) || !IsPrinted(decision, print_denied)) continue;
    const auto header = offline::HeaderJson(decision);
    nlohmann::ordered_json entry;
    for (const char* key : {"file", "document", "line", "kind", "namespace", "name"}) {
      entry[key] = header.at(key);
    }
    entry["patch"] = json::ToJsonPatch(decision.verdict.patch);
    patches.push_back(std::move(entry));
  }
  out << offline::Dump(patches) << "\n";
}

std::vector<std::string> NamesOf(const std::vector<offline::Decision>& decisions,
                                 bool print_denied) {
  std::vector<std::string> names;
  for (const offline::Decision& decision : decisions) {
    if (decision.kind.empty() || !IsPrinted(decision, print_denied)) continue;
    const std::string_view group = schemas::GroupOf(decision.api_version);
    names.push_back(ToLower(decision.kind) + (group.empty() ? "" : ".") + std::string(group) + "/" +
                    decision.name);
  }
  return names;
}

void PrintDiff(const std::vector<offline::Decision>& decisions, const Paint& paint,
               std::ostream& out) {
  const auto bad = BadSources(decisions);
  for (const offline::Decision& decision : decisions) {
    if (decision.verdict.mutated == nullptr || bad.contains(decision.input.source)) continue;
    const std::string what = decision.input.source->input.name + " " + decision.Title();
    out << paint(Color::kBold, "--- " + what) << "\n"
        << paint(Color::kBold, "+++ " + what + " (after mindgate)") << "\n"
        << UnifiedDiff(json::EncodeYaml(json::TreeOf(*decision.input.object)),
                       json::EncodeYaml(json::TreeOf(decision.verdict.mutated->root())), paint);
  }
}

void PrintTable(const std::vector<offline::Decision>& decisions, bool only_findings,
                const Paint& paint, size_t width, std::ostream& out) {
  constexpr size_t kOutcomeWidth = 10;
  size_t title_width = std::string_view("OBJECT").size();
  for (const offline::Decision& decision : decisions) {
    if (only_findings && !HasFindings(decision)) continue;
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
    out << Wrapped(message, width, margin);
    if (!fix.empty()) out << Wrapped("fix: " + fix, width, margin);
  };
  for (const offline::Decision& decision : decisions) {
    if (only_findings && !HasFindings(decision)) continue;
    const std::string_view outcome = admission::OutcomeName(decision.verdict.outcome);
    out << paint(ColorOf(outcome), Padded(outcome, kOutcomeWidth)) << "  "
        << Padded(decision.Title(), title_width) << "  "
        << Padded(std::to_string(decision.verdict.changes.size()), 7) << "  "
        << PositionText(decision, {decision.Line(), 0}) << "\n";
    if (const auto& fault = decision.input.fault) {
      row("error", "", PositionText(decision, fault->at), fault->field, fault->message,
          fault->hint);
    }
    if (const std::string note = decision.Note(); !note.empty()) {
      row("note", "", PositionText(decision, decision.PositionOf(decision.npu_pods)), "", note, "");
    }
    for (const policies::Finding& finding : decision.verdict.findings) {
      row(offline::FindingLevelName(offline::FindingLevelOf(finding, false)), RuleText(finding),
          PositionText(decision, decision.PositionOf(finding)), finding.field, finding.message,
          finding.fix);
    }
  }
  out << "\n" << CountsText(offline::CountsOf(decisions)) << "\n";
}

int ExitCode(const std::vector<offline::Decision>& decisions) {
  const auto any = [&decisions](auto test) {
    return std::any_of(decisions.begin(), decisions.end(), test);
  };
  if (any([](const offline::Decision& d) { return d.input.fault.has_value(); }))
    return kExitUnusable;
  const bool denied = any([](const offline::Decision& d) {
    return d.verdict.outcome == admission::Outcome::kDenied ||
           d.verdict.outcome == admission::Outcome::kError;
  });
  return denied ? kExitDenied : kExitDone;
}

void PrintFaults(const std::vector<offline::Decision>& decisions, std::ostream& err) {
  for (const offline::Decision& decision : decisions) {
    if (!decision.input.fault) continue;
    const offline::InputText& input = decision.input.source->input;
    err << json::Render(*decision.input.fault, input.name, input.text);
  }
}

void PrintFindings(const std::vector<offline::Decision>& decisions, bool strict, const Paint& paint,
                   std::ostream& err) {
  for (const offline::Decision& decision : decisions) {
    const offline::InputText& input = decision.input.source->input;
    if (const std::string note = decision.Note(); !note.empty()) {
      err << json::Render({decision.PositionOf(decision.npu_pods), "",
                           paint(ColorOf("note"), "note") + ": " + note, ""},
                          input.name, input.text);
    }
    for (const policies::Finding& finding : decision.verdict.findings) {
      const offline::FindingLevel level = offline::FindingLevelOf(finding, strict);
      if (level == offline::FindingLevel::kAudit) continue;
      const std::string_view word = offline::FindingLevelName(level);
      std::string message = paint(ColorOf(word), word) + ": " + RuleText(finding) + ": ";
      if (!finding.field.empty()) message += finding.field + ": ";
      err << json::Render(
          {decision.PositionOf(finding), finding.field, message + finding.message, finding.fix},
          input.name, input.text);
    }
  }
}

namespace {

constexpr size_t kContext = 3;

// Myers' algorithm keeps one row per edit: 8 MB for this many. Mutation makes a few dozen edits.
constexpr int kMaxEdits = 1000;

using Lines = std::vector<std::string_view>;

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// One line of the edit script.
struct Step {
  char mark;  // ' ', '-' or '+'
  std::string_view line;
};

// Myers, An O(ND) Difference Algorithm (1986). Empty when more than kMaxEdits are needed.
std::vector<Step> Shortest(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMaxEdits);
  // furthest[d][k + d]: how far in `a` diagonal k (= x - y) is reached with d edits.
  std::vector<std::vector<int>> furthest;
  const auto reached = [&furthest](int d, int k) {
    return std::abs(k) > d ? -1 : furthest[static_cast<size_t>(d)][static_cast<size_t>(k + d)];
  };
  // The x at which diagonal k is entered with edit d, and whether by an insertion.
  const auto enter = [&reached](int d, int k, bool& inserted) {
    if (d == 0) return 0;
    const int by_insertion = reached(d - 1, k + 1);
    const int by_removal = reached(d - 1, k - 1);
    inserted = k == -d || (k != d && by_removal < by_insertion);
    return inserted ? by_insertion : by_removal + 1;
  };
  for (int d = 0; d <= most; ++d) {
    furthest.emplace_back(static_cast<size_t>(2 * d + 1), -1);
    for (int k = -d; k <= d; k += 2) {
      bool inserted = false;
      int x = enter(d, k, inserted);
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      furthest.back()[static_cast<size_t>(k + d)] = x;
      if (x < n || x - k < m) continue;

      std::vector<Step> steps;
      for (int edit = d; edit >= 0; --edit) {
        const int begin = enter(edit, k, inserted);
        for (; x > begin; --x) steps.push_back({' ', a[static_cast<size_t>(x - 1)]});
        if (edit == 0) break;
        if (inserted) {
          steps.push_back({'+', b[static_cast<size_t>(x - k - 1)]});
          ++k;
        } else {
          steps.push_back({'-', a[static_cast<size_t>(--x)]});
          --k;
        }
      }
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
  }
  return {};
}

std::vector<Step> StepsBetween(const Lines& a, const Lines& b) {
  std::vector<Step> steps = Shortest(a, b);
  if (!steps.empty()) return steps;
  for (std::string_view line : a) steps.push_back({'-', line});
  for (std::string_view line : b) steps.push_back({'+', line});
  return steps;
}

std::string Range(size_t first, size_t count) {
  // An empty range is written as the line before it.
  const std::string start = std::to_string(count == 0 ? first - 1 : first);
  return count == 1 ? start : start + "," + std::to_string(count);
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after, const Paint& paint) {
  if (before == after) return "";
  const std::vector<Step> steps = StepsBetween(LinesOf(before), LinesOf(after));
  std::string out;
  size_t old_line = 1;
  size_t new_line = 1;
  size_t at = 0;
  const auto pass = [&](const Step& step) {
    if (step.mark != '+') ++old_line;
    if (step.mark != '-') ++new_line;
  };
  while (at < steps.size()) {
    // The next change, with the context before it.
    size_t change = at;
    while (change < steps.size() && steps[change].mark == ' ') ++change;
    if (change == steps.size()) break;
    const size_t begin = std::max(at, change - std::min(change, kContext));
    for (; at < begin; ++at) pass(steps[at]);
    // Changes that are at most two contexts apart share a hunk.
    size_t end = change;
    for (size_t i = change; i < steps.size() && i < end + 2 * kContext + 1; ++i) {
      if (steps[i].mark != ' ') end = i + 1;
    }
    end = std::min(steps.size(), end + kContext);

    const size_t old_first = old_line;
    const size_t new_first = new_line;
    std::string body;
    for (; at < end; ++at) {
      const Step& step = steps[at];
      const std::string line = step.mark + std::string(step.line);
      body += (step.mark == ' '   ? line
               : step.mark == '-' ? paint(Color::kRed, line)
                                  : paint(Color::kGreen, line)) +
              "\n";
      pass(step);
    }
    out += paint(Color::kCyan, "@@ -" + Range(old_first, old_line - old_first) + " +" +
                                   Range(new_first, new_line - new_first) + " @@") +
           "\n" + body;
  }
  return out;
}

}  // namespace mindgate::cli
