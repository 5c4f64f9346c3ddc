#include "doctor/installation.h"

#include <nlohmann/json.hpp>
#include <set>

#include "json/value.h"
#include "schemas/config_load.h"

namespace mindgate::doctor {
namespace {

using json::Json;
using schemas::EnforcementMode;

// A leader renews every 10 s, and others wait 60 s before they take over.
constexpr std::chrono::seconds kStale(120);

// The namespace of the Service that is called, else of the release.
std::string NamespaceOf(const Json& configuration) {
  const Json* webhooks = json::Find(configuration, "webhooks");
  if (json::IsArray(webhooks)) {
    for (const Json& webhook : *webhooks) {
      std::string ns = json::TextAt(webhook, {"clientConfig", "service", "namespace"});
      if (!ns.empty()) return ns;
    }
  }
  std::string ns =
      json::TextAt(configuration, {"metadata", "annotations", "meta.helm.sh/release-namespace"});
  return ns.empty() ? kUsualNamespace : ns;
}

// The mode that the running watchers' configuration says.
void ReadMode(kube::Client& client, const std::string& ns, const schemas::KnownNames& known,
              const std::stop_token& stop, WatcherState& state) {
  const auto pods = client.ListObjects(kube::resources::kPods, ns,
                                       {.label_selector = kWatcherSelector}, nullptr, stop);
  if (!pods) {
    state.why_no_mode = "the watcher's Pods cannot be read: " + pods.error().message;
    return;
  }
  std::set<std::string> names;
  for (const Json& pod : *pods) {
    if (std::string name = ConfigMapOf(pod); !name.empty()) names.insert(std::move(name));
  }
  if (names.empty()) {
    state.why_no_mode = pods->empty() ? "no watcher runs in namespace " + ns
                                      : "the watcher's Pods mount no configuration";
    if (pods->empty()) state.mode = EnforcementMode::kOff;
    return;
  }
  for (const std::string& name : names) {
    const auto map = client.Get(kube::resources::kConfigMaps, ns, name, stop);
    if (!map) {
      state.why_no_mode =
          "ConfigMap " + ns + "/" + name + " cannot be read: " + map.error().message;
      continue;
    }
    auto config = schemas::LoadConfig(json::TextAt(*map, {"data", "mindgate.yaml"}), known);
    if (!config) {
      state.why_no_mode = "ConfigMap " + ns + "/" + name +
                          " is refused, and the watcher goes on with what it had loaded before: " +
                          config.error().items().front().message;
      continue;
    }
    const EnforcementMode mode = config->elastic_scaling.mode;
    state.config = *std::move(config);
    if (!state.mode || mode == EnforcementMode::kEnforce) state.mode = mode;
  }
}

void ReadLeader(kube::Client& client, const Installation& installation, Time now,
                const std::stop_token& stop, WatcherState& state) {
  const std::string what = "Lease " + installation.ns + "/" + installation.lease();
  const auto lease =
      client.Get(kube::resources::kLeases, installation.ns, installation.lease(), stop);
  if (!lease) {
    state.leader_is_unknown = lease.error().reason != kube::Reason::kNotFound;
    state.why_no_leader = state.leader_is_unknown
                              ? what + " cannot be read: " + lease.error().message
                              : "there is no " + what;
    return;
  }
  Leader leader = LeaderOf(*lease, now);
  if (leader.current) {
    state.leader = std::move(leader);
  } else {
    state.why_no_leader = what + " was last renewed at " +
                          (leader.renewed.empty() ? "an unknown time" : leader.renewed);
  }
}

}  // namespace

kube::Answer<std::vector<Installation>> FindInstallations(kube::Client& client,
                                                          const std::string& selector,
                                                          const std::string& ns,
                                                          const std::stop_token& stop) {
  std::set<Installation> found;
  for (const kube::Resource* resource :
       {&kube::resources::kMutatingWebhooks, &kube::resources::kValidatingWebhooks}) {
    const auto configurations =
        client.ListObjects(*resource, "", {.label_selector = selector}, nullptr, stop);
    if (!configurations) return tl::make_unexpected(configurations.error());
    for (const Json& configuration : *configurations) {
      Installation one{NamespaceOf(configuration),
                       json::TextAt(configuration, {"metadata", "name"})};
      if (ns.empty() || one.ns == ns) found.insert(std::move(one));
    }
  }
  return std::vector<Installation>(found.begin(), found.end());
}

Leader LeaderOf(const json::Json& lease, Time now) {
  Leader leader;
  leader.identity = json::TextAt(lease, {"spec", "holderIdentity"});
  leader.since = ParseTimestamp(json::TextAt(lease, {"spec", "acquireTime"}));
  leader.renewed = json::TextAt(lease, {"spec", "renewTime"});
  const auto renewed = ParseTimestamp(leader.renewed);
  const bool lately = renewed && now - *renewed <= kStale;
  leader.current = lately && !leader.identity.empty();
  leader.released = lately && leader.identity.empty();
  return leader;
}

std::optional<bool> WatcherState::acts() const {
  if (mode && *mode != EnforcementMode::kEnforce) return false;
  if (!leader && !leader_is_unknown) return false;
  if (!mode || leader_is_unknown) return std::nullopt;
  return true;
}

WatcherState LookAtWatcher(kube::Client& client, const Installation& installation,
                           const schemas::KnownNames& known, Time now,
                           const std::stop_token& stop) {
  WatcherState state;
  ReadMode(client, installation.ns, known, stop, state);
  ReadLeader(client, installation, now, stop, state);
  return state;
}

std::string ConfigMapOf(const json::Json& pod) {
  const Json* volumes = json::FindPath(pod, {"spec", "volumes"});
  if (!json::IsArray(volumes)) return "";
  for (const Json& volume : *volumes) {
    if (json::TextAt(volume, {"name"}) == "config")
      return json::TextAt(volume, {"configMap", "name"});
  }
  return "";
}

}  // namespace mindgate::doctor
