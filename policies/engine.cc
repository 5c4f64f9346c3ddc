#include "policies/engine.h"

#include <algorithm>
#include <exception>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "policies/site/facts.h"
#include "policies/site/site_policies.h"
#include "policies/text_entries.h"
#include "schemas/raw_objects.h"

namespace mindgate::policies {
namespace {

using schemas::Mode;

std::vector<const Rule*> MakeCatalogue() {
  std::vector<const Rule*> rules;
  for (const auto& family : {common::StructureRules(),
                             common::SchedulerRules(),
                             common::PodRules(),
                             common::GracePeriodRules(),
                             common::FaultValueRules(),
                             common::RecoveryRules(),
                             common::FaultPlacementRules(),
                             common::MinAvailableRules(),
                             common::GangStartRules(),
                             common::AutoscalingRules(),
                             common::FieldRules(),
                             common::ScaledPodRules(),
                             common::IsolationRules(),
                             common::RankTableWiringRules(),
                             common::ServiceNameRules(),
                             ascendjob::ReplicaRules(),
                             ascendjob::RunRules(),
                             ascendjob::LifeRules(),
                             ascendjob::ScalingJobRules(),
                             ascendjob::ScalingConfigMapRules(),
                             ascendjob::MindieJobRules(),
                             ascendjob::ServiceRules(),
                             ascendjob::RankTableRules(),
                             chips::CountRules(),
                             chips::StoredRequestRules(),
                             chips::PolicyRules(),
                             chips::SuperPodRules(),
                             chips::InferenceCardRules(),
                             chips::EnvironmentRules(),
                             chips::VirtualNpuRules(),
                             chips::SuperPodHardwareRules(),
                             chips::SelectorRules(),
                             chips::ForeignRules(),
                             ome::ComponentRules(),
                             aibrix::RoleRules(),
                             volcano::JobRules(),
                             lws::GroupRules(),
                             infer_operator::ServiceRules(),
                             infer_operator::RoleRules(),
                             infer_operator::NodePortRules(),
                             infer_operator::GangLabelRules()}) {
    for (const Rule& rule : family) rules.push_back(&rule);
  }
  std::sort(rules.begin(), rules.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; });
  return rules;
}

bool MatchesOptional(std::string_view pattern, std::string_view text) {
  return pattern.empty() || schemas::MatchesPattern(pattern, text);
}

// The exception that covers this rule and object and has not expired.
const schemas::Exception* ExceptionFor(const Rule& rule, const RuleContext& context) {
  const std::string name = schemas::ObjectName(*context.view.object);
  for (const schemas::Exception& exception : context.config.exceptions) {
    if (exception.expires < context.request.now) continue;
    if (std::find(exception.rules.begin(), exception.rules.end(), rule.id) ==
        exception.rules.end()) {
      continue;
    }
    if (MatchesOptional(exception.ns, context.ns()) &&
        MatchesOptional(exception.kind, context.view.info().name) &&
        MatchesOptional(exception.name, name)) {
      return &exception;
    }
  }
  return nullptr;
}

// What `rules`, `namespaces` and maxMode say. `override_`: what there is for the namespace.
template <typename Override>
Mode ModeUnder(const Rule& rule, const schemas::Config& config, const Override* override_) {
  if (override_ != nullptr) {
    const auto found = override_->rules.find(rule.id);
    if (found != override_->rules.end()) return std::min(found->second, config.max_mode);
  }
  const auto found = config.rules.empty() ? config.rules.end() : config.rules.find(rule.id);
  return std::min(found == config.rules.end() ? rule.default_mode : found->second, config.max_mode);
}

// A rule about pods found nothing to say of a service that leaves its pods to a runtime which is
// not known: it has not passed.
bool SeesNoPods(const Rule& rule, const schemas::WorkloadView& view) {
  const bool of_pods = !rule.of_object && rule.kinds.Intersects(schemas::kDeployments);
  return of_pods && view.LacksRuntime() && !view.RequestsNpus();
}

void RunCheck(const Rule& rule, const RuleContext& context, Findings& findings) {
  try {
    if (rule.site != nullptr) {
      rule.site->Run(context, findings);
    } else {
      rule.check(context, findings);
    }
  } catch (const std::exception& failure) {
    findings.Error("the rule failed: " + std::string(failure.what()));
  }
}

void Report(const Rule& rule, Mode mode, const RuleContext& context, const Findings& found,
            Evaluation& evaluation) {
  const auto before = static_cast<ptrdiff_t>(evaluation.findings.size());
  for (const Findings::Violation& violation : found.violations()) {
    evaluation.findings.push_back({.rule = &rule,
                                   .mode = std::min(mode, violation.at_most),
                                   .path = violation.path,
                                   .field = json::FieldPath(*context.view.object, violation.path),
                                   .message = violation.message,
                                   .fix = violation.fix.words,
                                   .within = violation.within,
                                   .right = violation.fix.value,
                                   .reason = violation.reason,
                                   .rest = violation.rest});
  }
  if (found.dropped() > 0) {
    evaluation.findings.push_back(
        {.rule = &rule,
         .mode = std::min(mode, found.dropped_at_most()),
         .path = "",
         .field = "",
         .message = std::to_string(found.dropped()) + " more places break this rule",
         .fix = "correct the places named first and apply again",
         .rest = true});
  }
  for (const Findings::Failure& error : found.errors()) {
    evaluation.findings.push_back(
        {&rule, true, std::min(mode, error.at_most), "", "", error.message, ""});
  }
  evaluation.denied = evaluation.denied ||
                      std::any_of(evaluation.findings.begin() + before, evaluation.findings.end(),
                                  [](const auto& each) { return each.mode == Mode::kEnforce; });
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "info";
  }
  return "error";
}

