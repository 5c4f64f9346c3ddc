#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admission/policy_files.h"
#include "base/clock.h"
#include "base/reloader.h"
#include "base/result.h"
#include "base/snapshot.h"
#include "schemas/config.h"
#include "schemas/config_load.h"

namespace mindgate::admission {

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

// Told once about each file that is loaded although it should be written differently: each place
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
