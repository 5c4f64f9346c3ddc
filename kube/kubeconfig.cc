#include "kube/kubeconfig.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "kube/access.h"
#include "kube/config.h"

namespace mindgate::kube {
namespace {

// The impersonation settings of the user: `as`, `as-uid`, `as-groups` and `as-user-extra`.
Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                ConfigErrors& errors);

// Null if the file does not exist or is invalid; the latter adds a complaint.
std::unique_ptr<ConfigFile> ReadConfigFile(const std::string& path, ConfigErrors& errors) {
  const auto text = ReadFile(path, json::Limits().bytes);
  if (!text) {
    if (text.error().code() != ErrorCode::kNotFound) errors.Add(path, text.error().message());
    return nullptr;
  }
  auto documents = json::DecodeYaml(*text);
  if (!documents) {
    const json::Issue& issue = documents.error();
    errors.Add(json::PositionText(path, issue.at), issue.message, issue.hint);
    return nullptr;
  }
  auto file = std::make_unique<ConfigFile>();
  file->path = path;
  if (!documents->empty()) {  // like kubectl, reads only the first
    file->root = std::move(documents->front().value);
    file->positions = std::move(documents->front().positions);
  }
  return file;
}

bool IsKubeconfig(const ConfigNode& root, ConfigErrors& errors) {
  if (!root.Must(root.value().is_object(), "an object with clusters, users and contexts", errors)) {
    return false;
  }
  const std::string kind = root.Text("kind", errors);
  const std::string version = root.Text("apiVersion", errors);
  if ((kind.empty() || kind == "Config") && (version.empty() || version == "v1")) return true;
  errors.Add(root.PositionText(),
             "is " + Quote(version) + ", kind " + Quote(kind) + ", which is not a kubeconfig",
             "a kubeconfig has apiVersion: v1 and kind: Config");
  return false;
}

// Adds the entries of a list such as `clusters`: each has a name and its content under `member`.
void AddEntries(const ConfigNode& root, std::string_view list, std::string_view member,
                Kubeconfig::Entries& entries, ConfigErrors& errors) {
  std::map<std::string, std::string> here;  // position by name
  for (const ConfigNode& item : root.Items(list, errors)) {
    if (!item || !item.Must(item.value().is_object(), "an object", errors)) continue;
    const std::string name = item.RequiredText("name", "", errors);
    if (name.empty()) continue;
    if (const auto [first, added] = here.emplace(name, item.PositionText()); !added) {
      errors.Add(item.PositionText(),
                 item.Field() + " has the name " + Quote(name) + ", which is already used at " +
                     first->second,
                 "remove or rename one of them");
      continue;
    }
    entries.emplace(name, item.Object(member, errors));
  }
}

}  // namespace

std::string Kubeconfig::Names() const {
  std::string names;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0) names += i + 1 == files.size() ? " and " : ", ";
    names += files[i]->path;
  }
  return names;
}

Kubeconfig LoadKubeconfig(const std::vector<std::string>& paths, ConfigErrors& errors) {
  Kubeconfig config;
  for (const std::string& path : paths) {
    auto file = ReadConfigFile(path, errors);
    if (file == nullptr) continue;
    const ConfigNode root(*file);
    if (root && IsKubeconfig(root, errors)) {
      AddEntries(root, "clusters", "cluster", config.clusters, errors);
      AddEntries(root, "users", "user", config.users, errors);
      AddEntries(root, "contexts", "context", config.contexts, errors);
      if (config.current_context.empty()) {
        config.current_context = root.Text("current-context", errors);
        config.current_context_place = root.Member("current-context").PositionText();
      }
    }
    config.files.push_back(std::move(file));
  }
  return config;
}

