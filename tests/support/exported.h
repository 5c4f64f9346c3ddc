#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "admission/export/policy.h"
#include "cel/program.h"
#include "cel/value.h"
#include "json/arena.h"
#include "json/decode.h"
#include "json/issues.h"
#include "policies/engine.h"
#include "schemas/request.h"

// Exported policies, evaluated as the API server does it: match conditions, then validations, over
// variables that are evaluated once where they are read.
namespace mindgate::testing {

// The request that the API server would make of one change.
struct ReviewedChange {
  const json::Value& object;
  const json::Value* old_object = nullptr;  // of an UPDATE
  std::string ns = {};
  std::string user = "system:serviceaccount:kube-system:some-controller";
};

// What a policy says of a change.
struct PolicyOutcome {
  enum class Result { kNotMatched, kKept, kBroken, kError };
  Result result = Result::kKept;
  std::string error = {};  // where an expression has no value
};

class ExportedPolicy {
 public:
  // A ValidatingAdmissionPolicy or MutatingAdmissionPolicy. What does not compile is in `faults`;
  // mutations are not compiled.
  explicit ExportedPolicy(const nlohmann::ordered_json& policy) {
    environment_.variables = {
        {"object", "dyn"}, {"oldObject", "dyn"}, {"request", "dyn"}, {"namespaceObject", "dyn"}};
    const auto& spec = policy.at("spec");
    resources_ = spec.at("matchConstraints").at("resourceRules");
    for (const auto& each : spec.at("matchConditions")) Add(each, conditions_);
    // A condition names no variable of the policy.
    for (const auto& each : spec.at("variables")) {
      Add(each, variables_);
      if (!faults_.empty()) return;
      environment_.variables.push_back(
          {"variables." + each.at("name").get<std::string>(), variables_.back().type()});
    }
    if (!spec.contains("validations")) return;
    for (const auto& each : spec.at("validations")) Add(each, validations_);
  }

  const std::string& faults() const { return faults_; }
  PolicyOutcome Evaluate(const ReviewedChange& change) const {
    if (!IsAbout(schemas::InfoOf(*schemas::KindOf(change.object)))) {
      return {PolicyOutcome::Result::kNotMatched};
    }
    return Over(change, [&](Row& row) -> PolicyOutcome {
      if (const auto not_met = NotMet(row)) return *not_met;
      for (const cel::Program& validation : validations_) {
        const auto value = row.Of(validation);
        if (!value) return {PolicyOutcome::Result::kError, row.error};
        if (!*value) return {PolicyOutcome::Result::kBroken};
      }
      return {PolicyOutcome::Result::kKept};
    });
  }

  // An expression over the variables. One that does not compile is in `faults`.
  std::optional<cel::Program> Compile(const std::string& expression,
                                      const std::string& name = "expression") {
    auto program = cel::Compile(expression, environment_);
    if (program) return *std::move(program);
    faults_ += json::Render(program.error(), name, expression);
    return std::nullopt;
  }

  // The text that such an expression gives; empty where a match condition is not met, and the error
  // where there is one.
  std::string TextOf(const cel::Program& expression, const ReviewedChange& change) const {
    return Over(change, [&](Row& row) -> std::string {
      if (const auto not_met = NotMet(row)) return not_met->error;
      return row.TextOf(expression);
    });
  }

 private:
  class Row final : public cel::Activation {
   public:
    Row(const ExportedPolicy& policy, std::vector<cel::Value> given)
        : policy_(policy), given_(std::move(given)), variables_(policy.variables_.size()) {}

    cel::Value Get(size_t variable, cel::Context& context) override {
      if (variable < given_.size()) return given_[variable];
      const size_t index = variable - given_.size();
      if (!variables_[index]) {
        const auto value = policy_.variables_[index].Evaluate(*this, arena_, {}, cost_);
        if (!value) {
          error = value.error().message + " in " + policy_.variables_[index].text();
          return context.Fail(value.error().message);
        }
        variables_[index] = *value;
      }
      return *variables_[index];
    }

    std::optional<bool> Of(const cel::Program& program) {
      const auto value = program.Evaluate(*this, arena_, {}, cost_);
      if (value && value->kind() == cel::Kind::kBool) return value->is_true();
      if (error.empty()) {
        error = (value ? "no bool" : value.error().message) + " in " + program.text();
      }
      return std::nullopt;
    }

    std::string TextOf(const cel::Program& program) {
      const auto value = program.Evaluate(*this, arena_, {}, cost_);
      if (value && value->is_string()) return std::string(value->text());
      return error.empty() ? (value ? "no text" : value.error().message) : error;
    }

    std::string error;

   private:
    const ExportedPolicy& policy_;
    const std::vector<cel::Value> given_;
    std::vector<std::optional<cel::Value>> variables_;
    json::Arena arena_{4096};
    uint64_t cost_ = 0;
  };

