#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"
#include "schemas/config.h"

// Where mindgate is in a cluster, and what its watcher is about.
namespace mindgate::doctor {

inline constexpr const char* kUsualNamespace = "mindgate-system";
inline constexpr const char* kUsualName = "mindgate";
// The chart sets it in the watcher's Pods to their installation: "mindgate-system/mindgate". A
// program that runs there may not list webhook configurations.
inline constexpr const char* kInstallationVariable = "MINDGATE_INSTALLATION";

struct Installation {
  std::string ns = kUsualNamespace;
  std::string name = kUsualName;  // of its webhook configurations
  std::string release{};          // the label app.kubernetes.io/instance; empty: not known
  bool guessed = false;           // the usual names, where nothing says that it has them

  std::string lease() const { return name + "-watcher"; }
};

// The release of the chart that an object is of, by its label; empty: it has none.
std::string ReleaseOf(const json::Json& object);

// The one that a value of kInstallationVariable names; nothing when it names none.
std::optional<Installation> InstallationOf(std::string_view text);

// Those whose webhook configurations match `selector`, by namespace and name; empty: all that are
// mindgate's, whatever nameOverride of the chart calls them. `ns`: only of this namespace; empty:
// of any.
kube::Answer<std::vector<Installation>> FindInstallations(kube::Client& client,
                                                          const std::string& selector,
                                                          const std::string& ns,
                                                          const std::stop_token& stop = {});

// The one to look at when nobody chose: the one that `own` names, else the first. Where they cannot
// be listed it is what `own` names, and without that a guess. Nothing: none has webhook
// configurations. `own`: as in kInstallationVariable.
std::optional<Installation> FindInstallation(kube::Client& client, std::string_view own,
                                             const std::stop_token& stop = {});

// Who leads, as the Lease says.
struct Leader {
  std::string identity;
  std::optional<Time> since;  // when it took the Lease
  std::string renewed;        // as written: "2026-11-21T10:00:00.000000Z"
  bool current = false;       // it was renewed lately enough
  bool released = false;      // lately, and nobody has taken it since: a restart or a rollout
};
Leader LeaderOf(const json::Json& lease, Time now);

// What the watcher of an installation does about elastic scaling and faults. What is not known is
// said: a watcher that may run somewhere else is not one that does nothing.
struct WatcherState {
  std::optional<schemas::EnforcementMode> mode;
  schemas::Config config{};  // with `mode`; else the defaults
  json::Json stored;         // the ConfigMap of `config`; null: there is none
  std::string why_no_mode;   // a sentence, when there is none
  std::optional<Leader> leader;
  std::string why_no_leader;       // a sentence, when there is none
  bool leader_is_unknown = false;  // the Lease could not be read

  // Whether what is decided is done; nothing: not known.
  std::optional<bool> acts() const;
};
WatcherState LookAtWatcher(kube::Client& client, const Installation& installation,
                           const schemas::KnownNames& known, Time now,
                           const std::stop_token& stop = {});

// The name of the ConfigMap that a Pod of mindgate has its mindgate.yaml from; empty: none.
std::string ConfigMapOf(const json::Json& pod);

// Selects the Pods of the watcher of a release, in its namespace; empty: of all releases there. Not
// by app.kubernetes.io/name, which nameOverride of the chart changes.
std::string WatcherSelector(const std::string& release);

}  // namespace mindgate::doctor
