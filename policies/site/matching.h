#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/request.h"
#include "schemas/site_kinds.h"

// Which requests a policy or a binding is about, as Kubernetes has it (matchConstraints and
// matchResources).
namespace mindgate::policies::site {

// The API server labels every namespace with its name.
inline constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

// Labels of an object, and beside them one that the API server always sets.
class Labels {
 public:
  // `object` may be a null pointer.
  static Labels OfObject(const json::Value* object);
  static Labels OfNamespace(const schemas::AdmissionRequest& request, std::string_view ns);

  std::optional<std::string_view> Find(std::string_view key) const;

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
  std::vector<std::string>
      resources;  // "deployments", "*", "*/*"; those of subresources match none
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

bool Matches(const MatchResources& resources, const Matched& asked);

// Whether the rule can be about objects of the kind, whatever is done to them.
bool NamesKind(const ResourceRule& rule, const schemas::KindInfo& kind);

// The kinds that it can be about, those of the site among them.
schemas::KindSet KindsOf(const MatchResources& resources, const schemas::SiteKinds& site);

}  // namespace mindgate::policies::site
