#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "certs/certificate.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/value.h"
#include "kube/access.h"
#include "kube/config.h"
#include "kube/kubeconfig.h"
#include "kube/subprocess.h"

namespace mindgate::kube {
namespace {

// Extension of a cluster with the configuration of plugins.
constexpr const char* kExtension = "client.authentication.k8s.io/exec";

// Empty, with a complaint, if the version is not supported.
std::string ReadVersion(const ConfigNode& exec, ConfigErrors& errors) {
  const ConfigNode member = exec.Member("apiVersion");
  std::string version = exec.Text("apiVersion", errors);
  const std::vector<std::string_view> known(std::begin(kExecVersions), std::end(kExecVersions));
  if (std::find(known.begin(), known.end(), version) != known.end()) return version;
  if (member && !member.value().is_string()) return "";
  errors.Add(member.PositionText(),
             exec.Field() + (version.empty() ? " has no apiVersion"
                                             : " has apiVersion " + Quote(version) +
                                                   ", which is not supported"),
             "write " + OneOf(known) + ", depending on the plugin");
  return "";
}

// Plugins run without a terminal.
void CheckInteractiveMode(const ConfigNode& exec, const std::string& version,
                          ConfigErrors& errors) {
  const ConfigNode member = exec.Member("interactiveMode");
  const std::string mode = exec.Text("interactiveMode", errors);
  if (mode == "Never" || mode == "IfAvailable") return;
  if (member && !member.value().is_string()) return;
  if (mode.empty() && version != kExecVersions[0]) return;  // only v1 requires it
  errors.Add(member.PositionText(),
             mode.empty() ? exec.Field() + " has no interactiveMode"
             : mode == "Always"
                 ? exec.Field() + " requires interactive login, which is not supported"
                 : exec.Field() + " has an unknown interactiveMode, " + Quote(mode),
             "write interactiveMode: Never or IfAvailable");
}

void ReadVariables(const ConfigNode& exec, ExecPlugin& plugin, ConfigErrors& errors) {
  for (const ConfigNode& item : exec.Items("env", errors)) {
    if (!item || !item.Must(item.value().is_object(), "an object with name and value", errors))
      continue;
    std::string name = item.Text("name", errors);
    if (name.empty() || name.find('=') != std::string::npos) {
      errors.Add(item.PositionText(), item.Field() + " has an empty or invalid name");
    }
    plugin.environment.emplace_back(std::move(name), item.Text("value", errors));
  }
}

Json AboutCluster(const Access& server, const std::optional<ConfigNode>& cluster,
                  ConfigErrors& errors) {
  Json about = {{"server", server.server}};
  if (!server.tls_server_name.empty()) about["tls-server-name"] = server.tls_server_name;
  if (server.insecure) about["insecure-skip-tls-verify"] = true;
  if (!server.authority.empty()) {
    about["certificate-authority-data"] = certs::EncodeBase64(server.authority);
  }
  if (!server.proxy.empty()) about["proxy-url"] = server.proxy;
  if (!cluster) return about;
  for (const ConfigNode& item : cluster->Items("extensions", errors)) {
    if (!item || json::FindString(item.value(), "name") != kExtension) continue;
    if (const ConfigNode extension = item.Member("extension")) about["config"] = extension.value();
  }
  return about;
}

}  // namespace

ExecPlugin ReadExec(const ConfigNode& exec, const Access& server,
                    const std::optional<ConfigNode>& cluster, ConfigErrors& errors) {
  ExecPlugin plugin;
  plugin.place = exec.PositionText();
  plugin.command =
      exec.RequiredText("command", "set it to the program that prints the credentials", errors);
  // A name without a slash is looked up in PATH.
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = PathFrom(exec.file(), plugin.command);
  }
  for (const ConfigNode& item : exec.Items("args", errors)) {
    if (item && item.Must(item.value().is_string(), "a string", errors)) {
      plugin.arguments.push_back(item.value().get<std::string>());
    }
  }
  ReadVariables(exec, plugin, errors);
  plugin.api_version = ReadVersion(exec, errors);
  CheckInteractiveMode(exec, plugin.api_version, errors);
  plugin.install_hint = exec.Text("installHint", errors);

