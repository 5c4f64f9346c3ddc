#include "policies/site/policy.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "policies/site/evaluation.h"
#include "policies/site/facts.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::policies::site {
namespace {

// Names that are there in other places of a policy, or in other policies.
void ExplainMissing(json::Issue& issue) {
  if (issue.message == "undeclared reference to 'variables'") {
    issue.hint = "declare it under variables, above what reads it; matchConditions read none";
  } else if (issue.message == "undeclared reference to 'params'") {
    issue.hint = "give the policy a paramKind";
  }
}

}  // namespace

Expression::Expression(cel::Program program, const WrittenIn& in, json::Position at)
    : program_(std::move(program)), file_(in.file.name) {
  const std::string& text = program_.text();
  std::vector<size_t> lines = {0};
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1)) {
    lines.push_back(end + 1);
  }
  for (const json::Position& place : json::PlacesInScalar(in.file.text, at, text, lines)) {
    lines_.push_back(place.line);
  }
}

std::optional<Expression> Expression::Compile(const WrittenExpression& written, const WrittenIn& in,
                                              const cel::Environment& environment,
                                              json::Issues& issues) {
  const json::Position at = in.document.positions.At(written.path);
  auto program = cel::Compile(written.text, environment);
  if (program) return Expression(*std::move(program), in, at);
  for (json::Issue issue : program.error().items()) {
    issue.at = json::PlaceInScalar(in.file.text, at, written.text, issue.at);
    issue.field = json::FieldPath(in.document.value, written.path);
    ExplainMissing(issue);
    issues.Add(std::move(issue));
  }
  return std::nullopt;
}

std::string Expression::Where(json::Position within) const {
  const size_t line = within.line < 1 ? 0 : static_cast<size_t>(within.line) - 1;
  return file_ + ":" + std::to_string(lines_[std::min(line, lines_.size() - 1)]);
}

namespace {

// Variables that need each other: each is evaluated inside the one that reads it, and a stack has
// an end.
constexpr size_t kDeepestVariables = 16;

constexpr std::string_view kSummary = "mindgate.io/summary";
constexpr std::string_view kWhy = "mindgate.io/why";
constexpr std::string_view kFix = "mindgate.io/fix";

// In the order of SiteFacts::Variable.
std::vector<cel::Variable> FactVariables() {
  return {{"object"},           {"oldObject"},       {"request"},
          {"request.userInfo"}, {"namespaceObject"}, {"workload"}};
}

// How deep the variables are that a text may read. One that only looks so counts, too.
size_t DepthOf(const std::string& text, const std::vector<NamedExpression>& variables,
               const std::vector<size_t>& depths) {
  size_t deepest = 0;
  for (size_t i = 0; i < depths.size(); ++i) {
    if (text.find(variables[i].name) != std::string::npos) deepest = std::max(deepest, depths[i]);
  }
  return deepest + 1;
}

// Whether an expression that compiles needs `workload`.
bool NeedsWorkload(const std::string& text, cel::Environment environment) {
  if (text.find("workload") == std::string::npos) return false;
  environment.variables[SiteFacts::kWorkload].name = "(not there)";
  return !cel::Compile(text, environment);
}

// What an expression must give.
enum class Wanted { kAnything, kBool, kString, kStringOrNull };

// Types that API servers know of what is "dyn" here (k8s.io/apiserver: pkg/admission/plugin/
// cel/compile.go, BuildRequestType and BuildNamespaceType).
std::vector<cel::Variable> ClusterVariables() {
  std::vector<cel::Variable> variables = FactVariables();
  for (const char* field : {"name", "namespace", "operation", "subResource", "requestSubResource",
                            "userInfo.username", "userInfo.uid"}) {
    variables.push_back({std::string("request.") + field, "string"});
  }
  for (const char* field : {"kind.group", "kind.version", "kind.kind", "resource.group",
                            "resource.version", "resource.resource"}) {
    const std::string name = field;
    variables.push_back({"request." + name, "string"});
    variables.push_back(
        {"request.request" + std::string(1, name[0] == 'k' ? 'K' : 'R') + name.substr(1),
         "string"});
  }
  variables.push_back({"request.dryRun", "bool"});
  variables.push_back({"request.userInfo.groups", "list(string)"});
  variables.push_back({"namespaceObject.metadata.name", "string"});
  variables.push_back({"namespaceObject.metadata.labels", "map(string, string)"});
  variables.push_back({"namespaceObject.metadata.annotations", "map(string, string)"});
  return variables;
}

// Compiles the expressions of one policy in turn, and keeps what those below it may read.
class ExpressionCompiler {
 public:
  ExpressionCompiler(const WrittenIn& in, bool has_params, json::Issues& issues)
      : in_(in),
        issues_(issues),
        here_{.variables = FactVariables()},
        in_cluster_{.variables = ClusterVariables()} {
    if (!has_params) return;
    here_.variables.push_back({"params"});
    in_cluster_.variables.push_back({"params"});
  }