namespace {

constexpr size_t kMaxNames = 5;  // maximum in a message

std::string NamesOf(const Kubeconfig::Entries& entries) {
  std::vector<std::string> names;
  for (const auto& [name, node] : entries) {
    names.push_back(names.size() == kMaxNames ? "..." : Quote(name));
    if (names.size() > kMaxNames) break;
  }
  return Join(names, ", ");
}

class AccessBuilder {
 public:
  AccessBuilder(const Kubeconfig& config, const AccessFlags& flags, const Clock& clock)
      : config_(config), flags_(flags), clock_(clock) {}

  Answer<Access> Choose() {
    const auto context = ChooseContext();
    ChooseNamespace(context);
    const auto cluster = ChooseEntry(config_.clusters, flags_.cluster, "cluster", context);
    const auto user = ChooseEntry(config_.users, flags_.user, "user", context);
    ReadServer(context, cluster);
    if (cluster) ReadCluster(*cluster);
    ApplyTrust(flags_, access_, errors_);
    const bool has_credentials = user || !flags_.token.empty() ||
                                 !flags_.client_certificate.empty() || !flags_.client_key.empty();
    if (has_credentials && !access_.server.starts_with("http://")) {
      access_.credentials = ReadUser(user, flags_, access_, cluster, clock_, errors_);
    } else {
      // As in client-go (ClientConfig), credentials are never sent without TLS.
      access_.credentials = MakeCredentialSource({}, clock_);
      if (has_credentials) access_.origin += " (no credentials are sent without TLS)";
    }
    if (user) access_.impersonation = ReadImpersonation(*user, flags_, errors_);
    ApplyFlags(flags_, access_, errors_);
    if (!errors_.empty()) return tl::unexpected(errors_.AsFault());
    return std::move(access_);
  }

 private:
  using Entry = std::optional<ConfigNode>;

  Entry ChooseContext() {
    if (!flags_.context.empty()) return UseContext(flags_.context, "--context");
    if (!config_.current_context.empty()) {
      return UseContext(config_.current_context, config_.current_context_place);
    }
    access_.origin = config_.files.empty() ? "--server" : config_.Names();
    if (!flags_.cluster.empty() || !flags_.server.empty()) return std::nullopt;
    errors_.Add(config_.Names(), "current-context is not set",
                config_.contexts.empty()
                    ? "it defines no contexts either, so the kubeconfig is incomplete"
                    : "choose one of " + NamesOf(config_.contexts) + " with --context");
    return std::nullopt;
  }

  Entry UseContext(const std::string& name, const std::string& place) {
    auto context = FindEntry(config_.contexts, name, "context", place);
    access_.origin =
        "context " + name + " of " + (context ? context->file().path : config_.Names());
    return context;
  }

  // The entry, or a complaint that lists the existing ones.
  Entry FindEntry(const Kubeconfig::Entries& entries, const std::string& name,
                  const std::string& what, const std::string& place) {
    const auto found = entries.find(name);
    if (found != entries.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [other, node] : entries) known.push_back(other);
    const auto near = NearestOf(name, known);
    errors_.Add(place, "there is no " + what + " " + Quote(name),
                near              ? "did you mean " + Quote(*near) + "?"
                : entries.empty() ? "none is defined"
                                  : "defined: " + NamesOf(entries));
    return std::nullopt;
  }

  // The cluster or user named by a flag, else by the context. May be absent.
  Entry ChooseEntry(const Kubeconfig::Entries& entries, const std::string& flag,
                    const std::string& what, const Entry& context) {
    if (!flag.empty()) return FindEntry(entries, flag, what, "--" + what);
    if (!context) return std::nullopt;
    const std::string name = context->Text(what, errors_);
    if (name.empty()) return std::nullopt;
    return FindEntry(entries, name, what, context->Member(what).PositionText());
  }

  void ChooseNamespace(const Entry& context) {
    std::string name = flags_.default_namespace;
    std::string place = "--namespace";
    if (name.empty() && context) {
      name = context->Text("namespace", errors_);
      place = context->Member("namespace").PositionText();
    }
    if (name.empty()) return;
    NamespaceFault(place, name, errors_);
    access_.default_namespace = name;
  }