  Json spec = {{"interactive", false}};
  if (exec.Flag("provideClusterInfo", errors)) {
    spec["cluster"] = AboutCluster(server, cluster, errors);
  }
  const Json info = {
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  plugin.info = info.dump(-1, ' ', false, Json::error_handler_t::replace);
  return plugin;
}

namespace {

using json::Json;

constexpr std::chrono::seconds kBetweenRuns(5);
constexpr std::chrono::seconds kSkew(10);  // a request is under way for a while
constexpr const char* kInfoVariable = "KUBERNETES_EXEC_INFO";

struct Printed {
  Credential credential;
  std::optional<Time> end;
};

// Ours, with those of the plugin in the place of namesakes.
std::vector<std::string> EnvironmentOf(const ExecPlugin& plugin) {
  auto own = plugin.environment;
  own.emplace_back(kInfoVariable, plugin.info);
  std::vector<std::string> all;
  for (std::string& variable : WholeEnvironment()) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const auto is_name = [&](const auto& pair) { return pair.first == name; };
    if (std::none_of(own.begin(), own.end(), is_name)) all.push_back(std::move(variable));
  }
  for (const auto& [name, value] : own) all.push_back(name + "=" + value);
  return all;
}

// For people: no control characters but line ends, no white space around.
std::string Shown(std::string_view text) {
  std::string out;
  for (text = Trim(text); !text.empty();) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (character != "\n" && (length == 0 || IsControl(character))) {
      out += HexEscaped(character);
    } else {
      out += character;
    }
  }
  return out;
}

// What is wrong with the credentials, as the rest of a sentence; empty: nothing.
std::string FaultOf(const Credential& credential) {
  if (credential.token.empty() && credential.certificate.empty() && credential.key.empty()) {
    return "printed neither a token nor a client certificate with its key";
  }
  if (credential.certificate.empty() != credential.key.empty()) {
    return credential.key.empty() ? "printed a client certificate without its key"
                                  : "printed a client key without its certificate";
  }
  if (const auto fault = TokenFault(credential.token); !fault.empty()) {
    return "printed a bad token: " + fault;
  }
  if (credential.certificate.empty()) return "";
  if (const auto fault = CertificatesFault(credential.certificate); !fault.empty()) {
    return "printed a bad clientCertificateData: " + fault;
  }
  if (const auto fault = KeyFault(credential.key); !fault.empty()) {
    return "printed a bad clientKeyData: " + fault;
  }
  if (!IsPair(credential.certificate, credential.key)) {
    return "printed a client key that does not match the client certificate";
  }
  return "";
}

// The text of a member, empty when there is none; nothing when it is of another type.
std::optional<std::string> TextOf(const Json* status, std::string_view key) {
  const Json* member = json::Find(status, key);
  if (member == nullptr) return "";
  if (!member->is_string()) return std::nullopt;
  return member->get<std::string>();
}

// What the plugin printed; a fault is the rest of a sentence about it.
tl::expected<Printed, std::string> Parse(const std::string& text, const std::string& api_version) {
  const auto fault = [](std::string what) { return tl::unexpected(std::move(what)); };
  if (Trim(text).empty()) return fault("printed nothing, but should print an ExecCredential");
  const auto root = json::Decode(text);
  if (!root) {
    // Without what stands there: it may be part of a token.
    return fault("printed invalid JSON, at " + json::LineText(root.error().at));
  }
  const std::string_view kind = json::FindString(*root, "kind").value_or("");
  const std::string_view version = json::FindString(*root, "apiVersion").value_or("");
  if (kind != "ExecCredential" || version != api_version) {
    return fault("printed kind " + Quote(kind) + " of " + Quote(version) +
                 ", but the configuration says ExecCredential of " + Quote(api_version));
  }
  const Json* status = json::Find(*root, "status");
  if (!json::IsObject(status)) return fault("printed an ExecCredential without a status");
  Printed printed;
  for (const auto& [key, member] : {std::pair{"token", &Credential::token},
                                    {"clientCertificateData", &Credential::certificate},
                                    {"clientKeyData", &Credential::key}}) {
    const auto value = TextOf(status, key);
    if (!value) return fault("printed a status." + std::string(key) + " that is not a string");
    printed.credential.*member = *value;
  }
  if (const auto what = FaultOf(printed.credential); !what.empty()) return fault(what);
  const auto end = TextOf(status, "expirationTimestamp");
  if (end && end->empty()) return printed;
  printed.end = ParseTimestamp(end.value_or(""));
  if (!printed.end) {
    return fault(
        "printed a status.expirationTimestamp that is not a time such as 2026-12-31T12:00:00Z");
  }
  return printed;
}