  std::optional<Expression> Compile(const WrittenExpression& written, Wanted wanted) {
    auto compiled = Expression::Compile(written, in_, here_, issues_);
    if (!compiled) return compiled;
    CheckType(*compiled, written, wanted);
    uses_workload_ = uses_workload_ || NeedsWorkload(written.text, here_);
    return compiled;
  }

  // A faulty one (null) stays known, so that those who read it are not faulty for that.
  void Declare(const std::string& name, const Expression* variable) {
    here_.variables.push_back({name, variable == nullptr ? "dyn" : variable->program().type()});
    in_cluster_.variables.push_back({name, variable == nullptr ? "dyn" : TypeInCluster(*variable)});
  }

  bool uses_workload() const { return uses_workload_; }
  // Expressions whose type only shows when they are evaluated: an API server takes none of them.
  json::Issues TakeUncertain() { return std::move(uncertain_); }

 private:
  std::string TypeInCluster(const Expression& expression) const {
    const std::string& type = expression.program().type();
    if (type != "dyn") return type;
    const auto program = cel::Compile(expression.program().text(), in_cluster_);
    return program ? program->type() : type;
  }

  void CheckType(const Expression& expression, const WrittenExpression& written, Wanted wanted) {
    if (wanted == Wanted::kAnything) return;
    const std::string& type = expression.program().type();
    const auto is_right = [wanted](std::string_view each) {
      return each == (wanted == Wanted::kBool ? "bool" : "string") ||
             (wanted == Wanted::kStringOrNull && each == "null_type");
    };
    if (is_right(type)) return;
    const std::string name = wanted == Wanted::kBool ? "bool" : "string";
    const json::Position at = in_.document.positions.At(written.path);
    std::string field = json::FieldPath(in_.document.value, written.path);
    if (type != "dyn") {
      issues_.Add(
          {at, std::move(field), "the expression must give a " + name + ", not " + type, ""});
    } else if (!is_right(TypeInCluster(expression))) {
      uncertain_.Add({at, std::move(field),
                      "that the expression gives a " + name +
                          " only shows when it is evaluated: an API server refuses the policy, and "
                          "`mindgate export vap` leaves it out",
                      wanted == Wanted::kBool ? "write bool(...) around it, or == true behind it"
                                              : "write string(...) around it"});
    }
  }

  const WrittenIn& in_;
  json::Issues& issues_;
  json::Issues uncertain_;
  cel::Environment here_;
  cel::Environment in_cluster_;
  bool uses_workload_ = false;
};

std::string_view ValueOr(const std::map<std::string, std::string, std::less<>>& annotations,
                         std::string_view key, std::string_view otherwise) {
  const auto found = annotations.find(key);
  return found == annotations.end() || Trim(found->second).empty() ? otherwise
                                                                   : Trim(found->second);
}

// What a policy that takes parameters is evaluated with.
struct FoundParams {
  std::vector<const json::Value*> objects;
  bool known = false;  // all there are
};

class ParamSearch {
 public:
  ParamSearch(const ParamKind& kind, const Params& beside, const schemas::ObjectLookup* others)
      : api_version_(kind.api_version),
        group_(schemas::GroupOf(kind.api_version)),
        kind_(kind.kind),
        beside_(beside),
        others_(others) {}

