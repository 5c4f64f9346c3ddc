#include "cli/kube_flags.h"

#include <CLI/CLI.hpp>

#include "cli/flags.h"

namespace mindgate::cli {

void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags) {
  // KUBECONFIG, which may hold several files, keeps the meaning that it has for kubectl.
  AddFlag(command, "--kubeconfig", flags.kubeconfig,
          "The kubeconfig file (default: those of $KUBECONFIG, else ~/.kube/config, else "
          "the pod's service account)",
          "KUBECONFIG", "FILE");
  AddFlag(command, "--context", flags.context, "The context of the kubeconfig to use", "CONTEXT",
          "NAME");
  AddFlag(command, "--cluster", flags.cluster, "The cluster of the kubeconfig to use", "CLUSTER",
          "NAME");
  AddFlag(command, "--user", flags.user, "The user of the kubeconfig to use", "USER", "NAME");
  AddFlag(command, "-s,--server", flags.server, "The URL of the API server", "SERVER", "URL");
  // Help shows what a variable gave as the default: not of a secret.
  command
      .add_option("--token", flags.token,
                  "A bearer token for the API server, instead of the user's")
      ->type_name("TOKEN")
      ->envname("MINDGATE_TOKEN");
  AddFlag(command, "--as", flags.impersonation.user, "Act as this user", "AS", "NAME");
  command
      .add_option("--as-group", flags.impersonation.groups,
                  "And as a member of this group; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->envname("MINDGATE_AS_GROUP");
  AddFlag(command, "--as-uid", flags.impersonation.uid, "And with this UID", "AS_UID", "UID");
  AddFlag(command, "--certificate-authority", flags.certificate_authority,
          "The CA that signed the API server's certificate", "CERTIFICATE_AUTHORITY", "FILE");
  AddFlag(command, "--client-certificate", flags.client_certificate,
          "A client certificate, instead of the user's", "CLIENT_CERTIFICATE", "FILE");
  AddFlag(command, "--client-key", flags.client_key, "Its key", "CLIENT_KEY", "FILE");
  AddFlag(command, "--tls-server-name", flags.tls_server_name,
          "The name that the API server's certificate must be for (default: that of its URL)",
          "TLS_SERVER_NAME", "NAME");
  AddSwitch(command, "--insecure-skip-tls-verify", flags.insecure,
            "Take whatever certificate the API server shows: anybody may read and change what is "
            "sent",
            "INSECURE_SKIP_TLS_VERIFY");
  AddFlag(command, "--request-timeout", flags.request_timeout,
          "How long one call may take, as in 30s or 2m; 0 is no limit (default: what the command "
          "thinks right)",
          "REQUEST_TIMEOUT", "TIME");
}

void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags) {
  AddClusterFlags(command, flags);
  AddFlag(command, "-n,--namespace", flags.default_namespace,
          "The namespace (default: that of the context)", "NAMESPACE", "NAME");
}

}  // namespace mindgate::cli
