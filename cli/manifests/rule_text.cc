#include "cli/manifests/rule_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cli/console/terminal.h"

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

}  // namespace mindgate::cli