  FoundParams Find(const ParamRef& ref, std::string_view ns) const {
    FoundParams found;
    found.known = others_ != nullptr && others_->IsComplete(group_, kind_);
    const std::string_view in = ref.ns.empty() ? ns : std::string_view(ref.ns);
    const auto take = [&](const json::Value& object) {
      if (ref.selector && !ref.selector->Matches(Labels::OfObject(&object))) return;
      found.objects.push_back(&object);
    };
    for (const json::Document& document : beside_) {
      if (IsOfKind(document.root(), ref.name) && IsIn(document.root(), in)) take(document.root());
    }
    if (!found.objects.empty() || others_ == nullptr) return found;
    if (ref.name.empty()) {
      others_->ForEach(group_, kind_, in, take);
    } else {
      const json::Value* object = others_->Find(group_, kind_, in, ref.name);
      if (object == nullptr) object = others_->Find(group_, kind_, "", ref.name);
      if (object != nullptr) take(*object);
    }
    return found;
  }

  // Those beside the policy, in all namespaces where the reference names none.
  std::vector<const json::Value*> FindBeside(const ParamRef& ref) const {
    std::vector<const json::Value*> found;
    for (const json::Document& document : beside_) {
      const json::Value& object = document.root();
      if (!IsOfKind(object, ref.name) || (!ref.ns.empty() && !IsIn(object, ref.ns))) continue;
      if (ref.selector && !ref.selector->Matches(Labels::OfObject(&object))) continue;
      found.push_back(&object);
    }
    return found;
  }

 private:
  bool IsOfKind(const json::Value& object, std::string_view name) const {
    return json::FindString(object, "apiVersion") == api_version_ &&
           json::FindString(object, "kind") == kind_ &&
           (name.empty() || json::FindString(json::Find(object, "metadata"), "name") == name);
  }

  static bool IsIn(const json::Value& object, std::string_view ns) {
    return json::FindString(json::Find(object, "metadata"), "namespace").value_or(ns) == ns;
  }

  const std::string_view api_version_;
  const std::string_view group_;
  const std::string_view kind_;
  const Params& beside_;
  const schemas::ObjectLookup* others_;
};

}  // namespace

SitePolicy::SitePolicy(WrittenPolicy written, const WrittenIn& in, const schemas::SiteKinds& kinds)
    : written_(std::move(written)) {
  Describe(in, kinds);
}

std::unique_ptr<SitePolicy> SitePolicy::Make(WrittenPolicy written, const WrittenIn& in,
                                             const schemas::SiteKinds& kinds,
                                             json::Issues& issues) {
  std::unique_ptr<SitePolicy> policy(new SitePolicy(std::move(written), in, kinds));
  if (!policy->Compile(in, issues)) return nullptr;
  policy->rule_.of_object = !policy->uses_workload_;
  policy->rule_.of_any_size = !policy->uses_workload_;
  return policy;
}

bool SitePolicy::Compile(const WrittenIn& in, json::Issues& issues) {
  const size_t before = issues.items().size() + issues.dropped();
  ExpressionCompiler compiler(in, written_.param_kind.has_value(), issues);
  const auto add = [&](const WrittenExpression& expression, Wanted wanted,
                       std::vector<Expression>& all) {
    auto compiled = compiler.Compile(expression, wanted);
    if (!compiled) return false;
    all.push_back(*std::move(compiled));
    return true;
  };
  for (const NamedExpression& each : written_.conditions) {
    add(each.expression, Wanted::kBool, conditions_);
  }
  std::vector<size_t> depths;
  for (const NamedExpression& each : written_.variables) {
    depths.push_back(DepthOf(each.expression.text, written_.variables, depths));
    if (depths.back() > kDeepestVariables) {
      issues.Add({in.document.positions.At(each.expression.path),
                  json::FieldPath(in.document.value, each.expression.path),
                  "more than " + std::to_string(kDeepestVariables) + " variables need each other",
                  "put some of them into one expression"});
    }
    const bool sound = add(each.expression, Wanted::kAnything, variables_);
    compiler.Declare("variables." + each.name, sound ? &variables_.back() : nullptr);
  }
  for (const WrittenValidation& each : written_.validations) {
    std::vector<Expression> pair;
    const bool sound = add(each.expression, Wanted::kBool, pair);
    if (!each.message_expression.empty()) add(each.message_expression, Wanted::kString, pair);
    if (!sound) continue;
    validations_.push_back(
        {std::move(pair[0]), pair.size() > 1 ? std::optional(std::move(pair[1])) : std::nullopt});
  }
  for (const NamedExpression& each : written_.audit_annotations) {
    add(each.expression, Wanted::kStringOrNull, annotations_);
  }
  uses_workload_ = compiler.uses_workload();
  if (!uses_workload_) uncertain_ = compiler.TakeUncertain();
  return issues.items().size() + issues.dropped() == before;
}

