#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "certs/pem.h"
#include "json/value.h"
#include "kube/config_material.h"
#include "kube/kubeconfig.h"

namespace mindgate::kube {
namespace {

// Extension of a cluster with the configuration of plugins.
constexpr const char* kExtension = "client.authentication.k8s.io/exec";

// Empty, with a complaint, if the version is not supported.
std::string ReadVersion(const ConfigNode& exec, ConfigErrors& complaints) {
  const ConfigNode member = exec.Member("apiVersion");
  std::string version = exec.Text("apiVersion", complaints);
  const std::vector<std::string_view> known(std::begin(kExecVersions), std::end(kExecVersions));
  if (std::find(known.begin(), known.end(), version) != known.end()) return version;
  if (member && !member.value().is_string()) return "";
  complaints.Add(member.Place(),
                 exec.Field() + (version.empty() ? " has no apiVersion"
                                                 : " has apiVersion " + Quote(version) +
                                                       ", which is not supported"),
                 "write " + OneOf(known) + ", depending on the plugin");
  return "";
}

// Plugins run without a terminal.
void CheckInteractiveMode(const ConfigNode& exec, const std::string& version,
                          ConfigErrors& complaints) {
  const ConfigNode member = exec.Member("interactiveMode");
  const std::string mode = exec.Text("interactiveMode", complaints);
  if (mode == "Never" || mode == "IfAvailable") return;
  if (member && !member.value().is_string()) return;
  if (mode.empty() && version != kExecVersions[0]) return;  // only v1 requires it
  complaints.Add(member.Place(),
                 mode.empty() ? exec.Field() + " has no interactiveMode"
                 : mode == "Always"
                     ? exec.Field() + " requires interactive login, which is not supported"
                     : exec.Field() + " has an unknown interactiveMode, " + Quote(mode),
                 "write interactiveMode: Never or IfAvailable");
}

void ReadVariables(const ConfigNode& exec, ExecPlugin& plugin, ConfigErrors& complaints) {
  for (const ConfigNode& item : exec.Items("env", complaints)) {
    if (!item || !item.Must(item.value().is_object(), "an object with name and value", complaints))
      continue;
    std::string name = item.Text("name", complaints);
    if (name.empty() || name.find('=') != std::string::npos) {
      complaints.Add(item.Place(), item.Field() + " has an empty or invalid name");
    }
    plugin.environment.emplace_back(std::move(name), item.Text("value", complaints));
  }
}

Json AboutCluster(const Access& server, const std::optional<ConfigNode>& cluster,
                  ConfigErrors& complaints) {
  Json about = {{"server", server.server}};
  if (!server.tls_server_name.empty()) about["tls-server-name"] = server.tls_server_name;
  if (server.insecure) about["insecure-skip-tls-verify"] = true;
  if (!server.authority.empty()) {
    about["certificate-authority-data"] = certs::EncodeBase64(server.authority);
  }
  if (!server.proxy.empty()) about["proxy-url"] = server.proxy;
  if (!cluster) return about;
  for (const ConfigNode& item : cluster->Items("extensions", complaints)) {
    if (!item || json::FindString(item.value(), "name") != kExtension) continue;
    if (const ConfigNode extension = item.Member("extension")) about["config"] = extension.value();
  }
  return about;
}

}  // namespace

ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, ConfigErrors& complaints) {
  ExecPlugin plugin;
  plugin.place = exec.Place();
  plugin.command =
      exec.RequiredText("command", "set it to the program that prints the credentials", complaints);
  // A name without a slash is looked up in PATH.
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = PathFrom(exec.file(), plugin.command);
  }
  for (const ConfigNode& item : exec.Items("args", complaints)) {
    if (item && item.Must(item.value().is_string(), "a string", complaints)) {
      plugin.arguments.push_back(item.value().get<std::string>());
    }
  }
  ReadVariables(exec, plugin, complaints);
  plugin.api_version = ReadVersion(exec, complaints);
  CheckInteractiveMode(exec, plugin.api_version, complaints);
  plugin.install_hint = exec.Text("installHint", complaints);

  Json spec = {{"interactive", false}};
  if (exec.Flag("provideClusterInfo", complaints)) {
    spec["cluster"] = AboutCluster(server, cluster, complaints);
  }
  const Json info = {
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  plugin.info = info.dump(-1, ' ', false, Json::error_handler_t::replace);
  return plugin;
}

}  // namespace mindgate::kube
