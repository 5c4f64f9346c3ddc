#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "policies/rule.h"
#include "policies/site/expression.h"
#include "policies/site/objects.h"

namespace mindgate::policies::site {

// What all expressions of one policy may cost for one request: 5 ms on a slow core, while the API
// server gives ten times as much. What needs more is an error of the policy.
inline constexpr uint64_t kMostSteps = 200'000;
inline constexpr size_t kMostMemory = size_t{4} * 1024 * 1024;

// Objects that stand in the files beside the policies, for paramKind.
using Params = std::vector<json::Document>;

// A policy with its bindings, as a rule: never changes, many threads may run it.
class SitePolicy final : public Check {
 public:
  // Compiles all that it has. Faults go to `issues`, at their places; then nothing is returned.
  // `kinds`: those of the site, which it may be about.
  static std::unique_ptr<SitePolicy> Make(WrittenPolicy written, const WrittenIn& in,
                                          const schemas::SiteKinds& kinds, json::Issues& issues);

  // What binds it, before it is run for the first time. `params` must outlive it.
  void Bind(std::vector<WrittenBinding> bindings, const Params& params);
  // Without a binding it is not in force.
  bool is_bound() const { return !bindings_.empty(); }
  const std::vector<WrittenBinding>& bindings() const { return bindings_; }
  // Objects in the files that the binding may mean as parameters, in whatever namespace.
  std::vector<const json::Value*> ParamsOf(const WrittenBinding& binding) const;

  const Rule& rule() const { return rule_; }
  const std::string& name() const { return written_.name; }
  const WrittenPolicy& written() const { return written_; }
  // Whether a cluster cannot judge by it, because an expression reads `workload`.
  bool uses_workload() const { return uses_workload_; }

  void Run(const RuleContext& context, Findings& findings) const override;

 private:
  friend class Evaluation;

  struct Validation {
    Expression expression;
    std::optional<Expression> message;
  };

  SitePolicy(WrittenPolicy written, const WrittenIn& in, const schemas::SiteKinds& kinds);
  bool Compile(const WrittenIn& in, json::Issues& issues);
  void Describe(const WrittenIn& in, const schemas::SiteKinds& kinds);

  WrittenPolicy written_;
  std::vector<Expression> conditions_;
  std::vector<Expression> variables_;
  std::vector<Validation> validations_;
  std::vector<Expression> annotations_;
  std::vector<WrittenBinding> bindings_;  // the strongest first
  const Params* params_ = nullptr;
  bool uses_workload_ = false;

  // What the rule shows.
  std::string id_;
  std::string summary_;
  std::string why_;
  std::string fix_;
  std::string source_;
  Rule rule_;
};

}  // namespace mindgate::policies::site
