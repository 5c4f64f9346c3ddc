#include "kube/access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kube/environment.h"
#include "kube/kubeconfig.h"

namespace mindgate::kube {
namespace {

// Candidate kubeconfig files in order of precedence, and where they are configured.
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
  if (places.paths.empty()) return places.source + " does not name a kubeconfig";
  return (places.source.empty() ? "" : places.source + ": ") + "there is no file " +
         Join(places.paths, ", nor ");
}

// Applies flags to in-cluster access.
Answer<Access> WithFlags(Access access, const AccessFlags& flags, const Clock& clock) {
  ConfigErrors complaints;
  if (!flags.default_namespace.empty()) {
    NamespaceFault("--namespace", flags.default_namespace, complaints);
    access.default_namespace = flags.default_namespace;
  }
  ApplyTrust(flags, access, complaints);
  if (!flags.token.empty() || !flags.client_certificate.empty() || !flags.client_key.empty()) {
    access.credentials = ReadUser(std::nullopt, flags, access, std::nullopt, clock, complaints);
  }
  ApplyFlags(flags, access, complaints);
  if (!complaints.empty()) return tl::unexpected(complaints.AsFault());
  return access;
}

}  // namespace

Answer<Access> FindAccess(const AccessFlags& flags, const Clock& clock) {
  const Places places = PlacesOf(flags);
  ConfigErrors complaints;
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
    return Failed(Reason::kCredentials, NoFile(places) +
                                            ", and this is not a pod: KUBERNETES_SERVICE_HOST is "
                                            "not set (give a kubeconfig: --kubeconfig FILE)");
  }
  auto access = InClusterAccess(clock);
  if (!access) return access;
  return WithFlags(*std::move(access), flags, clock);
}

std::optional<std::chrono::milliseconds> ParseRequestTimeout(std::string_view text) {
  using std::chrono::milliseconds;
  constexpr milliseconds kMax = std::chrono::hours(24 * 365);
  if (text.empty()) return std::nullopt;
  milliseconds total(0);
  for (bool first = true; !text.empty(); first = false) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = ParseGoInt(text.substr(0, digits));
    if (digits == 0 || digits > 9 || !number) return std::nullopt;
    text.remove_prefix(digits);
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    if (unit == "ms") {
      total += milliseconds(*number);
    } else if (unit == "s" || (unit.empty() && first)) {
      total += std::chrono::seconds(*number);
    } else if (unit == "m") {
      total += std::chrono::minutes(*number);
    } else if (unit == "h") {
      total += std::min<milliseconds>(kMax, std::chrono::hours(*number));
    } else {
      return std::nullopt;
    }
  }
  return total.count() == 0 ? kMax : std::min(total, kMax);
}

}  // namespace mindgate::kube
