#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "json/issues.h"
#include "policies/rule.h"
#include "policies/site/policy.h"
#include "schemas/site_kinds.h"

namespace mindgate::policies {

// The policies of a site's own, in Kubernetes' format: a set that never changes, shared by all who
// evaluate with it. Findings and traces point into it. Safe from many threads.
class SitePolicies {
 public:
  using Text = site::PolicyText;

  // What is wrong with one of the texts, or only strange.
  struct Faults {
    size_t text = 0;  // its index
    json::Issues issues;
  };

  // What a ConfigMap or a folder of a site has at most; a decision asks every policy.
  static constexpr size_t kMostPolicies = 256;
  static constexpr size_t kMostBindings = 1024;
  static constexpr size_t kMostBytes = size_t{4} * 1024 * 1024;

  // The set of all policies in the texts, or all that is wrong with them. The other objects of
  // Kubernetes there are parameters of the policies. What is in a List counts like the rest.
  // `kinds`: those of the site, which policies may be about. Never throws.
  static tl::expected<std::shared_ptr<const SitePolicies>, std::vector<Faults>> Make(
      const std::vector<Text>& texts, const schemas::SiteKinds& kinds = {});

  ~SitePolicies();

  // Of the policies that are bound, by id.
  std::span<const Rule* const> rules() const { return rules_; }
  // By id ("policy/NAME"); a null pointer when there is none, or it is not bound.
  const Rule* Find(std::string_view id) const;
  // All of them, by name, also those that are not bound.
  std::span<const std::unique_ptr<site::SitePolicy>> policies() const { return policies_; }
  // What is sound but has no effect, or not the one that was meant.
  const std::vector<Faults>& warnings() const { return warnings_; }

 private:
  friend class SiteReader;
  SitePolicies();

  site::Params params_;
  std::vector<std::unique_ptr<site::SitePolicy>> policies_;
  std::vector<const Rule*> rules_;
  std::vector<Faults> warnings_;
};

// What findings are called before a name: "policy/NAME".
inline constexpr std::string_view kPolicyPrefix = "policy/";

// All faults of the texts as json::Render prints them.
std::string RenderFaults(const std::vector<SitePolicies::Faults>& faults,
                         const std::vector<SitePolicies::Text>& texts);

}  // namespace mindgate::policies
