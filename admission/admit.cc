#include "admission/admit.h"

#include <algorithm>
#include <exception>

#include "admission/mutators/mutator.h"
#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "schemas/names.h"

namespace mindgate::admission {
namespace {

using json::Value;
using policies::Finding;

// The texts of a ConfigMap are documents: their value is all that is in them.
bool IsInText(const Finding& finding) {
  return finding.within.line > 0 || finding.path.starts_with("/data/");
}

// The message without its line and column, which move with the lines above.
std::string_view Essence(const Finding& finding) {
  const std::string position = json::LineText(finding.within) + ": ";
  std::string_view message = finding.message;
  if (message.starts_with(position)) message.remove_prefix(position.size());
  return message;
}

bool IsStructured(const Value* value) {
  return value != nullptr && (value->is_object() || value->is_array());
}

// One finding, with what is compared of it.
struct Located {
  const Finding& finding;
  std::string place;
  const Value* value;  // null pointer: there is none

  Located(const Value& object, const Finding& found)
      : finding(found),
        place(StablePlace(object, found.path)),
        value(json::Resolve(object, found.path)) {}
};

bool IsSame(const Located& before, const Located& after) {
  if (before.finding.rule != after.finding.rule || before.finding.error != after.finding.error ||
      before.place != after.place) {
    return false;
  }
  if (IsInText(after.finding) || IsStructured(before.value) || IsStructured(after.value)) {
    return Essence(before.finding) == Essence(after.finding);
  }
  if (before.value == nullptr || after.value == nullptr) return before.value == after.value;
  return *before.value == *after.value;
}

// Where the rule was broken in more places than were named, any may be one of the others.
bool MayBeOfTheRest(const Finding& before, const Finding& after) {
  return before.rest && before.rule == after.rule && !after.error;
}

}  // namespace

std::string StablePlace(const Value& object, std::string_view path) {
  std::string place;
  const Value* holder = &object;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = json::TokenEnd(path, begin);
    const std::string_view token = path.substr(begin, end - begin);
    const Value* const value = holder == nullptr ? nullptr : json::Resolve(*holder, token);
    const bool item = holder != nullptr && holder->is_array();
    const auto name = item ? json::FindString(value, "name") : std::nullopt;
    place += name ? "/name=" + std::string(*name) : std::string(token);
    holder = value;
    begin = end;
  }
  return place;
}

namespace {

// Marks those of `findings` (in `object`) that the object before the update had too: of the same
// rule, at the same place and with the same value; for a place that holds more than one value (a
// container, a whole text), with the same message. They warn instead of denying. Findings of a
// milder mode than `denying` stay as they are.
void MarkExisting(const Evaluated& before, const Value& object, schemas::Mode denying,
                  std::vector<Finding>& findings) {
  std::vector<Located> known;
  known.reserve(before.findings.size());
  for (const Finding& finding : before.findings) known.emplace_back(before.object, finding);
  for (Finding& finding : findings) {
    if (finding.mode < denying) continue;
    const Located located(object, finding);
    finding.existed = std::any_of(known.begin(), known.end(), [&](const Located& old) {
      return IsSame(old, located) || MayBeOfTheRest(old.finding, finding);
    });
    if (!finding.existed) continue;
    finding.message += kExisted;
    finding.mode = schemas::Mode::kWarn;
  }
}

using mutators::Edits;
using mutators::MutationContext;
using schemas::AdmissionRequest;
using schemas::Config;
using schemas::Operation;
using schemas::WorkloadView;

// Makes the views of one review: each object's once.
class Views {
 public:
  // Texts inside objects are read for rules alone.
  Views(const AdmissionRequest& request, const schemas::ViewOptions& options)
      : request_(request), options_(options) {}

  std::optional<WorkloadView> Of(const Value* object) {
    if (object == nullptr) return std::nullopt;
    return schemas::BuildView(*object, RuntimeOf(*object), options_);
  }

