#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/snapshot.h"
#include "base/time.h"
#include "policies/site/site_policies.h"
#include "schemas/config.h"

namespace mindgate::admission {

using PolicyTexts = std::vector<policies::SitePolicies::Text>;

// Where policies of a site's own are read from, for all that read a configuration.

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

// What a configuration is made of.
struct ConfigTexts {
  std::string config;
  PolicyTexts policies;
  bool operator==(const ConfigTexts&) const = default;
};

// The ConfigMaps that are policies, too (`policies.configMaps`), as somebody follows them.
class PolicyConfigMaps {
 public:
  virtual ~PolicyConfigMaps() = default;
  // Their texts as they are now, by name; the error says why that is not known. The first call
  // begins to follow them.
  virtual Result<PolicyTexts> Texts() = 0;
  // The configuration does without them: nothing is followed until the next call of Texts.
  virtual void Stop() = 0;
};

using ConfigReloader = Reloader<schemas::Config, ConfigTexts>;

// Called once for each file that is loaded although it should be written differently: each place
// as `mindgate config validate` prints it.
using ConfigWarnings = std::function<void(const std::string&)>;

// Keeps a snapshot of mindgate.yaml, and of the policies that it names, up to date. Texts with
// faults are refused whole; the error shows each with its line, as `mindgate config validate`
// prints them. A DirectoryWatch on the folder of `path` should call Reload; what changes in other
// folders is seen when it polls. `config_maps` is asked in calls of Reload, one at a time; null: a
// configuration that reads ConfigMaps is refused. `known`, `clock`, `target` and `config_maps` must
// outlive it.
std::unique_ptr<ConfigReloader> MakeConfigReloader(
    const std::string& path, const schemas::KnownNames& known, const Clock& clock,
    Snapshot<schemas::Config>& target, ConfigReloader::Report report = {},
    ConfigWarnings warnings = {}, PolicyConfigMaps* config_maps = nullptr);

}  // namespace mindgate::admission
