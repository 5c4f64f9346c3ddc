#include "schemas/versions.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "doctor/context.h"
#include "json/value.h"
#include "kube/reflector.h"

namespace mindgate::doctor {
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
                            " runs: rules judge for the wrong version",
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
