#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cel/program.h"
#include "json/value.h"
#include "policies/site/facts.h"
#include "policies/site/policy.h"

namespace mindgate::policies::site {

// One policy and one request, under one binding after the other. Expressions are evaluated as the
// API server does it; what all of them cost together is bounded.
class Evaluation final : public cel::Activation {
 public:
  Evaluation(const SitePolicy& policy, const RuleContext& context, Findings& findings);

  // Under the binding, and with the parameter; a null pointer where the policy takes none.
  void Evaluate(const WrittenBinding& binding, const json::Value* params);
  // Nothing was about the object.
  bool found_nothing_to_evaluate() const { return !evaluated_; }
  void Fail(const std::string& message);

  cel::Value Get(size_t variable, cel::Context& context) override;

 private:
  enum class Condition { kHolds, kDoesNot, kFailed };

  // Why an expression has no value.
  struct Failure {
    json::Issue issue;
    std::string_view unknown = {};  // it asked for what is not known here, and may have one there
  };
  // What became of a variable when it was first read.
  struct OwnValue {
    std::optional<cel::Value> value;
    std::string fault;         // without a value
    std::string_view unknown;  // what it asked for and is not known here
  };

  tl::expected<cel::Value, Failure> Evaluate(const Expression& expression);
  cel::Value Own(size_t index, cel::Context& context);
  Condition ConditionsHold();
  void Validate(const SitePolicy::Validation& validation, const WrittenValidation& written);
  std::string MessageOf(const SitePolicy::Validation& validation, const WrittenValidation& written);
  void Annotate();
  void FailAt(const Expression& expression, const std::string& what, const Failure& failure);
  std::optional<OwnValue> EvaluateOwn(size_t index, cel::Context& context);

  const SitePolicy& policy_;
  const RuleContext& context_;
  Findings& findings_;
  const size_t first_own_;
  const json::Value* params_ = nullptr;
  std::vector<std::optional<OwnValue>> own_;  // variables that were evaluated
  uint64_t left_ = kMostSteps;
  uint64_t allowance_ = 0;  // of the expression that is evaluated
  bool evaluated_ = false;
};

// What a message says, and of which place.
struct FieldMessage {
  std::string path;  // RFC 6901 pointer; empty: of the whole object
  std::string text;  // without the place
};

// "spec.template.spec.containers[0].image: not from our registry" names a place if the object has
// it, or the object or list that would hold it. Field paths are written as Kubernetes prints them:
// a.b[0].c, and keys with dots or slashes in brackets.
FieldMessage ReadFieldMessage(const json::Value& object, std::string_view message);

}  // namespace mindgate::policies::site