class ExecCredentials final : public CredentialSource {
 public:
  ExecCredentials(ExecPlugin plugin, const Clock& clock)
      : plugin_(std::move(plugin)), clock_(clock) {}

  Answer<Credential> Get() override {
    const MutexLock one_at_a_time(mutex_);
    if (kept_ && !IsDue(kSkew)) return kept_->credential;
    if (!ended_ || clock_.Now() - *ended_ >= kBetweenRuns) Renew();
    if (kept_ && !refused_ && (!fault_ || !IsDue({}))) return kept_->credential;
    if (fault_) return tl::unexpected(*fault_);
    return Because("the server refuses the credentials that it has just printed", "");
  }

  void Refused(const Credential& refused) override {
    const MutexLock lock(mutex_);
    if (kept_ && refused == kept_->credential) refused_ = true;
  }

 private:
  // Whether what is kept cannot be used, or ends within `ahead`.
  bool IsDue(std::chrono::seconds ahead) const REQUIRES(mutex_) {
    return refused_ || (kept_->end && clock_.WallNow() + ahead >= *kept_->end);
  }

  void Renew() REQUIRES(mutex_) {
    auto printed = RunPlugin();
    ended_ = clock_.Now();
    if (!printed) {
      fault_ = std::move(printed).error();
      return;
    }
    fault_.reset();
    kept_ = *std::move(printed);
    refused_ = false;
  }

  tl::unexpected<Fault> Because(const std::string& what, const std::string& hint) const {
    return Failed(Reason::kCredentials, plugin_.place + ": exec plugin " + Quote(plugin_.command) +
                                            ": " + what + (hint.empty() ? "" : " (" + hint + ")"));
  }

  Answer<Printed> RunPlugin() const {
    const auto ended = RunProgram({.command = plugin_.command,
                                   .arguments = plugin_.arguments,
                                   .environment = EnvironmentOf(plugin_),
                                   .deadline = plugin_.deadline});
    if (!ended) {
      const bool missing = ended.error().code() == ErrorCode::kNotFound;
      return Because(ended.error().message(), missing ? InstallHint() : "");
    }
    const std::string output = ended->error.empty() ? "" : ": " + Shown(ended->error);
    if (ended->signal != 0) {
      return Because("ended by signal " + std::to_string(ended->signal) + output, "");
    }
    if (ended->exit_code != 0) {
      return Because("exit code " + std::to_string(ended->exit_code) + output, "");
    }
    auto printed = Parse(ended->output, plugin_.api_version);
    if (!printed) return Because(printed.error(), "");
    return *std::move(printed);
  }

  std::string InstallHint() const {
    return plugin_.install_hint.empty() ? "install it, or write its full path in exec.command"
                                        : Shown(plugin_.install_hint);
  }

  const ExecPlugin plugin_;
  const Clock& clock_;
  Mutex mutex_;                                             // held while the plugin runs
  std::optional<Printed> kept_ GUARDED_BY(mutex_);          // of the last good run
  std::optional<Fault> fault_ GUARDED_BY(mutex_);           // of the last run, when it failed
  std::optional<Clock::Instant> ended_ GUARDED_BY(mutex_);  // the last run
  bool refused_ GUARDED_BY(mutex_) = false;                 // kept_ is
};

}  // namespace

std::shared_ptr<CredentialSource> MakeExecSource(ExecPlugin plugin, const Clock& clock) {
  return std::make_shared<ExecCredentials>(std::move(plugin), clock);
}

}  // namespace mindgate::kube
