#include "offline/fix.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "json/pointer.h"
#include "offline/report.h"
#include "offline/text_edits.h"

namespace mindgate::offline {
namespace {

using json::Json;

// A correction may bring another finding to light, and what it corrects more to inject. More rounds
// than any object needs.
constexpr int kMostRounds = 8;

// An edit with what is reported of it.
struct Proposal {
  size_t source = 0;
  const Decision* decision = nullptr;
  std::string path;  // in the object
  DocumentEdit edit;
  std::string by;  // for a correction
  std::string why;
  bool of_admission = false;  // what admission writes: `path` may hold several of its changes
};

struct Refused {
  Proposal proposal;
  std::string why;
  std::string instead;
};

class Fixer {
 public:
  Fixer(const FixOptions& options, const Evaluator& evaluator, std::ostream& err)
      : options_(options), evaluator_(evaluator), err_(err) {}

  std::optional<Fixes> Run(Evaluation first) {
    const Skipped skipped = first.skipped;
    first_ = std::move(first);
    Number(first_);
    for (const auto& source : first_.sources) {
      files_.push_back({source->input.name, source->input.text, source->input.text, {}, {}});
    }
    Fixes fixes;
    const Evaluation* now = &first_;
    for (int round = 0; round < kMostRounds; ++round) {
      refused_.clear();
      if (!Make(Corrections(*now)) && !Make(Injections(*now))) break;
      auto next = evaluator_.Texts(Texts(), err_);
      if (!next) return std::nullopt;
      refused_.clear();
      latest_ = *std::move(next);
      now = &latest_;
      Number(*now);
    }
    ListLeft(*now);
    fixes.files = std::move(files_);
    fixes.after = now == &first_ ? std::move(first_) : std::move(latest_);
    fixes.after.skipped = skipped;
    return fixes;
  }

 private:
  // The sources that are decided about now, by number: the same in every round.
  void Number(const Evaluation& now) {
    numbers_.clear();
    columns_.clear();
    for (size_t i = 0; i < now.sources.size(); ++i) numbers_[now.sources[i].get()] = i;
  }

  std::vector<InputText> Texts() const {
    std::vector<InputText> texts;
    for (size_t i = 0; i < files_.size(); ++i) {
      InputText text = first_.sources[i]->input;
      text.text = files_[i].after;
      texts.push_back(std::move(text));
    }
    return texts;
  }

  static bool IsSound(const Source& source) {
    return source.input.fault.empty() &&
           std::none_of(source.documents.begin(), source.documents.end(),
                        [](const Document& document) { return document.fault.has_value(); });
  }

  // The object of a decision may be changed; with the numbers of its source and its document.
  struct Target {
    size_t source = 0;
    size_t document = 0;
  };
  std::optional<Target> TargetOf(const Decision& decision) const {
    const InputObject& input = decision.input;
    if (input.fault || input.document == nullptr || input.object == nullptr) return std::nullopt;
    if (!IsSound(*input.source)) return std::nullopt;
    return Target{numbers_.at(input.source),
                  static_cast<size_t>(input.document - input.source->documents.data())};
  }

  static Proposal ProposalFor(const Target& target, const Decision& decision, std::string_view path,
                              Json value) {
    Proposal made;
    made.source = target.source;
    made.decision = &decision;
    made.path = path;
    made.edit = {target.document, {decision.input.path + std::string(path), std::move(value)}};
    return made;
  }

  // What rules say to write where no choice is left.
  std::vector<Proposal> Corrections(const Evaluation& evaluation) const {
    std::vector<Proposal> proposals;
    for (const Decision& decision : evaluation.decisions) {
      const auto target = TargetOf(decision);
      if (!target || decision.input.from_review) continue;
      std::set<std::string> seen;
      for (const policies::Finding& finding : decision.verdict.findings) {
        if (!finding.right || finding.mode < schemas::Mode::kWarn) continue;
        const json::Value* old = json::Resolve(*decision.input.object, finding.path);
        if (old == nullptr || !seen.insert(finding.path).second) continue;
        Json value = finding.right->text;
        if (finding.right->is_number) value = Json::parse(finding.right->text, nullptr, false);
        if (value.is_discarded() || json::TreeOf(*old) == value) continue;
        Proposal made = ProposalFor(*target, decision, finding.path, std::move(value));
        made.by = finding.rule == nullptr ? "" : finding.rule->id;
        made.why = finding.message;
        proposals.push_back(std::move(made));
      }
    }
    return proposals;
  }

