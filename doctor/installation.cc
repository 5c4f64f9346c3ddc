#include "doctor/installation.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/config.h"
#include "schemas/versions.h"

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

// Whether the chart made a webhook configuration. Its label is another one with nameOverride, the
// names of its webhooks never change.
bool IsOurs(const Json& configuration) {
  if (json::TextAt(configuration, {"metadata", "labels", "app.kubernetes.io/name"}) == kUsualName) {
    return true;
  }
  const Json* webhooks = json::Find(configuration, "webhooks");
  return json::IsArray(webhooks) && std::ranges::any_of(*webhooks, [](const Json& webhook) {
           const std::string name = json::TextAt(webhook, {"name"});
           return name.ends_with(".mutate.mindgate.io") || name.ends_with(".validate.mindgate.io");
         });
}

// Why there is no mode where no Pod of a watcher was found. Only where nobody can lead it is off.
void ReadNoPods(const std::string& ns, const std::string& selector, WatcherState& state) {
  if (state.leader) {
    state.why_no_mode = state.leader->identity + " leads, but no Pod in namespace " + ns +
                        " has its labels (" + selector + ")";
  } else if (state.leader_is_unknown) {
    state.why_no_mode = "no Pod of a watcher is in namespace " + ns +
                        ", and it is not known whether one runs elsewhere";
  } else {
    state.mode = EnforcementMode::kOff;
    state.why_no_mode = "no watcher runs in namespace " + ns;
  }
}

// The mode that the running watchers' configuration says, after the leader was read.
void ReadMode(kube::Client& client, const std::string& ns, const std::string& selector,
              const schemas::KnownNames& known, const std::stop_token& stop, WatcherState& state) {
  const auto pods =
      client.ListObjects(kube::resources::kPods, ns, {.label_selector = selector}, nullptr, stop);
  if (!pods) {
    state.why_no_mode = "the watcher's Pods cannot be read: " + pods.error().message;
    return;
  }
  if (pods->empty()) return ReadNoPods(ns, selector, state);
  std::set<std::string> names;
  for (const Json& pod : *pods) {
    if (std::string name = ConfigMapOf(pod); !name.empty()) names.insert(std::move(name));
  }
  if (names.empty()) {
    state.why_no_mode = "the watcher's Pods mount no configuration";
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
    state.stored = *map;
    if (!state.mode || mode == EnforcementMode::kEnforce) state.mode = mode;
  }
}

// Returns the release that the Lease belongs to; empty when that is not known.
std::string ReadLeader(kube::Client& client, const Installation& installation, Time now,
                       const std::stop_token& stop, WatcherState& state) {
  const std::string what = "Lease " + installation.ns + "/" + installation.lease();
  const auto lease =
      client.Get(kube::resources::kLeases, installation.ns, installation.lease(), stop);
  if (!lease) {
    state.leader_is_unknown = lease.error().reason != kube::Reason::kNotFound;
    state.why_no_leader = state.leader_is_unknown
                              ? what + " cannot be read: " + lease.error().message
                              : "there is no " + what;
    return "";
  }
  Leader leader = LeaderOf(*lease, now);
  if (leader.current) {
    state.leader = std::move(leader);
  } else {
    state.why_no_leader = what + " was last renewed at " +
                          (leader.renewed.empty() ? "an unknown time" : leader.renewed);
  }
  return ReleaseOf(*lease);
}

}  // namespace

std::string ReleaseOf(const Json& object) {
  return json::TextAt(object, {"metadata", "labels", "app.kubernetes.io/instance"});
}

std::optional<Installation> InstallationOf(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size()) {
    return std::nullopt;
  }
  return Installation{.ns = std::string(text.substr(0, slash)),
                      .name = std::string(text.substr(slash + 1))};
}

kube::Answer<std::vector<Installation>> FindInstallations(kube::Client& client,
                                                          const std::string& selector,
                                                          const std::string& ns,
                                                          const std::stop_token& stop) {
  std::map<std::pair<std::string, std::string>, Installation> found;
  for (const kube::Resource* resource :
       {&kube::resources::kMutatingWebhooks, &kube::resources::kValidatingWebhooks}) {
    const auto configurations =
        client.ListObjects(*resource, "", {.label_selector = selector}, nullptr, stop);
    if (!configurations) return tl::make_unexpected(configurations.error());
    for (const Json& configuration : *configurations) {
      if (selector.empty() && !IsOurs(configuration)) continue;
      Installation one{.ns = NamespaceOf(configuration),
                       .name = json::TextAt(configuration, {"metadata", "name"}),
                       .release = ReleaseOf(configuration)};
      if (ns.empty() || one.ns == ns) found.try_emplace({one.ns, one.name}, std::move(one));
    }
  }
  std::vector<Installation> installations;
  for (auto& [name, one] : found) installations.push_back(std::move(one));
  return installations;
}

std::optional<Installation> FindInstallation(kube::Client& client, std::string_view own,
                                             const std::stop_token& stop) {
  const auto named = InstallationOf(own);
  const auto found = FindInstallations(client, "", "", stop);
  if (!found) return named ? *named : Installation{.guessed = true};
  for (const Installation& one : *found) {
    if (named && one.ns == named->ns && one.name == named->name) return one;
  }
  if (found->empty()) return named;
  return found->front();
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
  std::string release = ReadLeader(client, installation, now, stop, state);
  if (installation.guessed && !state.leader) {
    state.leader_is_unknown = true;
    state.why_no_leader = "mindgate may be installed elsewhere than in namespace " +
                          installation.ns + ": " + state.why_no_leader;
  }
  if (!installation.release.empty()) release = installation.release;
  ReadMode(client, installation.ns, WatcherSelector(release), known, stop, state);
  return state;
}

