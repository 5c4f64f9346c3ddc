#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "json/issues.h"
#include "json/value.h"
#include "schemas/config.h"
#include "schemas/kinds.h"
#include "schemas/reading.h"
#include "schemas/request.h"
#include "schemas/site_kinds.h"

namespace mindgate::policies::site {

// Which requests a policy or a binding is about, as Kubernetes has it (matchConstraints and
// matchResources).

// The API server labels every namespace with its name.
inline constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

// Labels of an object, and beside them one that the API server always sets.
class Labels {
 public:
  // `object` may be a null pointer.
  static Labels OfObject(const json::Value* object);
  static Labels OfNamespace(const schemas::AdmissionRequest& request, std::string_view ns);

  std::optional<std::string_view> Find(std::string_view key) const;
  // Whether it is known if the label is there.
  bool Knows(std::string_view key) const;

 private:
  const json::Value* map_ = nullptr;
  const schemas::AdmissionRequest* request_ = nullptr;
  std::string_view ns_;
};

struct LabelRequirement {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values{};
};

// An empty one matches everything.
struct LabelSelector {
  std::vector<LabelRequirement> requirements;

  bool empty() const { return requirements.empty(); }
  bool Matches(const Labels& labels) const;
};

struct ResourceRule {
  enum class Scope { kAny, kCluster, kNamespaced };
  std::vector<std::string> groups;    // "*": all
  std::vector<std::string> versions;  // "*": all
  // "deployments", "*"; with any subresource, and the object itself: "deployments/*", "*/*". Those
  // of one subresource match none: "deployments/scale", "*/scale".
  std::vector<std::string> resources;
  std::vector<std::string> operations;  // "CREATE", "*"
  std::vector<std::string> names{};     // none: all
  Scope scope = Scope::kAny;
};

struct MatchResources {
  std::vector<ResourceRule> rules;  // none, of a binding: all
  std::vector<ResourceRule> excluded;
  LabelSelector namespaces;
  LabelSelector objects;
  bool exact = false;  // matchPolicy Exact: only the versions that are named
};

// One request as it is matched.
struct Matched {
  const schemas::AdmissionRequest& request;
  const json::Value& object;
  const schemas::KindInfo& kind;
  std::string_view ns;
  std::string_view name;
};

// Unknown: it depends on labels of the namespace that are not known here.
enum class Match { kNo, kYes, kUnknown };
Match Matches(const MatchResources& resources, const Matched& asked);

// Why a policy that reads them is skipped.
inline constexpr std::string_view kNeedsNamespace =
    "needs the labels of the namespace, which are not known here";

// Whether the rule can be about objects of the kind, whatever is done to them.
bool NamesKind(const ResourceRule& rule, const schemas::KindInfo& kind);

// The kinds that it can be about, those of the site among them.
schemas::KindSet KindsOf(const MatchResources& resources, const schemas::SiteKinds& site);

// ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding as they are written
// (admissionregistration.k8s.io, v1 and v1beta1: the fields are the same).

// What of an API server's limits matters here, and a bound where it has none.
inline constexpr size_t kMostConditions = 64;   // of a policy, as Kubernetes has it
inline constexpr size_t kMostAnnotations = 20;  // the same
inline constexpr size_t kMostExpressions = 64;  // validations, and variables

// An expression, and the pointer at which its document has it.
struct WrittenExpression {
  std::string text;
  std::string path;
  bool empty() const { return text.empty(); }
};

struct NamedExpression {
  std::string name;
  WrittenExpression expression;
};

struct WrittenValidation {
  WrittenExpression expression;
  std::string message;
  WrittenExpression message_expression;
  std::string reason;
};

struct ParamKind {
  std::string api_version;
  std::string kind;
};

struct WrittenPolicy {
  std::string name;
  std::map<std::string, std::string, std::less<>> annotations;
  bool ignores_failures = false;  // failurePolicy: Ignore
  std::optional<ParamKind> param_kind;
  MatchResources constraints;
  std::vector<NamedExpression> conditions;
  std::vector<NamedExpression> variables;
  std::vector<WrittenValidation> validations;
  std::vector<NamedExpression> audit_annotations;
  std::shared_ptr<const json::Document> document{};  // all of it, for who hands it on
};

struct ParamRef {
  std::string name;
  std::string ns;
  std::optional<LabelSelector> selector;
  bool allows_missing = false;  // parameterNotFoundAction: Allow
};

struct WrittenBinding {
  std::string name;
  std::string policy;
  std::optional<ParamRef> param_ref;
  std::optional<MatchResources> resources;
  schemas::Mode mode = schemas::Mode::kOff;  // of the strongest of validationActions
  std::shared_ptr<const json::Document> document{};
};

// What an object in a text of policies is there for.
enum class Purpose {
  kPolicy,
  kBinding,
  kList,       // of objects: v1, List
  kElsewhere,  // of the group of policies, for API servers alone: MutatingAdmissionPolicy
  kMistaken,   // of that group without being a kind of it, or named like a policy in another one
  kParameter,  // any other object
};
Purpose PurposeOf(const json::Json& document);

// What is wrong with the kind of one that is mistaken.
json::Issue MistakenKind(const json::Json& document, const json::Positions& positions);

// Reads one document. What is wrong goes to `reading`, all at once; then nothing is returned.
std::optional<WrittenPolicy> ReadPolicy(const json::Json& document, schemas::ReadContext& reading);
std::optional<WrittenBinding> ReadBinding(const json::Json& document,
                                          schemas::ReadContext& reading);

}  // namespace mindgate::policies::site
