#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/program.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/yaml.h"
#include "policies/rule.h"
#include "policies/site/objects.h"

namespace mindgate::policies::site {

// One text with policies: a file, or an entry of a ConfigMap.
struct PolicyText {
  std::string name;  // of the file, for messages
  std::string text;
  // A folder holds other files, too: what is no object of Kubernetes is then left out.
  bool found_in_folder = false;
  bool operator==(const PolicyText&) const = default;
};

// Where expressions of one document stand.
struct WrittenIn {
  const PolicyText& file;
  const json::YamlDocument& document;
};

// One compiled expression that knows where it was written.
class Expression {
 public:
  // A faulty one has its issues at their places in the file.
  static std::optional<Expression> Compile(const WrittenExpression& written, const WrittenIn& in,
                                           const cel::Environment& environment,
                                           json::Issues& issues);

  const cel::Program& program() const { return program_; }
  // "queues.yaml:12", of a line in it.
  std::string Where(json::Position within) const;

 private:
  Expression(cel::Program program, const WrittenIn& in, json::Position at);

  cel::Program program_;
  std::string file_;
  std::vector<int> lines_;  // of the file, for each line of it
};

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
  // Whether a cluster cannot evaluate it, because an expression reads `workload`.
  bool uses_workload() const { return uses_workload_; }
  // Expressions that a cluster refuses, as it must know before it evaluates them what they give.
  // Here the value decides. None of a policy that uses `workload`.
  const json::Issues& uncertain() const { return uncertain_; }

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
  json::Issues uncertain_;

  // What the rule shows.
  std::string id_;
  std::string summary_;
  std::string why_;
  std::string fix_;
  std::string source_;
  Rule rule_;
};

}  // namespace mindgate::policies::site
