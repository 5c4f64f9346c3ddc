#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"
#include "schemas/config.h"

// Where mindgate is in a cluster, and what its watcher is about.
namespace mindgate::doctor {

// What all objects of the chart carry.
inline constexpr const char* kInstalledSelector = "app.kubernetes.io/name=mindgate";
inline constexpr const char* kUsualNamespace = "mindgate-system";
inline constexpr const char* kUsualName = "mindgate";

struct Installation {
  std::string ns = kUsualNamespace;
  std::string name = kUsualName;  // of its webhook configurations

  std::string lease() const { return name + "-watcher"; }
  friend auto operator<=>(const Installation&, const Installation&) = default;
};

// Those whose webhook configurations match `selector`, by namespace and name. `ns`: only of this
// namespace; empty: of any.
kube::Answer<std::vector<Installation>> FindInstallations(kube::Client& client,
                                                          const std::string& selector,
                                                          const std::string& ns,
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
// said.
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

// The Pods of watchers carry it.
inline constexpr const char* kWatcherSelector =
    "app.kubernetes.io/component=watcher,app.kubernetes.io/name=mindgate";

}  // namespace mindgate::doctor
