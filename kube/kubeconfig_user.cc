#include <nlohmann/json.hpp>
#include <utility>

#include "kube/config_material.h"
#include "kube/credential_files.h"
#include "kube/kubeconfig.h"

namespace mindgate::kube {
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

void RefuseUnsupported(const ConfigNode& user, ConfigErrors& complaints) {
  for (const auto& [name, why, instead] : kUnsupported) {
    const ConfigNode member = user.Member(name);
    if (!member || member.value().empty() || member.value() == "") continue;
    complaints.Add(member.Place(), member.Field() + ": " + why, instead);
  }
}

void ReadToken(const ConfigNode& user, CredentialFiles& files, ConfigErrors& complaints) {
  files.now.token = user.Text("token", complaints);
  if (const auto fault = TokenFault(files.now.token); !fault.empty()) {
    const ConfigNode token = user.Member("token");
    complaints.Add(token.Place(), token.Field() + ": " + fault);
  }
  files.token_file = PathFrom(user.file(), user.Text("tokenFile", complaints));
  if (files.token_file.empty()) return;
  // The file takes precedence if it can be read.
  if (auto token = ReadTokenFile(files.token_file)) {
    files.now.token = *std::move(token);
  } else if (files.now.token.empty()) {
    const ConfigNode member = user.Member("tokenFile");
    complaints.Add(member.Place(), member.Field() + ": " + std::move(token).error().message);
  }
}

void ReadPair(const std::optional<ConfigNode>& user, const AccessFlags& flags,
              CredentialFiles& files, ConfigErrors& complaints) {
  const auto read = [&](const std::string& path, const std::string& flag,
                        const MaterialKind& kind) {
    if (!path.empty()) return ReadMaterialFile(flag, path, kind, complaints);
    return user ? ReadMaterial(*user, kind, complaints) : Material();
  };
  Material certificate = read(flags.client_certificate, "--client-certificate", kCertificate);
  Material key = read(flags.client_key, "--client-key", kKey);
  const std::string who = user ? user->Field() : "the command line";
  if (certificate.given && !key.given) {
    complaints.Add(certificate.place, who + " has a client certificate without its key",
                   user ? "add client-key or client-key-data" : "add --client-key FILE");
  }
  if (key.given && !certificate.given) {
    complaints.Add(key.place, who + " has a client key without its certificate",
                   user ? "add client-certificate or client-certificate-data"
                        : "add --client-certificate FILE");
  }
  if (!certificate.text.empty() && !key.text.empty() && !IsPair(certificate.text, key.text)) {
    complaints.Add(key.place, who + ": the client key does not match the client certificate");
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
                                           const Clock& clock, ConfigErrors& complaints) {
  CredentialFiles files;
  if (user) RefuseUnsupported(*user, complaints);
  if (!flags.token.empty()) {
    files.now.token = flags.token;
    if (const auto fault = TokenFault(flags.token); !fault.empty()) {
      complaints.Add("--token", fault);
    }
  } else if (user) {
    ReadToken(*user, files, complaints);
  }
  ReadPair(user, flags, files, complaints);
  // As in client-go (UpdateTransportConfig), a plugin is used only without other credentials.
  if (user && files.now == Credential()) {
    if (const ConfigNode exec = user->Object("exec", complaints)) {
      return MakeExecSource(ReadExec(exec, server, cluster, complaints), clock);
    }
  }
  return MakeCredentialSource(std::move(files), clock);
}

Impersonation ReadImpersonation(const ConfigNode& user, const AccessFlags& flags,
                                ConfigErrors& complaints) {
  Impersonation as;
  const auto text = [&](const ConfigNode& node, std::string value) {
    if (const std::string fault = HeaderFault(value); !fault.empty()) {
      complaints.Add(node.Place(), node.Field() + ": " + fault);
    }
    return value;
  };
  const auto texts = [&](const ConfigNode& node, std::string_view key) {
    std::vector<std::string> values;
    for (const ConfigNode& item : node.Items(key, complaints)) {
      if (item && item.Must(item.value().is_string(), "a string", complaints)) {
        values.push_back(text(item, item.value().get<std::string>()));
      }
    }
    return values;
  };
  as.user = text(user.Member("as"), user.Text("as", complaints));
  as.uid = text(user.Member("as-uid"), user.Text("as-uid", complaints));
  as.groups = texts(user, "as-groups");
  if (const ConfigNode extra = user.Object("as-user-extra", complaints)) {
    for (const auto& [key, values] : extra.value().items()) as.extra[key] = texts(extra, key);
  }
  if (as.user.empty() && flags.impersonation.user.empty() && as != Impersonation()) {
    complaints.Add(user.Place(), user.Field() + " impersonates groups without a user",
                   "add as: USER");
  }
  return as;
}

}  // namespace mindgate::kube
