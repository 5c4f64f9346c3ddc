#include "cli/kube_flags.h"

#include <CLI/CLI.hpp>

namespace mindgate::cli {

void AddClusterFlags(CLI::App& command, kube::AccessFlags& flags) {
  // KUBECONFIG, which may hold several files, keeps the meaning that it has for kubectl.
  command
      .add_option("--kubeconfig", flags.kubeconfig,
                  "The kubeconfig file (default: those of $KUBECONFIG, else ~/.kube/config, else "
                  "the pod's service account)")
      ->type_name("FILE")
      ->envname("MINDGATE_KUBECONFIG");
  command.add_option("--context", flags.context, "The context of the kubeconfig to use")
      ->type_name("NAME")
      ->envname("MINDGATE_CONTEXT");
  command.add_option("--cluster", flags.cluster, "The cluster of the kubeconfig to use")
      ->type_name("NAME")
      ->envname("MINDGATE_CLUSTER");
  command.add_option("--user", flags.user, "The user of the kubeconfig to use")
      ->type_name("NAME")
      ->envname("MINDGATE_USER");
  command.add_option("-s,--server", flags.server, "The URL of the API server")
      ->type_name("URL")
      ->envname("MINDGATE_SERVER");
}

void AddKubeFlags(CLI::App& command, kube::AccessFlags& flags) {
  AddClusterFlags(command, flags);
  command
      .add_option("-n,--namespace", flags.default_namespace,
                  "The namespace (default: that of the context)")
      ->type_name("NAME")
      ->envname("MINDGATE_NAMESPACE");
}

}  // namespace mindgate::cli