  template <typename Use>
  std::invoke_result_t<Use, Row&> Over(const ReviewedChange& change, Use use) const {
    const json::Document request(RequestOf(change));
    const json::Document none{json::Json(nullptr)};
    const json::Value& old = change.old_object == nullptr ? none.root() : *change.old_object;
    Row row(*this, {cel::Value::Of(change.object), cel::Value::Of(old),
                    cel::Value::Of(request.root()), cel::Value::Of(none.root())});
    return use(row);
  }

  // Whether the match constraints select the kind.
  bool IsAbout(const schemas::KindInfo& info) const {
    const auto names = [](const nlohmann::ordered_json& list, std::string_view word) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    return std::any_of(resources_.begin(), resources_.end(), [&](const auto& rule) {
      return names(rule.at("apiGroups"), info.group) && names(rule.at("resources"), info.plural);
    });
  }

  // Why the match conditions do not hold.
  std::optional<PolicyOutcome> NotMet(Row& row) const {
    for (const cel::Program& condition : conditions_) {
      const auto value = row.Of(condition);
      if (!value) return PolicyOutcome{PolicyOutcome::Result::kError, row.error};
      if (!*value) return PolicyOutcome{PolicyOutcome::Result::kNotMatched};
    }
    return std::nullopt;
  }

  static json::Json RequestOf(const ReviewedChange& change) {
    const schemas::KindInfo& info = schemas::InfoOf(*schemas::KindOf(change.object));
    return {{"kind", {{"group", info.group}, {"version", info.version}, {"kind", info.name}}},
            {"operation", change.old_object == nullptr ? "CREATE" : "UPDATE"},
            {"namespace", change.ns},
            {"userInfo", {{"username", change.user}}}};
  }

  void Add(const nlohmann::ordered_json& named, std::vector<cel::Program>& programs) {
    auto program = Compile(named.at("expression"), named.value("name", "validation"));
    if (program) programs.push_back(*std::move(program));
  }

  cel::Environment environment_;
  nlohmann::ordered_json resources_;
  std::vector<cel::Program> conditions_;
  std::vector<cel::Program> variables_;
  std::vector<cel::Program> validations_;
  std::string faults_;
};

// The policies of a rule that report all that it finds, with default settings but for the mode,
// which is `warn`.
inline exported::ExportOptions OptionsOfTests() {
  exported::ExportOptions options;
  options.controller_namespaces = {"kube-system"};
  return options;
}

inline ExportedPolicy PolicyThatWarns(const policies::Rule& rule, const exported::ExportedRule& row,
                                      schemas::Config config) {
  config.rules[std::string(rule.id)] = schemas::Mode::kWarn;
  return ExportedPolicy(exported::PoliciesOf(rule, row, config, OptionsOfTests()).front());
}

// Nothing when the rule is not exported.
inline std::optional<ExportedPolicy> PolicyThatWarns(const policies::Rule& rule,
                                                     const schemas::Config& config) {
  for (const exported::ExportedRule& row : exported::ExportedRules(config)) {
    if (row.id == rule.id) return PolicyThatWarns(rule, row, config);
  }
  return std::nullopt;
}

inline bool HasNull(const json::Json& tree) {
  if (!tree.is_structured()) return tree.is_null();
  return std::any_of(tree.begin(), tree.end(),
                     [](const json::Json& each) { return HasNull(each); });
}

// The policy of a rule, which must find something in an object exactly when the rule does.
class ExportedTwin {
 public:
  explicit ExportedTwin(const policies::Rule& rule) : rule_(rule) {}

  void ExpectSame(const schemas::WorkloadView& view, const schemas::AdmissionRequest& request,
                  const schemas::Config& config, bool broken) {
    // The API server refuses members of a wrong type, and drops those that are null, before.
    if (view.excess || !view.wrong_types.empty() || HasNull(json::TreeOf(*request.object))) return;
    if (!policy_ || config_ != config) {
      policy_ = PolicyThatWarns(rule_, config);
      config_ = config;
    }
    if (!policy_) return;
    ASSERT_EQ(policy_->faults(), "");
    const PolicyOutcome outcome = policy_->Evaluate(
        {.object = *request.object, .old_object = request.old_object, .ns = request.ns});
    if (outcome.result == PolicyOutcome::Result::kNotMatched) return;
    EXPECT_EQ(outcome.error, "") << "in the exported policy";
    if (!outcome.error.empty()) return;
    EXPECT_EQ(outcome.result == PolicyOutcome::Result::kBroken, broken)
        << "the exported policy differs";
  }

 private:
  const policies::Rule& rule_;
  std::optional<ExportedPolicy> policy_;
  schemas::Config config_;
};

}  // namespace mindgate::testing