void SitePolicy::Describe(const WrittenIn& in, const schemas::SiteKinds& kinds) {
  id_ = "policy/" + written_.name;
  std::vector<std::string> texts;
  std::string first_message;
  for (const WrittenValidation& each : written_.validations) {
    texts.push_back("`" + std::string(Trim(each.expression.text)) + "`");
    if (first_message.empty()) first_message = Trim(each.message);
  }
  const auto text_of = [&](std::string_view key, std::string_view otherwise) {
    return std::string(ValueOr(written_.annotations, key, otherwise));
  };
  summary_ = text_of(kSummary, first_message.empty() ? "a policy of this site" : first_message);
  why_ = text_of(kWhy, "the site demands it; the policy gives no other reason");
  fix_ = text_of(kFix,
                 "change what the message names, or ask who wrote the policy; "
                 "`mindgate explain " +
                     id_ + " --policies FILE` shows what it demands");
  source_ = in.file.name + ":" + std::to_string(in.document.line);
  if (!texts.empty()) source_ += ", which demands " + Join(texts, " and ");
  rule_ = {.id = id_,
           .name = written_.name,
           .severity = Severity::kError,
           .default_mode = Mode::kOff,
           .kinds = KindsOf(written_.constraints, kinds),
           .summary = summary_,
           .why = why_,
           .fix = fix_,
           .source = source_,
           .check = nullptr,
           .site = this};
}

void SitePolicy::Bind(std::vector<WrittenBinding> bindings, const Params& params) {
  bindings_ = std::move(bindings);
  params_ = &params;
  std::stable_sort(bindings_.begin(), bindings_.end(),
                   [](const auto& a, const auto& b) { return a.mode > b.mode; });
  rule_.default_mode = bindings_.empty() ? Mode::kOff : bindings_.front().mode;
}

std::vector<const json::Value*> SitePolicy::ParamsOf(const WrittenBinding& binding) const {
  if (!written_.param_kind || !binding.param_ref) return {};
  return ParamSearch(*written_.param_kind, *params_, nullptr).FindBeside(*binding.param_ref);
}

void SitePolicy::Run(const RuleContext& context, Findings& findings) const {
  const Matched asked{context.request, *context.view.object, context.view.info(), context.ns(),
                      context.view.name};
  const Match constraints = Matches(written_.constraints, asked);
  if (constraints == Match::kNo) {
    findings.DoesNotApply("its matchConstraints do not match");
    return;
  }
  if (constraints == Match::kUnknown) return findings.Skip(std::string(kNeedsNamespace));
  Evaluation evaluation(*this, context, findings);
  for (const WrittenBinding& binding : bindings_) {
    const Match match = binding.resources ? Matches(*binding.resources, asked) : Match::kYes;
    if (match == Match::kUnknown) findings.Skip(std::string(kNeedsNamespace));
    if (match != Match::kYes) continue;
    if (!written_.param_kind || !binding.param_ref) {
      evaluation.Evaluate(binding, nullptr);
      continue;
    }
    const ParamSearch search(*written_.param_kind, *params_, context.request.objects);
    const FoundParams found = search.Find(*binding.param_ref, context.ns());
    for (const json::Value* params : found.objects) evaluation.Evaluate(binding, params);
    if (!found.objects.empty()) continue;
    const std::string what =
        written_.param_kind->kind +
        (binding.param_ref->name.empty() ? "" : " " + Quote(binding.param_ref->name));
    if (!found.known) {
      findings.Skip("needs " + what + ", which is not known here");
    } else if (!binding.param_ref->allows_missing) {
      evaluation.Fail("there is no " + what + ", which binding " + binding.name + " names");
    }
  }
  if (evaluation.found_nothing_to_evaluate() && findings.skipped().empty()) {
    findings.DoesNotApply("its bindings or matchConditions do not match");
  }
}

}  // namespace mindgate::policies::site
