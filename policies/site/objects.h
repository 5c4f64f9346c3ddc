#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "policies/site/matching.h"
#include "schemas/config.h"
#include "schemas/reading.h"

// ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding as they are written
// (admissionregistration.k8s.io, v1 and v1beta1: the fields are the same).
namespace mindgate::policies::site {

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

bool IsPolicy(const json::Json& document);
bool IsBinding(const json::Json& document);

// Reads one document. What is wrong goes to `reading`, all at once; then nothing is returned.
std::optional<WrittenPolicy> ReadPolicy(const json::Json& document, schemas::Reading& reading);
std::optional<WrittenBinding> ReadBinding(const json::Json& document, schemas::Reading& reading);

}  // namespace mindgate::policies::site