std::string WatcherSelector(const std::string& release) {
  return "app.kubernetes.io/component=watcher" +
         (release.empty() ? "" : ",app.kubernetes.io/instance=" + release);
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

namespace {

constexpr std::string_view kVersionsCheck = "versions";
constexpr std::string_view kOperatorCheck = "ascend-operator";

// What the Deployments of the cluster say of the components that mindgate knows.
struct Seen {
  std::map<schemas::Component, schemas::Version> versions{};
  bool operator_without_gangs = false;  // ascend-operator with --enableGangScheduling=false
};

// "-enableGangScheduling=false", or the two words apart; Go takes one dash or two.
bool SwitchesGangsOff(const json::Value* args) {
  constexpr std::string_view kFlag = "enableGangScheduling";
  if (!json::IsArray(args)) return false;
  for (const json::Value& each : *args) {
    std::string_view arg = json::AsString(&each).value_or("");
    // Containers of MindCluster run a shell with one line of text.
    const size_t at = arg.find(kFlag);
    if (at == std::string_view::npos) continue;
    arg.remove_prefix(at + kFlag.size());
    if (arg.starts_with("=false") || arg.starts_with("=0") || arg.starts_with("=F")) return true;
  }
  return false;
}

void ReadDeployment(const json::Value& deployment, Seen& seen) {
  const json::Value* containers =
      json::FindPath(deployment, {"spec", "template", "spec", "containers"});
  if (!json::IsArray(containers)) return;
  for (const json::Value& container : *containers) {
    const std::string_view image = json::FindString(container, "image").value_or("");
    const auto component = schemas::ComponentOfImage(image);
    if (!component) continue;
    if (const auto version = schemas::VersionOfImage(image)) {
      // Of two, the older one decides what works.
      const auto [known, is_new] = seen.versions.try_emplace(*component, *version);
      if (!is_new) known->second = std::min(known->second, *version);
    }
    for (std::string_view key : {"args", "command"}) {
      seen.operator_without_gangs |= *component == schemas::Component::kMindCluster &&
                                     SwitchesGangsOff(json::Find(container, key));
    }
  }
}

// Trap of elastic scaling by ascend-operator: it counts PodGroups, and makes none without gangs.
void CheckOperatorGangs(Context& context, bool without) {
  if (!without) return;
  context.report.Warn(
      kOperatorCheck,
      "ascend-operator runs with enableGangScheduling=false: it makes no PodGroups, so that its "
      "elastic scaling counts no instance and no gang starts as a whole",
      "remove the argument; true is the default");
}

}  // namespace

void CheckVersions(Context& context) {
  Seen seen;
  if (const auto version = context.client.GetPath("/version", context.stop)) {
    if (const auto read = schemas::ReadVersion(json::TextAt(*version, {"gitVersion"}))) {
      seen.versions[schemas::Component::kKubernetes] = *read;
    }
  }
  const json::Projection fields = kube::WithIdentity({{"spec", "template", "spec", "containers"}});
  const auto listed = context.client.ListAll(
      kube::resources::kDeployments, "", {}, &fields,
      {.started = [&] { seen.operator_without_gangs = false; },
       .item = [&](const json::Value& deployment) { ReadDeployment(deployment, seen); }},
      context.stop);
  if (!listed)
    return SkipFor(context, kVersionsCheck, "Deployments of controllers", listed.error());
  CheckOperatorGangs(context, seen.operator_without_gangs);
  std::string found;
  std::string lines;
  bool agree = true;
  for (const schemas::ComponentInfo& info : schemas::kComponents) {
    const auto version = seen.versions.find(info.component);
    if (version == seen.versions.end()) continue;
    const std::string text = schemas::VersionText(version->second);
    found += (found.empty() ? "" : ", ") + std::string(info.name) + " " + text;
    lines += (lines.empty() ? "" : ", ") + std::string(info.key) + ": \"" + text + "\"";
    const auto configured = context.versions ? context.versions->Of(info.component) : std::nullopt;
    if (!configured || (configured->major == version->second.major &&
                        configured->minor == version->second.minor)) {
      continue;
    }
    agree = false;
    context.report.Warn(kVersionsCheck,
                        "versions." + std::string(info.key) + " is " +
                            schemas::VersionText(*configured) + " in mindgate.yaml, but " +
                            std::string(info.name) + " " + text +
                            " runs: rules evaluate for the wrong version",
                        "write " + std::string(info.key) + ": \"" + text + "\" under versions");
  }
  const auto volcano = seen.versions.find(schemas::Component::kVolcano);
  if (volcano != seen.versions.end() && volcano->second < schemas::Version{1, 10, 0}) {
    context.report.Warn(kVersionsCheck,
                        "Volcano " + schemas::VersionText(volcano->second) +
                            " knows no scheduling gates, which it does from 1.10 on: do not set "
                            "elasticScaling.mode to enforce",
                        "update Volcano, or leave elasticScaling.mode at observe");
  }
  if (agree) {
    context.report.Ok(kVersionsCheck, "the cluster runs " + found +
                                          "; as `versions` of mindgate.yaml: {" + lines + "}");
  }
}

}  // namespace mindgate::doctor