 private:
  // The runtime that an InferenceService names, when the lookup knows it. Before and after a change
  // it is mostly the same.
  std::shared_ptr<const WorkloadView> RuntimeOf(const Value& object) {
    if (request_.objects == nullptr ||
        schemas::KindOf(object) != schemas::Kind::kInferenceService) {
      return nullptr;
    }
    const Value* runtime = schemas::FindRuntime(
        object, *request_.objects,
        json::FindString(json::Find(object, "metadata"), "namespace").value_or(request_.ns));
    if (runtime == nullptr) return nullptr;
    if (runtime_ == nullptr || runtime_->object != runtime) {
      auto view = schemas::BuildView(*runtime, nullptr, options_);
      runtime_ = view ? std::make_shared<const WorkloadView>(*std::move(view)) : nullptr;
    }
    return runtime_;
  }

  const AdmissionRequest& request_;
  const schemas::ViewOptions options_;
  std::shared_ptr<const WorkloadView> runtime_;  // the last
};

Verdict Error(std::string message) {
  Verdict verdict;
  verdict.outcome = Outcome::kError;
  policies::Finding finding;
  finding.error = true;
  finding.message = std::move(message);
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

Verdict GaveUp() {
  Verdict verdict = Error("the decision took too long and was given up");
  verdict.gave_up = true;
  return verdict;
}

Verdict Ignored(std::string reason) {
  Verdict verdict;
  verdict.outcome = Outcome::kIgnored;
  verdict.ignored_because = std::move(reason);
  return verdict;
}

bool IsOptedIn(const WorkloadView& view) { return view.Label(schemas::kInject) == "enabled"; }

// The mildest mode that denies.
schemas::Mode Denying(const Options& options) {
  return options.strict ? schemas::Mode::kWarn : schemas::Mode::kEnforce;
}

bool Denies(const policies::Finding& finding, const Options& options) {
  return !finding.existed && finding.mode >= Denying(options);
}

bool IsDenied(const Verdict& verdict, const Options& options) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [&](const auto& finding) { return Denies(finding, options); });
}

// Evaluates the object before an update that would be denied, as an update of nothing, and marks
// what was wrong with it already.
void ForgiveExisting(const WorkloadView& view, WorkloadView& old_view,
                     const AdmissionRequest& request, const Config& config, const Options& options,
                     Verdict& verdict) {
  if (!request.trusts_owners) old_view.controller_injected = false;
  AdmissionRequest nothing = request;
  nothing.object = request.old_object;
  const auto before = policies::Evaluate({old_view, &old_view, nothing, config});
  verdict.gave_up = verdict.gave_up || before.gave_up;
  MarkExisting({*old_view.object, before.findings}, *view.object, Denying(options),
               verdict.findings);
  // A rule that finds nothing new warns.
  for (policies::RuleTrace& trace : verdict.traces) {
    bool found = false;
    bool all_existed = true;
    for (const policies::Finding& finding : verdict.findings) {
      if (finding.rule != trace.rule) continue;
      found = true;
      all_existed = all_existed && finding.existed;
    }
    if (found && all_existed) trace.mode = schemas::Mode::kWarn;
  }
}

void Evaluate(WorkloadView& view, WorkloadView* old_view, const AdmissionRequest& request,
              const Config& config, const Options& options, Verdict& verdict) {
  if (!request.trusts_owners) view.controller_injected = false;
  if (options.explain) {
    verdict.children =
        schemas::ChildRowsOf(view, request.objects, view.ns.empty() ? request.ns : view.ns);
  }
  policies::Evaluation evaluation = policies::Evaluate({view, old_view, request, config},
                                                       options.explain ? &verdict.traces : nullptr);
  verdict.gave_up = evaluation.gave_up;
  verdict.findings = std::move(evaluation.findings);
  verdict.skipped = std::move(evaluation.skipped);
  verdict.annotations = std::move(evaluation.annotations);
  if (!verdict.findings.empty() || !verdict.skipped.empty() || options.explain) {
    verdict.policies = config.policies;
  }
  if (old_view != nullptr && config.existing_violations == schemas::Mode::kWarn &&
      IsDenied(verdict, options)) {
    ForgiveExisting(view, *old_view, request, config, options, verdict);
  }
  verdict.warnings = Warnings(verdict.findings);
  if (IsDenied(verdict, options)) verdict.outcome = Outcome::kDenied;
}