  void ReadServer(const Entry& context, const Entry& cluster) {
    std::string place = "--server";
    std::string server = flags_.server;
    if (server.empty() && cluster) {
      server = cluster->RequiredText("server", "write https://ADDRESS:PORT", errors_);
      place = cluster->Member("server").PositionText();
    } else if (server.empty() && context && !context->Member("cluster")) {
      errors_.Add(context->PositionText(), context->Field() + " has no cluster");
    }
    if (server.empty()) return;  // already reported
    ServerUrl url = ReadServerUrl(server);
    if (!url.fault.empty()) errors_.Add(place, url.fault, url.fix);
    access_.server = std::move(url.text);
  }

  void ReadCluster(const ConfigNode& cluster) {
    access_.insecure = cluster.Flag("insecure-skip-tls-verify", errors_);
    // The name belongs to the configured server.
    if (flags_.server.empty()) {
      access_.tls_server_name = cluster.Text("tls-server-name", errors_);
    }
    // Values that flags replace are not checked.
    if (flags_.insecure || !flags_.certificate_authority.empty()) {
      access_.insecure = false;
    } else {
      ReadAuthority(cluster);
    }
    access_.proxy = cluster.Text("proxy-url", errors_);
    if (!access_.proxy.empty() && !IsProxyUrl(access_.proxy)) {
      const ConfigNode member = cluster.Member("proxy-url");
      errors_.Add(member.PositionText(), member.Field() + " is not a proxy URL",
                  "it must start with http://, https:// or socks5://");
    }
  }

  void ReadAuthority(const ConfigNode& cluster) {
    Material authority = ReadMaterial(cluster, kAuthority, errors_);
    if (access_.insecure && authority.given) {
      errors_.Add(cluster.Member("insecure-skip-tls-verify").PositionText(),
                  cluster.Field() +
                      " has both a certificate authority and "
                      "insecure-skip-tls-verify, which ignores it",
                  "remove insecure-skip-tls-verify");
    }
    access_.authority = std::move(authority.text);
  }

  const Kubeconfig& config_;
  const AccessFlags& flags_;
  const Clock& clock_;
  ConfigErrors errors_;
  Access access_;
};

}  // namespace

Answer<Access> ChooseAccess(const Kubeconfig& config, const AccessFlags& flags,
                            const Clock& clock) {
  return AccessBuilder(config, flags, clock).Choose();
}