  std::vector<Proposal> Injections(const Evaluation& evaluation) const {
    std::vector<Proposal> proposals;
    for (const Decision& decision : evaluation.decisions) {
      const auto target = TargetOf(decision);
      if (!target) continue;
      for (const json::Operation& operation : decision.verdict.patch) {
        Proposal made =
            ProposalFor(*target, decision, operation.path, json::TreeOf(operation.value));
        made.of_admission = true;
        proposals.push_back(std::move(made));
      }
    }
    return proposals;
  }

  // Whether any of the proposals was made. The others are kept.
  bool Make(std::vector<Proposal> proposals) {
    std::map<size_t, std::vector<Proposal>> by_source;
    for (Proposal& proposal : proposals) {
      if (proposal.decision->input.from_review) {
        refused_.push_back(
            {std::move(proposal),
             "a recorded AdmissionReview is what an API server asked, not a manifest",
             "fix the manifest that the object was made from"});
      } else {
        by_source[proposal.source].push_back(std::move(proposal));
      }
    }
    bool any = false;
    for (const auto& [source, of_source] : by_source) {
      std::vector<DocumentEdit> edits;
      for (const Proposal& proposal : of_source) edits.push_back(proposal.edit);
      EditedText edited = Edited(*of_source.front().decision->input.source, edits);
      files_[source].after = std::move(edited.text);
      for (const size_t number : edited.done) NoteFixed(of_source[number]);
      for (RefusedEdit& refused : edited.refused) {
        refused_.push_back(
            {of_source[refused.edit], std::move(refused.why), std::move(refused.instead)});
      }
      any = any || !edited.done.empty();
    }
    return any;
  }

  // --- what is reported ---

  // Where a value of an object stands in the texts before.
  json::Position PlaceBefore(const Decision& decision, size_t source, std::string_view path) {
    const auto document =
        static_cast<size_t>(decision.input.document - decision.input.source->documents.data());
    Source& before = *first_.sources[source];
    if (document >= before.documents.size()) return {};
    return InCharacters(before,
                        before.documents[document].At(decision.input.path + std::string(path)));
  }

  json::Position InCharacters(const Source& source, json::Position at) {
    const auto columns = columns_.try_emplace(&source, source.input.text).first;
    return columns->second.InCharacters(at);
  }

  // As Kubernetes prints it; an appended item by its number.
  static std::string FieldName(const Decision& decision, std::string_view path) {
    const json::Value& after = *decision.ObjectAfter();
    std::string named(path);
    if (named.ends_with("/-")) {
      named.resize(named.size() - 2);
      const json::Value* list = json::Resolve(after, named);
      const size_t count = list == nullptr ? 0 : list->size();
      named = json::Child(named, count == 0 ? 0 : count - 1);
    }
    return json::FieldPath(after, named);
  }

  FixedField FieldOf(const Proposal& proposal, std::string_view path) {
    const Decision& decision = *proposal.decision;
    FixedField field;
    field.object = decision.Title();
    field.field = FieldName(decision, path);
    field.at = PlaceBefore(decision, proposal.source, path);
    if (const json::Value* old = json::Resolve(*decision.input.object, path)) {
      if (!old->is_null()) field.old = json::TreeOf(*old);
    }
    return field;
  }

  // A patch may add several fields with their parent at once.
  static bool IsBelow(std::string_view path, std::string_view parent) {
    return path == parent || (path.starts_with(parent) && path.substr(parent.size())[0] == '/');
  }

  void NoteFixed(const Proposal& proposal) {
    auto& fixed = files_[proposal.source].fixed;
    if (!proposal.of_admission) {
      FixedField& field = fixed.emplace_back(FieldOf(proposal, proposal.path));
      field.now = proposal.edit.edit.value;
      field.by = proposal.by;
      field.why = proposal.why;
      return;
    }
    for (const mutators::Change& change : proposal.decision->verdict.changes) {
      if (!IsBelow(change.path, proposal.path)) continue;
      FixedField& field = fixed.emplace_back(FieldOf(proposal, change.path));
      field.now = NewValue(proposal, change.path);
      field.by = change.mutator;
      field.injected = true;
      field.why = change.reason;
    }
  }

