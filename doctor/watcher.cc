#include <nlohmann/json.hpp>

#include "doctor/context.h"
#include "doctor/installation.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kWatcherCheck = "watcher";

}  // namespace

void CheckWatcher(Context& context) {
  const std::string& ns = context.options.ns;
  const std::string& name = context.options.lease;
  const auto lease = context.client.Get(kube::resources::kLeases, ns, name, context.stop);
  if (!lease) {
    if (lease.error().reason != kube::Reason::kNotFound) {
      return SkipFor(context, kWatcherCheck, "Lease " + ns + "/" + name, lease.error());
    }
    return context.report.Skip(
        kWatcherCheck,
        "there is no Lease " + ns + "/" + name +
            ": no watcher has ever led here. It opens the gates of pods under scaling rules, "
            "repairs gangs, and manages the certificates with certs.mode managed",
        "this is expected with watcher.enabled false; otherwise `helm upgrade` restores the Lease");
  }
  const Leader leader = LeaderOf(*lease, context.now);
  if (leader.released) {
    return context.report.Warn(
        kWatcherCheck,
        "the last leader released Lease " + ns + "/" + name + " at " + leader.renewed +
            ", as in a restart or a rollout: another watcher takes it within a minute",
        "run this again in a minute");
  }
  if (!leader.current) {
    return context.report.Fail(
        kWatcherCheck,
        "no watcher leads: Lease " + ns + "/" + name + " was last renewed at " +
            (leader.renewed.empty() ? "an unknown time" : leader.renewed) +
            ", so pods that wait behind gates stay there, no gang is repaired, and with certs.mode "
            "managed certificates are not renewed and no CA is published",
        "kubectl -n " + ns +
            " get pods -l app.kubernetes.io/component=watcher; see the logs of Deployment " + name);
  }
  context.report.Ok(kWatcherCheck, leader.identity + " is the leader");
}

}  // namespace mindgate::doctor