namespace {

constexpr const char* kNoPasswords = "Kubernetes 1.19 removed authentication by password";
constexpr const char* kOtherMeans = "use a token, a client certificate or an exec plugin";

constexpr struct {
  const char* member;
  const char* why;
  const char* instead;
} kUnsupported[] = {
    {"username", kNoPasswords, kOtherMeans},
    {"password", kNoPasswords, kOtherMeans},
    {"auth-provider", "Kubernetes 1.26 removed authentication providers",
     "use an exec plugin, such as gke-gcloud-auth-plugin or kubelogin"},
};

void RefuseUnsupported(const ConfigNode& user, ConfigErrors& errors) {
  for (const auto& [name, why, instead] : kUnsupported) {
    const ConfigNode member = user.Member(name);
    if (!member || member.value().empty() || member.value() == "") continue;
    errors.Add(member.PositionText(), member.Field() + ": " + why, instead);
  }
}

void ReadToken(const ConfigNode& user, CredentialFiles& files, ConfigErrors& errors) {
  files.now.token = user.Text("token", errors);
  if (const auto fault = TokenFault(files.now.token); !fault.empty()) {
    const ConfigNode token = user.Member("token");
    errors.Add(token.PositionText(), token.Field() + ": " + fault);
  }
  files.token_file = PathFrom(user.file(), user.Text("tokenFile", errors));
  if (files.token_file.empty()) return;
  // The file takes precedence if it can be read.
  if (auto token = ReadTokenFile(files.token_file)) {
    files.now.token = *std::move(token);
  } else if (files.now.token.empty()) {
    const ConfigNode member = user.Member("tokenFile");
    errors.Add(member.PositionText(), member.Field() + ": " + std::move(token).error().message);
  }
}

void ReadPair(const std::optional<ConfigNode>& user, const AccessFlags& flags,
              CredentialFiles& files, ConfigErrors& errors) {
  const auto read = [&](const std::string& path, const std::string& flag,
                        const MaterialKind& kind) {
    if (!path.empty()) return ReadMaterialFile(flag, path, kind, errors);
    return user ? ReadMaterial(*user, kind, errors) : Material();
  };
  Material certificate = read(flags.client_certificate, "--client-certificate", kCertificate);
  Material key = read(flags.client_key, "--client-key", kKey);
  const std::string who = user ? user->Field() : "the command line";
  if (certificate.given && !key.given) {
    errors.Add(certificate.place, who + " has a client certificate without its key",
               user ? "add client-key or client-key-data" : "add --client-key FILE");
  }
  if (key.given && !certificate.given) {
    errors.Add(key.place, who + " has a client key without its certificate",
               user ? "add client-certificate or client-certificate-data"
                    : "add --client-certificate FILE");
  }
  if (!certificate.text.empty() && !key.text.empty() && !IsPair(certificate.text, key.text)) {
    errors.Add(key.place, who + ": the client key does not match the client certificate");
  }
  files.now.certificate = std::move(certificate.text);
  files.now.key = std::move(key.text);
  files.certificate_file = std::move(certificate.path);
  files.key_file = std::move(key.path);
}

}  // namespace

std::shared_ptr<CredentialSource> ReadUser(const std::optional<ConfigNode>& user,
                                           const AccessFlags& flags, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, ConfigErrors& errors) {
  CredentialFiles files;
  if (user) RefuseUnsupported(*user, errors);
  if (!flags.token.empty()) {
    files.now.token = flags.token;
    if (const auto fault = TokenFault(flags.token); !fault.empty()) {
      errors.Add("--token", fault);
    }
  } else if (user) {
    ReadToken(*user, files, errors);
  }
  ReadPair(user, flags, files, errors);
  // As in client-go (UpdateTransportConfig), a plugin is used only without other credentials.
  if (user && files.now == Credential()) {
    if (const ConfigNode exec = user->Object("exec", errors)) {
      return MakeExecSource(ReadExec(exec, server, cluster, errors), clock);
    }
  }
  return MakeCredentialSource(std::move(files), clock);
}

namespace {

Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                ConfigErrors& errors) {
  Impersonation as;
  const auto text = [&](const ConfigNode& node, std::string value) {
    if (const std::string fault = HeaderFault(value); !fault.empty()) {
      errors.Add(node.PositionText(), node.Field() + ": " + fault);
    }
    return value;
  };
  const auto texts = [&](const ConfigNode& node, std::string_view key) {
    std::vector<std::string> values;
    for (const ConfigNode& item : node.Items(key, errors)) {
      if (item && item.Must(item.value().is_string(), "a string", errors)) {
        values.push_back(text(item, item.value().get<std::string>()));
      }
    }
    return values;
  };
  as.user = text(user.Member("as"), user.Text("as", errors));
  as.uid = text(user.Member("as-uid"), user.Text("as-uid", errors));
  as.groups = texts(user, "as-groups");
  if (const ConfigNode extra = user.Object("as-user-extra", errors)) {
    for (const auto& [key, values] : extra.value().items()) as.extra[key] = texts(extra, key);
  }
  if (as.user.empty() && flags.impersonation.user.empty() && as != Impersonation()) {
    errors.Add(user.PositionText(), user.Field() + " impersonates groups without a user",
               "add as: USER");
  }
  return as;
}

}  // namespace

}  // namespace mindgate::kube