  static Json NewValue(const Proposal& proposal, std::string_view path) {
    const Json& value = proposal.edit.edit.value;
    std::string below(path.substr(proposal.path.size()));
    if (below.ends_with("/-")) below.replace(below.size() - 1, 1, "0");
    const Json* found = json::Resolve(value, below);
    return found == nullptr ? value : *found;
  }

  LeftField LeftOf(const Refused& refused) {
    const Decision& decision = *refused.proposal.decision;
    LeftField left;
    left.object = decision.Title();
    left.field = FieldName(decision, refused.proposal.path);
    left.unwritten = true;
    left.level = FindingLevel::kNote;
    left.message = refused.why;
    left.fix = refused.instead;
    for (const mutators::Change& change : decision.verdict.changes) {
      if (!IsBelow(change.path, refused.proposal.path)) continue;
      if (!left.by.empty()) left.by += ", ";
      left.by += change.mutator;
    }
    return left;
  }

  // Why the correction of a finding was not made; null when it was not tried.
  const Refused* RefusedCorrection(const Decision& decision, const std::string& path) const {
    for (const Refused& refused : refused_) {
      const Proposal& proposal = refused.proposal;
      if (!proposal.of_admission && proposal.decision == &decision && proposal.path == path) {
        return &refused;
      }
    }
    return nullptr;
  }

  void ListLeft(const Evaluation& now) {
    const Report report = ReportOf(now.decisions, now.skipped, {.strict = options_.strict});
    for (size_t i = 0; i < now.decisions.size(); ++i) {
      const Decision& decision = now.decisions[i];
      const size_t source = numbers_.at(decision.input.source);
      auto& left = files_[source].left;
      const auto& findings = report.objects[i].findings;
      // A fault or a note comes before the findings of the rules.
      const size_t others = findings.size() - decision.verdict.findings.size();
      for (size_t f = 0; f < findings.size(); ++f) {
        const ReportedFinding& finding = findings[f];
        if (finding.level < FindingLevel::kWarning) continue;
        LeftField one{report.objects[i].title, finding.field,   finding.at, finding.level, false,
                      RuleTitle(finding),      finding.message, finding.fix};
        if (f >= others) {
          const policies::Finding& of_rule = decision.verdict.findings[f - others];
          if (options_.places_before && of_rule.within.line < 1) {
            one.at = PlaceBefore(decision, source, of_rule.path);
          }
          if (const Refused* refused = RefusedCorrection(decision, of_rule.path)) {
            one.message += "; it is not written here: " + refused->why;
          }
        }
        left.push_back(std::move(one));
      }
    }
    for (const Refused& refused : refused_) {
      if (!refused.proposal.of_admission) continue;
      const Decision& decision = *refused.proposal.decision;
      LeftField left = LeftOf(refused);
      const std::string& path = refused.proposal.path;
      left.at = options_.places_before
                    ? PlaceBefore(decision, refused.proposal.source, path)
                    : InCharacters(*decision.input.source, decision.PositionOf(path));
      files_[refused.proposal.source].left.push_back(std::move(left));
    }
  }

  const FixOptions& options_;
  const Evaluator& evaluator_;
  std::ostream& err_;
  Evaluation first_;
  Evaluation latest_;
  std::map<const Source*, size_t> numbers_;
  std::map<const Source*, Columns> columns_;  // of texts that were asked for
  std::vector<FixedFile> files_;
  std::vector<Refused> refused_;
};

}  // namespace

std::optional<Fixes> Fix(const FixOptions& options, std::istream& in, std::ostream& err) {
  const auto evaluator = Evaluator::Make(options.input, {.strict = options.strict}, err);
  if (!evaluator) return std::nullopt;
  auto first = evaluator->Read(in, err);
  if (!first) return std::nullopt;
  return Fixer(options, *evaluator, err).Run(*std::move(first));
}

}  // namespace mindgate::offline
