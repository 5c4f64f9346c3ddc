#include "policies/site/evaluation.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"

namespace mindgate::policies::site {
namespace {

// As long as the API server lets the value of a messageExpression be.
constexpr size_t kLongestMessage = 5 * 1024;
// The audit log has room for more, but a webhook's answer should not.
constexpr size_t kLongestAnnotation = 1024;
constexpr size_t kLongestQuoted = 200;

std::string InBackticks(const std::string& text) {
  return "`" + Cut(OneLine(std::string(Trim(text))), kLongestQuoted) + "`";
}

// Messages of findings have no full stop at their end.
std::string WithoutFullStop(std::string_view text) {
  text = Trim(text);
  if (text.ends_with('.') && !text.ends_with("..")) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

Evaluation::Evaluation(const SitePolicy& policy, const RuleContext& context, Findings& findings)
    : policy_(policy),
      context_(context),
      findings_(findings),
      first_own_(SiteFacts::kVariableCount + (policy.written().param_kind ? 1 : 0)) {
  context_.site->scratch().Clear();
}

void Evaluation::Evaluate(const WrittenBinding& binding, const json::Value* params) {
  findings_.SetAtMost(binding.mode == policy_.rule().default_mode ? Mode::kEnforce : binding.mode);
  params_ = params;
  own_.assign(policy_.variables_.size(), std::nullopt);
  const Condition condition = ConditionsHold();
  evaluated_ = evaluated_ || condition != Condition::kDoesNot;
  if (condition != Condition::kHolds) return;
  for (size_t i = 0; i < policy_.validations_.size(); ++i) {
    Validate(policy_.validations_[i], policy_.written().validations[i]);
  }
  Annotate();
}

void Evaluation::Fail(const std::string& message) {
  evaluated_ = true;
  if (policy_.written().ignores_failures) {
    findings_.Skip(message + "; failurePolicy is Ignore");
  } else {
    findings_.Error(message);
  }
}

void Evaluation::FailAt(const Expression& expression, const std::string& what,
                        const Failure& failure) {
  if (!failure.unknown.empty()) {
    evaluated_ = true;
    findings_.Skip(std::string(failure.unknown));
    return;
  }
  const json::Issue& issue = failure.issue;
  std::string message = what + " cannot be evaluated: " + issue.message;
  if (!issue.hint.empty()) message += "; " + issue.hint;
  Fail(message + " (" + expression.Where(issue.at) + ")");
}

tl::expected<cel::Value, Evaluation::Failure> Evaluation::Evaluate(const Expression& expression) {
  context_.site->Forget();
  allowance_ = left_;
  uint64_t cost = 0;
  auto value = expression.program().Evaluate(*this, context_.site->scratch(),
                                             {.cost = left_, .memory = kMostMemory}, cost);
  // What a variable spent before it passed a limit is not in the cost.
  const bool beyond_limit = !value && value.error().beyond_limit;
  left_ = beyond_limit ? 0 : left_ - std::min(left_, cost);
  if (value) return *value;
  return tl::unexpected(
      Failure{value.error(), beyond_limit ? std::string_view() : context_.site->unknown()});
}

cel::Value Evaluation::Get(size_t variable, cel::Context& context) {
  if (variable >= first_own_) return Own(variable - first_own_, context);
  if (variable < SiteFacts::kVariableCount) {
    return context_.site->Get(static_cast<SiteFacts::Variable>(variable), context);
  }
  return params_ == nullptr ? cel::Value() : cel::Value::Of(*params_);
}

// A variable is evaluated when it is first read. Each expression that reads one that failed fails
// at its own place, and for the same reason.
cel::Value Evaluation::Own(size_t index, cel::Context& context) {
  std::optional<OwnValue>& own = own_[index];
  if (!own) {
    own = EvaluateOwn(index, context);
    if (!own) return context.Stopped();
  }
  context_.site->Recall(own->unknown);
  if (own->value) return *own->value;
  return context.Fail({"variables.", policy_.written().variables[index].name, ": ", own->fault});
}

// It is an expression inside another one: what it costs is taken from that one. Nothing when that
// is too much.
std::optional<Evaluation::OwnValue> Evaluation::EvaluateOwn(size_t index, cel::Context& context) {
  SiteFacts& facts = *context_.site;
  const std::string_view asked_before = facts.unknown();
  facts.Forget();
  const uint64_t before = allowance_;
  allowance_ -= std::min(allowance_, context.spent());
  uint64_t cost = 0;
  const Expression& expression = policy_.variables_[index];
  const auto value = expression.program().Evaluate(
      *this, facts.scratch(), {.cost = allowance_, .memory = kMostMemory}, cost);
  allowance_ = before;
  const std::string_view unknown = facts.unknown();
  facts.Forget();
  facts.Recall(asked_before);
  const bool beyond_limit = !value && value.error().beyond_limit;
  if (!context.Charge(beyond_limit ? before + 1 : cost)) return std::nullopt;
  if (value) return OwnValue{*value, "", unknown};
  return OwnValue{std::nullopt, value.error().message, unknown};
}

// One that is false decides, even if another one fails, or might be if all were known.
Evaluation::Condition Evaluation::ConditionsHold() {
  std::optional<std::pair<size_t, Failure>> failed;
  for (size_t i = 0; i < policy_.conditions_.size(); ++i) {
    const auto value = Evaluate(policy_.conditions_[i]);
    if (value && value->is_false()) return Condition::kDoesNot;
    if (value && value->is_true()) continue;
    Failure failure = value ? Failure{{{}, "", "it is not a bool", ""}} : value.error();
    if (failed && (failure.unknown.empty() || !failed->second.unknown.empty())) continue;
    failed.emplace(i, std::move(failure));
  }
  if (!failed) return Condition::kHolds;
  FailAt(policy_.conditions_[failed->first],
         "condition " + Quote(policy_.written().conditions[failed->first].name), failed->second);
  return Condition::kFailed;
}

void Evaluation::Validate(const SitePolicy::Validation& validation,
                          const WrittenValidation& written) {
  const auto value = Evaluate(validation.expression);
  if (value && value->is_true()) return;
  if (!value || !value->is_false()) {
    FailAt(validation.expression, InBackticks(written.expression.text),
           value ? Failure{{{}, "", "it is not a bool", ""}} : value.error());
    return;
  }
  FieldMessage message = ReadFieldMessage(*context_.view.object, MessageOf(validation, written));
  findings_.Violate(std::move(message.path), WithoutFullStop(message.text),
                    std::string(policy_.rule().fix), {}, written.reason);
}

// A messageExpression that fails, or gives nothing that can be shown, leaves the message.
std::string Evaluation::MessageOf(const SitePolicy::Validation& validation,
                                  const WrittenValidation& written) {
  if (validation.message) {
    const auto value = Evaluate(*validation.message);
    if (value && value->is_string()) {
      const std::string_view text = Trim(value->text());
      if (!text.empty() && text.size() <= kLongestMessage &&
          text.find('\n') == std::string_view::npos) {
        return std::string(text);
      }
    }
  }
  const std::string_view message = Trim(written.message);
  if (!message.empty()) return std::string(message);
  return "this does not hold: " + InBackticks(written.expression.text);
}

void Evaluation::Annotate() {
  for (size_t i = 0; i < policy_.annotations_.size(); ++i) {
    const std::string& key = policy_.written().audit_annotations[i].name;
    const auto value = Evaluate(policy_.annotations_[i]);
    if (!value) {
      FailAt(policy_.annotations_[i], "audit annotation " + Quote(key), value.error());
    } else if (value->is_string() && !value->text().empty()) {
      findings_.Annotate(policy_.name() + "." + key,
                         Cut(std::string(value->text()), kLongestAnnotation));
    } else if (!value->is_string() && value->kind() != cel::Kind::kNull) {
      FailAt(policy_.annotations_[i], "audit annotation " + Quote(key),
             {{{}, "", "it is neither a string nor null", ""}});
    }
  }
}

namespace {

// The keys and indexes of a field path; nothing when it is not one.
std::optional<std::vector<std::string_view>> StepsOf(std::string_view field) {
  std::vector<std::string_view> steps;
  for (size_t at = 0; at < field.size();) {
    const bool bracket = field[at] == '[';
    if (!bracket && at > 0 && field[at++] != '.') return std::nullopt;
    const size_t begin = bracket ? at + 1 : at;
    const size_t end = bracket ? field.find(']', begin) : field.find_first_of(".[ ", begin);
    if (bracket && end == std::string_view::npos) return std::nullopt;
    const std::string_view step = field.substr(begin, end - begin);
    if (step.empty()) return std::nullopt;
    steps.push_back(step);
    at = end == std::string_view::npos ? field.size() : end + (bracket ? 1 : 0);
  }
  return steps;
}

}  // namespace

FieldMessage ReadFieldMessage(const json::Value& object, std::string_view message) {
  const FieldMessage of_object{"", std::string(message)};
  const size_t colon = message.find(": ");
  if (colon == std::string_view::npos || colon == 0) return of_object;
  const auto steps = StepsOf(message.substr(0, colon));
  if (!steps) return of_object;
  std::string path;
  const json::Value* holder = &object;
  for (const std::string_view step : *steps) {
    if (holder == nullptr) return of_object;
    const std::string child = json::Child("", step);
    const json::Value* value = json::Resolve(*holder, child);
    // A first key that is missing is more likely a word.
    if (value == nullptr && (path.empty() || !holder->is_object())) return of_object;
    path += child;
    holder = value;
  }
  return {path, std::string(message.substr(colon + 2))};
}

}  // namespace mindgate::policies::site
