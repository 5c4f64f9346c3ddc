#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policies/site/site_policies.h"
#include "schemas/config.h"
#include "schemas/config_load.h"

// Where policies of a site's own are read from, for all that read a configuration.
namespace mindgate::admission {

using PolicyTexts = std::vector<policies::SitePolicies::Text>;

// Whether a file of a folder, or a key of a ConfigMap, is one of policies by its name: .yaml, .yml
// and .json are.
bool IsPolicyFile(std::string_view name);

// The texts of files and of folders: their .yaml, .yml and .json, by name, without those of
// sub-folders and without hidden entries. Relative paths count from `folder`, those of `more` from
// the working directory. A folder holds at most kMostPolicyFiles, and all texts together no more
// than SitePolicies reads. The message begins with the path.
inline constexpr size_t kMostPolicyFiles = 1024;
Result<PolicyTexts> ReadPolicyTexts(const std::vector<std::string>& paths,
                                    const std::string& folder,
                                    const std::vector<std::string>& more = {});

// Makes the policies in the texts those of the configuration, whose generation is then of them,
// too. All faults are in the message, as json::Render prints them. `warnings` gets the same of what
// has no effect. Without texts nothing changes.
Result<void> SetPolicies(const PolicyTexts& texts, schemas::Config& config,
                         std::string* warnings = nullptr);

// The rules and mutators that this binary has, as mindgate.yaml may name them.
const schemas::KnownNames& KnownNames();

}  // namespace mindgate::admission
