#include "kube/access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kube/environment.h"
#include "kube/kubeconfig.h"

namespace mindgate::kube {
namespace {

// Which files may hold a kubeconfig, in order of precedence, and who says so.
struct Places {
  std::vector<std::string> paths;
  std::string source;
};

Places PlacesOf(const AccessFlags& flags) {
  if (!flags.kubeconfig.empty()) return {{flags.kubeconfig}, "--kubeconfig"};
  if (const std::string list = Environment("KUBECONFIG"); !list.empty()) {
    Places places{{}, "KUBECONFIG"};
    for (const std::string_view path : Split(list, ':')) {
      const bool seen =
          std::find(places.paths.begin(), places.paths.end(), path) != places.paths.end();
      if (!path.empty() && !seen) places.paths.emplace_back(path);
    }
    return places;
  }
  const std::string home = Environment("HOME");
  if (home.empty()) return {{}, "HOME"};
  return {{home + "/.kube/config"}, ""};
}

// "--kubeconfig: there is no file a", "there is no file /home/me/.kube/config".
std::string NoFile(const Places& places) {
  if (places.paths.empty()) return places.source + " names no kubeconfig";
  return (places.source.empty() ? "" : places.source + ": ") + "there is no file " +
         Join(places.paths, ", nor ");
}

}  // namespace

Answer<Access> FindAccess(const AccessFlags& flags, const Clock& clock) {
  const Places places = PlacesOf(flags);
  Complaints complaints;
  const Kubeconfig config = LoadKubeconfig(places.paths, complaints);
  if (!complaints.empty()) return tl::unexpected(complaints.AsFault());
  if (!config.files.empty()) return ChooseAccess(config, flags, clock);

  const bool asks_for_one = !flags.kubeconfig.empty() || !flags.context.empty() ||
                            !flags.cluster.empty() || !flags.user.empty();
  if (asks_for_one) {
    return Failed(Reason::kCredentials, NoFile(places));
  }
  if (!flags.server.empty()) return ChooseAccess(config, flags, clock);
  if (Environment("KUBERNETES_SERVICE_HOST").empty()) {
    return Failed(Reason::kCredentials,
                  NoFile(places) +
                      ", and this is no pod: KUBERNETES_SERVICE_HOST is not set "
                      "(name a kubeconfig: --kubeconfig FILE)");
  }
  auto access = InClusterAccess(clock);
  if (!access || flags.default_namespace.empty()) return access;
  if (!IsDns1123Label(flags.default_namespace)) {
    return Failed(Reason::kCredentials,
                  "--namespace: " + Quote(flags.default_namespace) +
                      " is no name of a namespace (lower-case letters, digits and '-', at most "
                      "63)");
  }
  access->default_namespace = flags.default_namespace;
  return access;
}

}  // namespace mindgate::kube