namespace {

std::optional<RightValue> IfCertain(std::string_view text, bool certain) {
  if (!certain) return std::nullopt;
  return RightValue{std::string(text)};
}

}  // namespace

Fix WriteText(std::string_view key, std::string_view text, bool certain) {
  Fix fix("write " + std::string(key) + ": " + Quote(text));
  fix.value = IfCertain(text, certain);
  return fix;
}

Fix WriteWord(std::string_view key, std::string_view text, bool certain) {
  Fix fix("write " + std::string(key) + ": " + std::string(text));
  fix.value = IfCertain(text, certain);
  return fix;
}

void Findings::Violate(std::string path, std::string message, Fix fix, json::Position within,
                       std::string_view reason) {
  if (violations_.size() == kMax) {
    ++dropped_;
    dropped_at_most_ = std::max(dropped_at_most_, at_most_);
    return;
  }
  for (const Violation& seen : violations_) {
    if (seen.path == path && seen.message == message) return;
  }
  violations_.push_back(
      {std::move(path), std::move(message), std::move(fix), within, at_most_, reason});
}

void Findings::ViolateElsewhere(std::string message, Fix fix) {
  violations_.push_back({.path = "",
                         .message = std::move(message),
                         .fix = std::move(fix),
                         .at_most = at_most_,
                         .rest = true});
}

const std::vector<const Rule*>& Catalogue() {
  static const std::vector<const Rule*> rules = MakeCatalogue();
  return rules;
}

const Rule* FindRule(std::string_view id_or_name) {
  for (const Rule* rule : Catalogue()) {
    if (EqualIgnoreCase(rule->id, id_or_name) || rule->name == id_or_name) return rule;
  }
  return nullptr;
}

const Rule* FindRule(std::string_view id_or_name, const schemas::Config& config) {
  if (const Rule* rule = FindRule(id_or_name)) return rule;
  return config.policies == nullptr ? nullptr : config.policies->Find(id_or_name);
}

std::string TitleOf(const Rule& rule) {
  if (rule.site != nullptr) return std::string(rule.id);
  return std::string(rule.id) + " " + std::string(rule.name);
}

Mode ModeFor(const Rule& rule, const schemas::Config& config, std::string_view ns) {
  return ModeUnder(rule, config, config.OverrideFor(ns));
}

namespace {

void EvaluateBy(std::span<const Rule* const> rules, const RuleContext& context,
                Evaluation& evaluation, std::vector<RuleTrace>* traces) {
  using Result = RuleTrace::Result;
  const auto* override_ = context.config.OverrideFor(context.ns());
  for (const Rule* rule : rules) {
    if (traces == nullptr && !rule->kinds.Has(context.view.kind)) continue;
    if (context.request.is_over && context.request.is_over()) {
      evaluation.gave_up = true;
      break;
    }
    RuleTrace trace{rule, Result::kNotApplicable, Mode::kOff, ""};
    if (rule->kinds.Has(context.view.kind)) {
      trace.mode = ModeUnder(*rule, context.config, override_);
      if (trace.mode == Mode::kOff) {
        trace.result = Result::kOff;
      } else if (context.view.excess && !rule->of_any_size) {
        trace.result = Result::kSkipped;
        trace.reason = "the object has more parts than are handled";
      } else {
        Findings found;
        RunCheck(*rule, context, found);
        for (const Findings::Annotation& annotation : found.annotations()) {
          evaluation.annotations.push_back(annotation);
        }
        if (rule->site != nullptr && !found.skipped().empty()) {
          evaluation.skipped.push_back({rule, found.skipped().front()});
        }
        const bool broken = !found.violations().empty() || !found.errors().empty();
        const auto* exception = broken ? ExceptionFor(*rule, context) : nullptr;
        if (exception != nullptr) {
          trace.result = Result::kExcepted;
          trace.reason = "excepted until " + FormatTime(exception->expires) + " by " +
                         exception->owner + ": " + exception->reason;
        } else if (broken) {
          trace.result = found.violations().empty() ? Result::kError : Result::kViolated;
          Report(*rule, trace.mode, context, found, evaluation);
        } else if (found.not_applicable()) {
          trace.result = Result::kNotApplicable;
          trace.reason = *found.not_applicable();
        } else if (!found.skipped().empty()) {
          trace.result = Result::kSkipped;
          trace.reason = found.skipped().front();
        } else if (SeesNoPods(*rule, context.view)) {
          trace.result = Result::kSkipped;
          trace.reason = kNeedsRuntime;
        } else {
          trace.result = Result::kPassed;
        }
      }
    } else if (traces != nullptr) {
      trace.reason = "does not apply to " + std::string(context.view.info().name);
    }
    if (traces != nullptr) traces->push_back(std::move(trace));
  }
}

}  // namespace

Evaluation Evaluate(const RuleContext& asked, std::vector<RuleTrace>* traces) {
  Evaluation evaluation = Evaluate(asked, Catalogue(), traces);
  if (asked.config.policies == nullptr || evaluation.gave_up) return evaluation;
  SiteFacts facts(asked);
  RuleContext context = asked;
  context.site = &facts;
  EvaluateBy(asked.config.policies->rules(), context, evaluation, traces);
  return evaluation;
}

Evaluation Evaluate(const RuleContext& asked, std::span<const Rule* const> rules,
                    std::vector<RuleTrace>* traces) {
  const ChipTable chips(asked);
  RuleContext context = asked;
  context.chips = &chips;
  Evaluation evaluation;
  EvaluateBy(rules, context, evaluation, traces);
  return evaluation;
}

}  // namespace mindgate::policies
