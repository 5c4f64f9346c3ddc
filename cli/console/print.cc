#include "cli/console/print.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>

#include "base/text.h"
#include "cli/console/streams.h"
#include "cli/console/terminal.h"
#include "json/issues.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/report.h"
#include "offline/results_json.h"

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
std::string PlaceOf(const offline::Decision& decision, json::Position at) {
  return json::PlaceText(decision.input.source->input.name, at);
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
        << PlaceOf(decision, {decision.Line(), 0}) << "\n";
    if (const auto& fault = decision.input.fault) {
      row("error", "", PlaceOf(decision, fault->at), fault->field, fault->message, fault->hint);
    }
    if (const std::string note = decision.Note(); !note.empty()) {
      row("note", "", PlaceOf(decision, decision.Place(decision.npu_pods)), "", note, "");
    }
    for (const policies::Finding& finding : decision.verdict.findings) {
      row(offline::FindingLevelName(offline::FindingLevelOf(finding, false)), RuleText(finding),
          PlaceOf(decision, decision.Place(finding)), finding.field, finding.message, finding.fix);
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
      err << json::Render(
          {decision.Place(decision.npu_pods), "", paint(ColorOf("note"), "note") + ": " + note, ""},
          input.name, input.text);
    }
    for (const policies::Finding& finding : decision.verdict.findings) {
      const offline::FindingLevel level = offline::FindingLevelOf(finding, strict);
      if (level == offline::FindingLevel::kAudit) continue;
      const std::string_view word = offline::FindingLevelName(level);
      std::string message = paint(ColorOf(word), word) + ": " + RuleText(finding) + ": ";
      if (!finding.field.empty()) message += finding.field + ": ";
      err << json::Render(
          {decision.Place(finding), finding.field, message + finding.message, finding.fix},
          input.name, input.text);
    }
  }
}

}  // namespace mindgate::cli
