#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "kube/access.h"
#include "kube/config_errors.h"
#include "kube/credential_files.h"
#include "kube/environment.h"
#include "kube/server_url.h"

namespace mindgate::kube {
namespace {

constexpr size_t kMaxNamespaceFile = 1024;  // of a namespace: 63 and a line end

}  // namespace

Answer<Access> InClusterAccess(const Clock& clock, const std::string& folder) {
  const std::string host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  ConfigErrors complaints;
  Access access;
  if (host.empty() || port.empty()) {
    complaints.Add("",
                   "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, as "
                   "they are in every pod",
                   "outside a cluster, name a kubeconfig: --kubeconfig FILE");
  } else {
    ServerUrl url = ReadServerUrl(UrlOf(host, port));
    if (!url.fault.empty()) {
      complaints.Add("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT", url.fault);
    }
    access.server = std::move(url.text);
  }

  CredentialFiles files;
  files.token_file = folder + "/token";
  if (auto token = ReadTokenFile(files.token_file)) {
    files.now.token = *std::move(token);
  } else {
    complaints.Add("", std::move(token).error().message,
                   "the pod needs automountServiceAccountToken, or a projected volume there");
  }
  files.authority_file = folder + "/ca.crt";
  if (auto authority = ReadCertificatesFile(files.authority_file)) {
    files.now.authority = *std::move(authority);
  } else {
    complaints.Add("", std::move(authority).error().message,
                   "it comes with the token, or from the ConfigMap kube-root-ca.crt");
  }
  if (!complaints.empty()) return tl::unexpected(complaints.AsFault());

  // Without a namespace it is "default"; a projected volume need not have one.
  if (const auto name = ReadNamedFile(folder + "/namespace", kMaxNamespaceFile);
      name && IsDns1123Label(Trim(*name))) {
    access.default_namespace = Trim(*name);
  }
  access.origin = "the service account of this pod (" + folder + ")";
  access.credentials = MakeCredentialSource(std::move(files), clock);
  return access;
}

}  // namespace mindgate::kube