// An object as it is once a patch of ours is applied.
struct Mutated {
  Mutated(Views& views, const Value& object, const json::Patch& patch)
      : document(std::make_shared<json::Document>()) {
    const auto applied = json::ApplyPatch(object, patch, document->arena());
    if (!applied) {
      throw std::runtime_error("mindgate's own patch does not apply: " + applied.error().message());
    }
    document->SetRoot(*applied);
    view = views.Of(&document->root());
  }

  std::shared_ptr<json::Document> document;
  std::optional<WorkloadView> view;
};

// An object as it would be if it were created, and what would be found in it. Nothing when nothing
// would be injected.
class Created {
 public:
  Created(Views& views, const WorkloadView& view, const MutationContext& context)
      : config_(context.config), request_(context.request) {
    request_.operation = Operation::kCreate;
    request_.object = view.object;
    request_.old_object = nullptr;
    const Edits edits =
        mutators::Mutate({view, nullptr, request_, config_, IsOptedIn(view), false});
    if (!edits.empty()) object_.emplace(views, *view.object, edits.BuildPatch());
  }

  bool is_injected() const { return object_.has_value(); }
  std::vector<policies::Finding> Findings() const {
    return policies::Evaluate({*object_->view, nullptr, request_, config_}).findings;
  }
  const Value& root() const { return object_->document->root(); }

 private:
  const Config& config_;
  AdmissionRequest request_;
  std::optional<Mutated> object_;
};

// Whether an update is denied for nothing but what is injected: the object was stored without it,
// and what is found now would be found in the old object too if it were injected, or not if the
// object were new. The cheap questions come first: most objects were injected when they were
// stored, and most updates are not denied.
bool IsBetterLeftAlone(Views& views, const Edits& edits, WorkloadView& old_view,
                       const MutationContext& context, Options options) {
  const Created before(views, old_view, context);
  if (!before.is_injected()) return false;
  Mutated after(views, *context.request.object, edits.BuildPatch());
  options.explain = false;
  Verdict verdict;
  Evaluate(*after.view, &old_view, context.request, context.config, options, verdict);
  if (verdict.outcome != Outcome::kDenied) return false;
  const Value& object = after.document->root();
  std::vector<policies::Finding>& found = verdict.findings;
  MarkExisting({before.root(), before.Findings()}, object, Denying(options), found);
  std::erase_if(found, [&](const auto& finding) { return !Denies(finding, options); });
  if (found.empty()) return true;
  const Created fresh(views, context.view, context);
  if (!fresh.is_injected()) return false;
  MarkExisting({fresh.root(), fresh.Findings()}, object, Denying(options), found);
  return std::all_of(found.begin(), found.end(),
                     [&](const auto& finding) { return Denies(finding, options); });
}

// What is written. Nothing new into an object from before mindgate that is refused only with it:
// its owner could do nothing with it any more.
Edits EditsOf(Views& views, MutationContext context, WorkloadView* old_view,
              const Options& options) {
  Edits edits = mutators::Mutate(context);
  if (old_view == nullptr || edits.empty() || edits.gave_up() || mutators::PutsBack(context) ||
      context.config.existing_violations == schemas::Mode::kEnforce) {
    return edits;
  }
  if (!IsBetterLeftAlone(views, edits, *old_view, context, options)) return edits;
  context.put_back_only = true;
  return mutators::Mutate(context);
}

