#include "kube/kubeconfig_user.h"

#include <utility>

#include "kube/config_material.h"
#include "kube/credential_checks.h"
#include "kube/credential_files.h"
#include "kube/kubeconfig_exec.h"

namespace mindgate::kube {
namespace {

constexpr const char* kNoPasswords = "Kubernetes 1.19 removed authentication by password";
constexpr const char* kOtherMeans = "use a token, a client certificate or an exec plugin";
constexpr const char* kNoImpersonation = "mindgate does not act in the name of others";
constexpr const char* kOtherUser = "name a user that has the rights itself";

constexpr struct {
  const char* member;
  const char* why;
  const char* instead;
} kUnsupported[] = {
    {"username", kNoPasswords, kOtherMeans},
    {"password", kNoPasswords, kOtherMeans},
    {"auth-provider", "Kubernetes 1.26 removed authentication providers",
     "use an exec plugin, such as gke-gcloud-auth-plugin or kubelogin"},
    {"as", kNoImpersonation, kOtherUser},
    {"as-uid", kNoImpersonation, kOtherUser},
    {"as-groups", kNoImpersonation, kOtherUser},
    {"as-user-extra", kNoImpersonation, kOtherUser},
};

void RefuseUnsupported(const ConfigNode& user, Complaints& complaints) {
  for (const auto& [name, why, instead] : kUnsupported) {
    const ConfigNode member = user.Member(name);
    if (!member || member.value().empty() || member.value() == "") continue;
    complaints.Add(member.Place(), member.Field() + ": " + why, instead);
  }
}

void ReadToken(const ConfigNode& user, CredentialFiles& files, Complaints& complaints) {
  files.now.token = user.Text("token", complaints);
  if (const auto fault = TokenFault(files.now.token); !fault.empty()) {
    const ConfigNode token = user.Member("token");
    complaints.Add(token.Place(), token.Field() + ": " + fault);
  }
  files.token_file = PathFrom(user.file(), user.Text("tokenFile", complaints));
  if (files.token_file.empty()) return;
  // The file wins as soon as it can be read.
  if (auto token = ReadTokenFile(files.token_file)) {
    files.now.token = *std::move(token);
  } else if (files.now.token.empty()) {
    const ConfigNode member = user.Member("tokenFile");
    complaints.Add(member.Place(), member.Field() + ": " + std::move(token).error().message);
  }
}

void ReadPair(const ConfigNode& user, CredentialFiles& files, Complaints& complaints) {
  Material certificate = ReadMaterial(user, kCertificate, complaints);
  Material key = ReadMaterial(user, kKey, complaints);
  if (certificate.given && !key.given) {
    complaints.Add(certificate.place, user.Field() + " has a client certificate without its key",
                   "add client-key or client-key-data");
  }
  if (key.given && !certificate.given) {
    complaints.Add(key.place, user.Field() + " has a client key without its certificate",
                   "add client-certificate or client-certificate-data");
  }
  if (!certificate.text.empty() && !key.text.empty() && !IsPair(certificate.text, key.text)) {
    complaints.Add(key.place, user.Field() + ": the key is not that of the client certificate");
  }
  files.now.certificate = std::move(certificate.text);
  files.now.key = std::move(key.text);
  files.certificate_file = std::move(certificate.path);
  files.key_file = std::move(key.path);
}

}  // namespace

std::shared_ptr<CredentialSource> ReadUser(const ConfigNode& user, const Access& server,
                                           const std::optional<ConfigNode>& cluster,
                                           const Clock& clock, Complaints& complaints) {
  RefuseUnsupported(user, complaints);
  CredentialFiles files;
  ReadToken(user, files, complaints);
  ReadPair(user, files, complaints);
  const ConfigNode exec = user.Object("exec", complaints);
  // As in client-go (UpdateTransportConfig), a plugin is for those who have nothing else.
  if (exec && files.now == Credential()) {
    return MakeExecSource(ReadExec(exec, server, cluster, complaints), clock);
  }
  return MakeCredentialSource(std::move(files), clock);
}

}  // namespace mindgate::kube
