#include <CLI/CLI.hpp>

#include "cli/console/flags.h"

namespace mindgate::cli {

void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig) {
  const size_t before = command.get_options().size();
  // KUBECONFIG, which may list several files, means the same as for kubectl.
  AddFlag(command, short_kubeconfig ? "-k,--kubeconfig" : "--kubeconfig", flags.kubeconfig,
          "Path to the kubeconfig file (default: $KUBECONFIG, then ~/.kube/config, then the pod's "
          "service account)",
          "KUBECONFIG", "FILE");
  AddFlag(command, "--context", flags.context, "Name of the kubeconfig context to use", "CONTEXT",
          "NAME");
  AddFlag(command, "--cluster", flags.cluster, "Name of the kubeconfig cluster to use", "CLUSTER",
          "NAME");
  AddFlag(command, "--user", flags.user, "Name of the kubeconfig user to use", "USER", "NAME");
  AddFlag(command, "-s,--server", flags.server, "URL of the API server", "SERVER", "URL");
  // No capture_default_str: help would print the token from the environment.
  command.add_option("--token", flags.token, "Bearer token for authentication to the API server")
      ->type_name("TOKEN")
      ->envname("MINDGATE_TOKEN");
  AddFlag(command, "--as", flags.impersonation.user, "User to impersonate", "AS", "NAME");
  command
      .add_option("--as-group", flags.impersonation.groups, "Group to impersonate; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->envname("MINDGATE_AS_GROUP");
  AddFlag(command, "--as-uid", flags.impersonation.uid, "UID to impersonate", "AS_UID", "UID");
  AddFlag(command, "--certificate-authority", flags.certificate_authority,
          "Path to the CA certificate of the API server", "CERTIFICATE_AUTHORITY", "FILE");
  AddFlag(command, "--client-certificate", flags.client_certificate,
          "Path to a client certificate for TLS", "CLIENT_CERTIFICATE", "FILE");
  AddFlag(command, "--client-key", flags.client_key, "Path to the key of the client certificate",
          "CLIENT_KEY", "FILE");
  AddFlag(command, "--tls-server-name", flags.tls_server_name,
          "Server name for validating the API server's certificate (default: the host of its URL)",
          "TLS_SERVER_NAME", "NAME");
  AddSwitch(command, "--insecure-skip-tls-verify", flags.insecure,
            "Do not verify the API server's certificate. This makes the connection insecure",
            "INSECURE_SKIP_TLS_VERIFY");
  AddFlag(command, "--request-timeout", flags.request_timeout,
          "Timeout of a single request, such as 30s or 2m; 0 means no timeout (default: depends on "
          "the command)",
          "REQUEST_TIMEOUT", "TIME");
  const std::vector<CLI::Option*> options = command.get_options();
  for (size_t i = before; i < options.size(); ++i) options[i]->group(kConnectionFlags);
}

void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags, bool short_kubeconfig) {
  AddClusterFlags(command, flags, short_kubeconfig);
  AddFlag(command, "-n,--namespace", flags.default_namespace,
          "Namespace (default: that of the context)", "NAMESPACE", "NAME");
}

}  // namespace mindgate::cli