Verdict Decide(const AdmissionRequest& request, const Config& config, const Options& options) {
  if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
    return Ignored("operation " + std::string(schemas::OperationName(request.operation)));
  }
  if (!request.subresource.empty()) return Ignored("subresource " + request.subresource);
  if (request.object == nullptr) return Ignored("no object");
  Views views(request, {.read_texts = options.evaluate,
                        .scheduler = config.scheduler,
                        .npu_resources = config.npu_resources,
                        .kinds = config.kinds});
  auto view = views.Of(request.object);
  if (!view) return Ignored("not a kind that mindgate handles");
  if (view->being_deleted) return Ignored("being deleted");
  auto old_view =
      request.operation == Operation::kUpdate ? views.Of(request.old_object) : std::nullopt;
  WorkloadView* const old = old_view ? &*old_view : nullptr;

  Verdict verdict;
  if (options.mutate) {
    const Edits edits = EditsOf(
        views, {*view, old, request, config, IsOptedIn(*view), options.explain}, old, options);
    if (edits.gave_up()) return GaveUp();
    verdict.patch = edits.BuildPatch();
    verdict.changes = edits.Changes();
    if (options.explain) verdict.withheld = edits.withheld();
  }
  if (verdict.patch.empty()) {
    if (options.evaluate) Evaluate(*view, old, request, config, options, verdict);
    return verdict.gave_up ? GaveUp() : verdict;
  }
  if (!options.evaluate && !options.apply) return verdict;
  Mutated after(views, *request.object, verdict.patch);
  verdict.mutated = after.document;
  if (options.evaluate) Evaluate(*after.view, old, request, config, options, verdict);
  return verdict.gave_up ? GaveUp() : verdict;
}

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAdmitted:
      return "admitted";
    case Outcome::kDenied:
      return "denied";
    case Outcome::kError:
      return "error";
    case Outcome::kIgnored:
      return "ignored";
  }
  return "error";
}

Verdict Admit(const AdmissionRequest& request, const Config& config, const Options& options) {
  try {
    return Decide(request, config, options);
  } catch (const std::exception& failure) {
    return Error("internal error: " + std::string(failure.what()));
  }
}

namespace {

constexpr std::string_view kEllipsis = "...";

std::string Cut(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = text.rfind(' ', limit - kEllipsis.size());
  if (end == std::string::npos || end < limit / 2) {
    end = limit - kEllipsis.size();
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // never inside a character
  }
  text.resize(end);
  return text + std::string(kEllipsis);
}

// What is cut of a long message is never that it was so before.
std::string WarningOf(const policies::Finding& finding) {
  // Control characters would make the API server drop the whole warning.
  std::string text = OneLine(policies::TitleOf(*finding.rule) + ": " + finding.message);
  if (!finding.existed) return Cut(std::move(text), kMaxWarning);
  text.resize(text.size() - kExisted.size());
  return Cut(std::move(text), kMaxWarning - kExisted.size()) + std::string(kExisted);
}

}  // namespace

std::string ExplainCommand(const std::vector<const policies::Rule*>& rules, size_t limit) {
  constexpr std::string_view kCommand = "kubectl mindgate explain";
  std::string command(kCommand);
  std::vector<const policies::Rule*> named;
  for (const policies::Rule* rule : rules) {
    if (rule->site != nullptr || std::find(named.begin(), named.end(), rule) != named.end()) {
      continue;
    }
    if (!named.empty() && command.size() + 1 + rule->id.size() > limit) break;
    command += " " + std::string(rule->id);
    named.push_back(rule);
  }
  return named.empty() ? "" : command;
}

std::vector<std::string> Warnings(std::span<const policies::Finding> findings) {
  std::vector<std::string> warnings;
  std::vector<const policies::Rule*> rules;
  for (const policies::Finding& finding : findings) {
    if (finding.mode != schemas::Mode::kWarn) continue;
    std::string text = WarningOf(finding);
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) {
      warnings.push_back(std::move(text));
      rules.push_back(finding.rule);
    }
  }
  if (warnings.empty()) return warnings;
  constexpr std::string_view kBefore = ": ";
  std::string last = "more";
  const bool too_many = warnings.size() >= kMaxWarnings;
  if (too_many) {
    const size_t left_out = warnings.size() - kMaxWarnings + 1;
    last = "and " + std::to_string(left_out) + (left_out == 1 ? " more warning" : " more warnings");
    warnings.resize(kMaxWarnings - 1);
  }
  const std::string command = ExplainCommand(rules, kMaxWarning - last.size() - kBefore.size());
  if (!command.empty()) last += std::string(kBefore) + command;
  if (too_many || !command.empty()) warnings.push_back(std::move(last));
  return warnings;
}

}  // namespace mindgate::admission
